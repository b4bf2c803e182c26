//! The branches of all threads of a trace.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_trace::{Program, Stream, Trace, TraceError};

use super::tables::BranchPlace;
use super::{BranchTotals, PredictorChoice, Replay};
use crate::model::control_flow::{BranchEvent, BranchSource, MachineFlow, RecordedFlow, Unresolved};
use crate::model::path_inside;
use crate::{share_out, Names, Observer, UNKNOWN};

/// The branches of a trace, replayed with predictors of its own for each stream.
pub struct TraceReplay<'t> {
    pub totals: BranchTotals,
    pub unresolved: Unresolved,
    /// Chunks that could not be read, in the order of the file.
    pub damage: Vec<TraceError>,
    trace: &'t Trace,
    names: Names<'t>,
    flow: Flow<'t>,
}

/// How a trace's control flow is known.
#[derive(Debug)]
enum Flow<'t> {
    Machine(MachineFlow),
    Recorded(RecordedFlow<'t>),
}

/// Replays all streams on up to `threads` threads.
pub fn replay_trace<'t>(
    trace: &'t Trace,
    predictors: &[PredictorChoice],
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> TraceReplay<'t> {
    let flow = Flow::of(trace);
    let total = Mutex::new(StreamReplays::default());
    // In a slice, streams of other threads hold nothing.
    let streams = trace.streams().iter().filter(|stream| !stream.chunks.is_empty());
    let streams: Vec<&Stream> = streams.collect();
    share_out(&streams, threads, |jobs| {
        for stream in jobs {
            let done = flow.replay(new_replay(predictors), trace, stream, observer);
            let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            total.add(stream.id, done);
        }
    });
    let total = total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    total.finish(predictors, trace, flow)
}

fn new_replay(predictors: &[PredictorChoice]) -> Replay {
    Replay::new(predictors.iter().map(|choice| choice.make()).collect())
}

impl<'t> Flow<'t> {
    fn of(trace: &'t Trace) -> Self {
        match trace.program().machine_blocks.is_empty() {
            true => Flow::Recorded(RecordedFlow::new(trace.program())),
            false => Flow::Machine(MachineFlow::new(trace.program())),
        }
    }

    fn replay(
        &self,
        replay: Replay,
        trace: &Trace,
        stream: &Stream,
        observer: &dyn Observer,
    ) -> StreamReplay {
        match self {
            Flow::Machine(flow) => {
                let mut branches = flow.branches(trace, stream, observer);
                let Ok(totals) = replay.run(&mut branches);
                (totals, branches.unresolved(), branches.into_damage())
            }
            Flow::Recorded(flow) => {
                let mut branches = flow.branches(trace, stream, observer);
                let Ok(totals) = replay.run(&mut branches);
                (totals, branches.unresolved(), branches.into_damage())
            }
        }
    }
}

type StreamReplay = (BranchTotals, Unresolved, Vec<TraceError>);

#[derive(Default)]
struct StreamReplays {
    by_stream: Vec<(u32, BranchTotals)>,
    unresolved: Unresolved,
    damage: Vec<TraceError>,
}

impl StreamReplays {
    fn add(&mut self, stream: u32, (totals, unresolved, damage): StreamReplay) {
        self.unresolved.add(&unresolved);
        self.damage.extend(damage);
        self.by_stream.push((stream, totals));
    }

    /// Takes the streams in order, so that the order of first executions doesn't depend on which was done first.
    fn finish<'t>(
        mut self,
        predictors: &[PredictorChoice],
        trace: &'t Trace,
        flow: Flow<'t>,
    ) -> TraceReplay<'t> {
        self.by_stream.sort_by_key(|(stream, _)| *stream);
        self.damage.sort_by_key(TraceError::offset);
        let Ok(mut totals) = new_replay(predictors).run(&mut Nothing);
        for (_, more) in self.by_stream {
            // All have the same predictors.
            let _ = totals.add(more);
        }
        totals.instructions += self.unresolved.instructions_behind;
        TraceReplay {
            totals,
            unresolved: self.unresolved,
            damage: self.damage,
            trace,
            names: Names::new(trace.program()),
            flow,
        }
    }
}

/// No branches: of a trace without streams the predictors still have names and sizes.
struct Nothing;

impl BranchSource for Nothing {
    type Error = std::convert::Infallible;

    fn for_each(&mut self, _: &mut dyn FnMut(&BranchEvent)) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl TraceReplay<'_> {
    /// Whether the trace says anything of the program's control flow.
    pub fn is_known(&self) -> bool {
        match &self.flow {
            Flow::Machine(_) => true,
            Flow::Recorded(_) => RecordedFlow::is_known(self.trace.program()),
        }
    }

    /// Conditional branches of the program that the source never reported: they were not executed, or are in no record.
    /// Machine code is known only as far as it was executed.
    pub fn silent_branches(&self) -> Option<u64> {
        match &self.flow {
            Flow::Machine(_) => None,
            Flow::Recorded(flow) => Some((flow.branch_count() - self.totals.branches.len()) as u64),
        }
    }

    /// Where the branch at an address of the totals is.
    pub fn place(&self, address: u64) -> BranchPlace {
        let program = self.trace.program();
        match &self.flow {
            Flow::Machine(flow) => flow
                .instruction(address)
                .map(|instruction| BranchPlace {
                    name: program.place_of(instruction),
                    ..BranchPlace::default()
                })
                .unwrap_or_default(),
            Flow::Recorded(flow) => self.recorded_place(program, flow, address).unwrap_or_default(),
        }
    }

    fn recorded_place(&self, program: &Program, flow: &RecordedFlow, address: u64) -> Option<BranchPlace> {
        let (function, piece, location) = flow.branch(address)?;
        let location = program.location(location);
        let names = &self.names;
        let written_in = match program.string(location.function) {
            "" => program.function(function).linkage_name,
            _ => location.function,
        };
        let folder = &self.trace.meta().working_directory;
        let own = names.function(program.function(function).linkage_name);
        let own = if own == UNKNOWN { String::new() } else { own };
        Some(BranchPlace {
            name: format!("{own}#{piece}"),
            function: names.function(written_in),
            file: path_inside(folder, program.string(location.file)).to_owned(),
            line: Some(u64::from(location.line)).filter(|line| *line > 0),
        })
    }
}
