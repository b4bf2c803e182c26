//! Lines around a miss that the same code asked for after its last misses.

/// Lines on each side of the first one.
const REACH: u64 = 4;
/// Regions that are followed at once.
const REGIONS: usize = 16;

/// What a prefetcher of regions knows: a small form of spatial memory streaming (Somogyi and others, ISCA 2006), with the reach that
/// probes found on an AMD EPYC with 1 MiB of L2. What of a pattern that processor remembers isn't published; `docs/benchmarks.md` has
/// the rules that were tried.
#[derive(Debug, Clone, Default)]
pub(super) struct Regions {
    /// First lines of the regions followed at present, the newest at `newest`.
    first: [u64; REGIONS],
    open: [Open; REGIONS],
    newest: usize,
    of_site: Vec<Followers>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Open {
    site: u32,
    lines: Lines,
}

/// A bit for each line of a region.
type Lines = u16;

/// The lines of the last two regions that a site began.
#[derive(Debug, Clone, Copy, Default)]
struct Followers {
    last: Lines,
    before: Lines,
}

impl Regions {
    /// Notes a line. Returns the distances of the lines to bring in: if it begins a region, those that followed both last beginnings
    /// by the site.
    pub fn train(&mut self, site: usize, line: u64) -> impl Iterator<Item = u64> {
        let lines = match self.region_of(line) {
            Some((region, offset)) => {
                self.open[region].lines |= 1 << offset;
                0
            }
            None => self.begin(site, line),
        };
        (0..=2 * REACH)
            .filter(move |offset| lines & (1 << offset) != 0)
            .map(|offset| offset.wrapping_sub(REACH))
    }

    fn region_of(&self, line: u64) -> Option<(usize, u64)> {
        let offset = |first: &u64| line.wrapping_sub(*first).wrapping_add(REACH);
        let region = self.first.iter().position(|first| offset(first) <= 2 * REACH)?;
        Some((region, offset(&self.first[region])))
    }

    fn begin(&mut self, site: usize, line: u64) -> Lines {
        self.newest = (self.newest + 1) % REGIONS;
        let ended = std::mem::replace(
            &mut self.open[self.newest],
            Open {
                site: site as u32,
                lines: 0,
            },
        );
        self.first[self.newest] = line;
        if let Some(followers) = self.of_site.get_mut(ended.site as usize) {
            followers.before = std::mem::replace(&mut followers.last, ended.lines);
        }
        if site >= self.of_site.len() {
            self.of_site.resize(site + 1, Followers::default());
        }
        let known = self.of_site[site];
        known.last & known.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines brought in for each first line, where each line of `pattern` follows.
    fn asked(regions: &mut Regions, site: usize, firsts: &[u64], pattern: &[u64]) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        for &first in firsts {
            let distances: Vec<u64> = regions.train(site, first).collect();
            all.push(
                distances
                    .iter()
                    .map(|distance| first.wrapping_add(*distance))
                    .collect(),
            );
            for distance in pattern {
                assert_eq!(regions.train(site + 1, first.wrapping_add(*distance)).count(), 0);
            }
        }
        all
    }

    /// Regions elsewhere begin, so that those before end.
    fn end_all(regions: &mut Regions) {
        (0..REGIONS as u64).for_each(|region| {
            assert_eq!(regions.train(99, 1_000_000 + 100 * region).count(), 0);
        });
    }

    #[test]
    fn what_followed_twice_is_asked_for() {
        let mut regions = Regions::default();
        for (first, found) in [(1000, vec![]), (2000, vec![]), (3000, vec![2999, 3002])] {
            assert_eq!(asked(&mut regions, 5, &[first], &[u64::MAX, 2]), [found]);
            end_all(&mut regions);
        }
        // Once without, and it is forgotten.
        asked(&mut regions, 5, &[4000], &[]);
        end_all(&mut regions);
        assert_eq!(asked(&mut regions, 5, &[5000], &[]), [Vec::<u64>::new()]);
    }

    #[test]
    fn lines_farther_away_begin_regions_of_their_own() {
        let mut regions = Regions::default();
        for first in [1000, 2000, 3000] {
            let found = regions.train(5, first).count() + regions.train(6, first + REACH + 1).count();
            assert_eq!(found, 0, "{first}");
            end_all(&mut regions);
        }
    }
}
