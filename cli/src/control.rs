//! `trackway control`.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use trackway_recorder::{control, ControlAnswer, ControlRequest};

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
    let answer = control(arguments.pid, &request).map_err(|error| Failure::new(error.to_string()))?;
    match answer {
        ControlAnswer::Done(message) => {
            output::print(&format!("{message}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        ControlAnswer::Written(path) => {
            wait_for(&path)?;
            output::print(&format!("{}\n", path.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        ControlAnswer::Refused(reason) => Err(Failure::new(reason)),
    }
}

/// The file gets its name when it is whole.
fn wait_for(path: &Path) -> Result<(), Failure> {
    const LONGEST: Duration = Duration::from_secs(120);
    let begun = Instant::now();
    while !path.exists() {
        if begun.elapsed() > LONGEST {
            let name = path.display();
            let waited = LONGEST.as_secs();
            return Err(Failure::new(format!(
                "{name}: still not there after {waited} s; the recorder says why if it can't write it"
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
