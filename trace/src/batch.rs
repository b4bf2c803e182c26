//! Decoded accesses and events in columns.

use std::ops::Range;

use crate::{Event, Mark, SiteId, Value, ValueShape};

/// A block access whose length doesn't fit into a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongBlock {
    /// Index of the access in its batch.
    pub index: u32,
    /// Length in bytes.
    pub length: u64,
}

/// Says that an access has a value; [`Batch::value_of`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedValue {
    /// Index of the access in its batch.
    pub index: u32,
    first_word: u32,
    pub shape: ValueShape,
}

/// Accesses of a loop whose addresses all move by a constant from one iteration to the next: `count` times the accesses
/// of its [`Lane`]s in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index, in the batch, of the access of the columns that follows the run; their number if none follows.
    pub before: u32,
    /// Number of the batch's marks that stand before the run.
    pub marks_before: u32,
    first_lane: u32,
    lane_count: u32,
    /// Iterations; at least 1.
    pub count: u64,
}

/// One access of a run's iterations: in iteration i, from 0, it is at `address` + i × `stride`, modulo 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub site: SiteId,
    /// Bytes accessed.
    pub size: u32,
    pub address: u64,
    pub stride: u64,
}

impl Lane {
    /// The address that it accesses in that iteration, from 0.
    #[inline(always)]
    pub fn address_in(&self, iteration: u64) -> u64 {
        self.address.wrapping_add(self.stride.wrapping_mul(iteration))
    }
}

/// Accesses of a batch that took place between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Index of the first access after them; they begin where the interval before ends.
    pub end: u32,
    /// CLOCK_MONOTONIC nanoseconds.
    pub first_ns: u64,
    pub last_ns: u64,
}

/// See [`Batch::pieces`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'b> {
    /// The accesses of the columns with these indices.
    Accesses(Range<usize>),
    Run(&'b Run),
}

/// See [`Batch::items`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchItem<'b> {
    Accesses(Piece<'b>),
    Event(Event),
}

impl Piece<'_> {
    pub fn access_count(&self) -> u64 {
        match self {
            Piece::Accesses(range) => range.len() as u64,
            Piece::Run(run) => run.access_count(),
        }
    }
}

impl Run {
    /// Accesses of all iterations together.
    pub fn access_count(&self) -> u64 {
        self.count.saturating_mul(u64::from(self.lane_count))
    }
}

/// A sequence of successive accesses and events of one thread, in program order. The three columns have the same
/// length. Only a decoder that was asked for runs yields any; they stand between the accesses of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub site: Vec<SiteId>,
    pub address: Vec<u64>,
    /// Bytes accessed; `u32::MAX` for a block of at least that length, see [`Batch::length`].
    pub size: Vec<u32>,
    /// Events, in program order.
    pub marks: Vec<Mark>,
    /// Events that are no function's entry or exit, in program order.
    pub events: Vec<Event>,
    /// Further accesses, in program order.
    pub runs: Vec<Run>,
    lanes: Vec<Lane>,
    /// The blocks whose length does not fit into `size`, in order.
    pub long_blocks: Vec<LongBlock>,
    /// The accesses that functions of libraries make, in order.
    pub by_library: Vec<u32>,
    /// The accesses whose values were recorded, in order.
    pub values: Vec<RecordedValue>,
    value_words: Vec<u64>,
    pub process: u32,
    pub stream: u32,
    /// Position of the chunk in its stream.
    pub sequence: u64,
    /// When the program took the chunk's buffer, CLOCK_MONOTONIC nanoseconds; 0 if unknown.
    pub first_ns: u64,
    /// When the program handed the chunk's buffer over.
    pub last_ns: u64,
    pub(crate) intervals: Vec<Interval>,
    /// Index of the first access of the last record. Only the last batches of a chunk have it, if the chunk was swept
    /// from a thread that never handed it over. That access and the later ones were about to happen, but may not have
    /// happened. If that record is a long loop, several batches have nothing else.
    pub uncertain_from: Option<u32>,
    /// The same for the runs; none if and only if `uncertain_from` is none.
    pub uncertain_runs_from: Option<u32>,
}

impl Batch {
    /// Number of accesses in the columns.
    #[inline]
    pub fn len(&self) -> usize {
        self.address.len()
    }

    /// Whether the batch holds neither an access nor an event.
    pub fn is_empty(&self) -> bool {
        self.address.is_empty() && self.marks.is_empty() && self.runs.is_empty()
    }

    /// Number of all accesses, those of runs among them.
    pub fn access_count(&self) -> u64 {
        let in_runs = self.runs.iter().map(Run::access_count);
        in_runs.fold(self.len() as u64, u64::saturating_add)
    }

