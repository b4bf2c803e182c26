//! The finding in a sentence.

use trackway_trace::{AccessKind, Program, SiteId, StringId};

use super::tables::Ranking;
use crate::model::site_counts::group::{self, FieldKey, Group};
use crate::model::site_counts::Measure;
use crate::model::Names;

/// Such as "arc.ident, read at simplex.c:123, causes 61 % of L2 misses".
pub(super) fn answer(ranking: &Ranking) -> String {
    let total = ranking.total();
    if total.accesses == 0 {
        return "No access was recorded.".into();
    }
    let measure = if ranking.rank_by.of(&total) > 0 {
        ranking.rank_by
    } else {
        Measure::Accesses
    };
    let program = ranking.program;
    if program.is_nameless() {
        return answer_by_instruction(ranking, measure);
    }
    let groups = group::group_by(program, ranking.counters, measure, |_, site| {
        group::field_key(program, site)
    });
    let Some(first) = groups.first() else {
        return "No access was recorded.".into();
    };
    let is_unknown = matches!(first.key, FieldKey::Variable(key) if key.variable == StringId::default());
    if program.is_machine_code() && is_unknown {
        return answer_by_line(ranking, measure).unwrap_or_else(|| answer_by_instruction(ranking, measure));
    }
    let name = group::field_name(&Names::new(program), first.key);
    let place = place(ranking, first, measure);
    sentence(ranking, &format!("{name}{place},"), first, measure)
}

/// Such as "graph.h:34 in random_target causes 62 % of L2 misses"; none if most is of an unknown line.
fn answer_by_line(ranking: &Ranking, measure: Measure) -> Option<String> {
    let program = ranking.program;
    let groups = group::group_by(program, ranking.counters, measure, |_, site| {
        group::line_key(program, site)
    });
    let first = groups.first()?;
    let (file, line) = first.key;
    let file = program.string(file).rsplit('/').next()?;
    if file.is_empty() || line == 0 {
        return None;
    }
    let location = program.location(program.site(first.main_site).location);
    let function = Names::new(program).function(location.function);
    let subject = if function.is_empty() {
        format!("{file}:{line}")
    } else {
        format!("{file}:{line} in {function}")
    };
    Some(sentence(ranking, &subject, first, measure))
}

/// Such as "The instruction at libc.so.6+0x1234 causes 61 % of L2 misses".
fn answer_by_instruction(ranking: &Ranking, measure: Measure) -> String {
    let program = ranking.program;
    let groups = group::group_by(program, ranking.counters, measure, |id, _| {
        group::instruction_key(program, id)
    });
    let Some(first) = groups.first() else {
        return "No access was recorded.".into();
    };
    let name = group::instruction_name(program, first.main_site);
    sentence(ranking, &format!("The instruction at {name}"), first, measure)
}

fn sentence<K>(ranking: &Ranking, subject: &str, first: &Group<K>, measure: Measure) -> String {
    let total = ranking.total();
    let estimates = ranking.estimates.filter(|_| measure == ranking.rank_by);
    let estimated = estimates.and_then(|estimates| estimates.share(&first.sites));
    let share = estimated.unwrap_or(measure.of(&first.counters) as f64 / measure.of(&total) as f64);
    let verb = match measure {
        Measure::Misses(_) => "causes",
        Measure::Accesses | Measure::Bytes | Measure::Cycles => "takes",
    };
    let aside = if measure == ranking.rank_by {
        String::new()
    } else {
        format!(" (no {})", ranking.rank_by)
    };
    format!(
        "{subject} {verb} {}{} of {measure}{aside}",
        whole_percent(share),
        bounds(ranking, first, measure)
    )
}

/// " (55 % to 67 %)", if only bursts of the run were recorded.
fn bounds<K>(ranking: &Ranking, first: &Group<K>, measure: Measure) -> String {
    let estimates = ranking.estimates.filter(|_| measure == ranking.rank_by);
    let interval = estimates.and_then(|estimates| estimates.interval(&first.sites));
    interval.map_or(String::new(), |interval| {
        format!(
            " ({} to {})",
            whole_percent(interval.low),
            whole_percent(interval.high)
        )
    })
}

/// ", read at simplex.c:123", or "mostly read" if other sites have a part in it; empty if the line is unknown.
fn place<K>(ranking: &Ranking, group: &Group<K>, measure: Measure) -> String {
    let program = ranking.program;
    let site = program.site(group.main_site);
    let location = program.location(site.location);
    let file = program.string(location.file);
    if file.is_empty() || location.line == 0 {
        return String::new();
    }
    let file_name = file.rsplit('/').next().unwrap_or(file);
    let main = measure.of(&ranking.counters[group.main_site.index()]);
    let mostly = if main < measure.of(&group.counters) {
        "mostly "
    } else {
        ""
    };
    let action = action(program, group.main_site);
    format!(", {mostly}{action} at {file_name}:{}", location.line)
}

fn action(program: &Program, site: SiteId) -> &'static str {
    match program.site(site).kind {
        AccessKind::Load | AccessKind::AtomicLoad => "read",
        AccessKind::Store | AccessKind::AtomicStore => "written",
        AccessKind::AtomicReadModifyWrite | AccessKind::AtomicCompareExchange => "updated atomically",
        AccessKind::CopyRead => "copied from",
        AccessKind::CopyWrite => "copied to",
        AccessKind::Fill => "filled",
        AccessKind::LibraryRead => "read by a library",
        AccessKind::LibraryWrite => "written by a library",
    }
}

/// "61 %"; a small part is never called 0 %, nor nearly all 100 %.
fn whole_percent(share: f64) -> String {
    if (0.995..1.0).contains(&share) {
        return "more than 99 %".into();
    }
    if share > 0.0 && share < 0.005 {
        return "less than 1 %".into();
    }
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_but_not_to_their_ends() {
        for (share, text) in [
            (0.614, "61 %"),
            (1.0, "100 %"),
            (0.999, "more than 99 %"),
            (0.001, "less than 1 %"),
        ] {
            assert_eq!(whole_percent(share), text);
        }
    }
}
