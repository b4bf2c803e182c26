//! Where a source file may be.

use std::env;
use std::path::{Component, Path, PathBuf};

/// Source code of C, C++ and Fortran, and of what generates them.
const EXTENSIONS: [&str; 38] = [
    "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "C", "H", "cp", "inc", "inl", "ipp",
    "ixx", "tcc", "tpp", "txx", "cppm", "def", "m", "mm", "cu", "cuh", "f", "F", "for", "ftn", "f77", "f90",
    "F90", "f95", "f03", "f08", "y", "l",
];
/// Parts of a path that are looked for below the root.
const MOST_PARTS: usize = 32;

/// Whether a name is that of source code. A file without a checksum is quoted only then. Keys and configuration below
/// the reader's folder are not source code.
pub fn is_source_name(file: &str) -> bool {
    let extension = Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// What a file may be called in the trace: tables leave out the folder in which the program ran.
pub fn names_of(file: &str, working_directory: &Path) -> impl Iterator<Item = PathBuf> {
    let path = PathBuf::from(file);
    let joined = path.is_relative().then(|| working_directory.join(&path));
    [path].into_iter().chain(joined)
}

/// The folders that matter.
pub struct Places {
    working_directory: PathBuf,
    /// Folder as the reader gave it.
    given_root: Option<PathBuf>,
    /// The given one, or the present folder; without links.
    root: Option<PathBuf>,
}

impl Places {
    pub fn new(working_directory: &Path, root: Option<&Path>) -> Self {
        let present = || env::current_dir().ok().filter(|folder| folder.parent().is_some());
        let chosen = root.map(Path::to_owned).or_else(present);
        Places {
            working_directory: working_directory.into(),
            given_root: root.map(Path::to_owned),
            root: chosen.and_then(|folder| folder.canonicalize().ok()),
        }
    }

    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// Below this, files without a checksum may be quoted.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Where the trace says.
    pub fn named(&self, file: &str) -> impl Iterator<Item = PathBuf> {
        names_of(file, &self.working_directory)
    }

    /// Below the given root: the longest end of the path first.
    pub fn below_root<'f>(&'f self, file: &'f str) -> impl Iterator<Item = PathBuf> + 'f {
        let parts: Vec<_> = Path::new(file)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let is_plain = !file.split('/').any(|part| part == "..");
        let first = parts.len().saturating_sub(MOST_PARTS);
        let root = self.given_root.iter().filter(move |_| is_plain);
        root.flat_map(move |root| {
            let parts = parts.clone();
            (first..parts.len()).map(move |skipped| {
                let mut path = root.clone();
                path.extend(&parts[skipped..]);
                path
            })
        })
    }
}
