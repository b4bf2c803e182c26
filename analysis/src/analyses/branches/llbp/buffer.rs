//! The small structure beside the pipeline, into which pattern sets are prefetched.

const WAYS: usize = 4;

/// The contexts at hand, and when each becomes available. Their patterns stay in the store, so changes are written back
/// at once.
#[derive(Debug, Clone)]
pub(super) struct PatternBuffer {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    context: Option<u32>,
    ready_at: u64,
    used_at: u64,
}

impl PatternBuffer {
    /// 2^`log2_sets` sets of 4.
    pub(super) fn new(log2_sets: u32) -> Self {
        PatternBuffer {
            entries: vec![Entry::default(); WAYS << log2_sets],
        }
    }

    fn set(&mut self, context: u32) -> &mut [Entry] {
        let sets = self.entries.len() / WAYS;
        let first = context as usize % sets * WAYS;
        &mut self.entries[first..first + WAYS]
    }

    /// Whether a context has arrived.
    pub(super) fn is_ready(&mut self, context: u32, now: u64) -> bool {
        let entry = self
            .set(context)
            .iter_mut()
            .find(|entry| entry.context == Some(context));
        entry.is_some_and(|entry| {
            entry.used_at = now;
            entry.ready_at <= now
        })
    }

    /// Fetches a context, unless it is there or under way. It replaces the least recently used one.
    pub(super) fn fetch(&mut self, context: u32, now: u64, ready_at: u64) {
        let set = self.set(context);
        if let Some(entry) = set.iter_mut().find(|entry| entry.context == Some(context)) {
            entry.used_at = now;
        } else if let Some(entry) = set
            .iter_mut()
            .min_by_key(|entry| (entry.context.is_some(), entry.used_at))
        {
            *entry = Entry {
                context: Some(context),
                ready_at,
                used_at: now,
            };
        }
    }

    /// A context is no longer in the store.
    pub(super) fn forget(&mut self, context: u32) {
        if let Some(entry) = self
            .set(context)
            .iter_mut()
            .find(|entry| entry.context == Some(context))
        {
            *entry = Entry::default();
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.entries.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_arrive_later_and_the_least_recently_used_gives_way() {
        let mut buffer = PatternBuffer::new(0);
        buffer.fetch(1, 10, 16);
        assert!(!buffer.is_ready(1, 15));
        assert!(buffer.is_ready(1, 16));
        assert!(!buffer.is_ready(2, 16));
        (2..5).for_each(|context| buffer.fetch(context, 20, 20));
        assert!(buffer.is_ready(1, 21));
        buffer.fetch(5, 22, 22);
        assert!(buffer.is_ready(1, 23) && buffer.is_ready(5, 23));
        assert!(!buffer.is_ready(2, 23));
        buffer.forget(5);
        assert!(!buffer.is_ready(5, 24));
    }
}
