//! Sampling a process that runs already.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use trackway_sampler::{PreparedSampler, SamplerError, Target};
use trackway_trace::EndInfo;

use super::Sampling;
use crate::clock::Calibration;
use crate::collector::Collector;
use crate::control::ControlSocket;
use crate::encoding::{self, Settings};
use crate::process_handle::open_process;
use crate::ring::Ring;
use crate::signals::Signals;
use crate::sink::{self, Sink};
use crate::switching::{Burst, Switching};
use crate::windows::Schedule;
use crate::{
    cpu_seconds, encoders, machine, missing_reason, trace_error, windows_to_tell, CountsSummary, ProgramEnd,
    RecordError, RecordOptions, RecordSummary, Remains,
};

/// Why sampling a process ends.
#[derive(Clone, Copy)]
enum End {
    Interrupted,
    /// What the user wanted is sampled.
    Left,
    OfProcess,
}

/// Samples the process until it ends, or until SIGINT, SIGTERM, SIGHUP or SIGQUIT comes, or the last window closes; then
/// it goes on unsampled.
///
/// # Errors
/// If there is no such process, or if the kernel doesn't let this user sample it.
pub fn sample_process(options: &RecordOptions, pid: u32) -> Result<RecordSummary, RecordError> {
    options.check()?;
    let started = Instant::now();
    let cpu_before = cpu_seconds();
    let sampler_options = options.sampling.as_ref().ok_or(RecordError::Option {
        option: "the process to sample",
        value: pid.into(),
        expected: "sampled: set options for it",
    })?;
    let process = open_process(pid).ok_or_else(|| SamplerError::NoProcess {
        pid,
        source: std::io::Error::from_raw_os_error(libc::ESRCH),
    })?;
    let prepared = PreparedSampler::new(sampler_options)?;
    let calibration = Calibration::begin();
    let mut signals = Signals::catch().map_err(|source| RecordError::System {
        action: "catch signals",
        source,
    })?;
    let clock = calibration.finish();
    // The first samples come before all events are open. What was mapped then is read afterwards.
    let opened_ns = clock.now_ns();
    let opened = prepared.open(Target::Running(pid), options.notify)?;
    let mut sampling = Sampling::new(opened.begin(opened_ns)?);
    let start_info = machine::start_info(options, pid, &clock, Some(sampling.info()));
    let ring = Ring::create(options)?; // nobody fills it
    let sink = Sink::new(sink::open(options)?, options.compression, false).map_err(trace_error)?;
    let encoders = encoders(options)?;
    let output = encoding::Output::new(sink, Settings::default());
    let control = ControlSocket::open_or_say(options.notify);
    let (totals, samples, end) = std::thread::scope(|scope| {
        let queue = encoding::start(encoders, &output, &ring, scope);
        let mut collector = Collector::new(&ring, queue, &clock);
        collector.start(&start_info);
        let mut switching = Switching {
            schedule: Schedule::begin(&options.windows, Instant::now()),
            control: control.as_ref(),
            snapshots: None,
            started,
            after_accesses: None,
            bursts: Burst::default(),
        };
        let end = loop {
            switching.poll(&ring, &clock, &mut collector);
            sampling.poll(&clock, &mut collector);
            if signals.pending().next().is_some() {
                break End::Interrupted;
            }
            if switching.is_over() {
                break End::Left;
            }
            if ends_within(&process, sampling.wait().min(switching.wait())) {
                break End::OfProcess;
            }
        };
        let samples = sampling.finish(&clock, &mut collector);
        collector.push_names(options);
        (collector.finish(missing_reason(options), None), samples, end)
    });
    let reason = match end {
        End::Interrupted => "interrupted",
        End::Left => "the program runs on",
        End::OfProcess => "program ended",
    };
    let (mut sink, _) = output.into_parts();
    sink.finish(&EndInfo {
        end_monotonic_ns: clock.now_ns(),
        reason: reason.to_owned(),
        ..EndInfo::default()
    });
    Ok(RecordSummary {
        program_end: ProgramEnd::Exited(0),
        remains: Remains::default(),
        thread_stacks: Vec::new(),
        instrumented: false,
        modules: totals.modules,
        processes: totals.processes,
        interrupted_streams: totals.interrupted_streams,
        interrupted_in_children: totals.interrupted_in_children,
        streams: totals.streams,
        chunks: sink.chunks(),
        raw_bytes: totals.record_bytes,
        allocation_bytes: totals.allocation_bytes,
        counts: CountsSummary::default(),
        samples: Some(samples),
        stored_bytes: sink.stored_bytes(),
        lost_marks: totals.lost_marks,
        snapshots: None,
        windows: windows_to_tell(options, &ring),
        dropped_buffers: totals.dropped,
        damage: None,
        write_failure: sink.loss(totals.dropped),
        interrupted: false,
        work: None,
        recorder_cpu_seconds: cpu_seconds() - cpu_before,
        wall_seconds: started.elapsed().as_secs_f64(),
    })
}

/// Waits for the process's end, at most so long.
fn ends_within(process: &OwnedFd, time: Duration) -> bool {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: time.subsec_nanos().into(),
    };
    let mut descriptors = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    // A signal ends the wait; then nothing is ready.
    matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0)
}
