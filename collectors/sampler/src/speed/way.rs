//! The way of a window, by which its loop is known again.

use crate::code::Step;
use crate::window::{Observer, Value};

/// Keeps what is executed: addresses, and the general registers that are written, a bit for each.
#[derive(Debug, Default)]
pub struct Way(Vec<(u64, u16)>);

impl Way {
    /// Addresses up to the first instruction that writes the register.
    pub fn until_written(&self, register: usize) -> impl Iterator<Item = u64> + '_ {
        let writes = move |(_, written): &(u64, u16)| written >> register & 1 != 0;
        let end = self
            .0
            .iter()
            .position(writes)
            .map_or(self.0.len(), |index| index + 1);
        self.0[..end].iter().map(|(address, _)| *address)
    }
}

impl Observer for Way {
    fn executed(&mut self, step: &Step, _registers: &[Value; 17], _is_way_sure: bool) -> bool {
        self.0.push((step.address(), step.written));
        true
    }
}
