//! Calls of allocators: payloads, and the merge of streams.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use proptest::prelude::*;
use testing::file::FileBytes;
use trackway_trace::allocations::{
    frames_of, AllocationAction as Action, AllocationEvent, AllocationEvents, AllocationRecorder, Allocator,
    Origin, Stack, StackEnd,
};
use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::{ChunkFields, ChunkKind, Codec, GapReason, ProcessEvent, ProcessInfo, Trace};

fn fields(stream: u32, sequence: u64, first_ns: u64) -> ChunkFields {
    ChunkFields {
        stream,
        sequence,
        first_ns,
        last_ns: first_ns + 100,
        ..ChunkFields::new(ChunkKind::Allocations)
    }
}

fn events(trace: &Trace) -> Vec<AllocationEvent> {
    let mut reader = AllocationEvents::new(trace);
    std::iter::from_fn(|| reader.next_event().unwrap()).collect()
}

fn payload(thread: u32, ticks: u64, actions: &[(u64, Action)]) -> Vec<u8> {
    let mut recorder = AllocationRecorder::new(thread, ticks);
    for (ticks, what) in actions {
        recorder.event(*ticks, Allocator::Malloc, *what, 0);
    }
    recorder.into_payload()
}

fn allocated(address: u64) -> Action {
    Action::Allocated {
        address,
        size: 24,
        alignment: 0,
    }
}

#[test]
fn all_actions_survive() {
    let actions = [
        Action::Allocated {
            address: 0x7fff_1234_5678,
            size: 1 << 40,
            alignment: 64,
        },
        Action::Freed {
            address: u64::MAX - 15,
        },
        Action::Reallocating { address: 16 },
        Action::Reallocated {
            old: 16,
            address: 32,
            size: 0,
        },
        Action::Kept { address: 16 },
        Action::Mapped {
            address: 4096,
            length: 8192,
            protection: 3,
            flags: 0x22,
            descriptor: Some(0),
            offset: 1 << 33,
        },
        Action::Mapped {
            address: 4096,
            length: 8192,
            protection: 0,
            flags: 2,
            descriptor: None,
            offset: 0,
        },
        Action::Unmapped {
            address: 4096,
            length: 70_000,
        },
        Action::Remapping {
            address: 4096,
            length: 1,
        },
        Action::Remapped {
            old: 4096,
            old_length: 2,
            address: 8192,
            length: 3,
        },
        Action::BreakMoved { old: 5, new: 6 },
        Action::Forked { began_ns: 70_000 },
    ];
    let timed: Vec<(u64, Action)> = actions.iter().map(|action| (5, *action)).collect();
    let trace = FileBytes::new(Codec::Lz4)
        .chunk(&fields(0, 0, 5), &payload(7, 5, &timed))
        .open();
    let read = events(&trace);
    assert_eq!(read.iter().map(|event| event.what).collect::<Vec<_>>(), actions);
    assert!(read.iter().all(|event| (event.time_ns, event.thread) == (5, 7)));
    assert!(trace.holds_only_allocations() && trace.streams().is_empty());
}

#[test]
fn stacks_are_kept_once() {
    let stack = |frames: &[u64], end| Stack {
        frames: frames.into(),
        end,
    };
    let (three, none) = (
        stack(&[1, 2, 3], StackEnd::Limit),
        stack(&[], StackEnd::NoFramePointer),
    );
    let chunk = |ticks: u64, filling: usize| {
        let mut recorder = AllocationRecorder::new(7, ticks);
        let unused = (0..filling as u64).map(|frame| stack(&[frame], StackEnd::Outermost));
        unused.for_each(|stack| _ = recorder.stack(&stack));
        let known = [recorder.stack(&three), recorder.stack(&none), 0];
        for known in known {
            recorder.event(ticks, Allocator::Free, Action::Freed { address: 16 }, known);
        }
        recorder.into_payload()
    };
    let trace = FileBytes::new(Codec::Lz4)
        .chunk(&fields(0, 0, 5), &chunk(5, 0))
        .chunk(&fields(0, 1, 9), &chunk(9, 70_000)) // indices that need an argument
        .open();
    let mut reader = AllocationEvents::new(&trace);
    let found: Vec<_> = std::iter::from_fn(|| reader.next_event().unwrap()).collect();
    let ids: Vec<u32> = found.iter().map(|event| event.stack.0).collect();
    assert_eq!(ids[..3], [1, 2, 0]);
    assert_eq!(ids[3..], ids[..3]);
    assert_eq!(*reader.stacks().get(found[0].stack), three);
    assert_eq!(*reader.stacks().get(found[4].stack), none);
    assert_eq!(*reader.stacks().get(found[2].stack), Stack::default());
}

