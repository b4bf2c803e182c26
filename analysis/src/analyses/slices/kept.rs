//! The longest slices of time that functions took.

/// A function from its entry to its exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub process: u32,
    pub stream: u32,
    pub depth: u32,
    pub function: u32,
    pub begin_ns: u64,
    pub duration_ns: u64,
}

/// The longest slices, up to a limit. A call is never longer than its caller, so callers stay.
#[derive(Debug)]
pub struct KeptSlices {
    slices: Vec<Slice>,
    most: usize,
    /// Shorter ones can't be among the longest.
    shortest_ns: u64,
    pub left_out: u64,
}

impl KeptSlices {
    pub fn new(most: usize) -> KeptSlices {
        KeptSlices {
            slices: Vec::new(),
            most,
            shortest_ns: 0,
            left_out: 0,
        }
    }

    pub fn add(&mut self, slice: Slice) {
        if slice.duration_ns < self.shortest_ns {
            self.left_out += 1;
            return;
        }
        self.slices.push(slice);
        if self.slices.len() >= self.most.saturating_mul(2).max(16) {
            self.cut();
        }
    }

    pub fn merge(&mut self, other: KeptSlices) {
        self.left_out += other.left_out;
        other.slices.into_iter().for_each(|slice| self.add(slice));
    }

    /// Sorts by thread and time, with callers before what they called.
    pub fn into_sorted(mut self) -> (Vec<Slice>, u64) {
        self.cut();
        self.slices
            .sort_by_key(|slice| (slice.process, slice.stream, slice.begin_ns, slice.depth));
        (self.slices, self.left_out)
    }

    fn cut(&mut self) {
        if self.slices.len() <= self.most {
            return;
        }
        // Among slices of equal length, callers come first, then earlier ones.
        self.slices.sort_by_key(|slice| {
            (
                std::cmp::Reverse(slice.duration_ns),
                slice.depth,
                slice.stream,
                slice.begin_ns,
            )
        });
        self.left_out += (self.slices.len() - self.most) as u64;
        self.slices.truncate(self.most);
        self.shortest_ns = self.slices.last().map_or(0, |slice| slice.duration_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stay() {
        let mut kept = KeptSlices::new(10);
        let mut others = KeptSlices::new(10);
        for number in 0..500u64 {
            let slice = Slice {
                process: 0,
                stream: 1,
                depth: 0,
                function: 3,
                begin_ns: number,
                duration_ns: number * 7919 % 500,
            };
            if number % 2 == 0 {
                kept.add(slice)
            } else {
                others.add(slice)
            }
        }
        kept.merge(others);
        let (slices, left_out) = kept.into_sorted();
        let mut durations: Vec<u64> = slices.iter().map(|slice| slice.duration_ns).collect();
        assert!(slices.is_sorted_by_key(|slice| slice.begin_ns));
        durations.sort_unstable();
        assert_eq!(durations, (490..500).collect::<Vec<_>>());
        assert_eq!(left_out, 490);
    }
}
