//! The golden trace: what `vectors/golden-v2.trackway` holds, and what must be decoded from it.

use std::path::Path;

use trackway_trace::chunk::{FLAG_LAST, FLAG_TAIL};
use trackway_trace::oracle::{encode_summaries, Account, OracleAccess};
use trackway_trace::table::{
    AllocatedBlock, Encoding, Expression, Operation, Segment, Table, TableAllocationSite, TableFunction,
    TableLocation, TableMember, TableSite, TableSymbol, TableType, Term,
};
use trackway_trace::{
    encode_module, AccessKind, AllocationOperation, CacheInfo, ChunkFields, ChunkKind, Codec, Coverage,
    EndInfo, MemberKind, ProcessEvent, ProcessInfo, StartInfo, StructureKind, TraceError, TraceWriter,
    VariableKind,
};

pub const FIRST_SEGMENT: u32 = 1;
/// For the segments, in their order.
const LOCAL_IDS: [u16; 5] = [0, 1, 2, 0x103, 0];
pub const GLOBAL_ADDRESS: u64 = 0x40_4000;
/// FNV-1a-64 of `list.c`, a zero byte and `walk`.
pub const WALK: u64 = 0x7638_d65e_d0d6_fa17;

/// The accesses of stream 0: ordinal, kind, address, size.
pub const ACCESSES: [(u32, AccessKind, u64, u64); 10] = [
    (3, AccessKind::Load, 0x7f00_0000_1008, 8),
    (5, AccessKind::Store, 0x7f00_0000_2000, 4),
    (6, AccessKind::Load, GLOBAL_ADDRESS + 16, 8),
    (5, AccessKind::Store, 0x7f00_0000_3000, 4),
    (6, AccessKind::Load, GLOBAL_ADDRESS + 16, 8),
    (8, AccessKind::Fill, 0x7f00_0000_3010, 100),
    (9, AccessKind::Load, 0x7f00_0000_3000, 4),
    (9, AccessKind::Load, 0x7f00_0000_3008, 4),
    (5, AccessKind::Store, 0x7f00_0000_4000, 4),
    (6, AccessKind::Load, GLOBAL_ADDRESS + 16, 8),
];

/// Writes the trace.
pub fn write(path: &Path) -> Result<(), TraceError> {
    let mut writer = TraceWriter::create(path, true, Codec::Lz4)?;
    let json = |value| serde_json::to_vec(&value).expect("plain values");
    writer.write_chunk(
        &ChunkFields::new(ChunkKind::Start),
        &json(serde_json::json!(start())),
    )?;
    writer.write_chunk(
        &ChunkFields::new(ChunkKind::Process),
        &json(serde_json::json!(process())),
    )?;
    let module = encode_module(FIRST_SEGMENT, 0x40_3000, &[GLOBAL_ADDRESS], &table());
    writer.write_chunk(&ChunkFields::new(ChunkKind::Module), &module)?;
    let records = ChunkFields {
        first_ns: 1_000,
        last_ns: 2_000,
        ..ChunkFields::new(ChunkKind::Records)
    };
    writer.write_chunk(&records, &first_chunk())?;
    let tail = ChunkFields {
        flags: FLAG_TAIL | FLAG_LAST,
        sequence: 1,
        first_ns: 2_000,
        last_ns: 3_000,
        ..records
    };
    writer.write_chunk(&tail, &tail_chunk())?;
    writer.write_chunk(
        &ChunkFields {
            stream: 1,
            ..ChunkFields::new(ChunkKind::Gap)
        },
        &gap(),
    )?;
    let summary = encode_summaries(&[(0, account())]);
    writer.write_chunk(&ChunkFields::new(ChunkKind::OracleSummary), &summary)?;
    writer.write_chunk(&ChunkFields::new(ChunkKind::OracleRecords), &oracle_records())?;
    writer.finish(&EndInfo {
        exit_status: Some(0),
        end_monotonic_ns: 4_000,
        streams: 2,
        dropped_buffers: 3,
        record_bytes: (first_chunk().len() + tail_chunk().len()) as u64,
        reason: "program ended".into(),
        ..EndInfo::default()
    })
}

pub fn start() -> StartInfo {
    StartInfo {
        program: "./list".into(),
        arguments: vec!["10".into()],
        working_directory: "/tmp".into(),
        host: "golden".into(),
        cpu_model: "a processor".into(),
        caches: vec![CacheInfo {
            level: 1,
            size_bytes: 32_768,
            line_bytes: 64,
            ways: 8,
            shared_by: 2,
        }],
        trackway_version: "0.1.0".into(),
        codec: "lz4".into(),
        buffer_size: 65_536,
        buffer_count: 64,
        start_unix_ns: 1_700_000_000_000_000_000,
        start_monotonic_ns: 500,
        pid: 4711,
        ..StartInfo::default()
    }
}

fn process() -> ProcessInfo {
    ProcessInfo {
        pid: 4711,
        parent: None,
        event: ProcessEvent::Start,
        exit_status: None,
        signal: None,
        monotonic_ns: 600,
    }
}

