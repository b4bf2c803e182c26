//! The program's time by the estimate, and what it rests on.

use trackway_report::{Table, TableBuilder};

use super::tables::Ranking;
use crate::model::time::Machine;

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
        .count(("nanoseconds", "ns"), |()| machine.nanoseconds(cycles))
        .share(
            ("known_work", "accesses of known instructions and addresses"),
            |()| (known, ranking.total().accesses),
        )
        .as_record()
        .build()
}
