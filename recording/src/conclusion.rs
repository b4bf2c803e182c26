//! The result of a recording.

use std::process::ExitCode;

use trackway_answers::failure::ERROR;
use trackway_answers::output;
use trackway_recorder::{
    CountsSummary, Output, RecordError, RecordOptions, RecordSummary, SamplesSummary, Snapshot,
    SnapshotsSummary, WhenFull,
};
use trackway_report::{counted, file_size, grouped, times};

use crate::{next_step, overflow, work};

/// What a trace holds of a program that records nothing.
const NOTHING: &str = "nothing";
/// What shells return for a program that can't be started, and for one that doesn't exist.
const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;

/// What is said of a recording.
#[derive(Debug, Clone, Copy, Default)]
pub struct Telling {
    /// Warnings alone.
    pub quiet: bool,
    /// Also what the trace consists of.
    pub verbose: bool,
    /// Data that was not stored was analysed.
    pub is_analysed: bool,
    /// Only what the program counts was wanted.
    pub is_of_counts: bool,
}

/// Prints the result, and what to type next, and returns the program's status.
pub fn conclude(
    recorded: Result<RecordSummary, RecordError>,
    options: &RecordOptions,
    telling: Telling,
) -> ExitCode {
    if let Ok(summary) = &recorded {
        tell(summary, options, telling);
        let next = next_step::after(summary, options);
        if let Some(next) = next.filter(|_| !telling.quiet) {
            output::say_next(next);
        }
    }
    if let Err(error) = &recorded {
        output::say(error);
    }
    status_of(&recorded)
}

/// Prints warnings and the result.
pub fn tell(summary: &RecordSummary, options: &RecordOptions, telling: Telling) {
    warn_of_losses(summary, options, telling.is_of_counts);
    overflow::warn(summary, options);
    if !telling.quiet {
        output::say(describe(summary, options, telling.is_analysed));
    }
    if telling.verbose {
        output::say(parts(summary));
    }
    if let Some(work) = &summary.work {
        output::say(work::describe(summary, work, options));
    }
}

/// The program's status, or that of shells for one that didn't start.
pub fn status_of(recorded: &Result<RecordSummary, RecordError>) -> ExitCode {
    match recorded {
        Ok(summary) => ExitCode::from(u8::try_from(summary.program_end.shell_status()).unwrap_or(u8::MAX)),
        Err(error) => ExitCode::from(status_of_error(error)),
    }
}

