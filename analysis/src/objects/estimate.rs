//! What samples say of the whole, and how exactly.

/// Normal distribution: 95 % lie within so many standard deviations.
const DEVIATIONS: f64 = 1.959_964;

/// Samples and what they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    pub samples: u64,
    pub sum: u64,
    squares: f64,
}

/// A share and the borders of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

impl Weight {
    pub fn add(&mut self, weight: u64) {
        self.samples += 1;
        self.sum = self.sum.saturating_add(weight);
        self.squares += (weight as f64).powi(2);
    }

    /// As many samples of equal weight would say as much as these: Kish's effective size.
    fn effective_samples(&self) -> f64 {
        match self.squares > 0.0 {
            true => (self.sum as f64).powi(2) / self.squares,
            false => 0.0,
        }
    }

    /// The part's share of the whole, by Wilson's score interval for the whole's effective number of samples; none if
    /// nothing was sampled.
    pub fn share_of(&self, whole: &Weight) -> Option<Interval> {
        let samples = whole.effective_samples();
        if samples == 0.0 {
            return None;
        }
        let share = self.sum as f64 / whole.sum as f64;
        let square = DEVIATIONS * DEVIATIONS;
        let centre = (share + square / (2.0 * samples)) / (1.0 + square / samples);
        let inside = share * (1.0 - share) / samples + square / (4.0 * samples * samples);
        let half = DEVIATIONS / (1.0 + square / samples) * inside.max(0.0).sqrt();
        Some(Interval {
            share,
            low: (centre - half).max(0.0),
            high: (centre + half).min(1.0),
        })
    }
}

/// Accesses in windows: of each window, how many there are of a part, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clusters {
    pub windows: u64,
    pub part: u64,
    part_squares: f64,
    products: f64,
}

/// The same of all accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AllClusters {
    pub windows: u64,
    pub accesses: u64,
    squares: f64,
}

impl Clusters {
    /// A window with `part` accesses of the part and `all` in all.
    pub fn add(&mut self, part: u64, all: u64) {
        self.windows += 1;
        self.part += part;
        self.part_squares += (part as f64).powi(2);
        self.products += part as f64 * all as f64;
    }

    /// The part's share of all accesses: the ratio estimator for clusters, with its variance over windows; none without
    /// accesses.
    pub fn share_of(&self, all: &AllClusters) -> Option<Interval> {
        if all.accesses == 0 {
            return None;
        }
        let accesses = all.accesses as f64;
        let share = self.part as f64 / accesses;
        let residuals = self.part_squares - 2.0 * share * self.products + share * share * all.squares;
        // One window says nothing of how windows differ.
        let correction = match all.windows {
            0 | 1 => {
                return Some(Interval {
                    share,
                    low: 0.0,
                    high: 1.0,
                })
            }
            windows => windows as f64 / (windows - 1) as f64,
        };
        let half = DEVIATIONS * (correction * residuals.max(0.0)).sqrt() / accesses;
        Some(Interval {
            share,
            low: (share - half).max(0.0),
            high: (share + half).min(1.0),
        })
    }
}

impl AllClusters {
    pub fn add(&mut self, accesses: u64) {
        self.windows += 1;
        self.accesses += accesses;
        self.squares += (accesses as f64).powi(2);
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
    fn intervals_are_wilsons() {
        // 30 of 100 equal samples: 21.9 % to 39.6 %, as tables of the score interval have it.
        let interval = weight(&[5; 30]).share_of(&weight(&[5; 100])).unwrap();
        assert_eq!(interval.share, 0.3);
        assert!(
            (interval.low - 0.2189).abs() < 1e-4 && (interval.high - 0.3958).abs() < 1e-4,
            "{interval:?}"
        );
        // None of 10 may be up to 27.8 %.
        let none = weight(&[]).share_of(&weight(&[1; 10])).unwrap();
        assert!(none.low == 0.0 && (none.high - 0.2775).abs() < 1e-4, "{none:?}");
        assert_eq!(weight(&[]).share_of(&weight(&[])), None);
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
    fn windows_that_are_all_alike_are_exact() {
        let (mut part, mut all) = (Clusters::default(), AllClusters::default());
        for _ in 0..20 {
            part.add(3, 12);
            all.add(12);
        }
        let interval = part.share_of(&all).unwrap();
        assert_eq!((interval.share, interval.low, interval.high), (0.25, 0.25, 0.25));
    }

    #[test]
    fn windows_count_as_wholes_not_as_accesses() {
        // Half of the windows lie wholly in the part: as a coin thrown 100 times, whatever windows hold.
        let (mut part, mut all) = (Clusters::default(), AllClusters::default());
        for window in 0..100 {
            all.add(50);
            if window % 2 == 0 {
                part.add(50, 50);
            }
        }
        let interval = part.share_of(&all).unwrap();
        assert_eq!(interval.share, 0.5);
        assert!((interval.high - 0.5 - 0.0985).abs() < 1e-3, "{interval:?}");
        assert_eq!(Clusters::default().share_of(&AllClusters::default()), None);
    }
}