    /// Number of accesses that may not have happened; see `uncertain_from`.
    pub fn uncertain_count(&self) -> u64 {
        let (Some(from), Some(runs_from)) = (self.uncertain_from, self.uncertain_runs_from) else {
            return 0;
        };
        let runs = self.runs.iter().skip(runs_from as usize);
        let in_columns = self.len().saturating_sub(from as usize) as u64;
        runs.map(Run::access_count).fold(in_columns, u64::saturating_add)
    }

    /// When the accesses took place: between `first_ns` and `last_ns`, or of a merged batch, as exactly as is known.
    pub fn intervals(&self) -> impl Iterator<Item = (u64, Interval)> + '_ {
        let whole = Interval {
            end: self.len() as u32,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
        };
        let whole = self.intervals.is_empty().then(|| (self.access_count(), whole));
        let mut begin = 0;
        let parts = self.intervals.iter().map(move |interval| {
            let accesses = interval.end - std::mem::replace(&mut begin, interval.end);
            (accesses.into(), *interval)
        });
        whole.into_iter().chain(parts)
    }

    /// Sets the intervals of all accesses, in their order.
    pub(crate) fn set_intervals(&mut self, intervals: Vec<Interval>) {
        self.first_ns = intervals.first().map_or(0, |first| first.first_ns);
        self.last_ns = intervals.last().map_or(0, |last| last.last_ns);
        self.intervals = intervals;
    }

    /// The accesses in program order: stretches of the columns, none of them empty, and runs between them.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut next = 0;
        let before_runs = self.runs.iter().flat_map(move |run| {
            let accesses = std::mem::replace(&mut next, run.before as usize)..run.before as usize;
            [Piece::Accesses(accesses), Piece::Run(run)]
        });
        let after_runs = self.runs.last().map_or(0, |run| run.before as usize);
        before_runs
            .chain([Piece::Accesses(after_runs..self.len())])
            .filter(|piece| !matches!(piece, Piece::Accesses(range) if range.is_empty()))
    }

    /// The accesses, as [`Batch::pieces`] gives them, and all events, in program order.
    pub fn all_items(&self) -> impl Iterator<Item = BatchItem<'_>> {
        self.all_items_of_slice().map(|(item, _)| item)
    }

    /// The same with whether each lies inside of the trace's slice, see [`Batch::items_of_slice`].
    pub fn all_items_of_slice(&self) -> impl Iterator<Item = (BatchItem<'_>, bool)> {
        self.items_with(|_| true)
    }

    /// The same without entries and exits of functions.
    pub fn items(&self) -> impl Iterator<Item = BatchItem<'_>> {
        self.items_of_slice().map(|(item, _)| item)
    }

    /// The same with whether each lies inside of the trace's slice. Allocations and releases may lie outside, see
    /// [`Decoder::from_start`](crate::Decoder::from_start).
    pub fn items_of_slice(&self) -> impl Iterator<Item = (BatchItem<'_>, bool)> {
        self.items_with(|mark| mark.is_other())
    }

    #[inline]
    fn items_with(&self, takes: impl Fn(&Mark) -> bool) -> impl Iterator<Item = (BatchItem<'_>, bool)> {
        let mut marks = self.marks.iter().enumerate();
        let mut next_mark = move || marks.find(|(_, mark)| takes(mark));
        let mut mark = next_mark();
        let mut runs = self.runs.iter().peekable();
        let mut next = 0;
        std::iter::from_fn(move || {
            let run = runs.peek().copied();
            let next_event =
                mark.filter(|(number, _)| run.is_none_or(|run| *number < run.marks_before as usize));
            let before = match (next_event, run) {
                (Some((_, mark)), _) => mark.before as usize,
                (None, Some(run)) => run.before as usize,
                (None, None) => self.len(),
            };
            if next < before {
                let accesses = std::mem::replace(&mut next, before)..before;
                return Some((BatchItem::Accesses(Piece::Accesses(accesses)), true));
            }
            match next_event {
                Some((_, event)) => {
                    mark = next_mark();
                    Some((BatchItem::Event(self.event(*event)), !event.is_outside()))
                }
                None => runs
                    .next()
                    .map(|run| (BatchItem::Accesses(Piece::Run(run)), true)),
            }
        })
    }

    /// Which event a mark of this batch stands for.
    pub fn event(&self, mark: Mark) -> Event {
        mark.event(&self.events)
    }

    /// The accesses of one iteration of a run of this batch, in program order.
    pub fn lanes(&self, run: &Run) -> &[Lane] {
        &self.lanes[run.first_lane as usize..][..run.lane_count as usize]
    }

    /// Bytes accessed by access number `index`, exactly.
    #[inline]
    pub fn length(&self, index: usize) -> u64 {
        match self.size[index] {
            u32::MAX => self.long_length(index),
            size => u64::from(size),
        }
    }

    #[cold]
    fn long_length(&self, index: usize) -> u64 {
        match self
            .long_blocks
            .binary_search_by_key(&index, |block| block.index as usize)
        {
            Ok(position) => self.long_blocks[position].length,
            Err(_) => u64::from(u32::MAX),
        }
    }

    /// What access number `index` loaded or stored, if that was recorded.
    pub fn value(&self, index: usize) -> Option<Value<'_>> {
        let position = self
            .values
            .binary_search_by_key(&index, |value| value.index as usize)
            .ok()?;
        Some(self.value_of(&self.values[position]))
    }

    /// The value for which an entry of `values` stands.
    pub fn value_of(&self, value: &RecordedValue) -> Value<'_> {
        let words = &self.value_words[value.first_word as usize..];
        Value {
            shape: value.shape,
            words: &words[..value.shape.word_count()],
        }
    }

    /// Makes this a batch of the same chunk.
    pub(crate) fn come_from(&mut self, other: &Batch) {
        self.process = other.process;
        self.stream = other.stream;
        self.sequence = other.sequence;
        self.first_ns = other.first_ns;
        self.last_ns = other.last_ns;
    }

    /// Removes all accesses and events; the room for them stays.
    pub fn clear(&mut self) {
        self.site.clear();
        self.address.clear();
        self.size.clear();
        self.marks.clear();
        self.events.clear();
        self.runs.clear();
        self.lanes.clear();
        self.long_blocks.clear();
        self.by_library.clear();
        self.values.clear();
        self.value_words.clear();
        self.intervals.clear();
        self.uncertain_from = None;
        self.uncertain_runs_from = None;
    }

    /// Appends an event that is no entry or exit after `before` accesses, without its mark.
    pub(crate) fn push_event(&mut self, before: u32, event: Event) -> Mark {
        self.events.push(event);
        Mark::other(before, self.events.len() - 1)
    }

    /// Replaces the content by a part of another batch: the accesses of `range` and the marks of `marks`, which stand
    /// before or between them, or after the last.
    pub(crate) fn copy_part(&mut self, from: &Batch, range: Range<usize>, marks: Range<usize>) {
        self.clear();
        self.append_part(from, range.clone(), marks);
        let uncertain_from = from.uncertain_from.map(|index| (index as usize).max(range.start));
        self.uncertain_from = uncertain_from
            .filter(|index| *index < range.end)
            .map(|index| (index - range.start) as u32);
        self.uncertain_runs_from = self.uncertain_from.map(|_| 0);
    }

    /// Appends those accesses and marks, but not which of them are uncertain.
    pub(crate) fn append_part(&mut self, from: &Batch, range: Range<usize>, marks: Range<usize>) {
        let (base, first) = (self.len() as u32, range.start as u32);
        let moved = |index: u32| index.saturating_sub(first) + base;
        self.site.extend_from_slice(&from.site[range.clone()]);
        self.address.extend_from_slice(&from.address[range.clone()]);
        self.size.extend_from_slice(&from.size[range.clone()]);
        for mark in &from.marks[marks] {
            self.push_mark_at(moved(mark.before), from, *mark);
        }
        // Most batches have none of these.
        if !from.long_blocks.is_empty() {
            let long_blocks = within(&from.long_blocks, &range, |block| block.index);
            self.long_blocks.extend(long_blocks.iter().map(|block| LongBlock {
                index: moved(block.index),
                ..*block
            }));
        }
        if !from.by_library.is_empty() {
            let by_library = within(&from.by_library, &range, |index| *index);
            self.by_library
                .extend(by_library.iter().map(|index| moved(*index)));
        }
        if !from.values.is_empty() {
            for value in within(&from.values, &range, |value| value.index) {
                let mut words = self.begin_value(moved(value.index), value.shape);
                words.extend_from_slice(from.value_of(value).words);
                self.end_value(words);
            }
        }
    }

    /// Whether it is of a merged order.
    pub(crate) fn has_intervals(&self) -> bool {
        !self.intervals.is_empty()
    }

    pub(crate) fn raw_intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Appends an access without a value, whose length fits into `size`.
    #[inline(always)]
    pub(crate) fn push_access(&mut self, site: SiteId, address: u64, size: u32) {
        self.site.push(site);
        self.address.push(address);
        self.size.push(size);
    }

    /// Appends an access of another batch.
    #[inline(always)]
    pub(crate) fn push_access_of(&mut self, from: &Batch, index: usize) {
        let to = self.len() as u32;
        self.push_access(from.site[index], from.address[index], from.size[index]);
        if from.size[index] == u32::MAX {
            let length = from.length(index);
            self.long_blocks.push(LongBlock { index: to, length });
        }
        if !from.values.is_empty() {
            self.push_value_of(from, index, to);
        }
    }

    fn push_value_of(&mut self, from: &Batch, index: usize, to: u32) {
        if let Some(value) = from.value(index) {
            let mut words = self.begin_value(to, value.shape);
            words.extend_from_slice(value.words);
            self.end_value(words);
        }
    }

    /// Appends an event of another batch.
    pub(crate) fn push_mark_of(&mut self, from: &Batch, mark: Mark) {
        self.push_mark_at(self.len() as u32, from, mark);
    }

    /// The same for an allocation or release that lies outside of the trace's slice.
    pub(crate) fn push_outside_mark_of(&mut self, from: &Batch, mark: Mark) {
        self.push_mark_at(self.len() as u32, from, mark.outside());
    }

    fn push_mark_at(&mut self, before: u32, from: &Batch, mark: Mark) {
        let pushed = match mark.is_other() {
            true => self.push_event(before, from.event(mark)),
            false => Mark { before, ..mark },
        };
        self.marks.push(match mark.is_outside() {
            true => pushed.outside(),
            false => pushed,
        });
    }

    /// Notes that access `index` has a value. The caller appends its words to the returned vector, and then hands that
    /// back to `end_value`.
    pub(crate) fn begin_value(&mut self, index: u32, shape: ValueShape) -> Vec<u64> {
        let words = std::mem::take(&mut self.value_words);
        self.values.push(RecordedValue {
            index,
            first_word: words.len() as u32,
            shape,
        });
        words
    }

    pub(crate) fn end_value(&mut self, words: Vec<u64>) {
        self.value_words = words;
    }

    /// Lanes of all runs.
    pub(crate) fn lane_count(&self) -> usize {
        self.lanes.len()
    }

    /// Appends an event after the accesses so far.
    pub fn push(&mut self, event: Event) {
        let before = self.len() as u32;
        let mark = match event {
            Event::Enter(function) => Mark::enter(before, function),
            Event::Exit(function) => Mark::exit(before, function),
            other => self.push_event(before, other),
        };
        self.marks.push(mark);
    }

    /// Appends `count` iterations after `before` accesses.
    pub fn push_run(&mut self, before: u32, lanes: impl Iterator<Item = Lane>, count: u64) {
        let first_lane = self.lanes.len();
        self.lanes.extend(lanes);
        self.runs.push(Run {
            before,
            marks_before: self.marks.len() as u32,
            first_lane: first_lane as u32,
            lane_count: (self.lanes.len() - first_lane) as u32,
            count,
        });
    }
}

