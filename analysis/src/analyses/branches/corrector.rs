//! A second opinion on TAGE's predictions.

use super::counter::{mix, step};
use super::tage::Sureness;
use crate::model::control_flow::BranchEvent;

const COUNTER_BITS: u32 = 6;
const LOCAL_BITS: u32 = 11;
const GLOBAL_BITS: u32 = 40;
const ITERATION_BITS: u32 = 10;
const CHOOSER_BITS: u32 = 7;
const THRESHOLD_BITS: u32 = 10;
/// Bits of the counter that says whether the threshold should move.
const DRIFT_BITS: u32 = 7;

/// What, with the address, chooses a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    /// The prediction that is to be corrected.
    Prediction,
    /// The prediction, and how sure it is.
    Sureness,
    /// This many last directions of all conditional branches.
    Global(u32),
    /// This many last directions of this branch, or others with the same entry.
    Local(u32),
    /// How often in a row the last backward branch was taken (Seznec, San Miguel and Albericio, *The inner most loop
    /// iteration counter*, MICRO 2015).
    Iteration,
}

/// The features and the base-2 logarithms of their tables' sizes.
const FEATURES: [(Feature, u32); 9] = [
    (Feature::Prediction, 10),
    (Feature::Sureness, 10),
    (Feature::Global(10), 10),
    (Feature::Global(24), 10),
    (Feature::Global(GLOBAL_BITS), 10),
    (Feature::Local(3), 9),
    (Feature::Local(6), 9),
    (Feature::Local(LOCAL_BITS), 9),
    (Feature::Iteration, 9),
];

/// The statistical corrector: the sign of a sum of counters, each chosen by the address and a feature (Seznec, *A new
/// case for the TAGE branch predictor*, MICRO 2011; CBP-5, 2016; sums as in GEHL, Seznec, ISCA 2005, with its
/// threshold that adapts). It finds branches that are biased but don't follow the global history, and what only their
/// own history tells.
///
/// Where it disagrees, a chooser for each sureness of TAGE and quarter of the threshold says which of both was right
/// more often. Differences from CBP-5: 9 tables of one local history, where CBP-5 has 20 of three; its choosers are
/// two.
#[derive(Debug, Clone)]
pub struct Corrector {
    tables: [Vec<i8>; FEATURES.len()],
    places: [usize; FEATURES.len()],
    local: Vec<u16>,
    global: u64,
    iteration: u16,
    threshold: i32,
    drift: i8,
    choosers: [[i8; 4]; 3],
    sum: i32,
    given: (bool, Sureness),
}

impl Default for Corrector {
    fn default() -> Self {
        Corrector {
            tables: FEATURES.map(|(feature, log2_entries)| first_counters(feature, 1 << log2_entries)),
            places: [0; FEATURES.len()],
            local: vec![0; 256],
            global: 0,
            iteration: 0,
            threshold: 35,
            drift: 0,
            // It must earn its trust, but for sums beyond the threshold.
            choosers: [[-8, -8, -8, 0]; 3],
            sum: 0,
            given: (false, Sureness::Weak),
        }
    }
}

/// Counters that are chosen by a prediction agree with it at first.
fn first_counters(feature: Feature, count: usize) -> Vec<i8> {
    let agree = |place: usize| if place & 1 == 1 { 8 } else { -9 };
    match feature {
        Feature::Prediction | Feature::Sureness => (0..count).map(agree).collect(),
        _ => (0..count)
            .map(|place| if place & 1 == 1 { 0 } else { -1 })
            .collect(),
    }
}

impl Corrector {
    /// The final prediction.
    pub fn decide(&mut self, address: u64, prediction: bool, sureness: Sureness) -> bool {
        self.given = (prediction, sureness);
        self.sum = 0;
        for (number, (feature, log2_entries)) in FEATURES.into_iter().enumerate() {
            let (value, lowest) = self.feature_value(feature, address);
            let hash = mix(mix(value << 4 | number as u64) ^ address);
            let place = (hash as usize & ((1 << log2_entries) - 1)) & !1;
            // The lowest bit is the prediction where that matters, and hashed elsewhere.
            let place = place | lowest.map_or((hash >> 40) as usize & 1, usize::from);
            self.places[number] = place;
            self.sum += 2 * i32::from(self.tables[number][place]) + 1;
        }
        let own = self.sum >= 0;
        if own != prediction && *self.chooser() >= 0 {
            own
        } else {
            prediction
        }
    }

