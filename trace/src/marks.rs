//! When recording was on, and what was marked meanwhile (`docs/format.md`, section 1.2, kind 16).

mod list;
mod window;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use list::{MarkLimits, MarkList};
pub(crate) use window::windows;
pub use window::Window;

/// Something that happened to the recording or that somebody marked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MarkInfo {
    /// CLOCK_MONOTONIC nanoseconds.
    pub ns: u64,
    pub kind: MarkKind,
    /// Number of the window that opens or closes, from 1; none for others.
    pub window: Option<u64>,
    /// What made it happen: `start`, `program`, `control`, `timer`, `burst`, `limit`, `region`, `flight`, `end` or another
    /// word.
    pub cause: String,
    /// The process, as the system numbers it; none: all processes.
    pub pid: Option<u32>,
    /// The thread, as the system numbers it; none: all threads of the process.
    pub tid: Option<u32>,
    /// What a mark says.
    pub text: Option<String>,
}

/// What a mark stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MarkKind {
    /// From here on, threads record.
    Opens,
    /// From here on, threads don't record.
    Closes,
    /// A moment that has a text.
    #[default]
    Mark,
    /// A word that this version does not know.
    Other(String),
}

impl MarkKind {
    /// Its word in the payload.
    pub fn name(&self) -> &str {
        match self {
            MarkKind::Opens => "opens",
            MarkKind::Closes => "closes",
            MarkKind::Mark => "mark",
            MarkKind::Other(name) => name,
        }
    }
}

impl From<String> for MarkKind {
    fn from(name: String) -> Self {
        let known = [MarkKind::Opens, MarkKind::Closes, MarkKind::Mark];
        known
            .into_iter()
            .find(|kind| kind.name() == name)
            .unwrap_or(MarkKind::Other(name))
    }
}

impl Serialize for MarkKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MarkKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(MarkKind::from)
    }
}

/// The payload of a chunk of kind [`ChunkKind::Marks`](crate::ChunkKind::Marks).
pub fn encode_marks(marks: &[MarkInfo]) -> Vec<u8> {
    serde_json::to_vec(marks).expect("plain values")
}

#[cfg(test)]
mod tests;
