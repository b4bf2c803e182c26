//! `trackway answers`.

use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use trackway_report::{Report, Table, TableBuilder};

use super::entry::EntryFile;
use super::folder::{path_of_user, Folder};
use crate::failure::Failure;
use crate::output;

/// List the answers that are kept, or remove them
///
/// The verbs that ask a trace keep their answers below $XDG_CACHE_HOME, or ~/.cache, in trackway/answers: up to 1 GiB, for
/// this user alone. The same question about an unchanged trace is then answered at once. --fresh, or TRACKWAY_FRESH=1 in
/// the environment, turns that off.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway answers\n  trackway answers --clear")]
pub struct KeptArguments {
    /// Remove all of them
    #[arg(long)]
    pub clear: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "clear")]
    pub json: bool,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
}

/// Lists or removes the kept answers.
///
/// # Errors
/// If there is no place for them, others have access to it, or an entry can't be removed.
pub fn run(arguments: &KeptArguments) -> Result<ExitCode, Failure> {
    let path = path_of_user().ok_or_else(|| {
        Failure::new("no answers are kept: neither XDG_CACHE_HOME nor HOME names a folder by its whole path")
    })?;
    let folder = Folder::at(path.clone(), u64::MAX).map_err(|error| {
        Failure::about(
            &path,
            format!("{error}; it must be a folder of yours with mode 0700"),
        )
    })?;
    match arguments.clear {
        true => clear(&folder)?,
        false => output::print_report(&listed(&folder), arguments.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn clear(folder: &Folder) -> Result<(), Failure> {
    for file in folder.files() {
        file.remove().map_err(|error| Failure::about(&file.path, error))?;
    }
    Ok(())
}

fn listed(folder: &Folder) -> Report {
    let mut files = folder.files();
    files.sort_by_key(|file| std::cmp::Reverse(file.used));
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    Report {
        answer: format!(
            "{} bytes of {} in {}",
            trackway_report::grouped(bytes),
            trackway_report::counted(files.len() as u64, "answer"),
            folder.path().display()
        ),
        warnings: Vec::new(),
        tables: vec![table(folder, &files)],
    }
}

fn table(folder: &Folder, files: &[EntryFile]) -> Table {
    let now = SystemTime::now();
    let rows: Vec<_> = files
        .iter()
        .map(|file| (file, folder.foundation(file).map(|found| found.premises)))
        .collect();
    let age = |file: &EntryFile| now.duration_since(file.used).unwrap_or_default();
    TableBuilder::new("answers", "Kept answers, the latest first", &rows)
        .text("verb", |(_, premises)| {
            premises
                .as_ref()
                .map_or("(damaged)".into(), |premises| premises.verb.clone())
        })
        .text("trace", |(_, premises)| {
            premises
                .as_ref()
                .map_or(String::new(), |premises| premises.trace.display().to_string())
        })
        .count(("bytes", "bytes"), |(file, _)| file.bytes)
        .count(("unused_s", "unused for, s"), |(file, _)| age(file).as_secs())
        .build()
}
