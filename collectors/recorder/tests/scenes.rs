//! Scenes that a hand-written program plays: every access that it made must be in the trace, in order.

mod support;

use support::*;
use trackway_recorder::{Compression, ProgramEnd};

#[test]
fn one_thread() {
    let recorded = record_player(&["count", "1000000"], |_| {});
    assert_eq!(all_addresses(&recorded.trace), [run(1, 1_000_000)]);
    check_oracle(&recorded.trace);
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(0));
    assert_eq!((recorded.summary.modules, recorded.summary.streams), (1, 1));
    // The last address ends in zero bytes, which a swept buffer does not tell from unused ones.
    assert_eq!(recorded.summary.raw_bytes, 12_000_000 - 5);
    assert!(recorded.summary.instrumented);
}
