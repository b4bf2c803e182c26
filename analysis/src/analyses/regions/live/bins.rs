//! Samples of any number in bounded room: neighbours become one.

use std::collections::HashMap;

use super::{RegionSample, Sample};

/// So few bins are not halved, however many rows they have: fewer would no longer show a course of time.
const FEWEST_BINS: usize = 40;

/// Samples in their order. Whenever there are too many rows, each bin stands for twice as many samples.
#[derive(Debug)]
pub struct Bins {
    most_rows: usize,
    bins: Vec<Sample>,
    rows: usize,
    samples: usize,
    samples_per_bin: usize,
    samples_in_last: usize,
}

impl Bins {
    /// `most_rows`: of regions and threads, over all bins.
    pub fn new(most_rows: usize) -> Self {
        Bins {
            most_rows,
            bins: Vec::new(),
            rows: 0,
            samples: 0,
            samples_per_bin: 1,
            samples_in_last: 0,
        }
    }

    /// Takes the next sample, which begins where the last one ended.
    pub fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        match self.bins.last_mut() {
            Some(last) if self.samples_in_last < self.samples_per_bin => {
                self.rows -= last.rows();
                last.append(sample);
                self.rows += last.rows();
                self.samples_in_last += 1;
            }
            _ => {
                self.rows += sample.rows();
                self.bins.push(sample.clone());
                self.samples_in_last = 1;
            }
        }
        self.bound();
    }

    /// Takes what came after the last whole interval: in so short a time, its rates would say nothing.
    pub fn add_rest(&mut self, sample: &Sample) {
        let Some(last) = self.bins.last_mut() else {
            return self.add(sample);
        };
        self.samples += 1;
        self.rows -= last.rows();
        last.append(sample);
        self.rows += last.rows();
        self.bound();
    }

    fn bound(&mut self) {
        while self.rows > self.most_rows && self.bins.len() > FEWEST_BINS {
            self.halve();
        }
    }

    pub fn bins(&self) -> &[Sample] {
        &self.bins
    }

    /// How many were taken.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// What all bins but the last stand for.
    pub fn samples_per_bin(&self) -> usize {
        self.samples_per_bin
    }

    fn halve(&mut self) {
        if self.bins.len().is_multiple_of(2) {
            self.samples_in_last += self.samples_per_bin;
        }
        self.samples_per_bin *= 2;
        let mut halved = Vec::with_capacity(self.bins.len().div_ceil(2));
        let mut bins = std::mem::take(&mut self.bins).into_iter();
        while let Some(mut bin) = bins.next() {
            if let Some(next) = bins.next() {
                bin.append(&next);
            }
            halved.push(bin);
        }
        self.bins = halved;
        self.rows = self.bins.iter().map(Sample::rows).sum();
    }
}

impl Sample {
    /// Regions and their threads.
    fn rows(&self) -> usize {
        let regions = self.regions.iter();
        regions.map(|region| 1 + region.threads.len()).sum()
    }

    /// Takes what came in the interval that begins where this one ends.
    pub fn append(&mut self, later: &Sample) {
        self.end_ns = later.end_ns;
        self.threads_time_ns = self.threads_time_ns.saturating_add(later.threads_time_ns);
        let regions = std::mem::take(&mut self.regions).into_iter();
        let mut earlier: HashMap<String, RegionSample> =
            regions.map(|region| (region.name.clone(), region)).collect();
        // What was ever seen is in each later sample, and ranked there.
        let merged = later.regions.iter().map(|region| {
            let mut sum = region.clone();
            if let Some(before) = earlier.remove(&region.name) {
                sum.add_threads(&before);
            }
            sum
        });
        self.regions = merged.collect();
    }
}

