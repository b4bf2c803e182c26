//! `trackway record`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trackway_recorder::{
    record, sample_process, AllocationTracer, Compression, CountsSummary, Output, RecordError, RecordOptions,
    RecordSummary, Route, SamplesSummary, WhenFull,
};
use trackway_report::{counted, grouped};

use crate::arguments::{Codec, OnFull, RecordArguments};
use crate::counters;
use crate::failure::Failure;
use crate::installation::Installation;
use crate::{live, output, overflow};

const ERROR: u8 = 2;
/// What shells return for a program that can't be started, and for one that doesn't exist.
const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Ends with the program's status; reports failures to start it itself, since their statuses differ.
pub fn run(arguments: RecordArguments) -> Result<ExitCode, Failure> {
    let (quiet, live) = (arguments.quiet, arguments.live.clone());
    let pid = arguments.sampled.pid;
    let options = options(arguments)?;
    let recorded = match live.live {
        None if pid.is_some() => sample_process(&options, pid.unwrap_or(0)),
        Some(analysis) => live::record(&options, analysis, &live, quiet)?,
        None => record(options.clone()),
    };
    Ok(conclude(recorded, &options, quiet, live.live.is_some()))
}

/// Says what came of it and returns the program's status. `live`: what was not stored was analysed.
pub fn conclude(
    recorded: Result<RecordSummary, RecordError>,
    options: &RecordOptions,
    quiet: bool,
    live: bool,
) -> ExitCode {
    match recorded {
        Ok(summary) => {
            warn_of_losses(&summary, options);
            overflow::warn(&summary, options);
            if !quiet {
                output::say(describe(&summary, options, live));
            }
            ExitCode::from(u8::try_from(summary.program_end.shell_status()).unwrap_or(u8::MAX))
        }
        Err(error) => {
            output::say(&error);
            ExitCode::from(status_of(&error))
        }
    }
}

fn options(arguments: RecordArguments) -> Result<RecordOptions, Failure> {
    let mut words = arguments.command.into_iter();
    let running = arguments.sampled.pid.map(|pid| format!("pid-{pid}").into());
    let program = words
        .next()
        .or(running)
        .ok_or_else(|| Failure::new("name a program to record: trackway record -- PROGRAM ARGUMENTS"))?;
    let live = arguments.live.live.is_some();
    if !live && arguments.live.form.is_chosen() {
        return Err(Failure::new(
            "--by, --top, --sort, --cache, --json, --csv and --parquet belong to --live; without it, use `trackway report`",
        ));
    }
    let output = match (arguments.discard || live, arguments.to) {
        (true, _) => Output::Discard,
        (false, Some(address)) => Output::Collector(Route {
            address,
            reconnect_timeout: arguments.reconnect_timeout,
            window_bytes: arguments.window,
        }),
        (false, None) => Output::File {
            path: arguments.output.unwrap_or_else(|| default_output(&program)),
            force: arguments.force,
        },
    };
    let mut options = RecordOptions::new(program, output);
    options.arguments = words.collect();
    if arguments.binary {
        options.client = Some(Installation::locate().binary_client()?);
    }
    if arguments.allocations {
        options.allocations = Some(AllocationTracer {
            library: Installation::locate().allocation_tracer()?,
            frames: arguments.frames,
        });
    }
    options.compression = match arguments.codec {
        _ if live => Compression::None, // it would be decompressed at once
        Codec::Auto => Compression::Auto,
        Codec::Columns => Compression::Columns,
        Codec::Lz4 => Compression::Lz4,
        Codec::Zstd => Compression::Zstd,
        Codec::None => Compression::None,
    };
    options.when_full = match arguments.on_full {
        OnFull::Wait => WhenFull::Wait,
        OnFull::Drop => WhenFull::Drop,
    };
    options.buffer_size = counters::buffer_size(&options.program, arguments.buffer_size);
    arguments.sampling.apply(&arguments.sampled, &mut options)?;
    options.buffer_count = arguments.buffers;
    options.workers = arguments.workers;
    options.dump_oracle = arguments.oracle_dump;
    options.notify = |message| output::warn(message);
    if !arguments.quiet {
        options.progress = |message| output::say(message);
    }
    Ok(options)
}

/// `PROGRAM.trackway` in the present folder.
fn default_output(program: &OsString) -> PathBuf {
    let mut name = Path::new(program).file_name().unwrap_or(program).to_owned();
    name.push(".trackway");
    name.into()
}

