//! Streams that ended without their last records being handed over, in processes that may have died.

use std::collections::{HashMap, HashSet};

use crate::processes::Image;

/// Which processes left such streams. One that called exit, or returned from main, may leave threads that still ran: these
/// say nothing of how it ended.
#[derive(Default)]
pub(super) struct Interruptions {
    streams: HashMap<Image, u64>,
    ended_in_order: HashSet<Image>,
}

impl Interruptions {
    /// A stream of the process ended so; `in_order`: while its thread was about to end the process.
    pub fn note(&mut self, image: Image, in_order: bool) {
        match in_order {
            true => _ = self.ended_in_order.insert(image),
            false => *self.streams.entry(image).or_default() += 1,
        }
    }

    /// The number of streams in processes of which nothing shows that they ended in order, if `counts` takes their id.
    pub fn of(&self, counts: impl Fn(u32) -> bool) -> u64 {
        let streams = self.streams.iter();
        let interrupted =
            streams.filter(|(image, _)| !self.ended_in_order.contains(image) && counts(image.pid));
        interrupted.map(|(_, streams)| streams).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_outlive_the_end_of_their_process_count_for_nothing() {
        let mut interruptions = Interruptions::default();
        let image = |pid, image| Image { pid, image };
        interruptions.note(image(1, 0), false);
        interruptions.note(image(2, 0), false);
        interruptions.note(image(2, 0), false);
        interruptions.note(image(2, 1), false);
        interruptions.note(image(2, 1), true);
        assert_eq!(interruptions.of(|_| true), 3);
        assert_eq!(interruptions.of(|pid| pid != 1), 2);
        interruptions.note(image(2, 0), true);
        assert_eq!(interruptions.of(|_| true), 1);
    }
}
