//! Traces where users name them: here, or in an object store.

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackway_stores::{is_address, Place};

use crate::failure::Failure;

/// Brings here what is in a store, and shows how far that is.
pub fn open(places: &[PathBuf], quiet: bool) -> Result<Vec<Place>, Failure> {
    places.iter().map(|place| brought(place, quiet)).collect()
}

/// The same for arguments, which then name what was brought; it is gone with the result.
pub fn bring<const N: usize>(arguments: [&mut PathBuf; N], quiet: bool) -> Result<Vec<Place>, Failure> {
    let bring = |argument: &mut PathBuf| {
        let place = brought(argument, quiet)?;
        *argument = place.path().to_owned();
        Ok(place)
    };
    arguments.into_iter().map(bring).collect()
}

/// What users call a file of one of the places.
pub fn name_of(places: &[Place], file: &Path) -> String {
    let own = places.iter().find(|place| file.starts_with(place.path()));
    own.map_or_else(|| file.display().to_string(), |place| place.name_of(file))
}

fn brought(place: &Path, quiet: bool) -> Result<Place, Failure> {
    let bar = bar(quiet || !is_address(place));
    let opened = Place::open(place, &mut |more, all| {
        bar.set_length(all);
        bar.inc(more);
    });
    bar.finish_and_clear();
    opened.map_err(|error| Failure::new(error.to_string()))
}

fn bar(hidden: bool) -> ProgressBar {
    let target = match hidden {
        true => ProgressDrawTarget::hidden(),
        // Not drawn where that is no terminal.
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template("copying {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left")
    {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
