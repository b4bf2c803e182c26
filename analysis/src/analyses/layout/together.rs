//! Follows which fields of objects are accessed together.

use std::collections::BTreeMap;

use trackway_trace::{Batch, Lane, Piece, SiteId};

use super::affinity::{Pairs, Window};
use crate::model::structures::Structures;

/// What is not looked at has this structure.
const NONE: u32 = u32::MAX;

/// What to look at.
pub(super) struct Watch {
    /// What to look at, by site.
    sites: Vec<Watched>,
    /// Further members of sites whose accesses cover several.
    more: Vec<u32>,
    window: u64,
    /// Members of each structure.
    members: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Watched {
    structure: u32,
    member: u32,
    /// Range of the others in [`Watch::more`]: first and end.
    more: (u32, u32),
    /// Bytes from the object to the access.
    offset: u64,
}

impl Watched {
    const NOTHING: Watched = Watched {
        structure: NONE,
        member: 0,
        more: (0, 0),
        offset: 0,
    };
}

/// What was seen, in one thread or in all.
pub(super) struct Together {
    /// What each stream accessed lately.
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
        let mut more: Vec<u32> = Vec::new();
        let watched = structures.sites.iter().map(|field| {
            let field = field.as_ref()?;
            let (&member, others) = field.members.split_first()?;
            let first = more.len() as u32;
            let watched = Watched {
                structure: field.structure as u32,
                member: member as u32,
                more: (first, first + others.len() as u32),
                offset: field.offset?,
            };
            more.extend(others.iter().map(|&other| other as u32));
            Some(watched)
        });
        let sites = watched
            .map(|watched| watched.unwrap_or(Watched::NOTHING))
            .collect();
        let members = structures.list.iter().map(|structure| structure.members.len());
        Watch {
            sites,
            more,
            window,
            members: members.collect(),
        }
    }

    /// What was seen in another process; none if that looked at other structures.
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
            let (structure, time) = (watched.structure, past.accesses);
            let mut access = |member: u32| {
                past.window
                    .access(pairs, structure, object, member as usize, time);
            };
            access(watched.member);
            // An access that covers several members is one access to each of them, at the same time.
            self.others(watched).iter().copied().for_each(access);
        }
    }

    #[inline]
    fn others(&self, watched: Watched) -> &[u32] {
        &self.more[watched.more.0 as usize..watched.more.1 as usize]
    }

    /// Structure, beginning of the object and members of an access, if that is one that is looked at.
    pub fn touched(&self, site: SiteId, address: u64) -> impl Iterator<Item = (u32, u64, usize)> + '_ {
        let watched = self.sites[site.index()];
        let object = address.wrapping_sub(watched.offset);
        let first = (watched.structure != NONE).then_some(watched.member);
        let others = self.others(watched).iter().copied();
        first
            .into_iter()
            .chain(others)
            .map(move |member| (watched.structure, object, member as usize))
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
    /// Forgets the pairs that were counted, but keeps what was accessed lately.
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

    /// Sites 0 and 1 access members of one structure, 2 nothing that is looked at, 3 both members at once.
    fn watch() -> Watch {
        let watched = |structure, member: u32, more| Watched {
            structure,
            member,
            more,
            offset: u64::from(member) * 8,
        };
        Watch {
            sites: vec![
                watched(0, 0, (0, 0)),
                watched(0, 1, (0, 0)),
                Watched::NOTHING,
                watched(0, 0, (0, 1)),
            ],
            more: vec![1],
            window: 6,
            members: vec![2],
        }
    }

    fn lane() -> impl Strategy<Value = Lane> {
        (0u32..4, 0u64..8, 0u64..3).prop_map(|(site, address, stride)| Lane {
            site: SiteId(site),
            size: 8,
            address: address * 8,
            stride: stride * 8,
        })
    }

    #[test]
    fn an_access_that_covers_two_members_is_to_both_together() {
        let watch = watch();
        let (mut together, mut past) = (watch.start(), watch.past());
        for object in 0..5 {
            past.accesses += 1;
            watch.access(&mut together.pairs, &mut past, SiteId(3), object * 16);
        }
        assert_eq!(together.pairs[0].between(0, 1), 5);
        assert_eq!(
            watch.touched(SiteId(3), 32).collect::<Vec<_>>(),
            [(0, 32, 0), (0, 32, 1)]
        );
        assert_eq!(watch.touched(SiteId(2), 32).count(), 0);
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
