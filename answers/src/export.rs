//! `trackway export`.

mod allocation_stacks;
mod references;

use std::io::Write;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flate2::write::GzEncoder;
use flate2::Compression;
use trackway_analysis::cache::Caches;
use trackway_report::{
    counted, file_size, percent, to_callgrind, to_chrome_trace, to_csv, to_folded, to_pprof, CallgrindHeader,
    Report, Table, Unit, Value,
};
use trackway_trace::{Existing, Trace};

use crate::comparable::{answer, time_line, AnalysisName, Settings};
use crate::counts;
use crate::failure::Failure;
use crate::model::ModelArguments;
use crate::output;
use crate::reading::{require_accesses, ReadingArguments};
use crate::shell_word::quoted;
use crate::slice::{self, SliceLimits, SliceRequest, When};
use crate::time::TimeArguments;

/// Write what other tools read: call graphs, flame graphs, time lines, counts, address traces
///
/// `callgrind`: accesses and misses of functions and lines, and what functions cost with all that they call, for
/// KCachegrind and callgrind_annotate. `folded`: one number for each stack of functions, for flamegraph.pl, speedscope
/// and their like. `perfetto`: when functions ran and what threads accessed over time, for ui.perfetto.dev. Stacks come
/// from recorded function entries and exits; docs/verbs/export.md says how they are repaired where these are
/// missing. `pprof`: stacks with all of their numbers, for pprof. `csv`: a table of what a program counted, whole; by
/// default how often each of its blocks ran.
///
/// The others hold what the program did, access by access, of all threads in one order or of one (`--thread`); memory
/// doesn't grow with the trace. `drmemtrace` is a folder. docs/interchange.md says what each keeps, loses and makes up.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trackway export prog.trackway --to callgrind -o callgrind.out.prog\n  \
                        trackway export prog.trackway --to folded --measure l1_misses -o prog.folded\n  \
                        trackway export prog.trackway --to folded --time --measure cycles -o prog.folded\n  \
                        trackway export prog.trackway --to pprof -o prog.pb.gz && go tool pprof -top prog.pb.gz\n  \
                        trackway export prog.trackway --to drmemtrace -o drmemtrace.prog.dir\n  \
                        trackway export prog.trackway --to din --thread 0 -o prog.din\n  \
                        trackway export prog.trackway --to champsim --thread 0 -o prog.champsim && xz prog.champsim\n  \
                        trackway export counted.trackway --to csv --table blocks -o blocks.csv\n  \
                        trackway export prog.trackway --parquet prog.tables\n  \
                        trackway export prog.trackway --parquet prog.tables --table accesses"
)]
pub struct ExportArguments {
    /// The trace
    pub trace: PathBuf,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", required_unless_present = "parquet")]
    pub to: Option<Format>,
    /// The file to write; the folder, for drmemtrace
    #[arg(short, long, value_name = "FILE", required_unless_present = "parquet")]
    pub output: Option<PathBuf>,
    /// Write the trace's tables, those of `trackway query --schema`, to Parquet files in this folder: accesses by thread
    #[arg(long, value_name = "DIR", conflicts_with_all = ["to", "output"])]
    pub parquet: Option<PathBuf>,
    /// Rows of a Parquet file at most
    #[arg(long, value_name = "N", default_value = "16000000", requires = "parquet")]
    pub rows: NonZeroUsize,
    /// The number that folded stacks carry, and that pprof shows first: accesses, reads, writes, bytes, l1_misses, ..., with --time cycles; of
    /// calls of allocators allocations, bytes, bytes_at_peak, peak_bytes, leaked, leaked_bytes [default: accesses; for a
    /// trace that holds allocations only, bytes_at_peak]
    #[arg(long, value_name = "COLUMN")]
    pub measure: Option<String>,
    /// The only table that is written as Parquet, or the table of counts that is written as CSV, by its name in `trackway
    /// report --json` [default: all for Parquet, blocks for CSV]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// Only this thread's accesses: the number of its stream in `trackway info`
    #[arg(long, visible_alias = "stream", value_name = "N")]
    pub thread: Option<u32>,
    /// For formats without sizes (din, ramulator, libcachesim): one reference for each line of so many bytes that an
    /// access overlaps; 0: one for each access
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,
    /// For perf-script: every Nth access of a thread
    #[arg(long, value_name = "N", default_value = "1000")]
    pub every: NonZeroU64,
    /// How many calls of functions a time line has: the longest ones
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub slices: usize,
    /// Caches to simulate, as in `trackway report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub time: TimeArguments,
    /// Replace an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Only accesses before this time, as for --from. The other verbs call it --to
    #[arg(long, value_name = "WHEN", help_heading = "Slice")]
    pub until: Option<When>,
    #[command(flatten)]
    pub slice: SliceLimits,
    #[command(flatten)]
    pub reading: ReadingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// callgrind.out, for KCachegrind
    Callgrind,
    /// Folded stacks, for flame graphs
    Folded,
    /// Chrome's JSON trace format, for Perfetto
    Perfetto,
    /// A table of what was counted, for pandas, R and their like
    Csv,
    /// profile.proto, for pprof
    Pprof,
    /// Dinero's input: label and address
    Din,
    /// What Valgrind's Lackey prints with --trace-mem=yes
    Lackey,
    /// ChampSim's instructions of 64 bytes, uncompressed
    Champsim,
    /// Ramulator's memory trace: 0xADDRESS R, 0xADDRESS W
    Ramulator,
    /// Ramulator 2's LoadStoreTrace: LD 0xADDRESS, ST 0xADDRESS
    Ramulator2,
    /// The trace of a core, for both Ramulators: instructions before, address read, address written back
    RamulatorCore,
    /// libCacheSim's oracleGeneral
    Libcachesim,
    /// What `perf script` prints of samples of memory accesses
    PerfScript,
    /// DynamoRIO's drmemtrace: a folder with a file for each thread
    Drmemtrace,
}

