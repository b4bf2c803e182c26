//! Whether what a thread's records show was an overflow of its stack.

use std::ops::RangeInclusive;

use trackway_trace::SiteId;

use super::open_calls::{OpenCalls, Spot};

/// The deepest access of an overflow lies in this last part of the stack. The rest of it lies above the first access
/// (environment, arguments, thread-local variables), or below the last one (a frame that no longer fitted).
const MARGIN: u64 = 16;
/// Fewer calls show no direction.
const FEWEST_STEPS: usize = 8;
/// At least this many of eight steps from call to call go down. Most parameters point to the stack, some elsewhere.
const DOWN_OF_EIGHT: usize = 7;
/// Recursion that programs mean to make is mostly less deep.
const FEWEST_CALLS: u64 = 1000;
/// The return address.
const LEAST_BYTES_PER_CALL: u64 = 8;
/// A page: then each one holds a return address, so that an overflow has brought all of the stack into memory.
const MOST_BYTES_PER_CALL: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Reached {
        size_bytes: u64,
        depth_bytes: u64,
        site: SiteId,
    },
    Deep {
        size_bytes: u64,
        calls: u64,
        is_all: bool,
        bytes_per_call: u64,
    },
    UnknownStack {
        calls: u64,
        is_all: bool,
    },
}

impl Verdict {
    pub fn certainty(&self) -> u8 {
        match self {
            Verdict::Reached { .. } => 2,
            Verdict::Deep { .. } => 1,
            Verdict::UnknownStack { .. } => 0,
        }
    }
}

/// Where accesses of a thread's stack may lie, if its first one was there. A stack of another size than the limit reaches past
/// that, which must show.
pub fn window(top: Option<u64>, limit_bytes: u64) -> RangeInclusive<u64> {
    let below = limit_bytes.saturating_mul(4);
    // Empty: nothing is known of the stack.
    top.map_or(RangeInclusive::new(1, 0), |top| top.saturating_sub(below)..=top)
}

/// `top`: the thread's first access by way of a local variable; none if there was none. `is_all`: whether all of the
/// thread's records were read. `limit`: bytes of its stack.
pub fn of(
    top: Option<u64>,
    calls: &OpenCalls,
    is_all: bool,
    limit: u64,
    peak_memory_bytes: u64,
) -> Option<Verdict> {
    let deepest = top.and_then(|top| deepest(top, calls));
    let (depth_bytes, deeper_calls) = match deepest {
        Some((_, depth_bytes, _)) if depth_bytes > limit => return None,
        Some((spot, depth_bytes, _)) if depth_bytes >= limit - limit / MARGIN => {
            let site = spot.site;
            return Some(Verdict::Reached {
                size_bytes: limit,
                depth_bytes,
                site,
            });
        }
        Some((_, depth_bytes, deeper_calls)) => (depth_bytes, deeper_calls),
        None => (0, calls.as_slice().len() as u64),
    };
    let bytes_per_call = limit.saturating_sub(depth_bytes).checked_div(deeper_calls)?;
    let is_plausible = deeper_calls >= FEWEST_CALLS
        && (LEAST_BYTES_PER_CALL..=MOST_BYTES_PER_CALL).contains(&bytes_per_call)
        && peak_memory_bytes >= limit - limit / 8;
    is_plausible.then_some(Verdict::Deep {
        size_bytes: limit,
        calls: calls.as_slice().len() as u64,
        is_all,
        bytes_per_call,
    })
}

/// The verdict on a thread that may have a stack of another size than the limit, where nothing else shows an overflow.
pub fn of_unknown_stack(calls: &OpenCalls, is_all: bool) -> Option<Verdict> {
    let calls = calls.as_slice().len() as u64;
    (calls >= FEWEST_CALLS).then_some(Verdict::UnknownStack { calls, is_all })
}

