//! The vectors that stand beside the format's description.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::{repair_table, FileBytes};
use trackway_trace::allocations::{AllocationAction, AllocationEvent, AllocationEvents, Allocator};
use trackway_trace::check::{Decoded, Interpreter};
use trackway_trace::chunk::{ChunkHeader, FLAG_TAIL, HEADER_LENGTH};
use trackway_trace::oracle::{function_hash, site_records, Account};
use trackway_trace::table::{encode_svarint, encode_varint, Amount, CodeNames, Table, TableError};
use trackway_trace::table::{PieceEnd, PieceLoop, Variables};
use trackway_trace::{
    encode_mappings, parse_mappings, AddressClass, ChunkFields, ChunkKind, CodeBlock, Codec, Decoder,
    Direction, Event, ImageCounters, MappingChange, NodeCounts, Samples, Site, SiteId, SourceChecksum, Trace,
    TraceError, VariableKind, WindowAddress, WindowEnd,
};

const VECTORS: &str = include_str!("../vectors/format-v2.txt");

/// A vector: its name, what stands on the same line, and its indented lines as name and value.
struct Vector {
    name: &'static str,
    value: &'static str,
    lines: Vec<(&'static str, &'static str)>,
}

impl Vector {
    fn hex(&self, name: &str) -> Vec<u8> {
        self.lines
            .iter()
            .filter(|line| line.0 == name)
            .flat_map(|line| hex(line.1))
            .collect()
    }

    fn number(&self, name: &str) -> u64 {
        let line = self.lines.iter().find(|line| line.0 == name).unwrap();
        u64::from_str_radix(line.1, 16).unwrap()
    }
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).expect(text))
        .collect()
}

fn vectors(name: &str) -> Vec<Vector> {
    let mut vectors: Vec<Vector> = Vec::new();
    for line in VECTORS.lines() {
        let text = line.split('#').next().unwrap().trim_end();
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        match text.starts_with(' ') {
            true => vectors
                .last_mut()
                .unwrap()
                .lines
                .push((name.trim(), value.trim())),
            false if text.is_empty() => {}
            false => vectors.push(Vector {
                name: name.trim(),
                value: value.trim(),
                lines: Vec::new(),
            }),
        }
    }
    vectors.retain(|vector| vector.name.split(' ').next() == Some(name));
    assert!(!vectors.is_empty(), "no vector {name}");
    vectors
}

fn vector(name: &str) -> Vector {
    vectors(name).pop().unwrap()
}

/// Whether a table is refused because the number of its strings is no varint.
fn refused_as_varint(varint: &[u8]) -> bool {
    let mut bytes = testing::golden::table().encode();
    bytes.truncate(32);
    bytes.extend_from_slice(varint);
    repair_table(&mut bytes);
    let error = Table::parse(&bytes).unwrap_err();
    error.what.contains("exceeds 64 bits") || error.what.ends_with("where 0 are left")
}

#[test]
fn varints() {
    for vector in vectors("varint") {
        let number = u64::from_str_radix(vector.name.split(' ').nth(1).unwrap(), 16).unwrap();
        let mut bytes = Vec::new();
        encode_varint(number, &mut bytes);
        assert_eq!(bytes, hex(vector.value));
    }
    for vector in vectors("svarint") {
        let number = i64::from_str_radix(vector.name.split(' ').nth(1).unwrap(), 16).unwrap();
        let mut bytes = Vec::new();
        encode_svarint(number, &mut bytes);
        assert_eq!(bytes, hex(vector.value));
    }
    for vector in vectors("not-a-varint") {
        assert!(refused_as_varint(&hex(vector.value)), "{}", vector.value);
    }
}

#[test]
fn chunk_header() {
    let vector = vector("chunk");
    let bytes: [u8; HEADER_LENGTH] = vector.hex("header").try_into().unwrap();
    let header = ChunkHeader::from_bytes(&bytes).unwrap();
    assert_eq!(
        (header.kind, header.codec, header.is_tail()),
        (ChunkKind::Records, Codec::None, true)
    );
    assert_eq!((header.process, header.stream, header.sequence), (2, 7, 9));
    assert_eq!((header.first_ns, header.last_ns), (1000, 2000));
    assert_eq!((header.raw_length, header.stored_length), (3, 3));
    assert_eq!(
        header.payload_checksum,
        xxhash_rust::xxh3::xxh3_64(&vector.hex("payload"))
    );
    assert_eq!(header.to_bytes(), bytes);
}

