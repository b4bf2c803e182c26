//! Text of source lines, where the files are readable.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Longer files are not source code.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// Source files, read when first asked for.
pub struct SourceFiles {
    /// Where relative paths start if there is no such file in the present folder.
    working_directory: PathBuf,
    texts: RefCell<HashMap<String, Option<String>>>,
}

impl SourceFiles {
    pub fn new(working_directory: &Path) -> Self {
        SourceFiles {
            working_directory: working_directory.into(),
            texts: RefCell::default(),
        }
    }

    /// The text of that line, from 1; none if it can't be read.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let index = (line as usize).checked_sub(1)?;
        self.with_text(file, |text| {
            text.lines().nth(index).map(|text| text.trim().to_owned())
        })?
    }

    /// The text of the whole file; none if it can't be read.
    pub fn text(&self, file: &str) -> Option<String> {
        self.with_text(file, str::to_owned)
    }

    fn with_text<T>(&self, file: &str, take: impl FnOnce(&str) -> T) -> Option<T> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(file.to_owned()).or_insert_with(|| self.read(file));
        text.as_deref().map(take)
    }

    fn read(&self, file: &str) -> Option<String> {
        let candidates = [PathBuf::from(file), self.working_directory.join(file)];
        let path = candidates.iter().find(|path| is_readable_source(path))?;
        let bytes = fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn is_readable_source(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_trimmed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.c"), "int a;\n    a = 1;\r\n").unwrap();
        let sources = SourceFiles::new(folder.path());
        assert_eq!(sources.line("a.c", 1).as_deref(), Some("int a;"));
        assert_eq!(sources.line("a.c", 2).as_deref(), Some("a = 1;"));
        assert_eq!(sources.text("a.c").as_deref(), Some("int a;\n    a = 1;\r\n"));
        assert_eq!(sources.text("b.c"), None);
        assert_eq!(sources.line("a.c", 0), None);
        assert_eq!(sources.line("a.c", 3), None);
        assert_eq!(sources.line("b.c", 1), None);
        assert_eq!(sources.line("/dev/zero", 1), None);
    }
}
