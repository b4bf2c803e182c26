//! `trackway doctor`.

mod feature;
mod features;
mod machine;
mod trial;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use trackway_driver::Installation;
use trackway_report::{wrapped, Report};

use crate::failure::Failure;
use crate::output;
use feature::Feature;
use machine::ThisMachine;

/// The exit status if compiled recording doesn't work.
const MAIN_WAY_IS_BROKEN: u8 = 1;

/// Say what this machine lacks for which feature, and the line to install it
///
/// Compiles and records a small program, looks for compilers, libraries and rights of the other features, and shows each
/// with what it gives. Changes nothing. Exit status: 0 if compiled recording works (`trackway cc`, `trackway record`), 1 if it
/// doesn't; what else is lacking doesn't matter to it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway doctor\n  trackway doctor --lacking\n  trackway doctor --json")]
pub struct DoctorArguments {
    /// Only the features that lack something
    #[arg(long)]
    pub lacking: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
}

pub fn run(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let installation = Installation::locate();
    let mut features = features::all(&ThisMachine::new(&installation)?);
    for lack in features
        .iter_mut()
        .filter_map(|feature| feature.state.as_mut().err())
    {
        lack.why = named_within(installation.root(), &lack.why);
    }
    let main_way = features[0].state.clone();
    let root = installation.root().display();
    let version = env!("CARGO_PKG_VERSION");
    let answer = match &main_way {
        Ok(_) => format!("Trackway {version} in {root}: compiled recording works"),
        Err(lack) => format!(
            "Trackway {version} in {root}: compiled recording doesn't work: {}",
            lack.why
        ),
    };
    if arguments.lacking {
        features.retain(|feature| feature.state.is_err());
    }
    show(answer, &features, arguments.json)?;
    Ok(match main_way {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(MAIN_WAY_IS_BROKEN),
    })
}

/// The text with paths of the installation from its root on, which the first line of the answer names: whole ones have no
/// room in a column.
fn named_within(root: &Path, text: &str) -> String {
    match root.to_str() {
        None | Some("") => text.to_owned(),
        Some(root) => text.replace(&format!("{}/", root.trim_end_matches('/')), ""),
    }
}

fn show(answer: String, features: &[Feature], as_json: bool) -> Result<(), Failure> {
    if !as_json {
        let width = output::terminal_style().width;
        let answer = wrapped(&answer, width.unwrap_or(usize::MAX)).join("\n");
        return output::print(&format!("{answer}\n\n{}", feature::text(features, width)));
    }
    let report = Report {
        answer,
        warnings: Vec::new(),
        tables: vec![feature::table(features)],
    };
    output::print_report(&report, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_installation_are_named_from_its_root() {
        let why = "/opt/trackway/lib/trackway/dynamorio/launch: not found; see /opt/other";
        let short = "lib/trackway/dynamorio/launch: not found; see /opt/other";
        assert_eq!(named_within(Path::new("/opt/trackway"), why), short);
        assert_eq!(named_within(Path::new("/opt/trackway/"), why), short);
        assert_eq!(named_within(Path::new(""), why), why);
    }
}
