//! Sampling the program while it runs.

mod running;

pub use running::sample_process;

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use trackway_sampler::{OpenSampler, PreparedSampler, Sampler, SamplerError, Target};
use trackway_trace::{Samples, SamplingInfo, WindowEnd};

use crate::clock::RecordingClock;
use crate::collector::Collector;
use crate::{RecordError, RecordOptions, SamplesSummary};

/// Samples are drained from the kernel whenever so many may have come.
const DRAINED_SAMPLES: u32 = 25;
/// Bounds of the interval between drains.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(4);
const LONGEST_INTERVAL: Duration = Duration::from_millis(20);
/// A chunk has so many samples, or those of so long.
const CHUNK_SAMPLES: usize = 8192;
const CHUNK_TIME: Duration = Duration::from_secs(1);

const GO: u8 = 1;
const STOP: u8 = 0;

/// The program's side of the gate at which it waits, before it is executed, until its events are open.
pub struct ProgramSide {
    pid: PipeWriter,
    word: PipeReader,
}

impl ProgramSide {
    /// Says which process waits, and waits for the word. Runs in the forked process: system calls only.
    pub fn pass(&self) -> io::Result<()> {
        let mut word = [STOP];
        (&self.pid).write_all(&std::process::id().to_le_bytes())?;
        (&self.word).read_exact(&mut word)?;
        match word[0] {
            GO => Ok(()),
            _ => Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

/// A thread that opens the events of the program as soon as that waits at the gate.
pub struct Opening(JoinHandle<Result<OpenSampler, SamplerError>>);

impl Opening {
    /// Chooses how to sample, and sets up the gate.
    pub fn begin(options: &RecordOptions) -> Result<Option<(Opening, ProgramSide)>, RecordError> {
        let Some(sampling) = &options.sampling else {
            return Ok(None);
        };
        let prepared = PreparedSampler::new(sampling)?;
        let pipe = || {
            io::pipe().map_err(|source| RecordError::System {
                action: "make a pipe",
                source,
            })
        };
        let ((pid_reader, pid), (word, word_writer)) = (pipe()?, pipe()?);
        let notify = options.notify;
        let opening = std::thread::spawn(move || open(prepared, pid_reader, word_writer, notify));
        Ok(Some((Opening(opening), ProgramSide { pid, word })))
    }

    /// The open events, or why there are none. The program must have been started, or have failed to.
    pub fn finish(self) -> Result<OpenSampler, SamplerError> {
        self.0
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn open(
    prepared: PreparedSampler,
    mut pid: PipeReader,
    mut word: PipeWriter,
    notify: fn(&str),
) -> Result<OpenSampler, SamplerError> {
    let mut bytes = [0; 4];
    // It fails if no process was started.
    let opened = pid
        .read_exact(&mut bytes)
        .map_err(|source| SamplerError::NoProcess { pid: 0, source })
        .and_then(|()| prepared.open(Target::Starting(u32::from_le_bytes(bytes)), notify));
    let go = if opened.is_ok() { GO } else { STOP };
    // It fails if the process is gone; then starting it fails, too.
    let _ = word.write_all(&[go]);
    opened
}

/// Samples a program that runs.
pub struct Sampling {
    sampler: Sampler,
    interval: Duration,
    next_drain: Instant,
    gathered: Samples,
    last_chunk: Instant,
    summary: SamplesSummary,
}

impl Sampling {
    pub fn new(sampler: Sampler) -> Self {
        let interval = interval(sampler.info().rate_hz);
        Sampling {
            sampler,
            interval,
            next_drain: Instant::now() + interval,
            gathered: Samples::default(),
            last_chunk: Instant::now(),
            summary: SamplesSummary::default(),
        }
    }

    pub fn info(&self) -> SamplingInfo {
        self.sampler.info().clone()
    }

    /// How long there is nothing to do.
    pub fn wait(&self) -> Duration {
        self.next_drain.saturating_duration_since(Instant::now())
    }

    /// Takes samples if it is time to.
    pub fn poll(&mut self, clock: &RecordingClock, collector: &mut Collector) {
        if !self.wait().is_zero() {
            return;
        }
        self.drain(clock, collector);
        let is_full = self.gathered.samples.len() >= CHUNK_SAMPLES;
        if is_full || self.last_chunk.elapsed() >= CHUNK_TIME {
            self.push(collector);
        }
    }

    /// Takes what is left, and gives the collector all code that was seen.
    pub fn finish(mut self, clock: &RecordingClock, collector: &mut Collector) -> SamplesSummary {
        self.drain(clock, collector);
        self.push(collector);
        self.summary.refused_stops = self.sampler.refused_stops();
        collector.add_seen_code(self.sampler.seen_code());
        self.summary
    }

    /// Keeps what lies in windows, as far as the collector has taken their marks.
    fn drain(&mut self, clock: &RecordingClock, collector: &Collector) {
        let is_wanted = |time_ns| collector.was_recording(time_ns);
        let samples = self.sampler.drain(clock.offset_ns(), &is_wanted);
        self.next_drain = Instant::now() + self.interval;
        self.summary.samples += samples.samples.len() as u64;
        self.summary.lost += samples.lost;
        let windows = samples
            .samples
            .iter()
            .filter(|sample| sample.window_end != WindowEnd::None);
        self.summary.windows += windows.count() as u64;
        append(&mut self.gathered, samples);
    }

    /// Mappings first: should the file be cut off, the samples before the cut can be named.
    fn push(&mut self, collector: &mut Collector) {
        self.last_chunk = Instant::now();
        let changes = self.sampler.take_mappings();
        if !changes.is_empty() {
            collector.push_mappings(&changes);
        }
        let samples = std::mem::take(&mut self.gathered);
        if !samples.samples.is_empty() || samples.lost > 0 {
            collector.push_samples(&samples);
        }
    }
}

/// The interval between drains, at so many samples for each second of a thread; 0: unknown.
fn interval(rate_hz: u64) -> Duration {
    let samples =
        Duration::from_secs(1) * DRAINED_SAMPLES / u32::try_from(rate_hz.max(1)).unwrap_or(u32::MAX);
    samples.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL)
}

fn append(all: &mut Samples, more: Samples) {
    let first = all.window.len();
    all.lost += more.lost;
    all.window.extend(more.window);
    all.samples.extend(more.samples.into_iter().map(|mut sample| {
        sample.window = sample.window.start + first..sample.window.end + first;
        sample
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{Sample, WindowAccess};

    #[test]
    fn many_samples_are_taken_often() {
        let milliseconds = |rate_hz| interval(rate_hz).as_millis();
        assert_eq!(
            [0, 250, 1000, 2500, 5000, 100_000].map(milliseconds),
            [20, 20, 20, 10, 5, 4]
        );
    }

    #[test]
    fn windows_keep_their_accesses() {
        let of = |lost, instruction| Samples {
            lost,
            samples: vec![Sample {
                window: 0..1,
                ..Sample::default()
            }],
            window: vec![WindowAccess {
                instruction,
                ..WindowAccess::default()
            }],
        };
        let mut all = of(1, 10);
        append(&mut all, of(2, 20));
        assert_eq!(all.lost, 3);
        assert_eq!(all.window_of(&all.samples[0])[0].instruction, 10);
        assert_eq!(all.window_of(&all.samples[1])[0].instruction, 20);
    }
}