impl Format {
    /// Whether it holds sums over accesses, or their times.
    fn sums_up(self) -> bool {
        matches!(
            self,
            Format::Callgrind | Format::Folded | Format::Perfetto | Format::Pprof
        )
    }
}

impl ExportArguments {
    /// What of the trace is exported. Formats that hold accesses choose the thread among streams of the whole trace.
    pub fn slice(&self) -> SliceRequest {
        let thread = self.thread.filter(|_| self.to.is_some_and(Format::sums_up));
        self.slice
            .request(self.until.clone(), thread.into_iter().collect())
    }

    /// Fails if a part of the trace is chosen, for what writes all of it.
    ///
    /// # Errors
    /// If so.
    pub fn require_no_slice(&self) -> Result<(), Failure> {
        match self.slice().is_all() {
            true => Ok(()),
            false => Err(Failure::new(
                "--parquet writes the tables of the whole trace; choose rows of them by their columns",
            )),
        }
    }

    /// The file to write.
    pub fn output(&self) -> Result<&Path, Failure> {
        let output = self.output.as_deref();
        output.ok_or_else(|| Failure::new("name a file with --output"))
    }
}

/// Exports to every format but Parquet.
pub fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    arguments.time.prepare()?;
    if arguments.to == Some(Format::Csv) && arguments.thread.is_some() {
        return Err(Failure::new(
            "--to csv writes whole tables: choose rows of a thread by their column",
        ));
    }
    let trace = arguments.slice().apply(Trace::open(&arguments.trace)?)?;
    if let Some(description) = slice::description(&trace) {
        output::warn(format!("this is a slice: {description}"));
    }
    if arguments.to != Some(Format::Csv) && !allocation_stacks::are_wanted(&trace, arguments) {
        require_accesses(&trace)?;
    }
    if references::write(&trace, arguments)? {
        return Ok(ExitCode::SUCCESS);
    }
    let content = content(&trace, arguments)?;
    let path = arguments.output()?;
    output::write_file(path, &content, Existing::with_force(arguments.force))?;
    if !arguments.reading.quiet {
        say_how_to_open(path, content.len() as u64, arguments.to);
    }
    Ok(ExitCode::SUCCESS)
}

/// The last line says what shows the file.
fn say_how_to_open(path: &Path, bytes: u64, format: Option<Format>) {
    output::say(format!("{}: {}", path.display(), file_size(bytes)));
    let file = quoted(&path.to_string_lossy());
    match format {
        Some(Format::Callgrind) => output::say_next(format!("kcachegrind {file}")),
        Some(Format::Folded) => output::say_next(format!("flamegraph.pl {file} > flame.svg")),
        Some(Format::Pprof) => output::say_next(format!("pprof -http=: {file}")),
        Some(Format::Perfetto) => output::say_next(format!("open {file} at https://ui.perfetto.dev")),
        _ => (),
    }
}

