//! Sums over samples and windows, by place.

use std::collections::HashMap;
use std::hash::Hash;

use trackway_trace::{AddressClass, MemoryLevel, Sample, WindowAccess, WindowAddress};

use super::interval::{self, AllWindows, SampledShare, WindowSums};

/// Sums over the samples and windows of one place.
#[derive(Clone, Debug, Default)]
pub struct PlaceSums {
    pub samples: u64,
    pub weight: u64,
    /// Samples whose instruction loads, or stores.
    pub loads: u64,
    pub stores: u64,
    /// Samples by [`AddressClass`].
    pub classes: [u64; 5],
    /// Sum over the samples that have a latency.
    pub latency_cycles: u64,
    pub with_latency: u64,
    pub levels: HashMap<MemoryLevel, u64>,
    windows: WindowSums,
    /// Accesses in windows, those of which are stores, and how their addresses are known ([`WindowAddress`]).
    pub accesses: u64,
    pub stored: u64,
    pub known_by: [u64; 3],
}

/// All places.
#[derive(Debug)]
pub struct Tally<K> {
    pub places: HashMap<K, PlaceSums>,
    /// Weight of all samples.
    pub weight: u64,
    squares: f64,
    pub windows: AllWindows,
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Tally {
            places: HashMap::new(),
            weight: 0,
            squares: 0.0,
            windows: AllWindows::default(),
        }
    }
}

impl<K: Hash + Eq + Clone> Tally<K> {
    pub fn add_sample(&mut self, key: K, sample: &Sample) {
        self.weight += sample.weight;
        self.squares += sample.weight as f64 * sample.weight as f64;
        let sums = self.places.entry(key).or_default();
        sums.samples += 1;
        sums.weight += sample.weight;
        sums.loads += u64::from(sample.direction.loads());
        sums.stores += u64::from(sample.direction.stores());
        sums.classes[sample.class as usize] += 1;
        sums.latency_cycles += sample.latency_cycles;
        sums.with_latency += u64::from(sample.latency_cycles > 0);
        if sample.data_source.is_known() {
            *sums.levels.entry(sample.data_source.level()).or_default() += 1;
        }
    }

    /// `places`: of the accesses, in their order. `weight`: how much the window counts.
    pub fn add_window(&mut self, places: &[K], accesses: &[WindowAccess], weight: f64) {
        let length = weight * accesses.len() as f64;
        self.windows.windows += 1.0;
        self.windows.accesses += length;
        self.windows.squares += length * length;
        let mut counts: HashMap<K, f64> = HashMap::new();
        for (place, access) in places.iter().zip(accesses) {
            let sums = self.places.entry(place.clone()).or_default();
            sums.accesses += 1;
            sums.stored += u64::from(access.is_store);
            sums.known_by[access.known_by as usize] += 1;
            *counts.entry(place.clone()).or_default() += weight;
        }
        for (place, count) in counts {
            let sums = &mut self.places.entry(place).or_default().windows;
            sums.part += count;
            sums.part_squares += count * count;
            sums.products += count * length;
        }
    }

    /// The place's share in the weight of all samples.
    pub fn time_share(&self, sums: &PlaceSums) -> Option<SampledShare> {
        interval::of_weights(sums.weight, self.weight, self.squares)
    }

    /// The place's share in the accesses of all windows, by how much the windows count.
    pub fn access_share(&self, sums: &PlaceSums) -> Option<SampledShare> {
        interval::of_windows(&sums.windows, &self.windows)
    }

    /// The places, those with the most time first, then those with the most accesses.
    pub fn ranked(&self) -> Vec<(&K, &PlaceSums)>
    where
        K: Ord,
    {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by(|(left, left_sums), (right, right_sums)| {
            let rank = |sums: &PlaceSums| (sums.weight, sums.accesses);
            rank(right_sums).cmp(&rank(left_sums)).then(left.cmp(right))
        });
        places
    }
}

impl PlaceSums {
    /// The class that most samples with an address have.
    pub fn usual_class(&self) -> AddressClass {
        let counts = AddressClass::KNOWN.map(|class| (self.classes[class as usize], class));
        let most = counts
            .into_iter()
            .rev()
            .max_by_key(|(count, _)| *count)
            .filter(|(count, _)| *count > 0);
        most.map_or(AddressClass::None, |(_, class)| class)
    }

    /// Samples with an address, and all that have an access.
    pub fn addressed(&self) -> (u64, u64) {
        let known = AddressClass::KNOWN
            .iter()
            .map(|class| self.classes[*class as usize])
            .sum();
        (known, (self.loads.max(self.stores)).max(known))
    }

    /// Accesses of windows whose addresses and ways rest on nothing that was read later or drawn, and all.
    pub fn of_the_moment(&self) -> (u64, u64) {
        (self.known_by[WindowAddress::Registers as usize], self.accesses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_count_by_their_weights_in_shares_and_intervals() {
        let accesses = |count| vec![WindowAccess::default(); count];
        let mut tally: Tally<&str> = Tally::default();
        for _ in 0..50 {
            tally.add_window(&["slow"; 4], &accesses(4), 0.25);
            tally.add_window(&["fast"; 4], &accesses(4), 1.75);
        }
        let of = |name| tally.access_share(&tally.places[name]).unwrap();
        assert_eq!((of("slow").share, of("fast").share), (0.125, 0.875));
        assert_eq!(tally.places["slow"].accesses, 200, "as they were seen");
        // Each window lies wholly in one place. The ratio's residuals are 0.25 · 4 · 0.875 and 1.75 · 4 · 0.125, each 50
        // times, of a sum of 400.
        let variance = 50.0 * (0.875f64.powi(2) * 2.0) * 100.0 / 99.0 / (400.0 * 400.0);
        let half = 1.959_963_985 * variance.sqrt();
        assert!((of("slow").high - 0.125 - half).abs() < 1e-9, "{:?}", of("slow"));
    }
}