fn warn_of_losses(summary: &RecordSummary, options: &RecordOptions) {
    let program = options.program.to_string_lossy();
    if options.allocations.is_some() && summary.allocation_bytes == 0 {
        output::warn(format!(
            "NO ALLOCATIONS WERE RECORDED: {program} made none, or ran without preload.so; if nothing above says why, it \
             has an allocator of its own linked into it, or cleared its environment."
        ));
    }
    if let Some(samples) = &summary.samples {
        warn_of_lost_samples(samples);
    }
    // A program that was not built for it was to record its allocations only.
    let is_instrumented = summary.instrumented
        || summary.samples.is_some()
        || options.allocations.is_some() && options.client.is_none();
    if !is_instrumented && options.client.is_some() {
        output::warn(format!(
            "NOTHING WAS RECORDED: {program} ended before the client began; DynamoRIO may have said why above."
        ));
    } else if !is_instrumented {
        output::warn(format!(
            "NOTHING WAS RECORDED: no instrumented code ran in {program}, unless it said above why it runs unrecorded. \
             Build it with CC=\"trackway cc\" CXX=\"trackway c++\"; `trackway info PROGRAM` shows what a program \
             records."
        ));
    }
    if summary.dropped_buffers > 0 {
        let dropped = grouped(summary.dropped_buffers);
        output::warn(match options.when_full {
            WhenFull::Drop => format!(
                "{dropped} full buffers were dropped: the trace has gaps. Record with --on-full wait, or with more \
                 --buffers."
            ),
            WhenFull::Wait => format!(
                "the trace has gaps: records were lost {dropped} times, as where threads were cancelled, or more of \
                 them ran than there are --buffers."
            ),
        });
    }
    if let Some(buffers) = summary.damage {
        output::warn(format!(
            "THE RECORDING IS DAMAGED: {program} overwrote memory that it shares with the recorder; {} lost, and others \
             may hold anything. Look for a wild pointer: the same program may crash when it isn't recorded.",
            counted(buffers, "buffer")
        ));
    }
    if let Some(loss) = &summary.write_failure {
        output::warn(format!(
            "{} ({} buffers are lost)",
            loss.message,
            grouped(loss.buffers)
        ));
    }
    if summary.interrupted {
        output::warn("recording was interrupted while recorded processes still ran");
    }
}

fn warn_of_lost_samples(samples: &SamplesSummary) {
    if samples.lost > 0 {
        output::warn(format!(
            "{} were lost, and {} taken: the machine was busy. Sample less often.",
            counted(samples.lost, "sample"),
            grouped(samples.samples)
        ));
    } else if samples.samples == 0 {
        output::warn("NOTHING WAS SAMPLED: the program ran for less than the time between two samples, or only in the kernel.");
    }
    if samples.refused_stops > 0 {
        output::warn(format!(
            "{} are missing: a thread could not be stopped. A debugger, or another tracer, has the program, or Yama's \
             ptrace_scope forbids it. Shares of accesses lack them, shares of time don't.",
            counted(samples.refused_stops, "window")
        ));
    }
}

/// `prog.trackway: 12 chunks of 1 stream, 3,145,728 bytes of records in 1,048,576, nothing dropped`.
fn describe(summary: &RecordSummary, options: &RecordOptions, live: bool) -> String {
    let records = content(summary);
    if let Some(samples) = &summary.samples {
        return describe_samples(summary, samples, options);
    }
    let dropped = match summary.dropped_buffers {
        0 => "nothing dropped".into(),
        buffers => format!("{} dropped", counted(buffers, "buffer")),
    };
    let streams = counted(summary.streams, "stream");
    let kept = |place: &dyn std::fmt::Display| {
        format!(
            "{place}: {} of {streams}, {records} in {}, {dropped}",
            counted(summary.chunks, "chunk"),
            grouped(summary.stored_bytes)
        )
    };
    match &options.output {
        Output::File { path, .. } => kept(&path.display()),
        Output::Collector(route) => kept(&route.address),
        Output::Discard if live => format!("{streams}, {records} analysed and not stored, {dropped}"),
        Output::Discard => format!("{streams}, {records} discarded, {dropped}"),
    }
}

/// `prog.trackway: 4,711 samples, 120 with what follows them, in 65,536 bytes`.
fn describe_samples(summary: &RecordSummary, samples: &SamplesSummary, options: &RecordOptions) -> String {
    let place = match &options.output {
        Output::File { path, .. } => path.display().to_string(),
        Output::Collector(route) => route.address.to_string(),
        Output::Discard => "discarded".into(),
    };
    format!(
        "{place}: {}, {} with what follows them, in {} bytes",
        counted(samples.samples, "sample"),
        grouped(samples.windows),
        grouped(summary.stored_bytes)
    )
}

