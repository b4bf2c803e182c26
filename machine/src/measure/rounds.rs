//! What many short rounds say together.
//!
//! Other programs and other virtual machines make rounds longer, never shorter.

/// Rounds of one figure, by passes over all figures.
#[derive(Debug, Default, Clone)]
pub struct Rounds {
    passes: Vec<Vec<f64>>,
}

impl Rounds {
    pub fn add(&mut self, pass: Vec<f64>) {
        self.passes.push(pass);
    }

    /// The value of the least disturbed pass; none without rounds.
    pub fn value(&self) -> Option<f64> {
        self.values().first().copied()
    }

    /// By how much the middle one of the passes' values lies above the least, as a share of it: what half of the passes
    /// agree in.
    pub fn spread(&self) -> Option<f64> {
        let values = self.values();
        let least = values.first()?;
        Some((values[values.len() / 2] - least) / least)
    }

    /// The values of all passes, from the least on.
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.passes.iter().filter_map(|pass| undisturbed(pass)).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// The median of the lowest third: a single wrong round, be it too short, doesn't count.
fn undisturbed(rounds: &[f64]) -> Option<f64> {
    let mut rounds = rounds.to_vec();
    rounds.sort_by(f64::total_cmp);
    rounds.truncate(rounds.len().div_ceil(3));
    rounds.get(rounds.len() / 2).copied()
}

/// A ten-thousandth is less than what two measurements differ by.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_dont_count() {
        let mut rounds = Rounds::default();
        assert_eq!((rounds.value(), rounds.spread()), (None, None));
        rounds.add(vec![5.0, 100.0, 5.0, 80.0, 5.0, 6.0]);
        rounds.add(vec![70.0, 6.0, 90.0, 6.0, 0.1, 60.0]);
        assert_eq!(rounds.value(), Some(5.0));
        // 5 of the first pass, and 6 of the second.
        assert_eq!(rounds.spread(), Some(0.2));
        rounds.add(vec![1000.0; 6]);
        rounds.add(Vec::new());
        assert_eq!((rounds.value(), rounds.spread()), (Some(5.0), Some(0.2)));
    }
}
