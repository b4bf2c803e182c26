//! Calls of functions that no module counts. Some calls of each function are timed.

use crate::{Module, Node, StringId};

/// A function that a module doesn't define, and the counters of its calls out of one of the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callee {
    /// Linkage name.
    pub name: StringId,
    /// The first of its [`CalleeCounters::COUNT`] counters among the module's.
    pub first_counter: u32,
}

/// What the counters of a callee say. Two more counters hold how many calls may pass, and how far apart timed calls
/// are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalleeCounters {
    /// Calls that were timed.
    pub timed_calls: u64,
    /// Time of all calls: each timed one represents those that passed before it.
    pub time_ns: u64,
}

impl CalleeCounters {
    /// Number of counters of a callee.
    pub const COUNT: u32 = 4;
}

impl Module {
    /// The callees with calls that were timed in a node.
    pub fn timed_callees<'n>(
        &'n self,
        node: &'n Node,
    ) -> impl Iterator<Item = (StringId, CalleeCounters)> + 'n {
        let counters = self.counters_of(&node.counters);
        let of = move |counter: u32| counters.get(counter as usize).copied().unwrap_or(0);
        let callees = self.callees.iter().map(move |callee| {
            let counters = CalleeCounters {
                timed_calls: of(callee.first_counter + 2),
                time_ns: node.clock.duration_ns(of(callee.first_counter + 3)),
            };
            (callee.name, counters)
        });
        callees.filter(|(_, counters)| counters.timed_calls > 0)
    }
}
