//! Whether another order of a nest keeps the order of writes and other accesses to the same bytes.

use std::collections::HashMap;

use super::nest::{Nest, NestAccess, DEPTH};
use super::plan::{Plan, Walked};

/// Iterations of each loop that are looked at, by the number of loops.
const MOST_OF_TWO: u64 = 256;
const MOST_OF_THREE: u64 = 40;

/// Looks at the first iterations of each loop, with one block or more where there are blocks.
pub(super) fn keeps_order(nest: &Nest, plan: &Plan, stores: impl Fn(&NestAccess) -> bool) -> bool {
    let most = match nest.counts[2] {
        1 => MOST_OF_TWO,
        _ => MOST_OF_THREE,
    };
    let mut part = nest.clone();
    part.counts
        .iter_mut()
        .for_each(|count| *count = (*count).min(most));
    let of_plan = |plan: &Plan| {
        let lengths = part.accesses.iter().map(|access| access.length);
        let mut order = AccessOrder {
            nest: &part,
            grain: lengths.min().unwrap_or(1).max(1),
            stores: &stores,
            places: HashMap::new(),
        };
        plan.walk(&part, &mut order);
        let places = order.places.into_iter();
        let written = places.filter(|(_, place)| place.is_written);
        written
            .map(|(grain, place)| (grain, place.finished()))
            .collect::<HashMap<u64, Option<u64>>>()
    };
    let now = of_plan(&Plan::AS_IT_IS);
    now.values().all(Option::is_some) && now == of_plan(plan)
}

/// A hash of the order of accesses to each place. Reads between two writes may change places.
struct AccessOrder<'o, S> {
    nest: &'o Nest,
    /// Bytes of a place.
    grain: u64,
    stores: &'o S,
    places: HashMap<u64, Place>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// A hash of what came before the last write.
    order: u64,
    /// Sum over the reads since.
    reads: u64,
    last_read: u64,
    is_written: bool,
    /// Whether an outer loop writes it: a sum, say, that the inner one has in a register.
    is_result: bool,
}

impl Place {
    /// None if it is a result that is also used within the loops.
    fn finished(self) -> Option<u64> {
        let order = mixed(self.order, self.reads);
        match self.is_result {
            true => (order == mixed(0, 0)).then_some(0),
            false => Some(order),
        }
    }
}

fn mixed(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<S: Fn(&NestAccess) -> bool> Walked for AccessOrder<'_, S> {
    fn access(&mut self, access: &NestAccess, address: u64, iterations: &[u64; DEPTH]) {
        let number = self.nest.accesses.iter().position(|known| known == access);
        // Accesses of outer loops are hoisted in one order and not in the other: of them, only which ones there are counts.
        let told = iterations
            .iter()
            .zip(access.strides)
            .map(|(iteration, stride)| if stride == 0 { 0 } else { *iteration });
        let name = told.fold(number.unwrap_or_default() as u64 + 1, mixed);
        let stores = (self.stores)(access);
        for grain in address / self.grain..=address.saturating_add(access.length.max(1) - 1) / self.grain {
            let place = self.places.entry(grain).or_default();
            if !stores {
                // Another order of loops may read the same several times.
                if std::mem::replace(&mut place.last_read, name) != name {
                    place.reads = place.reads.wrapping_add(name);
                }
                continue;
            }
            (place.last_read, place.is_written) = (0, true);
            if access.level > 0 {
                place.is_result = true;
                continue;
            }
            place.order = mixed(mixed(place.order, place.reads), name);
            place.reads = 0;
        }
    }

    fn run(&mut self, accesses: &[&NestAccess], number: usize, iterations: &mut [u64; DEPTH], count: u64) {
        for _ in 0..count {
            for access in accesses {
                let address = access.address_in(iterations);
                self.access(access, address, iterations);
            }
            iterations[number] += 1;
        }
    }

    fn hoists(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::SiteId;

    use super::super::plan::Change;

    fn access(site: u32, address: u64, strides: [i64; DEPTH]) -> NestAccess {
        NestAccess {
            site: SiteId(site),
            length: 8,
            address,
            strides,
            level: 0,
        }
    }

    /// `for i, for j: a[j][i] = a[j - 1][i + shift]`, of rows of 800 bytes.
    fn shifted(shift: i64) -> Nest {
        let source = (1i64 << 20) - 800 + shift * 8;
        Nest {
            counts: [50, 50, 1],
            accesses: vec![
                access(1, source as u64, [800, 8, 0]),
                access(2, 1 << 20, [800, 8, 0]),
            ],
        }
    }

    fn keeps(nest: &Nest) -> bool {
        let plan = Plan::of(nest, Change::Interchange).unwrap();
        keeps_order(nest, &plan, |access| access.site == SiteId(2))
    }

    #[test]
    fn what_a_loop_needs_of_an_iteration_before_is_seen() {
        assert!(keeps(&shifted(0)), "rows depend on the row above");
        assert!(keeps(&shifted(-1)), "and on what stands left of it");
        assert!(
            !keeps(&shifted(1)),
            "what stands right of it isn't there yet by rows"
        );
    }

    #[test]
    fn sums_in_registers_may_be_added_up_in_memory() {
        // for i, for j: s += a[j][i]; r[i] = s
        let result = NestAccess {
            level: 1,
            ..access(2, 8 << 20, [0, 8, 0])
        };
        let sums = |result| Nest {
            counts: [50, 50, 1],
            accesses: vec![result, access(1, 1 << 20, [800, 8, 0])],
        };
        assert!(keeps(&sums(result)));
        let used = NestAccess {
            address: 1 << 20,
            ..result
        };
        assert!(!keeps(&sums(used)));
    }
}
