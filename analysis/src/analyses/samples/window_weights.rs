//! How much windows count.

use std::collections::HashMap;

use trackway_trace::{Sample, Samples, WindowEnd};

/// A window without a speed takes the thread's speeds in windows at most this far away.
const NEAR_NS: u64 = 50_000_000;

/// Weights of windows.
///
/// All windows have the same number of instructions, whatever they stand for and however fast the program ran. If a
/// window's speed is known, it counts by the instructions of the time for which it stands. Otherwise, the thread's
/// speeds in the windows next to it in time are used. If none is near, it counts as much as windows of known speed do
/// on average for that time. So windows of unknown speed keep their share of the time.
#[derive(Clone, Debug, Default)]
pub struct WindowWeights {
    pub windows: u64,
    /// Windows of known speed.
    pub paced: u64,
    /// The samples' weights for which windows stand.
    pub stands_for: u64,
    /// Mean of the known speeds, weighted by the time for which windows stand; 0 if none is known.
    mean_speed: f64,
    /// Mean of what windows stand for; 0 if nothing is known of that.
    mean_time: f64,
    /// Known speeds and their times, by process and thread, in the order of time.
    known: HashMap<(u32, u32), Vec<(u64, u32)>>,
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
                let of_thread = weights.known.entry((sample.pid, sample.tid)).or_default();
                of_thread.push((sample.time_ns, sample.window_speed));
            }
        }
        for of_thread in weights.known.values_mut() {
            of_thread.sort_unstable();
        }
        weights.mean_speed = ratio(instructions, paced_time);
        weights.mean_time = ratio(weights.stands_for as f64, weights.windows as f64);
        weights
    }

    /// Factor by which a window's accesses are multiplied; 1 where nothing is known.
    pub fn weight(&self, sample: &Sample) -> f64 {
        let relative = |value: f64, mean: f64| if mean > 0.0 { value / mean } else { 1.0 };
        let speed = match sample.window_speed {
            0 => self.speed_near(sample),
            speed => Some(speed.into()),
        };
        let speed = speed.map_or(1.0, |speed| relative(speed, self.mean_speed));
        speed * relative(sample.window_weight as f64, self.mean_time)
    }

    /// The thread's mean speed in its last window of known speed before the sample, and its first one after.
    fn speed_near(&self, sample: &Sample) -> Option<f64> {
        let known = self.known.get(&(sample.pid, sample.tid))?;
        let behind = known.partition_point(|(time_ns, _)| *time_ns <= sample.time_ns);
        let next = [behind.checked_sub(1), Some(behind)].into_iter().flatten();
        let near = next
            .filter_map(|index| known.get(index))
            .filter(|(time_ns, _)| time_ns.abs_diff(sample.time_ns) <= NEAR_NS);
        let (sum, count) = near.fold((0.0, 0), |(sum, count), (_, speed)| {
            (sum + f64::from(*speed), count + 1)
        });
        (count > 0).then(|| sum / f64::from(count))
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

    const SECOND: u64 = 1_000_000_000;

    /// Windows of these weights and speeds, each one second after the one before, and a sample without a window.
    fn chunk(windows: &[(u64, u32)]) -> Samples {
        let window = |(number, (weight, speed)): (u64, &(u64, u32))| Sample {
            time_ns: number * SECOND,
            window_weight: *weight,
            window_speed: *speed,
            window_end: WindowEnd::Full,
            ..Sample::default()
        };
        Samples {
            samples: (0..)
                .zip(windows)
                .map(window)
                .chain([Sample::default()])
                .collect(),
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
    fn a_window_of_unknown_speed_is_as_fast_as_its_thread_at_that_time() {
        let mut chunks = [chunk(&[(0, 1000), (0, 0), (0, 3000), (0, 0)])];
        // The last one comes right after the second, and is another thread's.
        for (index, time_ns) in [(1, SECOND / 100), (2, SECOND / 50), (3, SECOND / 100 + 1)] {
            chunks[0].samples[index].time_ns = time_ns;
        }
        chunks[0].samples[3].tid = 7;
        let weights = |chunks: &[Samples; 1]| {
            let weights = WindowWeights::of(chunks);
            chunks[0].samples[..4]
                .iter()
                .map(|sample| weights.weight(sample))
                .collect::<Vec<f64>>()
        };
        assert_eq!(weights(&chunks), [0.5, 1.0, 1.5, 1.0], "between both");
        chunks[0].samples[2].time_ns = SECOND;
        assert_eq!(weights(&chunks), [0.5, 0.5, 1.5, 1.0], "the next one is far away");
    }

    #[test]
    fn where_nothing_is_known_all_windows_count_alike() {
        assert_eq!(weights(&[(0, 0), (0, 0)]), [1.0, 1.0]);
    }
}
