//! Follows pointers through the executed blocks of a function.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};

use crate::frames::CallFrames;
use crate::instructions::{Interpreter, Operands};
use crate::referents::Referent;
use crate::scopes::Function;
use crate::state::{Here, Pointers, State};
use crate::statics::Statics;
use crate::types::Types;

/// What a block is entered with settles soon; this bounds the time where it doesn't.
const MOST_VISITS: u32 = 4;

/// The bytes of an object's code.
pub struct Code<'d> {
    pub segments: Vec<(u64, &'d [u8])>,
    /// 0 if it can be loaded anywhere.
    pub lowest_address: u64,
}

impl Code<'_> {
    fn decode(&self, address: u64) -> Option<Instruction> {
        let bytes = self.segments.iter().find_map(|(first, bytes)| {
            let inside = usize::try_from(address.checked_sub(*first)?).ok()?;
            bytes.get(inside..).filter(|bytes| !bytes.is_empty())
        })?;
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }
}

pub struct Follower<'a, 'd> {
    interpreter: Interpreter<'a, 'd>,
    code: Code<'d>,
    frames: CallFrames,
    pub found: HashMap<u64, Operands>,
}

struct Step<'f> {
    instruction: Instruction,
    here: Option<Here<'f>>,
}

type Steps<'f> = Vec<Step<'f>>;

impl<'a, 'd> Follower<'a, 'd> {
    pub fn new(
        types: &'a Types<'a, 'd>,
        statics: &'a Statics<'d>,
        code: Code<'d>,
        frames: CallFrames,
        functions: &[Function],
    ) -> Self {
        Follower {
            interpreter: Interpreter {
                types,
                statics,
                factory: InstructionInfoFactory::new(),
                results: results(types, functions),
                lowest_address: code.lowest_address,
            },
            code,
            frames,
            found: HashMap::new(),
        }
    }

    /// Names what the blocks access, whose instructions are at these addresses: those of one function, or of none that
    /// is known.
    pub fn follow(&mut self, function: Option<&Function>, blocks: &[Vec<u64>]) {
        let mut pointers = Pointers::new();
        let steps = |block: &Vec<u64>| self.steps(function, block, &mut pointers);
        let blocks: Vec<Steps> = blocks.iter().map(steps).collect();
        let entered = match function {
            Some(_) => self.enter_blocks(&blocks),
            None => HashMap::new(),
        };
        for (index, steps) in blocks.iter().enumerate() {
            let mut state = entered.get(&index).cloned().unwrap_or_default();
            for step in steps {
                let operands = self
                    .interpreter
                    .operands(&step.instruction, &state, step.here.as_ref());
                self.note(step.instruction.ip(), operands);
                if let Some(here) = &step.here {
                    self.interpreter.execute(&step.instruction, &mut state, here);
                }
            }
        }
    }

    /// Notes the operands of an instruction. Several blocks may share it; what any of them knows counts.
    fn note(&mut self, address: u64, operands: Operands) {
        if operands.is_unknown() {
            return;
        }
        let known = self.found.entry(address).or_default();
        for (mine, theirs) in [
            (&mut known.read, operands.read),
            (&mut known.written, operands.written),
        ] {
            if mine.variable.is_empty() && mine.value_type.is_empty() {
                *mine = theirs;
            }
        }
    }

    fn steps<'f>(&self, function: Option<&'f Function>, block: &[u64], known: &mut Pointers) -> Steps<'f> {
        let step = |address: &u64| {
            let instruction = self.code.decode(*address)?;
            let types = self.interpreter.types;
            let here =
                function.map(|function| Here::at(*address, function, self.frames.at(*address), known, types));
            Some(Step { instruction, here })
        };
        block.iter().map_while(step).collect()
    }

    /// What each block is entered with.
    fn enter_blocks(&mut self, blocks: &[Steps]) -> HashMap<usize, State> {
        let mut starts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, steps) in blocks.iter().enumerate() {
            if let Some(first) = steps.first() {
                starts.entry(first.instruction.ip()).or_default().push(index);
            }
        }
        let behind: Vec<Vec<usize>> = blocks
            .iter()
            .map(|steps| {
                let ways = steps
                    .last()
                    .map(|step| ways(&step.instruction))
                    .unwrap_or_default();
                ways.iter()
                    .filter_map(|way| starts.get(way))
                    .flatten()
                    .copied()
                    .collect()
            })
            .collect();
        let reached: BTreeSet<usize> = behind.iter().flatten().copied().collect();
        let mut entered: HashMap<usize, State> = HashMap::new();
        let mut visits = vec![0; blocks.len()];
        let first: BTreeSet<usize> = (0..blocks.len())
            .filter(|index| !reached.contains(index))
            .collect();
        // Blocks that only reach each other come last.
        for roots in [first, (0..blocks.len()).collect()] {
            let mut waiting: BTreeSet<usize> = roots
                .into_iter()
                .filter(|root| !entered.contains_key(root))
                .collect();
            while let Some(index) = waiting.pop_first() {
                visits[index] += 1;
                let mut state = entered.entry(index).or_default().clone();
                for step in &blocks[index] {
                    if let Some(here) = &step.here {
                        self.interpreter.execute(&step.instruction, &mut state, here);
                    }
                }
                for next in &behind[index] {
                    let changed = match entered.get_mut(next) {
                        Some(before) => before.merge(&state, self.interpreter.types),
                        None => entered.insert(*next, state.clone()).is_none(),
                    };
                    if changed && visits[*next] < MOST_VISITS {
                        waiting.insert(*next);
                    }
                }
            }
        }
        entered
    }
}

/// What the functions return, by where they begin.
fn results(types: &Types, functions: &[Function]) -> HashMap<u64, Referent> {
    let result = |function: &Function| {
        let (name, result) = function.result.as_ref()?;
        let begin = function.ranges.first()?.begin;
        Some((begin, Referent::returned(types, name, *result)?))
    };
    functions.iter().filter_map(result).collect()
}

/// Where the code may go on in the same function.
fn ways(last: &Instruction) -> Vec<u64> {
    match last.flow_control() {
        FlowControl::UnconditionalBranch => vec![last.near_branch_target()],
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
            vec![last.near_branch_target(), last.next_ip()]
        }
        FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Exception => Vec::new(),
        _ => vec![last.next_ip()],
    }
}
