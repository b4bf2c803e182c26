//! What is to be simulated: levels, TLBs, and how they work together. `docs/verbs/cache-model.md` defines each word.

use trackway_trace::CacheInfo;

use super::pages::{HugeRegions, Pages};
use super::{CacheGeometry, CachesError, LineChanges};

/// More levels than any machine has.
pub const MAX_LEVELS: usize = 4;
/// Levels of translation lookaside buffers.
pub const MAX_TLB_LEVELS: usize = 2;
/// Pages have 4 KiB by default.
pub const DEFAULT_PAGE_BYTES: u64 = 4096;
/// More threads than this share cores.
pub const DEFAULT_CORES: u32 = 64;

/// Which line is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    #[default]
    Lru,
    /// Pseudo-LRU by a binary tree.
    Plru,
    /// Static re-reference interval prediction, 2 bits, promotion on hit to 0.
    Srrip,
    /// SRRIP or its bimodal form, by a duel between sets.
    Drrip,
    /// A pseudo-random way, the same in each simulation.
    Random,
}

/// What becomes of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WritePolicy {
    /// The line is marked dirty and written when it is evicted.
    #[default]
    Back,
    /// The store goes on to the next level at once.
    Through,
}

/// How the lines of a level relate to those of the levels before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// They are filled together and evicted independently.
    #[default]
    NonInclusive,
    /// What this level evicts, the levels before it lose.
    Inclusive,
    /// Filled with what the level before evicts; a hit moves the line there.
    Exclusive,
}

/// What brings lines in before they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prefetch {
    pub kind: Prefetcher,
    /// Lines ahead.
    pub degree: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefetcher {
    #[default]
    None,
    /// The lines that follow.
    NextLine,
    /// The lines at the distance at which a site's last ones stood.
    Stride,
    /// The same, on other pages, too.
    FarStride,
    /// The lines that follow in the direction in which a page was walked.
    Stream,
}

/// One level of cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLevel {
    pub geometry: CacheGeometry,
    pub policy: Policy,
    pub write: WritePolicy,
    /// Whether a store that misses brings the line in.
    pub write_allocate: bool,
    pub inclusion: Inclusion,
    /// One for all threads, not one for each.
    pub shared: bool,
    pub prefetch: Prefetch,
}

/// One level of data TLB; LRU, one for each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlbLevel {
    pub entries: u32,
    pub ways: u32,
}

/// More parts than there are processors are of no use.
const MOST_PART_BITS: u32 = 8;

/// The levels, from the one next to the processor outwards, and the other simulated parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caches {
    levels: Vec<CacheLevel>,
    tlbs: Vec<TlbLevel>,
    page_bytes: u64,
    /// What is in huge pages instead.
    huge: HugeRegions,
    /// Whether misses are told apart by their reasons.
    classes: bool,
    /// More threads than this share private levels.
    cores: u32,
    /// Whether a page's sets are chosen by chance, in levels where a page doesn't have lines in all.
    scatters_pages: bool,
    /// Whether the first level brings in lines around a miss.
    regions: bool,
    /// The mean time until others replace a line of the last level.
    stay_ns: Option<u64>,
}

impl Policy {
    /// Whether a line that has just come in counts as used: then using it at once again changes nothing.
    pub(super) fn fill_is_use(self) -> bool {
        !matches!(self, Policy::Srrip | Policy::Drrip)
    }
}

impl Prefetch {
    pub fn is_on(self) -> bool {
        self.kind != Prefetcher::None
    }
}

impl CacheLevel {
    /// LRU, write-back, write-allocate, non-inclusive, private.
    pub fn new(geometry: CacheGeometry) -> CacheLevel {
        CacheLevel {
            geometry,
            policy: Policy::Lru,
            write: WritePolicy::Back,
            write_allocate: true,
            inclusion: Inclusion::NonInclusive,
            shared: false,
            prefetch: Prefetch::default(),
        }
    }

    /// Whether, for each thread alone, the level is what [`CacheLevel::new`] makes.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = CacheLevel {
            shared: self.shared,
            ..CacheLevel::new(self.geometry)
        };
        *self == plain
    }
}

