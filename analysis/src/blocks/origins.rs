//! From where in the user's code blocks were allocated, if not by that code itself.

use std::collections::HashMap;

use trackway_trace::{AllocationSiteId, Batch, Event, FunctionId, LocationId, Trace};

use super::user_code::{Frame, UserCode};
use crate::branches::{Caller, RecordedFlow};

/// So many callers are looked at for one of the user's.
const MOST_CALLERS: usize = 256;

/// Allocation sites in constructors and the standard library, divided by the user's code that led to them. Their parts have
/// the numbers after those of the program's sites.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    sites: usize,
    parts: Vec<(AllocationSiteId, Frame)>,
    /// By stream and chunk, its allocations in their order.
    chunks: HashMap<(u32, u64), Vec<AllocationSiteId>>,
}

impl Origins {
    /// Goes over the records if there is a site that must be divided.
    pub fn of(trace: &Trace) -> Origins {
        let program = trace.program();
        let user_code = UserCode::new(program);
        let sites = program.allocation_sites.iter();
        let divided: Vec<bool> = sites
            .map(|site| user_code.nearest(site.function, site.location).is_none())
            .collect();
        let mut origins = Origins {
            sites: divided.len(),
            ..Origins::default()
        };
        let flow = RecordedFlow::new(program);
        let silent = |_: u64, _: u64| ();
        if !divided.contains(&true) || !flow.is_known() {
            return origins;
        }
        let (mut numbers, mut frames) = (HashMap::new(), HashMap::new());
        for stream in trace.streams() {
            let mut branches = flow.branches(trace, stream, &silent);
            branches.for_each_allocation(&mut |chunk, site, callers| {
                let frame = match divided[site.index()] {
                    true => nearest(&user_code, &mut frames, callers),
                    false => None,
                };
                let part = frame.map_or(site, |frame| origins.part(&mut numbers, site, frame));
                let key = (stream.id, chunk.header.sequence);
                origins.chunks.entry(key).or_default().push(part);
            });
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
    /// By stream: its chunk, and how many of its allocations have passed.
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
