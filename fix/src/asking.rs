//! Asks clang what the units of a program do with a structure, or look up or add in a line.

use std::collections::BTreeSet;
use std::path::Path;
use std::process;

use trackway_answers::failure::Failure;
use trackway_driver::{major_version, Installation};

use crate::commands::Command;
use crate::edits::Changed;
use crate::refusal::Refusal;
use crate::uses::Use;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'s> {
    /// Uses of a structure.
    Structure(&'s str),
    Allocations,
    /// How C++ makes objects of a structure, and what starts threads.
    Pools(&'s str),
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
            Subject::Pools(name) => vec![format!("pool={name}")],
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

/// Compiles all units as they would be with these files changed: the compiler's word against it, if there is one.
///
/// # Errors
/// If the compiler can't be asked.
pub fn objection(files: &[Changed], units: &[Command]) -> Result<Option<Refusal>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::new(format!("a temporary folder: {error}")))?;
    let mut roots = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let copy = folder.path().join(number.to_string());
        std::fs::write(&copy, &file.after).map_err(|error| Failure::about(&copy, error))?;
        roots.push(serde_json::json!({
            "type": "file", "name": file.path, "external-contents": copy, "use-external-name": false,
        }));
    }
    let overlay = folder.path().join("overlay.yaml");
    let text = serde_json::json!({"version": 0, "use-external-names": false, "roots": roots}).to_string();
    std::fs::write(&overlay, text).map_err(|error| Failure::about(&overlay, error))?;
    for unit in units {
        let mut command = process::Command::new(&unit.compiler);
        command
            .args(&unit.options)
            .args(["-fsyntax-only", "-w", "-ivfsoverlay"])
            .arg(&overlay)
            .arg(&unit.source);
        let done = output_of(command, unit)?;
        if !done.status.success() {
            let why = format!("the patched source doesn't compile: {}", first_error(&done));
            return Ok(Some(Refusal::new(why)));
        }
    }
    Ok(None)
}

fn output_of(mut command: process::Command, unit: &Command) -> Result<process::Output, Failure> {
    command.current_dir(&unit.directory).output().map_err(|error| {
        let compiler = unit.compiler.to_string_lossy();
        Failure::new(format!("{compiler} in {}: {error}", unit.directory.display()))
    })
}

fn first_error(done: &process::Output) -> String {
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| line.contains("error"));
    first.unwrap_or_default().to_owned()
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
        .arg(&unit.source);
    let done = output_of(command, unit)?;
    if !done.status.success() {
        let first = first_error(&done);
        return Err(Failure::about(
            &unit.path(),
            format!("doesn't compile with the options that its program was compiled with: {first}"),
        ));
    }
    let text = std::fs::read(output).map_err(|error| Failure::about(output, error))?;
    serde_json::from_slice(&text).map_err(|error| Failure::about(output, error))
}
