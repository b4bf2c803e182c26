//! The branches of all threads of a trace.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_trace::{Program, Stream, Trace, TraceError};

use super::machine::MachineFlow;
use super::tables::BranchPlace;
use super::{BranchTotals, PredictorChoice, Replay, Untold};
use crate::{share_out, Progress};

/// What a trace's branches came to, each stream with predictors of its own.
#[derive(Debug)]
pub struct TraceReplay {
    pub totals: BranchTotals,
    pub untold: Untold,
    /// Chunks that could not be read, in the order of the file.
    pub damage: Vec<TraceError>,
    flow: MachineFlow,
}

/// Replays all streams on up to `threads` threads.
pub fn replay_trace(
    trace: &Trace,
    predictors: &[PredictorChoice],
    threads: NonZeroUsize,
    progress: Progress,
) -> TraceReplay {
    let flow = MachineFlow::new(trace.program());
    let total = Mutex::new(StreamReplays::default());
    let streams: Vec<&Stream> = trace.streams().iter().collect();
    share_out(&streams, threads, |jobs| {
        for stream in jobs {
            let mut branches = flow.branches(trace, stream, progress);
            let Ok(totals) = new_replay(predictors).run(&mut branches);
            let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            total.untold.add(&branches.untold());
            total.damage.extend(branches.into_damage());
            total.by_stream.push((stream.id, totals));
        }
    });
    let total = total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    total.finish(predictors, flow)
}

fn new_replay(predictors: &[PredictorChoice]) -> Replay {
    Replay::new(predictors.iter().map(|choice| choice.make()).collect())
}

#[derive(Default)]
struct StreamReplays {
    by_stream: Vec<(u32, BranchTotals)>,
    untold: Untold,
    damage: Vec<TraceError>,
}

impl StreamReplays {
    /// In the order of the streams, so that the order of first executions doesn't depend on which was done first.
    fn finish(mut self, predictors: &[PredictorChoice], flow: MachineFlow) -> TraceReplay {
        self.by_stream.sort_by_key(|(stream, _)| *stream);
        self.damage.sort_by_key(TraceError::offset);
        let Ok(mut totals) = new_replay(predictors).run(&mut Nothing);
        for (_, more) in self.by_stream {
            // All have the same predictors.
            let _ = totals.add(more);
        }
        totals.instructions += self.untold.instructions_behind;
        TraceReplay {
            totals,
            untold: self.untold,
            damage: self.damage,
            flow,
        }
    }
}

/// No branches: of a trace without streams the predictors still have names and sizes.
struct Nothing;

impl super::BranchSource for Nothing {
    type Error = std::convert::Infallible;

    fn for_each(&mut self, _: &mut dyn FnMut(&super::BranchEvent)) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl TraceReplay {
    /// Where the branch at an address of the totals is.
    pub fn place(&self, program: &Program, address: u64) -> BranchPlace {
        let Some(instruction) = self.flow.instruction(address) else {
            return BranchPlace::default();
        };
        BranchPlace {
            name: program.place_of(instruction),
            ..BranchPlace::default()
        }
    }
}