#[test]
fn names_of_machine_code() {
    let bytes = vector("names").hex("payload");
    let names = CodeNames::parse(&bytes).unwrap();
    assert_eq!(names.encode(), bytes);
    let text = |index: u32| names.strings[index as usize].as_str();
    let (place, operand) = (&names.locations[1], names.operands[1]);
    assert_eq!((text(place.function), text(place.file)), ("f", "f.c"));
    assert_eq!((place.line, place.column, place.parent), (7, 5, None));
    assert_eq!((text(operand.object_type), text(operand.field)), ("s", "k"));
    assert_eq!(operand.variable_kind, VariableKind::Expression);
    let object = &names.objects[0];
    let entry = |index: usize| {
        let entry = object.instructions[index];
        (entry.offset, entry.location, entry.read, entry.written)
    };
    assert_eq!(text(object.path), "/x.s");
    assert_eq!([entry(0), entry(1)], [(0x100, 1, 1, 0), (0x104, 1, 0, 1)]);
}

#[test]
fn checksums_of_source_files() {
    let table = table("checksum-table");
    let trace = FileBytes::new(Codec::None).module(0, 1, &table).open();
    let program = trace.program();
    let of = |file| program.source_checksums.of(program.find_string(file).unwrap());
    let [SourceChecksum::Md5(first)] = of("a.c") else {
        panic!("a.c has one, by MD5")
    };
    let [SourceChecksum::Sha256(second)] = of("b.h") else {
        panic!("b.h has one, by SHA-256")
    };
    let digest = vector("checksum-table").hex("body");
    assert!(digest.windows(16).any(|bytes| bytes == first));
    assert!(digest.ends_with(second));
    assert_eq!(program.source_checksums.of(program.find_string("").unwrap()), []);
}

#[test]
fn checksums_behind_names() {
    let vector = vector("names");
    let mut bytes = vector.hex("payload");
    assert_eq!(CodeNames::parse(&bytes).unwrap().source_checksums, []);
    bytes.extend(vector.hex("checksums"));
    let names = CodeNames::parse(&bytes).unwrap();
    assert_eq!(names.encode(), bytes);
    let [known] = names.source_checksums[..] else {
        panic!("one file has one")
    };
    assert_eq!(names.strings[known.file as usize], "f.c");
    assert!(matches!(known.checksum, SourceChecksum::Md5(digest) if bytes.ends_with(&digest)));
    bytes.pop();
    assert!(CodeNames::parse(&bytes).is_err());
}

fn table(name: &str) -> Table {
    let vector = vector(name);
    let mut bytes = b"TWTABLE\0\x02\x00\x00\x00\x00\x00\x00\x00".to_vec();
    bytes.resize(32, 0);
    bytes[10] = vector.hex("flags").first().copied().unwrap_or(0);
    bytes[12] = vector.hex("counters").first().copied().unwrap_or(0);
    bytes.extend(vector.hex("body"));
    repair_table(&mut bytes);
    assert_eq!(bytes[16..24], vector.number("key").to_le_bytes());
    let table = Table::parse(&bytes).unwrap();
    assert_eq!(table.encode(), bytes);
    table
}

fn packed_table(stored: &[u8]) -> Result<Table, TableError> {
    let mut bytes = b"TWTABLE\0\x02\x00\x80\x00\x00\x00\x00\x00".to_vec();
    bytes.resize(32, 0);
    bytes.extend(stored);
    repair_table(&mut bytes);
    Table::parse(&bytes)
}

