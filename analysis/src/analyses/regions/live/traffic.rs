//! Bytes by counters, in one sum: what a module's blocks and derived variables say, multiplied out.

use std::collections::HashMap;

use trackway_trace::table::{Amount, Count};
use trackway_trace::{Module, ModuleId, Program, Trace};

/// Bytes read and written. What does both counts as both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// All counters of an image that matter: their place among its counters, and the bytes for which a count of 1 stands.
#[derive(Debug, Default)]
pub struct Weights {
    terms: Vec<(usize, Traffic)>,
}

/// The weights of each process's image, made when they are first asked for. To be forgotten when modules come.
#[derive(Debug, Default)]
pub struct WeightsOfImages {
    known: HashMap<(u32, u32), Weights>,
    modules: usize,
}

impl WeightsOfImages {
    /// None if no module counts in that image, as far as is known.
    pub fn of(&mut self, trace: &Trace, process: u32, image: u32) -> Option<&Weights> {
        let program = trace.program();
        if self.modules != program.modules.len() {
            self.modules = program.modules.len();
            self.known.clear();
        }
        let weights = self.known.entry((process, image)).or_insert_with(|| {
            let modules = trace.counting_modules(process, image);
            Weights::new(program, &modules)
        });
        (!weights.terms.is_empty()).then_some(weights)
    }
}

impl Weights {
    fn new(program: &Program, modules: &[ModuleId]) -> Self {
        let of_module = |id: &ModuleId| {
            let module = program.module(*id);
            let first = module.counter_range().map_or(0, |range| range.start as usize);
            let weights = weights_of(program, module).into_iter().enumerate();
            weights.map(move |(index, weight)| (first + index, weight))
        };
        let mut terms: Vec<(usize, Traffic)> = modules.iter().flat_map(of_module).collect();
        terms.retain(|(_, weight)| *weight != Traffic::default());
        terms.sort_unstable_by_key(|(index, _)| *index);
        Weights { terms }
    }

    /// What the counters of a node stand for. A sum below 0, as counters that are read while they change may have, is 0.
    pub fn apply(&self, counters: &[u64]) -> Traffic {
        let known = self.terms.partition_point(|(index, _)| *index < counters.len());
        let mut sum = Traffic::default();
        for (index, weight) in &self.terms[..known] {
            sum.add(*weight, counters[*index]);
        }
        let at_least_0 = |bytes: u64| if bytes > i64::MAX as u64 { 0 } else { bytes };
        Traffic {
            bytes_read: at_least_0(sum.bytes_read),
            bytes_written: at_least_0(sum.bytes_written),
        }
    }
}

impl Traffic {
    /// Modulo 2^64, as sums of counters are.
    fn add(&mut self, each: Traffic, times: u64) {
        self.bytes_read = self.bytes_read.wrapping_add(each.bytes_read.wrapping_mul(times));
        self.bytes_written = self
            .bytes_written
            .wrapping_add(each.bytes_written.wrapping_mul(times));
    }
}

/// The weights of the module's counters.
fn weights_of(program: &Program, module: &Module) -> Vec<Traffic> {
    let counters = module.counter_count.unwrap_or(0) as usize;
    let mut weights = vec![Traffic::default(); counters + module.derived.len()];
    for block in &program.blocks[module.blocks.start as usize..module.blocks.end as usize] {
        for access in &block.accesses {
            let site = program.site(access.site);
            let (count, each) = match &access.amount {
                Amount::PerExecution => (&block.executions, u64::from(site.size)),
                Amount::Counted { bytes, .. } => (bytes, 1),
            };
            let only_if = |condition| if condition { each } else { 0 };
            let each = Traffic {
                bytes_read: only_if(site.kind.reads()),
                bytes_written: only_if(site.kind.writes()),
            };
            distribute(&mut weights, count, each);
        }
    }
    // Each derived variable is made of counters and of variables before it.
    for index in (0..module.derived.len()).rev() {
        let weight = weights[counters + index];
        distribute(&mut weights, &module.derived[index], weight);
    }
    weights.truncate(counters);
    weights
}

fn distribute(weights: &mut [Traffic], count: &Count, each: Traffic) {
    for term in &count.terms {
        if let Some(weight) = weights.get_mut(term.variable as usize) {
            weight.add(each, term.factor as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(terms: &[(usize, u64, u64)]) -> Weights {
        let term = |&(index, bytes_read, bytes_written)| {
            let weight = Traffic {
                bytes_read,
                bytes_written,
            };
            (index, weight)
        };
        Weights {
            terms: terms.iter().map(term).collect(),
        }
    }

    #[test]
    fn counters_that_are_missing_are_0() {
        let weights = weights(&[(0, 8, 0), (2, 0, 4)]);
        let traffic = |counters: &[u64]| {
            let traffic = weights.apply(counters);
            (traffic.bytes_read, traffic.bytes_written)
        };
        assert_eq!(traffic(&[3, 100, 5]), (24, 20));
        assert_eq!(traffic(&[3]), (24, 0));
        assert_eq!(traffic(&[]), (0, 0));
    }

    #[test]
    fn sums_below_0_are_0() {
        let weights = weights(&[(0, 8, 1), (1, 8u64.wrapping_neg(), 0)]);
        let expected = Traffic {
            bytes_read: 0,
            bytes_written: 3,
        };
        assert_eq!(weights.apply(&[3, 4]), expected);
        assert_eq!(weights.apply(&[4, 3]).bytes_read, 8);
    }

    #[test]
    fn derived_variables_are_multiplied_out() {
        // Variables 0 and 1 count; 2 = 0 + 1; 3 = 2 × 2 - 0.
        let derived = [Count::sum(&[(0, 1), (1, 1)]), Count::sum(&[(2, 2), (0, -1)])];
        let mut weights = vec![Traffic::default(); 4];
        let each = Traffic {
            bytes_read: 8,
            bytes_written: 0,
        };
        distribute(&mut weights, &Count::of(3), each);
        for (index, sum) in derived.iter().enumerate().rev() {
            let weight = weights[2 + index];
            distribute(&mut weights, sum, weight);
        }
        assert_eq!((weights[0].bytes_read, weights[1].bytes_read), (8, 16));
    }
}
