//! Where entries are kept.

use crate::analyses::branches::history::GlobalHistory;

/// What a branch did after a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Entry {
    pub tag: u16,
    /// Predicts taken if at least 0.
    pub counter: i8,
    /// It was right where a shorter history would have been wrong.
    pub is_useful: bool,
}

/// The tables of a TAGE, counted from 1 by rising histories. Table 0 is not there: it stands for the base.
pub trait Banks {
    fn count(&self) -> usize;

    /// Bits of history of a table, 0 of table 0.
    fn history_length(&self, table: usize) -> usize;

    fn counter_bits(&self) -> u32;

    /// Whether entries take each other's place.
    fn is_limited(&self) -> bool;

    /// Chooses the entries that the methods below are about.
    fn look_up(&mut self, address: u64);

    /// The entry with the right tag.
    fn entry(&self, table: usize) -> Option<&Entry>;

    fn entry_mut(&mut self, table: usize) -> Option<&mut Entry>;

    /// Puts a new entry in, unless what stands there is useful.
    fn allocate(&mut self, table: usize, taken: bool) -> bool;

    /// No entry is useful any more.
    fn age(&mut self);

    /// Takes the newest bit of a history, just pushed.
    fn follow(&mut self, history: &GlobalHistory);

    /// `None`: unlimited.
    fn storage_bits(&self) -> Option<u64>;
}

/// The counter of a new entry: weakly what was seen.
pub(super) fn weakly(taken: bool) -> i8 {
    if taken {
        0
    } else {
        -1
    }
}
