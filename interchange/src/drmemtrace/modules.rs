//! Which files were loaded where: `modules.log`, which drmemtrace leaves beside its raw files.

use std::path::{Path, PathBuf};

use crate::ImportError;

const NAME: &str = "modules.log";
/// More than any process maps.
const MOST_ENTRIES: usize = 1 << 20;

/// A file and the memory that it took, from its lowest segment to its highest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedObject {
    pub path: String,
    pub start: u64,
    pub end: u64,
}

/// Which object lay where. If two files were at an address in turn, it is unknown which one the code there is from, so
/// it belongs to neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedObjects {
    pub objects: Vec<LoadedObject>,
    /// Segments by their start: start, end, object.
    segments: Vec<(u64, u64, usize)>,
}

/// One line of the table.
struct Entry {
    /// Number of the file's first segment.
    containing: u64,
    start: u64,
    end: u64,
    path: String,
}

impl LoadedObjects {
    /// Finds the objects of the traces at `paths`: in the given file, or in what stands beside the traces.
    pub fn find(paths: &[PathBuf], given: Option<&Path>) -> Result<LoadedObjects, ImportError> {
        if let Some(file) = given {
            return LoadedObjects::read(file);
        }
        let mut found: Vec<PathBuf> = paths.iter().filter_map(|path| beside(path)).collect();
        found.sort();
        found.dedup();
        match &found[..] {
            [] => Ok(LoadedObjects::default()),
            [file] => LoadedObjects::read(file),
            [file, ..] => Err(ImportError::Unsupported {
                file: file.clone(),
                what: "the traces are of several recordings, where files lay at different addresses; import them one \
                       by one"
                    .into(),
            }),
        }
    }

    fn read(file: &Path) -> Result<LoadedObjects, ImportError> {
        let content = std::fs::read(file).map_err(|source| ImportError::Io {
            file: file.to_path_buf(),
            action: "read the list of loaded files",
            source,
        })?;
        LoadedObjects::parse(&content).map_err(|what| ImportError::Unsupported {
            file: file.to_path_buf(),
            what: what.into(),
        })
    }

    fn parse(content: &[u8]) -> Result<LoadedObjects, &'static str> {
        // The contents of the vdso stand in one of the lines as they are.
        let mut lines = content.split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
        let mut next = || lines.next().unwrap_or_default().trim_end().to_owned();
        if !next().starts_with("Module Table: version ") {
            return Err("this is no list of modules as drmemtrace writes it");
        }
        let columns = next();
        let columns = columns
            .strip_prefix("Columns: ")
            .ok_or("the list's columns are missing")?;
        let columns: Vec<&str> = columns.split(", ").collect();
        let mut entries = Vec::new();
        for line in lines {
            entries.extend(Entry::parse(&line, &columns));
            if entries.len() > MOST_ENTRIES {
                return Err("this list of modules has no end");
            }
        }
        Ok(LoadedObjects::of(entries))
    }

    fn of(entries: Vec<Entry>) -> LoadedObjects {
        let mut found = LoadedObjects::default();
        let mut number_of = std::collections::HashMap::new();
        for entry in entries.iter().filter(|entry| entry.start < entry.end) {
            let number = *number_of.entry(entry.containing).or_insert_with(|| {
                found.objects.push(LoadedObject {
                    path: entry.path.clone(),
                    start: entry.start,
                    end: entry.end,
                });
                found.objects.len() - 1
            });
            let object = &mut found.objects[number];
            object.start = object.start.min(entry.start);
            object.end = object.end.max(entry.end);
            found.segments.push((entry.start, entry.end, number));
        }
        found.segments.sort_unstable();
        found.leave_out_ambiguous();
        found
    }

    fn leave_out_ambiguous(&mut self) {
        let segments = std::mem::take(&mut self.segments);
        let mut reach: Option<(u64, usize)> = None;
        for (start, end, object) in segments {
            let overlaps = reach.is_some_and(|(reached, of)| start < reached && of != object);
            if overlaps {
                self.segments.retain(|(_, before, _)| *before <= start);
            } else {
                self.segments.push((start, end, object));
            }
            reach = Some(reach.map_or((end, object), |before| before.max((end, object))));
        }
    }

    /// The object at the address, none if no file was there; and the address from which on the answer may differ.
    pub fn at(&self, address: u64) -> (Option<usize>, u64) {
        let next = self.segments.partition_point(|(start, _, _)| *start <= address);
        let limit = self.segments.get(next).map_or(u64::MAX, |(start, _, _)| *start);
        match next.checked_sub(1).map(|before| self.segments[before]) {
            Some((_, end, object)) if address < end => (Some(object), end.min(limit)),
            _ => (None, limit),
        }
    }
}

