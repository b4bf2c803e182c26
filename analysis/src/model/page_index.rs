//! Dense numbers for groups of neighbouring lines.

/// Lines of a group.
pub(crate) const GROUP_LINES: usize = 64;
const GROUP_BITS: u32 = GROUP_LINES.trailing_zeros();

/// 2^64 divided by the golden ratio, odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FREE: u32 = u32::MAX;

/// Numbers the groups of 64 lines in the order in which they are first asked for. Data about a line then stands in a
/// vector, next to its neighbours'. It takes 4 bytes a line; a map from lines would take 16 and miss the cache more
/// often.
#[derive(Debug, Clone)]
pub(crate) struct PageIndex {
    /// Open addressing, a power of two of places, at most half of them taken.
    places: Vec<(u64, u32)>,
    len: u32,
    latest: (u64, u32),
}

impl Default for PageIndex {
    fn default() -> Self {
        PageIndex {
            places: vec![(0, FREE); 64],
            len: 0,
            latest: (0, FREE),
        }
    }
}

impl PageIndex {
    /// The cell of a line: 64 × the number of its group + its position there.
    #[inline(always)]
    pub fn cell(&mut self, line: u64) -> usize {
        let page = line >> GROUP_BITS;
        if self.latest.0 != page || self.latest.1 == FREE {
            self.latest = (page, self.find_or_add(page));
        }
        self.latest.1 as usize * GROUP_LINES + (line as usize & (GROUP_LINES - 1))
    }

    /// The cell of a line, if its group has a number.
    #[inline(always)]
    pub fn find(&mut self, line: u64) -> Option<usize> {
        let page = line >> GROUP_BITS;
        if self.latest.0 != page || self.latest.1 == FREE {
            self.latest = (page, self.look_up(page)?);
        }
        Some(self.latest.1 as usize * GROUP_LINES + (line as usize & (GROUP_LINES - 1)))
    }

    /// The same for a line that is not asked for now.
    #[inline(always)]
    pub fn peek(&self, line: u64) -> Option<usize> {
        let number = self.look_up(line >> GROUP_BITS)?;
        Some(number as usize * GROUP_LINES + (line as usize & (GROUP_LINES - 1)))
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// All groups: the first line of each, and its number.
    pub fn groups(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let taken = self.places.iter().filter(|place| place.1 != FREE);
        taken.map(|&(page, number)| (page << GROUP_BITS, number as usize))
    }

    #[inline(always)]
    fn find_or_add(&mut self, page: u64) -> u32 {
        match self.look_up(page) {
            Some(number) => number,
            None => self.add(page),
        }
    }

    #[inline(always)]
    fn look_up(&self, page: u64) -> Option<u32> {
        let mut at = self.home(page);
        loop {
            match self.places[at] {
                (_, FREE) => return None,
                (key, number) if key == page => return Some(number),
                _ => at = (at + 1) & (self.places.len() - 1),
            }
        }
    }

    #[inline(always)]
    fn home(&self, page: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        (page.wrapping_mul(MULTIPLIER) >> (64 - bits)) as usize
    }

    #[cold]
    fn add(&mut self, page: u64) -> u32 {
        if (self.len as usize + 1) * 2 > self.places.len() {
            self.grow();
        }
        let number = self.len;
        self.place(page, number);
        self.len += 1;
        number
    }

    fn place(&mut self, page: u64, number: u32) {
        let mut at = self.home(page);
        while self.places[at].1 != FREE {
            at = (at + 1) & (self.places.len() - 1);
        }
        self.places[at] = (page, number);
    }

    fn grow(&mut self) {
        let larger = vec![(0, FREE); self.places.len() * 2];
        for (page, number) in std::mem::replace(&mut self.places, larger) {
            if number != FREE {
                self.place(page, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn each_line_has_a_cell_of_its_own() {
        let mut index = PageIndex::default();
        let mut cells = HashMap::new();
        let lines = (0..3000u64).map(|number| number.wrapping_mul(0x1234_5678_9ABC_DEF1) >> (number % 50));
        for line in lines.clone() {
            cells.insert(line, index.cell(line));
        }
        assert!(lines.clone().all(|line| index.cell(line) == cells[&line]));
        assert!(lines.clone().all(|line| index.find(line) == Some(cells[&line])));
        assert_eq!(index.find(0x7777_7777_7777_7777), None);
        let mut different: Vec<usize> = cells.values().copied().collect();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), cells.len());
        assert!(different.last().unwrap() / GROUP_LINES < index.len());
        for (first_line, number) in index.groups() {
            let known = (0..64).filter_map(|offset| cells.get(&(first_line + offset)));
            assert!(known.map(|cell| cell / GROUP_LINES).all(|group| group == number));
        }
    }
}
