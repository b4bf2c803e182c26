//! Levels behind each other.

use super::level::Level;
use super::{Caches, MAX_LEVELS};

/// Caches of one thread, empty at first.
///
/// Every access, load or store, touches each first-level line that it overlaps. A line that a level misses is looked up
/// in the next level and enters the level (write-allocate). Levels neither include nor exclude each other's lines.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    levels: Vec<Level>,
    first_shift: u32,
    /// The line touched last: it is the most recently used one of its set, so touching it again changes nothing.
    latest: Option<u64>,
}

impl Hierarchy {
    /// None if there is no level.
    pub fn new(caches: &Caches) -> Option<Hierarchy> {
        let levels: Vec<Level> = caches
            .levels()
            .iter()
            .map(|&geometry| Level::new(geometry))
            .collect();
        Some(Hierarchy {
            first_shift: levels.first()?.line_shift(),
            levels,
            latest: None,
        })
    }

    /// Runs an access of `length` bytes through the caches and adds, for each level, the number of lines that it
    /// missed. An access of length 0 touches nothing; one beyond the end of the address space ends there.
    #[inline(always)]
    pub fn access(&mut self, address: u64, length: u64, misses: &mut [u64; MAX_LEVELS]) {
        let first = address >> self.first_shift;
        let last = address.saturating_add(length.wrapping_sub(1)) >> self.first_shift;
        if first == last && Some(first) == self.latest && length > 0 {
            return;
        }
        self.touch_lines(first, last, length, misses);
    }

    #[inline(always)]
    fn touch_lines(&mut self, first: u64, last: u64, length: u64, misses: &mut [u64; MAX_LEVELS]) {
        if length == 0 {
            return;
        }
        for line in first..=last {
            if !self.levels[0].touch(line) {
                misses[0] += 1;
                self.look_further(line << self.first_shift, misses);
            }
        }
        self.latest = Some(last);
    }

