//! Follows which fields of objects are accessed together.

use std::collections::BTreeMap;

use trackway_trace::{Batch, Lane, Piece, SiteId};

use super::affinity::{Pairs, Window};
use crate::structures::Structures;

/// What is not looked at has this structure.
const NONE: u32 = u32::MAX;

/// What to look at.
pub(super) struct Watch {
    /// By site.
    sites: Vec<Watched>,
    window: u64,
    /// Members of each structure.
    members: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Watched {
    structure: u32,
    member: u32,
    /// Bytes from the object to the access.
    offset: u64,
}

/// What was seen, in one thread or in all.
pub(super) struct Together {
    /// By stream.
    streams: BTreeMap<u32, Past>,
    pub pairs: Vec<Pairs>,
}

/// What a thread accessed lately, and its accesses so far.
struct Past {
    window: Window,
    accesses: u64,
}

impl Watch {
    pub fn new(structures: &Structures, window: u64) -> Watch {
        let watched = structures.sites.iter().map(|field| match field {
            Some(field) if field.members.len() == 1 => Watched {
                structure: field.offset.map_or(NONE, |_| field.structure as u32),
                member: field.members[0] as u32,
                offset: field.offset.unwrap_or(0),
            },
            _ => Watched {
                structure: NONE,
                member: 0,
                offset: 0,
            },
        });
        let members = structures.list.iter().map(|structure| structure.members.len());
        Watch {
            sites: watched.collect(),
            window,
            members: members.collect(),
        }
    }

    /// What was seen in another process; none if it was not of these structures.
    pub fn seen(&self, pairs: Vec<Pairs>) -> Option<Together> {
        let fits = pairs.len() == self.members.len();
        let fits = fits
            && pairs
                .iter()
                .zip(&self.members)
                .all(|(pairs, members)| pairs.fits(*members));
        fits.then_some(Together {
            streams: BTreeMap::new(),
            pairs,
        })
    }

    /// Nothing was seen yet.
    pub fn start(&self) -> Together {
        Together {
            streams: BTreeMap::new(),
            pairs: self.members.iter().map(|&members| Pairs::new(members)).collect(),
        }
    }

    fn past(&self) -> Past {
        let largest = self.members.iter().copied().max().unwrap_or(0);
        Past {
            window: Window::new(self.window, largest),
            accesses: 0,
        }
    }

    pub fn take(&self, together: &mut Together, batch: &Batch) {
        let past = together.streams.entry(batch.stream);
        let past = past.or_insert_with(|| self.past());
        let pairs = &mut together.pairs;
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    let columns = batch.site[range.clone()].iter().zip(&batch.address[range]);
                    for (&site, &address) in columns {
                        past.accesses = past.accesses.saturating_add(1);
                        self.access(pairs, past, site, address);
                    }
                }
                Piece::Run(run) => self.run(pairs, past, batch.lanes(run), run.count),
            }
        }
    }

    #[inline]
    fn access(&self, pairs: &mut [Pairs], past: &mut Past, site: SiteId, address: u64) {
        let watched = self.sites[site.index()];
        if watched.structure != NONE {
            let object = address.wrapping_sub(watched.offset);
            let pairs = &mut pairs[watched.structure as usize];
            let member = watched.member as usize;
            past.window
                .access(pairs, watched.structure, object, member, past.accesses);
        }
    }

    /// Structure, beginning of the object and member of an access to one that is looked at.
    pub fn touched(&self, site: SiteId, address: u64) -> Option<(u32, u64, usize)> {
        let watched = self.sites[site.index()];
        let object = address.wrapping_sub(watched.offset);
        (watched.structure != NONE).then_some((watched.structure, object, watched.member as usize))
    }

    /// Where nothing is looked at, a loop is as good as its number of accesses.
    fn run(&self, pairs: &mut [Pairs], past: &mut Past, lanes: &[Lane], count: u64) {
        let watches = |lane: &Lane| self.sites[lane.site.index()].structure != NONE;
        if !lanes.iter().any(watches) {
            let accesses = count.saturating_mul(lanes.len() as u64);
            past.accesses = past.accesses.saturating_add(accesses);
            return;
        }
        for iteration in 0..count {
            for lane in lanes {
                past.accesses = past.accesses.saturating_add(1);
                let address = lane.address_in(iteration);
                self.access(pairs, past, lane.site, address);
            }
        }
    }
}

impl Together {
    /// Keeps what was accessed lately, and forgets what that came to.
    pub fn forget_pairs(&mut self) {
        self.pairs.iter_mut().for_each(Pairs::clear);
    }

    /// Structure, object, member and time of the last accesses to members since `time`, in accesses of their stream.
    pub fn since(&self, time: u64) -> impl Iterator<Item = (u32, u64, usize, u64)> + '_ {
        self.streams
            .values()
            .flat_map(move |past| past.window.since(time))
    }

    pub fn add(&mut self, other: &Together) {
        for (pairs, more) in self.pairs.iter_mut().zip(&other.pairs) {
            pairs.add(more);
        }
        // The past belongs to streams that are done.
        self.streams.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sites 0 and 1 access members of one structure, 2 nothing that is looked at.
    fn watch() -> Watch {
        let watched = |structure, member: u32| Watched {
            structure,
            member,
            offset: u64::from(member) * 8,
        };
        Watch {
            sites: vec![watched(0, 0), watched(0, 1), watched(NONE, 0)],
            window: 6,
            members: vec![2],
        }
    }

    fn lane() -> impl Strategy<Value = Lane> {
        (0u32..3, 0u64..8, 0u64..3).prop_map(|(site, address, stride)| Lane {
            site: SiteId(site),
            size: 8,
            address: address * 8,
            stride: stride * 8,
        })
    }

    proptest! {
        #[test]
        fn runs_are_as_their_accesses(
            runs in proptest::collection::vec((proptest::collection::vec(lane(), 0..4), 0u64..9), 1..9),
        ) {
            let watch = watch();
            let (mut whole, mut each) = (watch.start(), watch.start());
            let (mut past, mut past_of_each) = (watch.past(), watch.past());
            for (lanes, count) in &runs {
                watch.run(&mut whole.pairs, &mut past, lanes, *count);
                for iteration in 0..*count {
                    for lane in lanes {
                        past_of_each.accesses += 1;
                        let address = lane.address + lane.stride * iteration;
                        watch.access(&mut each.pairs, &mut past_of_each, lane.site, address);
                    }
                }
            }
            prop_assert_eq!(past.accesses, past_of_each.accesses);
            prop_assert_eq!(whole.pairs[0].between(0, 1), each.pairs[0].between(0, 1));
        }
    }
}
