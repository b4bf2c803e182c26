//! Advice on which allocations should lie in which kind of memory.

use std::path::PathBuf;

use clap::Args;
use trackway_analysis::objects::Objects;
use trackway_analysis::placement::{parse_tier, Placement, Tier};
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::objects::require_samples;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::soundness;

/// Tiers that are used if none are named.
const DEFAULT_TIERS: [&str; 2] = ["dram", "cxl"];
/// One slice: the advice doesn't need parts of time.
const SLICES: usize = 1;

/// The kinds of memory.
#[derive(Debug, Clone, Args)]
pub struct TierArguments {
    /// A kind of memory, the first to be filled first: dram, hbm, cxl, nvme, or a name of your own; with
    /// capacity=SIZE, latency=NANOSECONDS, read=BYTES and write=BYTES (for each second) after a colon
    /// [default: dram and cxl]
    #[arg(long, visible_alias = "tiers", value_name = "TIER", value_parser = parse_tier)]
    pub tier: Vec<Tier>,
    /// The tier in which the program's allocations lay when it was recorded [default: the first]
    #[arg(long, value_name = "NAME")]
    pub measured_in: Option<String>,
}

/// The part of `trackway place` that asks a trace.
#[derive(Debug, Clone, Args)]
pub struct PlacementArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub tiers: TierArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

impl Question for PlacementArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        recommend(trace, &self.tiers, self.output.rows(), |_| Ok(()))
    }
}

/// Recommends what to place where, with at most so many rows in its tables; `keep` may write down the advice.
///
/// # Errors
/// If the tiers make no sense, the trace holds no samples, or `keep` fails.
pub fn recommend(
    trace: &Trace,
    arguments: &TierArguments,
    rows: usize,
    keep: impl FnOnce(&Placement) -> Result<(), Failure>,
) -> Result<Report, Failure> {
    let tiers = tiers(arguments)?;
    let measured_in = measured_in(arguments, &tiers)?;
    require_samples(trace)?;
    let objects = Objects::of(trace, SLICES);
    let placement = Placement::of(&objects, tiers, measured_in);
    keep(&placement)?;
    let findings = placement.findings(rows);
    let mut warnings = soundness::losses(trace);
    warnings.extend(objects.warnings());
    warnings.extend(placement.warnings());
    Ok(findings.into_report(warnings))
}

fn tiers(arguments: &TierArguments) -> Result<Vec<Tier>, Failure> {
    let tiers = match arguments.tier.is_empty() {
        true => DEFAULT_TIERS
            .iter()
            .map(|name| parse_tier(name).map_err(Failure::new))
            .collect::<Result<_, _>>()?,
        false => arguments.tier.clone(),
    };
    let is_twice = |(index, tier): (usize, &Tier)| tiers[..index].iter().any(|other| other.name == tier.name);
    if tiers.len() < 2 || tiers.iter().enumerate().any(is_twice) {
        return Err(Failure::new(
            "--tier: name at least two different tiers, such as --tier dram:capacity=8G --tier cxl",
        ));
    }
    Ok(tiers)
}

fn measured_in(arguments: &TierArguments, tiers: &[Tier]) -> Result<usize, Failure> {
    let Some(name) = &arguments.measured_in else {
        return Ok(0);
    };
    let found = tiers.iter().position(|tier| tier.name == *name);
    found.ok_or_else(|| {
        let names: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
        Failure::new(format!(
            "--measured-in: there is no tier {name:?}; there are {}",
            names.join(", ")
        ))
    })
}
