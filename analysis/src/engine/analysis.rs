//! What an analysis is.

use trackway_report::{Report, Table};
use trackway_trace::{Batch, Program, Trace};

/// The order in which an analysis needs the accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// None: a shard takes any chunks in any order.
    Any,
    /// Program order of each thread: a shard takes all chunks of one stream, in order, and of no other stream.
    PerStream,
    /// One order of all threads' accesses that respects what is known of the order between them. One shard takes all.
    /// Each batch is from one stream, within the times of its `first_ns` and `last_ns`. There are no runs.
    /// [`crate::run`] adds a table that says how exact the order is.
    AcrossThreads,
}

impl Order {
    /// One order of all threads if the condition holds, else program order of each.
    pub fn across_threads_if(condition: bool) -> Order {
        match condition {
            true => Order::AcrossThreads,
            false => Order::PerStream,
        }
    }

    /// The order for two analyses in one pass.
    ///
    /// # Panics
    /// If one needs a shard for each stream, and the other one shard for all.
    pub(crate) fn common(first: Order, second: Order) -> Order {
        let order = first.max(second);
        assert!(
            order != Order::AcrossThreads || first.min(second) != Order::PerStream,
            "analyses per stream and across threads take different shards"
        );
        order
    }
}

/// A part of the work on each stream: shards of all parts get all of its batches, and each does what falls to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkPart {
    /// Below `count`.
    pub number: u32,
    /// A power of two.
    pub count: u32,
}

impl WorkPart {
    /// All of the work.
    pub const WHOLE: WorkPart = WorkPart { number: 0, count: 1 };

    /// Whether what must be done once falls to it.
    pub fn is_first(self) -> bool {
        self.number == 0
    }
}

/// What an analysis found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// A sentence that says the most important of it.
    pub answer: Option<String>,
    pub tables: Vec<Table>,
}

impl Findings {
    /// These findings, and then the second ones.
    pub(crate) fn and(mut self, second: Findings) -> Findings {
        self.tables.extend(second.tables);
        self.answer = match (self.answer, second.answer) {
            (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
            (first, second) => first.or(second),
        };
        self
    }

    /// The findings with what makes them incomplete or doubtful.
    pub fn into_report(self, warnings: Vec<String>) -> Report {
        Report {
            answer: self.answer.unwrap_or_default(),
            warnings,
            tables: self.tables,
        }
    }
}

/// A computation over all accesses of a trace.
///
/// [`crate::run`] starts shards, gives each its batches from one thread at a time, merges them, and finishes the last
/// one. Shards may be merged in any order; the findings must not depend on it.
pub trait Analysis: Sync {
    /// The state of a part of the work.
    type Shard: Send;

    fn order(&self) -> Order;

    /// Whether [`Analysis::take_batch`] looks at the runs of batches, too. If not, all accesses stand in the columns.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Whether it follows blocks of memory from their allocations on. Then it also gets the allocations and releases that
    /// lie before a slice of the trace, or in other threads; the chunks that hold them must be decoded.
    fn follows_blocks(&self) -> bool {
        false
    }

    fn start_shard(&self) -> Self::Shard;

    /// The number of parts, at most, into which the work on a stream can be divided; a power of two. With more than 1,
    /// [`Order::PerStream`] can use several processors for a stream. Only the shards that [`Analysis::start_part`] made
    /// for all parts know everything together.
    fn most_parts(&self) -> u32 {
        1
    }

    /// The number of parts into which the work is divided wherever there are several threads, however few: a power of two.
    fn least_parts(&self) -> u32 {
        1
    }

    /// Whether parts also divide the work on merged streams, [`Order::AcrossThreads`].
    fn divides_merged(&self) -> bool {
        false
    }

    /// A shard for a part.
    fn start_part(&self, part: WorkPart) -> Self::Shard {
        debug_assert_eq!(part, WorkPart::WHOLE);
        self.start_shard()
    }

    /// Passes a shard what is known of the program: before its first batch and, in a live run, after modules have been
    /// loaded. Sites keep their numbers.
    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        let _ = (shard, program);
    }

    /// Takes the next accesses and events of the shard. Costs are per access: this is the place to be fast in.
    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch);

    /// Adds what `from` has counted to `into`. Neither takes batches afterwards.
    fn merge(&self, into: &mut Self::Shard, from: Self::Shard);

    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings;
}

/// Limit of analyses that can be divided into any number of parts.
const ANY_PARTS: u32 = 1 << 31;

/// An analysis that may be absent.
impl<A: Analysis> Analysis for Option<A> {
    type Shard = Option<A::Shard>;

    fn order(&self) -> Order {
        self.as_ref().map_or(Order::Any, Analysis::order)
    }

    fn takes_runs(&self) -> bool {
        self.as_ref().is_none_or(Analysis::takes_runs)
    }

    fn follows_blocks(&self) -> bool {
        self.as_ref().is_some_and(Analysis::follows_blocks)
    }

    fn start_shard(&self) -> Self::Shard {
        self.as_ref().map(Analysis::start_shard)
    }

    fn most_parts(&self) -> u32 {
        self.as_ref().map_or(ANY_PARTS, Analysis::most_parts)
    }

    fn start_part(&self, part: WorkPart) -> Self::Shard {
        self.as_ref().map(|analysis| analysis.start_part(part))
    }

    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        if let (Some(analysis), Some(shard)) = (self, shard) {
            analysis.take_program(shard, program);
        }
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        if let (Some(analysis), Some(shard)) = (self, shard) {
            analysis.take_batch(shard, batch);
        }
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        if let (Some(analysis), Some(into), Some(from)) = (self, into, from) {
            analysis.merge(into, from);
        }
    }

    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings {
        match (self, shard) {
            (Some(analysis), Some(shard)) => analysis.finish(shard, trace),
            _ => Findings::default(),
        }
    }
}

/// Two analyses in one pass; nest pairs for more. The first one's answer comes first. An analysis that needs
/// [`Order::PerStream`] can't be combined with one that needs [`Order::AcrossThreads`].
impl<A: Analysis, B: Analysis> Analysis for (A, B) {
    type Shard = (A::Shard, B::Shard);

    /// # Panics
    /// If one needs a shard for each stream, and the other one shard for all.
    fn order(&self) -> Order {
        Order::common(self.0.order(), self.1.order())
    }

    /// Runs reach both or none.
    fn takes_runs(&self) -> bool {
        self.0.takes_runs() && self.1.takes_runs()
    }

    fn follows_blocks(&self) -> bool {
        self.0.follows_blocks() || self.1.follows_blocks()
    }

    fn start_shard(&self) -> Self::Shard {
        (self.0.start_shard(), self.1.start_shard())
    }

    fn most_parts(&self) -> u32 {
        self.0.most_parts().min(self.1.most_parts())
    }

    fn start_part(&self, part: WorkPart) -> Self::Shard {
        (self.0.start_part(part), self.1.start_part(part))
    }

    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        self.0.take_program(&mut shard.0, program);
        self.1.take_program(&mut shard.1, program);
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        self.0.take_batch(&mut shard.0, batch);
        self.1.take_batch(&mut shard.1, batch);
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        self.0.merge(&mut into.0, from.0);
        self.1.merge(&mut into.1, from.1);
    }

    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings {
        let found = self.0.finish(shard.0, trace);
        found.and(self.1.finish(shard.1, trace))
    }
}
