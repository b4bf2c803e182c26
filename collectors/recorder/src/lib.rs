//! The recorder: starts a program, stays beside it, drains the buffers that its threads fill in shared memory, and
//! writes them as the chunks of a trace.
//!
//! [`Ring`](ring::Ring) is the shared memory, [`Collector`](collector::Collector) turns its buffers into chunks,
//! `encoding` compresses and writes these on threads of their own, [`Recording`](recording::Recording) is the loop.
//! A [`ChunkSink`] takes the chunks: a file, a collector at the other end of a socket (`streaming`), or the caller's.

mod abi;
mod allocations;
mod binary;
mod bystander;
mod clock;
mod collector;
mod control;
mod encoding;
mod error;
mod hardware;
mod liveness;
mod machine;
mod options;
mod pace;
mod process_handle;
mod processes;
mod processor_time;
mod program;
mod recording;
mod region_holders;
mod ring;
mod sampling;
mod signals;
mod sink;
mod snapshots;
mod stack_room;
mod step_costs;
mod streaming;
mod summary;
mod switching;
mod watching;
mod windows;
mod work;

use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Instant;

use trackway_trace::{ChunkEncoder, EndInfo, GapReason, TraceError};

use binary::ConfigurationFolder;
use clock::Calibration;
use collector::{Collector, Totals};
use control::ControlSocket;
use encoding::Settings;
use liveness::Liveness;
use program::{EndOfProgram, Program, Started};
use recording::Recording;
use region_holders::RegionHolders;
use ring::{Cause, Ring};
use sampling::{Opening, Sampling};
use signals::Signals;
use sink::Sink;
use snapshots::Snapshots;
use switching::{Burst, Switching};
use windows::Schedule;

pub use abi::ABI;
pub use binary::found_in_path;
pub use control::{control, ControlAnswer, ControlError, ControlRequest};
pub use error::RecordError;
pub use hardware::{available_events, HardwareEvent, Unavailable, HARDWARE_EVENTS, MOST_HARDWARE_EVENTS};
pub use options::{
    AllocationTracer, BinaryClient, BurstMeasure, Bursts, Compression, Flight, Output, RecordOptions, Route,
    WhenFull, WindowOptions, MOST_STACK_FRAMES,
};
pub use sampling::sample_process;
pub use sink::flight::{Snapshot, SnapshotBoard, SnapshotRequest};
pub use sink::{ChunkSink, SinkError};
pub use streaming::{
    collect, Address, ArrivedChunk, CollectError, CollectEvent, CollectOptions, CollectOutput,
    CollectSummary, Feed, FeedError, TraceFeed,
};
pub use summary::{
    CountsSummary, Loss, ProgramEnd, RecordSummary, Remains, SamplesSummary, SnapshotsSummary,
};
pub use trackway_sampler::{
    Choice as SampleChoice, Pace, PreparedSampler, SamplerError, SamplerOptions, USUAL_RATE, USUAL_WINDOW,
};
pub use watching::{
    attach, measure_clock, now_ns, recorder_of, AttachError, Attachment, RingView, RunningNode, ViewError,
};
pub use work::{ChunkCounts, RecorderWork};

/// Runs the program to its end and records it. SIGINT, SIGTERM, SIGHUP and SIGQUIT don't end the calling process
/// meanwhile: the program gets them, and after its end they end the wait for processes that it left behind.
///
/// An error means that the program was not started.
pub fn record(options: RecordOptions) -> Result<RecordSummary, RecordError> {
    record_to(&options, || sink::open(&options), |_| ())
}

/// The same, but the chunks go to `chunks`, whatever the options name as output.
pub fn record_into(
    options: &RecordOptions,
    chunks: Box<dyn ChunkSink>,
) -> Result<RecordSummary, RecordError> {
    record_to(options, || Ok(Some(chunks)), |_| ())
}

/// The same, but `wrap` gets the sink that the options name, if any, and returns the sink to use. `watch` gets the ring
/// before the program starts.
pub fn record_watched(
    options: &RecordOptions,
    wrap: impl FnOnce(Option<Box<dyn ChunkSink>>) -> Box<dyn ChunkSink>,
    watch: impl FnOnce(RingView),
) -> Result<RecordSummary, RecordError> {
    let open = || sink::open(options).map(|chunks| Some(wrap(chunks)));
    record_to(options, open, |ring| {
        // A ring that was just made can be mapped again, or else there is nothing to see.
        if let Ok(view) = RingView::map(&ring.descriptor()) {
            watch(view);
        }
    })
}

