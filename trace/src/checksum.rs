//! What the text of a source file was when it was compiled.

use std::collections::BTreeMap;

use crate::StringId;

/// A hash over a whole source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceChecksum {
    Md5([u8; 16]),
    Sha256([u8; 32]),
}

impl SourceChecksum {
    /// The byte that stands before it in a table.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            SourceChecksum::Md5(_) => 1,
            SourceChecksum::Sha256(_) => 2,
        }
    }

    pub(crate) fn digest(&self) -> &[u8] {
        match self {
            SourceChecksum::Md5(digest) => digest,
            SourceChecksum::Sha256(digest) => digest,
        }
    }
}

/// The checksums of each file. Modules that were compiled from different texts of one file give it several.
#[derive(Debug, Default)]
pub struct SourceChecksums(BTreeMap<StringId, Vec<SourceChecksum>>);

impl SourceChecksums {
    pub(crate) fn add(&mut self, file: StringId, checksum: SourceChecksum) {
        let known = self.0.entry(file).or_default();
        if !known.contains(&checksum) {
            known.push(checksum);
        }
    }

    /// Empty if the trace has none of the file.
    pub fn of(&self, file: StringId) -> &[SourceChecksum] {
        self.0.get(&file).map_or(&[], Vec::as_slice)
    }
}