fn gap() -> Vec<u8> {
    [3u64, 1].iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn oracle_access((ordinal, kind, address, size): (u32, AccessKind, u64, u64)) -> OracleAccess {
    OracleAccess {
        function: WALK,
        ordinal,
        part: 0,
        kind: kind as u8,
        address,
        size,
    }
}

/// The oracle counted one access less than the last record stands for: the thread was stopped between them.
pub fn account() -> Account {
    let mut account = Account::default();
    for access in ACCESSES.into_iter().take(ACCESSES.len() - 1).map(oracle_access) {
        account.add(access.word(), access.address, access.size);
    }
    account
}

fn oracle_records() -> Vec<u8> {
    ACCESSES
        .into_iter()
        .take(ACCESSES.len() - 1)
        .flat_map(|access| oracle_access(access).to_bytes())
        .collect()
}

fn push_global(bytes: &mut Vec<u8>, segment: u32) {
    bytes.extend_from_slice(&((FIRST_SEGMENT + segment) << 8).to_le_bytes());
}

fn first_chunk() -> Vec<u8> {
    let mut bytes = Vec::new();
    push_global(&mut bytes, 0);
    bytes.extend_from_slice(&0x7f00_0000_1000u64.to_le_bytes());
    for pointer in [0x7f00_0000_2000u64, 0x7f00_0000_3000] {
        bytes.push(1);
        bytes.extend_from_slice(&pointer.to_le_bytes());
    }
    bytes.push(2);
    bytes.extend_from_slice(&100u16.to_le_bytes());
    bytes.extend_from_slice(&LOCAL_IDS[3].to_le_bytes());
    bytes.push(0b101);
    push_global(&mut bytes, 4);
    bytes.extend_from_slice(&0x6000u64.to_le_bytes());
    bytes
}

/// Swept, and without the zero bytes at its end.
fn tail_chunk() -> Vec<u8> {
    let mut bytes = Vec::new();
    push_global(&mut bytes, 1);
    bytes.extend_from_slice(&0x7f00_0000_4000u64.to_le_bytes()[..6]);
    bytes
}

pub fn table() -> Table {
    let strings = [
        "",
        "list.c",
        "compiler 19",
        "walk",
        "total",
        "long[4]",
        "head",
        "struct node",
        "next",
        "malloc",
    ];
    Table {
        oracle: true,
        calls: true,
        order: false,
        strings: strings.map(str::to_owned).to_vec(),
        source_file: 1,
        producer: 2,
        symbols: vec![TableSymbol {
            name: 4,
            type_name: 5,
            size: 32,
            location: 1,
        }],
        locations: vec![
            TableLocation::default(),
            TableLocation {
                function: 0,
                file: 1,
                line: 3,
                column: 6,
                parent: None,
            },
            TableLocation {
                function: 3,
                file: 1,
                line: 12,
                column: 18,
                parent: None,
            },
        ],
        functions: vec![TableFunction {
            linkage_name: 3,
            name: 3,
            location: 2,
            has_plain_copy: true,
            first_segment: 0,
            segment_count: 5,
            register_count: 3,
            window: 0,
            coverage: Coverage {
                accesses: 6,
                recorded: 5,
                filtered: 1,
                not_recordable: 0,
            },
        }],
        sites: vec![
            site(3, AccessKind::Load, 8),
            site(5, AccessKind::Store, 4),
            site(6, AccessKind::Load, 8),
            site(8, AccessKind::Fill, 0),
            site(9, AccessKind::Load, 4),
        ],
        allocation_sites: vec![TableAllocationSite {
            function: 0,
            ordinal: 11,
            operation: AllocationOperation::Allocate,
            location: 2,
            allocator: 9,
            element_type: 7,
            element_size: 16,
            variable: 6,
        }],
        segments: segments(),
        types: vec![TableType {
            name: 7,
            kind: StructureKind::Struct,
            size: 16,
            alignment: 8,
            members: vec![TableMember {
                name: 8,
                type_name: 0,
                kind: MemberKind::Field,
                offset_bits: 64,
                size_bits: 64,
                alignment: 8,
                nested: None,
            }],
        }],
        blocks: None,
        machine_code: None,
        flows: None,
        source_checksums: Vec::new(),
        work: None,
        regions: Vec::new(),
    }
}

fn site(ordinal: u32, kind: AccessKind, size: u32) -> TableSite {
    TableSite {
        function: 0,
        ordinal,
        part: 0,
        kind,
        size,
        location: 2,
        variable: 6,
        variable_kind: VariableKind::Local,
        object_type: 7,
        field: 8,
        value_type: 0,
    }
}

fn segments() -> Vec<Segment> {
    let root = |register, width| Operation::Root {
        register,
        encoding: Encoding { width, signed: false },
    };
    let access = |site, address| Operation::Access { site, address };
    let scaled = Expression {
        symbol: None,
        constant: 0x10,
        terms: [
            Term {
                register: 0,
                scale: 2,
            },
            Term {
                register: 0,
                scale: -1,
            },
        ]
        .into(),
    };
    let allocated = AllocatedBlock {
        address: Expression::register(1, 0),
        element_size: Expression::constant(16),
        count: Expression::constant(1),
    };
    let masked = Operation::Masked {
        site: 4,
        address: Expression::register(0, 0),
        mask: 2,
        lanes: 8,
        packed: false,
        stride: 4,
    };
    let block = Operation::Block {
        site: 3,
        address: scaled,
        length: Expression::register(1, 0),
    };
    let operations = [
        vec![
            Operation::Enter,
            root(0, 8),
            access(0, Expression::register(0, 8)),
        ],
        vec![
            root(0, 8),
            access(1, Expression::register(0, 0)),
            access(2, Expression::symbol(0, 16)),
        ],
        vec![root(1, 2), block],
        vec![root(2, 1), masked],
        vec![
            root(1, 8),
            Operation::Allocate {
                site: 0,
                block: Box::new(allocated),
            },
            Operation::Exit,
        ],
    ];
    let segment = |(index, operations): (usize, Vec<Operation>)| Segment {
        function: 0,
        local_id: LOCAL_IDS[index],
        record_length: super::tables::record_length(&operations),
        operations,
    };
    operations.into_iter().enumerate().map(segment).collect()
}
