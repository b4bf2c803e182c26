//! What instructions access and what they leave in registers.

use foldhash::HashMap;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind};
use std::rc::Rc;

use crate::building::Referred;
use crate::fields::{Content, Shape};
use crate::places::{Register, RAX, RSP};
use crate::referents::Referent;
use crate::state::{variable_at, Held, Here, State};
use crate::statics::Statics;
use crate::types::Types;

/// Where an operand is.
enum Target {
    Known(Rc<Referent>),
    /// A place on the stack where no variable is known.
    Slot(i64),
}

pub struct Interpreter<'a, 'd> {
    pub types: &'a Types<'a, 'd>,
    pub statics: &'a Statics<'d>,
    pub factory: InstructionInfoFactory,
    /// What functions return, by their addresses.
    pub results: HashMap<u64, Referent>,
    /// The object's lowest address; 0 if it can be loaded anywhere.
    pub lowest_address: u64,
}

/// What an instruction reads, and what it only writes. Empty: nothing, or unknown.
#[derive(Clone, Default, Debug)]
pub struct Operands {
    pub read: Referred,
    pub written: Referred,
}

impl Operands {
    pub fn is_unknown(&self) -> bool {
        self.read == Referred::default() && self.written == Referred::default()
    }

    fn add(&mut self, access: OpAccess, name: &Referred) {
        let (reads, writes) = match access {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write | OpAccess::CondWrite => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            OpAccess::None | OpAccess::NoMemAccess => (false, false),
        };
        for (part, touched) in [(&mut self.read, reads), (&mut self.written, writes)] {
            if touched {
                *part = match *part == Referred::default() || part == name {
                    true => name.clone(),
                    false => Referred::default(),
                };
            }
        }
    }
}

impl Interpreter<'_, '_> {
    pub fn operands(&mut self, code: &Instruction, state: &State, here: Option<&Here>) -> Operands {
        let mut operands = Operands::default();
        let info = self.factory.info(code);
        let accesses: Vec<OpAccess> = (0..code.op_count()).map(|index| info.op_access(index)).collect();
        for (index, access) in (0..).zip(accesses) {
            if is_memory(code.op_kind(index)) {
                let name = self.named(self.target(code, index, state, here), code);
                operands.add(access, &name);
            }
        }
        add_implied(code, &mut operands);
        operands
    }

    fn named(&self, target: Option<Target>, code: &Instruction) -> Referred {
        match target {
            None => Referred::default(),
            Some(Target::Known(referent)) => referent.name(self.types, shape(code)),
            Some(Target::Slot(_)) => Referent::compiler_made("temporary").name(self.types, shape(code)),
        }
    }

    fn target(&self, code: &Instruction, operand: u32, state: &State, here: Option<&Here>) -> Option<Target> {
        let held = |register: Option<Register>| match (register, here) {
            (Some(register), Some(here)) => state.register(register, here),
            _ => None,
        };
        if code.op_kind(operand) != OpKind::Memory {
            let base = held(implied_base(code.op_kind(operand)))?;
            return self.reached(base, 0, true, state, here);
        }
        let distance = code.memory_displacement64();
        if code.is_ip_rel_memory_operand() {
            return self.fixed(Some(distance), false);
        }
        let has_index = code.memory_index() != iced_x86::Register::None;
        let has_base = code.memory_base() != iced_x86::Register::None;
        match code.memory_segment() {
            iced_x86::Register::FS if !has_base && !has_index => {
                let found = self.statics.in_thread(self.types, distance as i64)?;
                return Some(Target::Known(found.into()));
            }
            iced_x86::Register::FS | iced_x86::Register::GS => return None,
            _ => {}
        }
        let (base, index) = (
            held(general(code.memory_base())),
            held(general(code.memory_index())),
        );
        let scale = i64::from(code.memory_index_scale());
        let bias = |held: &Option<Held>| match held {
            Some(Held::Number(known)) => *known,
            _ => 0,
        };
        if let Some(address) = base.clone().filter(Held::is_address) {
            let distance = (distance as i64).wrapping_add(bias(&index).wrapping_mul(scale));
            return self.reached(address, distance, has_index, state, here);
        }
        if let Some(address) = index.filter(|held| held.is_address() && scale == 1) {
            let distance = (distance as i64).wrapping_add(bias(&base));
            return self.reached(address, distance, has_base, state, here);
        }
        self.fixed(self.absolute(distance), has_base || has_index)
    }

    /// The number, if it can be an address: of objects that are loaded where their files say.
    fn absolute(&self, number: u64) -> Option<u64> {
        Some(number).filter(|number| self.lowest_address > 0 && *number >= self.lowest_address)
    }

    fn fixed(&self, address: Option<u64>, indexed: bool) -> Option<Target> {
        let found = self.statics.at(self.types, address?)?;
        Some(self.perhaps_indexed(found, indexed))
    }

