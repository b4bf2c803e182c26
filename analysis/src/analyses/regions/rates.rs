//! Bandwidth, free of what counting costs.

use std::ops::AddAssign;
use trackway_trace::named_enum;

use trackway_trace::{StepCosts, StepKind};

use super::accesses::Accesses;
use super::scale::Scale;
use super::stratum::Stratum;

/// How often code that counts was executed, by [`StepKind::ALL`].
pub type Steps = [u64; StepKind::ALL.len()];

named_enum! {
    /// What the time of a corrected rate was taken from.
    RateBy {
        /// Entries that were timed without being counted.
        Timed = "timed",
        /// Counted entries, less what counting costs by calibration.
        Calibrated = "calibrated",
    }
}

/// Bytes and time of all entries, as far as their speed without counting is known. Strata of both kinds add up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Strata with entries that were timed without being counted. These entries stand for the others.
    timed: Pace,
    /// Own time of these strata, counting included.
    timed_own_ns: u64,
    /// Strata whose time is known from counted entries only. That time includes the cost of counting.
    counted: Pace,
    /// Cost of counting in these strata.
    counting_ns: u64,
    /// Own time of all strata.
    own_ns: u64,
    is_calibrated: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pace {
    accesses: Accesses,
    time_ns: u64,
}

/// What is known of a stratum's speed.
pub struct Sample<'s> {
    pub stratum: &'s Stratum,
    /// Accesses of all entries.
    pub accesses: Accesses,
    /// Steps of the counted entries.
    pub steps: Steps,
    /// None if they are not known.
    pub costs: Option<&'s StepCosts>,
    /// Its bytes were accessed while another thread's entry lasted, whose time is what counts.
    pub is_beside: bool,
}

impl Rates {
    pub fn add(&mut self, sample: &Sample) {
        let Sample {
            stratum, accesses, ..
        } = *sample;
        let of_entries = |ns: u64| if sample.is_beside { 0 } else { ns };
        let own_ns = of_entries(stratum.times_ns().1);
        self.own_ns = self.own_ns.saturating_add(own_ns);
        if stratum.counted.entries == 0 {
            return;
        }
        if stratum.is_timed {
            let scale = stratum.scale_from_timed();
            let time_ns = of_entries(scale.apply(stratum.timed.own_time_ns));
            self.timed += Pace { accesses, time_ns };
            self.timed_own_ns = self.timed_own_ns.saturating_add(own_ns);
            return;
        }
        let Some(costs) = sample.costs else { return };
        let scale = stratum.scale();
        let time_ns = of_entries(scale.apply(stratum.counted.own_time_ns));
        self.counted += Pace { accesses, time_ns };
        let cost_ns = of_entries(cost_ns(&sample.steps, costs, scale));
        self.counting_ns = self.counting_ns.saturating_add(cost_ns);
        self.is_calibrated = true;
    }

    /// The source of the rates; none if there are none.
    pub fn by(&self) -> Option<RateBy> {
        let is_timed = self.timed.time_ns > 0 && self.timed_own_ns >= self.own_ns / 3;
        match (is_timed, self.counted_pace()) {
            (true, _) => Some(RateBy::Timed),
            (false, Some(counted)) if counted.time_ns > 0 => Some(RateBy::Calibrated),
            (false, _) => None,
        }
    }

    /// MB/s.
    pub fn rate(&self, bytes: fn(&Accesses) -> u64) -> Option<f64> {
        self.by()?;
        let mut pace = self.timed;
        pace += self.counted_pace().unwrap_or_default();
        megabytes_per_second(bytes(&pace.accesses), pace.time_ns)
    }

    /// Pace of the counted entries without the cost of counting. None if it isn't calibrated, or the cost exceeds half
    /// of the time, which can't be believed.
    fn counted_pace(&self) -> Option<Pace> {
        let is_credible = self.is_calibrated && self.counting_ns <= self.counted.time_ns / 2;
        is_credible.then(|| Pace {
            time_ns: self.counted.time_ns - self.counting_ns,
            ..self.counted
        })
    }
}

fn cost_ns(steps: &Steps, costs: &StepCosts, scale: Scale) -> u64 {
    let costs = StepKind::ALL.map(|kind| costs.of(kind));
    let each = steps.iter().zip(costs).map(|(&times, cost)| times as f64 * cost);
    scale.apply(each.sum::<f64>() as u64)
}

impl AddAssign for Pace {
    fn add_assign(&mut self, more: Pace) {
        self.accesses += more.accesses;
        self.time_ns = self.time_ns.saturating_add(more.time_ns);
    }
}

