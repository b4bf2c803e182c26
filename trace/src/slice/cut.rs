//! Which accesses of a chunk are inside a slice.

use std::ops::Range;

use super::recorded_time::RecordedTime;
use super::regions::{stays, Stay};
use super::span::Span;
use crate::merged::{points, Point};
use crate::{ChunkRef, Decoder, Trace};

/// The accesses of a chunk that lie inside, by their positions in the chunk from 0. An event stands where the access
/// does that follows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChunkCut {
    /// In order, none of them empty. One that goes on to the chunk's end has no end.
    ranges: Vec<Range<u64>>,
    /// Where regions cut the chunk; else an event is inside if the access is that follows it.
    events: Option<CutEvents>,
    /// Allocations before this access are kept though they lie outside.
    allocations_until: u64,
    times: (u64, u64),
}

/// Which events of a chunk lie in a region and at a time.
#[derive(Debug, PartialEq, Eq)]
struct CutEvents {
    /// The times, as accesses.
    at_times: Vec<Range<u64>>,
    stays: Vec<Stay>,
}

/// What cuts a chunk, besides its thread.
#[derive(Clone, Copy)]
pub(crate) struct Borders<'b> {
    /// In order, none touches another.
    pub times: &'b [Range<u64>],
    /// Hashes of the names of regions, sorted; none: whatever regions the thread is in.
    pub regions: Option<&'b [u64]>,
    pub recorded: &'b RecordedTime,
}

impl ChunkCut {
    pub fn whole(span: Span) -> ChunkCut {
        ChunkCut {
            ranges: std::iter::once(0..u64::MAX).collect(),
            events: None,
            allocations_until: u64::MAX,
            times: (span.begin_ns, span.end_ns),
        }
    }

    /// Only allocations are left.
    pub fn outside(span: Span) -> ChunkCut {
        ChunkCut {
            ranges: Vec::new(),
            events: None,
            allocations_until: u64::MAX,
            times: (span.begin_ns, span.end_ns),
        }
    }

    /// Cuts a chunk: each range of times begins with the first access that isn't earlier. Unless `is_inside`, only
    /// allocations are left.
    pub fn through(
        trace: &Trace,
        chunk: &ChunkRef,
        span: Span,
        borders: Borders,
        is_inside: bool,
    ) -> ChunkCut {
        let Borders { times, recorded, .. } = borders;
        let mut scanner = Decoder::uncut(trace).with_runs();
        let mut pieces = Vec::new();
        let mut from = (0, span.begin_ns);
        for Point { access, time_ns, .. } in points(&mut scanner, chunk) {
            let to = (access, time_ns.clamp(from.1, span.end_ns));
            if to.0 > from.0 {
                pieces.push(Piece {
                    accesses: from.0..to.0,
                    times: from.1..to.1,
                });
            }
            from = to;
        }
        let cutting = Cutting {
            pieces,
            span,
            recorded,
        };
        let first = times.partition_point(|range| range.end <= span.begin_ns);
        let near = times[first..]
            .iter()
            .take_while(|range| range.start <= span.end_ns);
        let ranges = near.map(|range| cutting.first_at(range.start)..cutting.first_at(range.end));
        let at_times: Vec<_> = ranges.filter(|range| is_inside && !range.is_empty()).collect();
        let allocations_until = times.last().map_or(0, |last| cutting.first_at(last.end));
        let regions = borders.regions.filter(|_| !at_times.is_empty());
        let (ranges, events) = match regions {
            None => (at_times, None),
            Some(regions) => {
                let stays = stays(trace, chunk, regions);
                let ranges = common(&at_times, &stays);
                (ranges, Some(CutEvents { at_times, stays }))
            }
        };
        ChunkCut {
            allocations_until,
            times: cutting.times_of(&ranges),
            ranges,
            events,
        }
    }

    /// Between which times the accesses took place.
    pub fn times(&self) -> (u64, u64) {
        self.times
    }

    pub fn is_whole(&self) -> bool {
        self.ranges.first() == Some(&(0..u64::MAX)) && self.events.is_none()
    }

    /// Whether only allocations are left.
    pub fn is_outside(&self) -> bool {
        self.ranges.is_empty() && self.events.as_ref().is_none_or(|events| events.stays.is_empty())
    }

    /// Whether nothing is left from this access on; `from_start`: not even allocations.
    pub fn is_over(&self, access: u64, from_start: bool) -> bool {
        let end = self.ranges.last().map_or(0, |range| range.end);
        // Events may follow the last access.
        let stays = self.events.iter().flat_map(|events| events.stays.last());
        let end = stays.fold(end, |end, stay| end.max(stay.accesses.end.saturating_add(1)));
        let allocations_end = if from_start { self.allocations_until } else { 0 };
        access >= end.max(allocations_end)
    }

    pub fn keeps(&self, access: u64) -> bool {
        holds(&self.ranges, access)
    }

    /// Whether the chunk's event of that number is inside, which stands before that access.
    pub fn keeps_event(&self, number: u64, before: u64) -> bool {
        match &self.events {
            None => self.keeps(before),
            Some(events) => {
                let next = events.stays.partition_point(|stay| stay.marks.end <= number);
                let is_in_region = events
                    .stays
                    .get(next)
                    .is_some_and(|stay| stay.marks.start <= number);
                is_in_region && holds(&events.at_times, before)
            }
        }
    }

