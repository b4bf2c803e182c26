//! How far a share that was sampled may lie off.

/// 95 % of a normal distribution lie within this many standard deviations.
const DEVIATIONS: f64 = 1.959_963_985;

/// A share with the bounds of its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampledShare {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// The share of a sum of weights in another one, by Wilson's score interval (E. B. Wilson, 1927). `squares` is the sum
/// of the squares of all weights; samples of unequal weight count as fewer (L. Kish, 1965). None without weights.
pub fn of_weights(part: u64, whole: u64, squares: f64) -> Option<SampledShare> {
    if whole == 0 {
        return None;
    }
    let (share, whole) = (part as f64 / whole as f64, whole as f64);
    let samples = whole * whole / squares.max(1.0);
    let square = DEVIATIONS * DEVIATIONS;
    let centre = (share + square / (2.0 * samples)) / (1.0 + square / samples);
    let spread = (share * (1.0 - share) / samples + square / (4.0 * samples * samples)).sqrt();
    let half = DEVIATIONS * spread / (1.0 + square / samples);
    Some(SampledShare {
        share,
        // Rounding must not leave a rest where the bound is exact.
        low: if part == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if share == 1.0 {
            1.0
        } else {
            (centre + half).min(1.0)
        },
    })
}

/// Sums over windows, for the share of one place in the accesses of all windows. A window's accesses are multiplied by
/// how much it counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowSums {
    /// Accesses of the place.
    pub part: f64,
    /// The square of a window's accesses of the place, summed up, and the product with all accesses of the window.
    pub part_squares: f64,
    pub products: f64,
}

/// Sums over all windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllWindows {
    pub windows: f64,
    pub accesses: f64,
    /// The squares of the windows' accesses, summed up.
    pub squares: f64,
}

/// The share, by the variance of a ratio of sums over windows (W. G. Cochran, Sampling Techniques, 1977, section 2.11).
/// Accesses of one window are not independent. None without accesses; no interval with fewer than two windows.
pub fn of_windows(sums: &WindowSums, all: &AllWindows) -> Option<SampledShare> {
    if all.accesses == 0.0 {
        return None;
    }
    let share = sums.part / all.accesses;
    let residuals = sums.part_squares - 2.0 * share * sums.products + share * share * all.squares;
    let variance = match all.windows >= 2.0 {
        true => residuals.max(0.0) * all.windows / (all.windows - 1.0) / (all.accesses * all.accesses),
        false => f64::INFINITY,
    };
    let half = DEVIATIONS * variance.sqrt();
    Some(SampledShare {
        share,
        low: (share - half).max(0.0),
        high: (share + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(share: SampledShare) -> (i64, i64, i64) {
        let thousandths = |share: f64| (share * 1000.0).round() as i64;
        (
            thousandths(share.share),
            thousandths(share.low),
            thousandths(share.high),
        )
    }

    #[test]
    fn intervals_are_wilsons() {
        // 10 of 100: the textbook's 0.055 to 0.174.
        let share = of_weights(10, 100, 100.0).unwrap();
        assert_eq!(rounded(share), (100, 55, 174));
        let nothing = of_weights(0, 20, 20.0).unwrap();
        assert_eq!((nothing.low, nothing.share), (0.0, 0.0));
        assert!(nothing.high > 0.1);
        for samples in 1..200 {
            let all = of_weights(samples, samples, samples as f64).unwrap();
            let none = of_weights(0, samples, samples as f64).unwrap();
            assert_eq!((none.low, all.high), (0.0, 1.0), "{samples}");
        }
        assert_eq!(of_weights(0, 0, 0.0), None);
    }

    #[test]
    fn weights_in_larger_units_change_nothing() {
        let (one, other) = (of_weights(10, 100, 100.0), of_weights(40_000, 400_000, 1.6e9));
        assert_eq!(one.map(rounded), other.map(rounded));
    }

    #[test]
    fn windows_that_are_alike_leave_no_doubt() {
        let all = AllWindows {
            windows: 10.0,
            accesses: 100.0,
            squares: 1000.0,
        };
        let even = WindowSums {
            part: 30.0,
            part_squares: 90.0,
            products: 300.0,
        };
        assert_eq!(rounded(of_windows(&even, &all).unwrap()), (300, 300, 300));
        // Three windows hold nothing else: the same share, far less certain.
        let uneven = WindowSums {
            part: 30.0,
            part_squares: 300.0,
            products: 300.0,
        };
        let share = of_windows(&uneven, &all).unwrap();
        assert_eq!(rounded(share), (300, 1, 599));
        assert_eq!(of_windows(&even, &AllWindows::default()), None);
    }
}
