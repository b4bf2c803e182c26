//! How much windows count.

use trackway_trace::{Sample, Samples, WindowEnd};

/// Windows have as many instructions, whatever they stand for and however fast the program ran. Each counts by the
/// instructions of the time for which it stands, where its speed is known; else as those of known speed do on average for
/// that time, so that unknown ones keep their share of the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowWeights {
    pub windows: u64,
    /// Those of known speed.
    pub paced: u64,
    /// The samples' weights for which windows stand.
    pub stands_for: u64,
    /// Of known speeds, by the time for which windows stand; 0: none is known.
    mean_speed: f64,
    /// Of what windows stand for; 0: nothing is known of that.
    mean_time: f64,
}

impl WindowWeights {
    pub fn of(chunks: &[Samples]) -> Self {
        let samples = chunks.iter().flat_map(|chunk| &chunk.samples);
        let windows = samples.filter(|sample| sample.window_end != WindowEnd::None);
        let mut weights = WindowWeights::default();
        let (mut instructions, mut paced_time) = (0.0, 0.0);
        for sample in windows {
            weights.windows += 1;
            weights.stands_for = weights.stands_for.saturating_add(sample.window_weight);
            if sample.window_speed > 0 {
                let time = sample.window_weight.max(1) as f64;
                weights.paced += 1;
                paced_time += time;
                instructions += time * f64::from(sample.window_speed);
            }
        }
        weights.mean_speed = ratio(instructions, paced_time);
        weights.mean_time = ratio(weights.stands_for as f64, weights.windows as f64);
        weights
    }

    /// By which a window's accesses are multiplied: 1 where nothing is known.
    pub fn weight(&self, sample: &Sample) -> f64 {
        let relative = |value: f64, mean: f64| if mean > 0.0 { value / mean } else { 1.0 };
        let speed = match sample.window_speed {
            0 => 1.0,
            speed => relative(speed.into(), self.mean_speed),
        };
        speed * relative(sample.window_weight as f64, self.mean_time)
    }
}

fn ratio(sum: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        sum / whole
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of these weights and speeds, and a sample without one.
    fn chunk(windows: &[(u64, u32)]) -> Samples {
        let window = |(weight, speed): &(u64, u32)| Sample {
            window_weight: *weight,
            window_speed: *speed,
            window_end: WindowEnd::Full,
            ..Sample::default()
        };
        Samples {
            samples: windows.iter().map(window).chain([Sample::default()]).collect(),
            ..Samples::default()
        }
    }

    fn weights(windows: &[(u64, u32)]) -> Vec<f64> {
        let chunks = [chunk(windows)];
        let weights = WindowWeights::of(&chunks);
        let of_windows = &chunks[0].samples[..windows.len()];
        of_windows.iter().map(|sample| weights.weight(sample)).collect()
    }

    #[test]
    fn windows_count_by_their_speed_and_unknown_ones_as_the_others_do_on_average() {
        assert_eq!(weights(&[(0, 1000), (0, 0), (0, 3000)]), [0.5, 1.0, 1.5]);
        let chunks = [chunk(&[(0, 1000)]), chunk(&[(0, 0)])];
        let weights = WindowWeights::of(&chunks);
        assert_eq!((weights.windows, weights.paced), (2, 1));
    }

    #[test]
    fn windows_count_by_what_they_stand_for() {
        assert_eq!(weights(&[(100, 0), (300, 0)]), [0.5, 1.5]);
        // 100 at 4000, 300 at 2000: 2500 on average.
        let both = weights(&[(100, 4000), (300, 2000), (200, 0)]);
        assert_eq!(both, [0.5 * 1.6, 1.5 * 0.8, 1.0]);
    }

    #[test]
    fn where_nothing_is_known_all_windows_count_alike() {
        assert_eq!(weights(&[(0, 0), (0, 0)]), [1.0, 1.0]);
    }
}