    fn feature_value(&self, feature: Feature, address: u64) -> (u64, Option<bool>) {
        let (prediction, sureness) = self.given;
        match feature {
            Feature::Prediction => (0, Some(prediction)),
            Feature::Sureness => (sureness as u64, Some(prediction)),
            Feature::Global(bits) => (self.global & ((1 << bits) - 1), None),
            Feature::Local(bits) => (
                u64::from(self.local[local_place(address)]) & ((1 << bits) - 1),
                None,
            ),
            Feature::Iteration => (u64::from(self.iteration), None),
        }
    }

    fn chooser(&mut self) -> &mut i8 {
        let quarter = (self.sum.abs() * 4 / self.threshold.max(1)).min(3);
        &mut self.choosers[self.given.1 as usize][quarter as usize]
    }

    /// Learns what the branch did that was decided on.
    pub fn train(&mut self, taken: bool) {
        let own = self.sum >= 0;
        if own != self.given.0 {
            step(self.chooser(), own == taken, CHOOSER_BITS);
        }
        let is_close = self.sum.abs() < self.threshold;
        if own != taken || is_close {
            self.move_threshold(own != taken);
            for (table, &place) in self.tables.iter_mut().zip(&self.places) {
                step(&mut table[place], taken, COUNTER_BITS);
            }
        }
    }

    fn move_threshold(&mut self, wrong: bool) {
        step(&mut self.drift, wrong, DRIFT_BITS);
        let most = (1 << (DRIFT_BITS - 1)) - 1;
        if self.drift == most || self.drift == -most - 1 {
            let most_threshold = (1 << THRESHOLD_BITS) - 1;
            self.threshold = (self.threshold + if wrong { 1 } else { -1 }).clamp(4, most_threshold);
            self.drift = 0;
        }
    }

    /// Adds a conditional branch to the histories.
    pub fn remember(&mut self, event: &BranchEvent) {
        let taken = u64::from(event.taken);
        self.global = (self.global << 1 | taken) & ((1 << GLOBAL_BITS) - 1);
        let local = &mut self.local[local_place(event.address)];
        *local = (*local << 1 | taken as u16) & ((1 << LOCAL_BITS) - 1);
        if event.target != 0 && event.target < event.address {
            let next = (self.iteration + 1).min((1 << ITERATION_BITS) - 1);
            self.iteration = if event.taken { next } else { 0 };
        }
    }

    pub fn storage_bits(&self) -> u64 {
        let counters: u64 = self
            .tables
            .iter()
            .map(|table| table.len() as u64 * u64::from(COUNTER_BITS))
            .sum();
        let local = self.local.len() as u64 * u64::from(LOCAL_BITS);
        let others = GLOBAL_BITS + ITERATION_BITS + THRESHOLD_BITS + DRIFT_BITS + 12 * CHOOSER_BITS;
        counters + local + u64::from(others)
    }
}

fn local_place(address: u64) -> usize {
    (address ^ address >> 8) as usize & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::branches::made_up::{conditional, random_branches};

    #[test]
    fn wrong_predictions_of_a_biased_branch_are_reversed() {
        let mut corrector = Corrector::default();
        let mut missed = 0;
        for event in random_branches(10_000, 1, 58).events() {
            // What is to be corrected always says the rarer side, and is not sure of it.
            missed += u64::from(corrector.decide(event.address, false, Sureness::Weak) != event.taken);
            corrector.train(event.taken);
            corrector.remember(event);
        }
        assert!(missed < 1500, "{missed} of about 940");
    }

    #[test]
    fn what_was_right_stays() {
        let mut corrector = Corrector::default();
        for event in random_branches(10_000, 50, 32).events() {
            assert_eq!(
                corrector.decide(event.address, event.taken, Sureness::Saturated),
                event.taken
            );
            corrector.train(event.taken);
            corrector.remember(event);
        }
    }

    #[test]
    fn own_history_of_a_branch_tells_what_others_hide() {
        let mut corrector = Corrector::default();
        let noise = random_branches(40_000, 8, 32);
        let mut missed = 0;
        for (count, event) in noise.events().iter().enumerate() {
            corrector.remember(event);
            if count % 4 == 0 {
                // Taken twice of five times, in a fixed order, among random branches.
                let own = conditional(0x77_7000, [true, false, false, true, false][count / 4 % 5]);
                missed += u64::from(corrector.decide(own.address, false, Sureness::Weak) != own.taken);
                corrector.train(own.taken);
                corrector.remember(&own);
            }
        }
        assert!(missed < 600, "{missed} of 10000, 4000 without it");
    }

    #[test]
    fn storage() {
        let counters = (5 * 1024 + 4 * 512) * 6;
        assert_eq!(
            Corrector::default().storage_bits(),
            counters + 256 * 11 + 40 + 10 + 10 + 7 + 84
        );
    }
}
