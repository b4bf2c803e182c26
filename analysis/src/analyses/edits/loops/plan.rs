//! In which order a nest is to be walked.

use trackway_trace::Lane;

use super::nest::{Nest, NestAccess, DEPTH};
use super::LINE_BYTES;
use crate::analyses::edits::simulate::Output;

/// An interchange must save this part of the bytes that an iteration needs.
const LEAST_GAIN: f64 = 0.25;
/// Lines that a block has in each direction.
const LINES_OF_BLOCK: u64 = 2;
const MOST_OF_BLOCK: u64 = 64;

/// What may be done with a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Interchange,
    Blocks,
}

/// The order of a nest's loops.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Loops from the outermost to the innermost.
    order: [usize; DEPTH],
    /// Iterations of the innermost loop and of the one around it that make a block.
    pub tile: Option<[u64; 2]>,
}

/// What takes the accesses of a walk.
pub(super) trait Walked {
    fn access(&mut self, access: &NestAccess, address: u64, iterations: &[u64; DEPTH]);

    /// Further iterations of the loop `number` from these ones on, for these accesses.
    fn run(&mut self, accesses: &[&NestAccess], number: usize, iterations: &mut [u64; DEPTH], count: u64);

    /// Whether it wants what the innermost loop doesn't move once before that loop, as a compiler leaves it.
    fn hoists(&self) -> bool;
}

impl Walked for Output<'_> {
    fn access(&mut self, access: &NestAccess, address: u64, _: &[u64; DEPTH]) {
        Output::access(self, access.site, address, access.length);
    }

    fn run(&mut self, accesses: &[&NestAccess], number: usize, iterations: &mut [u64; DEPTH], count: u64) {
        let lanes = accesses.iter().map(|access| Lane {
            site: access.site,
            size: access.length as u32,
            address: access.address_in(iterations),
            stride: access.strides[number] as u64,
        });
        let lanes: Vec<Lane> = lanes.collect();
        Output::run(self, &lanes, count);
    }

    fn hoists(&self) -> bool {
        true
    }
}

impl Plan {
    pub const AS_IT_IS: Plan = Plan {
        order: [2, 1, 0],
        tile: None,
    };

    /// The nest so changed; none if nothing speaks for it.
    pub fn of(nest: &Nest, change: Change) -> Option<Plan> {
        let is_short = |access: &NestAccess| access.length <= LINE_BYTES;
        if !nest.is_deep() || nest.far().next().is_none() || !nest.accesses.iter().all(is_short) {
            return None;
        }
        match change {
            Change::Interchange => Plan::interchanged(nest),
            Change::Blocks => Plan::in_blocks(nest),
        }
    }

    fn interchanged(nest: &Nest) -> Option<Plan> {
        let mut order = [2, 1, 0];
        // What needs least goes innermost; loops that aren't there stay outside.
        let need = |number: &usize| match nest.counts[*number] {
            1 => u64::MAX,
            _ => nest.step(*number),
        };
        order.sort_by_key(|number| std::cmp::Reverse(need(number)));
        let best = order[DEPTH - 1];
        let (before, after) = (nest.step(0) as f64, nest.step(best) as f64);
        // Where one array gains what another one loses, blocks are needed.
        let is_far = |access: &NestAccess, number: usize| access.strides[number].unsigned_abs() >= LINE_BYTES;
        let loses = |access: &NestAccess| is_far(access, best) && !is_far(access, 0);
        if nest.accesses.iter().any(loses) {
            return None;
        }
        (after <= (1.0 - LEAST_GAIN) * before).then_some(Plan { order, tile: None })
    }

    /// The two innermost loops in blocks, if each has what the other one is far from.
    fn in_blocks(nest: &Nest) -> Option<Plan> {
        let near = |access: &NestAccess, number: usize| {
            let step = access.strides[number].unsigned_abs();
            (step > 0 && step < LINE_BYTES).then_some(step)
        };
        let far = |access: &&NestAccess| access.strides[1].unsigned_abs() >= LINE_BYTES;
        let down = nest.far().filter_map(|access| near(access, 1)).min()?;
        let along = nest
            .accesses
            .iter()
            .filter(far)
            .filter_map(|access| near(access, 0))
            .min()?;
        let tile = [along, down].map(|step| (LINES_OF_BLOCK * LINE_BYTES / step).clamp(2, MOST_OF_BLOCK));
        let has_blocks = tile
            .iter()
            .zip(nest.counts)
            .all(|(tile, count)| count >= 2 * tile);
        has_blocks.then_some(Plan {
            order: [2, 1, 0],
            tile: Some(tile),
        })
    }

    pub fn innermost(&self) -> usize {
        self.order[DEPTH - 1]
    }

