//! The blocks of a table that counts.

use super::parse::Parser;
use super::*;

type Result<T> = std::result::Result<T, TableError>;

impl Parser<'_> {
    pub(super) fn blocks(&mut self) -> Result<TableBlocks> {
        if !self.table.segments.is_empty() {
            return self.cursor.error("a module that counts has segments");
        }
        let counter_count = self.cursor.number("number of counters")?;
        let count = self.cursor.count(13, "blocks")?;
        let blocks = (0..count).map(|_| self.code_block(counter_count));
        Ok(TableBlocks {
            counter_count,
            blocks: blocks.collect::<Result<_>>()?,
        })
    }

    fn code_block(&mut self, counters: u32) -> Result<TableBlock> {
        Ok(TableBlock {
            function: self.function_index()?,
            location: self.location()?,
            executions: self.sum(counters)?,
            mix: self.mix()?,
            accesses: self.accesses(counters)?,
            calls: self.list(1, "calls", Self::string)?,
        })
    }

    fn sum(&mut self, counters: u32) -> Result<Count> {
        let count = self.cursor.count(2, "terms")?;
        let terms = (0..count).map(|_| {
            Ok(CountTerm {
                counter: self.cursor.below(counters as usize, "counter")?,
                factor: self.cursor.svarint("factor")?,
            })
        });
        Ok(Count {
            terms: terms.collect::<Result<_>>()?,
        })
    }

    fn mix(&mut self) -> Result<InstructionMix> {
        let mut counts = [0; 8];
        for count in &mut counts {
            *count = self.cursor.varint("number of instructions")?;
        }
        Ok(InstructionMix::from_array(counts))
    }

    fn accesses(&mut self, counters: u32) -> Result<Vec<TableAccess>> {
        let count = self.cursor.count(2, "accesses")?;
        (0..count).map(|_| self.access(counters)).collect()
    }

    fn access(&mut self, counters: u32) -> Result<TableAccess> {
        let site = self.cursor.below(self.table.sites.len(), "site")?;
        let amount = match self.cursor.u8("form of an access")? {
            0 => Amount::PerExecution,
            1 => Amount::Counted {
                accesses: self.sum(counters)?,
                bytes: self.sum(counters)?,
            },
            form => return self.cursor.error(format!("unknown form of an access {form}")),
        };
        Ok(TableAccess { site, amount })
    }
}
