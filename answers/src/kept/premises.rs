//! What an answer rests on.

use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackway_analysis::sources::SourceFiles;
use trackway_trace::Trace;
use xxhash_rust::xxh3::xxh3_128;

use super::file_state::FileState;
use super::Asked;

/// All that is known before the trace is opened. Two questions with the same premises have the same answer as long as
/// the source files stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Premises {
    /// Version and file of this program.
    version: String,
    program: FileState,
    pub verb: String,
    options: String,
    pub trace: PathBuf,
    trace_state: FileState,
    /// Below which unchecked source files may be quoted.
    present_folder: PathBuf,
    source_root: Option<PathBuf>,
}

impl Premises {
    /// None if there is no such trace, or something else can't be found out.
    pub fn of(asked: &Asked) -> Option<Premises> {
        Some(Premises {
            version: env!("CARGO_PKG_VERSION").into(),
            program: FileState::of(&env::current_exe().ok()?)?,
            verb: asked.verb.into(),
            options: asked.options.clone(),
            trace: asked.trace.into(),
            trace_state: FileState::of(asked.trace)?,
            present_folder: env::current_dir().ok()?,
            source_root: asked.source_root.map(Path::to_owned),
        })
    }

    /// The name of the entry.
    pub fn name(&self) -> Option<String> {
        let text = serde_json::to_vec(self).ok()?;
        Some(format!("{:032x}", xxh3_128(&text)))
    }
}

/// A place where a source file may be, and what was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceState {
    place: PathBuf,
    state: Option<FileState>,
}

impl SourceState {
    pub fn of(place: PathBuf) -> SourceState {
        SourceState {
            state: FileState::of(&place),
            place,
        }
    }

    pub fn is_true(&self) -> bool {
        FileState::of(&self.place) == self.state
    }
}

/// All places where source files of the trace are searched.
pub(super) fn source_files(trace: &Trace, root: Option<&Path>) -> Vec<SourceState> {
    let places = SourceFiles::of(trace, root).all_places();
    places.into_iter().map(SourceState::of).collect()
}
