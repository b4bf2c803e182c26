//! The Trackway trace: writing it, reading it, and decoding it into events.
//!
//! The layers follow `docs/format.md`: [`chunk`] and [`TraceWriter`]/[`Trace`] are the file, [`table`] is the module
//! table that the compiler pass embeds, [`Program`] is all tables of a trace merged, and [`Decoder`] turns record
//! streams into columnar [`Batch`]es. [`check`] is the slow, checking decoder and [`oracle`] compares a trace with the
//! access-by-access account of an oracle build.

pub mod allocations;
mod batch;
mod build_id;
mod bytes;
pub mod check;
mod checksum;
pub mod chunk;
mod code;
mod columns;
mod counts;
mod decoder;
mod encoding_times;
mod error;
mod event;
pub mod flow;
mod folder;
mod ids;
mod index;
mod info;
mod interner;
mod joined;
pub mod machine;
mod mappings;
mod marks;
mod merge;
mod merged;
mod module;
pub mod oracle;
pub mod output_file;
mod payload;
mod program;
mod regular_file;
mod samples;
mod slice;
mod stacks;
mod synchronisation;
pub mod table;
mod table_enum;
mod trace;
mod value;
mod writer;

pub use batch::{Batch, BatchItem, Interval, Lane, LongBlock, Piece, RecordedValue, Run};
pub use build_id::{build_id, hexadecimal};
pub use checksum::{SourceChecksum, SourceChecksums};
pub use chunk::{Chunk, ChunkFields, ChunkHeader, ChunkKind, ChunkRef, Codec};
pub use counts::{
    BlockAccess, Callee, CalleeCounters, CodeBlock, CountingThread, Node, NodeCounts, NodePlace, Origin,
    StepCosts, StepKind, COUNTED_ENTRY, HARDWARE_EVENTS, INHERITED, NANOSECONDS, NODE_HEAD_LENGTH,
    WHOLE_PROGRAM,
};
pub use decoder::{Batches, ChunkDecoder, Decoder};
pub use encoding_times::EncodingTimes;
pub use error::TraceError;
pub use event::{Event, Mark};
pub use folder::traces_in;
pub use ids::{
    AllocationSiteId, FunctionId, InstructionId, LocationId, MachineBlockId, ModuleId, SiteId, StringId,
    SymbolId, TypeId,
};
pub use index::{check_file_header, file_header, FILE_HEADER_LENGTH};
pub use info::{CacheInfo, EndInfo, ProcessEvent, ProcessInfo, StartInfo};
pub use joined::JoinedBatches;
pub use machine::{Instruction, InstructionKind, MachineBlock};
pub use mappings::{
    encode_mappings, parse_mappings, Mapping, MappingChange, MappingEvent, Mappings, Protection,
};
pub use marks::{encode_marks, MarkInfo, MarkKind, Window};
pub use merged::{Exactness, MergedStreams, INTERVALS_NS};
pub use module::{encode_counting_module, encode_module, ImageCounters};
pub use output_file::{Existing, OutputError, OutputFile};
pub use payload::{plain_chunk, ChunkEncoder, Effort, MAX_RAW_LENGTH};
pub use program::{
    region_hash, AccessKind, AllocationOperation, AllocationSite, Coverage, Function, Location, MemberKind,
    MemberLayout, Module, Program, Site, SiteWork, StructureKind, Symbol, TypeLayout, VariableKind,
};
pub use regular_file::{open_regular, open_regular_itself};
pub use samples::{
    AddressClass, CodePlace, CodePlaces, DataSource, Direction, MemoryLevel, Sample, SampledEvent, Samples,
    SamplingInfo, Skid, WindowAccess, WindowAddress, WindowEnd,
};
pub use slice::Slice;
pub use stacks::encode_stacks;
pub use synchronisation::{Clock, Side, Synchronisation, Synchroniser};
pub use trace::{Damage, Follower, Gap, GapReason, GrowingTrace, Stream, Trace};
pub use value::{Value, ValueForm, ValueShape, MAX_VALUE_BITS};
pub use writer::{random_identity, Resumption, TraceWriter};

/// Version of the trace format and of the module table that this crate writes; it reads no greater one.
pub const FORMAT_VERSION: u16 = 2;
