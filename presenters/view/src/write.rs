//! The page as a file.

use std::path::{Path, PathBuf};

use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_report::grouped;
use trackway_trace::{Existing, OutputFile};

use crate::arguments::ViewArguments;

/// Where the page goes.
pub struct Target {
    path: PathBuf,
    existing: Existing,
}

impl Target {
    pub fn new(path: PathBuf, force: bool) -> Target {
        Target {
            path,
            existing: Existing::with_force(force),
        }
    }

    /// The target that the arguments of `trackway view` name.
    pub fn of(arguments: &ViewArguments) -> Target {
        let path = arguments.output.clone();
        Target::new(
            path.unwrap_or_else(|| default_path(arguments.shown_trace())),
            arguments.force,
        )
    }

    /// Fails if there is a file that must not be replaced, or none can be made.
    pub fn check(&self) -> Result<(), Failure> {
        Ok(OutputFile::check(&self.path, self.existing)?)
    }

    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Writes the page for the user alone. It is there in full or not at all.
    pub fn write(&self, page: &str, quiet: bool) -> Result<(), Failure> {
        output::write_file(&self.path, page.as_bytes(), self.existing)?;
        if !quiet {
            let bytes = grouped(page.len() as u64);
            output::say(format!("{}, {bytes} bytes", self.path.display()));
        }
        Ok(())
    }
}

fn default_path(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".html");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_page_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        Target::new(path.clone(), false).write("page", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "page");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn existing_files_are_replaced_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        fs::write(&path, "mine").unwrap();
        let polite = Target::new(path.clone(), false);
        assert!(polite.check().is_err());
        assert!(polite
            .write("page", true)
            .unwrap_err()
            .to_string()
            .contains("with -f"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        let forced = Target::new(path.clone(), true);
        forced.check().unwrap();
        forced.write("page", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "page");
    }

    #[test]
    fn by_default_it_stands_beside_the_trace() {
        assert_eq!(
            default_path(Path::new("x/prog.trackway")),
            Path::new("x/prog.trackway.html")
        );
    }
}
