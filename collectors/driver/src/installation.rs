//! Where the pass, the runtime, the header and the other program of this installation are.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use trackway_answers::failure::Failure;
use trackway_recorder::BinaryClient;

use crate::compiler::Streams;
use crate::instruction_set::InstructionSet;

/// The plugin's file name, up to the version of LLVM.
const PLUGIN: &str = "TrackwayPass";
const RUNTIME: &str = "libtrackway.a";
/// What creates threads that inherit regions, in programs that load shared objects and in static ones.
const INHERIT_THREADS: &str = "inherit_threads.o";
const INHERIT_THREADS_STATIC: &str = "inherit_threads_static.o";
/// Streams of libstdc++ that are recorded, and those that count.
const STREAMS: &str = "libtrackway-streams.a";
const COUNTING_STREAMS: &str = "libtrackway-streams-count.a";
/// What the client needs of DynamoRIO: blocks of at most 64 instructions that end where control may go elsewhere; the
/// client itself makes them longer. Traces of such blocks can't be made, only tried again and again. And blocks of writable code look whether it has changed when they begin: where DynamoRIO takes the right to write away from
/// pages instead, it goes on after the write with the registers that the client had borrowed as they are, and the program
/// loses theirs.
const CLIENT_OPTIONS: &str =
    "-max_bb_instrs 64 -max_elide_jmp 0 -max_elide_call 0 -disable_traces -sandbox_writable";

/// The folder of an installation that holds `lib/trackway`.
pub struct Installation {
    root: PathBuf,
}

impl Installation {
    /// From `$TRACKWAY_HOME`, else beside the running executable, else (in a source tree) the build folder.
    pub fn locate() -> Installation {
        let home = env::var_os("TRACKWAY_HOME").filter(|home| !home.is_empty());
        let root = match home {
            Some(home) => home.into(),
            None => env::current_exe().map(|path| root_of(&path)).unwrap_or_default(),
        };
        Installation { root }
    }

    /// The folder that holds `lib/trackway`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Another program of Trackway: it lies beside this one.
    pub fn program(name: &str) -> Result<PathBuf, Failure> {
        let own = env::current_exe();
        own.map(|path| path.with_file_name(name))
            .map_err(|error| Failure::new(format!("the folder of this program, for {name}: {error}")))
    }

    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Installation {
        Installation { root: root.into() }
    }

    /// The LLVM plugin that inserts the recording, for a compiler that is built on this major version of LLVM.
    pub(crate) fn pass_plugin(&self, compiler: &OsStr, version: u32) -> Result<PathBuf, Failure> {
        let versions = self.plugin_versions();
        if versions.is_empty() || versions.contains(&version) {
            return self.part(&format!("{PLUGIN}{version}.so"));
        }
        let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
        Err(Failure::new(format!(
            "{}: is of LLVM {version}, and this installation has plug-ins for LLVM {}; choose a compiler of such a \
             version, or build one for LLVM 16 to 22 by `make pass LLVM=VERSION`",
            compiler.to_string_lossy(),
            versions.join(" and ")
        )))
    }

    /// The plugin that gives clang the pragmas, for the same version of LLVM.
    pub(crate) fn pragma_plugin(&self, version: u32) -> Result<PathBuf, Failure> {
        self.part(&format!("TrackwayPragma{version}.so"))
    }

    /// The plugin that lists what a source does with a structure, for a compiler of this major version of LLVM.
    ///
    /// # Errors
    /// If this installation has none, with the remedy.
    pub fn uses_plugin(&self, version: u32) -> Result<PathBuf, Failure> {
        self.part(&format!("TrackwayUses{version}.so"))
    }

    /// The versions of LLVM that there is a plugin for, ascending.
    pub fn plugin_versions(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(self.parts()).into_iter().flatten();
        let version = |name: OsString| -> Option<u32> {
            name.to_str()?
                .strip_prefix(PLUGIN)?
                .strip_suffix(".so")?
                .parse()
                .ok()
        };
        let mut versions: Vec<u32> = entries
            .flatten()
            .filter_map(|entry| version(entry.file_name()))
            .collect();
        versions.sort_unstable();
        versions
    }

    /// The archive that instrumented programs are linked with: those of an instruction set, or of the
    /// compiler's own.
    ///
    /// # Errors
    /// If this installation has none, with the remedy.
    pub fn runtime(&self, set: Option<InstructionSet>) -> Result<PathBuf, Failure> {
        self.linked_part(RUNTIME, set)
    }

    /// The object that makes the threads of a program inherit regions.
    pub(crate) fn inherit_threads(
        &self,
        set: Option<InstructionSet>,
        is_static: bool,
    ) -> Result<PathBuf, Failure> {
        let name = if is_static {
            INHERIT_THREADS_STATIC
        } else {
            INHERIT_THREADS
        };
        self.linked_part(name, set)
    }

