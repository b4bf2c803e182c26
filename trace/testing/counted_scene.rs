//! A trace of two modules that count, two threads and nested regions: what `vectors/counts-v2.trackway` holds.
//!
//! One thread's region `solve` holds `halo`, which holds `solve` again; half of its entries were counted, the
//! others timed. The other thread was killed within `solve`. Two ticks are a nanosecond.

use std::path::Path;

use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::table::{
    Amount, Count, InstructionMix, Table, TableAccess, TableBlock, TableBlocks, TableFunction, TableLocation,
    TableSite, TableStep,
};
use trackway_trace::{
    encode_counting_module, AccessKind, ChunkFields, ChunkKind, Clock, Codec, Coverage, EndInfo,
    ImageCounters, NodeCounts, ProcessEvent, ProcessInfo, StartInfo, StepCosts, StepKind, TraceError,
    TraceWriter, VariableKind, COUNTED_ENTRY,
};

const IMAGE: u32 = 0x51;
/// When the last thread was seen.
const END_NS: u64 = 10_000;

/// Writes the trace.
pub fn write(path: &Path) -> Result<(), TraceError> {
    let mut writer = TraceWriter::create_identified(path, true, Codec::Lz4, *b"counts in a file")?;
    write_to(&mut writer)?;
    writer.finish(&EndInfo {
        signal: Some(9),
        end_monotonic_ns: 11_000,
        streams: 2,
        reason: "program ended".into(),
        step_costs: Some(StepCosts {
            in_memory_ns: 2.0,
            in_register_ns: 0.5,
        }),
        ..EndInfo::default()
    })
}

fn write_to(writer: &mut TraceWriter) -> Result<(), TraceError> {
    let json = |value| serde_json::to_vec(&value).expect("plain values");
    writer.write_chunk(
        &ChunkFields::new(ChunkKind::Start),
        &json(serde_json::json!(start())),
    )?;
    writer.write_chunk(
        &ChunkFields::new(ChunkKind::Process),
        &json(serde_json::json!(process())),
    )?;
    for (sequence, first_id, table, first) in [(0, 1, kernel(), 0), (1, 2, library(), 3)] {
        let counters = ImageCounters { image: IMAGE, first };
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Module)
        };
        let payload = encode_counting_module(first_id, 0x40_3000 + sequence * 128, &[], &table, counters);
        writer.write_chunk(&fields, &payload)?;
    }
    for (sequence, node) in (0..).zip(first_thread()) {
        writer.write_chunk(&fields(0, sequence, 0), &node.to_bytes())?;
    }
    let [outside, mut cut] = second_thread().map(|node| node.to_bytes());
    writer.write_chunk(&fields(1, 0, FLAG_TAIL), &outside)?;
    cut.truncate(256 + 16);
    writer.write_chunk(&fields(1, 1, FLAG_TAIL), &cut)
}

fn fields(stream: u32, sequence: u64, flags: u16) -> ChunkFields {
    ChunkFields {
        stream,
        sequence,
        flags,
        first_ns: 500,
        last_ns: END_NS,
        ..ChunkFields::new(ChunkKind::Counts)
    }
}

fn start() -> StartInfo {
    StartInfo {
        program: "./kernel".into(),
        working_directory: "/tmp".into(),
        host: "golden".into(),
        cpu_model: "a processor".into(),
        trackway_version: "0.1.0".into(),
        codec: "lz4".into(),
        buffer_size: 65_536,
        buffer_count: 64,
        start_unix_ns: 1_700_000_000_000_000_000,
        start_monotonic_ns: 500,
        pid: 100,
        clock: Some(Clock {
            ticks: 2,
            ..Clock::default()
        }),
        hardware_events: ["cycles", "instructions", "l1d-misses"]
            .map(String::from)
            .to_vec(),
        ..StartInfo::default()
    }
}

fn process() -> ProcessInfo {
    ProcessInfo {
        pid: 100,
        parent: None,
        event: ProcessEvent::Start,
        exit_status: None,
        signal: None,
        monotonic_ns: 600,
    }
}

/// Both are numbers of entries with the ticks that they took: entries that were counted, and those that were only
/// timed.
fn node(number: u32, parent: u32, name: &str, counted: (u64, u64), timed: (u64, u64)) -> NodeCounts {
    NodeCounts {
        node: number,
        parent,
        thread: 100,
        image: IMAGE,
        entries: counted.0 + timed.0,
        counted_entries: counted.0,
        counted_ticks: counted.1,
        timed_entries: timed.0,
        timed_ticks: timed.1,
        name: name.into(),
        ..NodeCounts::default()
    }
}

fn first_thread() -> [NodeCounts; 4] {
    let with = |node: NodeCounts, counters: [u64; 4]| NodeCounts {
        counters: counters.to_vec(),
        ..node
    };
    [
        node(0, 0, "", (0, 0), (1, 20_000)),
        NodeCounts {
            measured_entries: 2,
            hardware_entries: 2,
            hardware: [6000, 9000, 90, 0],
            ..with(node(1, 0, "solve", (2, 4000), (2, 4000)), [100, 10, 640, 5])
        },
        NodeCounts {
            measured_entries: 2,
            hardware_entries: 3,
            hardware: [100, 50, 0, 0],
            ..with(node(2, 1, "halo", (8, 2000), (0, 0)), [20, 0, 0, 0])
        },
        with(node(3, 2, "solve", (1, 400), (0, 0)), [2, 1, 64, 0]),
    ]
}

