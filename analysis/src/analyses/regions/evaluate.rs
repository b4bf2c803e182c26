//! Turns the counters of a node into what was executed and accessed.

use std::collections::HashSet;

use trackway_trace::table::{Amount, Count, Variables};
use trackway_trace::{BlockAccess, CodeBlock, Module, ModuleId, Node, Program, StringId};

use super::accesses::Accesses;
use super::scale::Scale;
use super::tally::{Audit, BlockTally, CallTally, Code, Totals};

/// What the counters of a trace stand for.
pub struct Evaluator<'p> {
    program: &'p Program,
    /// Linkage names of the functions that count themselves.
    counted_functions: HashSet<StringId>,
}

/// Where the counts of a node go.
pub struct Sums<'s> {
    pub totals: &'s mut Totals,
    pub code: &'s mut Code,
    pub audit: &'s mut Audit,
}

impl<'p> Evaluator<'p> {
    pub fn new(program: &'p Program) -> Self {
        let counting = program
            .modules
            .iter()
            .filter(|module| module.counter_count.is_some());
        let functions = counting.flat_map(|module| {
            let functions = module.functions.start as usize..module.functions.end as usize;
            &program.functions[functions]
        });
        Evaluator {
            program,
            counted_functions: functions.map(|function| function.linkage_name).collect(),
        }
    }

    /// Adds what a node's counters stand for: nothing if none of its entries was counted.
    pub fn add(&self, node: &Node, modules: &[ModuleId], scale: Scale, sums: &mut Sums) {
        if node.counted_entries == 0 && !node.is_whole_program {
            return;
        }
        for module in modules.iter().map(|id| self.program.module(*id)) {
            let counters = module.counters_of(&node.counters);
            if counters.iter().any(|counter| *counter != 0) {
                let variables = module.variables_of(&node.counters);
                self.add_module(module, &variables, scale, sums);
                add_steps(module, &variables, sums);
                self.add_times_of_calls(module, node, scale, sums);
            }
        }
    }

    fn add_module(&self, module: &Module, variables: &Variables, scale: Scale, sums: &mut Sums) {
        let blocks = &self.program.blocks[module.blocks.start as usize..module.blocks.end as usize];
        for (id, block) in module.blocks.clone().zip(blocks) {
            self.add_block(id, block, variables, scale, sums);
        }
    }

    fn add_block(&self, id: u32, block: &CodeBlock, variables: &Variables, scale: Scale, sums: &mut Sums) {
        let counted = value(&block.executions, variables, sums.audit);
        let executions = scale.apply(counted);
        let mut accesses = Accesses::default();
        for access in &block.accesses {
            accesses += self.add_access(access, counted, variables, scale, sums);
        }
        if executions == 0 && accesses == Accesses::default() {
            return;
        }
        let instructions = sums.totals.instructions.iter_mut();
        for (sum, each) in instructions.zip(block.mix.to_array()) {
            *sum = sum.saturating_add(each.saturating_mul(executions));
        }
        let tally: &mut BlockTally = sums.code.blocks.entry(id).or_default();
        tally.executions = tally.executions.saturating_add(executions);
        tally.accesses += accesses;
        for name in block.calls.iter().filter(|name| self.is_external(**name)) {
            *sums.code.calls.entry(*name).or_default() += CallTally {
                calls: executions,
                ..CallTally::default()
            };
        }
    }

    fn is_external(&self, name: StringId) -> bool {
        !self.counted_functions.contains(&name)
    }

    fn add_times_of_calls(&self, module: &Module, node: &Node, scale: Scale, sums: &mut Sums) {
        for (name, counters) in module
            .timed_callees(node)
            .filter(|(name, _)| self.is_external(*name))
        {
            let time_ns = scale.apply(counters.time_ns);
            sums.totals.external_time_ns = sums.totals.external_time_ns.saturating_add(time_ns);
            *sums.code.calls.entry(name).or_default() += CallTally {
                calls: 0,
                timed_calls: counters.timed_calls,
                time_ns,
            };
        }
    }

    /// Returns the accesses of all entries.
    fn add_access(
        &self,
        access: &BlockAccess,
        executions: u64,
        variables: &Variables,
        scale: Scale,
        sums: &mut Sums,
    ) -> Accesses {
        let site = self.program.site(access.site);
        let (count, bytes) = match &access.amount {
            Amount::PerExecution => (executions, executions.saturating_mul(site.size.into())),
            Amount::Counted { accesses, bytes } => (
                value(accesses, variables, sums.audit),
                value(bytes, variables, sums.audit),
            ),
        };
        let counted = Accesses::of(site.kind, count, bytes);
        if counted == Accesses::default() {
            return counted;
        }
        let all = Accesses::of(site.kind, scale.apply(count), scale.apply(bytes));
        sums.totals.counted_accesses += counted;
        sums.totals.accesses += all;
        *sums.code.sites.entry(access.site).or_default() += all;
        all
    }
}

fn add_steps(module: &Module, variables: &Variables, sums: &mut Sums) {
    for step in module.steps.iter() {
        let times = value(&step.times, variables, sums.audit);
        let sum = &mut sums.totals.counted_steps[step.kind as usize];
        *sum = sum.saturating_add(times);
    }
}

/// Counters that were taken from a running thread may contradict each other.
fn value(count: &Count, variables: &Variables, audit: &mut Audit) -> u64 {
    let value = count.value(variables);
    if value > i64::MAX as u64 {
        audit.below_zero += 1;
        return 0;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_below_zero_are_nothing() {
        let mut audit = Audit::default();
        let variables = Variables::new(&[3, 5], 2, &[]);
        let difference = Count::sum(&[(0, 1), (1, -1)]);
        assert_eq!(value(&difference, &variables, &mut audit), 0);
        assert_eq!(value(&Count::of(1), &variables, &mut audit), 5);
        assert_eq!(audit.below_zero, 1);
    }
}
