//! `trackway map`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_analysis::map::{Finest, Map, MapMeasure, View, DEFAULT_BINS, DEFAULT_ROWS};
use trackway_analysis::moments::ChunkTimes;
use trackway_analysis::site_counts::Measure;
use trackway_report::{HeatMap, Report, TextStyle};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::simulated;
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::picture::PictureArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};
use crate::time::MachineArguments;

/// The table that is shown as a picture.
const CELLS: &str = "cells";
/// Rows of a picture in characters, and of one in a file.
const TEXT_ROWS: usize = 40;
const FILE_ROWS: usize = 200;
/// Cells of the finest level of JSON and CSV, and of a picture, unless a level is asked for.
const LISTED_CELLS: usize = 20_000;
const DRAWN_CELLS: usize = 200_000;

/// Show which memory was accessed when
///
/// A picture of addresses by time: rows are blocks by the place that allocated them, static variables, stacks, and the
/// addresses within, without the gaps; columns are times; shades are accesses, bytes or cache misses. JSON and CSV have
/// all of it, reads and writes of each thread apart, in a pyramid of resolutions. docs/verbs/map.md defines each
/// number.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Rows of the table of memory; 0 for all")),
    mut_arg("csv", |csv| csv.help("Print the cells as CSV")),
    after_help = "Examples:\n  trackway map prog.trackway\n  \
                        trackway map --measure misses --svg misses.svg prog.trackway\n  \
                        trackway map --measure cycles prog.trackway\n  \
                        trackway map --from 1.5ms --to 2ms --allocation nodes prog.trackway\n  \
                        trackway map --address 0x5555000-0x5556fff --level 0 --csv prog.trackway > cells.csv")]
pub struct MapArguments {
    /// The trace
    pub trace: PathBuf,
    /// What to count: accesses, bytes, misses (as `report` ranks by), the misses of a level: L1, L2, ..., or cycles, which are
    /// estimated as by `report --time`
    #[arg(long, value_name = "MEASURE", default_value = "accesses")]
    pub measure: MapMeasure,
    /// Caches to simulate for misses and cycles, as for `report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Only these addresses, such as 0x1000-0x1fff
    #[arg(long, value_name = "FIRST-LAST", value_parser = parse_addresses)]
    pub address: Option<(u64, u64)>,
    /// Only memory of that name: a variable, the variable, type, function or FILE:LINE of allocations, stack, or other
    #[arg(long, value_name = "NAME")]
    pub allocation: Option<String>,
    /// The finest resolution in JSON and CSV, 0 for all of it [default: the finest with up to 20,000 cells]
    #[arg(long, value_name = "N")]
    pub level: Option<u32>,
    #[command(flatten)]
    pub picture: PictureArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl Question for MapArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let mut warnings = Vec::new();
        let times = chunk_times(trace, &self.reading);
        let view = view(self, trace, &times, &mut warnings)?;
        let map = Map::new(trace, &times, self.reading.origins(trace), view);
        Ok(self.reading.report(&map, trace, warnings))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &MapArguments) -> Result<ExitCode, Failure> {
    if arguments.measure == MapMeasure::Cycles {
        arguments.machine.prepare()?;
    }
    let mut report = kept::ask("map", arguments, &arguments.trace, &arguments.keeping)?;
    write_pictures(arguments, &mut report)?;
    let next = NextStep::ask("view", &arguments.trace, "");
    arguments.output.print_as(&report, report.table(CELLS), |style| {
        text(&report, style) + &next.shown(style)
    })
}

/// Reads the trace to learn how many accesses each chunk has.
pub fn chunk_times(trace: &Trace, reading: &ReadingArguments) -> ChunkTimes {
    reading.with_progress(trace, 1, |threads, progress| {
        ChunkTimes::count(trace, threads, progress)
    })
}

fn view(
    arguments: &MapArguments,
    trace: &Trace,
    times: &ChunkTimes,
    warnings: &mut Vec<String>,
) -> Result<View, Failure> {
    let caches = match arguments.measure.needs_caches() {
        true => simulated(arguments.cache.clone(), trace, true, warnings),
        false => Caches::none(),
    };
    let Some(measure) = arguments.measure.in_caches(&caches) else {
        return Err(Failure::new(format!(
            "--measure: there are no {} with the caches {caches}",
            arguments.measure
        )));
    };
    let machine = match measure {
        Measure::Cycles => Some(Arc::new(arguments.machine.machine(&caches, trace, warnings)?)),
        _ => None,
    };
    let (from_ns, to_ns) = times.range_ns();
    Ok(View {
        measure,
        caches,
        machine,
        from_ns,
        to_ns,
        addresses: arguments.address.unwrap_or((0, u64::MAX)),
        owner: arguments.allocation.clone(),
        rows: DEFAULT_ROWS,
        bins: DEFAULT_BINS,
        finest: finest(arguments),
        top: arguments.output.rows(),
    })
}

/// A picture may be finer than what is listed.
fn finest(arguments: &MapArguments) -> Finest {
    match arguments.level {
        Some(level) => Finest::Level(level),
        None if arguments.output.is_for_programs() => Finest::Cells(LISTED_CELLS),
        None => Finest::Cells(DRAWN_CELLS),
    }
}

/// Writes the pictures that are asked for, and adds a table that describes their pixels.
fn write_pictures(arguments: &MapArguments, report: &mut Report) -> Result<(), Failure> {
    let Some(file) = arguments.picture.file() else {
        return Ok(());
    };
    let cells = report.table(CELLS);
    let picture = cells.and_then(|cells| HeatMap::from_cells(cells, FILE_ROWS, DEFAULT_BINS));
    let picture = picture.ok_or_else(|| Failure::about(file, format!("not written: {}", report.answer)))?;
    arguments.picture.write(&picture, report)
}

/// The text of a report, with a picture in place of the cells.
fn text(report: &Report, style: &TextStyle) -> String {
    let picture = report
        .table(CELLS)
        .and_then(|cells| HeatMap::from_cells(cells, TEXT_ROWS, style.heat_map_columns()))
        .map(|picture| style.heat_map(&picture));
    style.report_with(report, picture, &[CELLS])
}

fn parse_addresses(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let range = text
        .split_once('-')
        .and_then(|(first, last)| Some((number(first)?, number(last)?)));
    range
        .filter(|(first, last)| first <= last)
        .ok_or_else(|| "expected the first and the last address, such as 0x1000-0x1fff".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        assert_eq!(parse_addresses("0x10-31"), Ok((16, 31)));
        for wrong in ["", "0x10", "0x20-0x10", "-", "x-y"] {
            assert!(parse_addresses(wrong).is_err(), "{wrong}");
        }
    }
}
