//! Two analyses in one pass, each on threads of its own.

use trackway_trace::{Batch, Program, Trace};

use crate::{Analysis, Findings, Order, WorkPart};

/// Like a pair of analyses: the trace is decoded once for both. But with several threads, each takes the batches as
/// fast as it can.
pub struct SideBySide<A, B>(pub A, pub B);

/// The shards of one or both.
pub enum Sides<A, B> {
    Both(A, B),
    First(A),
    Second(B),
    /// A part for which there is no work.
    Neither,
}

impl<A, B> Sides<A, B> {
    fn split(self) -> (Option<A>, Option<B>) {
        match self {
            Sides::Both(first, second) => (Some(first), Some(second)),
            Sides::First(first) => (Some(first), None),
            Sides::Second(second) => (None, Some(second)),
            Sides::Neither => (None, None),
        }
    }

    fn of(sides: (Option<A>, Option<B>)) -> Self {
        match sides {
            (Some(first), Some(second)) => Sides::Both(first, second),
            (Some(first), None) => Sides::First(first),
            (None, Some(second)) => Sides::Second(second),
            (None, None) => Sides::Neither,
        }
    }
}

impl<A: Analysis, B: Analysis> SideBySide<A, B> {
    fn most_parts_of<C: Analysis>(&self, side: &C) -> u32 {
        let is_whole = self.order() == Order::AcrossThreads && !side.divides_merged();
        if is_whole {
            1
        } else {
            side.most_parts()
        }
    }

    /// A shard for a part of one side; none if the work isn't divided that far. No side is divided only since the other one
    /// has several analyses.
    fn start_side<C: Analysis>(&self, side: &C, part: WorkPart) -> Option<C::Shard> {
        let wanted = match part.count * 2 > self.least_parts() {
            true => part.count,
            false => side.least_parts().min(part.count),
        };
        let count = wanted.min(self.most_parts_of(side));
        let number = part.number;
        (number < count).then(|| match count {
            1 => side.start_shard(),
            count => side.start_part(WorkPart { number, count }),
        })
    }
}

fn merged<A: Analysis>(analysis: &A, into: Option<A::Shard>, from: Option<A::Shard>) -> Option<A::Shard> {
    match (into, from) {
        (Some(mut into), Some(from)) => {
            analysis.merge(&mut into, from);
            Some(into)
        }
        (into, from) => into.or(from),
    }
}

impl<A: Analysis, B: Analysis> Analysis for SideBySide<A, B> {
    type Shard = Sides<A::Shard, B::Shard>;

    /// # Panics
    /// As for a pair.
    fn order(&self) -> Order {
        Order::common(self.0.order(), self.1.order())
    }

    fn takes_runs(&self) -> bool {
        self.0.takes_runs() && self.1.takes_runs()
    }

    fn follows_blocks(&self) -> bool {
        self.0.follows_blocks() || self.1.follows_blocks()
    }

    fn start_shard(&self) -> Self::Shard {
        Sides::Both(self.0.start_shard(), self.1.start_shard())
    }

    fn most_parts(&self) -> u32 {
        let most = self.most_parts_of(&self.0).max(self.most_parts_of(&self.1));
        most.saturating_mul(2)
    }

    /// Each side has threads of its own even if there are fewer of these than analyses: what one of them doesn't take is
    /// there for another.
    fn least_parts(&self) -> u32 {
        self.0.least_parts().max(self.1.least_parts()).saturating_mul(2)
    }

    fn divides_merged(&self) -> bool {
        true
    }

    /// Even parts are of the first one.
    fn start_part(&self, part: WorkPart) -> Self::Shard {
        let own = WorkPart {
            number: part.number / 2,
            count: part.count / 2,
        };
        match part.number % 2 {
            0 => Sides::of((self.start_side(&self.0, own), None)),
            _ => Sides::of((None, self.start_side(&self.1, own))),
        }
    }

    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        if let Sides::Both(first, _) | Sides::First(first) = shard {
            self.0.take_program(first, program);
        }
        if let Sides::Both(_, second) | Sides::Second(second) = shard {
            self.1.take_program(second, program);
        }
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        if let Sides::Both(first, _) | Sides::First(first) = shard {
            self.0.take_batch(first, batch);
        }
        if let Sides::Both(_, second) | Sides::Second(second) = shard {
            self.1.take_batch(second, batch);
        }
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        let (first, second) = std::mem::replace(into, Sides::Neither).split();
        let (more_first, more_second) = from.split();
        let first = merged(&self.0, first, more_first);
        *into = Sides::of((first, merged(&self.1, second, more_second)));
    }

    /// # Panics
    /// If the shards of one side are missing.
    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings {
        let Sides::Both(first, second) = shard else {
            panic!("the parts of one analysis were not merged");
        };
        let found = self.0.finish(first, trace);
        found.and(self.1.finish(second, trace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An analysis whose work can be divided into so many parts.
    struct Divisible(u32);

    impl Analysis for Divisible {
        type Shard = WorkPart;

        fn order(&self) -> Order {
            Order::PerStream
        }

        fn start_shard(&self) -> WorkPart {
            WorkPart::WHOLE
        }

        fn most_parts(&self) -> u32 {
            self.0
        }

        fn start_part(&self, part: WorkPart) -> WorkPart {
            part
        }

        fn take_batch(&self, _: &mut WorkPart, _: &Batch) {}

        fn merge(&self, _: &mut WorkPart, _: WorkPart) {}

        fn finish(&self, _: WorkPart, _: &Trace) -> Findings {
            Findings::default()
        }
    }

    /// The parts of the first analysis, and how many shards the others have.
    fn divided(count: u32) -> (Vec<WorkPart>, usize) {
        let analyses = SideBySide(Divisible(64), SideBySide(Divisible(1), Divisible(1)));
        assert_eq!(analyses.least_parts(), 4);
        let parts = (0..count).map(|number| analyses.start_part(WorkPart { number, count }));
        let (first, others): (Vec<_>, Vec<_>) = parts.map(Sides::split).unzip();
        let others = others.into_iter().flatten().map(Sides::split);
        let whole: Vec<_> = others.flat_map(|(one, other)| [one, other]).flatten().collect();
        assert!(whole.iter().all(|part| *part == WorkPart::WHOLE));
        (first.into_iter().flatten().collect(), whole.len())
    }

    #[test]
    fn analyses_are_divided_only_for_more_threads() {
        assert_eq!(divided(2), (vec![WorkPart::WHOLE], 2));
        assert_eq!(divided(4), (vec![WorkPart::WHOLE], 2));
        let parts = (0..8).map(|number| WorkPart { number, count: 8 });
        assert_eq!(divided(16), (parts.collect(), 2));
    }
}
