//! Modules that count, and what threads counted with them.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::counts::{node, table};
use testing::file::FileBytes;
use trackway_trace::check::check_structure;
use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::table::{Amount, Count, Segment, Table, TableBlocks, TableCallee};
use trackway_trace::{
    encode_counting_module, ChunkFields, ChunkKind, Codec, ImageCounters, ModuleId, NodeCounts, ProcessEvent,
    ProcessInfo, Program, Trace, COUNTED_ENTRY, WHOLE_PROGRAM,
};

fn at(first: u32) -> ImageCounters {
    ImageCounters { image: 1, first }
}

fn blocks(table: &mut Table) -> &mut TableBlocks {
    table.blocks.as_mut().unwrap()
}

fn refused(change: impl Fn(&mut Table), complaint: &str) {
    let mut table = table();
    change(&mut table);
    let what = Table::parse(&table.encode()).unwrap_err().what;
    assert!(what.contains(complaint), "{what}");
}

#[test]
fn tables_survive() {
    assert_eq!(Table::parse(&table().encode()), Ok(table()));
    let program = Program::from_tables(&table().encode()).unwrap();
    let module = &program.modules[0];
    assert_eq!((module.counter_count, module.counters), (Some(2), None));
    assert_eq!((module.blocks.clone(), module.segment_count), (0..2, 0));
    let fills = &program.blocks[1];
    let names: Vec<&str> = fills.calls.iter().map(|name| program.string(*name)).collect();
    assert_eq!(names, ["malloc", ""]);
    assert_eq!(program.site(fills.accesses[0].site).ordinal, 8);
}

#[test]
fn what_a_table_refers_to_must_exist() {
    let executions = |table: &mut Table, count| blocks(table).blocks[0].executions = count;
    refused(
        |table| executions(table, Count::of(2)),
        "derived variable 0, of which there are 0",
    );
    refused(
        |table| blocks(table).counter_count = 1,
        "derived variable 0, of which there are 0",
    );
    refused(|table| blocks(table).blocks[0].function = 1, "function 1");
    refused(|table| blocks(table).blocks[0].location = 3, "location 3");
    refused(|table| blocks(table).blocks[1].accesses[0].site = 5, "site 5");
    refused(|table| blocks(table).blocks[1].calls = vec![10], "string 10");
    let counted = Amount::Counted {
        accesses: Count::default(),
        bytes: Count::of(9),
    };
    refused(
        |table| blocks(table).blocks[0].accesses[0].amount = counted.clone(),
        "derived variable 7",
    );
    let segment = |table: &mut Table| {
        table.functions[0].segment_count = 1;
        table.segments.push(Segment::default());
    };
    refused(segment, "has segments");
    let callee = |name, first_counter| {
        move |table: &mut Table| {
            blocks(table).counter_count = 6;
            blocks(table).callees = vec![TableCallee { name, first_counter }];
        }
    };
    refused(callee(0, 3), "counter 3 and the next three, of which there are 6");
    refused(callee(0, u32::MAX), "and the next three");
    refused(callee(10, 0), "string 10");
    let step = |table: &mut Table| blocks(table).steps[0].times = Count::of(5);
    refused(step, "derived variable 3");
}

/// Kinds of steps are told apart, and tables of earlier compilers end before the steps.
#[test]
fn steps_may_be_missing_but_not_unknown() {
    let mut table = table();
    let valid = table.encode();
    blocks(&mut table).steps.clear();
    let mut earlier = table.encode();
    assert_eq!(earlier.pop(), Some(0));
    testing::file::repair_table(&mut earlier);
    assert_eq!(Table::parse(&earlier), Ok(table));
    let mut unknown = valid.clone();
    let kind = earlier.len() + 1;
    assert_eq!(unknown[kind], 0);
    unknown[kind] = 2;
    testing::file::repair_table(&mut unknown);
    let what = Table::parse(&unknown).unwrap_err().what;
    assert_eq!(what, "unknown kind of a step 2");
}

/// Numbers of entries that the rest of the table has no room for take no memory.
#[test]
fn hostile_numbers_of_entries_are_refused() {
    let valid = table().encode();
    let mut without = table();
    blocks(&mut without).blocks.clear();
    blocks(&mut without).steps.clear();
    let end = without.encode().len() - 3; // callees and steps come last
    assert_eq!((valid[end], without.encode()[end]), (2, 0));
    let mut bytes = valid[..end].to_vec();
    bytes.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
    bytes.extend_from_slice(&valid[end + 1..]);
    testing::file::repair_table(&mut bytes);
    let what = Table::parse(&bytes).unwrap_err().what;
    assert!(
        what.contains("blocks, more than the table has room for"),
        "{what}"
    );
}

