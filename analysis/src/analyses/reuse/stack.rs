//! The LRU stack of cache lines.

use super::timeline::{Timeline, MOST_MARKS, NEVER};
use crate::model::fetch_ahead::fetch;
use crate::model::page_index::{PageIndex, GROUP_LINES};

/// Lines on top of the stack. For so few, a linear search is fastest.
const TOP: usize = 8;

/// Stack distances of lines (Mattson and others, 1970): how many different lines were referenced since the last
/// reference to a line. The top of the stack is a list. Below it, a line's place is the moment when it fell out of the
/// list. Lines fall out in the order of their last use.
#[derive(Debug, Clone)]
pub(super) struct LruStack {
    top: [u64; TOP],
    top_cells: [usize; TOP],
    top_len: usize,
    index: PageIndex,
    /// Moment when each cell's line fell out of the top; never if it is there, or was never seen.
    moments: Vec<[u32; GROUP_LINES]>,
    below: Timeline,
    most_lines: usize,
    untracked: u64,
}

impl LruStack {
    pub fn new() -> LruStack {
        LruStack::with_room_for(MOST_MARKS)
    }

    fn with_room_for(most_lines: usize) -> LruStack {
        LruStack {
            top: [0; TOP],
            top_cells: [0; TOP],
            top_len: 0,
            index: PageIndex::default(),
            moments: Vec::new(),
            below: Timeline::new(),
            most_lines,
            untracked: 0,
        }
    }

    /// References a line: its distance, none if it is new.
    #[inline(always)]
    pub fn reference(&mut self, line: u64) -> Option<u64> {
        let position = self.position_in_top(line);
        if position < self.top_len {
            let cell = self.top_cells[position];
            self.push_top(line, cell, position);
            return Some(position as u64);
        }
        self.reference_below(line)
    }

    /// Has the line's moment fetched; as the second step, what counts the marks after it.
    #[inline(always)]
    pub fn prepare(&self, line: u64, is_second: bool) {
        let Some(cell) = self.index.peek(line) else {
            return;
        };
        let moment = &self.moments[cell / GROUP_LINES][cell % GROUP_LINES];
        if !is_second {
            fetch(moment);
        } else if *moment != NEVER {
            self.below.prepare(*moment);
        }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.top_len + self.below.marks()
    }

    /// References to lines that the stack had no room for; they count as new each time.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Forgets a line that it holds.
    pub fn remove(&mut self, line: u64) {
        let position = self.position_in_top(line);
        if position < self.top_len {
            self.top.copy_within(position + 1.., position);
            self.top_cells.copy_within(position + 1.., position);
            self.top_len -= 1;
            return;
        }
        let moment = self.moment_of(line).1;
        let moment = std::mem::replace(moment, NEVER);
        if moment != NEVER {
            self.below.unmark(moment);
        }
    }

    #[inline(always)]
    fn reference_below(&mut self, line: u64) -> Option<u64> {
        let top_len = self.top_len as u64;
        let (cell, moment) = self.moment_of(line);
        let moment = std::mem::replace(moment, NEVER);
        let distance = match moment {
            NEVER if self.len() >= self.most_lines => {
                self.untracked += 1;
                return None;
            }
            NEVER => None,
            moment => Some(top_len + self.below.unmark(moment)),
        };
        if self.top_len == TOP {
            self.fall_out();
        } else {
            self.top_len += 1;
        }
        self.push_top(line, cell, TOP - 1);
        distance
    }

    /// The last line of the top goes below.
    #[inline(always)]
    fn fall_out(&mut self) {
        if self.below.is_full() {
            self.below.renumber(self.moments.as_flattened_mut().iter_mut());
        }
        let cell = self.top_cells[TOP - 1];
        self.moments[cell / GROUP_LINES][cell % GROUP_LINES] = self.below.mark();
    }

    #[inline(always)]
    fn moment_of(&mut self, line: u64) -> (usize, &mut u32) {
        let cell = self.index.cell(line);
        if self.moments.len() < self.index.len() {
            self.moments.push([NEVER; GROUP_LINES]);
        }
        (cell, &mut self.moments[cell / GROUP_LINES][cell % GROUP_LINES])
    }

    #[inline(always)]
    fn position_in_top(&self, line: u64) -> usize {
        let mut found = TOP;
        for position in (0..TOP).rev() {
            found = if self.top[position] == line {
                position
            } else {
                found
            };
        }
        found
    }

    /// Puts a line on the top; those before `position` go down by one.
    #[inline(always)]
    fn push_top(&mut self, line: u64, cell: usize, position: usize) {
        for index in (1..TOP).rev() {
            let moves = index <= position;
            self.top[index] = if moves {
                self.top[index - 1]
            } else {
                self.top[index]
            };
            self.top_cells[index] = if moves {
                self.top_cells[index - 1]
            } else {
                self.top_cells[index]
            };
        }
        self.top[0] = line;
        self.top_cells[0] = cell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The stack as a list, the latest line last.
    #[derive(Default)]
    struct List(Vec<u64>);

    impl List {
        fn reference(&mut self, line: u64) -> Option<u64> {
            let position = self.0.iter().position(|other| *other == line);
            let distance = position.map(|position| (self.0.len() - 1 - position) as u64);
            self.remove(line);
            self.0.push(line);
            distance
        }

        fn remove(&mut self, line: u64) {
            self.0.retain(|other| *other != line);
        }
    }

    proptest! {
        #[test]
        fn distances_are_those_of_a_list(
            references in proptest::collection::vec((0u64..1 << 20, 0u32..20, 0u8..30), 1..4000),
        ) {
            let (mut stack, mut list) = (LruStack::new(), List::default());
            for (line, shift, choice) in references {
                let line = line >> shift;
                if choice == 0 {
                    stack.remove(line);
                    list.remove(line);
                } else {
                    prop_assert_eq!(stack.reference(line), list.reference(line));
                }
                prop_assert_eq!(stack.len(), list.0.len());
            }
        }
    }

    #[test]
    fn a_cycle_over_many_lines_survives_renumbering() {
        let lines = 30_000;
        let mut stack = LruStack::new();
        for round in 0..7 {
            for line in 0..lines {
                let distance = (round > 0).then_some(lines - 1);
                assert_eq!(stack.reference(line * 97), distance);
            }
        }
    }

    #[test]
    fn lines_beyond_the_room_are_new_each_time() {
        let mut stack = LruStack::with_room_for(20);
        (0..20).for_each(|line| assert_eq!(stack.reference(line), None));
        assert_eq!((stack.reference(20), stack.reference(20)), (None, None));
        assert_eq!((stack.reference(0), stack.untracked()), (Some(19), 2));
    }
}
