//! The places in the user's code from which blocks were allocated, if not by that code itself.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{AllocationSiteId, Batch, Event, FunctionId, LocationId, Program, Stream, Trace};

use super::user_code::{Frame, UserCode};
use crate::model::control_flow::{Caller, RecordedBranches, RecordedFlow};
use crate::{share_out, Observer};

/// At most this many callers are searched for one of the user's.
const MOST_CALLERS: usize = 256;

/// Allocation sites in constructors and the standard library, divided by the user's code that led to them. The parts
/// are numbered after the program's sites.
#[derive(Debug, Clone)]
pub struct Origins {
    sites: usize,
    parts: Vec<(AllocationSiteId, Frame)>,
    /// Allocations of each chunk in their order, by stream and chunk.
    chunks: HashMap<(u32, u64), Vec<AllocationSiteId>>,
}

/// For each chunk of a stream, the frame of each of its allocations, if the allocation's site is divided by it.
type StreamFrames = Vec<(u64, Vec<(AllocationSiteId, Option<Frame>)>)>;

impl Origins {
    /// How often [`Origins::of`] goes over the records.
    pub const PASSES: u64 = 2;

    /// All sites stay whole.
    pub fn none(program: &Program) -> Origins {
        Origins {
            sites: program.allocation_sites.len(),
            parts: Vec::new(),
            chunks: HashMap::new(),
        }
    }

    /// Whether the program has a site that must be divided, and its flow is described.
    pub fn divide(program: &Program) -> bool {
        RecordedFlow::is_known(program) && divided(program, &UserCode::new(program)).contains(&true)
    }

    /// Goes over the records if there is a site that must be divided.
    pub fn of(trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> Origins {
        let program = trace.program();
        let user_code = UserCode::new(program);
        let divided = divided(program, &user_code);
        let mut origins = Origins::none(program);
        if !RecordedFlow::is_known(program) || !divided.contains(&true) {
            return origins;
        }
        let flow = RecordedFlow::new(program).with_entered(trace, threads, observer);
        let streams: Vec<&Stream> = trace.streams().iter().collect();
        let found = Mutex::new(Vec::new());
        share_out(&streams, threads, |streams| {
            for stream in streams {
                let mut branches = flow.branches(trace, stream, observer);
                let frames = frames_of(&mut branches, &divided, &user_code);
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push((stream.id, frames));
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(stream, _)| *stream);
        let mut numbers = HashMap::new();
        for (stream, chunks) in found {
            for (sequence, frames) in chunks {
                let parts = frames.into_iter().map(|(site, frame)| match frame {
                    Some(frame) => origins.part(&mut numbers, site, frame),
                    None => site,
                });
                let parts = parts.collect();
                origins.chunks.insert((stream, sequence), parts);
            }
        }
        origins
    }

    fn part(
        &mut self,
        numbers: &mut HashMap<(AllocationSiteId, Frame), AllocationSiteId>,
        site: AllocationSiteId,
        frame: Frame,
    ) -> AllocationSiteId {
        let next = AllocationSiteId((self.sites + self.parts.len()) as u32);
        let number = *numbers.entry((site, frame)).or_insert(next);
        if number == next {
            self.parts.push((site, frame));
        }
        number
    }

    /// Sites and their parts.
    pub fn count(&self) -> usize {
        self.sites + self.parts.len()
    }

    /// The site, and the frame if the id is that of a part.
    pub fn get(&self, id: AllocationSiteId) -> (AllocationSiteId, Option<Frame>) {
        match id.index().checked_sub(self.sites) {
            Some(part) => (self.parts[part].0, Some(self.parts[part].1)),
            None => (id, None),
        }
    }
}

/// Whether each site of the program lies in none of the user's code.
fn divided(program: &Program, user_code: &UserCode) -> Vec<bool> {
    let sites = program.allocation_sites.iter();
    sites
        .map(|site| user_code.nearest(site.function, site.location).is_none())
        .collect()
}

fn frames_of(branches: &mut RecordedBranches, divided: &[bool], user_code: &UserCode) -> StreamFrames {
    let (mut chunks, mut known) = (StreamFrames::new(), HashMap::new());
    branches.for_each_allocation(&mut |chunk, site, callers| {
        let frame = match divided[site.index()] {
            true => nearest(user_code, &mut known, callers),
            false => None,
        };
        let sequence = chunk.header.sequence;
        match chunks.last_mut() {
            Some((latest, frames)) if *latest == sequence => frames.push((site, frame)),
            _ => chunks.push((sequence, vec![(site, frame)])),
        }
    });
    chunks
}

/// `frames` are those that were found before.
fn nearest(
    user_code: &UserCode,
    frames: &mut HashMap<(FunctionId, LocationId), Option<Frame>>,
    callers: &mut dyn Iterator<Item = Caller>,
) -> Option<Frame> {
    callers.take(MOST_CALLERS).find_map(|Caller { function, call }| {
        let location = call.unwrap_or_default();
        let frame = frames.entry((function, location));
        *frame.or_insert_with(|| user_code.nearest(function, location))
    })
}

/// How far streams have come.
#[derive(Debug, Clone, Default)]
pub struct OriginCursor {
    /// For each stream, its chunk and how many of that chunk's allocations have passed.
    passed: HashMap<u32, (u64, usize)>,
}

impl OriginCursor {
    /// The event with the part in the place of its site.
    pub fn divide(&mut self, origins: &Origins, batch: &Batch, mut event: Event) -> Event {
        let (Event::Allocate { site, .. } | Event::Reallocate { site, .. }) = &mut event else {
            return event;
        };
        let passed = self.passed.entry(batch.stream).or_insert((batch.sequence, 0));
        if passed.0 != batch.sequence {
            *passed = (batch.sequence, 0);
        }
        let number = passed.1;
        passed.1 += 1;
        let chunk = origins.chunks.get(&(batch.stream, batch.sequence));
        // What is left of a damaged chunk may be less than was looked at.
        if let Some(part) = chunk.and_then(|parts| parts.get(number)) {
            if origins.get(*part).0 == *site {
                *site = *part;
            }
        }
        event
    }
}
