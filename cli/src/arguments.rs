//! The command line: one definition for parsing, help and completions.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use trackway_recorder::{Address, BurstMeasure, Bursts, Flight, WindowOptions, ABI};
use trackway_recording::{parse_buffer_size, SampledArguments, SamplingArguments};
use trackway_trace::FORMAT_VERSION;

use crate::diff::DiffArguments;
use trackway_answers::analyses::{BehaviourVerb, ChangeVerb};
use trackway_answers::output::QuietArgument;
use trackway_answers::report_form::ReportForm;
use trackway_answers::trace_size::parse_trace_size;

const EXIT_STATUS: &str = "Exit status: 0 on success, 1 if `verify` found a difference or `doctor` that compiled recording doesn't work, 2 on a wrong command line \
                           or an error, 3 if a budget of `check` is broken. `run`, `record` and `top` return the status of the program that they ran (128 + the signal's \
                           number), 127 if there is no such program, 126 if it can't be started.";

/// `--version` also says which traces this program reads, and which traced programs it records.
static VERSIONS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}\ntrace format {FORMAT_VERSION}\nruntime interface {ABI}",
        env!("CARGO_PKG_VERSION")
    )
});

/// Records every load and store of a native Linux program and names the data that misses the cache.
#[derive(Debug, Parser)]
#[command(name = "trackway", version, long_version = VERSIONS.as_str(), after_help = EXIT_STATUS)]
pub struct CommandLine {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Cc(trackway_driver::CompileArguments),
    #[command(
        name = "c++",
        about = "Compile or link C++: clang++ with recording added, a drop-in for CXX=",
        long_about = "Compile or link C++: clang++ with recording added, a drop-in for CXX=\n\nOptions are those of `trackway cc`."
    )]
    Cxx(trackway_driver::CompileArguments),
    Fc(trackway_driver::FortranArguments),
    Rustc(trackway_driver::RustcArguments),
    Cargo(trackway_driver::CargoArguments),
    Run(crate::run_arguments::RunArguments),
    Record(RecordArguments),
    Control(ControlArguments),
    Collect(CollectArguments),
    Import(crate::import::ImportArguments),
    Top(trackway_top::TopArguments),
    #[command(flatten)]
    Behaviour(BehaviourVerb),
    Place(trackway_place::PlaceArguments),
    Fix(trackway_fix::FixArguments),
    Diff(DiffArguments),
    Check(crate::check::CheckArguments),
    Export(crate::export::ExportArguments),
    #[command(flatten)]
    Change(ChangeVerb),
    Query(crate::query::QueryArguments),
    Info(crate::info::InfoArguments),
    Coverage(crate::coverage::CoverageArguments),
    Dump(crate::dump::DumpArguments),
    Verify(crate::verify::VerifyArguments),
    View(trackway_view::ViewArguments),
    Answers(trackway_answers::kept::KeptArguments),
    Calibrate(crate::calibrate::CalibrateArguments),
    Doctor(crate::doctor::DoctorArguments),
    Completions(CompletionsArguments),
    Man(crate::man::ManArguments),
}

/// Run a program and record its memory accesses
///
/// Runs a program that was built with `trackway cc`, `c++` or `fc`, stays beside it, and writes its trace. Ends with
/// the program's exit status, or 128 + the number of the signal that ended it. Interrupting it ends the program and
/// leaves a valid trace. The trace may also go to a collector (--to; see `trackway collect`), or be analysed at once
/// and stored nowhere (--live). Code that records has larger frames: so the program's soft limit of the stack (`ulimit
/// -s`) is four times yours, as far as the hard limit allows. With --pid it records a program that runs already, and ends
/// with status 0. With --sample any program is sampled as it is, also one that runs already.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway record ./prog input.txt\n  \
                        trackway record -o run1.trackway --codec zstd ./prog\n  \
                        trackway record --to unix:/tmp/traces ./prog\n  \
                        trackway record --live misses --by line --top 5 ./prog\n  \
                        trackway record --overhead 1% --hardware ./counting\n  \
                        trackway record --start-after 5s --duration 10s ./server\n  \
                        trackway record --pid $(pidof server) --duration 10s\n  \
                        trackway record --bursts 10ms/1s ./server\n  \
                        trackway record --bursts 1Macc/100Macc ./batch\n  \
                        trackway record --allocations sort words.txt\n  \
                        trackway record --sample -- ./any arguments\n  \
                        trackway record --sample --overhead 1% --pid 4711\n  \
                        trackway record --discard ./prog     (to measure the slowdown)\n  \
                        trackway record --stats ./prog       (to see what causes it)")]
