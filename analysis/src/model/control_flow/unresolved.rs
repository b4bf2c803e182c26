//! What a trace doesn't tell of the branches that were executed.

/// Conditional branches whose outcomes are unknown and that are left out, and what else a source could not place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// Nothing is known to follow: the stream ends, or records are missing.
    pub cut_off: u64,
    /// Neither the target nor the next instruction followed: a signal came between.
    pub interrupted: u64,
    /// Both ways lead to the same instruction.
    pub indistinct: u64,
    /// Nothing that was recorded says which way they went.
    pub unrecorded: u64,
    /// Not left out: of unknown target, taken since the next instruction did not follow.
    pub assumed_taken: u64,
    /// Instructions after the last branch.
    pub instructions_behind: u64,
}

impl Unresolved {
    /// Conditional branches that are in no number.
    pub fn left_out(&self) -> u64 {
        self.cut_off + self.interrupted + self.indistinct + self.unrecorded
    }

    pub fn add(&mut self, other: &Unresolved) {
        self.cut_off += other.cut_off;
        self.interrupted += other.interrupted;
        self.indistinct += other.indistinct;
        self.unrecorded += other.unrecorded;
        self.assumed_taken += other.assumed_taken;
        self.instructions_behind += other.instructions_behind;
    }
}
