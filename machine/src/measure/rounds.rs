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

    /// The undisturbed value; none without rounds.
    pub fn value(&self) -> Option<f64> {
        undisturbed(self.passes.iter().flatten().copied().collect())
    }

    /// The greatest difference between the passes' values, as a share of the value of all.
    pub fn spread(&self) -> Option<f64> {
        let passes = self.passes.iter().filter_map(|pass| undisturbed(pass.clone()));
        let (least, most) = passes.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
            (least.min(value), most.max(value))
        });
        Some((most - least).max(0.0) / self.value()?)
    }
}

/// The median of the lowest third: a single wrong round, be it too short, doesn't count.
fn undisturbed(mut rounds: Vec<f64>) -> Option<f64> {
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
    }
}
