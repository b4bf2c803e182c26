//! Hardware events in regions.

use std::ops::AddAssign;

use trackway_trace::HARDWARE_EVENTS;

use super::measured::{add_each, Measured};
use super::scale::Scale;
use super::stratum::Stratum;

/// Estimates for all entries, as far as some of their stratum were measured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    pub measured_entries: u64,
    /// Entries of strata of which none was measured.
    pub unknown_entries: u64,
    pub estimates: [u64; HARDWARE_EVENTS],
}

impl Hardware {
    pub fn of(stratum: &Stratum) -> Hardware {
        let Measured {
            measured_entries,
            entries,
            sums,
        } = stratum.measured;
        if measured_entries == 0 || entries == 0 {
            return Hardware {
                unknown_entries: stratum.runs(),
                ..Hardware::default()
            };
        }
        let scale = Scale::new(stratum.runs().max(entries), entries);
        Hardware {
            measured_entries,
            unknown_entries: 0,
            estimates: sums.map(|sum| scale.apply(sum)),
        }
    }

    pub fn estimate(&self, event: usize) -> Option<u64> {
        (self.measured_entries > 0).then(|| self.estimates[event])
    }
}

impl AddAssign for Hardware {
    fn add_assign(&mut self, more: Hardware) {
        self.measured_entries = self.measured_entries.saturating_add(more.measured_entries);
        self.unknown_entries = self.unknown_entries.saturating_add(more.unknown_entries);
        add_each(&mut self.estimates, more.estimates);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(entries: u64, stood_for: u64, sum: u64) -> Stratum {
        Stratum {
            entries,
            measured: Measured {
                measured_entries: stood_for.min(5),
                entries: stood_for,
                sums: [sum, 0, 0, u64::MAX],
            },
            ..Stratum::default()
        }
    }

    #[test]
    fn sums_are_scaled_to_all_entries_of_their_stratum() {
        let mut hardware = Hardware::of(&stratum(100, 16, 64));
        assert_eq!(hardware.estimates, [400, 0, 0, u64::MAX]);
        hardware += Hardware::of(&stratum(3, 3, 7));
        assert_eq!((hardware.measured_entries, hardware.unknown_entries), (8, 0));
        assert_eq!(hardware.estimate(0), Some(407));
        // They stand for more than were entered, as a thread that was killed may say.
        assert_eq!(Hardware::of(&stratum(1, 2, 8)).estimates[0], 8);
    }

    #[test]
    fn where_none_was_measured_nothing_is_known() {
        let hardware = Hardware::of(&stratum(100, 0, 64));
        assert_eq!((hardware.measured_entries, hardware.unknown_entries), (0, 100));
        assert_eq!(hardware.estimate(0), None);
    }
}
