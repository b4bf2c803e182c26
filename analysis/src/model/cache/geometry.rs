//! Sizes and shapes of caches.

use trackway_trace::CacheInfo;

/// A search through more ways than this would take longer than everything else.
const MAX_WAYS: u64 = 4096;
const MAX_SIZE_BYTES: u64 = 1 << 36;

/// Size and shape of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheGeometry {
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// A power of two.
    pub line_bytes: u32,
}

impl CacheGeometry {
    /// Number of sets.
    pub fn sets(&self) -> u64 {
        self.size_bytes / (u64::from(self.ways) * u64::from(self.line_bytes))
    }

    pub(crate) fn lines(&self) -> u64 {
        self.size_bytes / u64::from(self.line_bytes)
    }

    /// The geometry of a cache of the machine on which a trace was recorded.
    pub(super) fn of_machine(info: &CacheInfo) -> CacheGeometry {
        let lines = info.size_bytes / u64::from(info.line_bytes.max(1));
        let ways = if info.ways == 0 {
            u32::try_from(lines).unwrap_or(u32::MAX)
        } else {
            info.ways
        };
        CacheGeometry {
            size_bytes: info.size_bytes,
            ways,
            line_bytes: info.line_bytes,
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if !self.line_bytes.is_power_of_two() || self.line_bytes < 16 {
            return Err(format!(
                "a line of {} bytes: must be a power of two of at least 16",
                self.line_bytes
            ));
        }
        if self.ways == 0 || u64::from(self.ways) > MAX_WAYS {
            return Err(format!("{} ways: must be 1 to {MAX_WAYS}", self.ways));
        }
        let set_bytes = u64::from(self.ways) * u64::from(self.line_bytes);
        if self.size_bytes == 0 || !self.size_bytes.is_multiple_of(set_bytes) {
            return Err(format!(
                "{} bytes are no multiple of ways x line = {set_bytes} bytes",
                self.size_bytes
            ));
        }
        if self.size_bytes > MAX_SIZE_BYTES {
            return Err("more than 64 GiB".into());
        }
        Ok(())
    }
}

/// A number of bytes, perhaps with K, M or G for the powers of 1024.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The shortest form that [`parse_size`] reads.
pub(super) fn short_size(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let unit = units
        .iter()
        .find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    unit.map_or(bytes.to_string(), |(shift, name)| {
        format!("{}{name}", bytes >> shift)
    })
}
