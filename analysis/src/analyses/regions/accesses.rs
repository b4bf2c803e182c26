//! Reads and writes, and their bytes.

use std::ops::AddAssign;

use trackway_trace::AccessKind;

/// Reads and writes. What does both counts as both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accesses {
    pub reads: u64,
    pub writes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Accesses, each counted once.
    pub accesses: u64,
    pub bytes: u64,
}

impl Accesses {
    pub fn of(kind: AccessKind, accesses: u64, bytes: u64) -> Accesses {
        let only_if = |condition, (accesses, bytes)| if condition { (accesses, bytes) } else { (0, 0) };
        let (reads, bytes_read) = only_if(kind.reads(), (accesses, bytes));
        let (writes, bytes_written) = only_if(kind.writes(), (accesses, bytes));
        Accesses {
            reads,
            writes,
            bytes_read,
            bytes_written,
            accesses,
            bytes,
        }
    }

    /// What was added since then.
    pub fn since(&self, before: &Accesses) -> Accesses {
        Accesses {
            reads: self.reads.saturating_sub(before.reads),
            writes: self.writes.saturating_sub(before.writes),
            bytes_read: self.bytes_read.saturating_sub(before.bytes_read),
            bytes_written: self.bytes_written.saturating_sub(before.bytes_written),
            accesses: self.accesses.saturating_sub(before.accesses),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl AddAssign for Accesses {
    fn add_assign(&mut self, more: Accesses) {
        for (sum, more) in [
            (&mut self.reads, more.reads),
            (&mut self.writes, more.writes),
            (&mut self.bytes_read, more.bytes_read),
            (&mut self.bytes_written, more.bytes_written),
            (&mut self.accesses, more.accesses),
            (&mut self.bytes, more.bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_a_read_and_a_write() {
        let of = |kind| {
            let Accesses {
                reads,
                writes,
                bytes_read,
                bytes_written,
                accesses,
                bytes,
            } = Accesses::of(kind, 2, 8);
            ([reads, writes], [bytes_read, bytes_written], [accesses, bytes])
        };
        assert_eq!(of(AccessKind::CopyRead), ([2, 0], [8, 0], [2, 8]));
        assert_eq!(of(AccessKind::Fill), ([0, 2], [0, 8], [2, 8]));
        for update in [
            AccessKind::AtomicReadModifyWrite,
            AccessKind::AtomicCompareExchange,
        ] {
            assert_eq!(of(update), ([2, 2], [8, 8], [2, 8]));
        }
    }
}
