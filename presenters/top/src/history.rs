//! How the regions went on: a bar for each of the last samples.

use std::collections::{HashMap, VecDeque};

use trackway_analysis::regions::live::Sample;
use trackway_answers::output;

const LENGTH: usize = 24;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bars for locales without the others.
const ASCII_BARS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// The last samples of each region, oldest first.
#[derive(Default)]
pub struct Histories(HashMap<String, VecDeque<f64>>);

impl Histories {
    /// Adds the bytes per second of each region, or its time per second if bytes are unknown.
    pub fn add(&mut self, sample: &Sample, with_bytes: bool) {
        for region in &sample.regions {
            let number = match with_bytes {
                true => region.all.bytes(),
                false => region.all.own_time_ns,
            };
            let history = self.0.entry(region.name.clone()).or_default();
            if history.len() == LENGTH {
                history.pop_front();
            }
            history.push_back(sample.per_second(number).unwrap_or(0.0));
        }
    }

    /// Bars that reach from 0 to the greatest of them.
    pub fn bars(&self, region: &str) -> String {
        let bars = match output::is_ascii_locale() {
            true => &ASCII_BARS,
            false => &BARS,
        };
        let history = self.0.get(region);
        history.map_or(String::new(), |history| drawn(history, bars))
    }
}

fn drawn(history: &VecDeque<f64>, bars: &[char; 8]) -> String {
    let most = history.iter().copied().fold(0.0, f64::max);
    let bar = |number: &f64| match most > 0.0 {
        true => bars[(number / most * 7.0).round() as usize],
        false => bars[0],
    };
    history.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_reach_from_nothing_to_the_most() {
        let history = |numbers: &[f64]| drawn(&numbers.iter().copied().collect(), &BARS);
        assert_eq!(history(&[0.0, 1.0, 2.0, 4.0]), "▁▃▅█");
        assert_eq!(history(&[0.0, 0.0]), "▁▁");
        assert_eq!(history(&[]), "");
    }

    #[test]
    fn old_samples_are_forgotten() {
        let mut histories = Histories::default();
        let region = trackway_analysis::regions::live::RegionSample {
            name: "solve".into(),
            ..Default::default()
        };
        let sample = Sample {
            regions: vec![region],
            ..Sample::default()
        };
        (0..100).for_each(|_| histories.add(&sample, true));
        assert_eq!(histories.bars("solve").chars().count(), LENGTH);
        assert_eq!(histories.bars("other"), "");
    }
}
