//! The proof of a patch: both programs are built, compared, timed and recorded, in copies of the source.

mod trees;

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_report::{grouped, percent};

use crate::edits::Changed;
use crate::prediction::{Prediction, Sides};
pub use trees::root_of;
use trees::{Ran, Tree};

/// Runs of each program, in turn.
const LEAST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 100;
/// Short programs run more often: until the runs of one took so long.
const ENOUGH: Duration = Duration::from_secs(2);
/// A change must save this part of the time. Less is within what differs from build to build.
const LEAST_GAIN: f64 = 0.02;
/// The cache whose misses are shown where nothing was predicted.
const USUAL_LEVEL: u64 = 2;

/// How a patch is proved.
#[derive(Clone, Debug, Default, Args)]
pub struct ProveArguments {
    /// Apply the patch to a copy of the sources, build it there, run both programs, and keep the patch only if it saves time
    #[arg(long, num_args = 2, value_names = ["BUILD", "RUN"])]
    pub prove: Vec<String>,
    /// The program's own tests, as a command for the shell; they must pass in the copy
    #[arg(long, value_name = "COMMAND", requires = "prove")]
    pub test: Option<String>,
    /// The folder that is copied [default: that of the sources' repository, else where the compiler ran]
    #[arg(long, value_name = "FOLDER", requires = "prove")]
    pub source: Option<std::path::PathBuf>,
}

impl ProveArguments {
    pub fn is_asked(&self) -> bool {
        !self.prove.is_empty()
    }
}

/// Whether the patched program does the same, and takes less time. Says what was found.
///
/// # Errors
/// If a copy can't be made, or the program as it was can't be built and run.
pub fn gains(
    arguments: &ProveArguments,
    files: &[Changed],
    root: &Path,
    predicted: Option<&Prediction>,
) -> Result<bool, Failure> {
    let [build, run] = &arguments.prove[..] else {
        return Err(Failure::new(
            "--prove takes two commands: one that builds, and one that runs the program",
        ));
    };
    let root = arguments.source.as_deref().unwrap_or(root);
    let root = &root.canonicalize().map_err(|error| Failure::about(root, error))?;
    let before = Tree::copied(root)?;
    let after = Tree::copied(root)?;
    after.write(files, root)?;
    for (tree, what) in [
        (&before, "the program as it was"),
        (&after, "the patched program"),
    ] {
        output::say(format!("builds {what} by `{build}`"));
        let done = tree.runs(build)?;
        if !done.succeeded() {
            let message = format!("{what} doesn't build: {}", done.last_words());
            return refused_or_failed(tree, &before, message);
        }
    }
    if let Some(test) = &arguments.test {
        for tree in [&before, &after] {
            let done = tree.runs(test)?;
            if !done.succeeded() {
                let message = format!("`{test}` fails: {}", done.last_words());
                return refused_or_failed(tree, &before, message);
            }
        }
    }
    let (was, is) = (before.runs(run)?, after.runs(run)?);
    if was.differs_from(&is) {
        output::say(format!("`{run}` does something else: {}", was.difference(&is)));
        return Ok(false);
    }
    let seconds = timed(&before, &after, run)?;
    let level = predicted
        .and_then(|predicted| predicted.misses)
        .map_or(USUAL_LEVEL, |misses| misses.level);
    let misses = Sides {
        before: before.recorded(run)?.misses_of(level)?,
        after: after.recorded(run)?.misses_of(level)?,
    };
    say_result(predicted, level, misses, seconds);
    let saved = (seconds.0 - seconds.1) / seconds.0.max(f64::MIN_POSITIVE);
    if saved < LEAST_GAIN {
        output::say(format!(
            "it saves {} of the time, so the patch isn't kept",
            percent(saved)
        ));
    }
    Ok(saved >= LEAST_GAIN)
}

/// A patch that doesn't work isn't kept; a program that doesn't work without it is the user's error.
fn refused_or_failed(tree: &Tree, before: &Tree, message: String) -> Result<bool, Failure> {
    if std::ptr::eq(tree, before) {
        return Err(Failure::new(format!("--prove: {message}")));
    }
    output::say(format!("{message}; the patch isn't kept"));
    Ok(false)
}

/// The shortest wall time of both, in seconds; they run in turn.
fn timed(before: &Tree, after: &Tree, run: &str) -> Result<(f64, f64), Failure> {
    let mut shortest = [f64::INFINITY; 2];
    let began = Instant::now();
    for round in 0..MOST_ROUNDS {
        if round >= LEAST_ROUNDS && began.elapsed() > ENOUGH * 2 {
            break;
        }
        for (tree, shortest) in [before, after].into_iter().zip(&mut shortest) {
            let Ran { seconds, .. } = tree.runs(run)?;
            *shortest = seconds.min(*shortest);
        }
    }
    Ok((shortest[0], shortest[1]))
}

fn say_result(predicted: Option<&Prediction>, level: u64, misses: Sides, (before, after): (f64, f64)) {
    let foreseen = |text: &dyn Fn(&Prediction) -> Option<String>| {
        let text = predicted.and_then(text);
        text.map_or(String::new(), |text| format!(" {text} predicted,"))
    };
    output::say(format!(
        "L{level} misses: {} before,{} {} after ({} fewer)",
        grouped(misses.before),
        foreseen(&|predicted| predicted.misses.map(|misses| grouped(misses.sides.after))),
        grouped(misses.after),
        percent(misses.saved())
    ));
    output::say(format!(
        "seconds: {before:.3} before,{} {after:.3} after ({} saved)",
        foreseen(&|predicted| Some(format!("{:.3}", before * (1.0 - predicted.cycles.saved())))),
        percent((before - after) / before.max(f64::MIN_POSITIVE)),
    ));
}