fn warn_of_losses(summary: &RecordSummary, options: &RecordOptions, is_of_counts: bool) {
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
    // If a program isn't instrumented, only its allocations were to be recorded.
    let is_instrumented = summary.instrumented
        || summary.samples.is_some()
        || options.allocations.is_some() && options.client.is_none();
    if !is_instrumented && options.client.is_some() {
        output::warn(format!(
            "NOTHING WAS RECORDED: {program} ended before the client began; DynamoRIO may have said why above."
        ));
    } else if !is_instrumented && options.process.is_some() {
        output::warn(
            "NOTHING WAS RECORDED: while a window was open, no thread of the process entered a function that records, \
             nor began a further iteration of a loop that calls some. It may have been waiting; try a longer --duration.",
        );
    } else if !is_instrumented {
        output::warn(nothing_ran(&program, is_of_counts));
    }
    if summary.dropped_buffers > 0 {
        let dropped = grouped(summary.dropped_buffers);
        output::warn(match options.when_full {
            WhenFull::Drop => format!(
                "{dropped} full buffers were dropped: the trace has gaps. Record with --on-full wait, or with more \
                 --buffers."
            ),
            WhenFull::Wait => format!(
                "the trace has gaps: records were lost {}, as where threads were cancelled, or more of \
                 them ran than there are --buffers.",
                times(summary.dropped_buffers)
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
    if summary.lost_marks > 0 {
        output::warn(format!(
            "marks and switches of windows came faster than they could be taken: the trace lacks {}.",
            grouped(summary.lost_marks)
        ));
    }
    if let Some(snapshots) = &summary.snapshots {
        warn_of_lost_snapshots(snapshots);
    }
    if summary.windows == Some(0) {
        output::warn(no_window(&program, &options.windows.only_regions));
    }
    if summary.interrupted {
        output::warn("recording was interrupted while recorded processes still ran");
    }
}

fn no_window(program: &str, regions: &[String]) -> String {
    match regions.is_empty() {
        true => format!(
            "NO WINDOW WAS OPENED: {program} neither called trackway_start() nor ran long enough, and nobody told the \
             recorder to start."
        ),
        false => format!(
            "NO WINDOW WAS OPENED: no thread of {program} entered a region of interest that matches {} (--only-region).",
            regions.join(" or ")
        ),
    }
}

/// Says how to build a program that was as its compiler made it.
fn nothing_ran(program: &str, is_of_counts: bool) -> String {
    let (what, option) = match is_of_counts {
        true => ("COUNTED", " --count"),
        false => ("RECORDED", ""),
    };
    format!(
        "NOTHING WAS {what}: no instrumented code ran in {program}, unless it said above why it runs unrecorded. \
         Build it with CC=\"trackway cc{option}\" CXX=\"trackway c++{option}\"; `trackway info PROGRAM` shows what a \
         program records."
    )
}

fn warn_of_lost_snapshots(snapshots: &SnapshotsSummary) {
    if snapshots.refused > 0 {
        output::warn(format!(
            "{} that the program asked for were not written: another one was being written, or there had been too many.",
            counted(snapshots.refused, "snapshot")
        ));
    }
    if snapshots.written.is_empty() && snapshots.first_part.is_none() {
        output::warn(
            "NOTHING WAS STORED: the program ended in order, and nobody asked for a snapshot (`trackway control PID \
             snapshot`, trackway_snapshot()).",
        );
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

/// `0.6 s`, or `12 ms` of a short run.
fn wall_time(seconds: f64) -> String {
    match seconds {
        0.1.. => format!("{seconds:.1} s"),
        _ => format!("{:.0} ms", seconds * 1e3),
    }
}

/// `prog.trackway: accesses in 0.6 s, 219 MB in the file, nothing dropped`.
fn describe(summary: &RecordSummary, options: &RecordOptions, live: bool) -> String {
    let records = content(summary);
    if let Some(samples) = &summary.samples {
        return describe_samples(summary, samples, options);
    }
    let dropped = match summary.dropped_buffers {
        0 => "nothing dropped".into(),
        buffers => format!("{} dropped", counted(buffers, "buffer")),
    };
    let windows = in_windows(summary);
    let kept = |place: &dyn std::fmt::Display| {
        let time = wall_time(summary.wall_seconds);
        let size = match records.as_str() {
            NOTHING => String::new(),
            _ => format!(", {} in the file", file_size(summary.stored_bytes)),
        };
        format!("{place}: {records} in {time}{windows}{size}, {dropped}")
    };
    if let Some(snapshots) = &summary.snapshots {
        return describe_flight(snapshots, &records, options, &kept);
    }
    match &options.output {
        Output::File { path, .. } => kept(&path.display()),
        Output::Collector(route) => kept(&route.address),
        Output::Discard if live => format!("{records} analysed and not stored, {dropped}"),
        Output::Discard => format!("{records}{windows} discarded, {dropped}"),
    }
}

/// `12 chunks of 1 stream, 3,145,728 bytes of records and 0 of allocations in 1,048,576 bytes`.
fn parts(summary: &RecordSummary) -> String {
    format!(
        "{} of {}, {} bytes of records and {} of allocations in {} bytes",
        counted(summary.chunks, "chunk"),
        counted(summary.streams, "stream"),
        grouped(summary.raw_bytes),
        grouped(summary.allocation_bytes),
        grouped(summary.stored_bytes)
    )
}

/// ` in 3 windows`, or nothing.
fn in_windows(summary: &RecordSummary) -> String {
    let windows = summary.windows.map(|windows| counted(windows.into(), "window"));
    windows.map_or(String::new(), |windows| format!(" in {windows}"))
}

/// What the first part has, if there is one, and the snapshots.
fn describe_flight(
    snapshots: &SnapshotsSummary,
    records: &str,
    options: &RecordOptions,
    kept: &dyn Fn(&dyn std::fmt::Display) -> String,
) -> String {
    let Output::File { path, .. } = &options.output else {
        return describe_snapshots(snapshots, records);
    };
    match snapshots.first_part {
        None => describe_snapshots(snapshots, records),
        Some(None) => kept(&path.display()),
        Some(Some(ns)) => format!(
            "{}: all of the first {:.2} s; of later accesses only the newest were kept\n{}",
            path.display(),
            ns as f64 / 1e9,
            describe_snapshots(snapshots, records)
        ),
    }
}

/// `prog-1.trackway: 65,536 bytes, complete for the last 2.50 s: signal 11 ended the program`, a line for each.
fn describe_snapshots(snapshots: &SnapshotsSummary, records: &str) -> String {
    let line = |snapshot: &Snapshot| {
        let path = snapshot.path.display();
        let seconds = snapshot.covered_ns as f64 / 1e9;
        match &snapshot.written {
            Ok(bytes) => format!(
                "{path}: {} bytes, complete for the last {seconds:.2} s: {}\n",
                grouped(*bytes),
                snapshot.reason
            ),
            Err(error) => format!("{path}: not written: {error}\n"),
        }
    };
    let lines: String = snapshots.written.iter().map(line).collect();
    let count = counted(snapshots.written.len() as u64, "snapshot");
    format!("{lines}{count} of {records}")
}

/// `prog.trackway: 4,711 samples, 120 with what follows them, in 65,536 bytes`.
fn describe_samples(summary: &RecordSummary, samples: &SamplesSummary, options: &RecordOptions) -> String {
    let place = match &options.output {
        Output::File { path, .. } => path.display().to_string(),
        Output::Collector(route) => route.address.to_string(),
        Output::Discard => "discarded".into(),
    };
    format!(
        "{place}: {}{}, {} with what follows them, in {}",
        counted(samples.samples, "sample"),
        in_windows(summary),
        grouped(samples.windows),
        file_size(summary.stored_bytes)
    )
}

/// `accesses`, or `counts of 3 regions in 2 threads`.
fn content(summary: &RecordSummary) -> String {
    let CountsSummary { regions, threads, .. } = summary.counts;
    let records = "accesses".to_owned();
    let allocations = "calls of allocators".to_owned();
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
        true => NOTHING.into(),
        false => parts.join(" and "),
    }
}

fn status_of_error(error: &RecordError) -> u8 {
    match error {
        RecordError::ProgramNotFound { .. } => NOT_FOUND,
        RecordError::Start { .. } => CANNOT_START,
        _ => ERROR,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What comes of a program that counted.
    pub(crate) fn summary() -> RecordSummary {
        RecordSummary {
            program_end: trackway_recorder::ProgramEnd::Exited(0),
            remains: trackway_recorder::Remains::default(),
            thread_stacks: Vec::new(),
            instrumented: true,
            modules: 1,
            processes: 1,
            streams: 2,
            interrupted_streams: 0,
            interrupted_in_children: 0,
            chunks: 9,
            raw_bytes: 0,
            allocation_bytes: 0,
            counts: CountsSummary::default(),
            samples: None,
            stored_bytes: 1000,
            lost_marks: 0,
            snapshots: None,
            windows: None,
            dropped_buffers: 0,
            damage: None,
            write_failure: None,
            interrupted: false,
            work: None,
            recorder_cpu_seconds: 0.0,
            wall_seconds: 0.0,
        }
    }

    #[test]
    fn what_needs_counts_is_told_to_build_a_program_that_counts() {
        let counted = nothing_ran("./p", true);
        assert!(
            counted.contains("CC=\"trackway cc --count\" CXX=\"trackway c++ --count\""),
            "{counted}"
        );
        assert!(!nothing_ran("./p", false).contains("--count"));
    }

    #[test]
    fn short_runs_have_milliseconds() {
        assert_eq!(
            [0.0, 0.0123, 0.0999, 0.1, 24.06].map(wall_time),
            ["0 ms", "12 ms", "100 ms", "0.1 s", "24.1 s"]
        );
    }

    #[test]
    fn a_program_that_counts_has_no_records() {
        let mut summary = summary();
        let output = Output::File {
            path: "t".into(),
            force: false,
        };
        let options = RecordOptions::new("p", output);
        assert_eq!(
            describe(&summary, &options, false),
            "t: nothing in 0 ms, nothing dropped"
        );
        summary.counts.threads = 1;
        assert_eq!(content(&summary), "counts of the whole program in 1 thread");
        summary.counts.regions = 3;
        summary.raw_bytes = 4096;
        assert_eq!(
            describe(&summary, &options, false),
            "t: accesses and counts of 3 regions in 1 thread in 0 ms, 1.00 KB in the file, nothing dropped"
        );
        assert_eq!(
            parts(&summary),
            "9 chunks of 2 streams, 4,096 bytes of records and 0 of allocations in 1,000 bytes"
        );
    }

    #[test]
    fn errors_have_the_statuses_of_shells() {
        assert_eq!(
            status_of_error(&RecordError::ProgramNotFound { program: "p".into() }),
            127
        );
        assert_eq!(
            status_of_error(&RecordError::OutputExists { path: "t".into() }),
            2
        );
    }
}
