//! Branches of traces against counts that were made along with the traces.

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use testing::file::FileBytes;
use trackway_analysis::branches::{replay_trace, PredictorChoice, TraceReplay};
use trackway_analysis::control_flow::{BranchEvent, BranchKind, BranchSource, MachineFlow, Unresolved};
use trackway_trace::machine::{BlockDefinition, BuiltCode, CodeBuilder, InstructionDefinition, ANONYMOUS};
use trackway_trace::{ChunkFields, ChunkKind, Codec, InstructionKind, Trace};

/// Id of the first block.
const FIRST_ID: u32 = 3;
const TAIL: u16 = 1;

/// A loop at 0x100 of an object, with two conditional branches and a call into code of no file.
///
/// - 0: 0x100, branch to 0x140
/// - 1: 0x108, call
/// - 2: 0x140, branch to 0x100
/// - 3: 0x148, jump to 0x100
/// - 4: 0x7000, of no file, return
/// - 5: 0x10c, after the call, no branch
/// - 6: 0x9000, of no file: a signal's handler, system call
/// - 7: 0x9010, of no file, branch of unknown target
/// - 8: 0x9018, of no file, branch to what follows it
fn code() -> BuiltCode {
    use InstructionKind::*;
    let mut builder = CodeBuilder::new("test");
    let (file, nowhere) = (builder.object("/bin/walk"), builder.object(ANONYMOUS));
    let blocks = [
        (file, 0x100, 2, ConditionalBranch, 0x140),
        (file, 0x108, 1, DirectCall, 0),
        (file, 0x140, 2, ConditionalBranch, 0x100),
        (file, 0x148, 1, DirectJump, 0x100),
        (nowhere, 0x7000, 3, Return, 0),
        (file, 0x10c, 1, Other, 0),
        (nowhere, 0x9000, 2, SystemCall, 0),
        (nowhere, 0x9010, 2, ConditionalBranch, 0),
        (nowhere, 0x9018, 1, ConditionalBranch, 0x901c),
    ];
    for (object, start, count, kind, target) in blocks {
        let instruction = |number: u64| InstructionDefinition {
            object,
            offset: start + 4 * number,
            length: 4,
            kind: if number + 1 == count { kind } else { Other },
            target: if number + 1 == count { target } else { 0 },
            operands: Vec::new(),
        };
        let instructions = (0..count).map(instruction).collect();
        let block = BlockDefinition {
            instructions,
            ..BlockDefinition::default()
        };
        builder.add(&block).unwrap();
    }
    builder.finish()
}

fn records(code: &BuiltCode, blocks: &[usize]) -> Vec<u8> {
    let id = |block: &usize| ((FIRST_ID + code.segments[*block]) << 8).to_le_bytes();
    blocks.iter().flat_map(id).collect()
}

/// Chunks of one stream.
fn trace(chunks: &[&[usize]]) -> Trace {
    let code = code();
    let mut file = FileBytes::new(Codec::Columns);
    file.module(0, FIRST_ID, &code.table);
    for (sequence, blocks) in (0..).zip(chunks) {
        file.records(sequence, 0, &records(&code, blocks));
    }
    file.open()
}

fn events(trace: &Trace) -> (Vec<BranchEvent>, Unresolved) {
    let flow = MachineFlow::new(trace.program());
    let mut branches = flow.branches(trace, &trace.streams()[0], &|_, _| {});
    let mut events = Vec::new();
    let Ok(()) = branches.for_each(&mut |event| events.push(*event));
    (events, branches.unresolved())
}

/// Low bits of the branch, and whether it was taken.
fn outcomes(trace: &Trace) -> Vec<(u64, bool)> {
    let conditional = |event: &BranchEvent| event.kind == BranchKind::Conditional;
    let (events, _) = events(trace);
    events
        .iter()
        .filter(|event| conditional(event))
        .map(|event| (event.address & 0xfff, event.taken))
        .collect()
}

fn replayed(trace: &Trace) -> TraceReplay<'_> {
    replay_trace(
        trace,
        &PredictorChoice::standard(),
        NonZeroUsize::new(2).unwrap(),
        &|_, _| {},
    )
}

/// Directions by name of the branch: not taken, taken.
type Counts = BTreeMap<String, (u64, u64)>;