impl AddAssign for Rates {
    fn add_assign(&mut self, more: Rates) {
        self.timed += more.timed;
        self.counted += more.counted;
        self.is_calibrated |= more.is_calibrated;
        for (sum, more) in [
            (&mut self.timed_own_ns, more.timed_own_ns),
            (&mut self.counting_ns, more.counting_ns),
            (&mut self.own_ns, more.own_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// 10^6 bytes per second; none without time.
pub fn megabytes_per_second(bytes: u64, time_ns: u64) -> Option<f64> {
    (time_ns > 0).then(|| bytes as f64 * 1e3 / time_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::super::stratum::Part;
    use super::*;

    const COSTS: StepCosts = StepCosts {
        in_memory_ns: 2.0,
        in_register_ns: 0.5,
    };

    fn part(entries: u64, own_time_ns: u64) -> Part {
        Part {
            entries,
            time_ns: own_time_ns,
            own_time_ns,
        }
    }

    fn stratum(entries: u64, counted: Part, timed: Part) -> Stratum {
        Stratum {
            entries,
            counted,
            timed,
            is_timed: timed.own_time_ns > 0,
            ..Stratum::default()
        }
    }

    /// Rates of strata, each with the bytes read in all entries, and additions of the counted ones.
    fn rates(strata: &[(&Stratum, u64, Steps)], costs: Option<&StepCosts>) -> Rates {
        let mut rates = Rates::default();
        for &(stratum, bytes_read, steps) in strata {
            let accesses = Accesses {
                bytes_read,
                ..Accesses::default()
            };
            rates.add(&Sample {
                stratum,
                accesses,
                steps,
                costs,
                is_beside: stratum.inherited.is_some(),
            });
        }
        rates
    }

    fn found(rates: &Rates) -> (Option<RateBy>, Option<f64>) {
        (rates.by(), rates.rate(|accesses| accesses.bytes_read))
    }

    /// 100 additions of 2 ns and 40 of half a nanosecond are 220 of the 1000 ns.
    #[test]
    fn what_additions_cost_is_taken_off() {
        let all = stratum(10, part(10, 1000), Part::default());
        let expected = (Some(RateBy::Calibrated), Some(1560e3 / 780.0));
        assert_eq!(found(&rates(&[(&all, 1560, [100, 40])], Some(&COSTS))), expected);
        assert_eq!(found(&rates(&[(&all, 1560, [100, 40])], None)), (None, None));
    }

    /// A team's thread reads 500 bytes while the entries last.
    #[test]
    fn inherited_bytes_are_read_in_the_time_of_the_entries() {
        let entered = stratum(10, part(10, 1000), Part::default());
        let inherited = Stratum {
            inherited: Some(10),
            ..stratum(10, part(10, 900), Part::default())
        };
        let strata = [(&entered, 1000, [100, 0]), (&inherited, 500, [70, 0])];
        let expected = (Some(RateBy::Calibrated), Some(1500e3 / 800.0));
        assert_eq!(found(&rates(&strata, Some(&COSTS))), expected);
    }

    #[test]
    fn more_than_half_is_not_taken_off() {
        let all = stratum(10, part(10, 1000), Part::default());
        let by = |in_memory| rates(&[(&all, 1560, [in_memory, 0])], Some(&COSTS)).by();
        assert_eq!([250, 251].map(by), [Some(RateBy::Calibrated), None]);
    }

    /// The costs are those of the counted entries: 20 of 80 ns, which leaves 60 for 2 entries, and 600 for 20.
    #[test]
    fn counted_entries_stand_for_those_that_passed() {
        let some = stratum(20, part(2, 80), Part::default());
        let expected = (Some(RateBy::Calibrated), Some(1200e3 / 600.0));
        assert_eq!(found(&rates(&[(&some, 1200, [10, 0])], Some(&COSTS))), expected);
    }

    /// 40 entries of 30 ns each, by the timed ones, and 4 of 80 ns, less 20 of counting.
    #[test]
    fn strata_with_timed_entries_and_others_add_up() {
        let sampled = stratum(40, part(4, 160), part(2, 60));
        let first = stratum(4, part(4, 320), Part::default());
        let strata = [(&sampled, 2400, [9, 9]), (&first, 480, [40, 0])];
        let expected = (Some(RateBy::Timed), Some(2880e3 / (1200.0 + 240.0)));
        assert_eq!(found(&rates(&strata, Some(&COSTS))), expected);
        // Unless calibrated, those that were only counted say nothing.
        let expected = (Some(RateBy::Timed), Some(2400e3 / 1200.0));
        assert_eq!(found(&rates(&strata, None)), expected);
    }

    /// Strata with timed entries account for 300 of 10,300 ns.
    #[test]
    fn few_timed_entries_are_not_typical() {
        let sampled = stratum(10, part(2, 80), part(2, 60));
        let first = stratum(100, part(100, 10_000), Part::default());
        let strata = [(&sampled, 600, [0, 0]), (&first, 9700, [100, 0])];
        let expected = (Some(RateBy::Calibrated), Some(10_300e3 / (9800.0 + 300.0)));
        assert_eq!(found(&rates(&strata, Some(&COSTS))), expected);
        assert_eq!(found(&rates(&strata, None)), (None, None));
    }

    #[test]
    fn what_was_not_counted_has_no_rate() {
        let never = stratum(5, Part::default(), part(5, 100));
        assert_eq!(found(&rates(&[(&never, 0, [0, 0])], Some(&COSTS))), (None, None));
        assert_eq!(found(&Rates::default()), (None, None));
    }
}
