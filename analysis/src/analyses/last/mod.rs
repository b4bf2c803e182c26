//! The last accesses of each thread, and what became of the memory to which they went: for programs that crashed.

mod objects;
mod tables;

use std::collections::{BTreeMap, HashSet, VecDeque};

use trackway_trace::{Batch, BatchItem, Event, Piece, SiteId, Trace};

use crate::{Analysis, Findings, Order};
use objects::{Moment, Objects};

/// Pages by which memory is known to have been accessed before.
const PAGE_SHIFT: u32 = 12;

/// Shows the newest accesses of each thread.
#[derive(Debug, Clone)]
pub struct Last {
    /// Accesses of each thread that happened for certain, and of those that may not have happened.
    pub most: usize,
    /// Whether a signal ended the program: then the access is looked for where it stopped.
    pub signal: Option<i32>,
}

#[derive(Debug, Clone, Copy)]
struct Access {
    site: SiteId,
    address: u64,
    bytes: u64,
    moment: Moment,
}

/// The newest accesses of a thread.
#[derive(Debug, Default)]
struct Newest {
    process: u32,
    certain: VecDeque<Access>,
    /// The first ones of those that were about to happen when the thread ended.
    uncertain: Vec<Access>,
}

#[derive(Debug, Default)]
pub struct LastShard {
    threads: BTreeMap<u32, Newest>,
    objects: BTreeMap<u32, Objects>,
    /// Pages, with their process, of accesses that happened for certain.
    pages: HashSet<(u32, u64)>,
    latest_page: Option<(u32, u64)>,
    moment: Moment,
}

impl LastShard {
    fn take_event(&mut self, process: u32, event: Event) {
        self.moment += 1;
        self.objects.entry(process).or_default().take(event, self.moment);
    }

    fn note_page(&mut self, process: u32, address: u64) {
        let page = (process, address >> PAGE_SHIFT);
        if self.latest_page != Some(page) {
            self.latest_page = Some(page);
            self.pages.insert(page);
        }
    }
}

impl Analysis for Last {
    type Shard = LastShard;

    /// Threads free what others have allocated.
    fn order(&self) -> Order {
        Order::AcrossThreads
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> LastShard {
        LastShard::default()
    }

    fn take_batch(&self, shard: &mut LastShard, batch: &Batch) {
        let end = batch.uncertain_from.map_or(batch.len(), |from| from as usize);
        for item in batch.items() {
            match item {
                BatchItem::Event(event) => shard.take_event(batch.process, event),
                BatchItem::Accesses(Piece::Accesses(range)) => {
                    for index in range.start..range.end.min(end) {
                        shard.note_page(batch.process, batch.address[index]);
                    }
                    let newest = shard.threads.entry(batch.stream).or_default();
                    newest.process = batch.process;
                    let access = |index: usize| Access {
                        site: batch.site[index],
                        address: batch.address[index],
                        bytes: batch.length(index),
                        moment: shard.moment,
                    };
                    let certain = range.start..range.end.min(end).max(range.start);
                    for index in certain.end.saturating_sub(self.most).max(certain.start)..certain.end {
                        newest.certain.push_back(access(index));
                    }
                    let surplus = newest.certain.len().saturating_sub(self.most);
                    newest.certain.drain(..surplus);
                    let room = self.most - newest.uncertain.len();
                    let uncertain = certain.end..range.end;
                    newest.uncertain.extend(uncertain.take(room).map(access));
                }
                BatchItem::Accesses(Piece::Run(_)) => {} // a merged order has none
            }
        }
    }

    fn merge(&self, into: &mut LastShard, from: LastShard) {
        // One shard takes all.
        if into.threads.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, shard: LastShard, trace: &Trace) -> Findings {
        tables::findings(self, &shard, trace)
    }
}
