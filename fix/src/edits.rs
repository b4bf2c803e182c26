//! Edits of source files, and the patch that they make.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use similar::TextDiff;

use crate::uses::Span;

/// Lines around each change in a patch.
const CONTEXT: usize = 3;
const LAST: usize = usize::MAX;

/// A text that replaces another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edit {
    begin: usize,
    end: usize,
    /// The lower of two insertions at one place comes first.
    order: usize,
    text: String,
}

/// Edits by file. The same edit may be asked for twice: of a header that several units include.
#[derive(Clone, Debug, Default)]
pub struct Edits(BTreeMap<String, BTreeSet<Edit>>);

impl Edits {
    pub fn replace(&mut self, file: &str, span: Span, text: impl Into<String>) {
        self.add(file, span, LAST, text);
    }

    /// Puts texts around an expression.
    pub fn wrap(&mut self, file: &str, span: Span, before: &str, after: &str) {
        // What begins at the same place and is longer holds this one.
        self.add(file, (span.0, span.0), LAST - (span.1 - span.0), before);
        self.add(file, (span.1, span.1), 0, after);
    }

    pub fn insert(&mut self, file: &str, at: usize, text: impl Into<String>) {
        self.add(file, (at, at), 0, text);
    }

    /// Inserts after all other insertions at this place.
    pub fn insert_last(&mut self, file: &str, at: usize, text: impl Into<String>) {
        self.add(file, (at, at), LAST, text);
    }

    fn add(&mut self, file: &str, (begin, end): Span, order: usize, text: impl Into<String>) {
        let edit = Edit {
            begin,
            end,
            order,
            text: text.into(),
        };
        self.0.entry(file.into()).or_default().insert(edit);
    }

    /// The new texts.
    ///
    /// # Errors
    /// If a file can't be read, or two edits are of the same text.
    pub fn applied(&self) -> io::Result<Vec<Changed>> {
        self.0.iter().map(|(file, edits)| changed(file, edits)).collect()
    }
}

/// A file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    pub before: String,
    pub after: String,
}

impl Changed {
    /// As `git apply` takes it, with the path from a folder.
    pub fn patch(&self, root: &Path) -> String {
        let path = self.path.strip_prefix(root).unwrap_or(&self.path).display();
        TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .context_radius(CONTEXT)
            .header(&format!("a/{path}"), &format!("b/{path}"))
            .to_string()
    }
}

fn changed(file: &str, edits: &BTreeSet<Edit>) -> io::Result<Changed> {
    let before = fs::read_to_string(file)?;
    let mut after = String::with_capacity(before.len());
    let mut at = 0;
    for edit in edits {
        let kept = before.get(at..edit.begin);
        let is_text = before.get(edit.begin..edit.end).is_some();
        let kept = kept
            .filter(|_| is_text)
            .ok_or_else(|| overlap(file, edit.begin))?;
        after.push_str(kept);
        after.push_str(&edit.text);
        at = edit.end;
    }
    after.push_str(&before[at..]);
    Ok(Changed {
        path: file.into(),
        before,
        after,
    })
}

/// Tells the new functions of a file from those of a header that it includes; empty if only one file gets any.
pub fn distinction<'f>(file: &str, files: impl IntoIterator<Item = &'f str>) -> String {
    let is_only = files.into_iter().all(|other| other == file);
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    match is_only {
        true => String::new(),
        false => format!("_in_{}", name.chars().map(letter).collect::<String>()),
    }
}

fn overlap(file: &str, offset: usize) -> io::Error {
    io::Error::other(format!("{file}: two edits of the text at byte {offset}"))
}
