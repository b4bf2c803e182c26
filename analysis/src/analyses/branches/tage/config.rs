//! Sizes of a TAGE.

/// A table of entries with tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaggedTable {
    pub log2_entries: u32,
    /// From 1 to 16.
    pub tag_bits: u32,
    /// Bits of global history.
    pub history: usize,
}

/// Sizes of a TAGE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TageConfig {
    /// Binary logarithm of the entries of the bimodal table.
    pub base_log2_entries: u32,
    /// From 2 to 8.
    pub counter_bits: u32,
    /// Tables in the order of rising histories.
    pub tables: Vec<TaggedTable>,
}

impl Default for TageConfig {
    /// 57 KiB in 15 tables of 2048 entries. The five tables of the shortest histories have tags of 8 bits, the others
    /// of 12. That is as many bits (450,560) as the 30 banks of Seznec's predictor of 64 KiB (CBP-5, 2016). Histories
    /// go from 6 to 3000 bits, as there. The bimodal table has 8192 counters.
    fn default() -> Self {
        TageConfig::geometric(11, 15, 6, 3000)
    }
}

impl TageConfig {
    /// A number of tables of equal size, whose histories are a geometric series from `shortest` to `longest` bits.
    pub fn geometric(log2_entries: u32, count: usize, shortest: usize, longest: usize) -> Self {
        let tables = geometric_series(count, shortest, longest).enumerate();
        TageConfig {
            base_log2_entries: 13,
            counter_bits: 3,
            tables: tables
                .map(|(place, history)| TaggedTable {
                    log2_entries,
                    tag_bits: if place * 3 < count { 8 } else { 12 },
                    history,
                })
                .collect(),
        }
    }

    pub fn longest_history(&self) -> usize {
        self.tables.iter().map(|table| table.history).max().unwrap_or(0)
    }
}

/// Rising lengths, `shortest` times powers of one ratio, rounded.
pub(in crate::analyses::branches) fn geometric_series(
    count: usize,
    shortest: usize,
    longest: usize,
) -> impl Iterator<Item = usize> {
    let ratio = longest as f64 / shortest as f64;
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count).map(move |place| (shortest as f64 * ratio.powf(place as f64 / steps)).round() as usize)
}
