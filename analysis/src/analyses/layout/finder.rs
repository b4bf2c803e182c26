//! Finds the accesses and pairs of pieces of streams, and shows the sums of all pieces.

use std::ops::Range;

use trackway_trace::{Batch, Piece, Program, SiteId, Trace};

use super::affinity::{Pairs, MAX_MEMBERS};
use super::fragment::{Fragment, Member, Touch};
use super::together::{Together, Watch};
use super::{Layout, Shown};
use crate::engine::partial::PartialError;
use crate::model::cache::Caches;
use crate::model::site_counts::stores;
use crate::model::site_counts::MissesShard;
use crate::model::site_counts::SiteCounters;
use crate::model::structures::Structures;
use crate::{Findings, WorkPart};

/// Looks at pieces of the streams of a program, each by itself.
pub struct Finder<'p> {
    program: &'p Program,
    structures: Structures,
    watch: Watch,
    window: u64,
}

/// A piece that is being looked at.
pub struct OpenFragment {
    misses: MissesShard,
    together: Together,
    accesses: u64,
    head: Vec<Touch>,
}

impl<'p> Finder<'p> {
    /// `window`: as of [`Layout::new`].
    pub fn new(program: &'p Program, window: u64) -> Finder<'p> {
        let structures = Structures::of(program);
        Finder {
            program,
            watch: Watch::new(&structures, window),
            structures,
            window,
        }
    }

    /// A piece of which nothing was taken yet.
    pub fn start(&self) -> OpenFragment {
        let mut misses = MissesShard::new(&Caches::none(), WorkPart::WHOLE);
        misses.take_sites(self.program.sites.iter().map(|site| stores(site.kind)));
        OpenFragment {
            misses,
            together: self.watch.start(),
            accesses: 0,
            head: Vec::new(),
        }
    }

    /// Takes the next accesses of the piece, all of one stream.
    pub fn take(&self, open: &mut OpenFragment, batch: &Batch) {
        if open.accesses < self.window {
            self.take_head(open, batch);
        }
        open.misses.take(batch);
        self.watch.take(&mut open.together, batch);
        open.accesses = open.accesses.saturating_add(batch.access_count());
    }

    /// The first accesses once more, for what may have come before.
    fn take_head(&self, open: &mut OpenFragment, batch: &Batch) {
        let mut number = open.accesses;
        let mut take = |site: SiteId, address: u64| {
            number += 1;
            let touched = self.watch.touched(site, address);
            open.head
                .extend(touched.filter_map(|(structure, object, member)| {
                    let member = self.member(structure, object, member)?;
                    Some(Touch {
                        distance: number,
                        member,
                    })
                }));
            number < self.window
        };
        for piece in batch.pieces() {
            let goes_on = match piece {
                Piece::Accesses(mut range) => {
                    range.all(|index| take(batch.site[index], batch.address[index]))
                }
                Piece::Run(run) => (0..run.count).all(|iteration| {
                    let mut lanes = batch.lanes(run).iter();
                    lanes.all(|lane| take(lane.site, lane.address_in(iteration)))
                }),
            };
            if !goes_on {
                return;
            }
        }
    }

    fn member(&self, structure: u32, object: u64, member: usize) -> Option<Member> {
        (member < MAX_MEMBERS).then(|| Member {
            structure: self.structures.type_of(structure as usize).0,
            object,
            member: member as u32,
        })
    }

    /// Ends the piece, which held these chunks of its stream, by their sequence numbers.
    pub fn finish(&self, open: OpenFragment, chunks: Range<u64>) -> Fragment {
        let counters = open.misses.counters().into_iter().zip(0u32..);
        let counted = counters.filter(|(counters, _)| counters.accesses > 0);
        let structures = open.together.pairs.iter().enumerate();
        let pairs = structures.filter(|(_, pairs)| !pairs.is_empty());
        let type_of = |structure: usize| self.structures.type_of(structure).0;
        Fragment {
            window: self.window,
            first: chunks.start,
            end: chunks.end,
            accesses: open.accesses,
            sites: counted
                .map(|(counters, site)| (site, (counters.accesses, counters.bytes)))
                .collect(),
            pairs: pairs
                .map(|(structure, pairs)| (type_of(structure), pairs.clone()))
                .collect(),
            head: if chunks.start > 0 { open.head } else { Vec::new() },
            tail: self.tail(&open.together, open.accesses),
        }
    }

    fn tail(&self, together: &Together, accesses: u64) -> Vec<Touch> {
        let latest = together.since(accesses.saturating_sub(self.window));
        let touches = latest.filter_map(|(structure, object, member, time)| {
            let member = self.member(structure, object, member)?;
            Some(Touch {
                distance: accesses - time,
                member,
            })
        });
        let mut tail: Vec<Touch> = touches.collect();
        tail.sort_unstable();
        tail
    }

    /// What [`Layout`] would find without caches, of fragments that are whole streams as far as these have come.
    ///
    /// # Errors
    /// If they are not of this trace, not found with this window, or don't begin with their stream.
    pub fn findings(
        self,
        trace: &Trace,
        shown: Shown,
        fragments: &[Fragment],
    ) -> Result<Findings, PartialError> {
        let mut counters = vec![SiteCounters::default(); self.program.sites.len()];
        let mut pairs = self.watch.start().pairs;
        for fragment in fragments {
            self.add(fragment, &mut counters, &mut pairs)?;
        }
        let layout = Layout::new(self.structures, Caches::none(), self.window, shown);
        Ok(layout.findings_of(trace, &counters, &pairs))
    }

    fn add(
        &self,
        fragment: &Fragment,
        counters: &mut [SiteCounters],
        pairs: &mut [Pairs],
    ) -> Result<(), PartialError> {
        if fragment.first > 0 {
            return Err(PartialError::NotNext {
                found: fragment.first,
                expected: 0,
            });
        }
        if fragment.window != self.window {
            return Err(PartialError::DoesNotFit {
                what: "it was found with another window",
            });
        }
        for (site, more) in fragment.counters() {
            let known = counters.get_mut(SiteId(site).index());
            *known.ok_or(PartialError::DoesNotFit {
                what: "it counts accesses of sites that the program doesn't have",
            })? += &more;
        }
        for (structure, known) in pairs.iter_mut().enumerate() {
            // A type that is missing here got a second meaning by a module that was loaded later.
            let found = fragment.pairs.get(&self.structures.type_of(structure).0);
            match found {
                Some(found) if !found.fits(self.structures.list[structure].members.len()) => {
                    return Err(PartialError::DoesNotFit {
                        what: "it is of other structures",
                    });
                }
                Some(found) => known.add(found),
                None => (),
            }
        }
        Ok(())
    }
}
