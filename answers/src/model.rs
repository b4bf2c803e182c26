//! The caches to simulate.

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_analysis::site_counts::Measure;
use trackway_trace::Trace;

use crate::failure::Failure;

/// Used where the machine's line size is unknown, or can't be that of a cache.
const USUAL_LINE_BYTES: u32 = 64;
const LEAST_LINE_BYTES: u32 = 16;
const MOST_LINE_BYTES: u32 = 1 << 30;

/// The caches to simulate, and what to rank by.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct ModelArguments {
    /// What to rank by: accesses, bytes, misses in L1, L2, ..., or cycles with --time [default: L2, with --time cycles]
    #[arg(long, value_name = "MEASURE")]
    pub sort: Option<Measure>,
    /// Caches to simulate: L1=SIZE,WAYS,LINE:L2=..., preset:NAME, FILE.toml or none; docs/verbs/cache-model.md
    /// [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
}

impl ModelArguments {
    /// Threads share caches only if their streams can be merged.
    pub fn choose(
        &self,
        trace: &Trace,
        merges: bool,
        warnings: &mut Vec<String>,
    ) -> Result<(Caches, Measure), Failure> {
        if self.sort == Some(Measure::Cycles) {
            return Err(Failure::new(
                "--sort cycles: cycles are only estimated by report, layout and whatif with --time",
            ));
        }
        let caches = simulated(self.cache.clone(), trace, merges, warnings);
        let rank_by = self.sort.unwrap_or_else(|| Measure::default_for(&caches));
        match rank_by.exists_in(&caches) {
            true => Ok((caches, rank_by)),
            false => Err(Failure::new(format!(
                "--sort: there are no {rank_by} with the caches {caches}"
            ))),
        }
    }
}

/// The chosen caches, or the machine's. No level is shared if the trace has one thread, whose accesses need no order.
/// The same goes for growing streams, which have no order.
pub fn simulated(chosen: Option<Caches>, trace: &Trace, merges: bool, warnings: &mut Vec<String>) -> Caches {
    let caches = chosen.unwrap_or_else(|| machine_caches(trace, warnings));
    match merges && trace.streams().len() > 1 {
        true => caches,
        false => caches.all_private(),
    }
}

pub fn machine_caches(trace: &Trace, warnings: &mut Vec<String>) -> Caches {
    Caches::of_machine(&trace.meta().caches).unwrap_or_else(|error| {
        let caches = Caches::default();
        warnings.push(format!(
            "the caches of the machine that recorded can't be simulated ({error}); using {caches}; \
             choose others with --cache"
        ));
        caches
    })
}

/// The largest line size of a cache of the machine.
pub fn line_bytes_of_machine(trace: &Trace) -> u32 {
    let sizes = trace.meta().caches.iter().map(|cache| cache.line_bytes);
    sizes
        .filter(|&size| is_line_size(size))
        .max()
        .unwrap_or(USUAL_LINE_BYTES)
}

/// What [`parse_line_size`] accepts.
pub const LINE_SIZES: &str = "expected a power of two from 16 to 1G, such as 64";

/// Whether analyses accept it as the size of a line.
pub fn is_line_size(bytes: u32) -> bool {
    bytes.is_power_of_two() && (LEAST_LINE_BYTES..=MOST_LINE_BYTES).contains(&bytes)
}

/// Reads a number of bytes that analyses accept as the size of a line.
pub fn parse_line_size(text: &str) -> Result<u32, String> {
    let size = trackway_analysis::cache::parse_size(text).and_then(|size| u32::try_from(size).ok());
    let size = size.filter(|&size| is_line_size(size));
    Ok(size.ok_or(LINE_SIZES)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_sizes_are_checked() {
        assert_eq!((parse_line_size("64"), parse_line_size("4K")), (Ok(64), Ok(4096)));
        for wrong in ["8", "48", "2G", ""] {
            assert!(parse_line_size(wrong).is_err(), "{wrong}");
        }
    }
}
