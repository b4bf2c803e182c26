//! Traces of a made-up program of two functions, `build` and `walk`, that calls allocators and is sampled.

use serde_json::json;
use trackway_trace::allocations::{AllocationAction, AllocationRecorder, Allocator, Stack, StackEnd};
use trackway_trace::table::{CodeNames, InstructionNames, ObjectNames, OperandName, TableLocation};
use trackway_trace::{
    encode_mappings, AddressClass, ChunkFields, ChunkKind, Codec, Direction, Mapping, MappingChange,
    MappingEvent, Protection, Sample, SampledEvent, Samples, SamplingInfo, StartInfo, Trace, VariableKind,
    WindowAccess,
};

use crate::testing::file::FileBytes;

pub const PID: u32 = 100;
pub const CHILD: u32 = 101;
/// Where the program is mapped.
pub const CODE: u64 = 0x40_0000;
/// Return addresses within `build` and `walk`.
pub const BUILD: u64 = CODE + 0x101;
pub const WALK: u64 = CODE + 0x201;
/// An instruction that accesses the variable `table`, of `struct entry`.
pub const AT_TABLE: u64 = CODE + 0x300;

pub struct Scene {
    file: FileBytes,
    events: u64,
    samples: Samples,
}

pub fn range(start: u64, length: u64, path: &str, load_address: u64, rights: Protection) -> MappingEvent {
    MappingEvent {
        time_ns: 0,
        pid: PID,
        change: MappingChange::Mapped(Mapping {
            start,
            length,
            protection: rights,
            path: path.into(),
            load_address,
            build_id: vec![0xbe, 0xef],
            ..Mapping::default()
        }),
    }
}

pub fn read_write() -> Protection {
    Protection {
        readable: true,
        writable: true,
        ..Protection::default()
    }
}

fn names() -> CodeNames {
    let location = |function, line| TableLocation {
        function,
        file: 1,
        line,
        column: 0,
        parent: None,
    };
    let entry = |offset, location, read| InstructionNames {
        offset,
        location,
        read,
        written: 0,
    };
    let strings = [
        "",
        "prog.c",
        "build",
        "walk",
        "/bin/prog",
        "table",
        "struct entry",
        "operator new(unsigned long)",
    ];
    CodeNames {
        strings: strings.map(String::from).to_vec(),
        locations: vec![
            TableLocation::default(),
            location(2, 10),
            location(3, 20),
            location(7, 1),
        ],
        types: Vec::new(),
        operands: vec![
            OperandName::default(),
            OperandName {
                variable: 5,
                variable_kind: VariableKind::Static,
                object_type: 6,
                field: 0,
                value_type: 0,
            },
        ],
        objects: vec![ObjectNames {
            path: 4,
            instructions: vec![
                entry(0x100, 1, 0),
                entry(0x200, 2, 0),
                entry(0x300, 2, 1),
                entry(0x400, 3, 0),
            ],
        }],
        source_checksums: Vec::new(),
    }
}

impl Scene {
    /// Makes a scene with these mappings beside the program's own code.
    pub fn new(mut mappings: Vec<MappingEvent>) -> Scene {
        let mut file = FileBytes::new(Codec::Lz4);
        let event = |name: &str, unit: &str| SampledEvent {
            name: name.into(),
            source: "clock".into(),
            weight_unit: unit.into(),
        };
        let start = StartInfo {
            sampling: Some(SamplingInfo {
                events: vec![event("task-clock", "ns"), event("mem-loads", "loads")],
                ..SamplingInfo::default()
            }),
            ..StartInfo::default()
        };
        file.chunk(
            &ChunkFields::new(ChunkKind::Start),
            &serde_json::to_vec(&start).unwrap(),
        );
        for (number, pid, parent, began_ns) in [(0, PID, None, 1), (1, CHILD, Some(0), 500)] {
            let process = json!({"pid": pid, "parent": parent, "event": "start", "monotonic_ns": began_ns});
            let fields = ChunkFields {
                process: number,
                sequence: u64::from(number),
                ..ChunkFields::new(ChunkKind::Process)
            };
            file.chunk(&fields, &serde_json::to_vec(&process).unwrap());
        }
        let code = Protection {
            readable: true,
            executable: true,
            ..Protection::default()
        };
        mappings.push(range(CODE, 0x1000, "/bin/prog", CODE, code));
        file.chunk(
            &ChunkFields::new(ChunkKind::Mappings),
            &encode_mappings(&mappings),
        );
        file.chunk(&ChunkFields::new(ChunkKind::Names), &names().encode());
        Scene {
            file,
            events: 0,
            samples: Samples::default(),
        }
    }

    /// Calls of allocators in a process, by time and return addresses.
    pub fn calls(&mut self, process: u32, calls: &[(u64, &[u64], AllocationAction)]) -> &mut Self {
        let first = calls[0].0;
        let mut recorder = AllocationRecorder::new(PID + process, first);
        for (time_ns, frames, what) in calls {
            let stack = recorder.stack(&Stack {
                frames: (*frames).into(),
                end: StackEnd::Outermost,
            });
            recorder.event(*time_ns, Allocator::Malloc, *what, stack);
        }
        let fields = ChunkFields {
            stream: process,
            process,
            sequence: self.events,
            first_ns: first,
            last_ns: calls[calls.len() - 1].0,
            ..ChunkFields::new(ChunkKind::Allocations)
        };
        self.events += 1;
        self.file.chunk(&fields, &recorder.into_payload());
        self
    }

    /// A sample of 1,000 ns at a load.
    pub fn sample(&mut self, time_ns: u64, address: Option<u64>) -> &mut Self {
        self.push(
            Sample {
                time_ns,
                address,
                ..loading()
            },
            &[],
        )
    }

    pub fn push(&mut self, sample: Sample, window: &[WindowAccess]) -> &mut Self {
        let first = self.samples.window.len();
        self.samples.window.extend_from_slice(window);
        self.samples.samples.push(Sample {
            window: first..self.samples.window.len(),
            class: match sample.address {
                Some(_) => AddressClass::Predecessor,
                None => AddressClass::None,
            },
            ..sample
        });
        self
    }

    pub fn lose(&mut self, samples: u64) -> &mut Self {
        self.samples.lost += samples;
        self
    }

    pub fn open(&mut self) -> Trace {
        self.file
            .chunk(&ChunkFields::new(ChunkKind::Samples), &self.samples.encode());
        let trace = self.file.open();
        assert!(trace.damage().is_empty(), "{:?}", trace.damage());
        trace
    }
}

/// A sample in the first thread.
pub fn loading() -> Sample {
    Sample {
        pid: PID,
        tid: PID,
        direction: Direction::Load,
        instruction: CODE + 0x10,
        weight: 1000,
        ..Sample::default()
    }
}

pub fn allocated(address: u64, size: u64) -> AllocationAction {
    AllocationAction::Allocated {
        address,
        size,
        alignment: 0,
    }
}