fn counts(trace: &Trace) -> Counts {
    let replay = replayed(trace);
    let count = |branch: &trackway_analysis::branches::ConditionalBranch| {
        let name = replay.place(branch.address).name;
        (name, (branch.executions - branch.taken, branch.taken))
    };
    replay.totals.branches.iter().map(count).collect()
}

#[test]
fn kinds_targets_and_instructions() {
    let (events, unresolved) = events(&trace(&[&[0, 1, 4, 5, 2, 3, 0, 2, 0, 1]]));
    use BranchKind::*;
    let base = events[0].address - 0x104;
    let relative = |address: u64| {
        if address > 0x1_0000 {
            address - base
        } else {
            address
        }
    };
    let found: Vec<_> = events
        .iter()
        .map(|event| {
            (
                relative(event.address),
                event.kind,
                event.taken,
                relative(event.target),
            )
        })
        .collect();
    let expected = [
        (0x104, Conditional, false, 0x140),
        (0x108, Call, true, 0x7000),
        (0x7008, Return, true, 0x10c),
        (0x144, Conditional, false, 0x100),
        (0x148, Jump, true, 0x100),
        (0x104, Conditional, true, 0x140),
        (0x144, Conditional, true, 0x100),
        (0x104, Conditional, false, 0x140),
        (0x108, Call, true, 0),
    ];
    assert_eq!(found, expected);
    let instructions: Vec<u32> = events.iter().map(|event| event.instructions).collect();
    assert_eq!(instructions, [2, 1, 3, 3, 1, 2, 2, 2, 1]);
    assert_eq!(unresolved, Unresolved::default());
}

/// A random walk, and what it did.
fn walk(seed: u64, steps: usize) -> (Vec<usize>, Counts) {
    let mut state = seed * 2 + 1;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 40) % limit
    };
    let mut blocks = Vec::new();
    let mut counts = Counts::new();
    let mut count = |name: &str, taken: bool| {
        let (without, with) = counts.entry(name.to_owned()).or_default();
        *if taken { with } else { without } += 1;
    };
    for _ in 0..steps {
        let (first, second) = (below(3) == 0, below(5) != 0);
        blocks.push(0);
        count("walk+0x104", first);
        if !first {
            blocks.extend([1, 4, 5]);
        }
        blocks.push(2);
        count("walk+0x144", second);
        if !second {
            blocks.push(3);
        }
    }
    // Nothing says where its branch goes.
    blocks.push(0);
    (blocks, counts)
}

#[test]
fn counts_are_those_of_the_walk_however_it_is_cut() {
    for seed in 0..4 {
        let (blocks, expected) = walk(seed, 400);
        for length in [1, 7, 100, 10_000] {
            let chunks: Vec<&[usize]> = blocks.chunks(length).collect();
            let trace = trace(&chunks);
            assert_eq!(counts(&trace), expected, "seed {seed}, chunks of {length}");
            let replay = replayed(&trace);
            assert!(replay.unresolved.left_out() == 1 && replay.damage.is_empty());
        }
    }
}