impl TlbLevel {
    /// The same as a cache whose lines are pages.
    pub(super) fn geometry(&self, page_bytes: u64) -> CacheGeometry {
        CacheGeometry {
            size_bytes: u64::from(self.entries) * page_bytes,
            ways: self.ways,
            line_bytes: page_bytes as u32,
        }
    }
}

impl Caches {
    pub fn new(levels: Vec<CacheLevel>) -> Result<Caches, CachesError> {
        if levels.is_empty() {
            return Err(CachesError::Levels);
        }
        let caches = Caches {
            levels,
            ..Caches::none()
        };
        caches.check()?;
        Ok(caches)
    }

    /// Adds data TLBs for pages of such a size.
    pub fn with_tlbs(mut self, tlbs: Vec<TlbLevel>, page_bytes: u64) -> Result<Caches, CachesError> {
        self.tlbs = tlbs;
        self.page_bytes = page_bytes;
        self.check()?;
        Ok(self)
    }

    /// Puts some of the memory into huge pages, which take an entry of a TLB as others do.
    pub fn with_huge_pages(mut self, regions: HugeRegions) -> Caches {
        self.huge = regions;
        self
    }

    /// Tells misses apart by their reasons: see [`super::MissClass`].
    pub fn with_classes(mut self, classes: bool) -> Caches {
        self.classes = classes;
        self
    }

    /// Puts pages anywhere into physical memory, as systems do: larger levels choose sets by physical addresses, of which the
    /// trace knows nothing. The same page is at the same place each time.
    pub fn with_scattered_pages(mut self) -> Caches {
        self.scatters_pages = true;
        self
    }

    /// The first level also brings in the lines around a miss that the same code asked for after its last misses.
    pub fn with_regions(mut self) -> Caches {
        self.regions = true;
        self
    }

    /// Others use the last level, too, and replace each line after such a time in the mean. See [`Simulator::set_time`].
    ///
    /// [`Simulator::set_time`]: super::Simulator::set_time
    pub fn with_stays(mut self, stay_ns: Option<u64>) -> Caches {
        self.stay_ns = stay_ns;
        self
    }

    /// Sets the number of cores. More threads than this share cores.
    pub fn with_cores(mut self, cores: u32) -> Result<Caches, CachesError> {
        self.cores = cores;
        self.check()?;
        Ok(self)
    }

    /// The caches of the machine on which a trace was recorded. Levels that serve more processors than the first level
    /// are shared.
    pub fn of_machine(infos: &[CacheInfo]) -> Result<Caches, CachesError> {
        let mut infos: Vec<&CacheInfo> = infos.iter().collect();
        infos.sort_by_key(|info| info.level);
        infos.dedup_by_key(|info| info.level);
        let private = infos.first().map_or(1, |info| info.shared_by.max(1));
        let level = |info: &&CacheInfo| CacheLevel {
            shared: info.shared_by > private,
            ..CacheLevel::new(CacheGeometry::of_machine(info))
        };
        Caches::new(infos.iter().map(level).collect())
    }

    /// No caches: nothing is simulated, only counted.
    pub fn none() -> Caches {
        Caches {
            levels: Vec::new(),
            tlbs: Vec::new(),
            page_bytes: DEFAULT_PAGE_BYTES,
            huge: HugeRegions::default(),
            classes: false,
            scatters_pages: false,
            regions: false,
            stay_ns: None,
            cores: DEFAULT_CORES,
        }
    }

    /// Finds the iterations of a run that change something in the first level; none if there is no level.
    pub fn line_changes(&self) -> Option<LineChanges> {
        let first = self.levels.first()?.geometry;
        let ways = if self.is_plain() { first.ways } else { 0 };
        Some(LineChanges::new(first.line_bytes, ways))
    }

    pub fn levels(&self) -> &[CacheLevel] {
        &self.levels
    }

    pub fn tlbs(&self) -> &[TlbLevel] {
        &self.tlbs
    }

    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    pub(crate) fn pages(&self) -> Pages {
        Pages::new(self.page_bytes, self.huge.clone())
    }

    pub fn classes(&self) -> bool {
        self.classes
    }

    pub fn scatters_pages(&self) -> bool {
        self.scatters_pages
    }

    pub fn regions(&self) -> bool {
        self.regions
    }

    pub fn stay_ns(&self) -> Option<u64> {
        self.stay_ns
    }