#[test]
fn packed_tables() {
    let vector = vector("packed-table");
    let (length, frame) = (vector.hex("length"), vector.hex("frame"));
    let stored = |length: &[u8], frame: &[u8]| [length, frame].concat();
    assert_eq!(packed_table(&stored(&length, &frame)), Ok(table("table")));

    let what = |stored: &[u8]| packed_table(stored).unwrap_err().what;
    assert_eq!(what(&length[..3]), "it ends in the length of its body");
    assert_eq!(
        what(&stored(&[0xff; 4], &frame)),
        "a body of 4294967295 bytes, where 1073741824 are allowed"
    );
    for other in [length[0] - 1, length[0] + 1] {
        let other = [other, 0, 0, 0];
        assert!(what(&stored(&other, &frame)).starts_with("a body of another length than"));
    }
    assert!(what(&stored(&length, &frame[..frame.len() - 1])).starts_with("the compressed body:"));
    assert!(what(&stored(&length, b"no frame")).starts_with("the compressed body:"));
}

fn trace_of(table_name: &str, bytes: &[u8], flags: u16) -> Trace {
    FileBytes::new(Codec::None)
        .module(0, 1, &table(table_name))
        .records(0, flags, bytes)
        .open()
}

fn text(event: Decoded) -> String {
    match event {
        Decoded::Access {
            site,
            address,
            length,
        } => format!("access {:x} {address:x} {length:x}", site.0),
        Decoded::Event(Event::Enter(function)) => format!("enter {:x}", function.0),
        Decoded::Event(Event::Free { site, address }) => format!("free {:x} {address:x}", site.0),
        Decoded::Event(Event::Order {
            synchronisation,
            address,
            time_ns,
            ..
        }) => {
            let (side, by) = (synchronisation.side.name(), synchronisation.by.name());
            format!("{side} {by} {address:x} {time_ns:x}")
        }
        Decoded::Event(event) => panic!("{event:?}"),
        Decoded::Value {
            accesses_before,
            shape,
            index,
            word,
        } => {
            let form = format!("{:?}", shape.form).to_lowercase();
            let (bits, lanes) = (shape.bits, shape.lanes);
            format!("value {accesses_before:x} {form} {bits:x}*{lanes:x} {index:x} {word:x}")
        }
    }
}

fn accesses(trace: &Trace) -> Vec<(SiteId, u64, u64)> {
    let mut accesses = Vec::new();
    let mut decoder = Decoder::new(trace);
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0]).unwrap();
    while let Some(batch) = batches.next_batch().unwrap() {
        accesses.extend(
            (0..batch.len()).map(|index| (batch.site[index], batch.address[index], batch.length(index))),
        );
    }
    accesses
}

#[test]
fn streams() {
    for (table_name, name, flags) in [
        ("table", "stream", 0),
        ("table", "tail-stream", FLAG_TAIL),
        ("loop-table", "loop-stream", 0),
        ("value-table", "value-stream", 0),
    ] {
        let vector = vector(name);
        let trace = trace_of(table_name, &vector.hex("bytes"), flags);
        let mut events = Vec::new();
        let chunk = &trace.streams()[0].chunks[0];
        let violations = Interpreter::new(&trace)
            .run(chunk, &mut |event| events.push(text(event)))
            .unwrap();
        assert_eq!(violations, []);
        let expected: Vec<&str> = vector
            .lines
            .iter()
            .filter(|line| line.0 == "event")
            .map(|line| line.1)
            .collect();
        assert_eq!(events, expected);
        let access = |(site, address, length)| {
            text(Decoded::Access {
                site,
                address,
                length,
            })
        };
        let fast: Vec<String> = accesses(&trace).into_iter().map(access).collect();
        assert_eq!(
            fast,
            expected
                .into_iter()
                .filter(|line| line.starts_with("access"))
                .collect::<Vec<_>>()
        );
    }
}

/// The lines of a payload; one named `zeros` stands for so many.
fn node_payload(vector: &Vector) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in &vector.lines {
        match *name {
            "payload" => payload.extend(hex(value)),
            "zeros" => payload.resize(payload.len() + usize::from(hex(value)[0]), 0),
            _ => {}
        }
    }
    payload
}

fn text_of_block(block: &CodeBlock, sites: &[Site], counters: &Variables) -> String {
    let executions = block.executions.value(counters);
    let accesses = block.accesses.iter().map(|access| {
        let (site, size) = (access.site.0, u64::from(sites[access.site.index()].size));
        let (accesses, bytes) = match &access.amount {
            Amount::PerExecution => (executions, executions * size),
            Amount::Counted { accesses, bytes } => (accesses.value(counters), bytes.value(counters)),
        };
        format!(", site {site:x}: {accesses:x} accesses of {bytes:x}")
    });
    format!("executions {executions:x}{}", accesses.collect::<String>())
}

