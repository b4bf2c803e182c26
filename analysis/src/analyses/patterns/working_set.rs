//! How many different units, lines or pages, are accessed in each window of accesses.

use crate::model::fetch_ahead::fetch;
use crate::model::page_index::{PageIndex, GROUP_LINES};

/// More windows are joined by two.
const MOST_WINDOWS: u32 = 256;
/// Accesses of a window, at first.
const FIRST_WIDTH: u64 = 1024;
/// Bits of a window's number, and one for what was never accessed before.
const LEVELS: usize = 34;
const FIRST_TIME: usize = LEVELS - 1;
const NEVER: u32 = u32::MAX;

/// Cuts the accesses of a part of a trace into equal windows.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    pub width: u64,
    /// The window of the latest access.
    pub current: u32,
    /// Accesses so far.
    pub clock: u64,
    /// When the next window begins.
    pub border: u64,
}

/// The units that windows access.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkingSet {
    index: PageIndex,
    /// Window of the latest access to each cell.
    last: Vec<[u32; GROUP_LINES]>,
    /// The latest unit, its window and its cell.
    latest: Option<(u64, u32, usize)>,
    /// For each window, the units that it accesses, by level: 2^level windows with aligned borders must be joined to
    /// have one that holds the previous access, too. From this, the units that joined windows access can be counted.
    new_at: Vec<[u32; LEVELS]>,
}

impl Default for Windows {
    fn default() -> Self {
        Windows {
            width: FIRST_WIDTH,
            current: 0,
            clock: 0,
            border: FIRST_WIDTH,
        }
    }
}

impl Windows {
    /// Begins the next window where the last one is full. Joins those of the sets if they became too many.
    #[inline(always)]
    pub fn advance(&mut self, sets: [&mut WorkingSet; 2]) {
        if self.clock == self.border {
            self.begin_next(sets);
        }
        self.clock = self.clock.saturating_add(1);
    }

    #[cold]
    fn begin_next(&mut self, sets: [&mut WorkingSet; 2]) {
        self.current += 1;
        if self.current == MOST_WINDOWS {
            self.current /= 2;
            self.width = self.width.saturating_mul(2);
            sets.into_iter().for_each(WorkingSet::join_windows);
        }
        self.border = self.border.saturating_add(self.width);
    }
}

impl WorkingSet {
    /// A window, the latest one, accesses a unit. Says which cell the unit has.
    #[inline(always)]
    pub fn access(&mut self, unit: u64, window: u32) -> usize {
        match self.latest {
            Some((latest, at, cell)) if latest == unit && at == window => return cell,
            _ => {}
        }
        let cell = self.index.cell(unit);
        self.latest = Some((unit, window, cell));
        if self.last.len() < self.index.len() {
            self.last.push([NEVER; GROUP_LINES]);
        }
        let last = &mut self.last[cell / GROUP_LINES][cell % GROUP_LINES];
        if *last != window {
            let before = std::mem::replace(last, window);
            self.enter(before, window);
        }
        cell
    }

    /// The cell of a unit that was accessed.
    #[inline(always)]
    pub fn cell_of(&mut self, unit: u64) -> usize {
        self.index.cell(unit)
    }

    /// Has what an access to a unit needs fetched; says which cell the unit has.
    #[inline(always)]
    pub fn prepare(&self, unit: u64) -> Option<usize> {
        let cell = self.index.peek(unit)?;
        fetch(&self.last[cell / GROUP_LINES][cell % GROUP_LINES]);
        Some(cell)
    }

    /// Units by their cells: the first unit of each group, and the group's number.
    pub fn groups(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        self.index.groups()
    }

    fn enter(&mut self, before: u32, window: u32) {
        if self.new_at.len() <= window as usize {
            self.new_at.resize(window as usize + 1, [0; LEVELS]);
        }
        let level = match before {
            NEVER => FIRST_TIME,
            before => (u32::BITS - (before ^ window).leading_zeros()) as usize,
        };
        self.new_at[window as usize][level] += 1;
    }

    /// Makes one window of two.
    fn join_windows(&mut self) {
        self.latest = None;
        let known = self
            .last
            .as_flattened_mut()
            .iter_mut()
            .filter(|last| **last != NEVER);
        known.for_each(|last| *last /= 2);
        let joined = self.new_at.chunks(2).map(|pair| {
            let sum = |level: usize| pair.iter().map(|new| new[level]).sum();
            std::array::from_fn(|level| match level {
                0 => 0,
                FIRST_TIME => sum(FIRST_TIME),
                level if level + 1 == FIRST_TIME => 0,
                level => sum(level + 1),
            })
        });
        self.new_at = joined.collect();
    }

    /// The counts, without what is needed to go on counting.
    pub fn without_units(&self) -> WorkingSet {
        WorkingSet {
            new_at: self.new_at.clone(),
            ..WorkingSet::default()
        }
    }

    /// The number of different units in each window of 2^`level` of the present ones.
    pub fn sizes(&self, level: usize) -> Vec<u64> {
        let new = |new: &[u32; LEVELS]| {
            new[level + 1..]
                .iter()
                .map(|count| u64::from(*count))
                .sum::<u64>()
        };
        let windows = self.new_at.chunks(1 << level);
        windows.map(|windows| windows.iter().map(new).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        // Each case is long, so that windows are joined.
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn sizes_are_those_of_sets(
            parts in proptest::collection::vec((0u64..1 << 12, 1u64..2000, 1u64..30_000), 1..40),
        ) {
            let units: Vec<u64> = parts
                .iter()
                .flat_map(|&(start, range, count)| (0..count).map(move |step| start + step * step % range))
                .collect();
            let (mut windows, mut set) = (Windows::default(), WorkingSet::default());
            for unit in &units {
                windows.advance([&mut set, &mut WorkingSet::default()]);
                set.access(*unit, windows.current);
            }
            for level in 0..9 {
                let expected: Vec<u64> = units
                    .chunks((windows.width << level) as usize)
                    .map(|window| window.iter().collect::<HashSet<_>>().len() as u64)
                    .collect();
                prop_assert_eq!(set.sizes(level), expected, "level {} width {}", level, windows.width);
            }
        }
    }
}