/// The whole file, of formats that hold tables.
fn content(trace: &Trace, arguments: &ExportArguments) -> Result<Vec<u8>, Failure> {
    let settings = Settings {
        model: ModelArguments {
            cache: arguments.cache.clone(),
            sort: None,
        },
        time: arguments.time.clone(),
        reading: arguments.reading.clone(),
        ..Settings::default()
    };
    let text = match arguments.to {
        Some(Format::Csv) => {
            let name = arguments.table.as_deref().unwrap_or("blocks");
            Some(to_csv(&counts::whole_table(trace, name)?))
        }
        Some(Format::Callgrind) => {
            let report = calls(trace, &settings)?;
            to_callgrind(
                &header(trace),
                table(&report, "function_lines")?,
                table(&report, "calls")?,
            )
        }
        Some(Format::Folded) => {
            let (report, measure) = stacks(trace, arguments, &settings)?;
            let text = to_folded(table(&report, "stacks")?, &measure);
            Some(text.ok_or_else(|| no_measure(&measure, &report))?)
        }
        Some(Format::Pprof) => {
            let (report, measure) = stacks(trace, arguments, &settings)?;
            let start_unix_ns = trace.meta().start_unix_ns;
            let profile = to_pprof(table(&report, "stacks")?, &measure, start_unix_ns);
            return gzip(&profile.ok_or_else(|| no_measure(&measure, &report))?);
        }
        Some(Format::Perfetto) => {
            let report = slices(trace, &settings, arguments.slices)?;
            let program = &trace.meta().program;
            to_chrome_trace(program, table(&report, "slices")?, table(&report, "time_bins")?)
        }
        _ => None,
    };
    let text = text.ok_or_else(|| Failure::new("the analysis lacks a column"))?;
    Ok(text.into_bytes())
}

/// Less than this changes no picture.
const LEAST_LIBRARY_SHARE: f64 = 0.001;

/// What is exported has no place of its own for it.
fn say_library_share(share: f64) {
    if share >= LEAST_LIBRARY_SHARE {
        output::say(format!(
            "{} of the accesses are by library functions; --without-library leaves them out",
            percent(share)
        ));
    }
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    compressed.map_err(|error| Failure::new(error.to_string()))
}

/// Stacks with their numbers, and which of these is asked for.
fn stacks(
    trace: &Trace,
    arguments: &ExportArguments,
    settings: &Settings,
) -> Result<(Report, String), Failure> {
    let (report, default) = match allocation_stacks::are_wanted(trace, arguments) {
        true => (
            allocation_stacks::report(trace),
            allocation_stacks::DEFAULT_MEASURE,
        ),
        false => (calls(trace, settings)?, "accesses"),
    };
    let measure = arguments.measure.clone().unwrap_or_else(|| default.to_owned());
    Ok((report, measure))
}

fn calls(trace: &Trace, settings: &Settings) -> Result<Report, Failure> {
    let report = answer(AnalysisName::Calls, trace, settings)?;
    report.warnings.iter().for_each(output::warn);
    repairs(&report).iter().for_each(output::warn);
    say_share_of(&report);
    Ok(report)
}

fn slices(trace: &Trace, settings: &Settings, most: usize) -> Result<Report, Failure> {
    let report = time_line(trace, settings, most);
    report.warnings.iter().for_each(output::warn);
    say_share_of(&report);
    let slices = table(&report, "slices")?;
    let left_out = slices.total_rows() - slices.row_count();
    if left_out > 0 {
        output::warn(format!(
            "{} of functions are left out, the shortest ones; --slices allows for more",
            counted(left_out as u64, "call")
        ));
    }
    Ok(report)
}

fn say_share_of(report: &Report) {
    let column = report.table("trace").and_then(|table| table.column("by_library"));
    if let Some(Value::Real(share)) = column.map(|column| column.value(0)) {
        say_library_share(share);
    }
}

fn no_measure(measure: &str, report: &Report) -> Failure {
    Failure::new(format!(
        "--measure: there is no number {measure}; with these caches there are {}",
        measures(report).join(", ")
    ))
}

fn header(trace: &Trace) -> CallgrindHeader {
    let meta = trace.meta();
    let words = std::iter::once(&meta.program).chain(&meta.arguments);
    CallgrindHeader {
        creator: concat!("trackway ", env!("CARGO_PKG_VERSION")).into(),
        command: words.map(String::as_str).collect::<Vec<_>>().join(" "),
        directory: meta.working_directory.clone(),
    }
}

fn table<'r>(report: &'r Report, name: &str) -> Result<&'r Table, Failure> {
    let found = report.table(name);
    found.ok_or_else(|| Failure::new(format!("the analysis has no table {name}")))
}

fn measures(report: &Report) -> Vec<&str> {
    let stacks = report.table("stacks");
    let columns = stacks.into_iter().flat_map(Table::columns);
    let counts = columns.filter(|column| matches!(column.unit(), Unit::Count | Unit::Bytes));
    counts.map(|column| column.name()).collect()
}

/// What makes stacks doubtful.
fn repairs(report: &Report) -> Vec<String> {
    let number = |name: &str| {
        let column = report.tables.iter().find_map(|table| table.column(name));
        column.and_then(|column| column.integer(0)).unwrap_or(0)
    };
    let (unseen, deep) = (number("missing_entries"), number("too_deep"));
    let mut warnings = Vec::new();
    if unseen > 0 {
        warnings.push(format!(
            "functions were entered unseen {}: they stand below what was on top of the stack; build without --calls=0",
            counted(unseen, "time")
        ));
    }
    if deep > 0 {
        warnings.push(format!(
            "recursion was too deep to follow {}",
            counted(deep, "time")
        ));
    }
    warnings
}
