//! References for tools that know addresses and no sizes.

/// Cuts accesses into the cache lines that they overlap, so that a cache is asked for each line once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// A power of two; none: each access is one reference.
    pub bytes: Option<u64>,
}

impl Lines {
    /// The first address of an access in each line, from the lowest on.
    pub fn addresses(self, address: u64, size: u64) -> impl Iterator<Item = u64> {
        let line = self.bytes.unwrap_or(u64::MAX);
        let end = address.saturating_add(size.max(1) - 1);
        let count = match self.bytes {
            Some(line) => end / line - address / line + 1,
            None => 1,
        };
        (0..count).map(move |index| match index {
            0 => address,
            _ => (address / line + index) * line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_referred_to_once() {
        let of = |lines: Option<u64>, address, size| -> Vec<u64> {
            Lines { bytes: lines }.addresses(address, size).collect()
        };
        assert_eq!(of(Some(64), 0x1008, 8), [0x1008]);
        assert_eq!(of(Some(64), 0x103c, 8), [0x103c, 0x1040]);
        assert_eq!(of(Some(64), 0x1000, 130), [0x1000, 0x1040, 0x1080]);
        assert_eq!(of(None, 0x1000, 130), [0x1000]);
        assert_eq!(of(Some(64), u64::MAX - 3, 8), [u64::MAX - 3]);
        assert_eq!(of(Some(64), 0x1000, 0), [0x1000]);
    }
}
