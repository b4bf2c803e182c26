//! The blocks of a table that counts.

use super::parse::Parser;
use super::*;
use crate::counts::{CalleeCounters, StepKind};

type Result<T> = std::result::Result<T, TableError>;

/// The variables that a sum may name.
#[derive(Clone, Copy)]
struct Variables {
    counters: u32,
    derived: u32,
}

impl Parser<'_> {
    pub(super) fn blocks(&mut self) -> Result<TableBlocks> {
        if !self.table.segments.is_empty() {
            return self.cursor.error("a module that counts has segments");
        }
        let counter_count = self.cursor.number("number of counters")?;
        let mut variables = Variables {
            counters: counter_count,
            derived: 0,
        };
        let count = self.cursor.count(1, "derived variables")?;
        let mut derived = Vec::new();
        for _ in 0..count {
            derived.push(self.sum(variables)?);
            variables.derived += 1;
        }
        let count = self.cursor.count(13, "blocks")?;
        let blocks = (0..count).map(|_| self.code_block(variables));
        Ok(TableBlocks {
            counter_count,
            blocks: blocks.collect::<Result<_>>()?,
            derived,
            callees: self.callees(counter_count)?,
            steps: self.steps(variables)?,
        })
    }

    fn steps(&mut self, variables: Variables) -> Result<Vec<TableStep>> {
        if self.cursor.remaining() == 0 {
            return Ok(Vec::new()); // of an earlier compiler
        }
        let count = self.cursor.count(2, "steps")?;
        (0..count).map(|_| self.step(variables)).collect()
    }

    fn step(&mut self, variables: Variables) -> Result<TableStep> {
        let number = self.cursor.u8("kind of a step")?;
        let Some(kind) = StepKind::from_number(number) else {
            return self.cursor.error(format!("unknown kind of a step {number}"));
        };
        Ok(TableStep {
            kind,
            times: self.sum(variables)?,
        })
    }

    fn callees(&mut self, counter_count: u32) -> Result<Vec<TableCallee>> {
        let count = self.cursor.count(2, "callees")?;
        let callees = (0..count).map(|_| {
            let name = self.string()?;
            let first_counter = self.cursor.number("counters of a callee")?;
            if first_counter.saturating_add(CalleeCounters::COUNT) > counter_count {
                return self.cursor.error(format!(
                    "counter {first_counter} and the next three, of which there are {counter_count}"
                ));
            }
            Ok(TableCallee { name, first_counter })
        });
        callees.collect()
    }

    fn code_block(&mut self, variables: Variables) -> Result<TableBlock> {
        Ok(TableBlock {
            function: self.function_index()?,
            location: self.location()?,
            executions: self.sum(variables)?,
            mix: self.mix()?,
            accesses: self.accesses(variables)?,
            calls: self.list(1, "calls", Self::string)?,
        })
    }

    fn sum(&mut self, variables: Variables) -> Result<Count> {
        let count = self.cursor.count(2, "terms")?;
        let terms = (0..count).map(|_| {
            Ok(CountTerm {
                variable: self.variable(variables)?,
                factor: self.cursor.svarint("factor")?,
            })
        });
        Ok(Count {
            terms: terms.collect::<Result<_>>()?,
        })
    }

    fn variable(&mut self, variables: Variables) -> Result<u32> {
        let code = self.cursor.varint("variable")?;
        let (index, limit, what, first) = match code & 1 {
            0 => (code >> 1, variables.counters, "counter", 0),
            _ => (
                code >> 1,
                variables.derived,
                "derived variable",
                variables.counters,
            ),
        };
        if index >= u64::from(limit) {
            return self
                .cursor
                .error(format!("{what} {index}, of which there are {limit}"));
        }
        Ok(first + index as u32)
    }

    fn mix(&mut self) -> Result<InstructionMix> {
        let mut counts = [0; 8];
        for count in &mut counts {
            *count = self.cursor.varint("number of instructions")?;
        }
        Ok(InstructionMix::from_array(counts))
    }

    fn accesses(&mut self, variables: Variables) -> Result<Vec<TableAccess>> {
        let count = self.cursor.count(2, "accesses")?;
        (0..count).map(|_| self.access(variables)).collect()
    }

    fn access(&mut self, variables: Variables) -> Result<TableAccess> {
        let site = self.cursor.below(self.table.sites.len(), "site")?;
        let amount = match self.cursor.u8("form of an access")? {
            0 => Amount::PerExecution,
            1 => Amount::Counted {
                accesses: self.sum(variables)?,
                bytes: self.sum(variables)?,
            },
            form => return self.cursor.error(format!("unknown form of an access {form}")),
        };
        Ok(TableAccess { site, amount })
    }
}