    /// The archive with the streams of libstdc++; none for other processors, and if it wasn't built.
    pub(crate) fn streams(&self, set: Option<InstructionSet>, streams: Streams) -> Option<PathBuf> {
        let name = match streams {
            Streams::Plain => return None,
            Streams::Recording => STREAMS,
            Streams::Counting => COUNTING_STREAMS,
        };
        let is_foreign = set.is_some_and(|set| !set.is_host());
        Some(self.parts().join(name)).filter(|path| !is_foreign && path.exists())
    }

    fn linked_part(&self, name: &str, set: Option<InstructionSet>) -> Result<PathBuf, Failure> {
        let Some(foreign) = set.filter(|set| !set.is_host()) else {
            return self.part(name);
        };
        let path = self.parts().join(foreign.triple()).join(name);
        if path.exists() {
            return Ok(path);
        }
        Err(Failure::new(format!(
            "{}: not found; install the libraries for {} programs (Debian: `apt-get install {}`), then build it with \
             `make runtime`",
            path.display(),
            foreign.triple(),
            foreign.package()
        )))
    }

    /// The folder of `trackway.h`, if it was installed. It holds nothing else's headers: as `/usr/include` it would hide that
    /// another system root lacks one.
    pub(crate) fn include_folder(&self) -> Option<PathBuf> {
        let folder = self.parts().join("include");
        folder.join("trackway.h").exists().then_some(folder)
    }

    /// The folder whose headers have the program compile parts of libstdc++ that would be in its binary.
    pub(crate) fn stdlib_headers(&self) -> Option<PathBuf> {
        Some(self.include_folder()?.join("libstdcxx")).filter(|folder| folder.exists())
    }

    /// What records unmodified binaries.
    pub fn binary_client(&self) -> Result<BinaryClient, Failure> {
        let folder = self.parts().join("dynamorio");
        let part = |name: &str| {
            let path = folder.join(name);
            path.exists().then_some(path.clone()).ok_or_else(|| {
                Failure::new(format!(
                    "{}: not found; `make dynamorio` builds what records unmodified binaries (two minutes, once)",
                    path.display()
                ))
            })
        };
        Ok(BinaryClient {
            launcher: part("launch")?,
            dynamorio: part("home")?,
            client: part("client.so")?,
            options: CLIENT_OPTIONS.into(),
        })
    }

    /// What records calls of allocators.
    pub fn allocation_tracer(&self) -> Result<PathBuf, Failure> {
        let path = self.parts().join("preload.so");
        path.exists().then_some(path.clone()).ok_or_else(|| {
            Failure::new(format!(
                "{}: not found; `make preload` builds what records allocations",
                path.display()
            ))
        })
    }

    /// What places allocations in far memory.
    pub fn placer(&self) -> Result<PathBuf, Failure> {
        let path = self.parts().join("place.so");
        path.exists().then_some(path.clone()).ok_or_else(|| {
            Failure::new(format!(
                "{}: not found; `make place` builds what places allocations",
                path.display()
            ))
        })
    }

    fn parts(&self) -> PathBuf {
        self.root.join("lib/trackway")
    }

    fn part(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.parts().join(name);
        if path.exists() {
            return Ok(path);
        }
        Err(Failure::new(format!(
            "{}: not found; build it with `make`, or set TRACKWAY_HOME to the folder that holds lib/trackway",
            path.display()
        )))
    }
}

fn root_of(executable: &Path) -> PathBuf {
    let folder = executable.parent().unwrap_or(Path::new("."));
    let installed = folder.parent().unwrap_or(folder).to_owned();
    if installed.join("lib/trackway").is_dir() {
        return installed;
    }
    let source_tree = cargo_target(folder).and_then(Path::parent);
    source_tree.map_or(installed, |tree| tree.join("build"))
}

/// The `target` folder above `target/PROFILE` and `target/PROFILE/deps`.
fn cargo_target(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .take(4)
        .find(|ancestor| ancestor.file_name().is_some_and(|name| name == "target"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_installed_executable_finds_its_neighbours() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("lib/trackway")).unwrap();
        assert_eq!(root_of(&root.path().join("bin/trackway")), root.path());
    }

    #[test]
    fn an_executable_of_the_source_tree_finds_the_build_folder() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("build/lib/trackway")).unwrap();
        for executable in ["target/debug/trackway", "target/release/deps/trackway-0123"] {
            assert_eq!(
                root_of(&root.path().join(executable)),
                root.path().join("build"),
                "{executable}"
            );
        }
    }

    #[test]
    fn a_missing_part_is_named_with_the_remedy() {
        let root = tempfile::tempdir().unwrap();
        let message = Installation::at(root.path())
            .pass_plugin(OsStr::new("clang-22"), 22)
            .unwrap_err()
            .to_string();
        assert!(message.contains("lib/trackway/TrackwayPass22.so"), "{message}");
        assert!(message.contains("make"), "{message}");
    }
}
