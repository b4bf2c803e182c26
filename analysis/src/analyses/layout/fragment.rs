//! What is found in a piece of a stream that is looked at separately, and joined with its neighbours later.
//!
//! Within a piece, all pairs are counted except those that reach back over its beginning. For these, a piece keeps its
//! first accesses, as many as a window has. The piece before keeps when each member was accessed last.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::affinity::Pairs;
use crate::engine::partial::PartialError;
use crate::model::site_counts::SiteCounters;

const MAGIC: [u8; 4] = *b"TWLF";
/// 2: accesses that cover several members count for their pairs.
const VERSION: u8 = 2;

/// Findings of the chunks `first..end` of a stream, by their sequence numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    pub(super) window: u64,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) accesses: u64,
    /// Accesses and bytes by site.
    pub(super) sites: BTreeMap<u32, (u64, u64)>,
    /// Pairs by the number of the structure's type.
    pub(super) pairs: BTreeMap<u32, Pairs>,
    /// Accesses to members among the first ones, in their order; `distance` is 1 for the fragment's first access. Empty
    /// for a fragment with which the stream begins.
    pub(super) head: Vec<Touch>,
    /// The last access to each member among the last ones; `distance` is 0 for the fragment's last access. Sorted.
    pub(super) tail: Vec<Touch>,
}

/// An access to a member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Touch {
    /// Distance from a border of the fragment, in accesses of the stream.
    pub distance: u64,
    pub member: Member,
}

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Member {
    /// Number of the structure's type.
    pub structure: u32,
    /// Address of the object.
    pub object: u64,
    pub member: u32,
}

impl Fragment {
    /// Adds the findings of the next chunks of the stream.
    ///
    /// # Errors
    /// If `next` does not begin where this one ends, or was found with another window.
    pub fn join(&mut self, next: Fragment) -> Result<(), PartialError> {
        if next.window != self.window {
            return Err(PartialError::DoesNotFit {
                what: "it was found with another window",
            });
        }
        if next.first != self.end {
            return Err(PartialError::NotNext {
                found: next.first,
                expected: self.end,
            });
        }
        for (site, (accesses, bytes)) in &next.sites {
            let known = self.sites.entry(*site).or_default();
            *known = (known.0.saturating_add(*accesses), known.1.saturating_add(*bytes));
        }
        for (structure, pairs) in &next.pairs {
            match self.pairs.get_mut(structure) {
                Some(known) => known.add(pairs),
                None => drop(self.pairs.insert(*structure, pairs.clone())),
            }
        }
        self.count_over_border(&next.head);
        self.extend_borders(&next);
        self.accesses = self.accesses.saturating_add(next.accesses);
        self.end = next.end;
        Ok(())
    }

    /// Counts the pairs whose earlier access is here and whose later one is among the first of the next fragment.
    fn count_over_border(&mut self, head: &[Touch]) {
        let mut last: HashMap<(u32, u64), Vec<(u32, u64)>> = HashMap::new();
        for touch in &self.tail {
            let Member {
                structure,
                object,
                member,
            } = touch.member;
            let of_object = last.entry((structure, object)).or_default();
            of_object.push((member, touch.distance));
        }
        for Touch {
            distance,
            member: now,
        } in head
        {
            let Some(before) = last.get_mut(&(now.structure, now.object)) else {
                continue;
            };
            // From here on, this member's last access is in the second fragment, which has counted its pairs.
            before.retain(|(member, _)| *member != now.member);
            let Some(pairs) = self.pairs.get_mut(&now.structure) else {
                continue;
            };
            for (member, age) in before.iter() {
                if distance + age <= self.window {
                    pairs.count(now.member as usize, *member as usize);
                }
            }
        }
    }

    fn extend_borders(&mut self, next: &Fragment) {
        if self.first > 0 && self.accesses < self.window {
            let moved = next.head.iter().map(|touch| Touch {
                distance: touch.distance + self.accesses,
                ..*touch
            });
            let window = self.window;
            self.head.extend(moved.filter(|touch| touch.distance <= window));
        }
        let accessed: BTreeSet<Member> = next.tail.iter().map(|touch| touch.member).collect();
        let kept = self.tail.iter().filter(|touch| !accessed.contains(&touch.member));
        let moved = kept.map(|touch| Touch {
            distance: touch.distance.saturating_add(next.accesses),
            ..*touch
        });
        let mut tail: Vec<Touch> = moved.filter(|touch| touch.distance < self.window).collect();
        tail.extend(&next.tail);
        tail.sort_unstable();
        self.tail = tail;
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = (u32, SiteCounters)> + '_ {
        self.sites.iter().map(|(&site, &(accesses, bytes))| {
            let counters = SiteCounters {
                accesses,
                bytes,
                ..SiteCounters::default()
            };
            (site, counters)
        })
    }

