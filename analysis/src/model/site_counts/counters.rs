//! Accesses, bytes and misses of a site.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use trackway_trace::AccessKind;

use crate::model::cache::Outcome;

/// Counts of the accesses of a site, or of a group of sites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounters {
    pub accesses: u64,
    pub bytes: u64,
    pub outcome: Outcome,
    /// Estimated cycles; 0 if they were not asked for.
    pub cycles: u64,
}

impl AddAssign<&SiteCounters> for SiteCounters {
    fn add_assign(&mut self, other: &SiteCounters) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.outcome += &other.outcome;
        self.cycles = self.cycles.saturating_add(other.cycles);
    }
}

impl SiteCounters {
    /// What all of them come to.
    pub fn sum<'c>(counters: impl IntoIterator<Item = &'c SiteCounters>) -> SiteCounters {
        let mut sum = SiteCounters::default();
        counters.into_iter().for_each(|counters| sum += counters);
        sum
    }
}

/// Whether an access of this kind writes, perhaps besides reading.
pub(crate) fn stores(kind: AccessKind) -> bool {
    match kind {
        AccessKind::Load | AccessKind::AtomicLoad | AccessKind::CopyRead | AccessKind::LibraryRead => false,
        AccessKind::Store
        | AccessKind::AtomicStore
        | AccessKind::AtomicReadModifyWrite
        | AccessKind::AtomicCompareExchange
        | AccessKind::CopyWrite
        | AccessKind::Fill
        | AccessKind::LibraryWrite => true,
    }
}
