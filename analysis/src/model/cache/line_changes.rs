//! Which iterations of a run change anything in a cache.

use trackway_trace::Lane;

/// The iterations of a run that must be simulated.
///
/// Assume that all accesses of an iteration lie in the same lines as in the iteration before. If that one missed
/// nothing and changed only the order of use, this one does the same, and leaves everything as it was. The order of use
/// depends only on the last use of each line. In plain LRU levels, this need not even be tried if the lines are few
/// enough. They are if they can't displace each other even when all lie in one set.
#[derive(Debug, Clone)]
pub struct LineChanges {
    line_bytes: u64,
    ways: u64,
    /// Whether the lines of this run can't displace each other.
    few: bool,
    count: u64,
    /// The next iteration to simulate.
    next: u64,
    /// First iteration in which each lane may be in other lines.
    changes: Vec<u64>,
}

impl LineChanges {
    /// `line_bytes` is the size of the first level's lines. `ways` is the number of lines that certainly stay there,
    /// whatever the others do; 0 if there is no such number.
    pub(crate) fn new(line_bytes: u32, ways: u32) -> LineChanges {
        LineChanges {
            line_bytes: line_bytes.into(),
            ways: ways.into(),
            few: false,
            count: 0,
            next: 0,
            changes: Vec::new(),
        }
    }

    /// Begins a run of `count` iterations of these lanes.
    pub fn begin(&mut self, lanes: &[Lane], count: u64) {
        let lines = lanes.iter().map(|lane| self.most_lines(lane));
        self.few = lines.fold(0, u64::saturating_add) <= self.ways;
        self.count = count;
        self.next = 0;
        self.changes.clear();
        self.changes.resize(lanes.len(), 0);
    }

    /// The next iteration to simulate; none at the end of the run.
    pub fn next_iteration(&mut self) -> Option<u64> {
        (self.next < self.count).then_some(self.next)
    }

    /// Other lines than the run's were accessed, and may have displaced them.
    pub(crate) fn displaced(&mut self) {
        self.few = false;
    }

    /// To be called after that iteration was simulated. `changed` says whether it changed anything but the order of
    /// use.
    #[inline]
    pub fn simulated(&mut self, lanes: &[Lane], changed: bool) {
        let iteration = self.next;
        self.next = match self.few || !changed {
            true => self.first_change_after(iteration, lanes),
            false => iteration + 1,
        };
    }

    fn first_change_after(&mut self, iteration: u64, lanes: &[Lane]) -> u64 {
        let mut first = u64::MAX;
        for (change, lane) in self.changes.iter_mut().zip(lanes) {
            if *change <= iteration {
                let same = same_lines(lane, iteration, self.line_bytes);
                *change = (iteration + 1).saturating_add(same);
            }
            first = first.min(*change);
        }
        first
    }

    fn most_lines(&self, lane: &Lane) -> u64 {
        match u64::from(lane.size) {
            0 => 0,
            size => (size - 1) / self.line_bytes + 2,
        }
    }
}

/// How many further iterations a lane stays in the lines that it touches in this one.
fn same_lines(lane: &Lane, iteration: u64, line_bytes: u64) -> u64 {
    let first = lane.address_in(iteration);
    if lane.stride == 0 || lane.size == 0 {
        return u64::MAX;
    }
    let Some(last) = first.checked_add(u64::from(lane.size) - 1) else {
        return 0;
    };
    let offset = |address: u64| address & (line_bytes - 1);
    let distance = lane.stride as i64;
    let room = match distance > 0 {
        true => line_bytes - 1 - offset(first).max(offset(last)),
        false => offset(first).min(offset(last)),
    };
    room / distance.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::SiteId;

    fn simulated(lanes: &[(u64, i64, u32)], count: u64) -> Vec<u64> {
        let lanes: Vec<Lane> = lanes
            .iter()
            .map(|&(address, stride, size)| Lane {
                site: SiteId(0),
                size,
                address,
                stride: stride as u64,
            })
            .collect();
        let mut changes = LineChanges::new(64, 8);
        changes.begin(&lanes, count);
        let mut next = || {
            let iteration = changes.next_iteration()?;
            changes.simulated(&lanes, true);
            Some(iteration)
        };
        std::iter::from_fn(&mut next).collect()
    }

    #[test]
    fn a_scan_changes_lines_when_it_crosses_their_ends() {
        assert_eq!(simulated(&[(0, 8, 8)], 20), [0, 8, 16]);
        assert_eq!(simulated(&[(60, 8, 8)], 20), [0, 1, 8, 9, 16, 17]);
        assert_eq!(simulated(&[(128, -16, 4)], 8), [0, 1, 5]);
        assert_eq!(simulated(&[(0, 8, 8), (32, 8, 8)], 12), [0, 4, 8]);
        assert_eq!(simulated(&[(0, 100, 8)], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn what_does_not_move_changes_nothing() {
        assert_eq!(simulated(&[(0, 0, 8), (4, 0, 0)], 1 << 40), [0]);
        assert_eq!(simulated(&[], 5), [0]);
    }

    #[test]
    fn many_lines_might_displace_each_other() {
        assert_eq!(simulated(&[(0, 0, 512)], 4), [0, 1, 2, 3]);
    }
}
