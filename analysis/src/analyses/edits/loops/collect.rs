//! Finds nests: runs of the same loop that follow each other, with the few accesses of the outer loop between them.

use trackway_trace::{Lane, SiteId};

use super::nest::{Nest, NestAccess, DEPTH};

/// Accesses of outer loops between two runs, at most.
const MOST_BETWEEN: usize = 8;

/// Site, address and length.
pub(super) type Plain = (SiteId, u64, u64);

/// Collects the runs of one innermost loop, in the order of the trace.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// Accesses since the last run.
    between: Vec<Plain>,
    /// Runs whose addresses move by the same from one to the next.
    inner: Option<Nest>,
    /// The same of those nests.
    outer: Option<Nest>,
}

impl Collector {
    /// Takes an access. If it ends the nest, returns what was collected, this access included.
    pub fn access(&mut self, access: Plain) -> Option<(Vec<Nest>, Vec<Plain>)> {
        self.between.push(access);
        let is_open = self.inner.is_some() || self.outer.is_some();
        (!is_open || self.between.len() > MOST_BETWEEN).then(|| self.end())
    }

    /// Takes a run; returns nests that it ends.
    pub fn run(&mut self, lanes: &[Lane], count: u64) -> Vec<Nest> {
        let next = unit(std::mem::take(&mut self.between), lanes, count);
        let Some(inner) = self.inner.take() else {
            self.inner = Some(next);
            return Vec::new();
        };
        match joined(inner, next, 1) {
            Ok(longer) => {
                self.inner = Some(longer);
                Vec::new()
            }
            Err((inner, next)) => {
                self.inner = Some(next);
                self.close(inner)
            }
        }
    }

    /// Joins a finished nest of two loops to those before it.
    fn close(&mut self, nest: Nest) -> Vec<Nest> {
        let Some(outer) = self.outer.take() else {
            self.outer = Some(nest);
            return Vec::new();
        };
        match joined(outer, nest, 2) {
            Ok(longer) => {
                self.outer = Some(longer);
                Vec::new()
            }
            Err((outer, nest)) => {
                self.outer = Some(nest);
                vec![outer]
            }
        }
    }

    /// All that was collected, and what came after the last run.
    pub fn end(&mut self) -> (Vec<Nest>, Vec<Plain>) {
        let mut nests = match self.inner.take() {
            Some(inner) => self.close(inner),
            None => Vec::new(),
        };
        nests.extend(self.outer.take());
        (nests, std::mem::take(&mut self.between))
    }
}

/// A run and what came before it, as a nest of one iteration of the outer loops.
fn unit(before: Vec<Plain>, lanes: &[Lane], count: u64) -> Nest {
    let before = before.into_iter().map(|(site, address, length)| NestAccess {
        site,
        length,
        address,
        strides: [0; DEPTH],
        level: 1,
    });
    let lanes = lanes.iter().map(|lane| NestAccess {
        site: lane.site,
        length: lane.size.into(),
        address: lane.address,
        strides: [lane.stride as i64, 0, 0],
        level: 0,
    });
    Nest {
        counts: [count, 1, 1],
        accesses: before.chain(lanes).collect(),
    }
}

/// `next` as a further iteration of loop `number` of `nest`, or both as they were.
fn joined(mut nest: Nest, next: Nest, number: usize) -> Result<Nest, (Nest, Nest)> {
    let inner = 0..number;
    let same_counts = nest.counts[inner.clone()] == next.counts[inner.clone()] && next.counts[number] == 1;
    // The first iteration may have accesses of the loop around before it.
    let is_first = nest.counts[number] == 1;
    let lead = nest.accesses.len().checked_sub(next.accesses.len());
    let Some(lead) = lead.filter(|lead| same_counts && (*lead == 0 || number == 1)) else {
        return Err((nest, next));
    };
    let outer = &nest.accesses[..lead];
    let may_lead = match is_first {
        true => outer.iter().all(|access| access.level == 1),
        false => outer.iter().all(|access| access.level > number),
    };
    if !may_lead || nest.accesses[lead..].iter().any(|access| access.level > number) {
        return Err((nest, next));
    }
    let done = nest.counts[number];
    let pairs = nest.accesses[lead..].iter().zip(&next.accesses);
    let strides: Option<Vec<i64>> = pairs
        .map(|(known, next)| {
            let moved = next.address.wrapping_sub(known.address) as i64;
            let stride = match is_first {
                true => moved,
                false => known.strides[number],
            };
            let alike = (known.site, known.length) == (next.site, next.length)
                && known.strides[inner.clone()] == next.strides[inner.clone()]
                && moved == stride.wrapping_mul(done as i64);
            alike.then_some(stride)
        })
        .collect();
    let Some(strides) = strides else {
        return Err((nest, next));
    };
    nest.accesses[..lead]
        .iter_mut()
        .for_each(|access| access.level = number + 1);
    let moved = nest.accesses[lead..].iter_mut().zip(strides);
    moved.for_each(|(access, stride)| access.strides[number] = stride);
    nest.counts[number] += 1;
    Ok(nest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(address: u64, stride: u64) -> Lane {
        Lane {
            site: SiteId(1),
            size: 8,
            address,
            stride,
        }
    }

    /// The nests of `for i in 0..4 { load(i); for j in 0..5 { load; for k in 0..6 … } }`.
    #[test]
    fn three_loops_are_one_nest_with_the_accesses_of_the_outer_ones() {
        let mut collector = Collector::default();
        let mut nests = Vec::new();
        let mut begin = Vec::new();
        for i in 0..4 {
            for j in 0..5 {
                if j == 0 {
                    begin.extend(collector.access((SiteId(3), 0x9000 + i * 8, 8)));
                }
                begin.extend(collector.access((SiteId(2), 0x5000 + i * 64 + j * 8, 8)));
                nests.extend(collector.run(&[lane(0x1000 + i * 8 + j * 480, 80)], 6));
            }
        }
        nests.extend(collector.end().0);
        let found = nests.iter().max_by_key(|nest| nest.counts[2]).unwrap();
        assert!(begin.iter().all(|(nests, _)| nests.is_empty()));
        assert_eq!(found.accesses.last().unwrap().strides, [80, 480, 8]);
        let all: u64 = nests.iter().map(|nest| nest.counts.iter().product::<u64>()).sum();
        assert_eq!(all, 4 * 5 * 6);
        assert!(
            found.counts == [6, 5, 3] || found.counts == [6, 5, 4],
            "{:?}",
            found.counts
        );
    }

    #[test]
    fn other_runs_and_many_accesses_end_a_nest() {
        let mut collector = Collector::default();
        assert!(collector.run(&[lane(0, 8)], 6).is_empty());
        assert!(collector.run(&[lane(100, 8)], 6).is_empty());
        // Another count.
        assert!(collector.run(&[lane(200, 8)], 7).is_empty());
        let ended: Vec<_> = (0..9)
            .filter_map(|i| collector.access((SiteId(2), i, 1)))
            .collect();
        let [(nests, before)] = &ended[..] else {
            panic!("{ended:?}")
        };
        let counts: Vec<_> = nests.iter().map(|nest| nest.counts).collect();
        assert_eq!((counts, before.len()), (vec![[6, 2, 1], [7, 1, 1]], 9));
    }
}
