//! Advice from a trace.

use std::path::Path;
use std::process::ExitCode;

use trackway_analysis::objects::Objects;
use trackway_analysis::placement::{parse_tier, Placement, Tier};
use trackway_report::Report;

use super::{advice_file, PlaceArguments};
use crate::failure::Failure;
use crate::objects::open_samples;
use crate::{output, soundness};

/// Unless tiers are named.
const DEFAULT_TIERS: [&str; 2] = ["dram", "cxl"];
/// Parts of time are of no interest.
const SLICES: usize = 1;

pub fn run(arguments: &PlaceArguments, trace: &Path) -> Result<ExitCode, Failure> {
    let tiers = tiers(arguments)?;
    let measured_in = measured_in(arguments, &tiers)?;
    let trace = open_samples(trace)?;
    let objects = Objects::of(&trace, SLICES);
    let placement = Placement::of(&objects, tiers, measured_in);
    if let Some(file) = &arguments.advice {
        let text = advice_file::text(&placement, &trace.meta().program)?;
        output::write_file(file, text.as_bytes(), arguments.force)?;
    }
    let findings = placement.findings(arguments.output.rows());
    let mut warnings = soundness::losses(&trace);
    warnings.extend(objects.warnings());
    warnings.extend(placement.warnings());
    let report = Report {
        answer: findings.answer.unwrap_or_default(),
        warnings,
        tables: findings.tables,
    };
    arguments.output.print(&report, report.tables.first())
}

fn tiers(arguments: &PlaceArguments) -> Result<Vec<Tier>, Failure> {
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

fn measured_in(arguments: &PlaceArguments, tiers: &[Tier]) -> Result<usize, Failure> {
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
