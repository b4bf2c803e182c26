//! What a module that counts says of its code: how often each stretch of it was executed, as sums of counters.

/// The blocks of a module, and the counters on which they rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBlocks {
    /// Counters of the module.
    pub counter_count: u32,
    pub blocks: Vec<TableBlock>,
}

/// A stretch of code that is executed as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBlock {
    pub function: u32,
    /// Of its first instruction that has one.
    pub location: u32,
    pub executions: Count,
    pub mix: InstructionMix,
    pub accesses: Vec<TableAccess>,
    /// Linkage names of the functions that it calls and that the module doesn't define; string 0: an indirect call.
    pub calls: Vec<u32>,
}

/// What each execution of a block consists of, instructions.
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
    /// By each execution once, as much as the site's size.
    PerExecution,
    /// So much in all, since it depends on the execution.
    Counted { accesses: Count, bytes: Count },
}

/// A sum of counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub terms: Box<[Term]>,
}

/// A counter of the module, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub counter: u32,
    pub factor: i64,
}

impl InstructionMix {
    /// In the order of the table.
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
    /// One counter as it is.
    pub fn of(counter: u32) -> Self {
        Count::sum(&[(counter, 1)])
    }

    /// Counters and their factors.
    pub fn sum(terms: &[(u32, i64)]) -> Self {
        let term = |&(counter, factor)| Term { counter, factor };
        Count {
            terms: terms.iter().map(term).collect(),
        }
    }

    /// Its value modulo 2^64, given the module's counters; those that are missing are 0.
    pub fn value(&self, counters: &[u64]) -> u64 {
        self.terms.iter().fold(0, |sum: u64, term| {
            let counter = counters.get(term.counter as usize).copied().unwrap_or(0);
            sum.wrapping_add(counter.wrapping_mul(term.factor as u64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_modulo_2_to_the_64() {
        let count = Count::sum(&[(0, 1), (2, -2), (9, 5)]);
        assert_eq!(count.value(&[10, 0, 3]), 4);
        assert_eq!(count.value(&[5, 0, 3]), u64::MAX);
        assert_eq!(Count::default().value(&[1]), 0);
        assert_eq!(Count::of(1).value(&[1]), 0);
    }
}
