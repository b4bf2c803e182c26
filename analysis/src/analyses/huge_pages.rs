//! Which of a program's memory could be in huge pages.
//!
//! The GNU C library asks for huge pages, by `glibc.malloc.hugetlb=1`, for blocks that have the size of one, and for the heap at
//! the end of the program's own memory, whose end it then moves by whole huge pages (`malloc(3)` of version 2.35, "Memory Allocation
//! Tunables" of its manual). Blocks between these sizes that have mappings of their own stay in small pages. Another
//! allocator's regions count if blocks filled half of them.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, BatchItem, Trace};

use crate::cache::{HugeRegions, HUGE_PAGE_BYTES};
use crate::{Analysis, Findings, Observer, Order};

/// The system maps files and blocks within a few TiB below the stack, and the heap far from there.
const FROM_STACK: u64 = 4 << 40;
/// Blocks of fewer bytes never have a mapping of their own in the GNU C library.
const SMALL_BLOCK_BYTES: u64 = 128 << 10;
const SMALL_PAGE_SHIFT: u32 = 12;
const SMALL_PAGES: usize = (HUGE_PAGE_BYTES >> SMALL_PAGE_SHIFT) as usize;
/// A word of [`Touched`] has a bit for each of so many pages.
const WORD_BITS: usize = 64;

/// How a program gets huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HugePageWay {
    /// The C library asks for them.
    CLibrary,
    /// Its own allocator must.
    OwnAllocator,
}

/// Memory that could be in huge pages.
#[derive(Debug, Clone)]
pub struct HugePages {
    pub regions: HugeRegions,
    pub way: HugePageWay,
}

impl HugePages {
    /// Goes over the trace once.
    pub fn of(trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> HugePages {
        let survey = Survey {
            lowest_stack: trace.stacks().values().copied().min(),
            found: Mutex::default(),
        };
        crate::run(&survey, trace, threads, observer);
        let found = survey.found.into_inner();
        found.unwrap_or_else(PoisonError::into_inner).huge_pages()
    }
}

/// The small pages of a region in which blocks have been.
type Touched = [u64; SMALL_PAGES / WORD_BITS];

#[derive(Debug, Default)]
struct Memory {
    /// The first address of blocks in the heap of each process, and the first one after them.
    heaps: HashMap<u32, (u64, u64)>,
    /// Whether there are small blocks elsewhere.
    has_others: bool,
    /// Regions, by their number.
    touched: HashMap<u64, Touched>,
    /// Regions that lay in one block: the first one, and the first one after them.
    whole: HashSet<(u64, u64)>,
}

impl Memory {
    fn begin(&mut self, process: u32, start: u64, bytes: u64, is_in_heap: Option<bool>) {
        let end = start.saturating_add(bytes);
        match is_in_heap {
            Some(true) => widen(self.heaps.entry(process), (start, end)),
            Some(false) if bytes < SMALL_BLOCK_BYTES => self.has_others = true,
            _ => (),
        }
        if bytes >= HUGE_PAGE_BYTES {
            self.whole
                .insert((start.div_ceil(HUGE_PAGE_BYTES), end / HUGE_PAGE_BYTES));
        } else if bytes > 0 {
            for page in start >> SMALL_PAGE_SHIFT..=(end - 1) >> SMALL_PAGE_SHIFT {
                let (region, page) = (page / SMALL_PAGES as u64, page as usize % SMALL_PAGES);
                let touched = self.touched.entry(region).or_default();
                touched[page / WORD_BITS] |= 1 << (page % WORD_BITS);
            }
        }
    }

    fn add(&mut self, from: Memory) {
        for (process, extent) in from.heaps {
            widen(self.heaps.entry(process), extent);
        }
        self.has_others |= from.has_others;
        self.whole.extend(from.whole);
        for (region, pages) in from.touched {
            let touched = self.touched.entry(region).or_default();
            touched
                .iter_mut()
                .zip(pages)
                .for_each(|(word, more)| *word |= more);
        }
    }

