//! The file of this machine's figures.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::calibration::{Calibration, Step, METHOD};
use crate::costs::MemoryCosts;
use crate::error::CostsError;
use crate::processor::{caches, home, processor_name};

const MOST_FILE_BYTES: u64 = 1 << 16;

/// What happens while the figures of this machine are found.
#[derive(Debug)]
pub enum Event<'e> {
    /// They are measured now, for this reason.
    Measuring { why: &'e str },
    /// How far that is.
    Step(Step),
    /// What the measured figures lack, such as a quiet machine.
    Doubt { note: &'e str },
    /// They were measured, and are in this file for the next time.
    Stored { path: &'e Path },
    /// They were measured, but couldn't be stored.
    NotStored { error: &'e CostsError },
}

/// `$XDG_CONFIG_HOME/trackway/machine.toml`, or that below `~/.config`.
pub fn path_of_user() -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let settings = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(settings.join("trackway").join("machine.toml"))
}

impl MemoryCosts {
    /// Measures this machine, which takes some seconds. `progress` is called before each step.
    ///
    /// # Errors
    /// If the machine doesn't say what caches it has, memory is short, or the figures contradict each other.
    pub fn measure(progress: impl FnMut(Step)) -> Result<MemoryCosts, CostsError> {
        Ok(Calibration::measure(progress)?.costs)
    }

    /// The figures of this machine, if they were stored.
    ///
    /// # Errors
    /// As [`Calibration::stored`].
    pub fn stored() -> Result<Option<MemoryCosts>, CostsError> {
        Ok(Calibration::stored()?.map(|calibration| calibration.costs))
    }

    /// Stores the figures as those of this machine, and returns where.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn store(&self) -> Result<PathBuf, CostsError> {
        let calibration = Calibration {
            costs: self.clone(),
            measured: None,
        };
        calibration.store()
    }

    /// The stored figures; if none fit this machine, measures and stores them, and tells that.
    ///
    /// # Errors
    /// If they can't be measured. If they can't be stored, an event says so.
    pub fn for_this_machine(mut tell: impl FnMut(Event)) -> Result<MemoryCosts, CostsError> {
        let why = match MemoryCosts::stored() {
            Ok(Some(costs)) => return Ok(costs),
            Ok(None) => "this machine hasn't been measured".to_owned(),
            Err(error) => error.to_string(),
        };
        tell(Event::Measuring { why: &why });
        let calibration = Calibration::measure(|step| tell(Event::Step(step)))?;
        for note in calibration.measured.iter().flat_map(|measured| &measured.notes) {
            tell(Event::Doubt { note });
        }
        match calibration.store() {
            Ok(path) => tell(Event::Stored { path: &path }),
            Err(error) => tell(Event::NotStored { error: &error }),
        }
        Ok(calibration.costs)
    }

    /// What tells one machine from another: the processor's name, and the caches' sizes, since virtual machines give
    /// many processors the same name.
    fn machine(&self) -> String {
        let sizes = self.levels.iter().filter_map(|level| level.size_bytes);
        described(&self.processor, sizes)
    }
}

impl Calibration {
    /// What was stored for this machine; none if there is no file.
    ///
    /// # Errors
    /// If the file can't be read, has figures of no machine, those of another one, or what an earlier method measured.
    pub fn stored() -> Result<Option<Calibration>, CostsError> {
        let path = path_of_user().ok_or(CostsError::NoFolder)?;
        let Some(calibration) = Calibration::read(&path)? else {
            return Ok(None);
        };
        let there = calibration.costs.machine();
        let sizes = caches(home()).into_iter().map(|cache| cache.size_bytes);
        let here = described(&processor_name(), sizes);
        let measured = calibration.measured.as_ref();
        match there == here {
            true if measured.is_some_and(|measured| measured.method < METHOD) => {
                Err(CostsError::OlderMethod { path })
            }
            true => Ok(Some(calibration)),
            false => Err(CostsError::OtherMachine { path, there, here }),
        }
    }

    /// What a file has, of any machine; none if there is no file.
    ///
    /// # Errors
    /// If it can't be read, or has figures of no machine.
    pub fn read(path: &Path) -> Result<Option<Calibration>, CostsError> {
        let failure = |source| CostsError::Io {
            path: path.to_owned(),
            source,
        };
        let wrong = |what: String| CostsError::File {
            path: path.to_owned(),
            what,
        };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure(error)),
        };
        let metadata = file.metadata().map_err(failure)?;
        if !metadata.is_file() || metadata.len() > MOST_FILE_BYTES {
            return Err(wrong(format!("is no file of at most {MOST_FILE_BYTES} bytes")));
        }
        let mut text = String::new();
        let read = file.take(MOST_FILE_BYTES).read_to_string(&mut text);
        read.map_err(failure)?;
        Calibration::from_toml(&text)
            .map(Some)
            .map_err(|error| wrong(error.to_string()))
    }

    /// Where the figures will be stored, if that is possible: to be asked before they are measured.
    ///
    /// # Errors
    /// If the file couldn't be written.
    pub fn place() -> Result<PathBuf, CostsError> {
        // A file without a name, of which nothing is left whatever happens.
        with_folder(|folder, _| tempfile::tempfile_in(folder).map(drop))
    }

    /// Stores the figures as those of this machine, and returns where.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn store(&self) -> Result<PathBuf, CostsError> {
        with_folder(|folder, path| write_whole(folder, path, self.to_toml().as_bytes()))
    }
}

/// Does something in the folder of the user's settings, which is made if needed: for the user alone, as other programs
/// make it.
fn with_folder(work: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<PathBuf, CostsError> {
    let path = path_of_user().ok_or(CostsError::NoFolder)?;
    let folder = path.parent().unwrap_or(&path);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    match made.and_then(|()| work(folder, &path)) {
        Ok(()) => Ok(path),
        Err(source) => Err(CostsError::Io { path, source }),
    }
}

/// The file gets its name when it is complete. Its mode is 0600.
fn write_whole(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    // A link, which some programs for settings make, stays.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = NamedTempFile::new_in(target.parent().unwrap_or(folder))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

fn described(processor: &str, sizes: impl Iterator<Item = u64>) -> String {
    let sizes: Vec<String> = sizes.map(|size| format!("{}K", size >> 10)).collect();
    format!("{processor}, caches {}", sizes.join(" "))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine.toml");
        for text in ["first", "second"] {
            write_whole(folder.path(), &path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine.toml");
        assert_eq!(Calibration::read(&path).unwrap(), None);
        for (content, part) in [
            (&b"ghz = 3"[..], "missing field"),
            (b"\xff\xfe", "UTF-8"),
            (&[b' '; 100_000], "no file of at most"),
        ] {
            fs::write(&path, content).unwrap();
            let error = Calibration::read(&path).unwrap_err().to_string();
            assert!(
                error.contains("machine.toml: ") && error.contains(part),
                "{error}"
            );
        }
        assert!(Calibration::read(folder.path()).is_err());
    }

    #[test]
    fn machines_differ_by_name_and_caches() {
        let here = described("AMD EPYC", [32 << 10, 1 << 20].into_iter());
        assert_eq!(here, "AMD EPYC, caches 32K 1024K");
        assert_ne!(here, described("AMD EPYC", [32 << 10, 512 << 10].into_iter()));
        assert_ne!(here, described("AMD Ryzen", [32 << 10, 1 << 20].into_iter()));
    }
}
