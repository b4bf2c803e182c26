//! Traces under the names that users give: on this machine, or in an object store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;
use trackway_answers::failure::Failure;
use trackway_stores::{is_address, LocalPlace};

/// Whoever has it ends the process.
static LEAVING: Mutex<()> = Mutex::new(());

/// What a user has named, copied to this machine if it was in a store. The copies are removed with this value, or if
/// the command is interrupted.
pub struct Places {
    places: Vec<LocalPlace>,
    _copies: Option<TempDir>,
}

impl Places {
    /// Opens the places, and shows the progress of copying.
    pub fn open(places: &[PathBuf], quiet: bool) -> Result<Places, Failure> {
        let copies = match places.iter().any(|place| is_address(place)) {
            true => Some(folder_for_copies()?),
            false => None,
        };
        let folder = copies.as_ref().map_or(Path::new(""), TempDir::path);
        let places = places.iter().map(|place| brought(place, folder, quiet));
        Ok(Places {
            places: places.collect::<Result<_, _>>()?,
            _copies: copies,
        })
    }

    /// The same for arguments, which then name the copies.
    pub fn bring<const N: usize>(arguments: [&mut PathBuf; N], quiet: bool) -> Result<Places, Failure> {
        let named: Vec<PathBuf> = arguments.iter().map(|argument| argument.to_path_buf()).collect();
        let places = Places::open(&named, quiet)?;
        for (argument, path) in arguments.into_iter().zip(places.paths()) {
            *argument = path;
        }
        Ok(places)
    }

    /// Files and folders of this machine.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.places.iter().map(|place| place.path().to_owned()).collect()
    }

    /// What users call a file of one of the places.
    pub fn name_of(&self, file: &Path) -> String {
        let own = self.places.iter().find(|place| file.starts_with(place.path()));
        own.map_or_else(|| file.display().to_string(), |place| place.name_of(file))
    }
}

fn folder_for_copies() -> Result<TempDir, Failure> {
    let parent = std::env::temp_dir();
    let failed = |error: io::Error| {
        Failure::about(
            &parent,
            format!("{error}; traces of object stores are copied to the folder that TMPDIR names"),
        )
    };
    let folder = tempfile::Builder::new()
        .prefix("trackway-copies-")
        .tempdir_in(&parent)
        .map_err(failed)?;
    remove_if_interrupted(folder.path()).map_err(failed)?;
    Ok(folder)
}

/// Removes the copies if the process is interrupted: they are as private as traces, and may be large.
fn remove_if_interrupted(folder: &Path) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let folder = folder.to_owned();
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                let _leaving = LEAVING.lock();
                let _ = fs::remove_dir_all(&folder);
                let _ = emulate_default_handler(signal);
            }
        })
        .map(drop)
}

/// Doesn't return if the process is being interrupted: a command whose copies are gone has failed for that reason only.
pub fn wait_if_interrupted() {
    drop(LEAVING.lock().unwrap_or_else(PoisonError::into_inner));
}

fn brought(place: &Path, copies: &Path, quiet: bool) -> Result<LocalPlace, Failure> {
    let bar = bar(quiet || !is_address(place));
    let opened = LocalPlace::open(place, copies, &mut |more, all| {
        bar.set_length(all);
        bar.inc(more);
    });
    bar.finish_and_clear();
    opened.map_err(|error| Failure::new(error.to_string()))
}

fn bar(hidden: bool) -> ProgressBar {
    let target = match hidden {
        true => ProgressDrawTarget::hidden(),
        // The bar isn't drawn where that is no terminal.
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template("copying {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left")
    {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
