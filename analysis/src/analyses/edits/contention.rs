//! Fields whose lines threads take from each other.

use std::collections::HashSet;

use trackway_trace::{AccessKind, Program, SiteId};

use super::private::Private;
use super::spread::Spread;
use super::{Edit, Kind, Rewriting, Subject, LEAST_PART};
use crate::analyses::sharing::{contended_fields, ContendedField};
use crate::model::site_counts::SiteCounters;

/// A field shares lines by chance if this part of its transfers is false sharing: where one thread writes it, and where several do.
const MOST_BY_ONE: f64 = 0.5;
const MOST_BY_SEVERAL: f64 = 0.9;

/// Nothing if no thread takes a line from another one.
pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    if SiteCounters::sum(subject.counters).outcome.invalidations == 0 {
        return Vec::new();
    }
    let line_bytes = subject
        .machine
        .caches
        .levels()
        .first()
        .map_or(64, |level| u64::from(level.geometry.line_bytes));
    let fields = contended_fields(subject.trace, line_bytes, subject.threads, subject.observer);
    let program = subject.trace.program();
    fields
        .into_iter()
        .filter_map(|field| {
            let part = subject.part_of_time(&field.sites);
            edit(program, field, line_bytes, part).filter(|_| part >= LEAST_PART)
        })
        .collect()
}

/// None if one thread writes what others read: they must get it.
fn edit(program: &Program, field: ContendedField, line_bytes: u64, part: f64) -> Option<Edit> {
    let transfers = field.transfers;
    let most = match field.writers {
        0 | 1 => MOST_BY_ONE,
        _ => MOST_BY_SEVERAL,
    };
    let is_false = transfers.false_sharing as f64 >= most * transfers.all() as f64;
    let takes_turns = |site: &SiteId| {
        let site = program.site(*site);
        site.waits || site.kind == AccessKind::AtomicCompareExchange
    };
    // What only library functions access is mostly a lock.
    let is_of_library = |site: &SiteId| program.site(*site).kind.is_by_library();
    let sites = &field.sites;
    let is_lock = sites.iter().any(takes_turns) || sites.iter().all(is_of_library);
    let kind = match (is_false, is_lock) {
        (true, _) => Kind::LinesOfTheirOwn,
        (false, _) if field.writers < 2 => return None,
        (false, true) => Kind::ThreadsApart,
        (false, false) => Kind::OneForEachThread,
    };
    let taken = trackway_report::times(transfers.all());
    let share = trackway_report::percent(transfers.false_sharing as f64 / transfers.all().max(1) as f64);
    let reason = match kind {
        Kind::LinesOfTheirOwn => format!(
            "{} threads take its lines from each other {taken}, and in {share} of these they access different bytes: false sharing",
            field.threads
        ),
        _ => format!(
            "{} threads write the same bytes, and take their lines from each other {taken}, {share} of these by chance: true \
             sharing, against which no padding helps",
            field.writers
        ),
    };
    let sites: HashSet<SiteId> = field.sites.iter().copied().collect();
    let rewriting: Rewriting = match kind {
        Kind::LinesOfTheirOwn => {
            let spread = Spread::new(program, &sites, line_bytes);
            Box::new(move || Box::new(spread.clone()))
        }
        _ => {
            let private = Private::new(program, &sites, kind == Kind::OneForEachThread);
            Box::new(move || Box::new(private.clone()))
        }
    };
    Some(Edit {
        part,
        kind,
        of: field.name,
        reason,
        location: Some(program.site(field.main_site).location),
        definition: Vec::new(),
        rewriting,
    })
}
