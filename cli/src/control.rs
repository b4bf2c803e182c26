//! `trackway control`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use trackway_recorder::{control, recorder_of, ControlAnswer, ControlRequest};

use crate::arguments::{ControlArguments, ControlVerb};
use crate::failure::Failure;
use crate::output;

pub fn run(arguments: ControlArguments) -> Result<ExitCode, Failure> {
    let request = match arguments.request {
        ControlVerb::Start => ControlRequest::Start,
        ControlVerb::Stop => ControlRequest::Stop,
        ControlVerb::Mark { text } => ControlRequest::Mark(text),
        ControlVerb::Status => ControlRequest::Status,
        ControlVerb::Snapshot => ControlRequest::Snapshot,
    };
    let recorder = recorder_of(arguments.pid).map_err(|error| Failure::new(error.to_string()))?;
    let answer = control(arguments.pid, &request).map_err(|error| Failure::new(error.to_string()))?;
    let message = match answer {
        ControlAnswer::Done(message) => message,
        ControlAnswer::Pending(path) => wait_for(recorder, path)?,
        ControlAnswer::Refused(reason) => return Err(Failure::new(reason)),
    };
    output::print(&format!("{message}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a snapshot when it is whole.
fn wait_for(recorder: u32, path: PathBuf) -> Result<String, Failure> {
    const LONGEST: Duration = Duration::from_secs(120);
    let begun = Instant::now();
    let request = ControlRequest::OutcomeOf(path.clone());
    while begun.elapsed() < LONGEST {
        match control(recorder, &request) {
            Ok(ControlAnswer::Done(message)) => return Ok(message),
            Ok(ControlAnswer::Refused(reason)) => return Err(Failure::new(reason)),
            Err(_) if !lives(recorder) => break, // it answers no more while it writes the last snapshot
            Ok(ControlAnswer::Pending(_)) | Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    let name = path.display().to_string();
    match path.exists() && !lives(recorder) {
        true => Ok(name),
        false => Err(Failure::new(format!(
            "{name}: not there after {} s; the recorder says why if it can't write it",
            begun.elapsed().as_secs()
        ))),
    }
}

fn lives(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}