/// `4,096 bytes of records`, or `counts of 3 regions in 2 threads`.
fn content(summary: &RecordSummary) -> String {
    let CountsSummary { regions, threads, .. } = summary.counts;
    let records = format!("{} bytes of records", grouped(summary.raw_bytes));
    let allocations = format!("{} bytes of allocations", grouped(summary.allocation_bytes));
    let place = match regions {
        0 => "the whole program".into(),
        regions => counted(regions, "region"),
    };
    let counts = format!("counts of {place} in {}", counted(threads, "thread"));
    let parts = [
        (summary.raw_bytes > 0, records.clone()),
        (threads > 0, counts),
        (summary.allocation_bytes > 0, allocations),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(is_there, text)| is_there.then_some(text))
        .collect();
    match parts.is_empty() {
        true => records,
        false => parts.join(" and "),
    }
}

fn status_of(error: &RecordError) -> u8 {
    match error {
        RecordError::ProgramNotFound { .. } => NOT_FOUND,
        RecordError::Start { .. } => CANNOT_START,
        _ => ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{CommandLine, Verb};
    use clap::Parser;
    use std::time::Duration;

    fn parse(line: &str) -> RecordOptions {
        let words = ["trackway", "record"].into_iter().chain(line.split_whitespace());
        match CommandLine::parse_from(words).verb {
            Verb::Record(arguments) => options(arguments).unwrap(),
            _ => panic!("not a record verb"),
        }
    }

    #[test]
    fn the_trace_is_named_after_the_program() {
        let options = parse("-- ../bin/prog -o x");
        let expected = Output::File {
            path: "prog.trackway".into(),
            force: false,
        };
        assert_eq!(options.output, expected);
        assert_eq!(options.arguments, ["-o", "x"]);
    }

    #[test]
    fn options_reach_the_recorder() {
        let options =
            parse("-f -o t --codec zstd --buffer-size 1M --buffers 8 --on-full drop --oracle-dump -- p");
        assert_eq!(
            options.output,
            Output::File {
                path: "t".into(),
                force: true
            }
        );
        assert_eq!(
            (options.compression, options.when_full),
            (Compression::Zstd, WhenFull::Drop)
        );
        assert_eq!(
            (options.buffer_size, options.buffer_count, options.dump_oracle),
            (1 << 20, 8, true)
        );
        assert_eq!(parse("--discard -- p").output, Output::Discard);
    }

    #[test]
    fn a_collector_is_named_by_its_address() {
        let expected = Output::Collector(Route {
            address: "unix:/tmp/s".parse().unwrap(),
            reconnect_timeout: Duration::from_secs(90),
            window_bytes: 8 << 20,
        });
        assert_eq!(
            parse("--to unix:/tmp/s --reconnect-timeout 90s --window 8M -- p").output,
            expected
        );
    }

    #[test]
    fn a_live_analysis_stores_nothing() {
        let options = parse("--live misses --by line --codec zstd -- p");
        assert_eq!(
            (options.output, options.compression),
            (Output::Discard, Compression::None)
        );
    }

    #[test]
    fn forms_of_reports_belong_to_live_analyses() {
        let words = ["trackway", "record", "--top", "3", "--", "p"];
        let Verb::Record(arguments) = CommandLine::parse_from(words).verb else {
            panic!("not a record verb");
        };
        assert!(options(arguments).unwrap_err().to_string().contains("--live"));
    }

    #[test]
    fn defaults_are_those_of_the_recorder() {
        let (ours, theirs) = (parse("-- p"), RecordOptions::new("p", Output::Discard));
        let of = |options: &RecordOptions| {
            (
                options.buffer_size,
                options.buffer_count,
                options.workers,
                options.compression,
                options.when_full,
            )
        };
        assert_eq!(of(&ours), of(&theirs));
    }

    #[test]
    fn a_program_that_counts_has_no_records() {
        let mut summary = RecordSummary {
            program_end: trackway_recorder::ProgramEnd::Exited(0),
            remains: trackway_recorder::Remains::default(),
            instrumented: true,
            modules: 1,
            processes: 1,
            streams: 2,
            chunks: 9,
            raw_bytes: 0,
            allocation_bytes: 0,
            counts: CountsSummary::default(),
            samples: None,
            stored_bytes: 1000,
            dropped_buffers: 0,
            damage: None,
            write_failure: None,
            interrupted: false,
            recorder_cpu_seconds: 0.0,
            wall_seconds: 0.0,
        };
        assert_eq!(content(&summary), "0 bytes of records");
        summary.counts.threads = 1;
        assert_eq!(content(&summary), "counts of the whole program in 1 thread");
        summary.counts.regions = 3;
        summary.raw_bytes = 4096;
        assert_eq!(
            describe(&summary, &parse("-o t -- p"), false),
            "t: 9 chunks of 2 streams, 4,096 bytes of records and counts of 3 regions in 1 thread in 1,000, \
             nothing dropped"
        );
    }

    #[test]
    fn errors_have_the_statuses_of_shells() {
        assert_eq!(
            status_of(&RecordError::ProgramNotFound { program: "p".into() }),
            127
        );
        assert_eq!(status_of(&RecordError::OutputExists { path: "t".into() }), 2);
    }
}
