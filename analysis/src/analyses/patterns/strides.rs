//! How the addresses of a site move.

use trackway_trace::named_enum;

use crate::model::site_types::{SiteTypes, NO_TYPE};

/// Strides that are remembered of a site.
const CANDIDATES: usize = 4;
/// An access may depend on a pointer that was loaded at most this many accesses before.
const NEAR: u64 = 16;
/// Fewer accesses don't make a pattern.
const FEWEST: u64 = 16;
/// This share makes a pattern.
const MOST: f64 = 0.7;

named_enum! {
    /// How a site's addresses move.
    Pattern {
        /// Too few accesses to tell.
        Few = "few",
        Constant = "constant",
        Stride = "stride",
        PointerChase = "pointer chase",
        Random = "random",
    }
}

/// Counts of one site. They add up over threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StrideCounts {
    pub accesses: u64,
    pub bytes: u64,
    /// Accesses but the first of each thread.
    pub strides: u64,
    pub zero: u64,
    /// Strides that are 0 or equal the one before.
    pub regular: u64,
    /// Other strides, to an object shortly after the load of a pointer to such an object.
    pub chased: u64,
    /// The most frequent ones (Misra and Gries, 1982), with less than their numbers.
    candidates: [(u64, u64); CANDIDATES],
}

/// A site in one thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteStrides {
    pub counts: StrideCounts,
    types: SiteTypes,
    address: u64,
    stride: Option<u64>,
}

/// When, in accesses of the thread, a pointer to a type was last loaded from somewhere unforeseen.
#[derive(Debug, Clone, Default)]
pub(super) struct PointerLoads {
    pub clock: u64,
    /// Time of the last load, by type; 0: never.
    pub last: Vec<u64>,
}

impl PointerLoads {
    #[inline(always)]
    fn is_near(&self, type_number: u32) -> bool {
        let last = self.last.get(type_number as usize).copied().unwrap_or(0);
        last > 0 && self.clock - last <= NEAR
    }
}

impl SiteStrides {
    pub fn new(types: SiteTypes) -> SiteStrides {
        SiteStrides {
            counts: StrideCounts::default(),
            types,
            address: 0,
            stride: None,
        }
    }

    #[inline(always)]
    pub fn access(&mut self, address: u64, bytes: u64, loads: &mut PointerLoads) {
        loads.clock = loads.clock.saturating_add(1);
        let is_first = self.counts.accesses == 0;
        let stride = address.wrapping_sub(self.address);
        self.address = address;
        self.counts.accesses += 1;
        self.counts.bytes = self.counts.bytes.saturating_add(bytes);
        let regular = !is_first && (stride == 0 || self.stride == Some(stride));
        if !is_first {
            self.stride = Some(stride);
            self.counts.add(stride, 1, regular);
            self.counts.chased += u64::from(!regular && loads.is_near(self.types.accessed));
        }
        if !regular && self.types.pointed_to != NO_TYPE {
            loads.last[self.types.pointed_to as usize] = loads.clock;
        }
    }

    /// Takes `times` further accesses with the stride of the last two. Doesn't advance the clock.
    pub fn repeat(&mut self, stride: u64, bytes: u64, times: u64) {
        self.address = self.address.wrapping_add(stride.wrapping_mul(times));
        self.counts.accesses = self.counts.accesses.saturating_add(times);
        let bytes = bytes.saturating_mul(times);
        self.counts.bytes = self.counts.bytes.saturating_add(bytes);
        self.counts.add(stride, times, true);
    }
}

impl StrideCounts {
    #[inline(always)]
    fn add(&mut self, stride: u64, times: u64, regular: bool) {
        self.strides = self.strides.saturating_add(times);
        self.regular = self.regular.saturating_add(if regular { times } else { 0 });
        self.zero = self.zero.saturating_add(if stride == 0 { times } else { 0 });
        if self.candidates[0].0 == stride {
            self.candidates[0].1 = self.candidates[0].1.saturating_add(times);
        } else {
            self.add_candidate(stride, times);
        }
    }

    fn add_candidate(&mut self, stride: u64, times: u64) {
        let known = self
            .candidates
            .iter_mut()
            .find(|candidate| candidate.0 == stride && candidate.1 > 0);
        if let Some(candidate) = known {
            candidate.1 = candidate.1.saturating_add(times);
            return;
        }
        let least = self
            .candidates
            .iter()
            .map(|candidate| candidate.1)
            .min()
            .unwrap_or(0);
        let lost = least.min(times);
        self.candidates
            .iter_mut()
            .for_each(|candidate| candidate.1 -= lost);
        let free = self.candidates.iter_mut().find(|candidate| candidate.1 == 0);
        if let (Some(free), true) = (free, times > lost) {
            *free = (stride, times - lost);
        }
    }

