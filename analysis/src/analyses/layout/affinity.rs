//! Which fields of an object are accessed within a window of each other.

use serde::{Deserialize, Serialize};

/// Members of a structure that are looked at; those after have no affinity.
pub const MAX_MEMBERS: usize = 64;

/// Never, or longer ago than any window.
const NEVER: u64 = 0;

/// Counts of pairs, for one structure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    members: usize,
    /// `counts[a * members + b]`: accesses to `a` in whose window the object's `b` was accessed. Empty until there is one.
    counts: Vec<u64>,
}

impl Pairs {
    pub fn new(members: usize) -> Pairs {
        Pairs {
            members: members.min(MAX_MEMBERS),
            counts: Vec::new(),
        }
    }

    /// Whether these are counts of this many members.
    pub fn fits(&self, members: usize) -> bool {
        let counts = self.counts.len();
        self.members == members.min(MAX_MEMBERS) && (counts == 0 || counts == self.members * self.members)
    }

    /// Whether there are as many counts as members need.
    pub fn is_sound(&self) -> bool {
        self.members <= MAX_MEMBERS && self.fits(self.members)
    }

    /// Forgets the counts.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Accesses to either in whose window the other was accessed.
    pub fn between(&self, a: usize, b: usize) -> u64 {
        if a >= self.members || b >= self.members || self.counts.is_empty() {
            return 0;
        }
        self.counts[a * self.members + b] + self.counts[b * self.members + a]
    }

    /// Whether anything was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts one more access to `member` in whose window `other` was accessed.
    pub fn count(&mut self, member: usize, other: usize) {
        if member >= self.members || other >= self.members {
            return;
        }
        if self.counts.is_empty() {
            self.counts.resize(self.members * self.members, 0);
        }
        self.counts[member * self.members + other] += 1;
    }

    pub fn add(&mut self, other: &Pairs) {
        if self.counts.is_empty() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }
}

/// An object: where it begins, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Object {
    address: u64,
    structure: u32,
}

/// What one thread accessed lately. Holds as many objects as the window has accesses, and no more.
#[derive(Debug, Clone)]
pub struct Window {
    /// Length in accesses of the thread.
    length: u64,
    /// Slots of an open hash table; the time of an object's last access is that of its slot.
    objects: Vec<Object>,
    latest: Vec<u64>,
    /// Time of the last access to each member, by slot.
    times: Vec<u64>,
    stride: usize,
    used: usize,
}

impl Window {
    /// `members`: of the largest structure.
    pub fn new(length: u64, members: usize) -> Window {
        let slots = (length.clamp(4, 1 << 20) * 4).next_power_of_two() as usize;
        let stride = members.clamp(1, MAX_MEMBERS);
        Window {
            length: length.clamp(1, 1 << 20),
            objects: vec![
                Object {
                    address: 0,
                    structure: u32::MAX
                };
                slots
            ],
            latest: vec![NEVER; slots],
            times: vec![NEVER; slots * stride],
            stride,
            used: 0,
        }
    }

    /// The access number `time` of the thread, from 1, is to `member` of an object.
    #[inline]
    pub fn access(&mut self, pairs: &mut Pairs, structure: u32, address: u64, member: usize, time: u64) {
        if member >= pairs.members {
            return;
        }
        let slot = self.slot(Object { address, structure });
        let oldest = time.saturating_sub(self.length);
        let is_live = self.latest[slot] != NEVER && self.latest[slot] >= oldest;
        self.latest[slot] = time;
        let times = &mut self.times[slot * self.stride..][..pairs.members.min(self.stride)];
        if pairs.counts.is_empty() {
            pairs.counts.resize(pairs.members * pairs.members, 0);
        }
        let row = &mut pairs.counts[member * pairs.members..][..pairs.members];
        if is_live {
            for (count, &last) in row.iter_mut().zip(times.iter()) {
                *count += u64::from(last != NEVER && last >= oldest);
            }
            // A member is no pair with itself.
            let last = times[member];
            row[member] -= u64::from(last != NEVER && last >= oldest);
        }
        times[member] = time;
        if self.used * 2 > self.objects.len() {
            self.forget_old(oldest);
        }
    }

