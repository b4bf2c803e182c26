//! Where an answer goes.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trackway_answers::failure::Failure;
use trackway_cli::query::{AnswerFormat, QueryArguments};

/// What messages call it.
pub fn standard_output() -> &'static Path {
    Path::new("standard output")
}

/// Standard output, or a file that gets its name when all of it is written.
pub enum Destination {
    Output(BufWriter<Stdout>),
    File {
        file: BufWriter<NamedTempFile>,
        path: PathBuf,
        replaces: bool,
    },
}

impl Destination {
    pub fn open(arguments: &QueryArguments) -> Result<Destination, Failure> {
        let Some(path) = &arguments.output else {
            if arguments.format() == AnswerFormat::Parquet && io::stdout().is_terminal() {
                return Err(Failure::new(
                    "Parquet is nothing for a terminal: name a file with --output",
                ));
            }
            return Ok(Destination::Output(BufWriter::new(io::stdout())));
        };
        if !arguments.force && path.exists() {
            return Err(Failure::about(path, "exists already; replace it with --force"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // For the user alone, as temporary files are.
        let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
        Ok(Destination::File {
            file: BufWriter::new(file.map_err(|error| Failure::about(path, error))?),
            path: path.clone(),
            replaces: arguments.force,
        })
    }

    /// For messages.
    pub fn path(&self) -> PathBuf {
        match self {
            Destination::Output(_) => standard_output().to_owned(),
            Destination::File { path, .. } => path.clone(),
        }
    }

    /// Says that all is written.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Destination::Output(mut output) => output.flush().map_err(Failure::writing),
            Destination::File { file, path, replaces } => {
                let about = |error: io::Error| Failure::about(&path, error);
                let file = file.into_inner().map_err(|error| about(error.into_error()))?;
                let kept = match replaces {
                    true => file.persist(&path),
                    false => file.persist_noclobber(&path),
                };
                kept.map(|_| ()).map_err(|error| about(error.error))
            }
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Output(output) => output.write(bytes),
            Destination::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Output(output) => output.flush(),
            Destination::File { file, .. } => file.flush(),
        }
    }
}
