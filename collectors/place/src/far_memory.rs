//! Where advised allocations go.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use tempfile::TempPath;
use trackway_answers::failure::Failure;
use trackway_trace::{Existing, OutputFile};

use crate::memkind::Kind;
use crate::{nodes, PlaceArguments};

/// Bytes at most, if nobody says.
const MOST_BYTES: u64 = 64 << 30;
const PAGE: u64 = 4096;

/// A place for blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarMemory {
    /// A mapped file.
    File(PathBuf),
    /// NUMA nodes; at least one.
    Nodes(Vec<u32>),
    /// What memkind allocates from.
    Memkind(Kind),
}

impl fmt::Display for FarMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FarMemory::File(path) => write!(formatter, "{}", path.display()),
            FarMemory::Nodes(nodes) => {
                let numbers: Vec<String> = nodes.iter().map(u32::to_string).collect();
                let word = if nodes.len() == 1 { "node" } else { "nodes" };
                write!(formatter, "NUMA {word} {}", numbers.join(","))
            }
            FarMemory::Memkind(Kind::Folder(folder)) => {
                write!(formatter, "memkind's files in {}", folder.display())
            }
            FarMemory::Memkind(Kind::Named(name)) => write!(formatter, "memkind's kind {name}"),
        }
    }
}

/// What a run of a program puts blocks into.
pub struct Prepared {
    pub memory: FarMemory,
    pub capacity_bytes: u64,
    /// It goes when the program has ended.
    _file: Option<TempPath>,
}

/// Looks whether the memory can be had, and creates the file that is to be mapped.
///
/// # Errors
/// If it can't be had.
pub fn prepare(arguments: &PlaceArguments) -> Result<Prepared, Failure> {
    let asked = arguments.far_size;
    let capacity_bytes = asked.unwrap_or(MOST_BYTES);
    let (memory, capacity_bytes) = match (&arguments.far_file, &arguments.far_node, &arguments.far_memkind) {
        (Some(_), ..) => return prepare_file(arguments, capacity_bytes),
        (None, Some(text), _) => {
            let (nodes, free_bytes) = nodes::require(text)?;
            // Where nodes are full the kernel ends programs that are bound to them.
            let most = asked.unwrap_or_else(|| MOST_BYTES.min(free_bytes / PAGE * PAGE).max(PAGE));
            (FarMemory::Nodes(nodes), most)
        }
        (None, None, Some(kind)) => {
            let kind = kind.clone().require(capacity_bytes)?;
            (FarMemory::Memkind(kind), capacity_bytes)
        }
        (None, None, None) => {
            return Err(Failure::new(
                "name far memory: --far-file PATH, --far-node NODES or --far-memkind KIND",
            ))
        }
    };
    Ok(Prepared {
        memory,
        capacity_bytes,
        _file: None,
    })
}

fn prepare_file(arguments: &PlaceArguments, capacity_bytes: u64) -> Result<Prepared, Failure> {
    let path = arguments.far_file.clone().unwrap_or_default();
    let file = OutputFile::create(&path, Existing::with_force(arguments.force))?;
    if file.random_access().is_none() {
        // It would be removed in the end.
        return Err(Failure::about(
            &path,
            "is no regular file, which alone can be mapped; name a new one",
        ));
    }
    file.finish()?;
    let path = fs::canonicalize(&path).map_err(|error| Failure::about(&path, error))?;
    Ok(Prepared {
        memory: FarMemory::File(path.clone()),
        capacity_bytes,
        _file: TempPath::try_from_path(path).ok(),
    })
}
