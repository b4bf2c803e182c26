//! The measurement: each figure in short rounds, all figures in several passes.

mod allocator;
mod arena;
mod chase;
mod core_speed;
mod entries;
mod fault;
mod forward;
mod level;
mod neighbour;
mod overlap;
mod pinned;
mod rounds;
mod stream;
mod tlb;
mod transfer;

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::calibration::{Calibration, Measured, Step, METHOD, PASSES};
use crate::costs::{LevelCosts, MemoryCosts};
use crate::error::CostsError;
use crate::memory_left::allowed_bytes;
use crate::processor::{caches, home, processor_name, window};
use core_speed::{ns_per_dependent_addition, ns_per_independent_addition};
use level::Level;
use neighbour::Neighbour;
use overlap::Overlap;
use rounds::{rounded, Rounds};
use tlb::Tlb;

/// Bytes of memory that are used, over those of the last cache, if there is room.
const TIMES_LAST_CACHE: u64 = 8;
/// Memory is visited in order, from part to part. So of twice the last cache, next to nothing is there when its turn comes again.
const ENOUGH_TIMES_LAST_CACHE: u64 = 2;
const LEAST_MEMORY_BYTES: u64 = 64 << 20;
/// More than that would take long to prepare; a cache that is larger than an eighth of it is measured with less than eight times its size.
const USUAL_MOST_BYTES: u64 = 1 << 30;
/// The order of the pointers takes four bytes for each of 128.
const WITH_ORDER: f64 = 1.0 + 4.0 / 128.0;
const SPEED_ROUNDS: usize = 60;
/// A core that was idle takes some time to reach its speed.
const WARM_UP: Duration = Duration::from_millis(100);
/// After this time no other pass begins.
const MOST_TIME: Duration = Duration::from_secs(6);

impl Calibration {
    /// Measures this machine, which takes some seconds. `progress` is called before each step.
    ///
    /// # Errors
    /// If the machine doesn't say what caches it has, memory is short, or the figures contradict each other.
    pub fn measure(mut progress: impl FnMut(Step)) -> Result<Calibration, CostsError> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(CostsError::Architecture(std::env::consts::ARCH));
        }
        let began = Instant::now();
        let (sender, steps) = mpsc::channel();
        // In a thread of its own, for the caller's stays where it may run.
        let measuring = thread::spawn(move || {
            let mut done = 0;
            let mut tell = |what| {
                // If nobody listens, the figures are measured all the same.
                let _ = sender.send(Step { done, what });
                done += 1;
            };
            tell("memory is prepared");
            let mut bench = Bench::new()?;
            for pass in 1..=PASSES {
                bench.pass(&mut tell);
                if pass < PASSES && began.elapsed() > MOST_TIME {
                    bench.notes.push(format!(
                        "other programs used the processors: {pass} of {PASSES} passes in {:.0} s; measure again while they rest",
                        began.elapsed().as_secs_f64()
                    ));
                    break;
                }
            }
            bench.calibration()
        });
        steps.iter().for_each(&mut progress);
        let mut calibration = match measuring.join() {
            Ok(measured) => measured?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if let Some(measured) = &mut calibration.measured {
            measured.took_s = began.elapsed().as_secs_f64();
        }
        Ok(calibration)
    }
}

/// What is measured, and the rounds so far.
struct Bench {
    /// L1 first, memory last.
    levels: Vec<Level>,
    neighbour: Neighbour,
    overlap: Overlap,
    tlb: Tlb,
    cycle: Rounds,
    addition: Rounds,
    fault: Rounds,
    forward: Rounds,
    block_at_hand: Rounds,
    new_block: Rounds,
    /// By partner.
    transfers: Vec<(usize, Rounds)>,
    notes: Vec<String>,
}

impl Bench {
    /// Stays on one processor from here on.
    fn new() -> Result<Bench, CostsError> {
        let allowed = pinned::allowed();
        let home = home();
        pinned::pin(home)?;
        let caches = caches(home);
        let last_bytes = caches.last().ok_or(CostsError::NoCaches)?.size_bytes;
        let of_caches: u64 = caches
            .iter()
            .map(|cache| Level::most_bytes(cache.size_bytes))
            .sum();
        let memory_bytes = memory_bytes(
            last_bytes,
            of_caches + Tlb::needed_bytes() + fault::needed_bytes(),
            allowed_bytes(),
        )?;
        let mut levels = Vec::new();
        let mut bytes_before = None;
        for cache in caches {
            levels.push(Level::cache(cache.level, cache.size_bytes, bytes_before)?);
            bytes_before = Some(cache.size_bytes);
        }
        levels.push(Level::memory(memory_bytes as usize)?);
        let notes = [note_on_pages(), note_on_memory(memory_bytes, last_bytes)];
        let transfers = pinned::partners(home, &allowed)
            .into_iter()
            .map(|partner| (partner, Rounds::default()));
        Ok(Bench {
            levels,
            neighbour: Neighbour::default(),
            overlap: Overlap::new(),
            tlb: Tlb::new()?,
            cycle: Rounds::default(),
            addition: Rounds::default(),
            fault: Rounds::default(),
            forward: Rounds::default(),
            block_at_hand: Rounds::default(),
            new_block: Rounds::default(),
            transfers: transfers.collect(),
            notes: notes.into_iter().flatten().collect(),
        })
    }

