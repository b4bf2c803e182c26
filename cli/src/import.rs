//! `trackway import`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use trackway_interchange::{
    import, import_perf_data, import_perf_script, is_perf_data, is_perf_script, ImportError, ImportOptions,
    ImportSummary, PerfSummary,
};
use trackway_report::{counted, grouped, Report, TableBuilder};

use crate::failure::Failure;
use crate::output;

/// Make a trace of what another tool recorded: DynamoRIO's drmemtrace, or `perf record`
///
/// Reads traces in the form that drmemtrace's converter gives them (*.trace.zip, .gz, .lz4 or uncompressed; raw files
/// become that by `drraw2trace`): a folder, or files, each of one thread or of several. The trace that it writes is one
/// of machine code: its sites are instructions, known by their addresses or, with the list of loaded files that
/// drmemtrace leaves beside its raw files, by their places in those; all verbs that need no variables, fields or lines
/// take it. A perf.data, or the text of `perf script` (*.txt, *.script or without an extension), becomes a trace of
/// samples, for `trackway samples`. docs/interchange.md says what is kept and what is lost.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        drrun -t drmemtrace -offline -- ./prog\n  \
                        trackway import drmemtrace.prog.*.dir -o prog.trackway\n  \
                        trackway import drmemtrace.prog.03764.7716.trace.zip -o thread.trackway\n  \
                        trackway report prog.trackway\n  \
                        perf record -d --weight --data-src -e cpu/mem-loads/P -- ./prog\n  \
                        trackway import perf.data -o samples.trackway && trackway samples samples.trackway")]
pub struct ImportArguments {
    /// Files, or folders of them
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// The trace to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Which files were loaded where, so that instructions are libc.so.6+0x1234 [default: modules.log beside the traces
    /// or in the folder raw]
    #[arg(long, value_name = "FILE")]
    pub modules: Option<PathBuf>,
    /// Say nothing of what was imported
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what was imported as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(arguments: ImportArguments) -> Result<ExitCode, Failure> {
    if let [file] = &arguments.traces[..] {
        if is_perf_data(file) {
            return import_samples(import_perf_data, file, &arguments);
        }
        if is_perf_script(file) {
            return import_samples(import_perf_script, file, &arguments);
        }
    }
    let options = ImportOptions {
        traces: arguments.traces.clone(),
        output: arguments.output.clone(),
        force: arguments.force,
        modules: arguments.modules.clone(),
    };
    let summary = import(&options).map_err(refused)?;
    show(&arguments, &text(&summary), report(&summary))
}

/// Shows what was imported: the text, or as JSON the report.
fn show(arguments: &ImportArguments, text: &str, report: Report) -> Result<ExitCode, Failure> {
    if arguments.json {
        output::print_report(&report, true)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.quiet {
        output::print(text)?;
    }
    report.warnings.iter().for_each(output::warn);
    Ok(ExitCode::SUCCESS)
}

type ImportSamples = fn(&Path, &Path, bool) -> Result<PerfSummary, ImportError>;

fn import_samples(
    import: ImportSamples,
    file: &Path,
    arguments: &ImportArguments,
) -> Result<ExitCode, Failure> {
    let summary = import(file, &arguments.output, arguments.force).map_err(refused)?;
    show(arguments, &text_of_samples(&summary), report_of_samples(&summary))
}

/// A line for each event, and one for the trace.
fn text_of_samples(summary: &PerfSummary) -> String {
    let mut text = String::new();
    for (name, samples) in &summary.events {
        text += &format!("{name}: {}\n", counted(*samples, "sample"));
    }
    text + &answer_of_samples(summary) + "\n"
}

fn answer_of_samples(summary: &PerfSummary) -> String {
    format!(
        "{} bytes, {} with a data address",
        grouped(summary.bytes),
        counted(summary.addressed, "sample")
    )
}

fn report_of_samples(summary: &PerfSummary) -> Report {
    let events: Vec<_> = summary.events.iter().collect();
    Report {
        answer: answer_of_samples(summary),
        warnings: warnings_of_samples(summary),
        tables: vec![
            TableBuilder::new("events", "Events", &events)
                .text("event", |event| event.0.as_str())
                .count("samples", |event| event.1)
                .build(),
            TableBuilder::new("trace", "Trace", &[()])
                .bytes("bytes", |()| summary.bytes)
                .count(("addressed", "samples with a data address"), |()| {
                    summary.addressed
                })
                .as_record()
                .build(),
        ],
    }
}

fn warnings_of_samples(summary: &PerfSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    if summary.in_kernel > 0 {
        warnings.push(format!(
            "samples in the kernel are left out: {}",
            grouped(summary.in_kernel)
        ));
    }
    if summary.by_processor_bytes > 0 {
        warnings.push(format!(
            "{} that the processor wrote by itself (AUXTRACE: Arm SPE, Intel PT, CoreSight) are left out",
            counted(summary.by_processor_bytes, "byte")
        ));
    }
    if summary.lost > 0 {
        warnings.push(format!("perf lost {}", counted(summary.lost, "sample")));
    }
    warnings
}

/// A line for each thread, and one for the trace.
fn text(summary: &ImportSummary) -> String {
    let mut text = String::new();
    for (stream, counts) in summary.threads.iter().enumerate() {
        let repetitions = match counts.repetitions {
            0 => String::new(),
            count => format!(" (and {} of repeated ones)", counted(count, "further iteration")),
        };
        text += &format!(
            "stream {stream}: thread {} of process {}: {}{repetitions}, {}, {}\n",
            counts.thread.thread,
            counts.thread.process,
            counted(counts.instructions, "instruction"),
            counted(counts.loads, "load"),
            counted(counts.stores, "store"),
        );
    }
    text + &answer(summary) + "\n"
}

fn answer(summary: &ImportSummary) -> String {
    let files = match summary.objects {
        0 => String::new(),
        count => format!(" of {}", counted(count, "file")),
    };
    format!(
        "{} bytes, {}{files}",
        grouped(summary.bytes),
        counted(summary.blocks, "basic block")
    )
}

fn report(summary: &ImportSummary) -> Report {
    let streams: Vec<_> = summary.threads.iter().enumerate().collect();
    Report {
        answer: answer(summary),
        warnings: warnings(summary),
        tables: vec![
            TableBuilder::new("streams", "Streams", &streams)
                .number("stream", |(stream, _)| *stream)
                .number("process", |(_, counts)| counts.thread.process)
                .number("thread", |(_, counts)| counts.thread.thread)
                .count("instructions", |(_, counts)| counts.instructions)
                .count(
                    ("repetitions", "further iterations of repeated ones"),
                    |(_, counts)| counts.repetitions,
                )
                .count("loads", |(_, counts)| counts.loads)
                .count("stores", |(_, counts)| counts.stores)
                .build(),
            TableBuilder::new("trace", "Trace", &[()])
                .bytes("bytes", |()| summary.bytes)
                .count(("blocks", "basic blocks"), |()| summary.blocks)
                .count(("objects", "files"), |()| summary.objects)
                .as_record()
                .build(),
        ],
    }
}

fn warnings(summary: &ImportSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    if summary.hints > 0 {
        warnings.push(format!(
            "prefetches and flushes of caches are left out, as they are no accesses: {}",
            grouped(summary.hints)
        ));
    }
    if summary.unknown_sizes > 0 {
        warnings.push(format!(
            "accesses whose size the trace doesn't say (those of xsave and xrstor) are taken as of 1 byte: {}",
            grouped(summary.unknown_sizes)
        ));
    }
    warnings
}

fn refused(error: ImportError) -> Failure {
    Failure::new(error.to_string())
}