    /// Packs the fragment for another process of the same version.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PartialError> {
        let mut bytes = Vec::from(MAGIC);
        bytes.push(VERSION);
        postcard::to_extend(self, bytes).map_err(|source| PartialError::Encoding { source })
    }

    /// Reads what [`Fragment::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Fragment, PartialError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(PartialError::NoPartial {
            what: "it doesn't begin as one",
        })?;
        match rest.split_first() {
            Some((&VERSION, body)) => {
                let read: Fragment =
                    postcard::from_bytes(body).map_err(|source| PartialError::Encoding { source })?;
                let is_sound = read.pairs.values().all(Pairs::is_sound);
                is_sound.then_some(read).ok_or(PartialError::DoesNotFit {
                    what: "its pairs are not those of any structure",
                })
            }
            found => Err(PartialError::OtherVersion {
                found: found.map_or(0, |(version, _)| u16::from(*version)),
                expected: VERSION.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::affinity::Window;
    use super::*;
    use proptest::prelude::*;

    const MEMBERS: usize = 4;
    type Access = Option<(u32, u64, u32)>;

    /// The fragment of a single piece, as a finder would make it from chunks with one access each.
    fn fragment(accesses: &[Access], first: usize, window: u64) -> Fragment {
        let mut known = Window::new(window, MEMBERS);
        let mut pairs = BTreeMap::new();
        let mut head = Vec::new();
        let mut last = BTreeMap::new();
        for (access, time) in accesses.iter().zip(1u64..) {
            let Some((structure, object, member)) = *access else {
                continue;
            };
            let of_type = pairs.entry(structure).or_insert_with(|| Pairs::new(MEMBERS));
            known.access(of_type, structure, object, member as usize, time);
            let member = Member {
                structure,
                object,
                member,
            };
            if time <= window && first > 0 {
                head.push(Touch {
                    distance: time,
                    member,
                });
            }
            last.insert(member, time);
        }
        let count = accesses.len() as u64;
        let mut tail: Vec<Touch> = last
            .into_iter()
            .map(|(member, time)| Touch {
                distance: count - time,
                member,
            })
            .filter(|touch| touch.distance < window)
            .collect();
        tail.sort_unstable();
        Fragment {
            window,
            first: first as u64,
            end: first as u64 + count,
            accesses: count,
            sites: BTreeMap::from([(0, (count, 8 * count))]),
            pairs,
            head,
            tail,
        }
    }

    proptest! {
        #[test]
        fn joined_pieces_are_the_whole(
            window in 1u64..30,
            accesses in proptest::collection::vec(
                proptest::option::weighted(0.8, (0u32..2, 0u64..5, 0u32..4)), 1..300),
            cuts in proptest::collection::vec(0usize..300, 0..12),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % accesses.len()).collect();
            cuts.extend([0, accesses.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let pieces: Vec<Fragment> = cuts
                .windows(2)
                .map(|cut| fragment(&accesses[cut[0]..cut[1]], cut[0], window))
                .collect();
            let whole = fragment(&accesses, 0, window);
            let forwards = pieces.iter().cloned().reduce(|mut before, next| {
                before.join(next).unwrap();
                before
            });
            prop_assert_eq!(forwards.as_ref(), Some(&whole));
            let backwards = pieces.into_iter().rev().reduce(|next, mut before| {
                before.join(next).unwrap();
                before
            });
            prop_assert_eq!(backwards.as_ref(), Some(&whole));
            prop_assert_eq!(Fragment::from_bytes(&whole.to_bytes().unwrap()).unwrap(), whole);
        }
    }

    #[test]
    fn what_does_not_follow_is_refused() {
        let accesses = [Some((0, 0, 0)), Some((0, 0, 1)), Some((0, 0, 2))];
        let first = fragment(&accesses[..1], 0, 4);
        let third = fragment(&accesses[2..], 2, 4);
        let missing = first.clone().join(third).unwrap_err();
        assert!(missing.to_string().contains("begins with chunk 2"), "{missing}");
        assert!(first.clone().join(first.clone()).is_err());
        let other = fragment(&accesses[1..], 1, 5);
        assert!(first.clone().join(other).is_err());
        assert!(Fragment::from_bytes(&first.to_bytes().unwrap()[1..]).is_err());
    }
}
