//! Owners of memory.

use crate::analyses::allocations::Frame;

/// What memory belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A call of an allocator, or of mmap.
    CallSite(Frame),
    /// A variable of the program or of a library; empty if only the object is known.
    Global { object: String, variable: String },
    /// A thread's stack, by the system's id of the thread.
    Stack { tid: u32 },
    /// A file that is mapped, and no object's data.
    File { path: String },
    /// The program break's memory, but no live block: the allocator's own, or a block whose call is missing.
    FreeHeap,
    /// Mapped without a file, by a call that wasn't recorded.
    Anonymous,
    /// Nothing is known to be mapped there.
    Unmapped,
    /// The sample's instruction accesses memory, but where is not known.
    NoAddress,
    /// The sample's instruction accesses no memory.
    NoAccess,
}

impl Owner {
    /// The kind's name in tables.
    pub fn kind(&self) -> &'static str {
        match self {
            Owner::CallSite(_) => "allocation",
            Owner::Global { .. } => "global",
            Owner::Stack { .. } => "stack",
            Owner::File { .. } => "file",
            Owner::FreeHeap => "free heap",
            Owner::Anonymous => "anonymous",
            Owner::Unmapped => "unknown",
            Owner::NoAddress => "no address",
            Owner::NoAccess => "no access",
        }
    }

    /// Name of the owner.
    pub fn name(&self) -> String {
        match self {
            Owner::CallSite(frame) => frame.function.clone(),
            Owner::Global { object, variable } if variable.is_empty() => object.clone(),
            Owner::Global { variable, .. } => variable.clone(),
            Owner::Stack { tid } => format!("thread {tid}"),
            Owner::File { path } => path.clone(),
            _ => String::new(),
        }
    }

    /// The source file, or else the object and where in it.
    pub fn file(&self) -> String {
        match self {
            Owner::CallSite(frame) if !frame.file.is_empty() => frame.file.clone(),
            _ => self.place(),
        }
    }

    pub fn line(&self) -> Option<u64> {
        match self {
            Owner::CallSite(frame) => Some(frame.line).filter(|line| *line > 0),
            _ => None,
        }
    }

    /// Where that is in the source, or else in an object.
    pub fn place(&self) -> String {
        match self {
            Owner::CallSite(frame) => frame.place(),
            Owner::Global { object, .. } => object.clone(),
            _ => String::new(),
        }
    }

    /// Name and place in one.
    pub fn label(&self) -> String {
        match (self.name(), self.place()) {
            (name, place) if name.is_empty() && place.is_empty() => self.kind().to_owned(),
            (name, place) if place.is_empty() || place == name => format!("{} {name}", self.kind()),
            (name, place) => format!("{name} at {place}"),
        }
    }

    /// Whether it says where in memory the access went.
    pub fn is_memory(&self) -> bool {
        !matches!(self, Owner::NoAddress | Owner::NoAccess)
    }
}
