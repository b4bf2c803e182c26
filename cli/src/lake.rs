//! The program `trackway-lake`, which does what needs DataFusion and the clients of object stores. Compiling those
//! takes longer than all the rest. As a separate program, it can be left out.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use trackway_driver::Installation;

use crate::failure::Failure;

/// File name of the program.
pub const PROGRAM: &str = "trackway-lake";

/// Whether any place that a user has named is a URL instead of a path.
pub fn has_url<const N: usize>(places: [&PathBuf; N]) -> bool {
    places.iter().any(|place| place.to_string_lossy().contains("://"))
}

/// Replaces this process by the program, which takes the same words; returns only if that fails.
pub fn run() -> Failure {
    let program = match Installation::program(PROGRAM) {
        Ok(program) => program,
        Err(failure) => return failure,
    };
    let mut words = env::args_os();
    let mut command = Command::new(&program);
    command.arg0(words.next().unwrap_or_default()).args(words);
    not_started(&program, &command.exec())
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::about(
            program,
            "not found; it answers SQL, writes folders of Parquet and reads object stores: build it with `make`, or, if \
             trackway is cargo's, with `cargo build --workspace --bin trackway-lake`",
        ),
        _ => Failure::about(program, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        let [path, url, file] = ["runs/a.trackway", "s3://bucket/runs", "file:///runs"].map(PathBuf::from);
        assert!(!has_url([&path]));
        assert!(has_url([&path, &url]));
        assert!(has_url([&file, &path]));
    }

    #[test]
    fn why_the_program_does_not_start_is_told() {
        let told = |kind| not_started(Path::new("bin/trackway-lake"), &io::Error::from(kind)).to_string();
        let missing = told(io::ErrorKind::NotFound);
        assert!(missing.starts_with("bin/trackway-lake: not found;"), "{missing}");
        assert!(missing.contains("`make`"), "{missing}");
        let forbidden = told(io::ErrorKind::PermissionDenied);
        assert_eq!(forbidden, "bin/trackway-lake: permission denied");
    }
}
