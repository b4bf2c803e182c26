//! Questions whose work is shared by other processes: what the machines of a cluster do, and what the asking machine
//! does.

use std::num::NonZeroUsize;
use std::sync::Arc;

use trackway_analysis::partial::{
    finish, plan, run_task, LinesRun, Partial, PartialError, Partitioned, Plan, Portable, Task,
};
use trackway_analysis::WorkPart;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::soundness;

/// A question with its trace, whichever analysis answers it. Partial results are the bytes of
/// [`Partial::to_bytes`](trackway_analysis::partial::Partial::to_bytes).
pub trait Divided: Send + Sync {
    /// Divides the work into about so many tasks.
    fn plan(&self, count: NonZeroUsize) -> Plan;

    /// Does a task of a plan with so many parts. Gives the accesses that it distributes to `emit`, and returns what it
    /// found.
    ///
    /// # Errors
    /// If the task belongs to another trace.
    fn run_task(
        &self,
        task: &Task,
        parts: u32,
        emit: &mut dyn FnMut(Partitioned),
    ) -> Result<Vec<u8>, PartialError>;

    /// Begins with the accesses of one of the plan's parts.
    fn lines(self: Arc<Self>, part: WorkPart) -> Box<dyn Lines>;

    /// Makes one partial result of several.
    ///
    /// # Errors
    /// If they don't belong together.
    fn merge(&self, partials: &[&[u8]]) -> Result<Vec<u8>, PartialError>;

    /// The report, of the partial results of all tasks and parts.
    ///
    /// # Errors
    /// If they don't belong together.
    fn finish(&self, partials: &[&[u8]]) -> Result<Report, PartialError>;
}

/// The accesses of one part, in the order of their streams and numbers.
pub trait Lines: Send {
    /// Takes the next ones.
    ///
    /// # Errors
    /// If they come out of order, or aren't what a task gave.
    fn take(&mut self, stream: u32, number: u64, block: &[u8]) -> Result<(), PartialError>;

    /// The partial result.
    ///
    /// # Errors
    /// If it can't be encoded.
    fn finish(self: Box<Self>) -> Result<Vec<u8>, PartialError>;
}

/// An analysis and its trace.
pub struct Work<A> {
    analysis: A,
    trace: Arc<Trace>,
    /// Distinguishes partial results of this question from those of others.
    about: String,
    warnings: Vec<String>,
}

impl<A: Portable> Work<A> {
    /// `about`: the question in words.
    pub fn new(analysis: A, trace: Arc<Trace>, about: String, warnings: Vec<String>) -> Work<A> {
        Work {
            analysis,
            trace,
            about,
            warnings,
        }
    }

    fn to_bytes(&self, partial: Partial<A::Shard>) -> Result<Vec<u8>, PartialError> {
        partial.to_bytes(&self.analysis, &self.about, &self.trace)
    }

    fn merged(&self, partials: &[&[u8]]) -> Result<Partial<A::Shard>, PartialError> {
        let mut all = Partial::default();
        for bytes in partials {
            let partial = Partial::from_bytes(bytes, &self.analysis, &self.about, &self.trace)?;
            all.merge(&self.analysis, partial);
        }
        Ok(all)
    }
}

impl<A: Portable + Send + Sync + 'static> Divided for Work<A> {
    fn plan(&self, count: NonZeroUsize) -> Plan {
        plan(&self.analysis, &self.trace, count)
    }

    fn run_task(
        &self,
        task: &Task,
        parts: u32,
        emit: &mut dyn FnMut(Partitioned),
    ) -> Result<Vec<u8>, PartialError> {
        let found = run_task(&self.analysis, &self.trace, parts, task, emit)?;
        self.to_bytes(found)
    }

    fn lines(self: Arc<Self>, part: WorkPart) -> Box<dyn Lines> {
        let run = LinesRun::new(&self.trace, part);
        Box::new(WorkLines { work: self, run })
    }

    fn merge(&self, partials: &[&[u8]]) -> Result<Vec<u8>, PartialError> {
        self.to_bytes(self.merged(partials)?)
    }

    fn finish(&self, partials: &[&[u8]]) -> Result<Report, PartialError> {
        let (findings, summary) = finish(&self.analysis, &self.trace, self.merged(partials)?);
        Ok(soundness::report(
            &self.trace,
            findings,
            &summary,
            self.warnings.clone(),
        ))
    }
}

struct WorkLines<A: Portable> {
    work: Arc<Work<A>>,
    run: LinesRun<A::Shard>,
}

impl<A: Portable + Send + Sync> Lines for WorkLines<A> {
    fn take(&mut self, stream: u32, number: u64, block: &[u8]) -> Result<(), PartialError> {
        let work = &self.work;
        self.run.take(&work.analysis, &work.trace, stream, number, block)
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, PartialError> {
        let partial = self.run.finish(&self.work.analysis);
        self.work.to_bytes(partial)
    }
}