    /// After a miss of the first level.
    #[inline(always)]
    fn look_further(&mut self, address: u64, misses: &mut [u64; MAX_LEVELS]) {
        for (level, missed) in self.levels.iter_mut().zip(misses).skip(1) {
            if level.touch(address >> level.line_shift()) {
                return;
            }
            *missed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trackway_trace::{Lane, SiteId};

    fn misses(caches: &str, accesses: &[(u64, u64)]) -> [u64; MAX_LEVELS] {
        let mut hierarchy = Hierarchy::new(&caches.parse().unwrap()).unwrap();
        let mut misses = [0; MAX_LEVELS];
        for &(address, length) in accesses {
            hierarchy.access(address, length, &mut misses);
        }
        misses
    }

    #[test]
    fn a_scan_misses_once_per_line() {
        let scan: Vec<(u64, u64)> = (0..1024).map(|index| (index * 4, 4)).collect();
        assert_eq!(misses("L1=32K,8,64:L2=1M,16,128", &scan), [64, 32, 0, 0]);
    }

    #[test]
    fn a_second_scan_hits_where_it_fits() {
        let twice: Vec<(u64, u64)> = (0..2).flat_map(|_| (0..16).map(|line| (line * 64, 8))).collect();
        // 16 lines: too many for 8 of L1 in LRU order, few enough for 32 of L2.
        assert_eq!(misses("L1=512,8,64:L2=2K,8,64", &twice), [32, 16, 0, 0]);
        assert_eq!(misses("L1=1K,8,64", &twice), [16, 0, 0, 0]);
    }

    #[test]
    fn an_access_across_a_border_touches_both_lines() {
        assert_eq!(misses("L1=32K,8,64", &[(60, 8), (0, 1), (64, 1)]), [2, 0, 0, 0]);
        assert_eq!(misses("L1=32K,8,64", &[(0, 64), (64, 65)]), [3, 0, 0, 0]);
    }

    #[test]
    fn the_ends_of_the_address_space_are_safe() {
        assert_eq!(
            misses(
                "L1=32K,8,64",
                &[(0, 0), (u64::MAX, 0), (u64::MAX, 8), (u64::MAX - 7, 8)]
            ),
            [1, 0, 0, 0]
        );
    }

    /// The same model, written for clarity: a list of (set, line) from the least to the most recently used.
    struct NaiveLevel {
        sets: u64,
        ways: usize,
        line_bytes: u64,
        used: Vec<u64>,
    }

    impl NaiveLevel {
        fn hit(&mut self, address: u64) -> bool {
            let line = address / self.line_bytes;
            let hit = self.used.contains(&line);
            self.used.retain(|&other| other != line);
            self.used.push(line);
            let same_set = |other: &&u64| **other % self.sets == line % self.sets;
            if self.used.iter().filter(same_set).count() > self.ways {
                let oldest = self.used.iter().position(|other| same_set(&other)).unwrap();
                self.used.remove(oldest);
            }
            hit
        }
    }

    fn naive_misses(caches: &Caches, accesses: &[(u64, u64)]) -> [u64; MAX_LEVELS] {
        let mut levels: Vec<NaiveLevel> = Vec::new();
        for geometry in caches.levels() {
            levels.push(NaiveLevel {
                sets: geometry.sets(),
                ways: geometry.ways as usize,
                line_bytes: geometry.line_bytes.into(),
                used: Vec::new(),
            });
        }
        let mut misses = [0; MAX_LEVELS];
        let first_line = levels[0].line_bytes;
        for &(address, length) in accesses {
            let mut line = address / first_line * first_line;
            while length > 0 && line < address + length {
                for (index, level) in levels.iter_mut().enumerate() {
                    if level.hit(line) {
                        break;
                    }
                    misses[index] += 1;
                }
                line += first_line;
            }
        }
        misses
    }

    fn geometry(line_log: u32) -> impl Strategy<Value = super::super::CacheGeometry> {
        (1u64..9, 1u32..5).prop_map(move |(sets, ways)| super::super::CacheGeometry {
            size_bytes: (sets * u64::from(ways)) << line_log,
            ways,
            line_bytes: 1 << line_log,
        })
    }

    fn caches() -> impl Strategy<Value = Caches> {
        (geometry(4), geometry(4), geometry(5))
            .prop_flat_map(|(l1, l2, l3)| (1..=3usize).prop_map(move |count| [l1, l2, l3][..count].to_vec()))
            .prop_map(|levels| Caches::new(levels).unwrap())
    }

    fn lane() -> impl Strategy<Value = Lane> {
        let stride = prop_oneof![-20i64..20, -300i64..300];
        (0u64..4000, stride, 0u32..40).prop_map(|(address, stride, size)| Lane {
            site: SiteId(0),
            size,
            address: address.wrapping_add(1 << 20),
            stride: stride as u64,
        })
    }

    fn simulate(hierarchy: &mut Hierarchy, lanes: &[Lane], iteration: u64, misses: &mut [u64; MAX_LEVELS]) {
        for lane in lanes {
            let address = lane.address.wrapping_add(lane.stride.wrapping_mul(iteration));
            hierarchy.access(address, lane.size.into(), misses);
        }
    }

    proptest! {
        #[test]
        fn runs_leave_the_caches_as_their_accesses_would(
            caches in caches(),
            runs in proptest::collection::vec((proptest::collection::vec(lane(), 0..5), 1u64..60), 1..6),
        ) {
            let mut changes = caches.line_changes().unwrap();
            let (mut whole, mut parts) = (Hierarchy::new(&caches).unwrap(), Hierarchy::new(&caches).unwrap());
            let (mut expected, mut found) = ([0; MAX_LEVELS], [0; MAX_LEVELS]);
            for (lanes, count) in &runs {
                (0..*count).for_each(|iteration| simulate(&mut whole, lanes, iteration, &mut expected));
                changes.begin(lanes, *count);
                while let Some(iteration) = changes.next(lanes) {
                    simulate(&mut parts, lanes, iteration, &mut found);
                }
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn the_fast_model_equals_the_naive_one(
            caches in caches(),
            accesses in proptest::collection::vec((0u64..1500, 0u64..70), 0..400),
        ) {
            prop_assert_eq!(misses(&caches.to_string(), &accesses), naive_misses(&caches, &accesses));
        }
    }
}
