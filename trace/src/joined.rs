//! Many short batches in the columns of one.

use crate::{Batch, Interval};

/// Batches without runs, one after the other. On its own, each has a dozen blocks of memory: what is in them comes to
/// another processor line by line.
#[derive(Debug, Default)]
pub struct JoinedBatches {
    content: Batch,
    intervals: Vec<Interval>,
    parts: Vec<Part>,
}

/// One of the batches, up to these places of the columns.
#[derive(Clone, Copy, Debug)]
struct Part {
    accesses: usize,
    marks: usize,
    intervals: usize,
    process: u32,
    stream: u32,
    sequence: u64,
    first_ns: u64,
    last_ns: u64,
    uncertain_from: Option<u32>,
    uncertain_runs_from: Option<u32>,
}

impl JoinedBatches {
    /// Appends a batch, which has no runs.
    pub fn push(&mut self, batch: &Batch) {
        debug_assert!(batch.runs.is_empty());
        self.content
            .append_part(batch, 0..batch.len(), 0..batch.marks.len());
        self.intervals.extend_from_slice(batch.raw_intervals());
        self.parts.push(Part {
            accesses: self.content.len(),
            marks: self.content.marks.len(),
            intervals: self.intervals.len(),
            process: batch.process,
            stream: batch.stream,
            sequence: batch.sequence,
            first_ns: batch.first_ns,
            last_ns: batch.last_ns,
            uncertain_from: batch.uncertain_from,
            uncertain_runs_from: batch.uncertain_runs_from,
        });
    }

    /// Number of batches.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Number of accesses and events of all batches.
    pub fn content(&self) -> usize {
        self.content.len() + self.content.marks.len()
    }

    /// Removes all; the room stays.
    pub fn clear(&mut self) {
        self.content.clear();
        self.intervals.clear();
        self.parts.clear();
    }

    /// Gives each batch to `take`, in the place of what `batch` was.
    pub fn for_each(&self, batch: &mut Batch, mut take: impl FnMut(&Batch)) {
        let (mut accesses, mut marks, mut intervals) = (0, 0, 0);
        for part in &self.parts {
            batch.copy_part(&self.content, accesses..part.accesses, marks..part.marks);
            batch.process = part.process;
            batch.stream = part.stream;
            batch.sequence = part.sequence;
            batch.first_ns = part.first_ns;
            batch.last_ns = part.last_ns;
            batch.uncertain_from = part.uncertain_from;
            batch.uncertain_runs_from = part.uncertain_runs_from;
            batch
                .intervals
                .extend_from_slice(&self.intervals[intervals..part.intervals]);
            take(batch);
            (accesses, marks, intervals) = (part.accesses, part.marks, part.intervals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, FunctionId, SiteId, ValueForm, ValueShape};

    const SHAPE: ValueShape = ValueShape {
        form: ValueForm::Unsigned,
        bits: 64,
        lanes: 1,
    };

    /// Each has other kinds of content.
    fn batches() -> Vec<Batch> {
        let batch = |number: u32| {
            let mut batch = Batch::default();
            (batch.process, batch.stream) = (number % 2, number);
            batch.sequence = (number * 3).into();
            for access in 0..number * 2 {
                batch.push_access(SiteId(access), u64::from(access) << number, 8);
                if access % 3 == number % 3 {
                    batch.push(Event::Enter(FunctionId(access)));
                    batch.by_library.push(access);
                    let mut words = batch.begin_value(access, SHAPE);
                    words.push(access.into());
                    batch.end_value(words);
                }
            }
            batch.uncertain_from = (number == 4).then_some(3);
            batch.uncertain_runs_from = batch.uncertain_from.map(|_| 0);
            batch.set_intervals(vec![Interval {
                end: number * 2,
                first_ns: number.into(),
                last_ns: 100,
            }]);
            batch
        };
        (0..7).map(batch).collect()
    }

    #[test]
    fn batches_come_out_as_they_went_in() {
        let mut joined = JoinedBatches::default();
        let mut room = Batch::default();
        for all in [batches(), batches().split_off(3)] {
            joined.clear();
            all.iter().for_each(|batch| joined.push(batch));
            let mut taken = Vec::new();
            joined.for_each(&mut room, |batch| taken.push(batch.clone()));
            assert_eq!(taken, all);
            assert_eq!(joined.len(), all.len());
            let content = all.iter().map(|batch| batch.len() + batch.marks.len());
            assert_eq!(joined.content(), content.sum::<usize>());
        }
    }
}
