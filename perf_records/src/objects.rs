//! Objects' files, as far as mappings need them.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use memmap2::Mmap;
use trackway_names::Segments;
use trackway_trace::open_regular;

/// An object's file, which stays mapped. Addresses are those of the file.
pub struct ObjectFile {
    bytes: Mmap,
    segments: Segments,
    build_id: Vec<u8>,
}

impl ObjectFile {
    /// None if there is no such file, or if it is no object of x86-64.
    pub fn open(path: &Path) -> Option<Self> {
        use object::Object;
        let file = open_regular(path).ok()?;
        // SAFETY: only read. Whoever changes an object that is running breaks the program, too.
        let bytes = unsafe { Mmap::map(&file) }.ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        if object.architecture() != object::Architecture::X86_64 {
            return None;
        }
        Some(ObjectFile {
            segments: Segments::of(&object),
            build_id: object.build_id().ok().flatten().unwrap_or_default().to_vec(),
            bytes,
        })
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the file loads, and where.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Identifies other copies of the file; empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }
}

/// The objects that were mapped so far.
#[derive(Default)]
pub struct Objects(HashMap<String, Option<Rc<ObjectFile>>>);

impl Objects {
    /// Opens the object of that path, once; none if it can't be read as one.
    pub fn open(&mut self, path: &str) -> Option<&ObjectFile> {
        if !self.0.contains_key(path) {
            let is_file = path.starts_with('/') && !path.starts_with("//");
            let object = match is_file {
                true => ObjectFile::open(Path::new(path)).map(Rc::new),
                false => None,
            };
            self.0.insert(path.to_owned(), object);
        }
        self.0.get(path)?.as_deref()
    }

    /// The object, if it was opened.
    pub fn get(&self, path: &str) -> Option<&Rc<ObjectFile>> {
        self.0.get(path)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_are_opened() {
        let path = std::env::current_exe().unwrap();
        let path = path.to_str().unwrap();
        let mut objects = Objects::default();
        assert!(objects.get(path).is_none());
        assert!(objects.open(path).is_some() && objects.get(path).is_some());
        for other in ["/etc/passwd", "/dev/zero", "/none", "//anon", "[vdso]"] {
            assert!(objects.open(other).is_none(), "{other}");
        }
    }
}
