//! Every trace that a released version wrote stays readable.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use testing::golden::{self, ACCESSES, GLOBAL_ADDRESS, WALK};
use trackway_trace::check::{check_structure, Interpreter};
use trackway_trace::oracle::{compare, function_hash, Comparer, Comparison, Incomparable, StreamComparison};
use trackway_trace::{
    AllocationSiteId, Decoder, Event, FunctionId, GapReason, StringId, StructureKind, Trace,
};

fn open() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden-v2.trackway");
    Trace::open(&path).unwrap()
}

#[test]
fn describes_the_recording() {
    let trace = open();
    assert!(trace.damage().is_empty());
    assert_eq!(*trace.meta(), golden::start());
    let end = trace.end().unwrap();
    assert_eq!(
        (end.exit_status, end.chunks, end.reason.as_str()),
        (Some(0), 8, "program ended")
    );
    assert_eq!(trace.processes()[0].1.pid, 4711);
    assert_eq!(trace.streams().len(), 2);
    let gap = trace.gaps()[0];
    assert_eq!(
        (gap.stream, gap.dropped_buffers, gap.reason),
        (1, 3, GapReason::RingFull)
    );
    assert_eq!(check_structure(&trace), []);
}

#[test]
fn describes_the_program() {
    let trace = open();
    let program = trace.program();
    let text = |id: StringId| program.string(id);
    assert_eq!(text(program.modules[0].source_file), "list.c");
    assert_eq!(program.function_name(FunctionId(0)), "walk");
    assert_eq!(program.symbols[0].address, Some(GLOBAL_ADDRESS));
    assert_eq!(text(program.symbols[0].name), "total");
    let site = &program.sites[0];
    assert_eq!(
        [text(site.variable), text(site.object_type), text(site.field)],
        ["head", "struct node", "next"]
    );
    assert_eq!(program.location(site.location).line, 12);
    assert_eq!(program.inline_stack(site.location).count(), 1);
    assert_eq!(text(program.allocation_sites[0].allocator), "malloc");
    assert_eq!(function_hash("list.c", "walk"), WALK);
    let node = &program.types[0];
    assert_eq!(
        (text(node.name), node.kind, node.size, node.alignment),
        ("struct node", StructureKind::Struct, 16, 8)
    );
    let next = &node.members[0];
    assert_eq!(
        (text(next.name), next.offset_bits, next.size_bits),
        ("next", 64, 64)
    );
}

#[test]
fn decodes_to_the_known_events() {
    let trace = open();
    let mut decoder = Decoder::new(&trace);
    let mut accesses = Vec::new();
    let mut events = Vec::new();
    let mut uncertain = Vec::new();
    for chunk in &trace.streams()[0].chunks {
        let mut batches = decoder.decode(chunk).unwrap();
        while let Some(batch) = batches.next_batch().unwrap() {
            for index in 0..batch.len() {
                let site = trace.program().site(batch.site[index]);
                accesses.push((site.ordinal, site.kind, batch.address[index], batch.length(index)));
            }
            events.extend(batch.marks.iter().map(|mark| (mark.before, batch.event(*mark))));
            uncertain.push(batch.uncertain_from);
        }
    }
    assert_eq!(accesses, ACCESSES);
    let allocated = Event::Allocate {
        site: AllocationSiteId(0),
        address: 0x6000,
        element_size: 16,
        count: 1,
    };
    let function = FunctionId(0);
    assert_eq!(
        events,
        [
            (0, Event::Enter(function)),
            (8, allocated),
            (8, Event::Exit(function))
        ]
    );
    assert_eq!(uncertain, [None, Some(0)]);
}

#[test]
fn keeps_all_rules() {
    let trace = open();
    for chunk in &trace.streams()[0].chunks {
        assert_eq!(Interpreter::new(&trace).run(chunk, &mut |_| {}).unwrap(), []);
    }
}

#[test]
fn equals_its_oracle_but_for_the_stream_with_a_gap() {
    let trace = open();
    let comparer = Comparer::new(&trace).unwrap().unwrap();
    let equal = StreamComparison::Equal {
        accesses: ACCESSES.len() as u64 - 1,
    };
    assert_eq!(comparer.compare(&trace.streams()[0]).unwrap(), equal);
    let gap = StreamComparison::Incomparable(Incomparable::Gap);
    assert_eq!(
        compare(&trace).unwrap(),
        Comparison::Unequal {
            stream: 1,
            comparison: gap
        }
    );
}
