//! Trials: small programs that are compiled and recorded as users' programs are.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use trackway_driver::Language;
use trackway_trace::Trace;

use crate::failure::Failure;

/// Includes a header of the language's library and needs its run-time library, since either may be lacking.
fn source(language: Language) -> &'static str {
    match language {
        Language::C => {
            "#include <stdio.h>\nint table[1000];\nint main(void) {\n    for (int i = 0; i < 1000; i++)\n        \
             table[i] += i;\n    return printf(\"%d\\n\", table[3]) != 2;\n}\n"
        }
        Language::Cxx => {
            "#include <vector>\nint main() {\n    std::vector<int> table(1000);\n    return table.at(3);\n}\n"
        }
        Language::Fortran => "program trial\n  use trackway\n  print *, 3\nend program\n",
    }
}

/// The verb, and the ending of its sources.
fn verb(language: Language) -> (&'static str, &'static str) {
    match language {
        Language::C => ("cc", "c"),
        Language::Cxx => ("c++", "cpp"),
        Language::Fortran => ("fc", "f90"),
    }
}

/// A place for trials, which is removed with it.
pub struct Trials {
    program: PathBuf,
    folder: TempDir,
}

impl Trials {
    /// # Errors
    /// If there is no place for temporary files.
    pub fn new() -> Result<Trials, Failure> {
        let program = env::current_exe();
        let folder = tempfile::Builder::new().prefix("trackway-doctor-").tempdir();
        Ok(Trials {
            program: program.map_err(|error| Failure::new(format!("the path of this program: {error}")))?,
            folder: folder.map_err(|error| Failure::about(&env::temp_dir(), error))?,
        })
    }

    /// Compiles and links a program; an error is what the compiler says first.
    pub fn compile(&self, language: Language) -> Result<PathBuf, String> {
        let (verb, ending) = verb(language);
        let file = self.folder.path().join(format!("trial.{ending}"));
        let program = self.folder.path().join(format!("trial-{ending}"));
        fs::write(&file, source(language)).map_err(|error| format!("{}: {error}", file.display()))?;
        self.trackway(&[
            verb.as_ref(),
            "-O1".as_ref(),
            "-o".as_ref(),
            program.as_ref(),
            file.as_ref(),
        ])?;
        Ok(program)
    }

    /// Records a program and reads the trace; an error is what the recorder says first.
    pub fn record(&self, program: &Path) -> Result<(), String> {
        let trace = self.folder.path().join("trial.trackway");
        self.trackway(&[
            "record".as_ref(),
            "--quiet".as_ref(),
            "--output".as_ref(),
            trace.as_ref(),
            "--".as_ref(),
            program.as_ref(),
        ])?;
        match Trace::open(&trace) {
            Ok(trace) if trace.streams().is_empty() => Err("nothing was recorded".into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Runs this program.
    fn trackway(&self, words: &[&OsStr]) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env_remove("TRACKWAY_CC_OPTIONS")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        match command.output() {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => Err(complaint(&done)),
            Err(error) => Err(format!("{}: {error}", self.program.display())),
        }
    }
}

/// The line of standard error that says what is wrong, else the exit status.
fn complaint(done: &Output) -> String {
    let text = String::from_utf8_lossy(&done.stderr);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let named = lines().find(|line| line.contains("error") || line.contains("cannot find"));
    let line = named.or_else(|| lines().next());
    line.map_or_else(
        || done.status.to_string(),
        |line| line.strip_prefix("trackway: ").unwrap_or(line).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn said(text: &str) -> String {
        complaint(&Output {
            status: ExitStatus::from_raw(1 << 8),
            stdout: Vec::new(),
            stderr: text.into(),
        })
    }

    #[test]
    fn the_line_of_the_error_is_the_complaint() {
        assert_eq!(
            said("In file included from a:\na.c:1:10: fatal error: 'stdio.h' file not found\n"),
            "a.c:1:10: fatal error: 'stdio.h' file not found"
        );
        assert_eq!(said("trackway: clang-22: no such file"), "clang-22: no such file");
        assert_eq!(
            said("warning: x\n/usr/bin/ld: cannot find crt1.o: y\n"),
            "/usr/bin/ld: cannot find crt1.o: y"
        );
        assert_eq!(said(""), "exit status: 1");
    }
}
