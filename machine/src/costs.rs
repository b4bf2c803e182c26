//! The figures, and what they may be.

use crate::error::CostsError;

/// Bytes that are moved between caches at once.
pub const LINE_BYTES: u64 = 64;

/// Instructions in flight of a processor that isn't known: those of Intel's Skylake and AMD's Zen 2.
pub const DEFAULT_WINDOW: u32 = 224;

/// What memory costs: one core's view, all times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCosts {
    /// The name of the processor.
    pub processor: String,
    /// Cycles per nanosecond of a core that works.
    pub ghz: f64,
    /// L1 first; the last is memory.
    pub levels: Vec<LevelCosts>,
    pub tlb: TlbCosts,
    /// The first access to a page, which the system then provides.
    pub fault_ns: f64,
    /// From where a value to be stored is known until a load of the same word has it.
    pub forward_ns: f64,
    /// A call that takes a block from the system's allocator which was given back just before, or gives one back.
    pub block_at_hand_ns: f64,
    /// A call that takes another block.
    pub new_block_ns: f64,
    /// Time until a core has a line that another core has just written; none with one core.
    pub transfer_ns: Option<f64>,
    /// What a load of the third line after a miss adds to it, if it waits for the miss and follows each one; none if that isn't
    /// known. Where it is little, the processor brings in lines around a miss that the same code asked for after its last ones.
    pub neighbour_ns: Option<f64>,
    /// Independent misses to memory that overlap in one core.
    pub most_misses: u32,
    /// Instructions in flight (the reorder buffer). It is known by the processor's model, not measured.
    pub window: u32,
    /// Simple instructions per cycle that a core sustains.
    pub width: f64,
}

/// The first access to a page of a system that isn't known: about what Linux takes on a processor of its own.
pub const DEFAULT_FAULT_NS: f64 = 250.0;

/// From a store to a load of the same word, if that isn't known: Intel's and AMD's manuals say 4 to 5, up to 8 on AMD's Zen 2.
pub const DEFAULT_FORWARD_CYCLES: f64 = 4.0;

/// Calls of the system's allocator, if that isn't known: those of glibc 2.36 on AMD's Zen 4.
pub const DEFAULT_BLOCK_AT_HAND_CYCLES: f64 = 20.0;
pub const DEFAULT_NEW_BLOCK_CYCLES: f64 = 55.0;

/// What a level of the caches costs, or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelCosts {
    /// `L1`, `L2` and so on, and `memory`.
    pub name: String,
    /// None for memory.
    pub size_bytes: Option<u64>,
    /// So much of it acted as a cache when it was measured; none if that was all, or isn't known. Other programs and other
    /// virtual machines may have the rest.
    pub found_bytes: Option<u64>,
    /// The mean time until others replace a line, in milliseconds; none if they don't, or if that isn't known.
    pub stay_ms: Option<f64>,
    /// From a load to the use of its value, where each load waits for the one before.
    pub latency_ns: f64,
    /// Time per line of 64 bytes where independent loads stream from this level.
    pub line_ns: f64,
}

/// What a miss of the first-level TLB costs beyond the access.
#[derive(Debug, Clone, PartialEq)]
pub struct TlbCosts {
    /// If the second level has the page.
    pub second_level_ns: f64,
    /// If page tables must be read.
    pub walk_ns: f64,
    /// Page tables that a core reads at once.
    pub most_walks: u32,
    /// Pages of the smallest size that the first and the second level have; none if that isn't known.
    pub entries: Option<[u32; 2]>,
}

/// Page tables that a core reads at once, if that isn't known: between the 2 of Intel's Skylake and the 6 of AMD's Zen 3.
pub const DEFAULT_WALKS: u32 = 4;

/// A figure's name and value, and the least and the most that a machine may have.
struct Bounds(String, f64, f64, f64);

const LEAST_STAY_MS: f64 = 1e-3;
const MOST_STAY_MS: f64 = 1e5;
const LEAST_NS: f64 = 1e-3;
const MOST_NS: f64 = 1e5;
const MOST_LEVELS: usize = 8;
const MOST_NAME_BYTES: usize = 128;
const LEAST_CACHE_BYTES: u64 = 1 << 10;
const MOST_CACHE_BYTES: u64 = 1 << 40;

impl MemoryCosts {
    /// Cycles of a core in that time.
    pub fn cycles(&self, ns: f64) -> f64 {
        ns * self.ghz
    }

    /// The last level.
    ///
    /// # Panics
    /// If there are no levels, which [`MemoryCosts::check`] refuses.
    pub fn memory(&self) -> &LevelCosts {
        self.levels.last().expect("the last level is memory")
    }

