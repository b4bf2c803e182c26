//! How structures are laid out, which of their fields are hot, and what would be a better layout.

mod advice;
mod affinity;
mod cards;
mod finder;
mod fragment;
mod packed;
mod proposals;
mod tables;
mod together;
mod weights;
mod with_misses;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, Program, Trace};

use crate::engine::Observer;
use crate::model::cache::Caches;
use crate::model::site_counts::stores;
use crate::model::site_counts::MissesShard;
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::structures::Structures;
use crate::model::time::{Machine, TimedSites};
use crate::{Analysis, Findings, Order, WorkPart};
use affinity::Pairs;
pub use cards::{LayoutCard, LayoutCards, MemberMove};
pub use finder::Finder;
pub use fragment::Fragment;
use tables::{Advice, Presentation};
use together::{Together, Watch};
use weights::Weights;
pub use with_misses::LayoutAndMisses;

/// Simulates caches, and follows which fields of an object are accessed together.
pub struct Layout {
    caches: Caches,
    machine: Option<Arc<Machine>>,
    structures: Structures,
    watch: Watch,
    window: u64,
    shown: Shown,
    /// What the finished pass counted.
    counted: Mutex<Option<Counted>>,
}

/// Counters by site, and pairs by structure.
struct Counted {
    counters: Vec<SiteCounters>,
    pairs: Vec<Pairs>,
}

/// What to print.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The only structure to show, if one was asked for.
    pub only: Option<usize>,
    /// Most structures to show, and most pairs of fields of each.
    pub top: usize,
    pub rank_by: Measure,
    /// The command whose options proposals are.
    pub command: String,
}

/// A part of the work on one thread, or of all.
pub struct LayoutShard {
    misses: MissesShard,
    /// Exists in the first part only, as fields of an object may be on lines of several parts.
    together: Option<Together>,
}

impl Layout {
    /// Fields are accessed together if at most `window` accesses of the thread lie between them.
    pub fn new(structures: Structures, caches: Caches, window: u64, shown: Shown) -> Layout {
        Layout {
            caches,
            machine: None,
            watch: Watch::new(&structures, window),
            window,
            structures,
            shown,
            counted: Mutex::default(),
        }
    }

    /// Also estimates the cycles that accesses take on that machine.
    #[must_use]
    pub fn with_time(self, machine: Option<Machine>) -> Layout {
        Layout {
            machine: machine.map(Arc::new),
            ..self
        }
    }

    /// Whether there is anything that [`Layout::advise`] would simulate. To be called after a pass.
    pub fn has_proposals(&self, trace: &Trace) -> bool {
        let simulates = !self.caches.levels().is_empty();
        simulates && self.with_counted(trace, |presentation, _| !presentation.proposals().is_empty())
    }

    /// Simulates the proposals of a pass in two further ones, and shows those that save misses. The findings of the
    /// pass itself say that proposals are not simulated.
    pub fn advise(&self, trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> Findings {
        self.with_counted(trace, |presentation, counters| {
            let before = presentation.before(trace.program(), counters);
            let judged = before.judge(presentation.proposals(), trace, threads, observer);
            let advice = Advice::Simulated(Box::new(before), judged);
            presentation.findings(trace.program(), counters, &advice)
        })
    }

    /// What a pass counted, by site.
    pub fn counters(&self, trace: &Trace) -> Vec<SiteCounters> {
        self.with_counted(trace, |_, counters| counters.to_vec())
    }

    /// Simulates the proposals of a pass in two further ones, and returns those that save time, the best first.
    pub fn cards(&self, trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> LayoutCards {
        self.with_counted(trace, |presentation, counters| {
            let before = presentation.before(trace.program(), counters);
            let judged = before.judge(presentation.proposals(), trace, threads, observer);
            cards::of(&before, judged, trace.program(), counters)
        })
    }

    /// Presents what the last pass counted; nothing if there was no pass.
    fn with_counted<R>(&self, trace: &Trace, then: impl FnOnce(&Presentation, &[SiteCounters]) -> R) -> R {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = Counted {
            counters: vec![SiteCounters::default(); trace.program().sites.len()],
            pairs: self.watch.start().pairs,
        };
        let counted = counted.as_ref().unwrap_or(&nothing);
        let weights = weights::weigh(trace.program(), &self.structures, &counted.counters);
        then(&self.presentation(&weights, &counted.pairs), &counted.counters)
    }

    fn presentation<'p>(&'p self, weights: &'p [Weights], pairs: &'p [Pairs]) -> Presentation<'p> {
        Presentation {
            structures: &self.structures,
            weights,
            pairs,
            caches: &self.caches,
            machine: self.machine.as_ref(),
            window: self.window,
            shown: &self.shown,
        }
    }
}

impl Analysis for Layout {
    type Shard = LayoutShard;

    fn order(&self) -> Order {
        let timed = self
            .machine
            .as_ref()
            .is_some_and(|machine| machine.caches.any_shared());
        Order::across_threads_if(self.caches.any_shared() || timed)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> LayoutShard {
        self.start_part(WorkPart::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        self.caches.most_parts()
    }

    fn start_part(&self, part: WorkPart) -> LayoutShard {
        LayoutShard {
            misses: MissesShard::new(&self.caches, part).with_time(self.machine.as_ref()),
            together: part.is_first().then(|| self.watch.start()),
        }
    }

    fn take_program(&self, shard: &mut LayoutShard, program: &Program) {
        shard
            .misses
            .take_sites(program.sites.iter().map(|site| stores(site.kind)));
        shard
            .misses
            .take_timed_sites(|| Arc::new(TimedSites::of(program)));
    }

    fn take_batch(&self, shard: &mut LayoutShard, batch: &Batch) {
        shard.misses.take(batch);
        if let Some(together) = &mut shard.together {
            self.watch.take(together, batch);
        }
    }

    fn merge(&self, into: &mut LayoutShard, from: LayoutShard) {
        into.misses.merge(&from.misses);
        match (&mut into.together, from.together) {
            (Some(into), Some(from)) => into.add(&from),
            (into @ None, from) => *into = from,
            (Some(_), None) => (),
        }
    }

    fn finish(&self, shard: LayoutShard, trace: &Trace) -> Findings {
        let counters = shard.misses.counters();
        self.findings(counters, shard.together, trace)
    }
}

impl Layout {
    /// What a pass has counted.
    fn findings(&self, counters: Vec<SiteCounters>, together: Option<Together>, trace: &Trace) -> Findings {
        let pairs = together.unwrap_or_else(|| self.watch.start()).pairs;
        let findings = self.findings_of(trace, &counters, &pairs);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted = Some(Counted { counters, pairs });
        findings
    }

    /// `counters` by site, `pairs` by structure; proposals are not simulated.
    fn findings_of(&self, trace: &Trace, counters: &[SiteCounters], pairs: &[Pairs]) -> Findings {
        let weights = weights::weigh(trace.program(), &self.structures, counters);
        let presentation = self.presentation(&weights, pairs);
        let advice = Advice::NotSimulated(presentation.proposals());
        presentation.findings(trace.program(), counters, &advice)
    }
}
