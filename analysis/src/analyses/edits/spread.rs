//! Each datum of a field on a line of its own.

use std::collections::HashSet;

use trackway_trace::{Batch, Program, SiteId};

use super::simulate::{each_access, Output};
use super::Rewrite;

/// Where the lines lie: far from a program's own memory.
const FIRST: u64 = 1 << 45;
/// What a datum of library functions has: their ranges have no size of their own, and the words of locks are the
/// smallest data in them.
const WORD_BYTES: u64 = 8;

/// Rewrites the accesses of some sites.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    is_own: Vec<bool>,
    datum_bytes: u64,
    line_bytes: u64,
}

impl Spread {
    /// A datum has as many bytes as the smallest of the accesses, and is a word if all are by library functions.
    pub fn new(program: &Program, sites: &HashSet<SiteId>, line_bytes: u64) -> Spread {
        let sizes = sites.iter().map(|site| u64::from(program.site(*site).size));
        let smallest = sizes.filter(|size| *size > 0).min();
        let numbers = (0..program.sites.len() as u32).map(SiteId);
        Spread {
            is_own: numbers.map(|site| sites.contains(&site)).collect(),
            datum_bytes: smallest.unwrap_or(WORD_BYTES).min(line_bytes),
            line_bytes,
        }
    }

    fn access(&self, (site, address, length): (SiteId, u64, u64), to: &mut Output) {
        if !self.is_own[site.index()] {
            return to.access(site, address, length);
        }
        let end = address.saturating_add(length);
        let mut at = address;
        while at < end {
            let (place, left) = self.place(at);
            let bytes = left.min(end - at);
            to.access(site, place, bytes);
            at += bytes;
        }
    }

    /// Where a byte goes, and how many bytes of its datum are there.
    fn place(&self, address: u64) -> (u64, u64) {
        let (number, within) = (address / self.datum_bytes, address % self.datum_bytes);
        let place = number.wrapping_mul(self.line_bytes) + within;
        (FIRST | place & (FIRST - 1), self.datum_bytes - within)
    }
}

impl Rewrite for Spread {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        for item in batch.all_items_of_slice() {
            let Some(piece) = to.accesses_of(item) else {
                continue;
            };
            each_access(batch, piece, |access| self.access(access, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_data_share_a_line() {
        let spread = Spread {
            is_own: Vec::new(),
            datum_bytes: 8,
            line_bytes: 64,
        };
        let places: Vec<u64> = (0..100)
            .map(|number| spread.place(0x7fff_0000 + number * 8).0)
            .collect();
        let lines: HashSet<u64> = places.iter().map(|place| place / 64).collect();
        assert_eq!(lines.len(), 100);
        assert_eq!(spread.place(0x7fff_0003), (places[0] + 3, 5));
    }
}
