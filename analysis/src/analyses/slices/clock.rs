//! When the accesses of a chunk took place, as far as its points say.

/// A place in a chunk whose time is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    access: u64,
    time_ns: u64,
}

/// The known times of a chunk: its beginning, its order points, its end. Between two of them, accesses are taken as
/// evenly spread.
#[derive(Debug, Default)]
pub struct Clock {
    points: Vec<Point>,
}

impl Clock {
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// Points come in order; a time that goes backwards counts as the latest before it.
    pub fn add(&mut self, access: u64, time_ns: u64) {
        let latest = self.points.last().map_or(0, |point| point.time_ns);
        self.points.push(Point {
            access,
            time_ns: time_ns.max(latest),
        });
    }

    /// The time at which the program made access number `access` of the chunk.
    pub fn time_of(&self, access: u64) -> u64 {
        let next = self.points.partition_point(|point| point.access <= access);
        let (Some(from), to) = (self.points.get(next.saturating_sub(1)), self.points.get(next)) else {
            return 0;
        };
        let Some(to) = to else {
            return from.time_ns;
        };
        let (done, all) = (access.saturating_sub(from.access), to.access - from.access);
        let passed = u128::from(to.time_ns - from.time_ns) * u128::from(done) / u128::from(all.max(1));
        from.time_ns + passed as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_evenly_between_points() {
        let mut clock = Clock::default();
        assert_eq!(clock.time_of(5), 0);
        clock.add(0, 100);
        clock.add(10, 200);
        clock.add(10, 150);
        clock.add(20, 1200);
        let times = [0, 5, 9, 10, 15, 20, 99].map(|access| clock.time_of(access));
        assert_eq!(times, [100, 150, 190, 200, 700, 1200, 1200]);
    }
}
