//! A function's instructions, from its begin on.

use std::collections::HashMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory};

use super::step::Step;

/// Longer stretches without a symbol are no function.
pub const LONGEST: u64 = 1 << 20;

/// A loop of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Address of its first instruction.
    pub begin: u64,
    /// General registers that it writes, or functions that it calls: a bit for each.
    pub written: u16,
}

pub struct Function {
    steps: Vec<Step>,
    /// How many jumps within the function lead to an address.
    jumps: HashMap<u64, Jumps>,
    /// Where jumps lead back: the first and the last instruction of what they repeat.
    loops: Vec<(usize, usize)>,
}

/// The jumps to an instruction.
#[derive(Clone, Copy, Default)]
struct Jumps {
    count: u32,
    /// One of them, as an index.
    from: usize,
}

/// What was executed before an instruction, as far as the code alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessor {
    /// The instruction of that index.
    Step(usize),
    /// There are several ways there, or none that is seen.
    Unknown,
}

impl Function {
    /// Decodes code that stands at an address of the program.
    pub fn decode(code: &[u8], address: u64, factory: &mut InstructionInfoFactory) -> Self {
        let mut steps = Vec::new();
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        while decoder.can_decode() {
            steps.push(Step::new(decoder.decode(), factory));
        }
        Function::of(steps)
    }

    /// The same for code that begins with an instruction, up to the first bytes that are no instruction.
    pub fn decode_from(code: &[u8], address: u64, factory: &mut InstructionInfoFactory) -> Self {
        let mut steps = Vec::new();
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                break;
            }
            steps.push(Step::new(instruction, factory));
        }
        Function::of(steps)
    }

    fn of(steps: Vec<Step>) -> Self {
        let mut jumps: HashMap<u64, Jumps> = HashMap::new();
        for (from, step) in steps.iter().enumerate() {
            let control = step.instruction.flow_control();
            if matches!(
                control,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            ) {
                let target = jumps.entry(step.instruction.near_branch_target()).or_default();
                target.count += 1;
                target.from = from;
            }
        }
        let loops = loops(&steps);
        Function { steps, jumps, loops }
    }

    /// The innermost loop that an instruction is in, by its index, as far as jumps within the function tell.
    pub fn loop_around(&self, index: usize) -> Option<Loop> {
        let around = self
            .loops
            .iter()
            .filter(|(first, last)| (*first..=*last).contains(&index));
        let (first, last) = around.min_by_key(|(first, last)| last - first)?;
        let steps = &self.steps[*first..=*last];
        Some(Loop {
            begin: steps[0].address(),
            written: steps.iter().fold(0, |written, step| written | step.may_write()),
        })
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Index of the instruction that begins at the address.
    pub fn index_at(&self, address: u64) -> Option<usize> {
        self.steps
            .binary_search_by_key(&address, |step| step.address())
            .ok()
    }

    /// The instruction that was executed before that one. A comparison that is joined with a jump counts instead of the
    /// jump.
    pub fn before(&self, index: usize) -> Predecessor {
        let falls_through = index.checked_sub(1).filter(|&before| self.goes_on(before));
        let jumps = self.jumps.get(&self.steps[index].address()).copied();
        let before = match (falls_through, jumps) {
            (Some(before), None) => before,
            (None, Some(Jumps { count: 1, from })) => from,
            _ => return Predecessor::Unknown,
        };
        Predecessor::Step(self.joined(before))
    }

    /// Whether the instruction may be followed by the one after it, and was executed just before that.
    fn goes_on(&self, index: usize) -> bool {
        let control = self.steps[index].instruction.flow_control();
        matches!(control, FlowControl::Next | FlowControl::ConditionalBranch)
    }

    fn joined(&self, index: usize) -> usize {
        let is_jump = self.steps[index].instruction.flow_control() == FlowControl::ConditionalBranch;
        let is_entered = self.jumps.contains_key(&self.steps[index].address());
        match index.checked_sub(1) {
            Some(comparison) if is_jump && !is_entered && self.steps[comparison].joins_jump() => comparison,
            _ => index,
        }
    }

    /// The first of the instructions that are executed one after the other up to that one: no jump leads in between.
    pub fn block_begin(&self, index: usize) -> usize {
        let mut begin = index;
        while begin > 0 && self.goes_on(begin - 1) && !self.jumps.contains_key(&self.steps[begin].address()) {
            begin -= 1;
        }
        begin
    }

    /// The basic blocks as ranges of indices, as far as jumps within the function tell.
    pub fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let mut blocks = Vec::new();
        let mut begin = 0;
        for index in 0..self.steps.len() {
            let ends = self.steps[index].instruction.flow_control() != FlowControl::Next;
            let next = self.steps.get(index + 1);
            let is_entered = next.is_none_or(|next| self.jumps.contains_key(&next.address()));
            if ends || is_entered {
                blocks.push(begin..index + 1);
                begin = index + 1;
            }
        }
        blocks
    }
}

fn loops(steps: &[Step]) -> Vec<(usize, usize)> {
    let target = |step: &Step| match step.instruction.flow_control() {
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
            Some(step.instruction.near_branch_target())
        }
        _ => None,
    };
    let back = |(last, step): (usize, &Step)| {
        let target = target(step).filter(|target| *target <= step.address())?;
        let first = steps.binary_search_by_key(&target, Step::address).ok()?;
        Some((first, last))
    };
    steps.iter().enumerate().filter_map(back).collect()
}