impl RegionSample {
    fn add_threads(&mut self, other: &RegionSample) {
        self.all.add(other.all);
        for thread in &other.threads {
            match self
                .threads
                .binary_search_by_key(&thread.stream, |own| own.stream)
            {
                Ok(at) => self.threads[at].activity.add(thread.activity),
                Err(at) => self.threads.insert(at, *thread),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::regions::live::{Activity, ThreadSample};

    const SECOND: u64 = 1_000_000_000;

    fn activity(number: u64) -> Activity {
        Activity {
            entries: 1,
            time_ns: number,
            own_time_ns: number,
            bytes_read: 10 * number,
            bytes_written: 1,
        }
    }

    /// The sample of the second with that number, in which each of these streams spent that much time in `solve`.
    fn sample(second: u64, streams: &[(u32, u64)]) -> Sample {
        let threads: Vec<ThreadSample> = streams
            .iter()
            .map(|&(stream, number)| ThreadSample {
                stream,
                activity: activity(number),
                ..ThreadSample::default()
            })
            .collect();
        let mut all = Activity::default();
        threads.iter().for_each(|thread| all.add(thread.activity));
        Sample {
            begin_ns: second * SECOND,
            end_ns: (second + 1) * SECOND,
            threads_time_ns: 1000,
            regions: vec![RegionSample {
                name: "solve".into(),
                all,
                total: all,
                threads,
            }],
        }
    }

    fn sum(samples: &[Sample]) -> Activity {
        let mut sum = Activity::default();
        let regions = samples.iter().flat_map(|sample| &sample.regions);
        regions.for_each(|region| sum.add(region.all));
        sum
    }

    #[test]
    fn threads_that_come_and_go_are_kept() {
        let mut merged = sample(0, &[(1, 100), (2, 300)]);
        merged.append(&sample(1, &[(2, 50), (3, 7)]));
        assert_eq!((merged.begin_ns, merged.end_ns), (0, 2 * SECOND));
        let [region] = &merged.regions[..] else {
            panic!("one region")
        };
        let found: Vec<_> = region
            .threads
            .iter()
            .map(|t| (t.stream, t.activity.time_ns))
            .collect();
        assert_eq!(found, [(1, 100), (2, 350), (3, 7)]);
        assert_eq!(region.all.time_ns, 457);
        // The mean over the time: 457 of 2,000.
        assert_eq!(merged.time_share(&region.all), Some(0.2285));
        assert_eq!(merged.per_second(region.all.bytes_read), Some(2285.0));
    }

    #[test]
    fn regions_that_come_later_begin_with_what_they_did_then() {
        let mut merged = Sample::default();
        merged.append(&sample(0, &[(1, 100)]));
        assert_eq!(merged.regions, sample(0, &[(1, 100)]).regions);
    }

    #[test]
    fn few_samples_stay_as_they_are() {
        let mut bins = Bins::new(1000);
        let samples: Vec<Sample> = (0..100).map(|second| sample(second, &[(1, second)])).collect();
        samples.iter().for_each(|sample| bins.add(sample));
        assert_eq!((bins.bins(), bins.samples_per_bin()), (&samples[..], 1));
    }

    #[test]
    fn many_samples_become_few_bins_with_the_same_sums() {
        let mut bins = Bins::new(200);
        let samples: Vec<Sample> = (0..1003)
            .map(|second| sample(second, &[(1, second), (2, 1)]))
            .collect();
        for sample in &samples {
            bins.add(sample);
            assert!(bins.rows <= 200, "{}", bins.rows);
        }
        assert_eq!((bins.samples(), bins.samples_per_bin()), (1003, 16));
        assert_eq!(sum(bins.bins()), sum(&samples));
        let borders: Vec<u64> = bins.bins().iter().map(|bin| bin.end_ns / SECOND).collect();
        let expected: Vec<u64> = (1..=62).map(|bin| bin * 16).chain([1003]).collect();
        assert_eq!(borders, expected);
        assert!(bins.bins().windows(2).all(|two| two[0].end_ns == two[1].begin_ns));
    }

    #[test]
    fn the_rest_belongs_to_the_last_bin() {
        let mut bins = Bins::new(1000);
        bins.add_rest(&sample(0, &[(1, 1)]));
        bins.add(&sample(1, &[(1, 1)]));
        bins.add_rest(&sample(2, &[(1, 5)]));
        let times: Vec<u64> = bins.bins().iter().map(|bin| bin.regions[0].all.time_ns).collect();
        assert_eq!((bins.samples(), times), (3, vec![1, 6]));
        assert_eq!(bins.bins()[1].end_ns, 3 * SECOND);
    }

    #[test]
    fn however_many_the_rows_a_course_of_time_remains() {
        let mut bins = Bins::new(1);
        (0..1000).for_each(|second| bins.add(&sample(second, &[(1, 1)])));
        assert!((FEWEST_BINS / 2..=FEWEST_BINS).contains(&bins.bins().len()));
    }
}
