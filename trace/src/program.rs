//! What the records of a trace mean: functions, sites, variables and places of all its modules, merged.

use crate::checksum::SourceChecksums;
use crate::flow::FunctionFlow;
use crate::interner::Interner;
use crate::table::{Count, TableStep};
use crate::table_enum::table_enum;
use crate::{AllocationSiteId, FunctionId, LocationId, ModuleId, SiteId, StringId, SymbolId, TypeId};
use crate::{Callee, CodeBlock, ImageCounters, Instruction, MachineBlock};

/// The tables of all modules under one numbering. A table that was loaded several times (fork and exec, a plug-in
/// opened twice) counts once in everything but `modules` and `symbols`.
#[derive(Debug, Default)]
pub struct Program {
    pub(crate) strings: Interner,
    pub functions: Vec<Function>,
    /// The control flow of each function.
    pub flows: Vec<FunctionFlow>,
    pub sites: Vec<Site>,
    /// What a processor does for the accesses of each site; of some modules nothing is known.
    pub work: Vec<Option<SiteWork>>,
    pub allocation_sites: Vec<AllocationSite>,
    /// The static variables of each loaded module.
    pub symbols: Vec<Symbol>,
    /// Number 0 is the unknown place.
    pub locations: Vec<Location>,
    /// Structures whose fields the sites name; the types of a structure's members precede it.
    pub types: Vec<TypeLayout>,
    /// The code of modules that count.
    pub blocks: Vec<CodeBlock>,
    /// The instructions of machine code, module after module; sites of such modules are those of instructions.
    pub instructions: Vec<Instruction>,
    /// The basic blocks of machine code as they were executed.
    pub machine_blocks: Vec<MachineBlock>,
    /// The loaded modules in the order of the trace, or of the tables in a program's file.
    pub modules: Vec<Module>,
    /// Checksums of source files, as far as the compiler provides them.
    pub source_checksums: SourceChecksums,
    /// Names of the regions of interest that the code of modules enters or leaves, each once.
    pub regions: Vec<StringId>,
}

/// One load of one translation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Source file, as the compiler got it.
    pub source_file: StringId,
    /// The compiler's name and version.
    pub producer: StringId,
    /// Hash of the module's table.
    pub key: u64,
    /// Id of its first segment; 0 if read from a program's file.
    pub first_segment: u32,
    pub segment_count: u32,
    /// Loops that one record stands for.
    pub loop_count: u64,
    /// Run-time address of its descriptor; none if read from a program's file.
    pub address: Option<u64>,
    /// Whether it was built with the oracle.
    pub oracle: bool,
    /// Whether it records function entry and exit.
    pub calls: bool,
    /// Whether it records what gives threads an order.
    pub order: bool,
    /// The module's functions in [`Program::functions`].
    pub functions: std::ops::Range<u32>,
    /// The module's sites in [`Program::sites`].
    pub sites: std::ops::Range<u32>,
    /// The module's symbols in [`Program::symbols`].
    pub symbols: std::ops::Range<u32>,
    /// The module's blocks in [`Program::blocks`].
    pub blocks: std::ops::Range<u32>,
    /// The module's instructions in [`Program::instructions`], if it describes machine code.
    pub instructions: std::ops::Range<u32>,
    /// The module's blocks in [`Program::machine_blocks`]: one for each segment, in their order.
    pub machine_blocks: std::ops::Range<u32>,
    /// Number of its counters, if it counts instead of recording.
    pub counter_count: Option<u32>,
    /// Its variables after the counters.
    pub derived: std::sync::Arc<[Count]>,
    /// Functions whose calls it times in part.
    pub callees: std::sync::Arc<[Callee]>,
    /// How often its code that counts is executed.
    pub steps: std::sync::Arc<[TableStep]>,
    /// Where its counters stand; none if it doesn't count, or was read from a program's file.
    pub counters: Option<ImageCounters>,
    /// Number of the process that loaded it; 0 if read from a program's file.
    pub process: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub linkage_name: StringId,
    /// Name as in the source; empty if unknown.
    pub name: StringId,
    pub source_file: StringId,
    pub location: LocationId,
    /// Whether it has a copy that doesn't record.
    pub has_plain_copy: bool,
    pub coverage: Coverage,
}

/// How much of a function is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Instructions that access memory.
    pub accesses: u64,
    /// Instructions whose accesses are recorded.
    pub recorded: u64,
    /// Instructions that the user's filters left out.
    pub filtered: u64,
    /// Instructions that cannot be recorded: inline assembly, unmodelled intrinsics, other address spaces.
    pub not_recordable: u64,
}

/// An instruction that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub function: FunctionId,
    /// Position of the instruction in its function, before instrumentation.
    pub ordinal: u32,
    /// 1 for the write of a copy, else 0.
    pub part: u8,
    pub kind: AccessKind,
    /// Bytes; 0: each access has a length of its own.
    pub size: u32,
    pub location: LocationId,
    /// Whether a loop does nothing but this access, at one address, as a thread does that waits for another one.
    pub waits: bool,
    /// The variable through which the access goes; empty if unknown.
    pub variable: StringId,
    pub variable_kind: VariableKind,
    /// The type of which `field` is a part; empty if unknown.
    pub object_type: StringId,
    /// Path of the field in the object type; empty if unknown.
    pub field: StringId,
    pub value_type: StringId,
}

/// What a processor does for the accesses of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteWork {
    /// Instructions of the compiler's intermediate code since the access before it in its basic block, in which divisions
    /// count as 16 and calls as 8.
    pub instructions: u32,
    /// Instructions that a core could execute, at five in a cycle, while the access's loop waits for values that it carries.
    pub waits: u32,
    /// Sites whose loaded values the address follows from.
    pub loads: Vec<SiteId>,
    /// Whether the address also follows from an argument, or from the result of a call.
    pub from_elsewhere: bool,
}