#[test]
fn counts() {
    let vector = vector("counts");
    let counts = NodeCounts::from_bytes(&node_payload(&vector));
    let expected = |name| vector.number(name);
    for (actual, name) in [
        (counts.node.into(), "node"),
        (counts.parent.into(), "parent"),
        (counts.thread.into(), "thread"),
        (counts.image.into(), "image"),
        (counts.entries, "entries"),
        (counts.counted_entries, "counted_entries"),
        (counts.counted_ticks, "counted_ticks"),
        (counts.timed_entries, "timed_entries"),
        (counts.timed_ticks, "timed_ticks"),
        (counts.entered_ticks, "entered_ticks"),
        (counts.flags, "flags"),
    ] {
        assert_eq!(actual, expected(name), "{name}");
    }
    assert_eq!(counts.name.as_bytes(), vector.hex("name"));
    let place = ImageCounters {
        image: counts.image,
        first: 1,
    };
    let trace = FileBytes::new(Codec::None)
        .counting_module(0, 1, &table("counts-table"), place)
        .open();
    let program = trace.program();
    let counters = program.modules[0].variables_of(&counts.counters);
    let blocks = program.blocks.iter();
    let blocks: Vec<String> = blocks
        .map(|block| text_of_block(block, &program.sites, &counters))
        .collect();
    let lines = |name| vector.lines.iter().filter(move |line| line.0 == name);
    assert_eq!(blocks, lines("block").map(|line| line.1).collect::<Vec<_>>());
    let steps = program.modules[0].steps.iter();
    let steps = steps.map(|step| format!("{:?} {:x}", step.kind, step.times.value(&counters)));
    assert_eq!(
        steps.collect::<Vec<_>>(),
        lines("step").map(|line| line.1).collect::<Vec<_>>()
    );
}

#[test]
fn oracle() {
    let vector = vector("oracle");
    let function = function_hash("a.c", "f");
    assert_eq!(function, vector.number("function"));
    let trace = trace_of("table", &self::vector("stream").hex("bytes"), 0);
    let records = site_records(trace.program());
    let mut account = Account::default();
    for (site, address, length) in accesses(&trace) {
        assert_eq!(records[site.index()].function, function);
        account.add(records[site.index()].word(), address, length);
    }
    assert_eq!(
        account,
        Account {
            count: vector.number("count"),
            hash: vector.number("hash")
        }
    );
}

#[test]
fn control_flow() {
    let table = table("flow-table");
    let trace = FileBytes::new(Codec::None).module(0, 1, &table).open();
    let flow = &trace.program().flows[0];
    assert!(flow.called_by_name_only);
    let pieces: Vec<_> = flow
        .pieces
        .iter()
        .map(|piece| {
            let successors = piece.successors.as_slice();
            (piece.end, piece.loops, piece.segment, piece.continues, successors)
        })
        .collect();
    let expected: [(_, _, _, _, &[u32]); 5] = [
        (PieceEnd::Branches, PieceLoop::None, Some(0), None, &[1, 4]),
        (PieceEnd::GoesOn, PieceLoop::Enters, None, None, &[2]),
        (PieceEnd::Branches, PieceLoop::BackSecond, None, None, &[3, 2]),
        (PieceEnd::Calls, PieceLoop::None, None, None, &[4]),
        (PieceEnd::Returns, PieceLoop::None, Some(1), Some(0), &[]),
    ];
    assert_eq!(pieces, expected);
    let program = trace.program();
    assert_eq!(program.string(flow.pieces[3].callee), "f");
    assert_eq!(program.location(flow.pieces[0].location).line, 3);
    let instructions = flow.pieces.iter().map(|piece| piece.instructions);
    assert_eq!(instructions.sum::<u32>(), 11);
}

