//! What registers and stack slots hold where an instruction is executed, as far as it can be known.

use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;

use crate::fields::Spot;
use crate::places::{Origin, Piece, Place, Register, REGISTERS};
use crate::referents::Referent;
use crate::scopes::{Function, Live};
use crate::types::Types;

/// What a call leaves behind in these is the callee's: rax, rdx, rcx, rsi, rdi, r8 to r11.
const CLOBBERED: [Register; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];

#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// The address of the stack so far from the stack pointer before the call of the function.
    Stack(i64),
    To(Rc<Referent>),
    Null,
    /// An unknown number to which this was added, as to an index.
    Number(i64),
}

impl Held {
    pub fn is_address(&self) -> bool {
        matches!(self, Held::Stack(_) | Held::To(_))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    registers: [Option<Held>; REGISTERS],
    /// Pointers that were put aside, by their distance as in [`Held::Stack`].
    slots: BTreeMap<i64, Held>,
}

/// What debugging information says of an address of code.
pub struct Here<'f> {
    pub function: &'f Function,
    live: Vec<Live<'f>>,
    /// What the live pointers point to that registers hold, perhaps moved; of several in a register the last counts.
    pointers: Vec<(Register, Rc<Referent>)>,
    /// The stack pointer before the call is this register and a distance.
    pub frame: Option<(Register, i64)>,
}

/// What the pointer variables of a function point to, by the variable's address and its place.
pub type Pointers = HashMap<(usize, Piece), Option<Rc<Referent>>>;

impl<'f> Here<'f> {
    pub fn at(
        address: u64,
        function: &'f Function,
        frame: Option<(Register, i64)>,
        known: &mut Pointers,
        types: &Types,
    ) -> Self {
        let live = function.live(address);
        let mut pointers = Vec::new();
        for live in &live {
            let Place::Value(register, _) = live.1.place else {
                continue;
            };
            let key = (std::ptr::from_ref(live.0).addr(), live.1);
            let pointer = known
                .entry(key)
                .or_insert_with(|| pointed_to(live, types).map(Rc::new));
            pointers.extend(pointer.clone().map(|pointer| (register, pointer)));
        }
        Here {
            function,
            live,
            pointers,
            frame,
        }
    }

    fn pointer_in(&self, register: Register) -> Option<&Rc<Referent>> {
        let last = self.pointers.iter().rev().find(|(holder, _)| *holder == register);
        last.map(|(_, pointer)| pointer)
    }
}

impl State {
    pub fn set(&mut self, register: Register, held: Option<Held>) {
        self.registers[usize::from(register)] = held;
    }

    /// Registers that are variables here go on holding their values where the debugging information ends.
    pub fn take_variables(&mut self, here: &Here) {
        for (_, piece) in &here.live {
            let Place::Value(register, _) = piece.place else {
                continue;
            };
            if let Some(held) = self.register(register, here) {
                self.set(register, Some(held));
            }
        }
    }

    /// Without regard to variables.
    pub fn plain(&self, register: Register) -> Option<Held> {
        self.registers[usize::from(register)].clone()
    }

    pub fn call(&mut self) {
        for register in CLOBBERED {
            self.set(register, None);
        }
    }

    /// Sets so many bytes at a distance on the stack.
    pub fn store(&mut self, at: i64, size: i64, held: Option<Held>) {
        let overlapping: Vec<i64> = self
            .slots
            .range(at - 7..at + size)
            .map(|(slot, _)| *slot)
            .collect();
        for slot in overlapping {
            self.slots.remove(&slot);
        }
        if let Some(held) = held {
            self.slots.insert(at, held);
        }
    }

    pub fn slot(&self, at: i64) -> Option<Held> {
        self.slots.get(&at).cloned()
    }

    /// What a register holds: the variable that it is, or what the code before has put there.
    pub fn register(&self, register: Register, here: &Here) -> Option<Held> {
        if let Some((_, distance)) = here.frame.filter(|(base, _)| *base == register) {
            return Some(Held::Stack(-distance));
        }
        let followed = &self.registers[usize::from(register)];
        let Some(pointer) = here.pointer_in(register) else {
            return followed.clone();
        };
        match followed {
            Some(Held::To(followed)) if followed.stepped && !pointer.stepped => {
                let mut stepped = Referent::clone(pointer);
                stepped.stepped = true;
                Some(Held::To(stepped.into()))
            }
            _ => Some(Held::To(pointer.clone())),
        }
    }

    /// Merges the state of another way to this place; true if that changed anything.
    pub fn merge(&mut self, other: &State, types: &Types) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            changed |= merge_held(mine, theirs.as_ref(), types);
        }
        let slots: Vec<i64> = self.slots.keys().copied().collect();
        for slot in slots {
            let mut mine = self.slots.remove(&slot);
            changed |= merge_held(&mut mine, other.slots.get(&slot), types);
            if let Some(mine) = mine {
                self.slots.insert(slot, mine);
            }
        }
        changed
    }
}

fn merge_held(mine: &mut Option<Held>, theirs: Option<&Held>, types: &Types) -> bool {
    if mine.as_ref() == theirs {
        return false;
    }
    let merged = match (mine.as_ref(), theirs) {
        (Some(Held::Null), Some(other)) | (Some(other), Some(Held::Null)) => Some(other.clone()),
        (Some(Held::To(one)), Some(Held::To(other))) => Some(Held::To(one.merged(other, types).into())),
        _ => None,
    };
    let changed = merged != *mine;
    *mine = merged;
    changed
}

/// What the pointer variable points to whose value, perhaps moved, a register holds.
fn pointed_to((variable, piece): &Live, types: &Types) -> Option<Referent> {
    let Place::Value(_, distance) = piece.place else {
        return None;
    };
    let mut spot = Spot::whole(variable.type_id);
    spot.offset = piece.first as i64;
    let holder = Referent::variable(&variable.name, variable.kind, spot);
    let pointed_to = holder.loaded(types)?;
    Some(pointed_to.moved(types, distance.wrapping_neg()))
}

/// The variable at a distance on the stack.
pub fn variable_at(at: i64, state: &State, here: &Here, types: &Types) -> Option<Referent> {
    here.live.iter().rev().find_map(|(variable, piece)| {
        let Place::Memory(origin, distance) = piece.place else {
            return None;
        };
        let first = origin_of(origin, state, here)?.checked_add(distance)?;
        let inside = at.checked_sub(first)?.checked_add_unsigned(piece.first)?;
        let size = types.size(variable.type_id).max(1);
        if at < first || inside as u64 >= size {
            return None;
        }
        let mut spot = Spot::whole(variable.type_id);
        spot.offset = inside;
        Some(Referent::variable(&variable.name, variable.kind, spot))
    })
}

fn origin_of(origin: Origin, state: &State, here: &Here) -> Option<i64> {
    match origin {
        Origin::Call => Some(0),
        Origin::Frame => match here.function.frame? {
            Origin::Frame => None,
            origin => origin_of(origin, state, here),
        },
        Origin::Register(register) => match state.register(register, here)? {
            Held::Stack(distance) => Some(distance),
            _ => None,
        },
    }
}
