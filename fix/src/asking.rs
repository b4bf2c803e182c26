//! Asks clang what the units of a program do with a structure.

use std::collections::BTreeSet;
use std::path::Path;
use std::process;

use trackway_answers::failure::Failure;
use trackway_driver::{major_version, Installation};

use crate::commands::Command;
use crate::uses::Use;

/// All uses in all units, each once.
///
/// # Errors
/// If a unit can't be compiled as it was.
pub fn uses_of(name: &str, units: &[Command]) -> Result<BTreeSet<Use>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::new(format!("a temporary folder: {error}")))?;
    let installation = Installation::locate();
    let mut all = BTreeSet::new();
    for unit in units {
        all.extend(ask(name, unit, &installation, &folder.path().join("uses"))?);
    }
    Ok(all)
}

fn ask(name: &str, unit: &Command, installation: &Installation, output: &Path) -> Result<Vec<Use>, Failure> {
    let version = major_version(&unit.compiler)?;
    let plugin = installation.uses_plugin(version)?;
    let mut command = process::Command::new(&unit.compiler);
    command
        .args(&unit.options)
        .args(["-fsyntax-only", "-w"])
        .arg(format!("-fplugin={}", plugin.display()))
        .arg(format!("-fplugin-arg-TrackwayUses-type={name}"))
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