    /// Makes the accesses of the nest in this order.
    pub fn walk(&self, nest: &Nest, to: &mut impl Walked) {
        let [outer, middle, inner] = self.order;
        let is_own = self.order == [2, 1, 0] && self.tile.is_none();
        let mut walk = Walk {
            nest,
            is_own,
            inner,
            hoists: !is_own && to.hoists(),
            to,
        };
        let counts = &nest.counts;
        let [along, down] = self.tile.unwrap_or([u64::MAX; 2]);
        let mut at = [0; DEPTH];
        for iteration in 0..counts[outer] {
            at[outer] = iteration;
            walk.lead(&mut at, 2);
            for middle_tile in (0..counts[middle]).step_by(down.min(counts[middle]) as usize) {
                for inner_tile in (0..counts[inner]).step_by(along.min(counts[inner]) as usize) {
                    for iteration in middle_tile..counts[middle].min(middle_tile.saturating_add(down)) {
                        at[middle] = iteration;
                        let end = counts[inner].min(inner_tile.saturating_add(along));
                        walk.innermost(&mut at, inner_tile, end);
                    }
                }
            }
        }
    }
}

struct Walk<'w, W> {
    nest: &'w Nest,
    /// Whether the order is that of the program.
    is_own: bool,
    inner: usize,
    hoists: bool,
    to: &'w mut W,
}

impl<W: Walked> Walk<'_, W> {
    /// Accesses of an outer loop before the loop inside. In another order they belong to all loops.
    fn lead(&mut self, at: &mut [u64; DEPTH], level: usize) {
        if self.is_own {
            let own = self.nest.accesses.iter().filter(|access| access.level == level);
            for access in own {
                let mut first = *at;
                first[..level].fill(0);
                self.to.access(access, access.address_in(&first), &first);
            }
        }
    }

    /// Iterations of the innermost loop.
    fn innermost(&mut self, at: &mut [u64; DEPTH], from: u64, end: u64) {
        if self.is_own {
            self.lead(at, 1);
        }
        at[self.inner] = from;
        let all = self.nest.accesses.iter();
        let own = all.filter(|access| !self.is_own || access.level == 0);
        let (still, moving): (Vec<&NestAccess>, Vec<&NestAccess>) =
            own.partition(|access| self.hoists && access.strides[self.inner] == 0);
        for access in still {
            self.to.access(access, access.address_in(at), at);
        }
        if !moving.is_empty() {
            self.to.run(&moving, self.inner, at, end - from);
        }
        at[self.inner] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::SiteId;

    fn access(site: u32, strides: [i64; DEPTH]) -> NestAccess {
        NestAccess {
            site: SiteId(site),
            length: 8,
            address: 1 << 20,
            strides,
            level: 0,
        }
    }

    #[derive(Default)]
    struct Addresses(Vec<u64>);

    impl Walked for Addresses {
        fn access(&mut self, _: &NestAccess, address: u64, _: &[u64; DEPTH]) {
            self.0.push(address);
        }

        fn run(&mut self, accesses: &[&NestAccess], number: usize, at: &mut [u64; DEPTH], count: u64) {
            for _ in 0..count {
                self.0.extend(accesses.iter().map(|access| access.address_in(at)));
                at[number] += 1;
            }
        }

        fn hoists(&self) -> bool {
            true
        }
    }

    fn addresses(nest: &Nest, plan: &Plan) -> Vec<u64> {
        let mut found = Addresses::default();
        plan.walk(nest, &mut found);
        found.0
    }

    #[test]
    fn a_walk_down_columns_becomes_one_along_rows() {
        let nest = Nest {
            counts: [100, 200, 1],
            accesses: vec![access(1, [1600, 8, 0])],
        };
        let plan = Plan::of(&nest, Change::Interchange).unwrap();
        assert_eq!((plan.order, plan.tile), ([2, 0, 1], None));
        let mut all = addresses(&nest, &Plan::AS_IT_IS);
        let along = addresses(&nest, &plan);
        assert!(along.is_sorted() && !all.is_sorted());
        all.sort_unstable();
        assert_eq!(all, along);
    }

    #[test]
    fn a_transposition_goes_in_blocks() {
        let nest = Nest {
            counts: [100, 90, 1],
            accesses: vec![access(1, [8, 800, 0]), access(2, [720, 8, 0])],
        };
        let plan = Plan::of(&nest, Change::Blocks).unwrap();
        assert_eq!((plan.order, plan.tile), ([2, 1, 0], Some([16, 16])));
        assert_eq!(Plan::of(&nest, Change::Interchange), None);
        let (mut before, mut after) = (addresses(&nest, &Plan::AS_IT_IS), addresses(&nest, &plan));
        assert_ne!(before, after);
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }

    #[test]
    fn a_product_of_matrices_gets_the_usual_order() {
        // for j, for k, for i: c[i][j] += a[i][k] * b[k][j], with rows of 2560 bytes
        let b = NestAccess {
            level: 1,
            ..access(2, [0, 2560, 8])
        };
        let nest = Nest {
            counts: [320, 320, 320],
            accesses: vec![
                b,
                access(1, [2560, 8, 0]),
                access(3, [2560, 0, 8]),
                access(4, [2560, 0, 8]),
            ],
        };
        let plan = Plan::of(&nest, Change::Interchange).unwrap();
        assert_eq!((plan.order, plan.tile), ([0, 1, 2], None));
    }

    #[test]
    fn what_goes_along_lines_stays() {
        let nest = Nest {
            counts: [100, 90, 1],
            accesses: vec![access(1, [8, 800, 0]), access(2, [0, 8, 0])],
        };
        assert_eq!(Plan::of(&nest, Change::Interchange), None);
        assert_eq!(Plan::of(&nest, Change::Blocks), None);
    }
}
