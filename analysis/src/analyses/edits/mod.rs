//! Changes of a program beyond the layout of its structures. Each says how the accesses of the trace would go on, and is
//! simulated for the whole program.

mod contention;
mod elements;
mod fields;
mod loops;
mod pool;
mod prefetch;
mod private;
mod reserve;
mod shrunk;
mod simulate;
mod slots;
mod spread;
mod visits;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use trackway_trace::{Batch, LocationId, SiteId, Trace};

use crate::engine::{each, Observer};
use crate::model::site_counts::SiteCounters;
use crate::model::time::{Machine, LEAST_WAITING};
pub use prefetch::ITERATIONS as PREFETCH_ITERATIONS;
use simulate::{simulate, Output};

/// An edit is looked at where its accesses take at least this part of the estimated time.
pub const LEAST_PART: f64 = 0.02;
/// Edits that are simulated at most.
const MOST_EDITS: usize = 6;
/// Each looks for edits of its kinds.
const LOOKS: [fn(&Subject) -> Vec<Edit>; 6] = [
    contention::edits,
    loops::edits,
    visits::edits,
    fields::edits,
    prefetch::edits,
    reserve::edits,
];

/// A change of a program.
pub struct Edit {
    pub kind: Kind,
    /// The field, variable or loop that is changed.
    pub of: String,
    /// What in the trace speaks for it.
    pub reason: String,
    /// Where it costs most.
    pub location: Option<LocationId>,
    /// Lines for the source.
    pub definition: Vec<String>,
    /// The part of the time that the accesses take whose place or order it changes.
    part: f64,
    rewriting: Rewriting,
}

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Threads write the same bytes: each gets bytes of its own.
    OneForEachThread,
    /// Threads take turns with a lock or a queue: as if each had its own.
    ThreadsApart,
    /// Threads access different bytes of the same lines: each gets lines of its own.
    LinesOfTheirOwn,
    /// Objects that are allocated one by one come from a pool.
    Pool,
    /// Elements lie in the order in which they are visited.
    OrderOfVisits,
    /// Elements are visited in the order of their addresses, as sorted indices would.
    SortedIndices,
    /// Members that are written and never read are left out.
    NeverRead,
    /// A member or an array of numbers gets a type of fewer bytes.
    SmallerType,
    /// Lines are asked for some iterations before they are needed.
    Prefetch,
    /// An array that grows has room for all elements from the beginning.
    Reserve,
    /// Another loop of a nest goes innermost.
    Interchange,
    /// A nest of loops goes over its arrays in blocks.
    Blocking,
}

/// Starts to rewrite the accesses of a trace.
type Rewriting = Box<dyn Fn() -> Box<dyn Rewrite> + Send + Sync>;

/// Rewrites the accesses of a trace, in their order.
trait Rewrite: Send {
    fn take(&mut self, batch: &Batch, to: &mut Output);

    /// Why the edit can't be made, as the trace showed.
    fn objection(&self) -> Option<String> {
        None
    }

    /// Whether there will be an objection, whatever else comes: then no more is simulated.
    fn is_refused(&self) -> bool {
        false
    }

    /// Lets go of what it held back.
    fn end(&mut self, to: &mut Output) {
        let _ = to;
    }
}

/// What edits are looked for in.
pub struct Subject<'s> {
    pub trace: &'s Trace,
    pub machine: &'s Arc<Machine>,
    /// Counters by site, of the program as it is.
    pub counters: &'s [SiteCounters],
    /// What the accesses of each site waited, in cycles.
    pub waited: &'s [u64],
    pub threads: NonZeroUsize,
    /// Follows the passes that look for edits.
    pub observer: &'s dyn Observer,
    /// Follows the pass that simulates them.
    pub simulating: &'s dyn Observer,
}

impl Subject<'_> {
    /// Finds the edits that may save time, those that concern most of it first.
    fn edits(&self) -> Vec<Edit> {
        let found = each(&LOOKS, self.threads, |look| look(self));
        let mut edits: Vec<Edit> = found.into_iter().flatten().collect();
        edits.sort_by(|first, second| second.part.total_cmp(&first.part));
        edits.truncate(MOST_EDITS);
        edits
    }

    /// Finds edits, and simulates each alone: the program's counters with it, or why it can't be made.
    pub fn simulated(&self) -> Vec<(Edit, Result<SiteCounters, String>)> {
        let edits = self.edits();
        let after = simulate(&edits, self.machine, self.trace, self.threads, self.simulating);
        let mut all: Vec<(Edit, Result<SiteCounters, String>)> = edits.into_iter().zip(after).collect();
        let cycles = |one: &(Edit, Result<SiteCounters, String>)| {
            one.1.as_ref().map_or(u64::MAX, |counters| counters.cycles)
        };
        all.sort_by_key(cycles);
        // Only the better change of a loop is kept.
        let mut loops = HashSet::new();
        all.retain(|(edit, _)| {
            let is_loop = matches!(edit.kind, Kind::Interchange | Kind::Blocking);
            !is_loop || loops.insert((edit.of.clone(), edit.location))
        });
        all
    }

    /// The part of the estimated time that these sites take.
    fn part_of_time(&self, sites: &[SiteId]) -> f64 {
        let of = |site: &SiteId| {
            self.counters
                .get(site.index())
                .map_or(0, |counters| counters.cycles)
        };
        self.part(sites.iter().map(of).sum())
    }

    /// The part of the estimated time in which the accesses of these sites wait.
    fn part_waited(&self, sites: impl IntoIterator<Item = SiteId>) -> f64 {
        let sites = sites.into_iter();
        let of = |site: SiteId| self.waited.get(site.index()).copied().unwrap_or_default();
        self.part(sites.map(of).sum())
    }

    fn part(&self, cycles: u64) -> f64 {
        let all: u64 = self.counters.iter().map(|counters| counters.cycles).sum();
        cycles as f64 / all.max(1) as f64
    }
}
