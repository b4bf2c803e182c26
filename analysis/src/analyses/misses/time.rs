//! The program's time by the estimate, and what it rests on.

use std::num::NonZeroUsize;

use trackway_report::{Table, TableBuilder};
use trackway_trace::Trace;

use super::tables::Ranking;
use super::Misses;
use crate::engine::{run_unfinished, Observer};
use crate::model::site_counts::Measure;
use crate::model::time::Machine;

/// The estimated cycles of each site of the program. Goes over the trace once.
pub fn cycles_of_sites(
    machine: &Machine,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Vec<u64> {
    let misses = Misses::new(machine.caches.clone(), Vec::new(), Measure::Cycles, 0);
    let misses = misses.with_time(Some(machine.clone()));
    let (shard, _) = run_unfinished(&misses, trace, threads, observer);
    shard.counters().iter().map(|counters| counters.cycles).collect()
}

/// One row for the whole program.
pub(super) fn table(machine: &Machine, ranking: &Ranking) -> Table {
    let cycles = ranking.total().cycles;
    let program = ranking.program;
    let known = program
        .work
        .iter()
        .zip(ranking.counters)
        .filter(|(work, _)| work.is_some());
    let known: u64 = known.map(|(_, counters)| counters.accesses).sum();
    let threads = ranking.threads.values();
    let longest = threads.map(|thread| thread.cycles).max().unwrap_or_default();
    let title = format!("Estimated time, with {}", machine.caches);
    TableBuilder::new("time", title, &[()])
        .count("cycles", |()| cycles)
        .count(("longest_thread", "cycles of the thread with most"), |()| longest)
        .count(("work_cycles", "cycles if nothing had to be waited for"), |()| {
            machine.cycles_of_work(program, ranking.counters)
        })
        .count(("nanoseconds", "time (ns)"), |()| machine.nanoseconds(cycles))
        .share(
            ("known_work", "accesses of known instructions and addresses"),
            |()| (known, ranking.total().accesses),
        )
        .as_record()
        .build()
}
