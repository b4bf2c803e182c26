//! What a thread accessed last, and where its stack is.

use trackway_trace::{Batch, Piece, SiteId};

use super::{parts_of_lanes, Inherit, Known, LaneRest, MemoryPlace, Places, Spots};

/// A thread on its way through its accesses.
#[derive(Debug, Clone)]
pub struct Thread {
    pub spots: Spots,
    /// While no stack of the thread is known: what its sites accessed that is none.
    no_stack: Option<Box<Spots>>,
}

impl Thread {
    pub fn new(sites: usize) -> Self {
        Thread {
            spots: Spots::new(sites),
            no_stack: Some(Box::new(Spots::new(sites))),
        }
    }

    /// While the thread has no stack, finds the first of these accesses that is taken to be on it. It goes by way of a
    /// local variable (`local`, by site) to memory that is nothing else. Returns its number among the accesses, and its
    /// address.
    #[inline]
    pub fn first_on_stack<D: Inherit>(
        &mut self,
        places: &Places<D>,
        local: &[bool],
        batch: &Batch,
        accesses: &Piece,
    ) -> Option<(u64, u64)> {
        let known = self.no_stack.as_mut()?;
        match accesses {
            Piece::Accesses(range) => {
                let sites = batch.site[range.clone()].iter();
                let mut columns = (0..).zip(sites.zip(&batch.address[range.clone()]));
                let (number, (_, address)) = columns.find(|(_, (&site, &address))| {
                    local[site.index()] && known_around(known, places, site, address).is_none()
                })?;
                Some((number, *address))
            }
            Piece::Run(run) => {
                let rests = (0..).zip(parts_of_lanes(batch.lanes(run), 0..run.access_count()));
                let local = rests.filter(|(_, rest)| local[rest.site.index()]);
                let firsts = local.filter_map(|(lane, rest)| {
                    let (iteration, address) = first_of_lane_on_stack(known, places, rest)?;
                    Some((iteration * batch.lanes(run).len() as u64 + lane, address))
                });
                firsts.min()
            }
        }
    }

    /// The trace says where it is. If that is a block, a task of the program runs there, and if it is a stack, that is the same
    /// thread's, or its parent's.
    pub fn take_known_stack<D: Inherit>(&mut self, places: &mut Places<D>, address: u64, stream: u32) {
        self.no_stack = None;
        if places.find(address).place == MemoryPlace::Other {
            places.add_stack(address, stream);
        }
    }

    /// Says where it is.
    pub fn take_stack<D: Inherit>(&mut self, places: &mut Places<D>, address: u64, stream: u32) {
        places.add_stack(address, stream);
        self.no_stack = None;
    }
}

fn first_of_lane_on_stack<D: Inherit>(
    known: &mut Spots,
    places: &Places<D>,
    mut rest: LaneRest,
) -> Option<(u64, u64)> {
    let count = rest.count;
    while rest.count > 0 {
        let Some(others) = known_around(known, places, rest.site, rest.address) else {
            return Some((count - rest.count, rest.address));
        };
        rest.pass(rest.begin_within(others.from, others.to));
    }
    None
}

/// The addresses around this one that are something; none if this one is nothing.
fn known_around<D: Inherit>(
    known: &mut Spots,
    places: &Places<D>,
    site: SiteId,
    address: u64,
) -> Option<Known> {
    known.find(&places.heap, site, address).or_else(|| {
        let stretch = places.find(address);
        let is_something = stretch.place != MemoryPlace::Other;
        is_something.then(|| known.remember(&places.heap, site, &stretch, 0))
    })
}