    fn perhaps_indexed(&self, referent: Referent, indexed: bool) -> Target {
        Target::Known(match indexed {
            true => referent.indexed(self.types).into(),
            false => referent.into(),
        })
    }

    fn reached(
        &self,
        base: Held,
        distance: i64,
        indexed: bool,
        state: &State,
        here: Option<&Here>,
    ) -> Option<Target> {
        match base {
            Held::Null | Held::Number(_) => None,
            Held::To(referent) => Some(self.perhaps_indexed(referent.moved(self.types, distance), indexed)),
            Held::Stack(first) => {
                let at = first.wrapping_add(distance);
                match variable_at(at, state, here?, self.types) {
                    Some(variable) => Some(self.perhaps_indexed(variable, indexed)),
                    None if indexed => None,
                    None => Some(Target::Slot(at)),
                }
            }
        }
    }

    /// Executes the instruction: what it leaves in registers and slots.
    pub fn execute(&mut self, code: &Instruction, state: &mut State, here: &Here) {
        state.take_variables(here);
        let result = self.result(code, state, here);
        self.store(code, state, here);
        let info = self.factory.info(code);
        for used in info.used_registers() {
            let writes = matches!(
                used.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            );
            if let Some(register) = general(used.register().full_register()).filter(|_| writes) {
                state.set(register, None);
            }
        }
        if code.is_call_near() || code.is_call_near_indirect() {
            state.call();
            let result = self
                .results
                .get(&code.near_branch_target())
                .filter(|_| code.is_call_near());
            state.set(RAX, result.map(|result| Held::To(Rc::new(result.clone()))));
        }
        if let Some((register, held)) = result {
            state.set(register, held);
        }
    }

    /// What is stored is a pointer of the type that the variable has in which it is stored.
    fn store(&mut self, code: &Instruction, state: &mut State, here: &Here) {
        if code.op_count() < 2 || code.op_kind(0) != OpKind::Memory || code.mnemonic() == Mnemonic::Lea {
            return;
        }
        let is_move = code.mnemonic() == Mnemonic::Mov && code.op_kind(1) == OpKind::Register;
        let source = general(code.op1_register()).filter(|_| is_move && code.op1_register().is_gpr64());
        let held = source.and_then(|source| state.register(source, here));
        match (self.target(code, 0, state, Some(here)), source) {
            (Some(Target::Slot(at)), _) => state.store(at, code.memory_size().size() as i64, held),
            (Some(Target::Known(stored)), Some(source)) if held.is_none() => {
                let pointer = stored.loaded(self.types);
                state.set(source, pointer.map(|pointer| Held::To(pointer.into())));
            }
            _ => {}
        }
    }

    /// The register that gets a known value.
    fn result(&self, code: &Instruction, state: &State, here: &Here) -> Option<(Register, Option<Held>)> {
        if code.op_count() < 1 || code.op_kind(0) != OpKind::Register {
            return None;
        }
        let register = general(code.op0_register())?;
        let before = || state.register(register, here);
        let wide = code.op0_register().is_gpr64();
        let held = match code.mnemonic() {
            Mnemonic::Mov if wide => self.source(code, state, here),
            Mnemonic::Mov if code.op1_kind() == OpKind::Immediate32 => {
                self.address(code.immediate32().into())
            }
            Mnemonic::Xor | Mnemonic::Sub if zeroes(code) => Some(Held::Null),
            Mnemonic::Movsxd if wide && code.op1_kind() == OpKind::Register => self
                .source(code, state, here)
                .filter(|held| matches!(held, Held::Number(_))),
            Mnemonic::Lea if wide => self.loaded_address(code, state, here),
            Mnemonic::Cmova
            | Mnemonic::Cmovae
            | Mnemonic::Cmovb
            | Mnemonic::Cmovbe
            | Mnemonic::Cmove
            | Mnemonic::Cmovg
            | Mnemonic::Cmovge
            | Mnemonic::Cmovl
            | Mnemonic::Cmovle
            | Mnemonic::Cmovne
            | Mnemonic::Cmovns
            | Mnemonic::Cmovs => {
                let mut one = State::default();
                let mut other = State::default();
                one.set(RAX, before());
                other.set(RAX, self.source(code, state, here));
                one.merge(&other, self.types);
                one.plain(RAX)
            }
            Mnemonic::Add | Mnemonic::Sub if wide => self.sum(code, state, here),
            Mnemonic::Inc | Mnemonic::Dec if wide => {
                before().map(|held| self.moved(held, if code.mnemonic() == Mnemonic::Inc { 1 } else { -1 }))
            }
            _ => return None, // what it writes is forgotten
        };
        Some((register, held))
    }

    fn address(&self, number: u64) -> Option<Held> {
        let found = self.statics.at(self.types, self.absolute(number)?)?;
        let is_variable = !found.at.is_empty();
        is_variable.then(|| Held::To(found.into()))
    }

