//! Where an answer goes.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

use trackway_answers::failure::Failure;
use trackway_cli::query::{AnswerFormat, QueryArguments};
use trackway_report::TerminalWriter;
use trackway_trace::{Existing, OutputFile};

/// The name of standard output in messages.
pub fn standard_output() -> &'static Path {
    Path::new("standard output")
}

/// Standard output, or a file that gets its name when all of it is written.
pub enum Destination {
    Output(BufWriter<TerminalWriter<Stdout>>),
    File(BufWriter<OutputFile>),
}

impl Destination {
    pub fn open(arguments: &QueryArguments) -> Result<Destination, Failure> {
        let Some(path) = &arguments.output else {
            let is_terminal = io::stdout().is_terminal();
            if arguments.format() == AnswerFormat::Parquet && is_terminal {
                return Err(Failure::new(
                    "Parquet is nothing for a terminal: name a file with --output",
                ));
            }
            let output = TerminalWriter::new(io::stdout(), is_terminal);
            return Ok(Destination::Output(BufWriter::new(output)));
        };
        let file = OutputFile::create(path, Existing::with_force(arguments.force))?;
        Ok(Destination::File(BufWriter::new(file)))
    }

    /// The name in messages.
    pub fn path(&self) -> PathBuf {
        match self {
            Destination::Output(_) => standard_output().to_owned(),
            Destination::File(file) => file.get_ref().path().to_owned(),
        }
    }

    /// Completes the output.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Destination::Output(mut output) => output.flush().map_err(Failure::writing),
            Destination::File(file) => {
                let path = file.get_ref().path().to_owned();
                let file = file.into_inner();
                let file = file.map_err(|error| Failure::about(&path, error.into_error()))?;
                Ok(file.finish()?)
            }
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Output(output) => output.write(bytes),
            Destination::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Output(output) => output.flush(),
            Destination::File(file) => file.flush(),
        }
    }
}
