//! Indices of the program-wide lists; one type per list, so that they can't be mixed up.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into the list that it belongs to.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An instruction (or one half of a copy) that accesses memory: an index into [`crate::Program::sites`].
    SiteId;
    /// An index into [`crate::Program::functions`].
    FunctionId;
    /// A call that allocates or frees: an index into [`crate::Program::allocation_sites`].
    AllocationSiteId;
    /// A place in the source: an index into [`crate::Program::locations`]. 0 is the unknown place.
    LocationId;
    /// A static variable of one loaded module: an index into [`crate::Program::symbols`].
    SymbolId;
    /// A string that the program's tables share; see [`crate::Program::string`]. 0 is the empty string.
    StringId;
    /// A structure: an index into [`crate::Program::types`].
    TypeId;
    /// An instruction of machine code: an index into [`crate::Program::instructions`].
    InstructionId;
    /// A basic block of machine code: an index into [`crate::Program::machine_blocks`].
    MachineBlockId;
    /// One loaded module (translation unit): an index into [`crate::Program::modules`].
    ModuleId;
}