    /// Measures every figure, in the steps of a pass.
    fn pass(&mut self, tell: &mut impl FnMut(&'static str)) {
        tell("speed of the core");
        let begin = Instant::now();
        while begin.elapsed() < WARM_UP {
            ns_per_dependent_addition();
        }
        let rounds = |time: fn() -> f64| (0..SPEED_ROUNDS).map(|_| time()).collect();
        self.cycle.add(rounds(ns_per_dependent_addition));
        self.addition.add(rounds(ns_per_independent_addition));
        self.forward.add(rounds(forward::ns_per_turn));
        self.block_at_hand.add(rounds(allocator::ns_per_block_at_hand));
        self.new_block.add(rounds(allocator::ns_per_new_block));
        tell("caches");
        let (memory, caches) = self.levels.split_last_mut().expect("memory is a level");
        caches.iter_mut().for_each(Level::pass);
        tell("memory");
        memory.pass();
        self.neighbour.pass(memory.chase());
        tell("misses at once");
        self.overlap.pass(memory.chase());
        tell("translations");
        self.tlb.pass();
        if let Ok(faults) = fault::ns_per_fault() {
            self.fault.add(faults);
        }
        tell("transfers between cores");
        for (partner, rounds) in &mut self.transfers {
            rounds.add(transfer::ns_per_transfer(*partner));
        }
    }

    fn calibration(self) -> Result<Calibration, CostsError> {
        let costs = self
            .costs()
            .ok_or_else(|| CostsError::Disturbed("no round ended".into()))?;
        costs
            .check()
            .map_err(|error| CostsError::Disturbed(error.to_string()))?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Calibration {
            costs,
            measured: Some(Measured {
                method: METHOD,
                unix_s: since_1970.map_or(0, |since| since.as_secs()),
                took_s: 0.0,
                spread: self.spreads(),
                notes: self.notes(),
            }),
        })
    }

    fn costs(&self) -> Option<MemoryCosts> {
        let cycle_ns = self.cycle.value()?;
        let memory_ns = self.levels.last()?.latency_ns()?;
        Some(MemoryCosts {
            processor: processor_name(),
            ghz: rounded(1.0 / cycle_ns),
            levels: ordered(self.level_costs()?),
            tlb: self.tlb.costs()?,
            fault_ns: rounded(self.fault.value()?),
            // The instruction between load and store takes a cycle.
            forward_ns: rounded((self.forward.value()? - cycle_ns).max(0.0)),
            block_at_hand_ns: rounded(self.block_at_hand.value()?),
            new_block_ns: rounded(self.new_block.value()?),
            transfer_ns: self.transfer().and_then(Rounds::value).map(rounded),
            neighbour_ns: self.neighbour.ns(memory_ns).map(rounded),
            most_misses: self.overlap.most_misses(memory_ns)?,
            window: window(),
            width: rounded(cycle_ns / self.addition.value()?),
        })
    }

    fn level_costs(&self) -> Option<Vec<LevelCosts>> {
        let memory_ns = self.levels.last()?.latency_ns()?;
        self.levels.iter().map(|level| level.costs(memory_ns)).collect()
    }

    /// That of the partner in the middle: some cores are nearer than others. None where no two threads ran at once.
    fn transfer(&self) -> Option<&Rounds> {
        let mut transfers: Vec<(f64, &Rounds)> = self
            .transfers
            .iter()
            .filter_map(|(_, rounds)| Some((rounds.value()?, rounds)))
            .filter(|(ns, _)| *ns <= transfer::MOST_NS)
            .collect();
        transfers.sort_by(|one, other| one.0.total_cmp(&other.0));
        transfers.get(transfers.len() / 2).map(|(_, rounds)| *rounds)
    }

    fn notes(&self) -> Vec<String> {
        let memory_ns = self.levels.last().and_then(Level::latency_ns);
        let levels = self.levels.iter().filter_map(|level| level.note(memory_ns?));
        let without_transfer = !self.transfers.is_empty() && self.transfer().is_none();
        let transfer =
            without_transfer.then(|| "transfers between cores: never did two threads run at once".to_owned());
        self.notes.iter().cloned().chain(levels).chain(transfer).collect()
    }

