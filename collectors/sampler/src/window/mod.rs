//! A window: what a thread's next instructions access, found by executing them on its registers.
//!
//! If the thread runs on meanwhile, its memory is read late, and what rests on it is marked. Stores of the window stay
//! within it. Computations in vector registers aren't followed: values that come from there are unknown. So is the way
//! after a jump that depends on one, unless other windows saw where it goes.

mod arithmetic;
mod directions;
mod exchanges;
mod execute;
mod live_code;
mod machine;
mod memory;
mod products;
mod transfer;
mod vector_copies;
mod vectors;

use std::rc::Rc;

use trackway_trace::{WindowAccess, WindowEnd};

pub use directions::Directions;
pub use live_code::LiveCode;
pub use memory::{Memory, MemorySource, ProcessMemory, StackMemory, Value};

use crate::code::{Function, Step};
use crate::registers::Registers;
use machine::Machine;

/// What the instructions from a sample on do.
#[derive(Debug, Default)]
pub struct Window {
    /// Instructions that were executed.
    pub instructions: u32,
    pub end: WindowEnd,
    pub accesses: Vec<WindowAccess>,
    /// Whether the way to the end rests neither on memory that was read late nor on a jump chosen by chance.
    pub is_way_sure: bool,
    /// The time that the window represents: that of its loop's samples since the loop's last window, ns. 0: the same as
    /// all others.
    pub stands_for_ns: u64,
    /// The thread's speed there: instructions in a millisecond of its CPU time; 0 if unknown.
    pub speed: u32,
}

/// Sees what is executed.
pub trait Observer {
    /// Called after each executed instruction, with the general registers after it. It is also told whether the way
    /// there rests neither on memory that was read late nor on a jump chosen by chance. False: no more is wanted.
    fn executed(&mut self, step: &Step, registers: &[Value; 17], is_way_sure: bool) -> bool;
}

/// Observes nothing.
#[cfg(test)]
pub struct Unobserved;

#[cfg(test)]
impl Observer for Unobserved {
    fn executed(&mut self, _step: &Step, _registers: &[Value; 17], _is_way_sure: bool) -> bool {
        true
    }
}

/// Where the execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Following,
    At(u64),
    End(WindowEnd),
}

/// Executes up to `limit` instructions from the registers' instruction pointer on. `function_at` gives the function
/// that holds an address, if its code can be read. `directions` decides jumps whose outcome isn't known. The window is
/// full once `observer` wants no more.
pub fn look_ahead<S: MemorySource>(
    registers: &Registers,
    limit: u32,
    memory: &mut Memory<S>,
    directions: &mut Directions,
    observer: &mut impl Observer,
    mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
) -> Window {
    let mut machine = Machine::new(registers, memory, directions);
    let mut instructions = 0;
    let mut place =
        function_at(registers.instruction).and_then(|function| at(function, registers.instruction));
    let end = loop {
        let Some((function, index)) = &mut place else {
            break WindowEnd::Unreadable;
        };
        if instructions == limit {
            break WindowEnd::Full;
        }
        let Some(step) = function.steps().get(*index) else {
            break WindowEnd::Unreadable;
        };
        let following = step.next();
        let next = machine.execute(step);
        let goes_on = observer.executed(step, &machine.registers, !machine.late_path);
        match next {
            Next::Following => {
                *index += 1;
                if *index == function.steps().len() {
                    place = function_at(following).and_then(|function| at(function, following));
                }
            }
            Next::At(address) => place = go_to(function, address, &mut function_at),
            Next::End(end) => break end,
        }
        instructions += 1;
        if !goes_on {
            break WindowEnd::Full;
        }
    };
    Window {
        instructions,
        end,
        is_way_sure: !machine.late_path,
        accesses: machine.accesses,
        stands_for_ns: 0,
        speed: 0,
    }
}

fn go_to(
    function: &Rc<Function>,
    address: u64,
    function_at: &mut impl FnMut(u64) -> Option<Rc<Function>>,
) -> Option<(Rc<Function>, usize)> {
    match function.index_at(address) {
        Some(index) => Some((Rc::clone(function), index)),
        None => at(function_at(address)?, address),
    }
}

fn at(function: Rc<Function>, address: u64) -> Option<(Rc<Function>, usize)> {
    let index = function.index_at(address)?;
    Some((function, index))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod stepping;
#[cfg(test)]
mod tests;