    pub fn cores(&self) -> u32 {
        self.cores
    }

    /// Whether a level is shared between threads.
    pub fn any_shared(&self) -> bool {
        self.levels.iter().any(|level| level.shared)
    }

    /// The number of parts into which lines can be divided by the bits of the address from [`Caches::part_shift`] on.
    /// Accesses to lines of one part never affect those of another. 1 if all lines belong together.
    pub fn most_parts(&self) -> u32 {
        match self.is_plain() {
            true => self.parts_by_sets(),
            false => 1,
        }
    }

    /// The same where a part costs more than a share of the whole, which is worth it on other machines only: of LRU levels
    /// that may be shared.
    pub fn most_line_parts(&self) -> u32 {
        let by_sets = self.levels.iter().all(|level| level.policy == Policy::Lru)
            && !self.prefetches()
            && !self.scatters_pages
            && self.stay_ns.is_none();
        match by_sets && !self.classes && self.tlbs.is_empty() && !self.levels.is_empty() {
            true => self.parts_by_sets(),
            false => 1,
        }
    }

    fn parts_by_sets(&self) -> u32 {
        // What a set says of the address: all bits below these.
        let known = self.levels.iter().map(|level| {
            let geometry = level.geometry;
            (geometry.sets() * u64::from(geometry.line_bytes)).trailing_zeros()
        });
        let bits = known.min().unwrap_or(0).saturating_sub(self.part_shift());
        1 << bits.min(MOST_PART_BITS)
    }

    /// The sets of one of this many parts, for addresses without the bits that tell the parts apart.
    pub(crate) fn part_of(&self, count: u32) -> Caches {
        let mut caches = self.clone();
        for level in &mut caches.levels {
            level.geometry.size_bytes /= u64::from(count);
        }
        caches
    }

    /// Logarithm of the longest line's bytes.
    pub fn part_shift(&self) -> u32 {
        let lines = self
            .levels
            .iter()
            .map(|level| level.geometry.line_bytes.trailing_zeros());
        lines.max().unwrap_or(0)
    }

    /// The same with a set of levels for each thread.
    pub fn all_private(&self) -> Caches {
        let mut caches = self.clone();
        caches.levels.iter_mut().for_each(|level| level.shared = false);
        caches
    }

    /// Levels that each core has for itself.
    pub fn private_levels(&self) -> usize {
        self.levels.iter().take_while(|level| !level.shared).count()
    }

    pub(super) fn prefetches(&self) -> bool {
        self.levels.iter().any(|level| level.prefetch.is_on())
    }

    /// Whether a level takes lines away from those before it.
    pub(crate) fn includes(&self) -> bool {
        let mut levels = self.levels.iter();
        levels.any(|level| level.inclusion == Inclusion::Inclusive)
    }

    /// Plain LRU levels of one thread, of which nothing but misses and write-backs is asked.
    pub(super) fn is_plain(&self) -> bool {
        let plain = self.levels.iter().all(CacheLevel::is_plain);
        let asks_more = self.classes || self.scatters_pages || self.stay_ns.is_some();
        plain && !self.any_shared() && !asks_more && self.tlbs.is_empty()
    }
}

impl Default for Caches {
    /// A common server core: 32 KiB with 8 ways, 1 MiB with 16, 32 MiB with 16; lines of 64 bytes.
    fn default() -> Self {
        let level = |size_bytes, ways| {
            CacheLevel::new(CacheGeometry {
                size_bytes,
                ways,
                line_bytes: 64,
            })
        };
        let mut last = level(32 << 20, 16);
        last.shared = true;
        Caches {
            levels: vec![level(32 << 10, 8), level(1 << 20, 16), last],
            ..Caches::none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_caches_are_taken_in_order() {
        let info = |level, size_bytes, ways, shared_by| CacheInfo {
            level,
            size_bytes,
            line_bytes: 64,
            ways,
            shared_by,
        };
        let caches = Caches::of_machine(&[info(2, 1 << 20, 16, 4), info(1, 1024, 0, 2)]).unwrap();
        assert_eq!(caches.to_string(), "L1=1K,16,64:L2=1M,16,64,shared");
        assert_eq!(Caches::of_machine(&[]), Err(CachesError::Levels));
    }
}