pub struct RecordArguments {
    /// The trace to write [default: PROGRAM.trackway in the present folder]
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["discard", "to", "live"])]
    pub output: Option<PathBuf>,
    /// Send the trace to the collector that listens there: tcp://HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["discard", "live"])]
    pub to: Option<Address>,
    /// How long a lost connection to the collector is tried again; then recording ends with a gap
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s", requires = "to")]
    pub reconnect_timeout: Duration,
    /// Bytes that are kept until the collector has acknowledged them; then the program's buffers fill up
    #[arg(long, value_name = "SIZE", value_parser = parse_window_size, default_value = "64M", requires = "to")]
    pub window: u64,
    /// Replace an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Compression of the trace
    #[arg(long, value_enum, default_value_t = Codec::Auto)]
    pub codec: Codec,
    /// Bytes of a buffer, such as 256K: a multiple of 4K, at least 16K [default: 256K, and for a program that counts as
    /// much more as its counters need]
    #[arg(long, value_name = "SIZE", value_parser = parse_buffer_size)]
    pub buffer_size: Option<u32>,
    /// Number of buffers
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub buffers: u32,
    /// What a thread does when all buffers are full: wait for the recorder, or drop records, which leaves a gap
    #[arg(long, value_enum, default_value_t = OnFull::Wait)]
    pub on_full: OnFull,
    /// Threads that compress. All but one of them rest unless the program would have to wait [default: as many as
    /// processors, at most 4]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Print at the end what the recorder spent its time on, and what bounded the run
    #[arg(long)]
    pub stats: bool,
    /// Write no trace: drain the buffers and forget them
    #[arg(long, conflicts_with = "live")]
    pub discard: bool,
    /// Record a process that runs already, until it ends or Ctrl-C: one that was built with `trackway cc`, or with
    /// --sample any
    #[arg(long, value_name = "PID", conflicts_with_all = ["command", "binary", "live", "allocations", "buffer_size", "hardware"])]
    pub pid: Option<u32>,
    /// Record the binary as it is, every access of the program and its libraries, under DynamoRIO. `make dynamorio` sets
    /// it up
    #[arg(long)]
    pub binary: bool,
    /// Record calls of allocators: malloc, operator new, mmap and their like, of any program that is linked dynamically.
    /// `trackway allocations` reports on them
    #[arg(long)]
    pub allocations: bool,
    /// Frames of the call stack of each call of an allocator, 0 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64), default_value_t = 8,
          requires = "allocations")]
    pub frames: u32,
    /// Also write each access that the oracle reports, so that `verify` can show the first difference
    #[arg(long)]
    pub oracle_dump: bool,
    #[command(flatten)]
    pub windows: WindowArguments,
    #[command(flatten)]
    pub flight: FlightArguments,
    #[command(flatten)]
    pub sampling: SamplingArguments,
    #[command(flatten)]
    pub sampled: SampledArguments,
    /// No summary
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments; after `--sample` without a number, -- has to stand before them
    #[arg(
        trailing_var_arg = true,
        required_unless_present = "pid",
        value_name = "PROGRAM"
    )]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub live: LiveArguments,
}

/// Start or stop a recording that runs, mark a moment in its trace, or ask how it is
///
/// Reaches the recorder of a program that `trackway record` started, by the number of one of its processes or of the
/// recorder. Only the recorder's user and root do.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway record --paused -- ./server & \n  \
                        trackway control $(pidof server) start\n  \
                        trackway control $(pidof server) mark \"after the upgrade\"\n  \
                        trackway control $(pidof server) stop")]
