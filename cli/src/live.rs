//! `trackway record --live`: a report while the program runs, from chunks that are stored nowhere.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackway_analysis::{run_live, LiveChunk, LiveRun};
use trackway_recorder::{record_into, ChunkSink, RecordError, RecordOptions, RecordSummary, SinkError};
use trackway_report::grouped;
use trackway_trace::{Chunk, GrowingTrace};

use crate::arguments::{LiveAnalysis, LiveArguments};
use crate::counts;
use crate::failure::Failure;
use crate::soundness;

/// Bytes of chunks that may wait for the analysis; then the program waits.
const QUEUE_BYTES: usize = 32 << 20;

/// Runs the program and the analysis, and prints what it found when both have ended.
pub fn record(
    options: &RecordOptions,
    analysis: LiveAnalysis,
    arguments: &LiveArguments,
    quiet: bool,
) -> Result<Result<RecordSummary, RecordError>, Failure> {
    let LiveAnalysis::Misses = analysis;
    let form = &arguments.form;
    form.groupings(false)?;
    let (chunks, queue) = sync_channel(QUEUE_BYTES / options.buffer_size as usize + 1);
    let progress = LiveProgress::new(quiet);
    let (recorded, analysed) = std::thread::scope(|scope| {
        let analysis = scope.spawn(|| {
            let mut warnings = Vec::new();
            let start = |trace: &GrowingTrace| form.analysis(trace.trace(), false, &mut warnings);
            let advance = |accesses, _| progress.advance(accesses);
            let mut queue = queue.into_iter();
            let run = run_live(options.program.as_ref(), &mut queue, start, &advance)?;
            Ok::<_, Failure>((run, warnings))
        });
        let recorded = record_into(options, Box::new(LiveSink { chunks: Some(chunks) }));
        (recorded, analysis.join())
    });
    progress.finish();
    let recorded = match recorded {
        Ok(summary) => summary,
        Err(error) => return Ok(Err(error)),
    };
    let analysed = analysed.map_err(|_| Failure::new("the analysis ended before time"))?;
    let (run, warnings) = analysed?;
    deliver(arguments, run, warnings)?;
    Ok(Ok(recorded))
}

fn deliver(arguments: &LiveArguments, run: LiveRun, warnings: Vec<String>) -> Result<(), Failure> {
    let mut found = soundness::report(run.trace.trace(), run.findings, &run.summary, warnings);
    if counts::are_in(run.trace.trace()) {
        let hint =
            "the program counts, which is not analysed while it runs: record it and use `trackway report`";
        found.warnings.push(hint.into());
    }
    let (output, csv) = (&arguments.form.output, found.tables.first());
    match &arguments.report {
        None => output.print(&found, csv).map(drop),
        Some(path) => output.write(&found, csv, path),
    }
}

/// Passes the recorder's chunks to the analysis.
struct LiveSink {
    /// None when the trace has ended.
    chunks: Option<SyncSender<LiveChunk>>,
}

impl ChunkSink for LiveSink {
    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        let chunk = LiveChunk {
            header: chunk.header,
            bytes: chunk.to_bytes(),
        };
        let sent = self.chunks.as_ref().map(|chunks| chunks.send(chunk));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err("the analysis has ended; the program goes on without being recorded".into()),
        }
    }

    fn finish(&mut self) -> Result<u64, SinkError> {
        self.chunks = None;
        Ok(0)
    }
}

/// A line on standard error, if that is a terminal.
struct LiveProgress {
    line: ProgressBar,
    accesses: AtomicU64,
}

impl LiveProgress {
    fn new(quiet: bool) -> LiveProgress {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(4)
        };
        let line = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {msg}") {
            line.set_style(style);
        }
        line.enable_steady_tick(Duration::from_millis(250));
        LiveProgress {
            line,
            accesses: AtomicU64::new(0),
        }
    }

    fn advance(&self, accesses: u64) {
        let accesses = self.accesses.fetch_add(accesses, Ordering::Relaxed) + accesses;
        if !self.line.is_hidden() {
            let per_second = accesses as f64 / self.line.elapsed().as_secs_f64().max(1e-3);
            self.line.set_message(format!(
                "{} accesses analysed, {}/s",
                grouped(accesses),
                grouped(per_second as u64)
            ));
        }
    }

    fn finish(&self) {
        self.line.finish_and_clear();
    }
}
