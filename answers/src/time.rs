//! The machine whose time is estimated.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use clap::Args;
use trackway_analysis::cache::{Caches, Prefetch, Prefetcher, TlbLevel, MAX_LEVELS};
use trackway_analysis::site_counts::Measure;
use trackway_analysis::time::{Costs, Machine};
use trackway_machine::{preset_names, Calibration, CostsError, LevelCosts, MemoryCosts};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::ModelArguments;

/// Prefetchers of the first and of the second level if the caches have none: what Intel and AMD describe comes near.
const USUAL_PREFETCHERS: [Prefetch; 2] = [
    Prefetch {
        kind: Prefetcher::FarStride,
        degree: 2,
    },
    Prefetch {
        kind: Prefetcher::Stream,
        degree: 8,
    },
];
/// Instructions for each addition that a core can make at once: it loads and stores beside them.
const INSTRUCTIONS_PER_ADDITION: f64 = 1.3;
/// From a branch that was guessed wrong to the next instruction: AMD's Zen 3 takes 13 cycles, Intel's Skylake 16.
const WRONG_BRANCH_CYCLES: f64 = 14.0;
/// What a line near a miss may add to the miss, as a part of the latency of memory, if it came with it.
const LITTLE_OF_MEMORY: f64 = 0.25;
/// TLBs if neither the caches nor the machine have any.
const TLB_WAYS: std::ops::RangeInclusive<u32> = 4..=12;
const USUAL_TLBS: [TlbLevel; 2] = [
    TlbLevel { entries: 64, ways: 4 },
    TlbLevel {
        entries: 1536,
        ways: 12,
    },
];

/// Whether time is estimated, and that of which machine.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct TimeArguments {
    /// Estimate cycles too: what the program waits for, by the latencies and bandwidths of a machine; docs/verbs/time.md
    #[arg(long)]
    pub time: bool,
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// The machine whose time is estimated.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct MachineArguments {
    /// The machine whose time is estimated: a preset, or a file of `trackway calibrate --output` [default: this machine's, if it is of
    /// the kind that recorded]
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = named)]
    pub machine: Option<Box<MemoryCosts>>,
    /// This machine, once it is known: answers that are kept hold for its figures.
    #[arg(skip)]
    own: OnceLock<Box<MemoryCosts>>,
}

impl TimeArguments {
    /// See [`MachineArguments::prepare`].
    pub fn prepare(&self) -> Result<(), Failure> {
        match (self.time, &self.machine.machine) {
            (true, _) => self.machine.prepare(),
            (false, None) => Ok(()),
            (false, Some(_)) => Err(Failure::new("--machine: whose time? add --time")),
        }
    }

    /// The caches and what to rank by, as the model says: if time is estimated, by cycles unless it says otherwise.
    pub fn choose(
        &self,
        model: &ModelArguments,
        trace: &Trace,
        merges: bool,
        warnings: &mut Vec<String>,
    ) -> Result<(Caches, Measure), Failure> {
        match (self.time, model.sort) {
            (true, None | Some(Measure::Cycles)) => {
                let by_misses = ModelArguments {
                    sort: None,
                    ..model.clone()
                };
                let (caches, _) = by_misses.choose(trace, merges, warnings)?;
                Ok((caches, Measure::Cycles))
            }
            _ => model.choose(trace, merges, warnings),
        }
    }

    /// The machine whose time is to be estimated, if any, with these caches.
    pub fn machine(
        &self,
        caches: &Caches,
        trace: &Trace,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Machine>, Failure> {
        match self.time {
            true => self.machine.machine(caches, trace, warnings).map(Some),
            false => Ok(None),
        }
    }
}

impl MachineArguments {
    /// Finds the figures of this machine if they will be needed. They are measured if that wasn't done before.
    pub fn prepare(&self) -> Result<(), Failure> {
        if self.machine.is_none() && self.own.get().is_none() {
            let own = MemoryCosts::for_this_machine(|_| ()).map_err(failure)?;
            let _ = self.own.set(Box::new(own));
        }
        Ok(())
    }

    /// The machine whose time is to be estimated, with these caches.
    pub fn machine(
        &self,
        caches: &Caches,
        trace: &Trace,
        warnings: &mut Vec<String>,
    ) -> Result<Machine, Failure> {
        if caches.levels().is_empty() {
            return Err(Failure::new(
                "--time: without caches nothing tells what takes time; drop --cache none",
            ));
        }
        self.prepare()?;
        let costs = match (&self.machine, self.own.get()) {
            (Some(chosen), _) => chosen,
            (None, Some(own)) if own.processor == trace.meta().cpu_model => own,
            _ => return Err(foreign(&trace.meta().cpu_model)),
        };
        if costs.levels.len() != caches.levels().len() + 1 {
            warnings.push(format!(
                "time is that of {} with {} levels of cache, but {} are simulated: levels count by their numbers",
                costs.processor,
                costs.levels.len() - 1,
                caches.levels().len()
            ));
        }
        let caches = with_prefetchers(&as_found(caches, costs)?, costs)?.with_scattered_pages();
        let caches = caches.with_stays(last_cache(costs).stay_ms.map(|ms| (ms * 1e6) as u64));
        let caches = match brings_in_neighbours(costs) {
            true => caches.with_regions(),
            false => caches,
        };
        let costs = costs_of(costs, &caches);
        Ok(Machine { caches, costs })
    }
}

fn foreign(recorded_on: &str) -> Failure {
    let presets: Vec<&str> = preset_names().collect();
    failure(format!(
        "the trace was recorded on {recorded_on:?}, which isn't this machine; name a preset ({}), or a file that \
         `trackway calibrate --output FILE.toml` writes on that machine",
        presets.join(", ")
    ))
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("--time: {error}"))
}

