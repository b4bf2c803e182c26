//! TAGE with a loop predictor and a statistical corrector.

use super::corrector::Corrector;
use super::counter::step;
use super::history::GlobalHistory;
use super::loop_predictor::LoopPredictor;
use super::predictor::Predictor;
use super::tage::{Banks, FiniteBanks, Sureness, Tage, TageConfig, UnlimitedBanks};
use crate::model::control_flow::BranchEvent;

const LOOP_TRUST_BITS: u32 = 7;

/// TAGE-SC-L (Seznec, *TAGE-SC-L branch predictors again*, CBP-5, 2016). A confident loop predictor replaces TAGE's
/// prediction while that pays, and the statistical corrector has the last word. [`Tage`] and [`Corrector`] state the
/// differences from Seznec's predictor.
#[derive(Debug, Clone)]
pub struct TageScL<B> {
    name: String,
    pub(super) tage: Tage<B>,
    loops: LoopPredictor,
    corrector: Corrector,
    /// The loop predictor is followed if this is at least 0.
    loop_trust: i8,
    loop_predicts: Option<bool>,
    /// Prediction before the loop predictor and the corrector.
    main: bool,
    decided: bool,
}

impl Default for TageScL<FiniteBanks> {
    /// 63.1 KiB, in place of the predictor of 64 KiB.
    fn default() -> Self {
        TageScL::new(&TageConfig::default())
    }
}

impl TageScL<FiniteBanks> {
    pub fn new(config: &TageConfig) -> Self {
        TageScL::around("TAGE-SC-L", Tage::new(config))
    }
}

impl TageScL<UnlimitedBanks> {
    /// Around [`Tage::unlimited`]; loop predictor and corrector stay as they are.
    pub fn unlimited(config: &TageConfig) -> Self {
        TageScL::around("TAGE-SC-L unlimited", Tage::unlimited(config))
    }
}

impl<B: Banks> TageScL<B> {
    fn around(name: &str, tage: Tage<B>) -> Self {
        TageScL {
            name: name.to_owned(),
            tage,
            loops: LoopPredictor::default(),
            corrector: Corrector::default(),
            loop_trust: -1,
            loop_predicts: None,
            main: false,
            decided: false,
        }
    }

    /// The final prediction, given a main one, TAGE's or one in its place.
    pub(super) fn decide(&mut self, address: u64, main: bool, sureness: Sureness) -> bool {
        self.main = main;
        self.loop_predicts = self.loops.look_up(address);
        self.decided = match self.loop_predicts.filter(|_| self.loop_trust >= 0) {
            Some(prediction) => self.corrector.decide(address, prediction, Sureness::Saturated),
            None => self.corrector.decide(address, main, sureness),
        };
        self.decided
    }

    /// Teaches loop predictor and corrector.
    pub(super) fn train_others(&mut self, taken: bool) {
        if let Some(prediction) = self.loop_predicts.filter(|&prediction| prediction != self.main) {
            step(&mut self.loop_trust, prediction == taken, LOOP_TRUST_BITS);
        }
        self.loops.update(taken, self.main != taken);
        self.corrector.train(taken);
    }

    pub(super) fn remember(&mut self, event: &BranchEvent, tell: impl FnMut(&GlobalHistory)) {
        if event.kind.is_conditional() {
            self.corrector.remember(event);
        }
        self.tage.remember(event, tell);
    }
}

impl<B: Banks> Predictor for TageScL<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn storage_bits(&self) -> Option<u64> {
        let others = self.loops.storage_bits() + self.corrector.storage_bits() + u64::from(LOOP_TRUST_BITS);
        Some(self.tage.storage_bits()? + others)
    }

    fn predict(&mut self, address: u64) -> bool {
        self.tage.look_up(address);
        self.decide(address, self.tage.prediction(), self.tage.sureness())
    }

    fn update(&mut self, event: &BranchEvent) {
        if event.kind.is_conditional() {
            if self.tage.wants_entries(event.taken) {
                self.tage.allocate(event.taken, self.tage.provider_history());
            }
            self.tage.train(event.taken);
            self.train_others(event.taken);
        }
        self.remember(event, |_| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::branches::made_up::{conditional, mispredictions, random_branches, Stream};

    #[test]
    fn fits_into_64_kib() {
        let bits = TageScL::default().storage_bits().unwrap();
        assert_eq!(bits, 469_958 + 32 * 39 + 45_975 + 7);
        assert!(bits <= 64 * 1024 * 8);
    }

    /// Rounds of a loop of 50 whose body has three random branches: no two histories before the exit are alike.
    fn noisy_loop(rounds: usize) -> Stream {
        let noise = random_branches(rounds * 150, 1, 32);
        let mut events = Vec::new();
        for (count, noise) in noise.events().chunks(3).enumerate() {
            events.extend((0..3).map(|place| conditional(0x1000 + place * 4, noise[place as usize].taken)));
            events.push(conditional(0x2000, count % 50 != 49));
        }
        Stream::new(events)
    }

    #[test]
    fn exit_of_a_noisy_loop_is_known_to_the_loop_predictor_only() {
        let stream = noisy_loop(400);
        let without = stream.missed_at(&mut Tage::default(), 0x2000);
        let with = stream.missed_at(&mut TageScL::default(), 0x2000);
        assert!(without >= 380, "{without}");
        assert!(with <= 120, "{with}");
    }

    #[test]
    fn biased_random_branches_are_missed_as_often_as_their_rare_side_comes() {
        let stream = random_branches(200_000, 40, 6);
        let minority = stream.events().iter().filter(|event| event.taken).count() as u64;
        let missed = mispredictions(&mut TageScL::default(), &stream);
        assert!(
            missed >= minority * 95 / 100 && missed <= minority * 11 / 10,
            "{missed} {minority}"
        );
    }
}
