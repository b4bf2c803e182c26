//! New addresses for what is laid out anew.

use std::collections::HashMap;

use super::plan::ObjectPart;

/// Where new blocks lie: far from a program's own.
const FIRST: u64 = 0x2000_0000_0000;
/// Distance between the areas of different parts.
const AREA: u64 = 1 << 40;
/// Allocators take larger blocks from the system, in pages of their own.
const LARGE_BYTES: u64 = 128 << 10;
const PAGE_BYTES: u64 = 4096;
/// What a small block costs besides its bytes, and what its size is rounded to, as in the GNU C library.
const HEADER_BYTES: u64 = 8;
const GRAIN_BYTES: u64 = 16;

/// The areas of the parts of one structure.
#[derive(Debug, Clone)]
pub(super) struct Space {
    /// First free address of each part's area.
    next: Vec<u64>,
    /// Number of objects and new starts by part, for each old start. A new block replaces the one that was there
    /// before.
    taken: HashMap<u64, (u64, Vec<u64>)>,
}

impl Space {
    /// `first_area`: areas that other structures have.
    pub fn new(parts: usize, first_area: usize) -> Space {
        let area = |part: usize| FIRST.wrapping_add(AREA.wrapping_mul((first_area + part) as u64));
        Space {
            next: (0..parts).map(area).collect(),
            taken: HashMap::new(),
        }
    }

    /// Where an array goes that began at `start`, by part.
    pub fn place(&mut self, parts: &[ObjectPart], start: u64, count: u64) -> Vec<u64> {
        if let Some((known, starts)) = self.taken.get(&start) {
            if count <= *known {
                return starts.clone();
            }
        }
        let starts: Vec<u64> = parts
            .iter()
            .zip(&mut self.next)
            .map(|(part, next)| {
                let bytes = part.size.saturating_mul(count);
                let at = match bytes >= LARGE_BYTES {
                    true => round_up(*next, PAGE_BYTES).wrapping_add(start % PAGE_BYTES),
                    false => *next,
                };
                let at = round_up(at, part.alignment.max(GRAIN_BYTES));
                *next = round_up(at.wrapping_add(bytes).wrapping_add(HEADER_BYTES), GRAIN_BYTES);
                at
            })
            .collect();
        self.taken.insert(start, (count, starts.clone()));
        starts
    }
}

/// The next multiple, or somewhere else where there is none.
fn round_up(address: u64, alignment: u64) -> u64 {
    address.wrapping_add(alignment - 1) / alignment * alignment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(size: u64) -> ObjectPart {
        ObjectPart {
            size,
            alignment: 8,
            members: Vec::new(),
        }
    }

    #[test]
    fn small_blocks_stand_close_together() {
        let mut space = Space::new(2, 0);
        let parts = [part(24), part(40)];
        let first = space.place(&parts, 0x1000, 1);
        let second = space.place(&parts, 0x1100, 1);
        assert_eq!([second[0] - first[0], second[1] - first[1]], [32, 48]);
        assert_eq!(first[1] - first[0], AREA);
        assert_eq!(space.place(&parts, 0x1000, 1), first);
        assert_ne!(space.place(&parts, 0x1000, 2), first);
    }

    #[test]
    fn large_blocks_keep_their_place_on_the_page() {
        let mut space = Space::new(1, 0);
        space.place(&[part(24)], 0x1000, 1);
        let starts = space.place(&[part(64)], 0x7010, 1 << 20);
        assert_eq!(starts[0] % PAGE_BYTES, 0x10);
    }
}
