//! Hardware events around some entries.

use trackway_trace::{Node, HARDWARE_EVENTS};

/// Hardware events counted around the measured entries, including those of regions within them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub measured_entries: u64,
    /// Number of entries for which the measured ones stand.
    pub entries: u64,
    /// Sums in the order of the recording's events.
    pub sums: [u64; HARDWARE_EVENTS],
}

impl Measured {
    pub fn add(&mut self, node: &Node) {
        self.measured_entries = self.measured_entries.saturating_add(node.measured_entries);
        self.entries = self.entries.saturating_add(node.hardware_entries);
        add_each(&mut self.sums, node.hardware);
    }
}

pub fn add_each(sums: &mut [u64; HARDWARE_EVENTS], more: [u64; HARDWARE_EVENTS]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}
