//! Allocations and releases of chunks that lie outside of a slice: each pass that follows blocks asks for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Batch;

/// Bytes that all of them may take. Chunks that have no room are decoded by each pass.
const MOST_BYTES: usize = 128 << 20;

/// What was found in chunks that hold nothing else of a slice, by their offsets in the file.
#[derive(Debug)]
pub(crate) struct OutsideEvents<T>(Mutex<Known<T>>);

#[derive(Debug)]
struct Known<T> {
    of_chunks: HashMap<u64, Arc<T>>,
    bytes: usize,
}

impl<T> Default for OutsideEvents<T> {
    fn default() -> Self {
        OutsideEvents(Mutex::new(Known {
            of_chunks: HashMap::new(),
            bytes: 0,
        }))
    }
}

impl<T> OutsideEvents<T> {
    pub fn of_chunk(&self, offset: u64) -> Option<Arc<T>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.of_chunks.get(&offset).cloned()
    }

    /// Keeps the events of a whole chunk, which take so many bytes, if there is room.
    pub fn remember(&self, offset: u64, events: T, bytes: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.bytes.saturating_add(bytes) <= MOST_BYTES && !known.of_chunks.contains_key(&offset) {
            known.bytes += bytes;
            known.of_chunks.insert(offset, Arc::new(events));
        }
    }
}

/// Bytes of a batch that has only events, as it is kept.
pub(crate) fn event_bytes(batch: &mut Batch) -> usize {
    batch.marks.shrink_to_fit();
    batch.events.shrink_to_fit();
    size_of::<Batch>() + size_of_val(&batch.marks[..]) + size_of_val(&batch.events[..])
}

/// The events of the chunk that is decoded.
#[derive(Clone, Debug)]
pub(crate) enum Outside {
    /// They are known from an earlier pass, and come next.
    Known(Arc<Batch>),
    /// They are found now.
    Gathered(Box<Batch>),
}

impl Outside {
    /// Adds those of the next batch, which has nothing else.
    pub fn gather(&mut self, batch: &Batch) {
        let Outside::Gathered(all) = self else {
            return;
        };
        all.come_from(batch);
        for mark in &batch.marks {
            all.push_outside_mark_of(batch, *mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocationSiteId, Event};

    fn batch(releases: usize) -> Batch {
        let mut batch = Batch::default();
        for address in 0..releases as u64 {
            let site = AllocationSiteId(0);
            let mark = batch.push_event(0, Event::Free { site, address });
            batch.marks.push(mark);
        }
        batch
    }

    #[test]
    fn what_has_no_room_is_not_kept() {
        let known = OutsideEvents::default();
        let remember = |offset, releases| {
            let mut batch = batch(releases);
            let bytes = event_bytes(&mut batch);
            known.remember(offset, batch, bytes);
        };
        remember(8, 3);
        remember(16, MOST_BYTES / size_of::<Event>());
        remember(24, 1);
        assert_eq!(known.of_chunk(8).unwrap().marks.len(), 3);
        assert!(known.of_chunk(16).is_none());
        assert!(known.of_chunk(24).is_some());
    }
}
