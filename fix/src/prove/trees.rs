//! Copies of the source, in which programs are built and run.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitStatus, Stdio};
use std::time::Instant;

use tempfile::TempDir;
use trackway_answers::failure::Failure;
use trackway_answers::kept;
use trackway_answers::questions;
use trackway_answers::reading::Following;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::commands::Command;
use crate::edits::Changed;

/// Compilers for build systems that ask the environment.
const COMPILERS: [(&str, &str); 2] = [("CC", "cc"), ("CXX", "c++")];

/// Names of files that are one command's arguments.
const FILES_AT_ONCE: usize = 1000;

/// The folder that holds the sources: their repository's, else where the compiler ran.
pub fn root_of(units: &[Command]) -> PathBuf {
    let first = units.first().map(Command::path).unwrap_or_default();
    let first = first.canonicalize().unwrap_or(first);
    let repository = first
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists());
    let compiled_in = units.iter().map(|unit| unit.directory.as_path());
    let outermost = compiled_in.min_by_key(|folder| folder.components().count());
    repository.or(outermost).unwrap_or(Path::new(".")).to_owned()
}

/// A copy of the source, which is deleted at the end.
pub struct Tree {
    folder: TempDir,
}

/// A command that ended.
pub struct Ran {
    status: ExitStatus,
    output: Vec<u8>,
    errors: Vec<u8>,
    pub seconds: f64,
}

impl Ran {
    pub fn succeeded(&self) -> bool {
        self.status.success()
    }

    pub fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors);
        let errors = text.lines().filter(|line| line.contains("error"));
        let first = errors.chain(text.lines().rev()).next();
        first.unwrap_or("without a word").to_owned()
    }

    /// In output or exit status.
    pub fn differs_from(&self, other: &Ran) -> bool {
        self.output != other.output || self.status != other.status
    }

    pub fn difference(&self, other: &Ran) -> String {
        match self.status == other.status {
            true => "its output differs".into(),
            false => format!("{} before, and {} after", self.status, other.status),
        }
    }
}

impl Tree {
    /// Copies all that a repository has and doesn't ignore, or a whole folder.
    ///
    /// # Errors
    /// If something can't be copied.
    pub fn copied(root: &Path) -> Result<Tree, Failure> {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::new(format!("a temporary folder: {error}")))?;
        let tree = Tree { folder };
        match root.join(".git").exists() {
            true => tree.copy_repository(root)?,
            false => {
                let mut copying = Process::new("cp");
                copying
                    .args(["-a", "--reflink=auto", "--"])
                    .arg(root.join("."))
                    .arg(tree.folder.path());
                output_of(copying, root)?;
            }
        }
        Ok(tree)
    }

    fn copy_repository(&self, root: &Path) -> Result<(), Failure> {
        let mut listing = Process::new("git");
        let options = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ];
        listing.arg("-C").arg(root).args(options);
        let files = output_of(listing, root)?;
        // A file that was deleted is still listed.
        let files = files
            .split(|byte| *byte == 0)
            .map(|name| Path::new(OsStr::from_bytes(name)));
        let files: Vec<&Path> = files
            .filter(|file| root.join(file).symlink_metadata().is_ok())
            .collect();
        for some in files.chunks(FILES_AT_ONCE) {
            let mut copying = Process::new("cp");
            copying
                .args(["-a", "--reflink=auto", "--parents", "-t"])
                .arg(self.folder.path())
                .arg("--");
            copying
                .args(some.iter().filter(|file| !file.as_os_str().is_empty()))
                .current_dir(root);
            output_of(copying, root)?;
        }
        Ok(())
    }

    /// Puts changed files in place.
    ///
    /// # Errors
    /// If one can't be written, or doesn't lie in the folder that was copied.
    pub fn write(&self, files: &[Changed], root: &Path) -> Result<(), Failure> {
        for file in files {
            let place = file.path.strip_prefix(root).map_err(|_| {
                Failure::about(
                    &file.path,
                    format!("isn't in {}; name the folder by --source", root.display()),
                )
            })?;
            let path = self.folder.path().join(place);
            std::fs::write(&path, &file.after).map_err(|error| Failure::about(&path, error))?;
        }
        Ok(())
    }

    /// Runs a command of the shell, with the recording compilers as `$CC` and `$CXX`.
    ///
    /// # Errors
    /// If there is no shell.
    pub fn runs(&self, command: &str) -> Result<Ran, Failure> {
        let began = Instant::now();
        let done = self
            .shell(command)?
            .output()
            .map_err(|error| Failure::new(format!("sh: {error}")))?;
        Ok(Ran {
            seconds: began.elapsed().as_secs_f64(),
            status: done.status,
            output: done.stdout,
            errors: done.stderr,
        })
    }

    /// Records a command of the shell.
    ///
    /// # Errors
    /// If it can't be recorded.
    pub fn recorded(&self, command: &str) -> Result<Recorded, Failure> {
        let path = self.folder.path().join("proof.trackway");
        let line = format!(
            "exec \"$TRACKWAY\" record -q -f -o '{}' -- {command}",
            path.display()
        );
        let done = self.runs(&line)?;
        let trace = Trace::open(&path).map_err(|error| {
            Failure::new(format!(
                "--prove: recording `{command}`: {error}; {}",
                done.last_words()
            ))
        })?;
        let report = questions::ask(
            "report",
            &["--top".into(), "1".into()],
            &trace,
            Following::default(),
        )?;
        let _ = std::fs::remove_file(&path);
        Ok(Recorded(report))
    }

    fn shell(&self, command: &str) -> Result<Process, Failure> {
        let own =
            env::current_exe().map_err(|error| Failure::new(format!("the path of this program: {error}")))?;
        let mut process = Process::new("sh");
        process
            .args(["-c", command])
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        process.env("TRACKWAY", &own).env(kept::FRESH, "1");
        for (variable, verb) in COMPILERS {
            process.env(variable, format!("{} {verb}", own.display()));
        }
        Ok(process)
    }
}

/// What a recording says.
pub struct Recorded(Report);

impl Recorded {
    /// # Errors
    /// If that level wasn't simulated.
    pub fn misses_of(&self, level: u64) -> Result<u64, Failure> {
        let table = self.0.table("caches");
        let row = |table: &trackway_report::Table| {
            (0..table.row_count()).find(|row| table.integer("level", *row) == Some(level))
        };
        let misses = table.and_then(|table| table.integer("misses", row(table)?));
        misses.ok_or_else(|| Failure::new(format!("the report has no misses of L{level}")))
    }
}

/// # Errors
/// If the command can't be started or fails.
fn output_of(mut command: Process, about: &Path) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command
        .output()
        .map_err(|error| Failure::new(format!("{name}: {error}")))?;
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(Failure::about(
            about,
            String::from_utf8_lossy(&done.stderr).trim(),
        )),
    }
}