    pub fn keeps_allocation(&self, before: u64) -> bool {
        before < self.allocations_until || self.keeps(before)
    }

    /// The parts of these accesses that are inside.
    pub fn parts(&self, accesses: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let first = self.ranges.partition_point(|range| range.end <= accesses.start);
        let near = self.ranges[first..].iter();
        let end = accesses.end;
        near.take_while(move |range| range.start < end)
            .map(move |range| range.start.max(accesses.start)..range.end.min(end))
    }
}

/// Whether one of the ranges, which are in order, holds it.
fn holds(ranges: &[Range<u64>], access: u64) -> bool {
    let next = ranges.partition_point(|range| range.end <= access);
    ranges.get(next).is_some_and(|range| range.start <= access)
}

/// The accesses that lie in a range and in a stay.
fn common(ranges: &[Range<u64>], stays: &[Stay]) -> Vec<Range<u64>> {
    let mut common = Vec::new();
    let mut next = 0;
    for range in ranges {
        while stays
            .get(next)
            .is_some_and(|stay| stay.accesses.end <= range.start)
        {
            next += 1;
        }
        let near = stays[next..].iter().map(|stay| &stay.accesses);
        let near = near.take_while(|stay| stay.start < range.end);
        let parts = near.map(|stay| stay.start.max(range.start)..stay.end.min(range.end));
        common.extend(parts.filter(|part| !part.is_empty()));
    }
    common
}

/// The accesses between two neighbouring points.
struct Piece {
    accesses: Range<u64>,
    times: Range<u64>,
}

impl Piece {
    /// The first access whose time is at least so late; the end if there is none. They are evenly spread over the
    /// recorded time or, if recording wasn't on at all, over the time.
    fn first_at(&self, time_ns: u64, recorded: &RecordedTime) -> u64 {
        if time_ns <= self.times.start {
            return self.accesses.start;
        }
        if time_ns > self.times.end {
            return self.accesses.end;
        }
        let plain = RecordedTime::default();
        let is_recorded = recorded.at(self.times.end) > recorded.at(self.times.start);
        let clock = if is_recorded { recorded } else { &plain };
        let begin = clock.at(self.times.start);
        let duration = u128::from(clock.at(self.times.end) - begin);
        let passed = u128::from(clock.at(time_ns) - begin);
        let count = self.accesses.end - self.accesses.start;
        let before = (passed * u128::from(count)).div_ceil(duration.max(1)) as u64;
        self.accesses.start + before.min(count)
    }

    /// The time of an access, if they are evenly spread.
    fn time_of(&self, access: u64) -> u64 {
        let duration = u128::from(self.times.end - self.times.start);
        let passed = duration * u128::from(access - self.accesses.start);
        self.times.start + (passed / u128::from(self.accesses.end - self.accesses.start)) as u64
    }
}

struct Cutting<'c> {
    pieces: Vec<Piece>,
    span: Span,
    recorded: &'c RecordedTime,
}

impl Cutting<'_> {
    /// The first access of the chunk whose time is at least so late. All events after the last access have the time of
    /// the chunk's end.
    fn first_at(&self, time_ns: u64) -> u64 {
        if time_ns > self.span.end_ns {
            return u64::MAX;
        }
        let last = self.pieces.last().map_or(0, |piece| piece.accesses.end);
        let later = self.pieces.partition_point(|piece| piece.times.end < time_ns);
        let mut later = self.pieces[later..].iter();
        // The first ones may end at that very time, and be all before it.
        let found = later.find_map(|piece| {
            let first = piece.first_at(time_ns, self.recorded);
            (first < piece.accesses.end).then_some(first)
        });
        found.unwrap_or(last)
    }

    fn times_of(&self, ranges: &[Range<u64>]) -> (u64, u64) {
        let begin_ns = ranges.first().map(|range| self.time_of(range.start));
        let end_ns = ranges.last().map(|range| self.end_of(range.end));
        let begin_ns = begin_ns.unwrap_or(self.span.begin_ns);
        (begin_ns, end_ns.unwrap_or(self.span.end_ns).max(begin_ns))
    }

    /// When those before an access have ended. Events may follow the chunk's last access for long.
    fn end_of(&self, access: u64) -> u64 {
        let last = self.pieces.last().filter(|piece| piece.accesses.end == access);
        last.map_or_else(|| self.time_of(access), |piece| piece.times.end)
    }

    fn time_of(&self, access: u64) -> u64 {
        let piece = self.pieces.partition_point(|piece| piece.accesses.end <= access);
        self.pieces
            .get(piece)
            .map_or(self.span.end_ns, |piece| piece.time_of(access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_part_end_with_its_last_access() {
        let recorded = RecordedTime::default();
        let cutting = Cutting {
            pieces: vec![Piece {
                accesses: 0..7,
                times: 10..20,
            }],
            span: Span {
                begin_ns: 10,
                end_ns: 100,
            },
            recorded: &recorded,
        };
        let times_of = |accesses: Range<u64>| cutting.times_of(&[accesses]);
        assert_eq!(cutting.first_at(50), 7);
        assert_eq!(times_of(0..7), (10, 20));
        assert_eq!(times_of(0..cutting.first_at(101)), (10, 100));
        assert_eq!(times_of(0..3), (10, 14));
    }
}