    /// What is copied to the first operand.
    fn source(&self, code: &Instruction, state: &State, here: &Here) -> Option<Held> {
        match code.op1_kind() {
            OpKind::Register => state.register(general(code.op1_register())?, here),
            OpKind::Memory => match self.target(code, 1, state, Some(here))? {
                Target::Known(referent) => referent.loaded(self.types).map(|to| Held::To(to.into())),
                Target::Slot(at) => state.slot(at),
            },
            OpKind::Immediate32to64 | OpKind::Immediate64 => match code.immediate(1) {
                0 => Some(Held::Null),
                number => self.address(number),
            },
            _ => None,
        }
    }

    fn loaded_address(&self, code: &Instruction, state: &State, here: &Here) -> Option<Held> {
        let base = general(code.memory_base()).filter(|_| code.memory_index() == iced_x86::Register::None);
        if let Some(base) = base {
            let before = state.register(base, here).unwrap_or(Held::Number(0));
            if matches!(before, Held::Number(_)) {
                return Some(self.moved(before, code.memory_displacement64() as i64));
            }
        }
        match self.target(code, 1, state, Some(here))? {
            Target::Known(referent) if !referent.at.is_empty() => Some(Held::To(referent)),
            Target::Known(_) => None,
            Target::Slot(at) => Some(Held::Stack(at)),
        }
    }

    fn sum(&self, code: &Instruction, state: &State, here: &Here) -> Option<Held> {
        let before = general(code.op0_register()).and_then(|register| state.register(register, here));
        let adds = code.mnemonic() == Mnemonic::Add;
        match code.op1_kind() {
            OpKind::Immediate8to64 | OpKind::Immediate32to64 => {
                let distance = code.immediate(1) as i64;
                let distance = if adds { distance } else { distance.wrapping_neg() };
                Some(self.moved(before.unwrap_or(Held::Number(0)), distance))
            }
            OpKind::Register | OpKind::Memory if before.as_ref().is_some_and(Held::is_address) => {
                self.moved_far(before?)
            }
            OpKind::Register if adds => self.moved_far(state.register(general(code.op1_register())?, here)?),
            OpKind::Memory if adds => self.moved_far(self.source(code, state, here)?),
            _ => None,
        }
    }

    fn moved(&self, held: Held, distance: i64) -> Held {
        match held {
            Held::Stack(at) => Held::Stack(at.wrapping_add(distance)),
            Held::To(referent) => Held::To(referent.moved(self.types, distance).into()),
            Held::Null => Held::Null,
            Held::Number(known) => Held::Number(known.wrapping_add(distance)),
        }
    }

    /// The content moved by an unknown number of elements.
    fn moved_far(&self, held: Held) -> Option<Held> {
        match held {
            Held::To(referent) => Some(Held::To(referent.indexed(self.types).into())),
            Held::Stack(_) | Held::Null | Held::Number(_) => None,
        }
    }
}

fn zeroes(code: &Instruction) -> bool {
    code.op1_kind() == OpKind::Register && code.op0_register() == code.op1_register()
}

fn is_memory(kind: OpKind) -> bool {
    kind == OpKind::Memory || implied_base(kind).is_some()
}

/// The register whose memory an instruction on strings accesses.
fn implied_base(kind: OpKind) -> Option<Register> {
    match kind {
        OpKind::MemorySegRSI => Some(4),
        OpKind::MemoryESRDI | OpKind::MemorySegRDI => Some(5),
        _ => None,
    }
}

/// What calls, returns, pushes and pops do beside their operands.
fn add_implied(code: &Instruction, operands: &mut Operands) {
    let (what, access) = match code.mnemonic() {
        Mnemonic::Call => ("return address", OpAccess::Write),
        Mnemonic::Ret => ("return address", OpAccess::Read),
        Mnemonic::Push => ("pushed value", OpAccess::Write),
        Mnemonic::Pop | Mnemonic::Leave => ("pushed value", OpAccess::Read),
        _ => return,
    };
    let referred = Referred {
        variable: what.into(),
        variable_kind: trackway_trace::VariableKind::CompilerMade,
        ..Referred::default()
    };
    operands.add(access, &referred);
}

/// The number of the whole of a general register in debugging information.
fn general(register: iced_x86::Register) -> Option<Register> {
    const NUMBERS: [Register; 8] = [0, 2, 1, 3, RSP, 6, 4, 5];
    if !register.is_gpr() {
        return None;
    }
    let number = register.full_register().number();
    NUMBERS.get(number).copied().or(Register::try_from(number).ok())
}

fn shape(code: &Instruction) -> Shape {
    let memory = code.memory_size();
    let size = memory.size() as u64;
    let element_is_float = matches!(
        memory,
        iced_x86::MemorySize::Float32 | iced_x86::MemorySize::Float64 | iced_x86::MemorySize::Float80
    );
    let content = if element_is_float {
        Content::Float
    } else if memory.is_packed() || size > 8 {
        Content::Vector
    } else {
        Content::Integer
    };
    Shape { size, content }
}