pub struct ControlArguments {
    /// A process that is recorded, or its recorder
    pub pid: u32,
    #[command(flatten)]
    pub quiet: QuietArgument,
    #[command(subcommand)]
    pub request: ControlVerb,
}

#[derive(Debug, Clone, PartialEq, Eq, clap::Subcommand)]
pub enum ControlVerb {
    /// Record from now on, if it isn't recorded already
    Start,
    /// Record no more; the program runs on, and may be recorded again
    Stop,
    /// Mark this moment in the trace: `trackway report --from mark:TEXT` begins there
    Mark { text: String },
    /// Whether it is recorded, and how much was
    Status,
    /// Have a flight recorder (`trackway record --flight`) write the newest accesses to a trace; prints its name
    Snapshot,
}

/// What part of a run is recorded.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Part of a run")]
pub struct WindowArguments {
    /// Begin without recording, until the program calls trackway_start() or `trackway control PID start` comes
    #[arg(long, conflicts_with_all = ["start_after", "bursts"])]
    pub paused: bool,
    /// Record from then on, such as 5s or 200ms after the program's start, or after so many accesses of all threads:
    /// 500Kacc, 10Macc, 2Gacc. Until then accesses are recorded, counted and let go, which takes as much time as
    /// recording, and no disk
    #[arg(long, value_name = "TIME|ACCESSES", value_parser = parse_start)]
    pub start_after: Option<StartAfter>,
    /// Record for that long; the program runs on
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "paused")]
    pub duration: Option<Duration>,
    /// Record until the trace has that many bytes, such as 2G; the program runs on
    #[arg(long, value_name = "SIZE", value_parser = parse_trace_size)]
    pub max_size: Option<u64>,
    /// What happens then: recording stops, or goes on as with --flight, which says how much is kept [default: 256M]
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnMax::Stop, requires = "max_size",
          conflicts_with_all = ["paused", "start_after", "duration", "bursts", "only_regions", "to", "discard", "sample", "live", "allocations"])]
    pub on_max: OnMax,
    /// Record for LENGTH in each period of EVERY, at a random time in it, such as 10ms/1s; or so many accesses of all threads
    /// in each so many, such as 1Macc/100Macc. Accesses between bursts aren't counted: that pause lasts for
    /// the processor time that 99M would take at the speed of the burst before, and so has more of them, since programs run
    /// faster unrecorded
    #[arg(long, value_name = "LENGTH/EVERY", value_parser = parse_bursts)]
    pub bursts: Option<BurstMeasure>,
    /// Bursts come at even distances. Reports have no bounds for the whole run then, for what the program does may have
    /// the same period
    #[arg(long, requires = "bursts")]
    pub even: bool,
    /// Record while a thread is in a region of interest (TRACKWAY_REGION_BEGIN of trackway.h and the like) of such a
    /// name, such as solve or 'load*'; may be repeated
    #[arg(long = "only-region", value_name = "GLOB", value_parser = parse_region_glob,
          conflicts_with_all = ["paused", "bursts", "binary", "sample", "flight"])]
    pub only_regions: Vec<String>,
}

/// Recording all the time, and storing only what led to something.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Flight recorder")]
pub struct FlightArguments {
    /// Keep the newest accesses in memory, such as 512M, 30s (then 1G at most) or 30s,512M, and write them when the
    /// program crashes, fails, calls trackway_snapshot(), or `trackway control PID snapshot` comes: to OUTPUT-1.trackway
    /// and so on
    #[arg(long, value_name = "SIZE|TIME", value_parser = parse_flight,
          conflicts_with_all = ["paused", "start_after", "duration", "bursts", "to", "discard", "sample", "live", "allocations"])]
    pub flight: Option<Flight>,
    /// Also when the program says by trackway_slow(NS) that something took that long, such as 5ms
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, requires = "flight")]
    pub slower_than: Option<Duration>,
}

