//! `trackway calibrate`: what memory costs on this machine.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use clap::builder::PossibleValuesParser;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackway_answers::output::{self, OutputArguments, QuietArgument};
use trackway_machine::{preset_names, Calibration, CostsError, LevelCosts, MemoryCosts, STEPS};
use trackway_report::{Report, Table, TableBuilder, Unit};
use trackway_trace::output_file::Existing;

use crate::failure::Failure;

const MEASURE: &str = "use `trackway calibrate --force` to measure";

/// Measure what memory costs on this machine
///
/// Measures the latency and the time per line of each cache and of memory, misses of the TLB, transfers of lines between
/// cores, and how many misses overlap. That takes some seconds. The figures are stored for this user in
/// $XDG_CONFIG_HOME/trackway/machine.toml, or below ~/.config, and shown the next time. docs/verbs/calibrate.md defines
/// each number.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trackway calibrate\n  trackway calibrate --force --json\n  \
                        trackway calibrate --preset zen3\n  trackway calibrate --show --output machine.toml"
)]
pub struct CalibrateArguments {
    /// Show the stored figures, and measure nothing
    #[arg(long, conflicts_with = "force")]
    pub show: bool,
    /// Measure again, even if there are figures of this machine; with --output, replace that file
    #[arg(short, long)]
    pub force: bool,
    /// Show the published figures of a processor, and measure nothing
    #[arg(long, value_name = "NAME", conflicts_with = "show", value_parser = PossibleValuesParser::new(preset_names()))]
    pub preset: Option<String>,
    /// Write the figures to this file, too, as TOML
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub form: OutputArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
}

pub fn run(arguments: &CalibrateArguments) -> Result<ExitCode, Failure> {
    let (calibration, answer) = figures(arguments)?;
    if let Some(file) = &arguments.output {
        let existing = Existing::with_force(arguments.force);
        output::write_file(file, calibration.to_toml().as_bytes(), existing)?;
    }
    let report = report(&calibration, answer);
    arguments.form.print(&report, report.table("levels"))
}

/// The figures, and a sentence on where they come from.
fn figures(arguments: &CalibrateArguments) -> Result<(Calibration, String), Failure> {
    if let Some(name) = &arguments.preset {
        let costs = MemoryCosts::preset(name).map_err(failure)?;
        let answer = format!("{}: published figures, preset {name}", costs.processor);
        return Ok((
            Calibration {
                costs,
                measured: None,
            },
            answer,
        ));
    }
    if !arguments.force {
        match Calibration::stored() {
            Ok(Some(calibration)) => {
                let answer = format!("{}; {MEASURE} again", described(&calibration));
                return Ok((calibration, answer));
            }
            Ok(None) if arguments.show => {
                return Err(Failure::new(format!(
                    "this machine hasn't been measured; {MEASURE} it"
                )))
            }
            Err(error) if arguments.show => return Err(Failure::new(format!("{error}; {MEASURE} this one"))),
            Err(
                error @ (CostsError::File { .. }
                | CostsError::OtherMachine { .. }
                | CostsError::OlderMethod { .. }),
            ) => {
                output::say(format!("{error}; measuring again"));
            }
            Ok(None) | Err(_) => {}
        }
    }
    measured(arguments.output.is_some(), arguments.quiet.quiet)
}

/// Measures and stores. If there is another file for the figures, they needn't be stored.
fn measured(has_output: bool, quiet: bool) -> Result<(Calibration, String), Failure> {
    let place = Calibration::place();
    if let (Err(error), false) = (&place, has_output) {
        return Err(Failure::new(format!(
            "{error}; to keep the figures elsewhere, use --output, or set XDG_CONFIG_HOME"
        )));
    }
    let target = match quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(Some(STEPS.into()), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %  {msg}") {
        bar.set_style(style);
    }
    let calibration = Calibration::measure(|step| {
        bar.set_position(step.done.into());
        bar.set_message(step.what);
    });
    bar.finish_and_clear();
    let calibration = calibration.map_err(failure)?;
    let mut answer = described(&calibration);
    match place.and_then(|_| calibration.store()) {
        Ok(path) => answer += &format!("; stored in {}", path.display()),
        Err(error) if has_output => output::warn(error),
        Err(error) => return Err(failure(error)),
    }
    Ok((calibration, answer))
}

fn failure(error: CostsError) -> Failure {
    Failure::new(error.to_string())
}

