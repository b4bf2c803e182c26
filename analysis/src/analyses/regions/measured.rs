//! What hardware events came to around some entries.

use trackway_trace::{Node, HARDWARE_EVENTS};

/// Of entries for which stand those around which they were counted, regions within them included.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub measured_entries: u64,
    /// For which these stand.
    pub entries: u64,
    /// In the order of the recording's events.
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
