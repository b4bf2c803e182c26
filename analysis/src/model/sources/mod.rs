//! The one way from a trace to the text of a source file.
//!
//! A trace names its source files, and it may come from somebody else. So a file is quoted only if its content agrees
//! with the checksum that the compiler left in the trace: then the trace's author knew the text already. A file without
//! a checksum is quoted only below a folder of the reader's choice. docs/collectors.md, "Source lines", states the
//! rule.

mod open;
mod places;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use sha2::Sha256;
use trackway_trace::{Program, SourceChecksum, Trace};

use open::{read_below, read_regular};
use places::{is_source_name, names_of, Places};

/// What stands in place of the first line of a file that is not what was compiled.
pub const CHANGED: &str = "(source changed since the trace was made)";

/// What is known of a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceText {
    /// There is no such file, or it may not be shown.
    Unknown,
    /// The file is there, but it isn't what was compiled.
    Changed,
    Text(String),
}

/// The source files of a trace, read when first asked for.
pub struct SourceFiles<'p> {
    program: &'p Program,
    places: Places,
    texts: RefCell<HashMap<String, SourceText>>,
    told: RefCell<HashSet<String>>,
}

impl<'p> SourceFiles<'p> {
    /// Files are searched below `root`, besides the places that the trace names. Files without a checksum are quoted
    /// only below `root`. If it is none, the present folder is used.
    pub fn of(trace: &'p Trace, root: Option<&Path>) -> Self {
        let working_directory = trace.meta().working_directory.as_ref();
        SourceFiles::new(trace.program(), working_directory, root)
    }

    pub fn new(program: &'p Program, working_directory: &Path, root: Option<&Path>) -> Self {
        SourceFiles {
            program,
            places: Places::new(working_directory, root),
            texts: RefCell::default(),
            told: RefCell::default(),
        }
    }

    /// The text of that line, from 1; none if it may not or can't be shown. For a changed file it is [`CHANGED`], once.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let index = (line as usize).checked_sub(1)?;
        self.with_text(file, |text| match text {
            SourceText::Unknown => None,
            SourceText::Changed => self
                .told
                .borrow_mut()
                .insert(file.to_owned())
                .then(|| CHANGED.to_owned()),
            SourceText::Text(text) => text.lines().nth(index).map(|line| line.trim().to_owned()),
        })
    }

    /// The whole file, by its path in the trace, or by that path without the folder in which the program ran.
    pub fn text(&self, file: &str) -> SourceText {
        self.with_text(file, SourceText::clone)
    }

    /// Whether a file can only be quoted if its content is what was compiled.
    pub fn has_checksum(&self, file: &str) -> bool {
        !self.checksums(file).is_empty()
    }

    /// All places where files of the program are searched, whether there is one or not.
    pub fn all_places(&self) -> BTreeSet<PathBuf> {
        let locations = self.program.locations.iter();
        let files: BTreeSet<_> = locations.map(|location| location.file).collect();
        let mut places = BTreeSet::new();
        for file in files.into_iter().map(|file| self.program.string(file)) {
            let in_tables = Path::new(file).strip_prefix(self.places.working_directory());
            let in_tables = in_tables.ok().and_then(Path::to_str);
            places.extend(
                [file]
                    .into_iter()
                    .chain(in_tables)
                    .flat_map(|file| self.places.named(file)),
            );
            places.extend(self.places.below_root(file));
        }
        places
    }

    fn with_text<T>(&self, file: &str, take: impl FnOnce(&SourceText) -> T) -> T {
        let mut texts = self.texts.borrow_mut();
        take(texts.entry(file.to_owned()).or_insert_with(|| self.read(file)))
    }

    fn checksums(&self, file: &str) -> &'p [SourceChecksum] {
        let mut known = names_of(file, self.places.working_directory())
            .filter_map(|name| self.program.find_string(name.to_str()?))
            .map(|name| self.program.source_checksums.of(name));
        known.find(|checksums| !checksums.is_empty()).unwrap_or_default()
    }

    fn read(&self, file: &str) -> SourceText {
        match self.checksums(file) {
            [] => self.read_unchecked(file),
            checksums => self.read_checked(file, checksums),
        }
    }

    fn read_checked(&self, file: &str, checksums: &[SourceChecksum]) -> SourceText {
        let mut found = SourceText::Unknown;
        for path in self.places.named(file).chain(self.places.below_root(file)) {
            let Ok(content) = read_regular(&path) else {
                continue;
            };
            if checksums.iter().all(|checksum| agrees(&content, checksum)) {
                return text(&content);
            }
            found = SourceText::Changed;
        }
        found
    }

    fn read_unchecked(&self, file: &str) -> SourceText {
        let Some(root) = self.places.root().filter(|_| is_source_name(file)) else {
            return SourceText::Unknown;
        };
        let mut paths = self.places.named(file).chain(self.places.below_root(file));
        let content = paths.find_map(|path: PathBuf| read_below(root, &path).ok());
        content.map_or(SourceText::Unknown, |content| text(&content))
    }
}

fn text(content: &[u8]) -> SourceText {
    SourceText::Text(String::from_utf8_lossy(content).into_owned())
}

fn agrees(content: &[u8], checksum: &SourceChecksum) -> bool {
    match checksum {
        SourceChecksum::Md5(digest) => Md5::digest(content)[..] == digest[..],
        SourceChecksum::Sha256(digest) => Sha256::digest(content)[..] == digest[..],
    }
}

#[cfg(test)]
mod tests;