    fn huge_pages(self) -> HugePages {
        let whole = self.whole.into_iter().map(|(first, end)| first..end);
        if self.heaps.is_empty() && self.has_others {
            let is_filled = |pages: &Touched| {
                let filled: u32 = pages.iter().map(|word| word.count_ones()).sum();
                filled as usize >= SMALL_PAGES / 2
            };
            let filled = self.touched.into_iter().filter(|(_, pages)| is_filled(pages));
            return HugePages {
                regions: whole
                    .chain(filled.map(|(region, _)| region..region + 1))
                    .collect(),
                way: HugePageWay::OwnAllocator,
            };
        }
        let of_heap =
            |(start, end): (u64, u64)| start.div_ceil(HUGE_PAGE_BYTES)..end.div_ceil(HUGE_PAGE_BYTES);
        HugePages {
            regions: whole.chain(self.heaps.into_values().map(of_heap)).collect(),
            way: HugePageWay::CLibrary,
        }
    }
}

fn widen(heap: Entry<'_, u32, (u64, u64)>, (start, end): (u64, u64)) {
    let known = heap.or_insert((start, end));
    *known = (known.0.min(start), known.1.max(end));
}

struct Survey {
    /// None if the trace doesn't say where stacks are: then only large blocks count.
    lowest_stack: Option<u64>,
    found: Mutex<Memory>,
}

impl Analysis for Survey {
    type Shard = Memory;

    fn order(&self) -> Order {
        Order::Any
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> Memory {
        Memory::default()
    }

    fn take_batch(&self, memory: &mut Memory, batch: &Batch) {
        for item in batch.items() {
            let BatchItem::Event(event) = item else {
                continue;
            };
            if let Some((start, bytes)) = event.allocated() {
                let stack = self.lowest_stack;
                let is_in_heap = stack.map(|stack| start < stack.saturating_sub(FROM_STACK));
                memory.begin(batch.process, start, bytes, is_in_heap);
            }
        }
    }

    fn merge(&self, into: &mut Memory, from: Memory) {
        into.add(from);
    }

    fn finish(&self, memory: Memory, _: &Trace) -> Findings {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = memory;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: u64 = 0x5555_5555_9000;
    const MAPPED: u64 = 0x7fff_e000_0000;

    fn count(blocks: &[(u64, u64, bool)]) -> (u64, HugePageWay) {
        let mut memory = Memory::default();
        for &(start, bytes, is_in_heap) in blocks {
            memory.begin(1, start, bytes, Some(is_in_heap));
        }
        let found = memory.huge_pages();
        (found.regions.count(), found.way)
    }

    #[test]
    fn the_heap_ends_with_a_huge_page() {
        // It begins in a region that stays small, and ends in the second one after that.
        let blocks = [(HEAP, 16, true), (HEAP + HUGE_PAGE_BYTES + 4096, 16, true)];
        assert_eq!(count(&blocks), (1, HugePageWay::CLibrary));
        assert_eq!(count(&blocks[..1]), (0, HugePageWay::CLibrary));
    }

    #[test]
    fn blocks_with_mappings_of_their_own_need_the_size_of_a_page() {
        assert_eq!(count(&[(MAPPED, 1 << 20, false)]), (0, HugePageWay::CLibrary));
        let unaligned = MAPPED + 4096 + 16;
        assert_eq!(count(&[(unaligned, 5 << 20, false)]), (1, HugePageWay::CLibrary));
        assert_eq!(count(&[(MAPPED, 4 << 20, false)]), (2, HugePageWay::CLibrary));
    }

    #[test]
    fn a_block_of_any_size_takes_no_memory() {
        let all = u64::MAX / HUGE_PAGE_BYTES;
        assert_eq!(count(&[(0, u64::MAX, false); 2]), (all, HugePageWay::CLibrary));
    }

    #[test]
    fn another_allocator_fills_half_a_page() {
        let block = 64 << 10;
        let blocks: Vec<(u64, u64, bool)> = (0..16)
            .map(|number| (MAPPED + number * block, block, false))
            .collect();
        assert_eq!(count(&blocks), (1, HugePageWay::OwnAllocator));
        assert_eq!(count(&blocks[1..]), (0, HugePageWay::OwnAllocator));
    }
}
