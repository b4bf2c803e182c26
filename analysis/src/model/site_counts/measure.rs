//! What rows are ranked by.

use std::fmt;
use std::str::FromStr;

use super::SiteCounters;
use crate::model::cache::{Caches, MAX_LEVELS};

/// A number that every group of accesses has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Accesses,
    Bytes,
    /// Lines missed in the level of that index, 0 for L1.
    Misses(usize),
    /// Estimated.
    Cycles,
}

impl Measure {
    /// Misses of the level before the last: the accesses that leave a core's private caches. Without caches, accesses.
    pub fn default_for(caches: &Caches) -> Measure {
        match caches.levels().len() {
            0 => Measure::Accesses,
            levels => Measure::Misses((levels - 1).min(1)),
        }
    }

    /// Whether these caches have the measure.
    pub fn exists_in(self, caches: &Caches) -> bool {
        !matches!(self, Measure::Misses(level) if level >= caches.levels().len())
    }

    /// The measure's column in tables.
    pub fn column(self) -> String {
        match self {
            Measure::Accesses => "accesses".into(),
            Measure::Bytes => "bytes".into(),
            Measure::Misses(level) => format!("l{}_misses", level + 1),
            Measure::Cycles => "cycles".into(),
        }
    }

    /// What ranks groups and sites: the measure; where it is equal, misses of the first level, then accesses.
    pub(crate) fn rank_of(self, counters: &SiteCounters) -> (u64, u64, u64) {
        (self.of(counters), counters.outcome.misses[0], counters.accesses)
    }

    pub fn of(self, counters: &SiteCounters) -> u64 {
        match self {
            Measure::Accesses => counters.accesses,
            Measure::Bytes => counters.bytes,
            Measure::Misses(level) => counters.outcome.misses[level],
            Measure::Cycles => counters.cycles,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Measure::Accesses => formatter.write_str("accesses"),
            Measure::Bytes => formatter.write_str("bytes"),
            Measure::Misses(level) => write!(formatter, "L{} misses", level + 1),
            Measure::Cycles => formatter.write_str("estimated cycles"),
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    /// `accesses`, `bytes`, `cycles`, or a level: `L1`, `L2`, ...
    fn from_str(text: &str) -> Result<Measure, String> {
        let level = |text: &str| {
            text.strip_prefix('L')
                .and_then(|digits| digits.parse::<usize>().ok())
        };
        match text {
            "accesses" => Ok(Measure::Accesses),
            "bytes" => Ok(Measure::Bytes),
            "cycles" => Ok(Measure::Cycles),
            _ => match level(text) {
                Some(number) if (1..=MAX_LEVELS).contains(&number) => Ok(Measure::Misses(number - 1)),
                _ => Err("expected accesses, bytes, cycles, L1, L2, L3 or L4".into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_named_as_in_the_options() {
        assert_eq!("L2".parse(), Ok(Measure::Misses(1)));
        assert_eq!("bytes".parse(), Ok(Measure::Bytes));
        for wrong in ["L0", "L5", "l2", "misses", ""] {
            assert!(wrong.parse::<Measure>().is_err(), "{wrong}");
        }
        assert_eq!(Measure::Misses(1).to_string(), "L2 misses");
        assert_eq!(Measure::Misses(1).column(), "l2_misses");
    }

    #[test]
    fn the_default_is_the_second_level_where_there_is_one() {
        assert_eq!(Measure::default_for(&Caches::default()), Measure::Misses(1));
        let one_level: Caches = "L1=32K,8,64".parse().unwrap();
        assert_eq!(Measure::default_for(&one_level), Measure::Misses(0));
        assert!(!Measure::Misses(1).exists_in(&one_level));
        assert_eq!(Measure::default_for(&Caches::none()), Measure::Accesses);
    }
}
