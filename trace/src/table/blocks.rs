//! What a module that counts says of its code: how often each stretch of it was executed, as sums of counters.

use crate::StepKind;

/// The blocks of a module, and the counters on which they rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBlocks {
    /// Counters of the module.
    pub counter_count: u32,
    /// Variables after the counters. Each is a sum of counters and earlier variables.
    pub derived: Vec<Count>,
    pub blocks: Vec<TableBlock>,
    pub callees: Vec<TableCallee>,
    pub steps: Vec<TableStep>,
}

/// How often code that counts is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableStep {
    pub kind: StepKind,
    pub times: Count,
}

/// A function that the module doesn't define; some of its calls are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCallee {
    /// Linkage name.
    pub name: u32,
    /// The first of its four counters among the module's; see [`crate::CalleeCounters`].
    pub first_counter: u32,
}

/// A stretch of code that is executed as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBlock {
    pub function: u32,
    /// Location of its first instruction that has one.
    pub location: u32,
    pub executions: Count,
    pub mix: InstructionMix,
    pub accesses: Vec<TableAccess>,
    /// Linkage names of the functions that it calls and that the module doesn't define; string 0: an indirect call.
    pub calls: Vec<u32>,
}

/// Instructions of each kind in one execution of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionMix {
    pub loads: u64,
    pub stores: u64,
    pub atomics: u64,
    pub integer: u64,
    pub floating_point: u64,
    pub vector: u64,
    pub branches: u64,
    pub calls: u64,
}

/// What a block accesses at a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAccess {
    pub site: u32,
    pub amount: Amount,
}

/// How much is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Each execution accesses the site's size once.
    PerExecution,
    /// The totals, since the amount depends on the execution.
    Counted { accesses: Count, bytes: Count },
}

/// A sum of variables: a module's counters, and then the variables derived from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub terms: Box<[Term]>,
}

/// A variable of the module, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub variable: u32,
    pub factor: i64,
}

/// What the variables of a module are.
#[derive(Clone, Debug, Default)]
pub struct Variables<'n> {
    counters: &'n [u64],
    counter_count: u32,
    derived: Vec<u64>,
}

impl<'n> Variables<'n> {
    /// Derives the variables from the module's counters. Counters after the given ones are 0.
    pub fn new(counters: &'n [u64], counter_count: u32, derived: &[Count]) -> Self {
        let mut variables = Variables {
            counters,
            counter_count,
            derived: Vec::with_capacity(derived.len()),
        };
        for sum in derived {
            variables.derived.push(sum.value(&variables));
        }
        variables
    }

    fn get(&self, variable: u32) -> u64 {
        let (values, index) = match variable.checked_sub(self.counter_count) {
            None => (self.counters, variable),
            Some(derived) => (&self.derived[..], derived),
        };
        values.get(index as usize).copied().unwrap_or(0)
    }
}

impl InstructionMix {
    /// The numbers in the order of the table.
    pub fn to_array(self) -> [u64; 8] {
        [
            self.loads,
            self.stores,
            self.atomics,
            self.integer,
            self.floating_point,
            self.vector,
            self.branches,
            self.calls,
        ]
    }

    pub(crate) fn from_array(counts: [u64; 8]) -> Self {
        let [loads, stores, atomics, integer, floating_point, vector, branches, calls] = counts;
        InstructionMix {
            loads,
            stores,
            atomics,
            integer,
            floating_point,
            vector,
            branches,
            calls,
        }
    }
}

impl Count {
    /// One variable as it is.
    pub fn of(variable: u32) -> Self {
        Count::sum(&[(variable, 1)])
    }

    /// Variables and their factors.
    pub fn sum(terms: &[(u32, i64)]) -> Self {
        let term = |&(variable, factor)| Term { variable, factor };
        Count {
            terms: terms.iter().map(term).collect(),
        }
    }

    /// Its value modulo 2^64, given the module's variables; those that are missing are 0.
    pub fn value(&self, variables: &Variables) -> u64 {
        self.terms.iter().fold(0, |sum: u64, term| {
            sum.wrapping_add(variables.get(term.variable).wrapping_mul(term.factor as u64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_modulo_2_to_the_64() {
        let count = Count::sum(&[(0, 1), (2, -2), (9, 5)]);
        let value = |count: &Count, counters: &[u64]| count.value(&Variables::new(counters, 10, &[]));
        assert_eq!(value(&count, &[10, 0, 3]), 4);
        assert_eq!(value(&count, &[5, 0, 3]), u64::MAX);
        assert_eq!(value(&Count::default(), &[1]), 0);
        assert_eq!(value(&Count::of(1), &[1]), 0);
    }

    #[test]
    fn derived_variables_build_on_earlier_ones() {
        let derived = [Count::sum(&[(0, 1), (1, 1)]), Count::sum(&[(2, 2), (0, -1)])];
        let variables = Variables::new(&[3], 2, &derived);
        let values: Vec<u64> = (0..5).map(|variable| variables.get(variable)).collect();
        assert_eq!(values, [3, 0, 3, 3, 0]);
    }
}
