//! The way of a window, by which its loop is known again.

use std::rc::Rc;

use crate::code::{Function, Step};
use crate::window::{Observer, Value};

/// An instruction that was executed.
#[derive(Clone, Copy, Debug)]
struct Executed {
    address: u64,
    /// The general registers that it writes, a bit for each, and what it writes to the first one, if that is known.
    written: u16,
    value: Option<u64>,
}

/// Keeps what is executed.
#[derive(Debug, Default)]
pub struct Way {
    executed: Vec<Executed>,
    /// Whether it ends where it isn't sure any more.
    is_to_be_sure: bool,
}

impl Way {
    /// One that ends where it rests on memory that may have changed.
    pub fn to_be_sure() -> Self {
        Way {
            is_to_be_sure: true,
            ..Way::default()
        }
    }

    /// The functions through which it leads, in its order.
    pub fn functions(&self, mut function_at: impl FnMut(u64) -> Option<Rc<Function>>) -> Vec<Rc<Function>> {
        let mut functions: Vec<Rc<Function>> = Vec::new();
        let mut here: Option<Rc<Function>> = None;
        for Executed { address, .. } in self.executed.iter().copied() {
            if here
                .as_ref()
                .is_some_and(|function| function.index_at(address).is_some())
            {
                continue;
            }
            here = function_at(address);
            let is_known =
                |function: &Rc<Function>| functions.iter().any(|known| Rc::ptr_eq(known, function));
            functions.extend(here.clone().filter(|function| !is_known(function)));
        }
        functions
    }

    pub fn instructions(&self) -> u64 {
        self.executed.len() as u64
    }

    /// How often it leads over an instruction.
    pub fn times(&self, instruction: u64) -> u64 {
        self.passes(instruction).count() as u64
    }

    fn passes(&self, instruction: u64) -> impl Iterator<Item = &Executed> {
        self.executed
            .iter()
            .filter(move |executed| executed.address == instruction)
    }

    /// Whether a register that the instruction writes is always changed by so much, up or down.
    pub fn changes_by(&self, instruction: u64, step: u64) -> bool {
        let values: Vec<u64> = self
            .passes(instruction)
            .filter_map(|executed| executed.value)
            .collect();
        let mut changes = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
        changes.all(|change| change.unsigned_abs() == step)
    }

    /// Addresses in a function up to its first instruction that writes the register: others that it calls restore what
    /// they write.
    pub fn until_written<'w>(
        &'w self,
        register: usize,
        function: &'w Function,
    ) -> impl Iterator<Item = u64> + 'w {
        let within = self
            .executed
            .iter()
            .filter(|executed| function.index_at(executed.address).is_some());
        let mut is_written = false;
        let writes = move |executed: &Executed| executed.written >> register & 1 != 0;
        let before = within.take_while(move |executed| !std::mem::replace(&mut is_written, writes(executed)));
        before.map(|executed| executed.address)
    }
}

impl Observer for Way {
    fn executed(&mut self, step: &Step, registers: &[Value; 17], is_way_sure: bool) -> bool {
        let value = registers[step.written.trailing_zeros() as usize];
        self.executed.push(Executed {
            address: step.address(),
            written: step.written,
            value: value.is_known.then_some(value.bits),
        });
        is_way_sure || !self.is_to_be_sure
    }
}