#[test]
fn a_module_says_where_its_counters_stand() {
    let trace = FileBytes::new(Codec::Lz4)
        .counting_module(0, 1, &table(), at(7))
        .counting_module(1, 2, &table(), at(9))
        .open();
    assert!(trace.damage().is_empty());
    let program = trace.program();
    assert_eq!((program.modules.len(), program.blocks.len()), (2, 2));
    assert_eq!(program.modules[1].counters, Some(at(9)));
    let counters: Vec<u64> = (0..11).collect();
    let of = |index: usize| program.modules[index].counters_of(&counters);
    assert_eq!((of(0), of(1)), (&[7, 8][..], &[9, 10][..]));
    assert_eq!(program.modules[1].counters_of(&counters[..10]), [9]);
    assert!(program.modules[1].counters_of(&[]).is_empty());
}

#[test]
fn a_module_without_its_image_is_refused() {
    let payload = encode_counting_module(1, 0, &[0], &table(), at(0));
    for length in [payload.len() - 1, payload.len() - 4] {
        let mut file = FileBytes::new(Codec::None);
        let trace = file
            .chunk(&ChunkFields::new(ChunkKind::Module), &payload[..length])
            .open();
        let damage = trace.damage()[0].error.to_string();
        assert!(damage.contains("image"), "{damage}");
    }
}

fn ticking(number: u32, ticks: (u64, u64), entered_ticks: u64, flags: u64) -> NodeCounts {
    NodeCounts {
        timed_ticks: ticks.0,
        counted_ticks: ticks.1,
        entered_ticks,
        flags,
        ..node(number, 0, "r", &[number.into()])
    }
}

#[test]
fn nodes_have_times_up_to_their_end() {
    let mut file = FileBytes::new(Codec::Lz4);
    file.node(4, 0, 1000, &ticking(0, (0, 0), 100, WHOLE_PROGRAM));
    file.node(4, 1, 1000, &ticking(2, (50, 20), 0, 0));
    file.node(4, 2, 1000, &ticking(1, (50, 20), 900, COUNTED_ENTRY));
    file.node(4, 3, 1000, &ticking(3, (50, 20), 900, 0));
    let trace = file.open();
    assert!(trace.holds_only_counts() && check_structure(&trace).is_empty());
    let (nodes, damage) = trace.read_nodes(&trace.counting_threads()[0]);
    assert!(damage.is_empty());
    let times: Vec<_> = nodes
        .iter()
        .map(|node| {
            (
                node.number,
                node.timed_time_ns,
                node.counted_time_ns,
                node.is_open,
            )
        })
        .collect();
    assert_eq!(
        times,
        [
            (0, 900, 0, true),
            (1, 50, 120, true),
            (2, 50, 20, false),
            (3, 150, 20, true)
        ]
    );
    assert_eq!(
        (nodes[0].is_whole_program, nodes[1].is_whole_program),
        (true, false)
    );
    assert_eq!((nodes[2].stream, nodes[2].counters.as_slice()), (4, &[2][..]));
}

#[test]
fn later_chunks_of_a_node_add_to_it() {
    let mut file = FileBytes::new(Codec::None);
    file.node(0, 0, 500, &ticking(1, (40, 40), 300, COUNTED_ENTRY));
    file.node(0, 1, 1000, &ticking(1, (300, 300), 900, 0));
    let other_image = NodeCounts {
        image: 2,
        ..ticking(1, (1, 1), 0, 0)
    };
    file.node(0, 2, 1000, &other_image);
    let trace = file.open();
    let (nodes, _) = trace.read_nodes(&trace.counting_threads()[0]);
    assert_eq!((nodes.len(), nodes[1].image), (2, 2));
    let node = &nodes[0];
    assert_eq!((node.entries, node.counters.as_slice()), (2, &[2][..]));
    assert_eq!((node.timed_time_ns, node.counted_time_ns), (440, 340));
}

