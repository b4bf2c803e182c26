//! Counts accesses, bytes and misses of every site.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trackway_trace::{Batch, Program, Trace};

use super::levels::Levels;
use super::{answer, bursts, details, tables, time};
use crate::model::cache::Caches;
use crate::model::site_counts::{attribution_table, stores, Bursts, Grouping, Measure, MissesShard};
use crate::model::time::{Machine, TimedSites};
use crate::model::Names;
use crate::{Analysis, Findings, Order, WorkPart};

/// Simulates the caches of threads and attributes their misses. If a level is shared, all threads' accesses are
/// simulated in one order; otherwise, each thread is simulated by itself.
#[derive(Debug, Clone)]
pub struct Misses {
    caches: Caches,
    groupings: Vec<Grouping>,
    rank_by: Measure,
    top: usize,
    source_root: Option<PathBuf>,
    is_detailed: bool,
    bursts: Option<Arc<Bursts>>,
    machine: Option<Arc<Machine>>,
}

impl Misses {
    /// One table for each of `groupings`, with the `top` rows by `rank_by`.
    pub fn new(caches: Caches, groupings: Vec<Grouping>, rank_by: Measure, top: usize) -> Misses {
        Misses {
            caches,
            groupings,
            rank_by,
            top,
            source_root: None,
            is_detailed: false,
            bursts: None,
            machine: None,
        }
    }

    /// Also estimates the cycles that accesses take on that machine.
    #[must_use]
    pub fn with_time(self, machine: Option<Machine>) -> Misses {
        Misses {
            machine: machine.map(Arc::new),
            ..self
        }
    }

    /// Whether it estimates cycles. Then processes can't count parts of it: time is followed in the order of each thread.
    pub fn is_timed(&self) -> bool {
        self.machine.is_some()
    }

    /// If the trace was recorded in bursts, says how far shares may lie off those of the whole run.
    #[must_use]
    pub fn with_bursts_of(self, trace: &Trace) -> Misses {
        Misses {
            bursts: Bursts::of(trace),
            ..self
        }
    }

    /// Looks for source files below this folder, too.
    pub fn with_sources_below(self, root: Option<&Path>) -> Misses {
        Misses {
            source_root: root.map(Path::to_owned),
            ..self
        }
    }

    /// Adds the shares of each level, and the line of source that contributes most to each field.
    #[must_use]
    pub fn with_details(self) -> Misses {
        Misses {
            is_detailed: true,
            ..self
        }
    }

    pub(super) fn source_root(&self) -> Option<&Path> {
        self.source_root.as_deref()
    }

    pub fn rank_by(&self) -> Measure {
        self.rank_by
    }

    pub(super) fn caches(&self) -> &Caches {
        &self.caches
    }
}

impl Analysis for Misses {
    type Shard = MissesShard;

    fn order(&self) -> Order {
        let timed = self
            .machine
            .as_ref()
            .is_some_and(|machine| machine.caches.any_shared());
        Order::across_threads_if(self.caches.any_shared() || timed)
    }

    fn start_shard(&self) -> MissesShard {
        self.start_part(WorkPart::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        self.caches.most_parts()
    }

    fn start_part(&self, part: WorkPart) -> MissesShard {
        MissesShard::new(&self.caches, part)
            .with_bursts(self.bursts.as_ref(), self.rank_by, &self.caches)
            .with_time(self.machine.as_ref())
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn take_program(&self, shard: &mut MissesShard, program: &Program) {
        shard.take_sites(program.sites.iter().map(|site| stores(site.kind)));
        shard.take_timed_sites(|| Arc::new(TimedSites::of(program)));
    }

    fn take_batch(&self, shard: &mut MissesShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut MissesShard, from: MissesShard) {
        into.merge(&from);
    }

    fn finish(&self, shard: MissesShard, trace: &Trace) -> Findings {
        let program = trace.program();
        let counters = shard.counters();
        let estimates = shard.estimates(&self.caches);
        let ranking = tables::Ranking {
            program,
            names: Names::new(program),
            counters: &counters,
            threads: shard.threads(),
            caches: &self.caches,
            rank_by: self.rank_by,
            top: self.top,
            working_directory: trace.meta().working_directory.as_ref(),
            source_root: self.source_root(),
            estimates: estimates.as_ref(),
            timed: self.is_timed(),
        };
        let mut tables: Vec<_> = self
            .groupings
            .iter()
            .map(|&grouping| ranking.table(grouping))
            .collect();
        let levels = Levels {
            caches: &self.caches,
            totals: &shard.totals(),
            counters: &ranking.total(),
            estimates: estimates.as_ref(),
        };
        tables.extend(levels.tables());
        tables.extend(
            estimates
                .as_ref()
                .map(|estimates| bursts::table(estimates, self.rank_by)),
        );
        if let Some(machine) = &self.machine {
            tables.push(time::table(machine, &ranking));
        }
        tables.push(attribution_table(program, &counters));
        let mut findings = Findings {
            answer: Some(answer::answer(&ranking)),
            tables,
        };
        if self.is_detailed {
            details::add(self, &mut findings, &counters, trace);
        }
        findings
    }
}
