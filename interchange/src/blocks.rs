//! Basic blocks from a thread's instructions and accesses.

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::machine::{Address, BlockDefinition, InstructionDefinition, Operand, OperandAccesses};
use trackway_trace::{AccessKind, InstructionKind};

/// Instructions of a block at most; longer stretches become several.
const MAX_INSTRUCTIONS: usize = 512;
/// Accesses of a block at most, but for those of its last instruction.
const MAX_ACCESSES: usize = 4096;

/// All that executions of a block have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    instructions: Vec<ShapeInstruction>,
    accesses: Vec<ShapeAccess>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ShapeInstruction {
    address: u64,
    length: u8,
    kind: InstructionKind,
    target: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ShapeAccess {
    instruction: u32,
    write: bool,
    size: u16,
    /// An earlier access of the same instruction that has the same address.
    same_as: Option<u32>,
}

/// One instruction as it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    pub address: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Address to which a direct branch or call goes; 0 if unknown.
    pub target: u64,
}

/// The block that a thread is in.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    shape: Shape,
    roots: Vec<u64>,
    /// Access of each root.
    access_of_root: Vec<u32>,
    /// End of the object to which the code belongs.
    limit: u64,
}

impl Assembler {
    /// Whether the instruction continues the block. If not, take the block first.
    pub fn continues(&self, next: &Executed) -> bool {
        match self.shape.instructions.last() {
            None => true,
            Some(last) => {
                !last.kind.ends_block()
                    && next.kind.is_fetched()
                    && last.address.wrapping_add(u64::from(last.length)) == next.address
                    && next.address < self.limit
                    && self.shape.instructions.len() < MAX_INSTRUCTIONS
                    && self.shape.accesses.len() < MAX_ACCESSES
            }
        }
    }

    /// Adds an instruction; `limit` is a lower bound for the end of the object of the block's first one.
    pub fn instruction(&mut self, next: &Executed, limit: impl FnOnce() -> u64) {
        if self.shape.instructions.is_empty() {
            self.limit = limit();
        }
        self.shape.instructions.push(ShapeInstruction {
            address: next.address,
            length: next.length,
            kind: next.kind,
            target: next.target,
        });
    }

    /// Adds an access of the latest instruction; false if there is none, or if it makes more than a block can hold.
    pub fn access(&mut self, write: bool, size: u16, address: u64) -> bool {
        let Some(instruction) = (self.shape.instructions.len() as u32).checked_sub(1) else {
            return false;
        };
        if self.shape.accesses.len() > 2 * MAX_ACCESSES {
            return false;
        }
        let same_as = self.root_at(instruction, address);
        if same_as.is_none() {
            self.access_of_root.push(self.shape.accesses.len() as u32);
            self.roots.push(address);
        }
        self.shape.accesses.push(ShapeAccess {
            instruction,
            write,
            size,
            same_as,
        });
        true
    }

    /// An instruction that changes memory in place reads and writes at one address.
    fn root_at(&self, instruction: u32, address: u64) -> Option<u32> {
        let last = *self.access_of_root.last()?;
        let same =
            self.shape.accesses[last as usize].instruction == instruction && *self.roots.last()? == address;
        same.then_some(last)
    }

    /// The block and its roots, if there is one.
    pub fn block(&self) -> Option<(&Shape, &[u64])> {
        (!self.shape.instructions.is_empty()).then_some((&self.shape, &self.roots))
    }

    /// Begins another block.
    pub fn clear(&mut self) {
        self.shape.instructions.clear();
        self.shape.accesses.clear();
        self.roots.clear();
        self.access_of_root.clear();
    }
}

impl Shape {
    /// Address of the first instruction.
    pub fn address(&self) -> Option<u64> {
        Some(self.instructions.first()?.address)
    }

    /// The block's definition for a table of machine code. All instructions belong to one object, which lay at these
    /// addresses.
    pub fn definition(&self, object: u32, extent: &Range<u64>) -> BlockDefinition {
        // A target at the object's very beginning is left out, since 0 stands for no target.
        let target = |address: u64| match extent.contains(&address) {
            true => address - extent.start,
            false => 0,
        };
        let mut instructions: Vec<InstructionDefinition> = self
            .instructions
            .iter()
            .map(|instruction| InstructionDefinition {
                object,
                offset: instruction.address.wrapping_sub(extent.start),
                length: instruction.length,
                kind: instruction.kind,
                target: target(instruction.target),
                operands: Vec::new(),
            })
            .collect();
        let mut roots = 0;
        let mut root_of_access = Vec::with_capacity(self.accesses.len());
        for access in &self.accesses {
            let root = match access.same_as {
                None => {
                    roots += 1;
                    roots - 1
                }
                Some(earlier) => root_of_access[earlier as usize],
            };
            root_of_access.push(root);
            instructions[access.instruction as usize].operands.push(Operand {
                kind: if access.write {
                    AccessKind::Store
                } else {
                    AccessKind::Load
                },
                size: u32::from(access.size),
                accesses: OperandAccesses::One(Address::root(root, 0)),
            });
        }
        BlockDefinition {
            roots,
            instructions,
            repeats: None,
        }
    }
}

/// The blocks of a program, numbered in the order of their first executions.
#[derive(Debug, Default)]
pub struct Catalogue {
    numbers: HashMap<Shape, u32>,
}

impl Catalogue {
    /// Whether the block is new.
    pub fn insert(&mut self, shape: &Shape) -> bool {
        if self.numbers.contains_key(shape) {
            return false;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(shape.clone(), number);
        true
    }

    pub fn number(&self, shape: &Shape) -> Option<u32> {
        self.numbers.get(shape).copied()
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}
