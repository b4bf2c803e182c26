//! Tables that count.

use trackway_trace::table::{
    Amount, Count, InstructionMix, Table, TableAccess, TableBlock, TableBlocks, TableFunction, TableStep,
};
use trackway_trace::{NodeCounts, StepKind};

/// The golden table's code, counted by two counters.
pub fn table() -> Table {
    let golden = super::golden::table();
    let functions = golden.functions.iter().map(|function| TableFunction {
        segment_count: 0,
        ..function.clone()
    });
    Table {
        oracle: false,
        calls: false,
        functions: functions.collect(),
        segments: Vec::new(),
        blocks: Some(TableBlocks {
            counter_count: 2,
            derived: Vec::new(),
            blocks: vec![loads(), fills()],
            callees: Vec::new(),
            steps: vec![TableStep {
                kind: StepKind::InMemory,
                times: Count::sum(&[(0, 1), (1, 2)]),
            }],
        }),
        ..golden
    }
}

/// Executed as often as the first counter is greater than the second; sites 0 and 1.
fn loads() -> TableBlock {
    let each_time = |site| TableAccess {
        site,
        amount: Amount::PerExecution,
    };
    TableBlock {
        function: 0,
        location: 2,
        executions: Count::sum(&[(0, 1), (1, -1)]),
        mix: InstructionMix {
            loads: 1,
            stores: 1,
            integer: 3,
            branches: 1,
            ..InstructionMix::default()
        },
        accesses: vec![each_time(0), each_time(1)],
        calls: Vec::new(),
    }
}

/// Executed as often as the second counter says; a fill of 100 bytes each time, by two calls.
fn fills() -> TableBlock {
    TableBlock {
        function: 0,
        location: 0,
        executions: Count::of(1),
        mix: InstructionMix {
            calls: 2,
            ..InstructionMix::default()
        },
        accesses: vec![TableAccess {
            site: 3,
            amount: Amount::Counted {
                accesses: Count::of(1),
                bytes: Count::sum(&[(1, 100)]),
            },
        }],
        calls: vec![9, 0],
    }
}

/// A node of image 1 with one counted entry that was left.
pub fn node(number: u32, parent: u32, name: &str, counters: &[u64]) -> NodeCounts {
    NodeCounts {
        node: number,
        parent,
        thread: 100,
        image: 1,
        entries: 1,
        counted_entries: 1,
        name: name.into(),
        counters: counters.to_vec(),
        ..NodeCounts::default()
    }
}