/// A call that allocates or frees memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationSite {
    pub function: FunctionId,
    pub ordinal: u32,
    pub operation: AllocationOperation,
    pub location: LocationId,
    /// Name of the called function.
    pub allocator: StringId,
    /// Empty if unknown.
    pub element_type: StringId,
    /// Bytes; 0 if unknown.
    pub element_size: u64,
    /// The variable that receives or gives the pointer; empty if unknown.
    pub variable: StringId,
}

/// A static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub module: ModuleId,
    pub name: StringId,
    pub type_name: StringId,
    /// Bytes; 0 if unknown.
    pub size: u64,
    /// Run-time address; none if read from a program's file.
    pub address: Option<u64>,
    pub location: LocationId,
}

/// Where the members of a structure lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeLayout {
    /// Empty: it has none, or shares it with others of its module that differ.
    pub name: StringId,
    pub kind: StructureKind,
    /// Bytes.
    pub size: u64,
    /// Bytes; a power of two.
    pub alignment: u64,
    /// Members in the order of their offsets.
    pub members: Vec<MemberLayout>,
}

/// A field, a bit-field or a base class of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberLayout {
    /// Name as in the paths of fields; for a base class, its type. Empty: anonymous.
    pub name: StringId,
    pub type_name: StringId,
    pub kind: MemberKind,
    pub offset_bits: u64,
    pub size_bits: u64,
    /// Bytes; a power of two.
    pub alignment: u64,
    /// The member's type if it is a structure, or its elements' if it is an array of structures.
    pub nested: Option<TypeId>,
}

/// A place in the source, perhaps inlined into another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// Linkage name of the function in which the text stands.
    pub function: StringId,
    pub file: StringId,
    /// Line number from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
    /// The place into which this one was inlined.
    pub inlined_at: Option<LocationId>,
}

table_enum! {
    /// What an access does.
    AccessKind {
        Load = 0 "load",
        Store = 1 "store",
        AtomicLoad = 2 "atomic load",
        AtomicStore = 3 "atomic store",
        AtomicReadModifyWrite = 4 "atomic read-modify-write",
        AtomicCompareExchange = 5 "atomic compare-exchange",
        CopyRead = 6 "copy read",
        CopyWrite = 7 "copy write",
        Fill = 8 "fill",
        LibraryRead = 9 "library read",
        LibraryWrite = 10 "library write",
    }
}

impl AccessKind {
    /// Whether memory is read.
    pub fn reads(self) -> bool {
        !matches!(
            self,
            Self::Store | Self::AtomicStore | Self::CopyWrite | Self::Fill | Self::LibraryWrite
        )
    }

    /// Whether memory is written; true for a compare-exchange, since only the machine knows whether it writes.
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Self::Load | Self::AtomicLoad | Self::CopyRead | Self::LibraryRead
        )
    }

    /// Whether a function of a library accesses memory, which the call's site stands for.
    pub fn is_by_library(self) -> bool {
        matches!(self, Self::LibraryRead | Self::LibraryWrite)
    }
}

table_enum! {
    /// What sort of variable a site's variable is.
    #[derive(Default)]
    VariableKind {
        #[default]
        Unknown = 0 "unknown",
        Global = 1 "global",
        Static = 2 "static",
        Local = 3 "local",
        Parameter = 4 "parameter",
        Expression = 5 "expression",
        CompilerMade = 6 "compiler-made",
    }
}

table_enum! {
    /// What a structure was declared as.
    StructureKind {
        Struct = 0 "struct",
        Class = 1 "class",
        Union = 2 "union",
    }
}

table_enum! {
    /// What a member of a structure is.
    MemberKind {
        Field = 0 "field",
        BitField = 1 "bit-field",
        Base = 2 "base class",
    }
}

table_enum! {
    /// What an allocation site does.
    AllocationOperation {
        Allocate = 0 "allocate",
        Free = 1 "free",
        Reallocate = 2 "reallocate",
    }
}

/// By what records name a region of interest (`docs/format.md`, section 2.1).
pub fn region_hash(name: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name.as_bytes())
}

impl Program {
    /// The text of an interned string.
    ///
    /// # Panics
    /// If the id belongs to another program.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// The id of a text, if the program has it.
    pub fn find_string(&self, text: &str) -> Option<StringId> {
        self.strings.find(text)
    }

    /// The name of a region of interest, by its hash; none if no module has such a one.
    pub fn region_name(&self, hash: u64) -> Option<&str> {
        let mut names = self.regions.iter().map(|name| self.string(*name));
        names.find(|name| region_hash(name) == hash)
    }

    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id.index()]
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn allocation_site(&self, id: AllocationSiteId) -> &AllocationSite {
        &self.allocation_sites[id.index()]
    }

    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    pub fn type_layout(&self, id: TypeId) -> &TypeLayout {
        &self.types[id.index()]
    }

    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }

    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.index()]
    }

    /// A function's name as in the source, or its linkage name where that is unknown.
    pub fn function_name(&self, id: FunctionId) -> &str {
        let function = self.function(id);
        match self.string(function.name) {
            "" => self.string(function.linkage_name),
            name => name,
        }
    }

    /// The place and the places into which it was inlined, innermost first. Empty for the unknown place.
    pub fn inline_stack(&self, id: LocationId) -> impl Iterator<Item = LocationId> + '_ {
        let known = Some(id).filter(|id| id.0 != 0);
        std::iter::successors(known, |id| self.location(*id).inlined_at)
    }
}