fn named(name: &str) -> Result<Box<MemoryCosts>, CostsError> {
    if !name.ends_with(".toml") {
        return MemoryCosts::preset(name).map(Box::new);
    }
    let path = Path::new(name);
    let read = Calibration::read(path)?;
    let missing = || CostsError::Io {
        path: path.to_owned(),
        source: io::ErrorKind::NotFound.into(),
    };
    Ok(Box::new(read.ok_or_else(missing)?.costs))
}

/// Caches no larger than what of them a program found where the figures were measured.
fn as_found(caches: &Caches, costs: &MemoryCosts) -> Result<Caches, Failure> {
    let mut levels = caches.levels().to_vec();
    for (level, costs) in levels.iter_mut().zip(&costs.levels) {
        let geometry = &mut level.geometry;
        let way_bytes = u64::from(geometry.ways) * u64::from(geometry.line_bytes);
        // Where it is known how long lines stay, all of the cache is there.
        if let Some(found) = costs
            .found_bytes
            .filter(|_| costs.stay_ms.is_none())
            .filter(|found| costs.size_bytes == Some(geometry.size_bytes) && *found >= way_bytes)
        {
            geometry.size_bytes = found.min(geometry.size_bytes) / way_bytes * way_bytes;
        }
    }
    Caches::new(levels)
        .and_then(|found| found.with_tlbs(caches.tlbs().to_vec(), caches.page_bytes()))
        .and_then(|found| found.with_cores(caches.cores()))
        .map_err(failure)
}

/// The caches as time needs them: most machines foresee strides, and all translate addresses.
fn with_prefetchers(caches: &Caches, costs: &MemoryCosts) -> Result<Caches, Failure> {
    let mut levels = caches.levels().to_vec();
    if !levels.iter().any(|level| level.prefetch.is_on()) {
        for (level, prefetch) in levels.iter_mut().zip(USUAL_PREFETCHERS) {
            level.prefetch = prefetch;
        }
    }
    let tlbs = match caches.tlbs() {
        [] => match costs.tlb.entries {
            Some(entries) => entries.map(tlb_level).to_vec(),
            None => USUAL_TLBS.to_vec(),
        },
        tlbs => tlbs.to_vec(),
    };
    let timed = Caches::new(levels)
        .and_then(|timed| timed.with_tlbs(tlbs, caches.page_bytes()))
        .and_then(|timed| timed.with_cores(caches.cores()));
    timed.map_err(failure)
}

/// The last cache; memory if there is none.
fn last_cache(costs: &MemoryCosts) -> &LevelCosts {
    &costs.levels[costs.levels.len().saturating_sub(2)]
}

/// Whether a line near a miss is there as soon as the missed one.
fn brings_in_neighbours(costs: &MemoryCosts) -> bool {
    costs
        .neighbour_ns
        .is_some_and(|ns| ns < LITTLE_OF_MEMORY * costs.memory().latency_ns)
}

/// A level of the TLB in as many ways as divide its entries, up to those of most processors.
fn tlb_level(entries: u32) -> TlbLevel {
    let divides = |ways: &u32| entries.is_multiple_of(*ways);
    TlbLevel {
        entries,
        ways: TLB_WAYS.rev().find(divides).unwrap_or(1),
    }
}

fn costs_of(costs: &MemoryCosts, simulated: &Caches) -> Costs {
    let caches = simulated.levels().len();
    let of_level = |figure: &dyn Fn(&LevelCosts) -> f64| {
        let mut figures = [0.0; MAX_LEVELS + 1];
        for (level, place) in figures.iter_mut().enumerate().take(caches + 1) {
            let last_cache = costs.levels.len().saturating_sub(2);
            *place = figure(match level < caches {
                true => &costs.levels[level.min(last_cache)],
                false => costs.memory(),
            });
        }
        figures
    };
    let memory_ns = costs.memory().latency_ns;
    Costs {
        latency_ns: of_level(&|level| level.latency_ns),
        line_ns: of_level(&|level| level.line_ns),
        translation_ns: [costs.tlb.second_level_ns, costs.tlb.walk_ns],
        small_fault_ns: costs.fault_ns,
        page_bytes: simulated.page_bytes(),
        transfer_ns: costs.transfer_ns.unwrap_or(memory_ns),
        most_misses: costs.most_misses.into(),
        most_walks: costs.tlb.most_walks.into(),
        wrong_branch_ns: WRONG_BRANCH_CYCLES / costs.ghz,
        window: costs.window.into(),
        ghz: costs.ghz,
        forward_ns: costs.forward_ns,
        allocation_ns: [costs.block_at_hand_ns, costs.new_block_ns],
        instruction_ns: 1.0 / (costs.width * INSTRUCTIONS_PER_ADDITION * costs.ghz),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_a_tlb_divide_its_entries() {
        let ways = |entries| tlb_level(entries).ways;
        assert_eq!([72, 64, 1536, 3072, 2047].map(ways), [12, 8, 12, 12, 1]);
    }
}