#[test]
fn samples() {
    let bytes = vector("samples").hex("payload");
    let read = Samples::parse(&bytes).unwrap();
    assert_eq!(read.encode(), bytes);
    assert_eq!((read.lost, read.samples.len(), read.window.len()), (1, 2, 1));
    let [first, second] = &read.samples[..] else {
        panic!("there are two samples");
    };
    assert_eq!((first.time_ns, first.pid, first.tid), (1000, 5, 6));
    assert_eq!((first.seen_at, first.instruction), (0x1007, 0x1004));
    assert_eq!(
        (first.direction, first.class),
        (Direction::Load, AddressClass::RolledBack)
    );
    assert_eq!(
        (first.address, first.size_bytes, first.weight),
        (Some(0x2000), 8, 100)
    );
    assert_eq!(
        (first.window_instructions, first.window_end, first.window_speed),
        (3, WindowEnd::Full, 50_000)
    );
    assert_eq!((first.window_weight, second.window_weight), (300, 0));
    let access = read.window_of(first)[0];
    assert_eq!(
        (access.instruction, access.address, access.size_bytes),
        (0x1007, 0x2008, 4)
    );
    assert_eq!(
        (access.is_store, access.known_by),
        (true, WindowAddress::Registers)
    );
    assert_eq!((second.time_ns, second.pid, second.address), (1100, 5, None));
    assert_eq!(second.direction, Direction::None);
}

#[test]
fn mappings() {
    let bytes = vector("mappings").hex("payload");
    let events = parse_mappings(&bytes).unwrap();
    assert_eq!(encode_mappings(&events), bytes);
    let MappingChange::Mapped(mapping) = &events[0].change else {
        panic!("the first change maps something");
    };
    assert_eq!((events[0].time_ns, events[0].pid), (1000, 5));
    assert_eq!(
        (mapping.start, mapping.length, mapping.file_offset),
        (0x1000, 0x1000, 0x200)
    );
    assert_eq!((mapping.load_address, mapping.path.as_str()), (0xe00, "/p"));
    assert_eq!(mapping.build_id, [0xab, 0xcd]);
    assert!(mapping.protection.readable && mapping.protection.executable);
    assert!(!mapping.protection.writable && !mapping.protection.shared);
    assert_eq!((events[1].time_ns, events[1].pid), (1005, 7));
    assert_eq!(events[1].change, MappingChange::Forked { parent: 5 });
    assert_eq!(events[2].change, MappingChange::Executed { name: "q".into() });
}

fn allocation_events(payload: &[u8]) -> Result<(Vec<AllocationEvent>, Vec<Vec<u64>>), TraceError> {
    let fields = ChunkFields::new(ChunkKind::Allocations);
    let trace = FileBytes::new(Codec::None).chunk(&fields, payload).open();
    let mut reader = AllocationEvents::new(&trace);
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    let frames = |event: &AllocationEvent| reader.stacks().get(event.stack).frames.to_vec();
    let frames = events.iter().map(frames).collect();
    Ok((events, frames))
}

#[test]
fn allocations_are_read() {
    let (events, frames) = allocation_events(&vector("allocations").hex("payload")).unwrap();
    let block = 0x7f00_0000_2040;
    let expected = [
        (
            1005,
            Allocator::Malloc,
            AllocationAction::Allocated {
                address: block,
                size: 24,
                alignment: 0,
            },
        ),
        (
            1007,
            Allocator::Realloc,
            AllocationAction::Reallocating { address: block },
        ),
        (
            1010,
            Allocator::Realloc,
            AllocationAction::Reallocated {
                old: block,
                address: 0x7f00_0000_3000,
                size: 65_536,
            },
        ),
        (
            1010,
            Allocator::Free,
            AllocationAction::Freed {
                address: 0x7f00_0000_3000,
            },
        ),
    ];
    let found: Vec<_> = events
        .iter()
        .map(|event| (event.time_ns, event.by, event.what))
        .collect();
    assert_eq!(found, expected);
    assert!(events.iter().all(|event| event.thread == 7));
    assert_eq!(frames[0], [0x1001, 0x1002, 0x1003]);
    assert!(frames[3].is_empty());
    for invalid in vectors("not-allocations") {
        assert!(
            allocation_events(&hex(invalid.value)).is_err(),
            "{}",
            invalid.value
        );
    }
}
