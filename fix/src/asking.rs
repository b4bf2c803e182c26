//! Asks clang what the units of a program do with a structure, or look up or add in a line.

use std::collections::BTreeSet;
use std::path::Path;
use std::process;

use trackway_answers::failure::Failure;
use trackway_driver::{major_version, Installation};

use crate::commands::Command;
use crate::uses::Use;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'s> {
    /// Uses of a structure.
    Structure(&'s str),
    Allocations,
    /// Look-ups of a line of any file, so many iterations ahead.
    LookUps {
        line: usize,
        distance: usize,
    },
    /// Calls of a line of any file that add to vectors.
    Growths {
        line: usize,
    },
}

impl Subject<'_> {
    /// Arguments of the plug-in.
    fn arguments(self) -> Vec<String> {
        match self {
            Subject::Structure(name) => vec![format!("type={name}")],
            Subject::Allocations => vec!["type=".into()],
            Subject::LookUps { line, distance } => {
                vec![format!("line={line}"), format!("distance={distance}")]
            }
            Subject::Growths { line } => vec![format!("line={line}")],
        }
    }
}

/// All that is found in all units, each once.
///
/// # Errors
/// If a unit can't be compiled as it was.
pub fn found(subject: Subject, units: &[Command]) -> Result<BTreeSet<Use>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::new(format!("a temporary folder: {error}")))?;
    let installation = Installation::locate();
    let mut all = BTreeSet::new();
    for unit in units {
        all.extend(ask(subject, unit, &installation, &folder.path().join("uses"))?);
    }
    Ok(all)
}

fn ask(
    subject: Subject,
    unit: &Command,
    installation: &Installation,
    output: &Path,
) -> Result<Vec<Use>, Failure> {
    let version = major_version(&unit.compiler)?;
    let plugin = installation.uses_plugin(version)?;
    let mut command = process::Command::new(&unit.compiler);
    command
        .args(&unit.options)
        .args(["-fsyntax-only", "-w"])
        .arg(format!("-fplugin={}", plugin.display()))
        .args(
            subject
                .arguments()
                .iter()
                .map(|argument| format!("-fplugin-arg-TrackwayUses-{argument}")),
        )
        .arg(format!("-fplugin-arg-TrackwayUses-output={}", output.display()))
        .arg(&unit.source)
        .current_dir(&unit.directory);
    let done = command.output().map_err(|error| {
        let compiler = unit.compiler.to_string_lossy();
        Failure::new(format!("{compiler} in {}: {error}", unit.directory.display()))
    })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said
            .lines()
            .find(|line| line.contains("error"))
            .unwrap_or("")
            .to_owned();
        return Err(Failure::about(
            &unit.path(),
            format!("doesn't compile with the options that its program was compiled with: {first}"),
        ));
    }
    let text = std::fs::read(output).map_err(|error| Failure::about(output, error))?;
    serde_json::from_slice(&text).map_err(|error| Failure::about(output, error))
}