/// The list of the recording that a trace, a file or a folder, belongs to.
fn beside(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    let mut places = vec![folder.join(NAME), folder.join("raw").join(NAME)];
    if folder.file_name().is_some_and(|name| name == "trace") {
        places.push(folder.join("../raw").join(NAME));
    }
    places.into_iter().find(|place| place.is_file())
}

impl Entry {
    /// None if it is no line of the table.
    fn parse(line: &str, columns: &[&str]) -> Option<Entry> {
        const CUSTOM: &str = "(custom fields)";
        let texts = columns
            .iter()
            .position(|column| [CUSTOM, "path"].contains(column))?;
        let mut words = line.splitn(texts + 1, ',').map(str::trim);
        let mut numbers = Vec::new();
        for word in words.by_ref().take(texts) {
            numbers.push(word);
        }
        let rest = words.next()?;
        let path = match columns[texts] == CUSTOM {
            // Anything else may stand there; paths begin like this.
            true => &rest[rest.rfind(" /").or_else(|| rest.rfind(" ["))? + 1..],
            false => rest,
        };
        let number = |names: &[&str]| {
            let column = columns.iter().position(|column| names.contains(column))?;
            Some(*numbers.get(column)?)
        };
        let hexadecimal = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let id: u64 = number(&["id"])?.parse().ok()?;
        Some(Entry {
            // Without this id, or with a negative one, the segment contains itself.
            containing: number(&["containing_id"])
                .and_then(|text| text.parse().ok())
                .unwrap_or(id),
            start: hexadecimal(number(&["start", "base"])?)?,
            end: hexadecimal(number(&["end"])?)?,
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "Module Table: version 5, count 5
Columns: id, containing_id, start, end, entry, offset, preferred_base, (custom fields), path
  0,   0, 0x0000000000400000, 0x0000000000402000, 0x0000000000401000, 0000000000000000, 0x0, v#2,0, /home/a b/prog
  1,   0, 0x0000000000403000, 0x0000000000404000, 0x0000000000401000, 0000000000003000, 0x0, v#2,0, /home/a b/prog
  2,   2, 0x00007f0000000000, 0x00007f0000010000, 0x00007f0000001000, 0000000000000000, 0x0, v#2,0, /lib/libc.so.6
  3,   3, 0x00007f0000008000, 0x00007f0000020000, 0x00007f0000009000, 0000000000000000, 0x0, v#2,0, /lib/later.so
  4,   4, 0x00007ffe00000000, 0x00007ffe00001000, 0x0000000000000000, 0000000000000000, 0x0, v#2,4,\u{1}\n\u{2}, [vdso]
";

    #[test]
    fn segments_belong_to_their_file() {
        let objects = LoadedObjects::parse(LIST.as_bytes()).unwrap();
        let paths: Vec<&str> = objects
            .objects
            .iter()
            .map(|object| object.path.as_str())
            .collect();
        assert_eq!(paths, ["/home/a b/prog", "/lib/libc.so.6", "/lib/later.so"]);
        let program = &objects.objects[0];
        assert_eq!((program.start, program.end), (0x40_0000, 0x40_4000));
        assert_eq!(objects.at(0x40_1000), (Some(0), 0x40_2000));
        assert_eq!(objects.at(0x40_2000), (None, 0x40_3000));
        assert_eq!(objects.at(0x40_3fff), (Some(0), 0x40_4000));
    }

    #[test]
    fn files_that_lay_in_one_place_are_nobodys() {
        let objects = LoadedObjects::parse(LIST.as_bytes()).unwrap();
        assert_eq!(objects.at(0x7f00_0000_1000).0, None);
        assert_eq!(objects.at(0x7f00_0001_8000).0, None);
        assert_eq!(objects.at(u64::MAX), (None, u64::MAX));
    }

    #[test]
    fn older_lists_and_foreign_files() {
        let columns = "Columns: id, base, end, entry, path";
        let old = format!("Module Table: version 2, count 1\n{columns}\n 0, 0x1000, 0x2000, 0x1000, /p\n");
        let objects = LoadedObjects::parse(old.as_bytes()).unwrap();
        assert_eq!(objects.at(0x1800), (Some(0), 0x2000));
        assert!(LoadedObjects::parse(b"#!/bin/sh\n").is_err());
        assert!(LoadedObjects::parse(b"Module Table: version 5, count 1\n").is_err());
        assert_eq!(
            LoadedObjects::parse(b"Module Table: version 5, count 0\nColumns: x, path\nz\n").unwrap(),
            LoadedObjects::default()
        );
    }
}
