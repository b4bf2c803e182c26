//! What a change gains, as it can be made.

use trackway_analysis::cache::Caches;
use trackway_answers::failure::Failure;
use trackway_answers::kept::{self, KeepingArguments};
use trackway_answers::output::OutputArguments;
use trackway_answers::reading::ReadingArguments;
use trackway_answers::slice::SliceArguments;
use trackway_answers::time::{MachineArguments, TimeArguments};
use trackway_answers::whatif::{LayoutArguments, WhatIfArguments};
use trackway_report::Report;
use trackway_trace::Trace;

const HUGE_PAGES: &str = "--huge-pages";

/// A count with and without the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    pub before: u64,
    pub after: u64,
}

impl Sides {
    /// The saved part; negative if there are more.
    pub fn saved(self) -> f64 {
        (self.before as f64 - self.after as f64) / self.before.max(1) as f64
    }
}

/// What the model says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    pub cycles: Sides,
    /// None if the change only has lines come earlier.
    pub misses: Option<Misses>,
}

/// Misses of the cache of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misses {
    pub level: u64,
    pub sides: Sides,
}

/// `options`: of `trackway whatif`.
///
/// # Errors
/// If the change can't be simulated.
pub fn of(
    options: &str,
    caches: Option<&Caches>,
    machine: &MachineArguments,
    trace: &Trace,
) -> Result<Prediction, Failure> {
    let mut words = shlex::split(options).unwrap_or_default();
    let huge_pages = words.iter().any(|word| word == HUGE_PAGES);
    words.retain(|word| word != HUGE_PAGES);
    let question = WhatIfArguments {
        trace: trace.path().into(),
        layouts: LayoutArguments::of_words(&words)?,
        huge_pages,
        cache: caches.cloned(),
        cache_before: None,
        sort: None,
        time: TimeArguments {
            time: true,
            machine: machine.clone(),
        },
        output: OutputArguments::all_rows(),
        slice: SliceArguments::default(),
        reading: ReadingArguments::default(),
        keeping: KeepingArguments::default(),
    };
    let report = kept::ask("whatif", &question, trace.path(), &question.keeping)?;
    in_report(&report).ok_or_else(|| Failure::new("the answer of `whatif` has no cycles"))
}

fn in_report(report: &Report) -> Option<Prediction> {
    let table = report.table("levels")?;
    let sides = |row: usize| {
        Some(Sides {
            before: table.integer("before", row)?,
            after: table.integer("after", row)?,
        })
    };
    let named = |name: &str| (0..table.row_count()).find(|row| table.text("what", *row) == Some(name));
    let level = [2, 1]
        .into_iter()
        .find(|level| named(&format!("L{level} misses")).is_some())?;
    Some(Prediction {
        cycles: sides(named("estimated cycles")?)?,
        misses: Some(Misses {
            level,
            sides: sides(named(&format!("L{level} misses"))?)?,
        }),
    })
}