/// One sequence from opening to summary: later steps borrow the ring, the sink and the clock that earlier ones made,
/// and all of these must live until the program has ended.
fn record_to(
    options: &RecordOptions,
    open: impl FnOnce() -> Result<Option<Box<dyn ChunkSink>>, RecordError>,
    watch: impl FnOnce(&Ring),
) -> Result<RecordSummary, RecordError> {
    options.check()?;
    let (opening, gate) = Opening::begin(options)?.unzip();
    let started = Instant::now();
    let calibration = Calibration::begin();
    let cpu_before = cpu_seconds();
    let mut signals = Signals::catch().map_err(|source| RecordError::System {
        action: "catch signals",
        source,
    })?;
    let ring = match options.process {
        Some(pid) => Ring::attach(watching::dormant_page(pid)?, options)?,
        None => Ring::create(options)?,
    };
    let configuration = match options.client {
        Some(_) => Some(ConfigurationFolder::create()?),
        None => None,
    };
    let liveness = Liveness::begin(&ring).map_err(|source| RecordError::System {
        action: "hold the ring's lock",
        source,
    })?;
    let encoders = encoders(options)?;
    let skips = options.windows.start_after_accesses.is_some();
    let mut sink = Sink::new(open()?, options.compression, skips).map_err(trace_error)?;
    if options.windows.counts_accesses() {
        sink.count_accesses();
    }
    let impatience = Arc::new(AtomicBool::new(false));
    sink.heed(&impatience);
    let board = sink.snapshots();
    watch(&ring);
    let started_child = match options.process {
        Some(pid) => Ok(Started::Before(pid)),
        None => program::start(options, &ring, configuration.as_ref(), gate).map(Started::Now),
    };
    // If the program could not be started because it can't be sampled, report that.
    let opened = opening.map(Opening::finish).transpose();
    let (child, opened) = match (started_child, opened) {
        (Ok(child), Ok(opened)) => (child, opened),
        (_, Err(error)) if !matches!(error, SamplerError::NoProcess { .. }) => {
            sink.cancel();
            return Err(error.into());
        }
        (Err(error), _) => {
            sink.cancel();
            return Err(error);
        }
        (Ok(_), Err(error)) => {
            sink.cancel();
            return Err(error.into());
        }
    };
    // The program runs already, and has empty buffers.
    let clock = calibration.finish();
    let mut sampling = match opened {
        Some(opened) => Some(Sampling::new(opened.begin(clock.now_ns())?)),
        None => None,
    };
    let sampling_info = sampling.as_ref().map(Sampling::info);
    let mut start_info = machine::start_info(options, child.pid(), &clock, sampling_info);
    if ring.is_session() {
        machine::describe_running(&mut start_info, child.pid());
    }
    // Over a connection, more bytes cost time at the other end, which can't be measured here.
    let goes_far = matches!(options.output, Output::Collector(_));
    let keeps_pace = options.compression == Compression::Auto && !goes_far;
    let settings = Settings {
        keeps_pace,
        measures: options.measures,
    };
    let output = encoding::Output::new(sink, settings);
    let end = EndOfProgram::default();
    let control = ControlSocket::open_or_say(options.notify);
    let start_ns = clock.description().base_ns;
    let mut snapshots = Snapshots::begin(options, board.clone(), start_ns);
    let (totals, samples, interrupted, windows, end_ns, thread_stacks) = std::thread::scope(|scope| {
        let program = match child {
            Started::Now(child) => Program::watch(child, &end, &ring, scope),
            Started::Before(pid) => Program::attached(pid),
        };
        let queue = encoding::start(encoders, &output, &ring, scope);
        let mut collector = Collector::new(&ring, queue, &clock);
        collector.start(&start_info);
        if skips || snapshots.as_ref().is_some_and(Snapshots::have_begun) {
            collector.hide_later_windows();
        }
        if options.windows.has_any() && options.sampling.is_none() {
            collector.count_in_windows();
        }
        let mut recording = Recording {
            ring: &ring,
            collector: &mut collector,
            program: &program,
            end: &end,
            signals: &mut signals,
            end_noticed: None,
            sampling: sampling.as_mut(),
            clock: &clock,
            count_looks: ((0, 0), 0),
            switching: Switching {
                schedule: Schedule::begin(&options.scheduled_windows(), Instant::now()),
                control: control.as_ref(),
                snapshots: snapshots.as_mut(),
                started,
                after_accesses: options.windows.start_after_accesses,
                bursts: Burst::default(),
            },
            region_holders: RegionHolders::default(),
        };
        // The program, which runs, would take no notice before the recorder counts as alive.
        if ring.is_session() && options.windows.has_regions_at_first() {
            ring.prepare_regions(&options.windows.globs());
        }
        if ring.is_session() && options.windows.begins_open() {
            ring.begin_window(Cause::Recorder);
        }
        let interrupted = recording.run();
        // A program that runs on may open more.
        let windows = windows_to_tell(options, &ring);
        // The program is gone; what is left of the trace may wait for a sink that takes nothing.
        signals::set_at_next(&impatience);
        collector.push_program_end(program.pid, end.get());
        let samples = sampling.map(|sampling| sampling.finish(&clock, &mut collector));
        collector.push_names(options);
        let thread_stacks = collector.thread_stacks.ranges();
        let last = snapshots
            .as_mut()
            .and_then(|snapshots| snapshots.at_end(&clock, end.get()));
        (
            collector.finish(missing_reason(options), last),
            samples,
            interrupted,
            windows,
            clock.now_ns(),
            thread_stacks,
        )
    });
    ring.stop();
    drop(liveness);
    ring.leave();
    let unknown = (ProgramEnd::Exited(0), Remains::default());
    let (program_end, remains) = end.with_remains().unwrap_or(unknown);
    let (mut sink, mut work) = output.into_parts();
    work.waiting = ring.waiting_time();
    sink.finish(&end_info(program_end, &totals, interrupted, end_ns));
    Ok(RecordSummary {
        program_end,
        remains,
        thread_stacks,
        instrumented: totals.modules > 0,
        modules: totals.modules,
        processes: totals.processes,
        interrupted_streams: totals.interrupted_streams,
        interrupted_in_children: totals.interrupted_in_children,
        streams: totals.streams,
        chunks: sink.chunks(),
        raw_bytes: totals.record_bytes,
        allocation_bytes: totals.allocation_bytes,
        counts: totals.counts,
        samples,
        stored_bytes: sink.stored_bytes(),
        lost_marks: totals.lost_marks,
        snapshots: snapshots.map(|snapshots| SnapshotsSummary {
            written: board.map_or(Vec::new(), |board| board.done()),
            refused: snapshots.refused,
            first_part: options
                .windows
                .most_bytes
                .map(|_| snapshots.first_part_ns(start_ns)),
        }),
        windows,
        dropped_buffers: totals.dropped,
        damage: totals.is_damaged.then_some(totals.damaged),
        write_failure: sink.loss(totals.dropped),
        interrupted,
        work: options.measures.then_some(work),
        recorder_cpu_seconds: cpu_seconds() - cpu_before,
        wall_seconds: started.elapsed().as_secs_f64(),
    })
}

