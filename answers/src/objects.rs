//! `trackway objects`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use trackway_analysis::objects::{Objects, Picture, PictureView};
use trackway_report::{HeatMap, Report, Table};
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::next_step::NextStep;
use crate::output::{OutputArguments, QuietArgument};
use crate::picture::PictureArguments;
use crate::question::Question;
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;
use crate::summed::Sums;

/// Parts of time by default.
pub const DEFAULT_SLICES: u16 = 64;
/// Rows and columns of a picture in a file.
const PICTURE_ROWS: usize = 200;
const PICTURE_COLUMNS: usize = 512;

/// Say whose memory a program's time goes to: allocations by call site, variables, stacks
///
/// Joins the samples of a trace with the calls of allocators (`trackway record --sample --allocations`): each sample
/// belongs to the block that was live at its time. Shares of time have a 95 % interval; shares of accesses, from the
/// instructions that follow each sample, say how far they can be relied on. docs/verbs/objects.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print one table as CSV")),
    after_help = "Examples:\n  trackway objects prog.trackway\n  \
                  trackway objects --svg memory.svg --thread 4242 prog.trackway\n  \
                  trackway objects --table object_phases --csv prog.trackway > phases.csv\n  \
                  trackway diff --analysis objects before.trackway after.trackway")]
pub struct ObjectsArguments {
    /// The trace
    pub trace: PathBuf,
    /// Parts of time in tables of phases and in pictures, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096), default_value_t = DEFAULT_SLICES)]
    pub slices: u16,
    #[command(flatten)]
    pub picture: PictureArguments,
    /// In pictures only memory whose name or place contains this text
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Tables of memory; may be repeated [default: object]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<ObjectsBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
    #[command(flatten)]
    pub keeping: KeepingArguments,
    /// The table that --csv prints, by its name in JSON [default: objects, or that of --by]
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with = "by")]
    pub table: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectsBy {
    /// Allocations by call site, variables and stacks
    Object,
    /// Heap, statics, stacks and the like
    Kind,
    /// Types of the objects, as far as they are known
    Type,
}

const BY_KIND: Sums = Sums {
    of: "objects",
    name: "object_kinds",
    title: "Kinds of memory",
    keys: &["kind"],
    counted: "objects",
    added: &["samples", "weight", "share"],
    foremost: None,
};
const BY_TYPE: Sums = Sums {
    name: "object_types",
    title: "Types of memory",
    keys: &["data_type"],
    ..BY_KIND
};

impl Groups for ObjectsBy {
    const ALL: &'static [ObjectsBy] = &[ObjectsBy::Object, ObjectsBy::Kind, ObjectsBy::Type];

    fn tables(self) -> &'static [&'static str] {
        match self {
            ObjectsBy::Object => &["objects", "object_accesses", "object_phases", "object_tenths"],
            ObjectsBy::Kind => &["object_kinds"],
            ObjectsBy::Type => &["object_types"],
        }
    }

    fn sums(self) -> Option<&'static Sums> {
        match self {
            ObjectsBy::Object => None,
            ObjectsBy::Kind => Some(&BY_KIND),
            ObjectsBy::Type => Some(&BY_TYPE),
        }
    }
}

impl ObjectsArguments {
    /// The report with the tables that --by chooses.
    fn report(&self, trace: &Trace, objects: &Objects) -> Report {
        let mut report = report(trace, objects, self.output.rows());
        if !self.by.is_empty() {
            let finer = objects.findings(usize::MAX).tables;
            chosen_tables::choose(&mut report.tables, &finer, &self.by, self.output.rows());
        }
        report
    }
}

impl Question for ObjectsArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_samples(trace)?;
        let objects = Objects::of(trace, self.slices.into());
        Ok(self.report(trace, &objects))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }
}

pub fn run(arguments: &ObjectsArguments) -> Result<ExitCode, Failure> {
    let report = match arguments.picture.file() {
        Some(_) => with_pictures(arguments)?,
        None => kept::ask("objects", arguments, &arguments.trace, &arguments.keeping)?,
    };
    let by = (arguments.by.as_slice(), "objects");
    let csv = chosen_tables::csv_table(&arguments.output, &report, arguments.table.as_deref(), by)?;
    let next = NextStep::ask("view", &arguments.trace, "");
    arguments.output.print_as(&report, csv, |style| {
        style.report_with(&report, None, &["object_phases", "object_tenths"]) + &next.shown(style)
    })
}

/// The report, with pictures of what no report holds.
fn with_pictures(arguments: &ObjectsArguments) -> Result<Report, Failure> {
    let trace = arguments.slice.request().apply(open_samples(&arguments.trace)?)?;
    let objects = Objects::of(&trace, arguments.slices.into());
    let mut report = arguments.report(&trace, &objects);
    write_pictures(arguments, &objects, &mut report)?;
    Ok(report)
}

/// Opens a trace for a command that reads its samples.
pub fn open_samples(path: &Path) -> Result<Trace, Failure> {
    let trace = Trace::open(path)?;
    require_samples(&trace)?;
    Ok(trace)
}

/// Fails if the trace has no samples.
pub fn require_samples(trace: &Trace) -> Result<(), Failure> {
    match trace.is_sampled() {
        true => Ok(()),
        false => Err(Failure::about(
            trace.path(),
            "this trace holds no samples; record them with `trackway record --sample --allocations`",
        )),
    }
}

/// What the join finds, and what that is based on.
pub fn report(trace: &Trace, objects: &Objects, rows: usize) -> Report {
    let findings = objects.findings(rows);
    let mut warnings = soundness::losses(trace);
    warnings.extend(objects.warnings());
    let mut report = findings.into_report(warnings);
    report.tables.extend(soundness::extent(trace));
    report
}

/// Writes the pictures that are asked for, and adds a table that describes their pixels.
fn write_pictures(
    arguments: &ObjectsArguments,
    objects: &Objects,
    report: &mut Report,
) -> Result<(), Failure> {
    let Some(file) = arguments.picture.file() else {
        return Ok(());
    };
    let view = PictureView {
        thread: None,
        name: arguments.name.clone(),
    };
    let cells: Table = Picture::new(objects, &view).cells();
    let picture = HeatMap::from_cells(&cells, PICTURE_ROWS, PICTURE_COLUMNS).ok_or_else(|| {
        Failure::about(
            file,
            "not written: no sample of the view says which memory it accessed",
        )
    })?;
    arguments.picture.write(&picture, report)
}