impl FlightArguments {
    pub fn options(&self) -> Option<Flight> {
        self.flight.map(|flight| Flight {
            slower_than: self.slower_than,
            ..flight
        })
    }
}

fn parse_flight(text: &str) -> Result<Flight, String> {
    const MOST_OF_A_TIME: u64 = 1 << 30;
    let (mut most_bytes, mut longest) = (None, None);
    for part in text.split(',') {
        match part.ends_with(['K', 'M', 'G']) {
            true => most_bytes = Some(parse_trace_size(part)?),
            false => {
                longest = Some(humantime::parse_duration(part).map_err(|error| {
                    format!("{error}; expected a size, such as 512M, a time, such as 30s, or both: 30s,512M")
                })?)
            }
        }
    }
    Ok(Flight {
        most_bytes: most_bytes.unwrap_or(MOST_OF_A_TIME),
        longest,
        slower_than: None,
    })
}

impl WindowArguments {
    /// What a buffer holds counts when it is full: bursts of accesses end sooner after they have them with small ones.
    pub fn buffer_size(&self) -> Option<u32> {
        const FOR_COUNTING: u32 = 32 << 10;
        let is_counted = matches!(self.bursts, Some(BurstMeasure::Accesses { .. }));
        is_counted.then_some(FOR_COUNTING)
    }

    pub fn options(&self) -> WindowOptions {
        WindowOptions {
            paused: self.paused,
            start_after: match self.start_after {
                Some(StartAfter::Time(time)) => Some(time),
                _ => None,
            },
            start_after_accesses: match self.start_after {
                Some(StartAfter::Accesses(accesses)) => Some(accesses),
                _ => None,
            },
            duration: self.duration,
            most_bytes: self.max_size,
            bursts: self.bursts.map(|measure| Bursts {
                measure,
                are_even: self.even,
            }),
            only_regions: self.only_regions.clone(),
        }
    }
}

/// What happens when the trace has its greatest size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnMax {
    Stop,
    Flight,
}

/// What passes before recording begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAfter {
    Time(Duration),
    Accesses(u64),
}

/// Accesses have a word of their own, since 10M are ten months for `humantime`.
fn parse_start(text: &str) -> Result<StartAfter, String> {
    let Some(number) = text.strip_suffix("acc") else {
        if text.ends_with(['K', 'M', 'G']) {
            return Err(format!("expected a time, such as 5s, or accesses: {text}acc"));
        }
        let time = humantime::parse_duration(text);
        return time
            .map(StartAfter::Time)
            .map_err(|error| format!("{error}; expected a time, such as 5s, or accesses, such as 10Macc"));
    };
    accesses(number)
        .map(StartAfter::Accesses)
        .ok_or_else(|| "expected a number of accesses, such as 500Kacc, 10Macc or 2Gacc".to_owned())
}