/// The entries of accesses in a range; they are sorted by their accesses.
fn within<'e, E>(entries: &'e [E], range: &Range<usize>, index: impl Fn(&E) -> u32) -> &'e [E] {
    let first = entries.partition_point(|entry| (index(entry) as usize) < range.start);
    let end = entries.partition_point(|entry| (index(entry) as usize) < range.end);
    &entries[first..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocationSiteId, FunctionId};

    #[test]
    fn items_are_in_program_order() {
        let mut batch = Batch {
            address: vec![0; 5],
            ..Batch::default()
        };
        let free = |address| Event::Free {
            site: AllocationSiteId(0),
            address,
        };
        let mark = batch.push_event(2, free(1));
        batch.marks.extend([Mark::enter(1, FunctionId(0)), mark]);
        batch.push_run(2, std::iter::empty(), 7);
        batch.marks.push(Mark::exit(2, FunctionId(0)));
        batch.push_run(2, std::iter::empty(), 8);
        for address in [2, 3] {
            let mark = batch.push_event(2, free(address));
            batch.marks.push(mark);
        }
        let mark = batch.push_event(5, free(4));
        batch.marks.push(mark);
        batch.push_run(5, std::iter::empty(), 9);
        let accesses = |range| BatchItem::Accesses(Piece::Accesses(range));
        let run = |number: usize| BatchItem::Accesses(Piece::Run(&batch.runs[number]));
        let expected = [
            accesses(0..2),
            BatchItem::Event(free(1)),
            run(0),
            run(1),
            BatchItem::Event(free(2)),
            BatchItem::Event(free(3)),
            accesses(2..5),
            BatchItem::Event(free(4)),
            run(2),
        ];
        assert_eq!(batch.items().collect::<Vec<_>>(), expected);
        let [_, first_free, first_run, rest @ ..] = expected;
        let enter = BatchItem::Event(Event::Enter(FunctionId(0)));
        let exit = BatchItem::Event(Event::Exit(FunctionId(0)));
        let mut all = vec![accesses(0..1), enter, accesses(1..2), first_free, first_run, exit];
        all.extend(rest);
        assert_eq!(batch.all_items().collect::<Vec<_>>(), all);
        assert_eq!(Batch::default().items().count(), 0);
    }
}
