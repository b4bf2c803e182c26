//! The pages into which the system divides the addresses of a program.

use std::ops::Range;
use std::sync::Arc;

const HUGE_SHIFT: u32 = 21;
/// Bytes of a huge page, of x86-64 as of AArch64 where other pages have 4 KiB.
pub const HUGE_PAGE_BYTES: u64 = 1 << HUGE_SHIFT;
/// The process stands above these bits of an address.
const ADDRESS_BITS: u32 = 47;
/// Only the numbers of huge pages have this bit, below which they fit. Entries of TLBs have room for it.
const HUGE: u64 = 1 << 60;

/// Memory that is in huge pages, the same in all processes: addresses over [`HUGE_PAGE_BYTES`], in ascending ranges that
/// don't touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HugeRegions(Arc<Vec<Range<u64>>>);

impl HugeRegions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    fn holds(&self, address: u64) -> bool {
        let within = address & ((1 << ADDRESS_BITS) - 1);
        let region = within >> HUGE_SHIFT;
        let next = self.0.partition_point(|range| range.end <= region);
        self.0.get(next).is_some_and(|range| range.contains(&region))
    }
}

impl FromIterator<Range<u64>> for HugeRegions {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> HugeRegions {
        let mut ranges: Vec<Range<u64>> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|range, before| {
            let touches = range.start <= before.end;
            if touches {
                before.end = before.end.max(range.end);
            }
            touches
        });
        HugeRegions(Arc::new(ranges))
    }
}

/// A page, by a number that no other page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Page(pub u64);

impl Page {
    pub fn is_huge(self) -> bool {
        self.0 & HUGE != 0
    }
}

/// How addresses are divided into pages: equal ones, and huge ones in some regions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    shift: u32,
    huge: HugeRegions,
}

impl Pages {
    /// `bytes`: of a page that isn't huge, a power of two.
    pub fn new(bytes: u64, huge: HugeRegions) -> Pages {
        Pages {
            shift: bytes.trailing_zeros(),
            huge,
        }
    }

    /// The number of an address's page if none is huge. Equal numbers mean equal pages in any case.
    #[inline(always)]
    pub fn plain_number(&self, address: u64) -> u64 {
        address >> self.shift
    }

    /// The pages from that of `address` to that of `end`, each once.
    #[inline]
    pub fn between(&self, address: u64, end: u64) -> impl Iterator<Item = Page> + '_ {
        let mut latest = None;
        (self.plain_number(address)..=self.plain_number(end)).filter_map(move |number| {
            let page = self.page(number);
            (latest.replace(page) != Some(page)).then_some(page)
        })
    }

    fn page(&self, number: u64) -> Page {
        let address = number << self.shift;
        match !self.huge.is_empty() && self.huge.holds(address) {
            true => Page(address >> HUGE_SHIFT | HUGE),
            false => Page(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_stand_among_others() {
        let huge: HugeRegions = [7..9, 2..3, 5..5, 1..2].into_iter().collect();
        assert_eq!(huge.count(), 4);
        let pages = Pages::new(4096, huge);
        let found: Vec<Page> = pages
            .between(HUGE_PAGE_BYTES - 8192, 3 * HUGE_PAGE_BYTES + 1)
            .collect();
        let numbers = [510, 511, 1 | HUGE, 2 | HUGE, 3 << 9];
        assert_eq!(found, numbers.map(Page));
        let process = 5 << ADDRESS_BITS;
        let mut of_process = pages.between(process | HUGE_PAGE_BYTES, process | HUGE_PAGE_BYTES);
        assert!(of_process.next().is_some_and(Page::is_huge));
    }

    #[test]
    fn pages_are_equal_without_huge_ones() {
        let pages = Pages::new(1 << 30, HugeRegions::default());
        let found: Vec<Page> = pages.between(5, 1 << 30).collect();
        assert_eq!(found, [Page(0), Page(1)]);
    }
}