/// A number without the word `acc`.
fn accesses(number: &str) -> Option<u64> {
    let units = [('K', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
    let unit = units.iter().find(|(letter, _)| number.ends_with(*letter));
    let (digits, factor) = unit.map_or((number, 1), |(letter, factor)| {
        (number.strip_suffix(*letter).unwrap_or(number), *factor)
    });
    let accesses = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(accesses).filter(|count| *count > 0)
}

fn parse_region_glob(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(['\n', '\0']) {
        true => Err(
            "expected the name of a region, in which * stands for any characters and ? for one".to_owned(),
        ),
        false => Ok(text.to_owned()),
    }
}

fn parse_bursts(text: &str) -> Result<BurstMeasure, String> {
    let expected = || {
        "expected two times or two numbers of accesses, the first one smaller, such as 10ms/1s or 1Macc/100Macc"
            .to_owned()
    };
    let (length, every) = text.split_once('/').ok_or_else(expected)?;
    let (length, every) = (length.trim(), every.trim());
    match (length.strip_suffix("acc"), every.strip_suffix("acc")) {
        (Some(length), Some(every)) => {
            let (length, every) = accesses(length).zip(accesses(every)).ok_or_else(expected)?;
            Some(BurstMeasure::Accesses { length, every }).filter(|_| length < every)
        }
        (None, None) => {
            let time = |text: &str| humantime::parse_duration(text).map_err(|error| error.to_string());
            let (length, every) = (time(length)?, time(every)?);
            Some(BurstMeasure::Time { length, every }).filter(|_| !length.is_zero() && length < every)
        }
        _ => None,
    }
    .ok_or_else(expected)
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Analysis while the program runs")]
pub struct LiveArguments {
    /// Run this analysis while the program runs, print what it found at the end, and store no trace
    #[arg(long, value_enum, value_name = "ANALYSIS")]
    pub live: Option<LiveAnalysis>,
    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE", requires = "live")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub form: ReportForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LiveAnalysis {
    /// Cache misses by field, variable, line and function, as `trackway report` finds them
    Misses,
}

/// Take traces from programs that are recorded elsewhere
///
/// Listens for `trackway record --to ADDRESS` and writes each trace that comes to a file of its own, several at a time.
/// A connection that breaks is continued when the recorder comes back, and so is a trace that an earlier collector with
/// the same output left unfinished: nothing is lost and nothing comes twice. There is no authentication, so it listens
/// on the loopback interface or at a socket of the user's alone, unless told otherwise. Ctrl-C ends it; traces that are
/// unfinished then are valid up to there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway collect --output traces/\n  \
                        trackway collect --listen unix:/tmp/traces --once -o run.trackway\n  \
                        trackway collect --listen tcp://0.0.0.0:7700 --allow-remote -o traces/")]
pub struct CollectArguments {
    /// Where to listen: tcp://HOST:PORT (port 0: any that is free) or unix:PATH
    #[arg(short, long, value_name = "ADDRESS", default_value = "tcp://127.0.0.1:0")]
    pub listen: Address,
    /// The folder of the traces, each named PROGRAM-IDENTITY.trackway; or, if it is no folder and has no / at its end,
    /// the file of one trace; or kafka://HOST:PORT/TOPIC, for no files but messages alone
    #[arg(short, long, value_name = "DIR|FILE|KAFKA", default_value = ".")]
    pub output: PathBuf,
    /// Send each chunk to Apache Kafka before it gets into its file: kafka://HOST:PORT[,HOST:PORT]/TOPIC. Topics that are
    /// missing are created, with ?partitions=N&replication=N at the end of the address (4 and 1 unless told otherwise).
    /// Brokers that ask who it is get &user=NAME&mechanism=scram-sha-256, -512 or plain, with the password in
    /// TRACKWAY_KAFKA_PASSWORD
    #[arg(long, value_name = "KAFKA")]
    pub kafka: Option<trackway_kafka::Target>,
    /// Replace an existing file of another trace
    #[arg(short, long)]
    pub force: bool,
    /// Take one trace and end when it is complete
    #[arg(long, conflicts_with = "count")]
    pub once: bool,
    /// Take N traces and end when they are complete [default: until interrupted]
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroU64>,
    /// Listen where other machines can connect, without authentication and encryption
    #[arg(long)]
    pub allow_remote: bool,
    /// Have chunks on the disk before they are acknowledged, in case of a power failure
    #[arg(long)]
    pub sync: bool,
    /// Only errors and the address
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Codec {
    /// Columns; but while the program would have to wait, a file gets records uncompressed if that is faster
    Auto,
    /// Records split into columns: smaller than lz4; where lz4 does as well, it is used
    Columns,
    /// Fast
    Lz4,
    /// Smaller than lz4, slower
    Zstd,
    /// As the program wrote it
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnFull {
    Wait,
    Drop,
}

fn parse_window_size(text: &str) -> Result<u64, String> {
    let size = trackway_analysis::cache::parse_size(text);
    Ok(size.ok_or("expected a number of bytes, such as 65536 or 64M")?)
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example: trackway completions bash > ~/.local/share/bash-completion/completions/trackway"
)]
pub struct CompletionsArguments {
    pub shell: Shell,
}