/// How many windows there were; none if everything was one.
fn windows_to_tell(options: &RecordOptions, ring: &Ring) -> Option<u32> {
    let has_any = options.windows.has_any() || ring.window_count() > 1 || ring.open_window().is_none();
    // The trace doesn't tell of accesses that are counted only.
    let untold = u32::from(options.windows.start_after_accesses.is_some());
    has_any.then(|| ring.window_count().saturating_sub(untold))
}

fn encoders(options: &RecordOptions) -> Result<Vec<ChunkEncoder>, RecordError> {
    let first = ChunkEncoder::new(sink::codec(options.compression)).map_err(trace_error)?;
    let others: Result<Vec<_>, _> = (1..options.workers).map(|_| first.sibling()).collect();
    let mut encoders = others.map_err(trace_error)?;
    encoders.push(first);
    Ok(encoders)
}

fn trace_error(error: TraceError) -> RecordError {
    RecordError::Trace {
        error: Box::new(error),
    }
}

/// Why records are missing at the end of a stream, if any are.
fn missing_reason(options: &RecordOptions) -> GapReason {
    match options.when_full {
        WhenFull::Drop => GapReason::RingFull,
        WhenFull::Wait => GapReason::RecordingStopped,
    }
}

fn end_info(program_end: ProgramEnd, totals: &Totals, interrupted: bool, end_ns: u64) -> EndInfo {
    let (exit_status, signal) = program_end.parts();
    let reason = match program_end {
        _ if interrupted => "interrupted",
        ProgramEnd::RunsOn => "the program runs on",
        ProgramEnd::Replaced => "the process executes another program",
        _ => "program ended",
    };
    EndInfo {
        exit_status,
        signal,
        end_monotonic_ns: end_ns,
        streams: totals.streams,
        dropped_buffers: totals.dropped,
        record_bytes: totals.record_bytes,
        reason: reason.to_owned(),
        step_costs: (totals.counts.nodes > 0).then(step_costs::measure),
        ..EndInfo::default()
    }
}

/// Processor time of this process so far, seconds.
fn cpu_seconds() -> f64 {
    // SAFETY: getrusage fills the structure, for which zeros are valid.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
