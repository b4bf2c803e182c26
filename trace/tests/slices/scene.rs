//! Traces of random streams whose times, windows and regions are known.

use trackway_trace::table::{AllocatedBlock, Expression, Operation, Segment, Table, TableAllocationSite};
use trackway_trace::{
    encode_marks, AllocationOperation, ChunkFields, ChunkKind, Codec, MarkInfo, MarkKind, Side,
    Synchronisation, Synchroniser, Trace,
};

use crate::testing::choices::Choices;
use crate::testing::file::FileBytes;
use crate::testing::loops::{access, count_root, repeat, step, table_of};
use crate::testing::tables::record_length;

pub const ACCESS: u32 = 1;
const POINT: u32 = 2;
pub const LOOP: u32 = 3;
const ALLOCATE: u32 = 4;
const FREE: u32 = 5;
const OTHER_ACCESS: u32 = 6;
const REGION: u32 = 7;
/// Hashes of the names of regions.
pub const REGIONS: [u64; 3] = [3, 1 << 60, 17];

/// What each segment does; see the constants. The loop's iterations make three accesses, of two sites.
fn segments() -> [Vec<Operation>; 7] {
    let point = Operation::Order {
        synchronisation: Synchronisation {
            side: Side::Acquire,
            by: Synchroniser::Lock,
        },
        location: 0,
        address: Expression::constant(0),
        stamp: Expression::register(1, 0),
    };
    let block = AllocatedBlock {
        address: Expression::register(0, 0),
        element_size: Expression::constant(8),
        count: Expression::constant(1),
    };
    let walk = vec![access(0, 0, 0), access(1, 0, 4), access(0, 0, 8), step(0, 8)];
    [
        vec![count_root(0), access(0, 0, 0)],
        vec![count_root(1), point],
        vec![count_root(0), count_root(2), repeat(2, walk)],
        vec![
            count_root(0),
            Operation::Allocate {
                site: 0,
                block: Box::new(block),
            },
        ],
        vec![
            count_root(0),
            Operation::Free {
                site: 0,
                address: Expression::register(0, 0),
            },
        ],
        vec![count_root(0), access(2, 0, 0)],
        vec![
            count_root(0),
            count_root(1),
            Operation::Region {
                depth: Expression::register(0, 0),
                name: Expression::register(1, 0),
            },
        ],
    ]
}

pub fn table() -> Table {
    let [first, others @ ..] = segments();
    let mut table = table_of(first);
    for operations in others {
        table.segments.push(Segment {
            function: 0,
            local_id: table.segments.len() as u16 + 1,
            record_length: record_length(&operations),
            operations,
        });
    }
    table.functions[0].segment_count = table.segments.len() as u32;
    table.allocation_sites.push(TableAllocationSite {
        function: 0,
        ordinal: 100,
        operation: AllocationOperation::Allocate,
        location: 0,
        allocator: 0,
        element_type: 0,
        element_size: 8,
        variable: 0,
    });
    table.order = true;
    table
}

/// A file of random streams within the first few hundred nanoseconds.
pub struct Scene {
    file: FileBytes,
    next_address: u64,
}

impl Scene {
    pub fn random(choices: &mut Choices<'_>) -> Trace {
        let mut file = FileBytes::new(Codec::Lz4);
        file.module(0, 1, &table());
        let mut scene = Scene {
            file,
            next_address: 1 << 20,
        };
        for stream in 0..1 + choices.below(4) {
            let mut time_ns = 1 + u64::from(choices.below(100));
            for sequence in 0..u64::from(choices.below(5)) {
                time_ns = scene.add_chunk(stream, sequence, time_ns, choices);
            }
        }
        if choices.flag() {
            scene.add_windows(choices);
        }
        scene.file.open()
    }

    fn add_chunk(&mut self, stream: u32, sequence: u64, begin_ns: u64, choices: &mut Choices<'_>) -> u64 {
        let first_ns = begin_ns + u64::from(choices.below(30));
        let mut time_ns = first_ns;
        let mut payload = Vec::new();
        for _ in 0..choices.below(30) {
            self.add_record(&mut time_ns, &mut payload, choices);
        }
        time_ns += u64::from(choices.below(40));
        let fields = ChunkFields {
            stream,
            sequence,
            first_ns,
            last_ns: time_ns,
            ..ChunkFields::new(ChunkKind::Records)
        };
        self.file.chunk(&fields, &payload);
        time_ns
    }

    fn add_record(&mut self, time_ns: &mut u64, payload: &mut Vec<u8>, choices: &mut Choices<'_>) {
        let address = self.next_address;
        self.next_address += 4096;
        let (segment, values) = match choices.below(10) {
            0 => {
                // A stamp may be before the buffer was taken.
                *time_ns += u64::from(choices.below(30));
                (POINT, vec![time_ns.saturating_sub(u64::from(choices.below(5)))])
            }
            1 => (LOOP, vec![address, u64::from(choices.byte())]),
            2 => (ALLOCATE, vec![address]),
            3 => (FREE, vec![address]),
            8 | 9 => {
                let name = REGIONS[choices.below(3) as usize];
                (REGION, vec![choices.below(4).into(), name])
            }
            4 | 5 => (OTHER_ACCESS, vec![address]),
            _ => (ACCESS, vec![address]),
        };
        payload.extend((segment << 8).to_le_bytes());
        payload.extend(values.into_iter().flat_map(u64::to_le_bytes));
    }

    fn add_windows(&mut self, choices: &mut Choices<'_>) {
        let mut marks = Vec::new();
        let mut ns = 0;
        for number in 1..=u64::from(choices.below(6)) {
            for kind in [MarkKind::Opens, MarkKind::Closes] {
                ns += u64::from(choices.below(60));
                let window = Some(number);
                marks.push(MarkInfo {
                    ns,
                    kind,
                    window,
                    ..MarkInfo::default()
                });
            }
        }
        self.file
            .chunk(&ChunkFields::new(ChunkKind::Marks), &encode_marks(&marks));
    }
}