fn described(calibration: &Calibration) -> String {
    let processor = &calibration.costs.processor;
    let Some(measured) = &calibration.measured else {
        return format!("{processor}: stored figures");
    };
    // The year 9999 is the last that has a name.
    let since_1970 = Duration::from_secs(measured.unix_s.min(253_402_300_799));
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + since_1970);
    format!("{processor}: measured at {time} in {:.1} s", measured.took_s)
}

fn report(calibration: &Calibration, answer: String) -> Report {
    let measured = calibration.measured.as_ref();
    Report {
        answer,
        warnings: measured
            .map(|measured| measured.notes.clone())
            .unwrap_or_default(),
        tables: vec![levels(calibration), core(calibration)],
    }
}

fn spread(calibration: &Calibration, figure: &str) -> Option<f64> {
    calibration.measured.as_ref()?.spread.get(figure).copied()
}

fn levels(calibration: &Calibration) -> Table {
    let costs = &calibration.costs;
    let spread_of = |level: &LevelCosts, field| spread(calibration, &format!("{} {field}", level.name));
    TableBuilder::new("levels", "Caches and memory", &costs.levels)
        .text("level", |level| level.name.clone())
        .bytes(("size_bytes", "bytes"), |level| level.size_bytes)
        .bytes(("found_bytes", "of them found"), |level| level.found_bytes)
        .rate(("stay_ms", "stays, ms"), |level| level.stay_ms)
        .real(("latency_ns", "latency, ns"), Unit::Count, |level| {
            Some(level.latency_ns)
        })
        .rate(("latency_cycles", "cycles"), |level| {
            Some(costs.cycles(level.latency_ns))
        })
        .share(("latency_spread", "spread"), |level| {
            spread_of(level, "latency_ns")
        })
        .real(("line_ns", "a line, ns"), Unit::Count, |level| {
            Some(level.line_ns)
        })
        .rate(("gigabytes_per_s", "GB/s"), |level| Some(64.0 / level.line_ns))
        .share(("line_spread", "spread"), |level| spread_of(level, "line_ns"))
        .build()
}

/// A figure of the core.
struct Figure {
    name: &'static str,
    value: Option<f64>,
    unit: &'static str,
    /// What its spread is called.
    measured_as: &'static str,
}

fn core(calibration: &Calibration) -> Table {
    let costs = &calibration.costs;
    let figure = |name, value: f64, unit, measured_as| Figure {
        name,
        value: Some(value),
        unit,
        measured_as,
    };
    let figures = [
        figure("ghz", costs.ghz, "cycles per ns", "ghz"),
        figure("width", costs.width, "instructions per cycle", "width"),
        figure("window", costs.window.into(), "instructions in flight", ""),
        figure("most_misses", costs.most_misses.into(), "misses at once", ""),
        figure(
            "second_level_ns",
            costs.tlb.second_level_ns,
            "ns",
            "tlb second_level_ns",
        ),
        figure("walk_ns", costs.tlb.walk_ns, "ns", "tlb walk_ns"),
        figure(
            "most_walks",
            costs.tlb.most_walks.into(),
            "page tables at once",
            "",
        ),
        Figure {
            name: "first_entries",
            value: costs.tlb.entries.map(|[first, _]| first.into()),
            unit: "pages",
            measured_as: "",
        },
        Figure {
            name: "second_entries",
            value: costs.tlb.entries.map(|[_, second]| second.into()),
            unit: "pages",
            measured_as: "",
        },
        figure("fault_ns", costs.fault_ns, "ns", "fault_ns"),
        figure("forward_ns", costs.forward_ns, "ns", "forward_ns"),
        figure(
            "block_at_hand_ns",
            costs.block_at_hand_ns,
            "ns",
            "block_at_hand_ns",
        ),
        figure("new_block_ns", costs.new_block_ns, "ns", "new_block_ns"),
        Figure {
            name: "transfer_ns",
            value: costs.transfer_ns,
            unit: "ns",
            measured_as: "transfer_ns",
        },
        Figure {
            name: "neighbour_ns",
            value: costs.neighbour_ns,
            unit: "ns",
            measured_as: "",
        },
    ];
    TableBuilder::new("core", "One core", &figures)
        .text("figure", |figure| figure.name)
        .real("value", Unit::Count, |figure| figure.value)
        .text("unit", |figure| figure.unit)
        .share("spread", |figure| spread(calibration, figure.measured_as))
        .build()
}