#[test]
fn streams_are_merged_by_time() {
    let trace = FileBytes::new(Codec::None)
        .chunk(
            &fields(3, 0, 10),
            &payload(7, 10, &[(10, allocated(16)), (30, allocated(48))]),
        )
        .chunk(&fields(5, 0, 15), &payload(8, 15, &[(20, allocated(32))]))
        .chunk(
            &fields(3, 1, 40),
            &payload(7, 40, &[(1 << 40, Action::Freed { address: 16 })]),
        )
        .open();
    let order: Vec<(u64, u32, u32)> = events(&trace)
        .iter()
        .map(|event| (event.time_ns, event.stream, event.thread))
        .collect();
    assert_eq!(order, [(10, 3, 7), (20, 5, 8), (30, 3, 7), (1 << 40, 3, 7)]);
}

#[test]
fn gaps_are_told_where_they_are() {
    let gap = |dropped: u64| {
        [
            dropped.to_le_bytes(),
            u64::from(GapReason::RingFull).to_le_bytes(),
        ]
        .concat()
    };
    let gap_fields = |sequence| ChunkFields {
        stream: 3,
        sequence,
        last_ns: 39,
        ..ChunkFields::new(ChunkKind::Gap)
    };
    let trace = FileBytes::new(Codec::None)
        .chunk(&fields(3, 0, 10), &payload(7, 10, &[(10, allocated(16))]))
        .chunk(&gap_fields(0), &gap(2))
        .chunk(&fields(3, 1, 40), &payload(7, 40, &[(50, allocated(32))]))
        .chunk(&gap_fields(1), &gap(1))
        .open();
    assert!(trace.damage().is_empty());
    let what: Vec<Action> = events(&trace).iter().map(|event| event.what).collect();
    let missing = |buffers| Action::Missing { buffers };
    assert_eq!(what, [allocated(16), missing(2), allocated(32), missing(1)]);
}

#[test]
fn a_damaged_chunk_costs_only_its_rest() {
    let mut damaged = payload(7, 10, &[(10, allocated(16)), (11, allocated(32))]);
    let last = damaged.len() - 16;
    damaged[last] = 99;
    let trace = FileBytes::new(Codec::None)
        .chunk(&fields(3, 0, 10), &damaged)
        .chunk(&fields(3, 1, 20), &payload(7, 20, &[(20, allocated(48))]))
        .open();
    let mut reader = AllocationEvents::new(&trace);
    assert_eq!(
        reader.next_event().unwrap().map(|event| event.what),
        Some(allocated(16))
    );
    let error = reader.next_event().unwrap_err().to_string();
    assert!(
        error.contains(&format!("byte {last}")) && error.contains("unknown operation 99"),
        "{error}"
    );
    assert_eq!(
        reader.next_event().unwrap().map(|event| event.what),
        Some(allocated(48))
    );
    assert_eq!(reader.next_event().unwrap(), None);
}

#[test]
fn a_swept_chunk_ends_with_its_last_whole_unit() {
    let whole = payload(7, 10, &[(10, allocated(16)), (11, allocated(32))]);
    let mut swept = whole.clone();
    let last = swept.len() - 16;
    swept[last..last + 8].fill(0); // a unit's second half is written first
    swept.extend_from_slice(&[0; 4096]);
    let tail = ChunkFields {
        flags: FLAG_TAIL,
        ..fields(3, 0, 10)
    };
    let trace = FileBytes::new(Codec::None).chunk(&tail, &swept).open();
    assert_eq!(events(&trace).len(), 1);
}

#[test]
fn children_are_told_from_programs_that_went_on() {
    let process = |pid, parent| ProcessInfo {
        pid,
        parent,
        event: ProcessEvent::Start,
        exit_status: None,
        signal: None,
        monotonic_ns: 5,
    };
    let mut file = FileBytes::new(Codec::None);
    let processes = [process(10, None), process(11, Some(0)), process(11, Some(1))];
    for (number, info) in (0..).zip(&processes) {
        let fields = ChunkFields {
            process: number,
            sequence: number.into(),
            ..ChunkFields::new(ChunkKind::Process)
        };
        file.chunk(&fields, &serde_json::to_vec(info).unwrap());
    }
    let origins: Vec<Origin> = file
        .open()
        .allocating_processes()
        .iter()
        .map(|process| process.origin)
        .collect();
    let expected = [
        Origin::Started,
        Origin::Forked { parent: 0 },
        Origin::Executed { former: 1 },
    ];
    assert_eq!(origins, expected);
}

/// Payloads that start like a real one and go on with bytes of which many are operations.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![0..30u8, any::<u8>()];
    proptest::collection::vec(byte, 0..600).prop_map(|rest| [payload(7, 5, &[]), rest].concat())
}

proptest! {
    #[test]
    fn hostile_payloads_are_read_or_refused(bytes in hostile()) {
        let trace = FileBytes::new(Codec::None).chunk(&fields(0, 0, 5), &bytes).open();
        let mut reader = AllocationEvents::new(&trace);
        let mut events = 0;
        while let Ok(Some(_)) = reader.next_event() {
            events += 1;
        }
        prop_assert!(events <= bytes.len() / 16);
        prop_assert!(frames_of(&bytes).len() <= bytes.len() / 8);
    }
}
