//! The accesses of runs, lane by lane.

use std::ops::Range;

use trackway_trace::{Lane, SiteId};

/// What is left of a lane's accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneRest {
    pub site: SiteId,
    /// Bytes of each access.
    pub size: u64,
    /// Address of the next access.
    pub address: u64,
    stride: u64,
    pub count: u64,
}

/// What each lane has of a part of its run: of the accesses with these numbers, from 0, one iteration after the other.
pub fn parts_of_lanes(lanes: &[Lane], part: Range<u64>) -> impl Iterator<Item = LaneRest> + '_ {
    let width = lanes.len() as u64;
    lanes.iter().zip(0..).map(move |(lane, number)| {
        let first = iterations_before(part.start, number, width);
        LaneRest {
            site: lane.site,
            size: lane.size.into(),
            address: lane.address_in(first),
            stride: lane.stride,
            count: iterations_before(part.end, number, width).saturating_sub(first),
        }
    })
}

/// The number of iterations in which the lane with that number comes before an access of the run.
fn iterations_before(access: u64, lane: u64, lanes: u64) -> u64 {
    access.saturating_sub(lane).div_ceil(lanes)
}

impl LaneRest {
    /// How many accesses in a row begin within these addresses. `to` is past the last one; 0 is the end of the address
    /// space. At least 1, as the next access must begin there.
    #[inline]
    pub fn begin_within(&self, from: u64, to: u64) -> u64 {
        let stride = self.stride as i64;
        let room = match stride {
            0 => return self.count,
            1.. => to.wrapping_sub(1).wrapping_sub(self.address),
            _ => self.address.wrapping_sub(from),
        };
        self.count.min((room / stride.unsigned_abs()).saturating_add(1))
    }

    /// How many accesses in a row lie within these addresses wholly. The next one must begin there.
    #[inline]
    pub fn lie_within(&self, from: u64, to: u64) -> u64 {
        let last = to.wrapping_sub(1);
        match last.checked_sub(self.size.saturating_sub(1)) {
            Some(last_start) if self.address <= last_start => {
                self.begin_within(from, last_start.wrapping_add(1))
            }
            _ => 0,
        }
    }

    /// Leaves out the next accesses.
    #[inline]
    pub fn pass(&mut self, accesses: u64) {
        self.address = self.address.wrapping_add(self.stride.wrapping_mul(accesses));
        self.count -= accesses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lane() -> impl Strategy<Value = Lane> {
        let address = prop_oneof![2 => 0u64..300, 1 => u64::MAX - 100..=u64::MAX];
        (0u32..3, address, -30i64..30, 0u32..40).prop_map(|(site, address, stride, size)| Lane {
            site: SiteId(site),
            size,
            address,
            stride: stride as u64,
        })
    }

    proptest! {
        #[test]
        fn parts_are_those_of_the_accesses_in_turn(
            lanes in proptest::collection::vec(lane(), 1..5), begin in 0u64..30, length in 0u64..30,
        ) {
            let in_turn = |number: u64| {
                let lane = &lanes[(number % lanes.len() as u64) as usize];
                (lane.site.0, lane.address_in(number / lanes.len() as u64))
            };
            let mut expected: Vec<_> = (begin..begin + length).map(in_turn).collect();
            let mut found = Vec::new();
            for mut rest in parts_of_lanes(&lanes, begin..begin + length) {
                while rest.count > 0 {
                    found.push((rest.site.0, rest.address));
                    rest.pass(1);
                }
            }
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn accesses_are_within_as_long_as_each_is(
            lane in lane(), count in 1u64..40, before in 0u64..100, behind in 1u64..100,
        ) {
            let rest = parts_of_lanes(&[lane], 0..count).next().unwrap();
            let from = rest.address.saturating_sub(before);
            let to = rest.address.checked_add(behind).unwrap_or(0);
            let last = u128::from(to.wrapping_sub(1));
            let address = |number: u64| u128::from(lane.address_in(number));
            let begins = |number: &u64| (u128::from(from)..=last).contains(&address(*number));
            let lies = |number: &u64| {
                begins(number) && address(*number) + u128::from(lane.size.max(1)) - 1 <= last
            };
            let begin = (0..count).take_while(begins).count() as u64;
            prop_assert_eq!(rest.begin_within(from, to), begin);
            prop_assert_eq!(rest.lie_within(from, to), (0..count).take_while(lies).count() as u64);
        }
    }
}