    /// Whether a machine can have such figures.
    ///
    /// # Errors
    /// Names the first figure that is no number, absurd, or contradicts another.
    pub fn check(&self) -> Result<(), CostsError> {
        let refused = self.check_names().and_then(|()| self.check_levels());
        let refused = refused.and_then(|()| self.figures().iter().try_for_each(Bounds::check));
        refused.map_err(CostsError::Document)
    }

    fn check_names(&self) -> Result<(), String> {
        let names = self.levels.iter().map(|level| &level.name);
        for name in names.chain([&self.processor]) {
            if name.trim().is_empty() || name.len() > MOST_NAME_BYTES || name.chars().any(char::is_control) {
                return Err(format!(
                    "{name:?} is no name: it must have 1 to {MOST_NAME_BYTES} bytes and no control characters"
                ));
            }
        }
        Ok(())
    }

    fn check_levels(&self) -> Result<(), String> {
        let Some((memory, caches)) = self.levels.split_last() else {
            return Err("there are no levels".into());
        };
        if caches.is_empty() || caches.len() >= MOST_LEVELS {
            return Err(format!(
                "there must be 1 to {} caches and memory",
                MOST_LEVELS - 1
            ));
        }
        if memory.size_bytes.is_some() {
            return Err(format!(
                "{}: the last level is memory, and has no size_bytes",
                memory.name
            ));
        }
        let mut smaller = LEAST_CACHE_BYTES - 1;
        for LevelCosts { name, size_bytes, .. } in caches {
            let size = size_bytes.ok_or(format!(
                "{name}: lacks size_bytes, which all but the last level have"
            ))?;
            if size <= smaller || size > MOST_CACHE_BYTES {
                return Err(format!(
                    "{name}: size_bytes = {size}; expected {} to {MOST_CACHE_BYTES}, more than in the level before",
                    smaller + 1
                ));
            }
            smaller = size;
        }
        for pair in self.levels.windows(2) {
            if pair[1].latency_ns < pair[0].latency_ns {
                return Err(format!(
                    "the latency of {} ({} ns) is below that of {} ({} ns)",
                    pair[1].name, pair[1].latency_ns, pair[0].name, pair[0].latency_ns
                ));
            }
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Bounds> {
        let time = |name: String, value| Bounds(name, value, LEAST_NS, MOST_NS);
        let mut figures = vec![
            Bounds("ghz".into(), self.ghz, 0.01, 20.0),
            Bounds("width".into(), self.width, 0.1, 64.0),
            Bounds("most_misses".into(), self.most_misses.into(), 1.0, 1024.0),
            Bounds("window".into(), self.window.into(), 1.0, 65536.0),
            // A second level that hides its whole cost has 0.
            Bounds(
                "tlb: second_level_ns".into(),
                self.tlb.second_level_ns,
                0.0,
                MOST_NS,
            ),
            Bounds("tlb: walk_ns".into(), self.tlb.walk_ns, 0.0, MOST_NS),
            Bounds("tlb: most_walks".into(), self.tlb.most_walks.into(), 1.0, 64.0),
            Bounds("fault_ns".into(), self.fault_ns, 0.0, MOST_NS),
            Bounds("forward_ns".into(), self.forward_ns, 0.0, MOST_NS),
            Bounds("block_at_hand_ns".into(), self.block_at_hand_ns, 0.0, MOST_NS),
            Bounds("new_block_ns".into(), self.new_block_ns, 0.0, MOST_NS),
        ];
        for level in &self.levels {
            let stay = level.stay_ms;
            figures.extend(stay.map(|ms| {
                Bounds(
                    format!("{}: stay_ms", level.name),
                    ms,
                    LEAST_STAY_MS,
                    MOST_STAY_MS,
                )
            }));
            let (found, size) = (level.found_bytes, level.size_bytes.unwrap_or_default());
            figures.extend(found.map(|found| {
                Bounds(
                    format!("{}: found_bytes", level.name),
                    found as f64,
                    0.0,
                    size as f64,
                )
            }));
        }
        for (name, entries) in ["first_entries", "second_entries"]
            .iter()
            .zip(self.tlb.entries.iter().flatten())
        {
            figures.push(Bounds(format!("tlb: {name}"), (*entries).into(), 1.0, 65536.0));
        }
        figures.extend(self.transfer_ns.map(|ns| time("transfer_ns".into(), ns)));
        let neighbour = self.neighbour_ns;
        figures.extend(neighbour.map(|ns| Bounds("neighbour_ns".into(), ns, 0.0, MOST_NS)));
        for level in &self.levels {
            figures.push(time(format!("{}: latency_ns", level.name), level.latency_ns));
            figures.push(time(format!("{}: line_ns", level.name), level.line_ns));
        }
        figures
    }
}

impl Bounds {
    fn check(&self) -> Result<(), String> {
        let Bounds(name, value, least, most) = self;
        // No comparison holds for NaN.
        match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name} = {value}; expected {least} to {most}")),
        }
    }
}
