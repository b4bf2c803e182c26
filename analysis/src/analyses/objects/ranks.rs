//! Ranges of the ranks that owners of memory may have, by the intervals of their weights.

use super::owner::Owner;
use super::totals::{Objects, OwnerTotals};
use crate::analyses::samples::interval::SampledShare;

/// Ends of the intervals of all owners that are memory, each in order.
pub struct Ranks {
    lows: Vec<f64>,
    highs: Vec<f64>,
}

/// The best and the worst rank, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankRange {
    pub best: u64,
    pub worst: u64,
}

impl Ranks {
    pub fn of(objects: &Objects) -> Ranks {
        let memory = objects.owners.iter().filter(|(owner, _)| owner.is_memory());
        let shares = memory.filter_map(|(_, totals)| totals.weight.share_of(&objects.weight));
        Ranks::among(shares)
    }

    fn among(shares: impl Iterator<Item = SampledShare>) -> Ranks {
        let (mut lows, mut highs): (Vec<f64>, Vec<f64>) = shares.map(|share| (share.low, share.high)).unzip();
        lows.sort_unstable_by(f64::total_cmp);
        highs.sort_unstable_by(f64::total_cmp);
        Ranks { lows, highs }
    }

    /// The ranks of an owner; none if it isn't memory or has no samples.
    pub fn range(&self, owner: &Owner, totals: &OwnerTotals, objects: &Objects) -> Option<RankRange> {
        let share = totals.weight.share_of(&objects.weight)?;
        (owner.is_memory() && totals.weight.samples > 0).then(|| self.range_of(share))
    }

    /// Better are surely those whose intervals lie above; worse, those whose intervals lie below.
    fn range_of(&self, share: SampledShare) -> RankRange {
        let above = self.lows.len() - self.lows.partition_point(|low| *low <= share.high);
        let below = self.highs.partition_point(|high| *high < share.low);
        RankRange {
            best: above as u64 + 1,
            worst: (self.highs.len() - below) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(low: f64, high: f64) -> SampledShare {
        SampledShare {
            share: (low + high) / 2.0,
            low,
            high,
        }
    }

    #[test]
    fn overlapping_intervals_share_their_ranks() {
        let shares = [
            share(0.4, 0.5),
            share(0.2, 0.3),
            share(0.25, 0.35),
            share(0.0, 0.1),
        ];
        let ranks = Ranks::among(shares.into_iter());
        let ranges: Vec<(u64, u64)> = shares
            .into_iter()
            .map(|share| ranks.range_of(share))
            .map(|range| (range.best, range.worst))
            .collect();
        assert_eq!(ranges, [(1, 1), (2, 3), (2, 3), (4, 4)]);
    }
}
