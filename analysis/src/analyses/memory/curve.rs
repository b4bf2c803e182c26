//! Live memory in each part of time.

use crate::model::moments::TimeBins;

/// Blocks and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    pub blocks: u64,
    pub bytes: u64,
}

impl Amount {
    pub fn add(&mut self, bytes: u64) {
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub fn merge(&mut self, more: Amount) {
        self.blocks += more.blocks;
        self.bytes = self.bytes.saturating_add(more.bytes);
    }

    pub fn remove(&mut self, bytes: u64) {
        self.blocks = self.blocks.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// What happened in a part of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// The most of each that was live at once.
    pub most: Amount,
    pub allocations: u64,
    pub releases: u64,
}

/// One point for each part of time.
#[derive(Debug, Clone)]
pub struct Curve {
    bins: TimeBins,
    points: Vec<Point>,
    live: Amount,
}

impl Curve {
    pub fn new(bins: TimeBins) -> Self {
        Curve {
            bins,
            points: vec![Point::default()],
            live: Amount::default(),
        }
    }

    /// Takes the time of what comes next. Time doesn't go backwards: what comes late counts for the present part.
    fn at(&mut self, time_ns: u64) -> &mut Point {
        let last = self.bins.count() - 1;
        let bin = match time_ns < self.bins.first_ns {
            true => 0,
            false => self.bins.of(time_ns).unwrap_or(last),
        };
        self.fill(bin);
        let present = self.points.len() - 1;
        &mut self.points[present]
    }

    /// What is live stays so until that part of time.
    fn fill(&mut self, bin: usize) {
        let unchanged = Point {
            most: self.live,
            ..Point::default()
        };
        while self.points.len() <= bin {
            self.points.push(unchanged);
        }
    }

    pub fn allocated(&mut self, time_ns: u64, live: Amount) {
        let point = self.at(time_ns);
        point.allocations += 1;
        point.most.blocks = point.most.blocks.max(live.blocks);
        point.most.bytes = point.most.bytes.max(live.bytes);
        self.live = live;
    }

    pub fn released(&mut self, time_ns: u64, live: Amount) {
        self.at(time_ns).releases += 1;
        self.live = live;
    }

    /// The end of the recording.
    pub fn finish(&mut self) {
        self.fill(self.bins.count() - 1);
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(blocks: u64, bytes: u64) -> Amount {
        Amount { blocks, bytes }
    }

    #[test]
    fn what_is_live_stays_until_it_is_released() {
        let mut curve = Curve::new(TimeBins::new(100, 107, 8));
        curve.allocated(101, amount(1, 10));
        curve.allocated(103, amount(2, 30));
        curve.released(103, amount(1, 20));
        curve.released(105, amount(0, 0));
        curve.allocated(99, amount(1, 5)); // late
        curve.finish();
        let most: Vec<u64> = curve.points().iter().map(|point| point.most.bytes).collect();
        assert_eq!(most, [0, 10, 10, 30, 20, 20, 5, 5]);
        let changes = curve
            .points()
            .iter()
            .map(|point| (point.allocations, point.releases));
        assert_eq!(
            changes.collect::<Vec<_>>(),
            [(0, 0), (1, 0), (0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (0, 0)]
        );
    }
}