/// Its counters contradict each other, and the last ones are missing.
fn second_thread() -> [NodeCounts; 2] {
    [
        NodeCounts {
            thread: 101,
            entries: 1,
            entered_ticks: 2000,
            ..node(0, 0, "", (0, 0), (0, 0))
        },
        NodeCounts {
            thread: 101,
            entries: 2,
            entered_ticks: 14_000,
            flags: COUNTED_ENTRY,
            counters: vec![50, 60, 640, 7],
            ..node(1, 0, "solve", (1, 2000), (0, 0))
        },
    ]
}

fn table(texts: &[&str], locations: Vec<TableLocation>, sites: Vec<TableSite>) -> Table {
    let count = sites.len() as u64;
    Table {
        strings: texts.iter().map(|&text| text.to_owned()).collect(),
        source_file: 1,
        producer: 2,
        locations,
        functions: vec![TableFunction {
            linkage_name: 3,
            name: 3,
            location: 1,
            coverage: Coverage {
                accesses: count,
                recorded: count,
                ..Coverage::default()
            },
            ..TableFunction::default()
        }],
        sites,
        ..Table::default()
    }
}

fn location(line: u32, column: u32) -> TableLocation {
    TableLocation {
        function: 3,
        file: 1,
        line,
        column,
        parent: None,
    }
}

fn site(ordinal: u32, kind: AccessKind, size: u32, location: u32) -> TableSite {
    TableSite {
        function: 0,
        ordinal,
        part: 0,
        kind,
        size,
        location,
        variable: 4,
        variable_kind: VariableKind::Global,
        object_type: 0,
        field: 0,
        value_type: 0,
    }
}

fn each_time(site: u32) -> TableAccess {
    TableAccess {
        site,
        amount: Amount::PerExecution,
    }
}

fn block(location: u32, executions: Count, mix: InstructionMix, accesses: Vec<TableAccess>) -> TableBlock {
    TableBlock {
        function: 0,
        location,
        executions,
        mix,
        accesses,
        calls: Vec::new(),
    }
}

/// `step`: a loop over cells; rarely a fill, a compare-exchange and calls of `scale`, `puts` and something unknown.
pub fn kernel() -> Table {
    let texts = [
        "",
        "kernel.c",
        "compiler 19",
        "step",
        "work",
        "cells",
        "struct cell",
        "heat",
        "scale",
        "puts",
    ];
    let locations = vec![
        TableLocation::default(),
        location(10, 5),
        location(11, 9),
        location(14, 3),
    ];
    let heat = |site: TableSite| TableSite {
        variable: 5,
        variable_kind: VariableKind::Parameter,
        object_type: 6,
        field: 7,
        ..site
    };
    let sites = vec![
        heat(site(0, AccessKind::Load, 8, 1)),
        heat(site(1, AccessKind::Store, 8, 2)),
        site(2, AccessKind::Fill, 0, 3),
        site(3, AccessKind::AtomicCompareExchange, 4, 3),
    ];
    Table {
        blocks: Some(TableBlocks {
            counter_count: 3,
            derived: vec![Count::sum(&[(0, 1), (1, -1)])],
            blocks: kernel_blocks(),
            callees: Vec::new(),
            steps: vec![
                step(StepKind::InMemory, Count::sum(&[(1, 2)])),
                step(StepKind::InRegister, Count::of(0)),
            ],
        }),
        ..table(&texts, locations, sites)
    }
}

fn step(kind: StepKind, times: Count) -> TableStep {
    TableStep { kind, times }
}

fn kernel_blocks() -> Vec<TableBlock> {
    let body = InstructionMix {
        loads: 1,
        stores: 1,
        integer: 2,
        floating_point: 1,
        branches: 1,
        ..InstructionMix::default()
    };
    let rare = InstructionMix {
        atomics: 1,
        calls: 3,
        ..InstructionMix::default()
    };
    let rest = InstructionMix {
        vector: 4,
        ..InstructionMix::default()
    };
    let filled = TableAccess {
        site: 2,
        amount: Amount::Counted {
            accesses: Count::of(1),
            bytes: Count::of(2),
        },
    };
    vec![
        block(1, Count::of(0), body, vec![each_time(0), each_time(1)]),
        TableBlock {
            calls: vec![8, 9, 0],
            ..block(3, Count::of(1), rare, vec![filled, each_time(3)])
        },
        block(2, Count::of(3), rest, Vec::new()),
    ]
}

/// `scale`: a vector.
pub fn library() -> Table {
    let mix = InstructionMix {
        loads: 1,
        vector: 1,
        ..InstructionMix::default()
    };
    let locations = vec![TableLocation::default(), location(5, 1)];
    let sites = vec![site(0, AccessKind::Load, 16, 1)];
    Table {
        blocks: Some(TableBlocks {
            counter_count: 1,
            derived: Vec::new(),
            blocks: vec![block(1, Count::of(0), mix, vec![each_time(0)])],
            callees: Vec::new(),
            steps: vec![step(StepKind::InMemory, Count::of(0))],
        }),
        ..table(
            &["", "library.c", "compiler 19", "scale", "factor"],
            locations,
            sites,
        )
    }
}