#[test]
fn damaged_nodes_leave_the_others() {
    let mut file = FileBytes::new(Codec::None);
    file.node(0, 0, 0, &node(0, 0, "", &[1]));
    let second = file.bytes.len();
    file.node(0, 1, 0, &node(1, 0, "a", &[2]));
    file.bytes[second + 100] ^= 1;
    let fields = ChunkFields {
        sequence: 2,
        flags: FLAG_TAIL,
        ..ChunkFields::new(ChunkKind::Counts)
    };
    let bytes = node(2, 1, "b", &[3]).to_bytes();
    file.chunk(&fields, &bytes[..78]);
    let trace = file.open();
    let (nodes, damage) = trace.read_nodes(&trace.counting_threads()[0]);
    assert_eq!(damage.len(), 1);
    assert_eq!(damage[0].offset(), Some(second as u64));
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["", "b"]);
    assert_eq!(
        (nodes[1].is_tail, nodes[1].parent, nodes[1].counters.len()),
        (true, 1, 0)
    );
}

#[test]
fn records_and_counts_stand_side_by_side() {
    let golden = testing::golden::table();
    let mut file = FileBytes::new(Codec::Columns);
    file.module(0, 1, &golden)
        .counting_module(1, 6, &table(), at(0))
        .records(0, 0, &[0, 2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
        .node(1, 0, 0, &node(0, 0, "", &[1]));
    let trace = file.open();
    assert!(trace.damage().is_empty() && !trace.holds_only_counts());
    assert_eq!((trace.streams().len(), trace.counting_threads().len()), (1, 1));
    assert_eq!(trace.program().modules[0].counter_count, None);
}

/// Processes 0 ─ 1 ─ 2 and 0 ─ 3, each with a module; those of 1 and 3 have the same counters.
fn forked() -> Trace {
    let mut file = FileBytes::new(Codec::None);
    for (number, parent) in [(0u32, None), (1, Some(0)), (2, Some(1)), (3, Some(0))] {
        let info = ProcessInfo {
            pid: 100 + number,
            parent,
            event: ProcessEvent::Start,
            exit_status: None,
            signal: None,
            monotonic_ns: 0,
        };
        let fields = ChunkFields {
            process: number,
            sequence: number.into(),
            ..ChunkFields::new(ChunkKind::Process)
        };
        file.chunk(&fields, &serde_json::to_vec(&info).unwrap());
    }
    for (process, first) in [(0, 0), (3, 2), (1, 2), (2, 4)] {
        let payload = encode_counting_module(10 + process, 0, &[0], &table(), at(first));
        let fields = ChunkFields {
            process,
            ..ChunkFields::new(ChunkKind::Module)
        };
        file.chunk(&fields, &payload);
    }
    file.open()
}

#[test]
fn a_process_has_its_own_modules_and_those_from_before_its_fork() {
    let trace = forked();
    let loaded_by = |process| {
        let modules = trace.counting_modules(process, 1).into_iter();
        let module = |id: ModuleId| trace.program().module(id).process;
        modules.map(module).collect::<Vec<u32>>()
    };
    assert_eq!(loaded_by(1), [0, 1, 2]);
    assert_eq!(loaded_by(2), [0, 1, 2]);
    assert_eq!(loaded_by(3), [0, 3, 2]);
    assert_eq!(trace.counting_modules(0, 2), []);
}

#[test]
fn callees_have_the_time_of_their_calls() {
    let mut table = table();
    blocks(&mut table).counter_count = 10;
    let malloc = blocks(&mut table).blocks[1].calls[0];
    let callee = |first_counter| TableCallee {
        name: malloc,
        first_counter,
    };
    blocks(&mut table).callees = vec![callee(2), callee(6)];
    let mut file = FileBytes::new(Codec::Lz4);
    file.counting_module(0, 1, &table, at(3));
    let counters = [0, 0, 0, 1, 1, 5, 8, 2, 3000, 6, 1, 0, 0];
    file.node(4, 0, 1000, &node(0, 0, "", &counters));
    // Cut off after the number of timed calls.
    file.node(5, 0, 1000, &node(0, 0, "", &counters[..8]));
    let trace = file.open();
    let module = &trace.program().modules[0];
    let expected = [vec![(2, 3000)], vec![(2, 0)]];
    for (thread, expected) in trace.counting_threads().iter().zip(expected) {
        let (nodes, _) = trace.read_nodes(thread);
        let callees = module.timed_callees(&nodes[0]);
        let found: Vec<(u64, u64)> = callees
            .map(|(name, counters)| {
                assert_eq!(trace.program().string(name), "malloc");
                (counters.timed_calls, counters.time_ns)
            })
            .collect();
        assert_eq!(found, expected);
    }
}