/// The innermost access to the stack, how far it lies below the first one, and how many calls are open within it. None
/// if the addresses that the calls accessed don't go down as those of a stack do.
fn deepest(top: u64, calls: &OpenCalls) -> Option<(Spot, u64, u64)> {
    let calls = calls.as_slice();
    let spots: Vec<(usize, Spot)> = calls
        .iter()
        .enumerate()
        .filter_map(|(number, call)| Some((number, call.spot?)))
        .collect();
    let steps = spots.len().saturating_sub(1);
    let down = spots
        .windows(2)
        .filter(|pair| pair[1].1.address < pair[0].1.address);
    if steps < FEWEST_STEPS || down.count() * 8 < steps * DOWN_OF_EIGHT {
        return None;
    }
    let &(number, spot) = spots.last()?;
    let depth = top.checked_sub(spot.address)?;
    Some((spot, depth, (calls.len() - 1 - number) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::FunctionId;

    const LIMIT: u64 = 8 << 20;
    const TOP: u64 = 0x7ffd_0000_0000;
    const RECURSIVE: FunctionId = FunctionId(1);
    const SITE: SiteId = SiteId(3);

    /// Makes that many calls with frames of that size, of which the outer ones access them.
    fn recursion(count: u64, frame_bytes: u64, accessing: u64) -> OpenCalls {
        let mut calls = OpenCalls::default();
        for number in 1..=count {
            calls.enter(RECURSIVE);
            let address = TOP - number * frame_bytes;
            let spot = (number <= accessing).then_some(Spot { site: SITE, address });
            calls.access(RECURSIVE, spot);
        }
        calls
    }

    fn verdict(calls: &OpenCalls) -> Option<Verdict> {
        of(Some(TOP), calls, true, LIMIT, LIMIT)
    }

    #[test]
    fn accesses_at_the_end_of_the_stack_are_an_overflow() {
        let count = LIMIT / 48;
        let expected = Verdict::Reached {
            size_bytes: LIMIT,
            depth_bytes: count * 48,
            site: SITE,
        };
        assert_eq!(verdict(&recursion(count, 48, count)), Some(expected));
        assert_eq!(
            verdict(&recursion(16, LIMIT / 16, 16)).map(|it| it.certainty()),
            Some(2)
        );
    }

    #[test]
    fn a_stack_larger_than_the_limit_is_not_the_one_that_is_known() {
        let count = LIMIT / 48 * 2;
        assert_eq!(verdict(&recursion(count, 48, count)), None);
        assert!(window(Some(TOP), LIMIT).contains(&(TOP - count * 48)));
        assert!(window(None, LIMIT).is_empty());
    }

    #[test]
    fn depth_that_was_meant_is_none() {
        for count in [3, 500, 20_000, LIMIT / 48 * 15 / 16 - 10] {
            assert_eq!(verdict(&recursion(count, 48, count)), None, "{count}");
        }
    }

    #[test]
    fn one_access_far_below_is_none() {
        let mut calls = recursion(3, 48, 3);
        calls.enter(FunctionId(2));
        let address = TOP - LIMIT + 64;
        calls.access(FunctionId(2), Some(Spot { site: SITE, address }));
        assert_eq!(verdict(&calls), None);
    }

    #[test]
    fn deep_recursion_without_accesses_is_a_likely_overflow() {
        let calls = recursion(LIMIT / 32, 32, 0);
        let expected = Verdict::Deep {
            size_bytes: LIMIT,
            calls: LIMIT / 32,
            is_all: true,
            bytes_per_call: 32,
        };
        assert_eq!(verdict(&calls), Some(expected));
        assert_eq!(of(None, &calls, true, LIMIT, LIMIT), Some(expected));
        assert_eq!(of(None, &calls, true, LIMIT, LIMIT / 2), None);
    }

    #[test]
    fn deep_calls_on_a_stack_of_unknown_size_may_be_an_overflow() {
        let of_calls = |count| of_unknown_stack(&recursion(count, 32, 0), true);
        assert_eq!(of_calls(999), None);
        let expected = Verdict::UnknownStack {
            calls: 1000,
            is_all: true,
        };
        assert_eq!(of_calls(1000), Some(expected));
    }

    #[test]
    fn implausible_frames_are_none() {
        let plausible = |count| verdict(&recursion(count, 32, 0)).is_some();
        assert!(plausible(LIMIT / 8));
        assert!(!plausible(LIMIT / 8 + 1));
        assert!(plausible(LIMIT / 4096));
        assert!(!plausible(LIMIT / 4096 - 2));
    }

    #[test]
    fn what_the_outer_calls_took_is_no_room_for_the_inner_ones() {
        let half = LIMIT / 2 / 64;
        let calls = recursion(2 * half, 64, half);
        let expected = Verdict::Deep {
            size_bytes: LIMIT,
            calls: 2 * half,
            is_all: true,
            bytes_per_call: 64,
        };
        assert_eq!(verdict(&calls), Some(expected));
        assert_eq!(verdict(&recursion(half + 100, 64, half)), None);
    }

    #[test]
    fn accesses_that_dont_go_down_are_not_the_stack() {
        let mut calls = OpenCalls::default();
        for number in 0..LIMIT / 32 {
            calls.enter(RECURSIVE);
            let address = TOP - LIMIT + 64 + number % 5 * 64;
            calls.access(RECURSIVE, Some(Spot { site: SITE, address }));
        }
        assert_eq!(verdict(&calls).map(|verdict| verdict.certainty()), Some(1));
    }
}
