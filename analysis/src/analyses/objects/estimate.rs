//! What samples say of the whole, and how exactly.

use crate::analyses::samples::interval::{of_weights, of_windows, AllWindows, SampledShare, WindowSums};

/// Samples and what they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    pub samples: u64,
    pub sum: u64,
    squares: f64,
}

impl Weight {
    pub fn add(&mut self, weight: u64) {
        self.samples += 1;
        self.sum = self.sum.saturating_add(weight);
        self.squares += (weight as f64).powi(2);
    }

    /// The part's share of the whole; none if nothing was sampled.
    pub fn share_of(&self, whole: &Weight) -> Option<SampledShare> {
        of_weights(self.sum, whole.sum, whole.squares)
    }
}

/// Accesses in windows: how many accesses of each window belong to a part, and how many there are, both multiplied by
/// how much the window counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clusters {
    pub windows: u64,
    /// Accesses as they were seen.
    pub seen: u64,
    part: f64,
    part_squares: f64,
    products: f64,
}

/// The same of all accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AllClusters {
    pub windows: u64,
    /// Accesses as they were seen.
    pub seen: u64,
    accesses: f64,
    squares: f64,
}

impl Clusters {
    /// A window with `part` accesses of the part and `all` in all, which counts `weight`.
    pub fn add(&mut self, part: u64, all: u64, weight: f64) {
        self.windows += 1;
        self.seen += part;
        let (part, all) = (weight * part as f64, weight * all as f64);
        self.part += part;
        self.part_squares += part * part;
        self.products += part * all;
    }

    /// The part's share of all accesses; none without accesses.
    pub fn share_of(&self, all: &AllClusters) -> Option<SampledShare> {
        let sums = WindowSums {
            part: self.part,
            part_squares: self.part_squares,
            products: self.products,
        };
        let all = AllWindows {
            windows: all.windows as f64,
            accesses: all.accesses,
            squares: all.squares,
        };
        of_windows(&sums, &all)
    }
}

impl AllClusters {
    pub fn add(&mut self, accesses: u64, weight: f64) {
        self.windows += 1;
        self.seen += accesses;
        let accesses = weight * accesses as f64;
        self.accesses += accesses;
        self.squares += accesses * accesses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(of: &[u64]) -> Weight {
        let mut weight = Weight::default();
        of.iter().for_each(|one| weight.add(*one));
        weight
    }

    #[test]
    fn unequal_weights_say_less() {
        let equal = weight(&[10; 50]).share_of(&weight(&[10; 100])).unwrap();
        let mut weights = vec![1; 99];
        weights.push(901);
        let unequal = weight(&[1; 50]).share_of(&weight(&weights)).unwrap();
        assert!(
            unequal.high - unequal.low > 3.0 * (equal.high - equal.low),
            "{unequal:?}"
        );
    }

    #[test]
    fn windows_count_as_wholes_not_as_accesses() {
        // Half of the windows lie wholly in the part: as a coin thrown 100 times, whatever windows hold.
        let (mut part, mut all) = (Clusters::default(), AllClusters::default());
        for window in 0..100 {
            all.add(50, 1.0);
            if window % 2 == 0 {
                part.add(50, 50, 1.0);
            }
        }
        let interval = part.share_of(&all).unwrap();
        assert_eq!(interval.share, 0.5);
        assert!((interval.high - 0.5 - 0.0985).abs() < 1e-3, "{interval:?}");
        assert_eq!(Clusters::default().share_of(&AllClusters::default()), None);
    }
}
