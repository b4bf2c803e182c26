//! Totals of the blocks of an allocation site, or of several sites.

use std::ops::AddAssign;

use super::curve::Amount;
use crate::model::moments::Moment;

/// What is known of a block while it lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Life {
    pub accesses: u64,
    pub accessed_bytes: u64,
    /// Accesses of the trace before it.
    pub begin: u64,
    pub begin_ns: u64,
    /// Whether the block was allocated within the trace's slice.
    pub is_inside: bool,
    /// Number of the peak that its allocation made; 0 if it made none.
    pub peak: u64,
    /// The thread that allocated the block and when, if that is counted.
    pub moment: Moment,
}

impl Life {
    pub fn with_accesses_of(self, other: &Life) -> Life {
        Life {
            accesses: other.accesses,
            accessed_bytes: other.accessed_bytes,
            ..self
        }
    }
}

/// Numbers of an allocation site; each is defined in `docs/verbs/memory.md`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteTotals {
    pub allocated: Amount,
    pub failed: u64,
    /// Blocks that were released, or reallocated.
    pub released: u64,
    /// Blocks that ended because others overlapped them.
    pub overlapped: u64,
    pub never_released: Amount,
    pub never_accessed: Amount,
    pub short_lived: Amount,
    /// Sums over the released ones.
    pub lived_accesses: u128,
    pub lived_ns: u128,
    pub accesses: u64,
    pub accessed_bytes: u64,
    /// Accesses to blocks that were allocated within the trace's slice.
    pub accesses_inside: u64,
    pub live: Amount,
    pub at_peak: Amount,
    /// Number of the peak for which `at_peak` holds, if it is not the same as `live`.
    pub(super) saved_for: u64,
}

impl SiteTotals {
    /// Keeps what was live at the present peak, before that changes.
    pub(super) fn save(&mut self, peak: u64) {
        if self.saved_for != peak {
            self.saved_for = peak;
            self.at_peak = self.live;
        }
    }

    /// Changes what is live by a block that another site had until now, or has from now on; and what was live at the peak,
    /// if that holds the block.
    pub(super) fn move_live(&mut self, peak: u64, is_at_peak: bool, change: impl Fn(&mut Amount)) {
        if !is_at_peak {
            self.save(peak);
        } else if self.saved_for == peak {
            change(&mut self.at_peak);
        }
        change(&mut self.live);
    }

    /// A block's accesses, when no more come.
    pub(super) fn add_life(&mut self, life: &Life) {
        self.accesses = self.accesses.saturating_add(life.accesses);
        self.accessed_bytes = self.accessed_bytes.saturating_add(life.accessed_bytes);
        if life.is_inside {
            self.accesses_inside = self.accesses_inside.saturating_add(life.accesses);
        }
    }
}

impl AddAssign<&SiteTotals> for SiteTotals {
    fn add_assign(&mut self, other: &SiteTotals) {
        let amounts = [
            (&mut self.allocated, other.allocated),
            (&mut self.never_released, other.never_released),
            (&mut self.never_accessed, other.never_accessed),
            (&mut self.short_lived, other.short_lived),
            (&mut self.live, other.live),
            (&mut self.at_peak, other.at_peak),
        ];
        for (sum, more) in amounts {
            sum.merge(more);
        }
        self.failed += other.failed;
        self.released += other.released;
        self.overlapped += other.overlapped;
        self.lived_accesses += other.lived_accesses;
        self.lived_ns += other.lived_ns;
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.accessed_bytes = self.accessed_bytes.saturating_add(other.accessed_bytes);
        self.accesses_inside = self.accesses_inside.saturating_add(other.accesses_inside);
    }
}
