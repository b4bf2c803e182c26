//! What orders accesses of different threads, and the clock of its stamps.

use crate::named_enum;
use serde::{Deserialize, Serialize};

use crate::table_enum::table_enum;

/// A synchronisation between threads, or one side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Synchronisation {
    pub side: Side,
    pub by: Synchroniser,
}

named_enum! {
    /// Where the stamp was taken.
    Side {
        /// It was taken before the operation by which others may learn what the thread did.
        Release = "release",
        /// It was taken after the operation by which the thread may learn what others did.
        Acquire = "acquire",
    }
}

table_enum! {
    /// What threads synchronise by.
    Synchroniser {
        Atomic = 0 "atomic",
        Fence = 1 "fence",
        Lock = 2 "lock",
        Condition = 3 "condition",
        Semaphore = 4 "semaphore",
        Barrier = 5 "barrier",
        Once = 6 "once",
        Thread = 7 "thread",
        ParallelRegion = 8 "parallel region",
    }
}

impl Synchronisation {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        let by = Synchroniser::from_byte(byte >> 1)?;
        let side = if byte & 1 == 0 {
            Side::Release
        } else {
            Side::Acquire
        };
        Some(Synchronisation { side, by })
    }

    pub(crate) fn to_byte(self) -> u8 {
        (self.by as u8) << 1 | u8::from(self.side == Side::Acquire)
    }
}

/// The clock of all stamps of a trace: `ticks` ticks are `nanoseconds` nanoseconds. The default one ticks in
/// nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// `tsc`, the time stamp counter of x86-64, or `monotonic`.
    pub source: String,
    /// A moment in ticks, and the same one in nanoseconds of CLOCK_MONOTONIC.
    pub base_ticks: u64,
    pub base_ns: u64,
    pub nanoseconds: u64,
    /// At least 1.
    pub ticks: u64,
    /// Whether it is known to be the same, and to run evenly, on all processors.
    pub exact: bool,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            source: "monotonic".into(),
            base_ticks: 0,
            base_ns: 0,
            nanoseconds: 1,
            ticks: 1,
            exact: true,
        }
    }
}

impl Clock {
    /// A stamp in nanoseconds of CLOCK_MONOTONIC as it ran when the recording began, rounded down; at least 0 and at
    /// most 2^64 − 1.
    pub fn ns(&self, ticks: u64) -> u64 {
        let since_base = i128::from(ticks) - i128::from(self.base_ticks);
        let elapsed = since_base
            .saturating_mul(i128::from(self.nanoseconds))
            .div_euclid(i128::from(self.ticks.max(1)));
        elapsed
            .saturating_add(i128::from(self.base_ns))
            .clamp(0, i128::from(u64::MAX)) as u64
    }

    /// Duration of so many ticks in nanoseconds, rounded down, at most 2^64 − 1.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        let scaled = u128::from(ticks) * u128::from(self.nanoseconds) / u128::from(self.ticks.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_synchronisations_correspond() {
        for byte in 0..=u8::MAX {
            match Synchronisation::from_byte(byte) {
                Some(synchronisation) => assert_eq!(synchronisation.to_byte(), byte),
                None => assert!(byte >= 18, "{byte}"),
            }
        }
    }

    #[test]
    fn a_stamp_is_turned_into_nanoseconds() {
        let clock = Clock {
            base_ticks: 1000,
            base_ns: 500,
            nanoseconds: 10,
            ticks: 25,
            ..Clock::default()
        };
        assert_eq!(clock.ns(1000), 500);
        assert_eq!(clock.ns(1024), 509);
        assert_eq!(clock.ns(1025), 510);
        assert_eq!(clock.ns(999), 499);
        assert_eq!(clock.ns(0), 100);
        assert_eq!((clock.duration_ns(25), clock.duration_ns(24)), (10, 9));
    }

    #[test]
    fn no_stamp_overflows() {
        let clock = Clock {
            base_ticks: u64::MAX,
            base_ns: 5,
            nanoseconds: u64::MAX,
            ticks: 0,
            ..Clock::default()
        };
        assert_eq!(clock.ns(0), 0);
        assert_eq!(clock.ns(u64::MAX), 5);
        assert_eq!(clock.duration_ns(u64::MAX), u64::MAX);
        assert_eq!(
            Clock {
                base_ticks: 0,
                ..clock
            }
            .ns(u64::MAX),
            u64::MAX
        );
        assert_eq!(Clock::default().ns(u64::MAX), u64::MAX);
    }
}
