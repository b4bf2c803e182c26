//! Scales numbers from some entries to all.

/// A scale from the counted entries to all entries.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    entries: u64,
    counted_entries: u64,
}

impl Scale {
    /// Counts as they are if none or all were counted.
    pub fn new(entries: u64, counted_entries: u64) -> Scale {
        match counted_entries == 0 {
            true => Scale {
                entries: 1,
                counted_entries: 1,
            },
            false => Scale {
                entries,
                counted_entries,
            },
        }
    }

    pub fn apply(self, count: u64) -> u64 {
        if self.entries == self.counted_entries {
            return count;
        }
        let scaled = u128::from(count) * u128::from(self.entries) / u128::from(self.counted_entries);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_scaled_to_all_entries() {
        let scale = |entries, counted_entries| Scale {
            entries,
            counted_entries,
        };
        assert_eq!(scale(1, 1).apply(7), 7);
        assert_eq!(scale(3, 2).apply(7), 10);
        assert_eq!(scale(u64::MAX, 1).apply(7), u64::MAX);
        assert_eq!(scale(u64::MAX, u64::MAX - 1).apply(1 << 40), 1 << 40);
    }
}
