//! What a program's control flow is made of.

/// What kind of instruction transfers control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BranchKind {
    /// The only kind whose direction is predicted.
    Conditional,
    /// A direct unconditional jump.
    Jump,
    IndirectJump,
    Call,
    IndirectCall,
    Return,
}

impl BranchKind {
    pub fn is_conditional(self) -> bool {
        self == BranchKind::Conditional
    }
}

/// An executed branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchEvent {
    /// The instruction's address, or another number that no other branch of the process has.
    pub address: u64,
    pub kind: BranchKind,
    /// Whether control went to the target; always true of kinds other than [`BranchKind::Conditional`].
    pub taken: bool,
    /// Where control went if it was taken; 0 if that is unknown.
    pub target: u64,
    /// Instructions that the thread executed since its branch before, this one included.
    pub instructions: u32,
}

/// The branches of one thread in program order.
pub trait BranchSource {
    type Error;

    /// Passes all of them, first to last, to `take`.
    ///
    /// # Errors
    ///
    /// The error that keeps the source from reading on. What was passed on until then is right.
    fn for_each(&mut self, take: &mut dyn FnMut(&BranchEvent)) -> Result<(), Self::Error>;
}