    /// Structure, address, member and time of the last access to each member that was accessed after `time`.
    pub fn since(&self, time: u64) -> impl Iterator<Item = (u32, u64, usize, u64)> + '_ {
        let live = self.objects.iter().zip(&self.latest).enumerate();
        let live = live.filter(move |(_, (_, &latest))| latest != NEVER && latest > time);
        live.flat_map(move |(slot, (object, _))| {
            let times = self.times[slot * self.stride..][..self.stride].iter().enumerate();
            let accessed = times.filter(move |(_, &last)| last != NEVER && last > time);
            accessed.map(move |(member, &last)| (object.structure, object.address, member, last))
        })
    }

    fn slot(&mut self, object: Object) -> usize {
        let mask = self.objects.len() - 1;
        let mut slot = hash(object) as usize & mask;
        loop {
            if self.latest[slot] == NEVER {
                self.objects[slot] = object;
                self.used += 1;
                return slot;
            }
            if self.objects[slot] == object {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Keeps only objects of the window: at most a quarter of the slots.
    #[cold]
    fn forget_old(&mut self, oldest: u64) {
        let slots = self.objects.len();
        let objects = std::mem::take(&mut self.objects);
        let latest = std::mem::replace(&mut self.latest, vec![NEVER; slots]);
        let times = std::mem::replace(&mut self.times, vec![NEVER; slots * self.stride]);
        self.objects = objects.clone();
        self.used = 0;
        for slot in (0..slots).filter(|&slot| latest[slot] != NEVER && latest[slot] >= oldest) {
            let to = self.slot(objects[slot]);
            self.latest[to] = latest[slot];
            let from = slot * self.stride..(slot + 1) * self.stride;
            self.times[to * self.stride..][..self.stride].copy_from_slice(&times[from]);
        }
    }
}

#[inline]
fn hash(object: Object) -> u64 {
    let mixed = (object.address ^ u64::from(object.structure) << 48).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Follows the definition: each access looks back over the accesses of its window.
    fn naive(accesses: &[Option<(u64, u32, usize)>], length: usize, members: usize) -> Vec<Vec<u64>> {
        let mut counts = vec![vec![0; members]; members];
        for (now, access) in accesses.iter().enumerate() {
            let Some((object, structure, member)) = *access else {
                continue;
            };
            if structure != 0 {
                continue;
            }
            for other in (0..members).filter(|&other| other != member) {
                let window = &accesses[now.saturating_sub(length)..now];
                counts[member][other] += u64::from(window.contains(&Some((object, structure, other))));
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn pairs_are_those_of_the_definition(
            length in 1usize..40,
            objects in 1u64..60,
            accesses in proptest::collection::vec(
                proptest::option::weighted(0.8, (0u64..60, 0u32..2, 0usize..5)), 1..600),
        ) {
            let accesses: Vec<_> = accesses
                .into_iter()
                .map(|access| access.map(|(object, structure, member)| (object % objects * 32, structure, member)))
                .collect();
            let mut window = Window::new(length as u64, 5);
            let mut pairs = [Pairs::new(5), Pairs::new(5)];
            for (index, access) in accesses.iter().enumerate() {
                if let Some((address, structure, member)) = *access {
                    window.access(&mut pairs[structure as usize], structure, address, member, index as u64 + 1);
                }
            }
            let expected = naive(&accesses, length, 5);
            let all = (0..5).flat_map(|a| (0..5).map(move |b| (a, b)));
            for (a, b) in all.filter(|(a, b)| a != b) {
                prop_assert_eq!(pairs[0].between(a, b), expected[a][b] + expected[b][a]);
            }
        }
    }
}