#[test]
fn what_follows_the_end_and_lost_records_is_unknown() {
    let code = code();
    let mut file = FileBytes::new(Codec::None);
    file.module(0, FIRST_ID, &code.table);
    file.records(0, 0, &records(&code, &[0, 2, 0]));
    // 1 and 2 are missing.
    file.records(3, 0, &records(&code, &[2, 0]));
    let gap = ChunkFields::new(ChunkKind::Gap);
    file.chunk(&gap, &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    file.records(4, 0, &records(&code, &[2, 0]));
    file.records(5, TAIL, &records(&code, &[2, 0]));
    file.records(6, 0, &records(&code, &[2, 3]));
    let trace = file.open();
    let (events, unresolved) = events(&trace);
    let conditional = events.iter().filter(|event| event.kind.is_conditional());
    // Three of the 10 branches are cut off: the last one before each hole, and the last one of the swept buffer.
    assert_eq!(conditional.count(), 7);
    assert_eq!(unresolved.cut_off, 3);
    assert_eq!(events.last().unwrap().kind, BranchKind::Jump);
}

#[test]
fn signals_invent_no_outcomes() {
    let trace = trace(&[&[0, 6, 2, 6, 0, 2, 3]]);
    assert_eq!(outcomes(&trace), [(0x104, true), (0x144, false)]);
    assert_eq!(events(&trace).1.interrupted, 2);
}

#[test]
fn branches_without_target_and_to_the_next_instruction() {
    let trace = trace(&[&[7, 8, 7, 0, 1, 8, 6, 7]]);
    let (events, unresolved) = events(&trace);
    let outcomes: Vec<_> = events
        .iter()
        .filter(|event| event.address == 0x9014)
        .map(|event| event.taken)
        .collect();
    assert_eq!(outcomes, [false, true]);
    assert!(!events.iter().any(|event| event.address == 0x9018));
    assert_eq!(
        (
            unresolved.assumed_taken,
            unresolved.indistinct,
            unresolved.cut_off
        ),
        (1, 2, 1)
    );
}

#[test]
fn threads_have_predictors_of_their_own() {
    let code = code();
    let loop_of_three: Vec<usize> = [0, 2, 0, 2, 0, 1, 4, 5, 2].repeat(50);
    let payload = records(&code, &loop_of_three);
    let one = trace(&[&loop_of_three]);
    let mut file = FileBytes::new(Codec::Lz4);
    file.module(0, FIRST_ID, &code.table);
    for stream in 0..3 {
        let fields = ChunkFields {
            stream,
            ..ChunkFields::new(ChunkKind::Records)
        };
        file.chunk(&fields, &payload);
    }
    let three = file.open();
    let (one, three) = (replayed(&one).totals, replayed(&three).totals);
    assert_eq!(three.executed, 3 * one.executed);
    assert_eq!(three.instructions, 3 * one.instructions);
    for (single, all) in one.predictors.iter().zip(&three.predictors) {
        assert_eq!(all.missed, 3 * single.missed, "{}", single.name);
    }
}

#[test]
fn damaged_chunks_are_left_out_and_named() {
    let code = code();
    let mut file = FileBytes::new(Codec::None);
    file.module(0, FIRST_ID, &code.table);
    file.records(0, 0, &records(&code, &[0, 2, 0, 2]));
    file.records(1, 0, &[0, 0xff, 0xff, 0xff, 1]);
    file.records(2, 0, &records(&code, &[0, 2, 3]));
    let trace = file.open();
    let replay = replayed(&trace);
    assert_eq!(replay.damage.len(), 1);
    assert_eq!((replay.totals.conditional(), replay.unresolved.cut_off), (5, 1));
}

#[test]
fn no_streams() {
    let trace = trace(&[]);
    let replay = replayed(&trace);
    assert_eq!(replay.totals.predictors.len(), 7);
    assert_eq!(replay.totals.executed, 0);
}

mod recorded {
    use super::*;
    use trackway_analysis::control_flow::RecordedFlow;
    use trackway_trace::table::{
        Operation, PieceEnd, Segment, Table, TableFlow, TableFunction, TableLocation, TablePiece,
        SEEN_REGISTERS,
    };

    struct Chance(u64);

    impl Chance {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (self.0 >> 33) as usize % limit
        }
    }

    /// A function of pieces in random order. The first piece enters, the last returns. Of the others, some leave no
    /// record, some branch, some call the function itself, and some call a function that isn't recorded.
    fn random_function(chance: &mut Chance) -> Vec<TablePiece> {
        let count = 3 + chance.below(8);
        let mut pieces: Vec<TablePiece> = (0..count)
            .map(|number| {
                let any = |chance: &mut Chance| (1 + chance.below(count - 1)) as u32;
                let (one, other) = (any(chance), any(chance));
                let (end, successors) = match chance.below(8) {
                    0 => (PieceEnd::GoesOn, vec![one]),
                    1 if number > 1 => (PieceEnd::Calls, vec![one]),
                    2 => (PieceEnd::CallsIndirectly, vec![one]),
                    3 => (PieceEnd::Chooses, vec![one, other, any(chance)]),
                    _ if one != other => (PieceEnd::Branches, vec![one, other]),
                    _ => (PieceEnd::GoesOn, vec![one]),
                };
                TablePiece {
                    end,
                    callee: if end == PieceEnd::Calls { 1 } else { 0 },
                    instructions: 1 + chance.below(5) as u32,
                    successors,
                    ..TablePiece::default()
                }
            })
            .collect();
        pieces[count - 1] = TablePiece {
            end: PieceEnd::Returns,
            instructions: 1,
            ..TablePiece::default()
        };
        let mut segment = 0;
        for (number, piece) in pieces.iter_mut().enumerate() {
            if number == 0 || number == count - 1 || chance.below(3) > 0 {
                piece.segment = Some(segment);
                segment += 1;
            }
        }
        pieces
    }

    fn table(pieces: &[TablePiece]) -> Table {
        let last = pieces.len() - 1;
        let segment = |(number, _): (usize, &TablePiece)| {
            let mut operations = Vec::new();
            if number == 0 {
                operations.push(Operation::Enter);
            }
            if number == last {
                operations.push(Operation::Exit);
            }
            Segment {
                function: 0,
                local_id: 0,
                record_length: 0,
                operations,
            }
        };
        let recording = pieces
            .iter()
            .enumerate()
            .filter(|(_, piece)| piece.segment.is_some());
        let segments: Vec<Segment> = recording.map(segment).collect();
        Table {
            calls: true,
            strings: vec![String::new(), "f".into()],
            locations: vec![TableLocation::default()],
            functions: vec![TableFunction {
                linkage_name: 1,
                name: 1,
                segment_count: segments.len() as u32,
                register_count: SEEN_REGISTERS,
                window: 0,
                ..TableFunction::default()
            }],
            segments,
            flows: Some(vec![TableFlow {
                called_by_name_only: true,
                pieces: pieces.to_vec(),
            }]),
            ..Table::default()
        }
    }

    /// Runs the function and writes down its records and the outcomes of its branches; false if it ran for too long.
    fn execute(
        pieces: &[TablePiece],
        chance: &mut Chance,
        depth: usize,
        records: &mut Vec<u8>,
        outcomes: &mut Vec<(u32, bool)>,
    ) -> bool {
        let mut at = 0;
        for _ in 0..1000 {
            let piece = &pieces[at as usize];
            if let Some(segment) = piece.segment {
                records.extend(((FIRST_ID + segment) << 8).to_le_bytes());
            }
            if records.len() + outcomes.len() > 20_000 || depth > 50 {
                return false;
            }
            let choice = match piece.end {
                PieceEnd::Returns => return true,
                PieceEnd::Calls => {
                    if !execute(pieces, chance, depth + 1, records, outcomes) {
                        return false;
                    }
                    0
                }
                PieceEnd::Branches => {
                    let choice = chance.below(2);
                    outcomes.push((at, choice == 0));
                    choice
                }
                _ => chance.below(piece.successors.len()),
            };
            at = piece.successors[choice];
        }
        false
    }

    fn replayed_outcomes(trace: &Trace) -> (Vec<(u32, bool)>, Unresolved) {
        let flow = RecordedFlow::new(trace.program());
        let mut branches = flow.branches(trace, &trace.streams()[0], &|_, _| {});
        let mut outcomes = Vec::new();
        let Ok(()) = branches.for_each(&mut |event| {
            if event.kind.is_conditional() {
                outcomes.push((flow.branch(event.address).unwrap().1, event.taken));
            }
        });
        (outcomes, branches.unresolved())
    }

    fn is_part_of(part: &[(u32, bool)], whole: &[(u32, bool)]) -> bool {
        let mut rest = whole.iter();
        part.iter().all(|one| rest.any(|other| other == one))
    }

    #[test]
    fn nothing_is_told_that_did_not_happen() {
        let (mut complete, mut partial) = (0, 0);
        for seed in 0..3000 {
            let mut chance = Chance(seed);
            let pieces = random_function(&mut chance);
            let (mut records, mut outcomes) = (Vec::new(), Vec::new());
            if !execute(&pieces, &mut chance, 0, &mut records, &mut outcomes) {
                continue;
            }
            let mut file = FileBytes::new(Codec::None);
            file.module(0, FIRST_ID, &table(&pieces)).records(0, 0, &records);
            let trace = file.open();
            assert!(trace.damage().is_empty(), "{:?}", trace.damage());
            let (told, unresolved) = replayed_outcomes(&trace);
            assert!(is_part_of(&told, &outcomes), "seed {seed}: {pieces:?}");
            match unresolved.unrecorded {
                0 => {
                    assert_eq!(told, outcomes, "seed {seed}");
                    complete += 1;
                }
                _ => partial += 1,
            }
        }
        assert!(complete > 500 && partial > 100, "{complete} {partial}");
    }
}