    fn spreads(&self) -> BTreeMap<String, f64> {
        let core = [
            ("ghz", &self.cycle),
            ("width", &self.addition),
            ("fault_ns", &self.fault),
            ("forward_ns", &self.forward),
            ("block_at_hand_ns", &self.block_at_hand),
            ("new_block_ns", &self.new_block),
        ]
        .map(|(name, rounds)| (name.to_owned(), rounds));
        let transfer = self.transfer().map(|rounds| ("transfer_ns".to_owned(), rounds));
        let levels = self.levels.iter().flat_map(Level::spreads);
        let all = core
            .into_iter()
            .chain(transfer)
            .chain(levels)
            .chain(self.tlb.spreads());
        all.filter_map(|(name, rounds)| Some((name, rounded(rounds.spread()?))))
            .collect()
    }
}

/// No cache is slower than what stands after it: a latency that says so was disturbed, and is at most that one.
fn ordered(mut levels: Vec<LevelCosts>) -> Vec<LevelCosts> {
    let mut after_ns = f64::INFINITY;
    for level in levels.iter_mut().rev() {
        level.latency_ns = level.latency_ns.min(after_ns);
        after_ns = level.latency_ns;
    }
    levels
}

/// What is lacking where the system has no huge pages.
fn note_on_pages() -> Option<String> {
    let setting = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    (setting.is_empty() || setting.contains("[never]")).then(|| {
        "the system gives no transparent huge pages: latencies include translations by small ones".to_owned()
    })
}

/// What to say if so little memory was measured that the last cache may have held some of it.
fn note_on_memory(bytes: u64, last_cache_bytes: u64) -> Option<String> {
    (bytes < ENOUGH_TIMES_LAST_CACHE * last_cache_bytes).then(|| {
        format!(
            "memory: {} MiB were measured, for there is no room for twice the last cache, of {} MiB: \
             memory may be slower than the figures say",
            bytes >> 20,
            last_cache_bytes >> 20
        )
    })
}

/// Bytes of memory to measure, if all buffers together may have so many.
fn memory_bytes(last_cache_bytes: u64, others_bytes: u64, allowed_bytes: u64) -> Result<u64, CostsError> {
    let usual = (TIMES_LAST_CACHE * last_cache_bytes).min(USUAL_MOST_BYTES);
    let wanted = usual
        .max(ENOUGH_TIMES_LAST_CACHE * last_cache_bytes)
        .max(LEAST_MEMORY_BYTES);
    let least = last_cache_bytes.max(LEAST_MEMORY_BYTES);
    let left = (allowed_bytes.saturating_sub(others_bytes) as f64 / WITH_ORDER) as u64;
    match left >= least {
        true => Ok(wanted.min(left)),
        false => Err(CostsError::LittleMemory {
            needed: (least as f64 * WITH_ORDER) as u64 + others_bytes,
            allowed: allowed_bytes,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cache_is_slower_than_memory() {
        let level = |latency_ns| LevelCosts {
            name: "level".into(),
            size_bytes: None,
            found_bytes: None,
            stay_ms: None,
            latency_ns,
            line_ns: 1.0,
        };
        let latencies =
            |levels: Vec<LevelCosts>| levels.iter().map(|level| level.latency_ns).collect::<Vec<_>>();
        assert_eq!(
            latencies(ordered(vec![level(1.0), level(120.0), level(100.0)])),
            [1.0, 100.0, 100.0]
        );
        assert_eq!(
            latencies(ordered(vec![level(1.0), level(14.0), level(100.0)])),
            [1.0, 14.0, 100.0]
        );
    }

    #[test]
    fn buffers_keep_within_what_is_allowed() {
        let (cache, others) = (32 << 20, 100 << 20);
        assert_eq!(memory_bytes(cache, others, 1 << 30).unwrap(), 256 << 20);
        let tight = memory_bytes(cache, others, 200 << 20).unwrap();
        assert!(tight >= 3 * cache && tight < 100 << 20, "{tight}");
        assert_eq!(note_on_memory(tight, cache), None);
        assert_eq!(memory_bytes(1 << 20, 0, 1 << 30).unwrap(), LEAST_MEMORY_BYTES);
        let error = memory_bytes(cache, others, 150 << 20).unwrap_err().to_string();
        assert!(error.contains("only 157286400 may be used"), "{error}");
    }

    #[test]
    fn a_large_cache_is_measured_with_as_much_memory_as_there_is() {
        let (cache, others) = (300 << 20, 330 << 20);
        assert_eq!(memory_bytes(cache, others, 6 << 30).unwrap(), 1 << 30);
        let huge = 1152 << 20;
        assert_eq!(memory_bytes(huge, others, 6 << 30).unwrap(), 2 * huge);
        let little = memory_bytes(cache, others, 800 << 20).unwrap();
        assert!((cache..2 * cache).contains(&little), "{little}");
        let note = note_on_memory(little, cache).unwrap();
        assert!(
            note.contains("no room for twice the last cache, of 300 MiB"),
            "{note}"
        );
    }
}
