//! The sentence that states the effect of a change.

use trackway_report::{grouped, percent};

use super::rewrite::Rewritten;
use super::{Change, Link, NewLayout, Question};
use crate::model::site_counts::Measure;

/// Changes below this part of what there was are not mentioned.
const LEAST_CHANGE: f64 = 0.0005;

/// Something that is counted of the whole program.
pub(super) struct Level {
    pub name: String,
    pub before: u64,
    pub after: u64,
}

/// What the question changes, in words.
pub(super) fn changes<'n>(question: &Question, name_of: impl Fn(&NewLayout) -> &'n str) -> String {
    let mut words: Vec<String> = Vec::new();
    for layout in &question.layouts {
        let name = name_of(layout);
        words.push(match &layout.change {
            Change::Split(_) => format!("{name} split, {}", link_name(layout)),
            Change::Reorder(_) => format!("{name} reordered"),
            Change::PadBy(_) | Change::PadMember(_) => format!("{name} padded"),
            Change::Align(bytes) => format!("{name} aligned to {bytes}"),
            Change::Arrays => format!("{name} as arrays"),
        });
    }
    if question.caches_before != question.caches_after {
        words.push(format!("caches {}", question.caches_after));
    }
    match words.is_empty() {
        true => "Nothing changed".into(),
        false => words.join("; "),
    }
}

/// States how much of each structure's accesses was rewritten. Then follows the ranking measure or, if that stays the
/// same, the level that changes most. The other levels that improve, and all that get worse, come last.
pub(super) fn headline(
    what: &str,
    rewritten: &[(&str, Rewritten)],
    levels: &[Level],
    rank_by: Measure,
) -> String {
    let shares = rewritten.iter().map(|(name, done)| {
        let (part, all) = done.share();
        let share = percent(part as f64 / all.max(1) as f64);
        format!("{share} of the accesses to {name} rewritten. ")
    });
    format!(
        "{}{what}: {}",
        shares.collect::<String>(),
        effect(levels, &rank_by.to_string())
    )
}

fn effect(levels: &[Level], ranking: &str) -> String {
    let changed = || levels.iter().filter(|level| level.change().abs() >= LEAST_CHANGE);
    let ranked = changed().find(|level| level.name == ranking);
    let Some(first) = ranked.or_else(|| changed().max_by_key(|level| level.weight())) else {
        return "no level changes by 0.1 %".into();
    };
    let others = || changed().filter(|level| level.name != first.name);
    let better = others().filter(|level| level.change() < 0.0).map(Level::words);
    let worse: Vec<String> = others()
        .filter(|level| level.change() > 0.0)
        .map(Level::words)
        .collect();
    let instead = format!(
        "{} ({} instead of {})",
        first.words(),
        grouped(first.after),
        grouped(first.before)
    );
    let mut text = std::iter::once(instead)
        .chain(better)
        .collect::<Vec<_>>()
        .join(", ");
    if !worse.is_empty() {
        text += &format!("; worse: {}", worse.join(", "));
    }
    text
}

impl Level {
    /// The change as a part of what was before; infinite if there was nothing.
    fn change(&self) -> f64 {
        match (self.before, self.after) {
            (before, after) if before == after => 0.0,
            (before, after) => (after as f64 - before as f64) / before as f64,
        }
    }

    /// Misses first, then accesses and bytes; of each, the larger change.
    fn weight(&self) -> (bool, u64) {
        (self.name.ends_with("misses"), self.before.abs_diff(self.after))
    }

    fn words(&self) -> String {
        let change = self.change();
        match (self.before, change < 0.0) {
            (0, _) => format!("{} {}", grouped(self.after), self.name),
            (_, true) => format!("{} fewer {}", percent(-change), self.name),
            (_, false) => format!("{} more {}", percent(change), self.name),
        }
    }
}

pub(super) fn link_name(layout: &NewLayout) -> &'static str {
    match (layout.parts.len(), layout.link) {
        (1, _) => "in one part",
        (2, Link::Pointer) => "parts linked by a pointer",
        _ => "parts with the same index",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect_of(levels: &[(&str, u64, u64)]) -> String {
        let level = |&(name, before, after): &(&str, u64, u64)| Level {
            name: name.into(),
            before,
            after,
        };
        let levels: Vec<Level> = levels.iter().map(level).collect();
        effect(&levels, "L2 misses")
    }

    #[test]
    fn the_ranking_measure_leads_if_it_changes() {
        let levels = [
            ("accesses", 1000, 1100),
            ("L1 misses", 100, 90),
            ("L2 misses", 50, 20),
        ];
        assert_eq!(
            effect_of(&levels),
            "60.0 % fewer L2 misses (20 instead of 50), 10.0 % fewer L1 misses; worse: 10.0 % more accesses"
        );
    }

    #[test]
    fn else_the_level_that_changes_leads() {
        let levels = [
            ("L2 misses", 50, 50),
            ("L3 misses", 0, 3),
            ("TLB1 misses", 400, 100),
            ("bytes from memory", 6400, 9600),
        ];
        assert_eq!(
            effect_of(&levels),
            "75.0 % fewer TLB1 misses (100 instead of 400); worse: 3 L3 misses, 50.0 % more bytes from memory"
        );
        assert_eq!(effect_of(&[("L2 misses", 50, 50)]), "no level changes by 0.1 %");
        assert_eq!(
            effect_of(&[("L2 misses", 50, 60)]),
            "20.0 % more L2 misses (60 instead of 50)"
        );
    }

    #[test]
    fn the_rewritten_share_comes_first() {
        let done = Rewritten {
            rewritten: 30,
            by_address: 10,
            left: 60,
            ..Rewritten::default()
        };
        let text = headline("arc padded", &[("arc", done)], &[], Measure::Accesses);
        assert!(
            text.starts_with("25.0 % of the accesses to arc rewritten. arc padded: "),
            "{text}"
        );
    }
}
