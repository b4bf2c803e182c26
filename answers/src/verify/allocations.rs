//! Checks that calls of allocators can be read, and don't contradict each other.

use trackway_analysis::allocations::{Contradiction, Replay, ReplayStep};
use trackway_report::{counted, grouped};
use trackway_trace::allocations::{AllocationEvent, AllocationEvents};
use trackway_trace::Trace;

use super::Verdict;

/// None if the trace holds no such calls.
pub fn check(trace: &Trace) -> Option<Verdict> {
    if trace.allocation_streams().is_empty() {
        return None;
    }
    let mut events = AllocationEvents::new(trace);
    let mut replay = Replay::new(&trace.allocating_processes());
    let mut findings = Vec::new();
    let mut checked: u64 = 0;
    loop {
        match events.next_event() {
            Ok(Some(event)) => {
                checked += 1;
                if let ReplayStep::Contradiction(contradiction) = replay.step(&event) {
                    findings.push(describe(&event, contradiction));
                }
            }
            Ok(None) => break,
            Err(error) => findings.push(error.to_string()),
        }
    }
    let extent = format!("{} events of allocators", grouped(checked));
    let summary = match findings.len() {
        0 => format!("allocations: no contradiction in {extent}"),
        broken => format!(
            "allocations: {} in {extent}",
            counted(broken as u64, "contradiction")
        ),
    };
    Some(Verdict { findings, summary })
}

fn describe(event: &AllocationEvent, contradiction: Contradiction) -> String {
    let what = match contradiction {
        Contradiction::AllocatedTwice { address } => {
            format!("allocated {address:#x}, where another block lives")
        }
        Contradiction::NotLive { address } => {
            format!("took {address:#x}, where no block lives")
        }
    };
    format!(
        "process {}, stream {}, thread {}, at {} ns: {} {what}",
        event.process,
        event.stream,
        event.thread,
        event.time_ns,
        event.by.name()
    )
}
