//! Weights for each outcome of the past.

use super::counter::spread;
use super::predictor::Predictor;
use crate::model::control_flow::BranchEvent;

/// A table of perceptrons, chosen by address: the sign of a bias and of weights times the directions of the last
/// conditional branches (Jiménez and Lin, *Dynamic branch prediction with perceptrons*, HPCA 2001). Weights have 8
/// bits; the threshold of training is theirs, ⌊1.93 h + 14⌋.
#[derive(Debug, Clone)]
pub struct Perceptron {
    /// A row of a bias and one weight for each outcome, newest first, per perceptron.
    weights: Vec<i8>,
    /// 1 for taken, -1 for not taken, newest first.
    outcomes: Vec<i8>,
    rows: usize,
    threshold: i32,
    /// Sum of the last prediction.
    sum: i32,
}

impl Perceptron {
    /// Makes `rows` perceptrons (at least 1), each with `history_length` outcomes.
    pub fn new(rows: usize, history_length: usize) -> Self {
        let rows = rows.max(1);
        Perceptron {
            weights: vec![0; rows * (history_length + 1)],
            outcomes: vec![-1; history_length],
            rows,
            threshold: (1.93 * history_length as f64 + 14.0).floor() as i32,
            sum: 0,
        }
    }

    fn row(&self, address: u64) -> std::ops::Range<usize> {
        let width = self.outcomes.len() + 1;
        let start = (spread(address) % self.rows as u64) as usize * width;
        start..start + width
    }

    fn train(&mut self, address: u64, taken: bool) {
        let row = self.row(address);
        let weights = &mut self.weights[row];
        move_towards(&mut weights[0], taken);
        for (weight, outcome) in weights[1..].iter_mut().zip(&self.outcomes) {
            move_towards(weight, (*outcome > 0) == taken);
        }
    }
}

fn move_towards(weight: &mut i8, agrees: bool) {
    *weight = weight.saturating_add(if agrees { 1 } else { -1 });
}

impl Default for Perceptron {
    /// 1024 perceptrons of 31 outcomes: 32 KiB.
    fn default() -> Self {
        Perceptron::new(1024, 31)
    }
}

impl Predictor for Perceptron {
    fn name(&self) -> &str {
        "perceptron"
    }

    fn storage_bits(&self) -> Option<u64> {
        Some(8 * self.weights.len() as u64 + self.outcomes.len() as u64)
    }

    fn predict(&mut self, address: u64) -> bool {
        let weights = &self.weights[self.row(address)];
        let products = weights[1..].iter().zip(&self.outcomes);
        let sum: i32 = products
            .map(|(weight, outcome)| i32::from(*weight) * i32::from(*outcome))
            .sum();
        self.sum = sum + i32::from(weights[0]);
        self.sum >= 0
    }

    fn update(&mut self, event: &BranchEvent) {
        if !event.kind.is_conditional() {
            return;
        }
        if (self.sum >= 0) != event.taken || self.sum.abs() <= self.threshold {
            self.train(event.address, event.taken);
        }
        if !self.outcomes.is_empty() {
            self.outcomes.rotate_right(1);
            self.outcomes[0] = if event.taken { 1 } else { -1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::branches::made_up::{
        mispredictions, random_branches, same_as_before, xor_of_two, Stream,
    };

    #[test]
    fn alternating_branch_is_learned() {
        let stream = Stream::repeated(0x400, &[true, false], 500);
        assert!(mispredictions(&mut Perceptron::default(), &stream) <= 5);
    }

    #[test]
    fn branch_that_repeats_an_earlier_one_is_learned() {
        let stream = same_as_before(20_000, 20);
        let missed = stream.missed_at(&mut Perceptron::default(), 0x300);
        assert!(missed < 400, "{missed}");
    }

    #[test]
    fn exclusive_or_of_two_outcomes_cannot_be_learned() {
        // It is not linearly separable: no weights do better than chance, but for what they remember by luck.
        let stream = xor_of_two(20_000);
        let missed = stream.missed_at(&mut Perceptron::default(), 0x300);
        assert!(missed > 8_000, "{missed}");
    }

    #[test]
    fn agrees_with_the_sum_written_out() {
        let stream = random_branches(5_000, 10, 0x40);
        let mut rows = vec![[0i32; 9]; 16];
        let mut past = vec![false; 8];
        let mut missed = 0;
        for event in stream.events() {
            let row = &mut rows[(spread(event.address) % 16) as usize];
            let sign = |taken: bool| if taken { 1 } else { -1 };
            let newest_first: Vec<bool> = past.iter().rev().take(8).copied().collect();
            let sum = row[0]
                + (0..8)
                    .map(|place| row[place + 1] * sign(newest_first[place]))
                    .sum::<i32>();
            missed += u64::from((sum >= 0) != event.taken);
            if (sum >= 0) != event.taken || sum.abs() <= 29 {
                row[0] += sign(event.taken);
                (0..8).for_each(|place| row[place + 1] += sign(event.taken) * sign(newest_first[place]));
                row.iter_mut()
                    .for_each(|weight| *weight = (*weight).clamp(-128, 127));
            }
            past.push(event.taken);
        }
        assert_eq!(mispredictions(&mut Perceptron::new(16, 8), &stream), missed);
    }

    #[test]
    fn storage() {
        assert_eq!(Perceptron::default().storage_bits(), Some(32 * 1024 * 8 + 31));
    }
}
