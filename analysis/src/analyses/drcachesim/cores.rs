//! The caches of all cores.

use super::cache::Cache;
use super::Settings;

pub struct Cores {
    line_bits: u32,
    prefetches: bool,
    /// Instruction caches by core.
    pub instructions: Vec<Cache>,
    pub data: Vec<Cache>,
    pub last: Cache,
}

impl Cores {
    pub fn new(settings: &Settings) -> Self {
        let first = |size| vec![Cache::new(size, settings.line_bytes); settings.cores as usize];
        Cores {
            line_bits: settings.line_bytes.trailing_zeros(),
            prefetches: settings.prefetches,
            instructions: first(settings.instructions),
            data: first(settings.data),
            last: Cache::new(settings.last, settings.line_bytes),
        }
    }

    pub fn fetch(&mut self, core: usize, address: u64, length: u64) {
        for line in self.lines(address, length) {
            let is_hit = self.instructions[core].take(line, false);
            self.pass_on(line, is_hit, false);
        }
    }

    /// If a line misses, its neighbour is fetched, too, whether it is there or not. A prefetched line leads to no
    /// further prefetch.
    pub fn access(&mut self, core: usize, address: u64, size: u64) {
        for line in self.lines(address, size) {
            let is_hit = self.data[core].take(line, false);
            self.pass_on(line, is_hit, false);
            if !is_hit && self.prefetches {
                let next = line.wrapping_add(1);
                let is_hit = self.data[core].take(next, true);
                self.pass_on(next, is_hit, true);
            }
        }
    }

    fn pass_on(&mut self, line: u64, is_hit: bool, prefetches: bool) {
        match is_hit {
            true => self.last.counts.child_hits += 1,
            false => {
                self.last.take(line, prefetches);
            }
        }
    }

    /// Lines from the first byte of an access to the last. If it has no bytes, the last byte comes before the first: in
    /// the same line, or in the line before, which leaves no line.
    fn lines(&self, address: u64, size: u64) -> std::ops::RangeInclusive<u64> {
        let end = match size {
            0 => address.wrapping_sub(1),
            _ => address.saturating_add(size - 1),
        };
        address >> self.line_bits..=end >> self.line_bits
    }
}