    /// The most frequent stride. It is certain only if it makes up more than a fifth of all strides.
    pub fn main_stride(&self) -> Option<i64> {
        let most = self.candidates.iter().max_by_key(|candidate| candidate.1);
        most.filter(|candidate| candidate.1 > 0)
            .map(|candidate| candidate.0 as i64)
    }

    pub fn merge(&mut self, from: &StrideCounts) {
        self.accesses = self.accesses.saturating_add(from.accesses);
        self.bytes = self.bytes.saturating_add(from.bytes);
        self.strides = self.strides.saturating_add(from.strides);
        self.zero = self.zero.saturating_add(from.zero);
        self.regular = self.regular.saturating_add(from.regular);
        self.chased = self.chased.saturating_add(from.chased);
        for (stride, times) in from.candidates {
            if times > 0 {
                self.add_candidate(stride, times);
            }
        }
    }

    pub fn irregular(&self) -> u64 {
        self.strides - self.regular
    }

    pub fn pattern(&self) -> Pattern {
        let most = |part: u64, whole: u64| part as f64 >= MOST * whole as f64;
        if self.accesses < FEWEST || self.strides == 0 {
            Pattern::Few
        } else if most(self.zero, self.strides) {
            Pattern::Constant
        } else if most(self.regular, self.strides) {
            Pattern::Stride
        } else if most(self.chased, self.irregular()) {
            Pattern::PointerChase
        } else {
            Pattern::Random
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: SiteTypes = SiteTypes {
        accessed: 0,
        pointed_to: NO_TYPE,
    };
    const LINK: SiteTypes = SiteTypes {
        accessed: 0,
        pointed_to: 0,
    };

    fn loads() -> PointerLoads {
        PointerLoads {
            clock: 0,
            last: vec![0],
        }
    }

    fn counts(types: SiteTypes, addresses: impl Iterator<Item = u64>) -> StrideCounts {
        let (mut site, mut loads) = (SiteStrides::new(types), loads());
        addresses.for_each(|address| site.access(address, 8, &mut loads));
        site.counts
    }

    fn scattered(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|index| index * index * 7919 % 100_003 * 64)
    }

    #[test]
    fn patterns_of_known_kind() {
        let pattern = |types, addresses: Vec<u64>| counts(types, addresses.into_iter()).pattern();
        assert_eq!(pattern(PLAIN, vec![8; 100]), Pattern::Constant);
        assert_eq!(
            pattern(PLAIN, (0..100).map(|index| 4000 - index * 24).collect()),
            Pattern::Stride
        );
        let rows = (0..100).map(|index| index / 10 * 4096 + index % 10 * 8);
        assert_eq!(pattern(PLAIN, rows.collect()), Pattern::Stride);
        assert_eq!(pattern(PLAIN, scattered(100).collect()), Pattern::Random);
        assert_eq!(pattern(LINK, scattered(100).collect()), Pattern::PointerChase);
        assert_eq!(pattern(LINK, vec![1, 5, 2]), Pattern::Few);
    }

    #[test]
    fn a_pointer_that_always_comes_from_one_place_is_no_chase() {
        let (mut link, mut site, mut loads) = (SiteStrides::new(LINK), SiteStrides::new(PLAIN), loads());
        for address in scattered(100) {
            link.access(64, 8, &mut loads);
            site.access(address, 8, &mut loads);
        }
        // The very first load was not foreseen, and the site's first strides were near it.
        assert_eq!(site.counts.pattern(), Pattern::Random);
        assert!(site.counts.chased < 10, "{:?}", site.counts);
    }

    #[test]
    fn the_main_stride_is_found_among_others() {
        let addresses = (0..300u64).scan(0u64, |address, index| {
            *address = address.wrapping_add(if index % 3 == 0 {
                index * 1000
            } else {
                24u64.wrapping_neg()
            });
            Some(*address)
        });
        assert_eq!(counts(PLAIN, addresses).main_stride(), Some(-24));
        assert_eq!(StrideCounts::default().main_stride(), None);
    }

    proptest! {
        #[test]
        fn repeats_are_accesses(runs in proptest::collection::vec((0u64..1000, 0u64..4, 3u64..40), 1..20)) {
            let (mut whole, mut each) = (SiteStrides::new(LINK), SiteStrides::new(LINK));
            let (mut whole_loads, mut each_loads) = (loads(), loads());
            for (start, stride, count) in runs {
                for index in 0..count {
                    each.access(start + index * stride, 4, &mut each_loads);
                }
                whole.access(start, 4, &mut whole_loads);
                whole.access(start + stride, 4, &mut whole_loads);
                whole.repeat(stride, 4, count - 2);
                whole_loads.clock += count - 2;
                prop_assert_eq!(whole.counts, each.counts);
                prop_assert_eq!(&whole_loads.last, &each_loads.last);
            }
        }
    }
}
