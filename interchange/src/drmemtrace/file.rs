//! Which files a trace consists of.

use std::path::{Path, PathBuf};

use crate::ImportError;

/// What the names of converted traces hold.
const MARK: &str = ".trace";

/// The files of the traces at `paths`, in the order of their names: a file stands for itself, a folder for the traces
/// of threads in it or in its folder `trace`.
pub fn trace_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(files_of_folder(path)?),
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn files_of_folder(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let mut files = traces_in(folder)?;
    let below = folder.join("trace");
    if files.is_empty() && below.is_dir() {
        files = traces_in(&below)?;
    }
    if files.is_empty() {
        return Err(ImportError::Unsupported {
            file: folder.to_path_buf(),
            what: "no *.trace* in it; a folder of raw files becomes one by `drraw2trace -indir FOLDER`"
                .into(),
        });
    }
    Ok(files)
}

fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let error = |source| ImportError::Io {
        file: folder.to_path_buf(),
        action: "read the folder",
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && (name.contains(&format!("{MARK}.")) || name.ends_with(MARK)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The name of the traced program, which stands in that of the file: `drmemtrace.PROGRAM.PROCESS.NUMBER.trace.zip`.
pub fn application_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let words: Vec<&str> = name.strip_prefix("drmemtrace.")?.split('.').collect();
    let mark = words.iter().position(|word| *word == "trace")?;
    let application = words.get(..mark.checked_sub(2)?)?.join(".");
    Some(application).filter(|application| !application.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_name_the_program() {
        let application = |name: &str| application_of(Path::new(name));
        assert_eq!(
            application("a/drmemtrace.fx.03764.7716.trace.zip").as_deref(),
            Some("fx")
        );
        assert_eq!(
            application("drmemtrace.my.prog.03764.7716.trace").as_deref(),
            Some("my.prog")
        );
        assert_eq!(application("drmemtrace.03764.7716.trace"), None);
        assert_eq!(application("foreign.trace.gz"), None);
    }
}
