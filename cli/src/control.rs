//! `trackway control`.

use std::process::ExitCode;

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
    };
    let answer = control(arguments.pid, &request).map_err(|error| Failure::new(error.to_string()))?;
    match answer {
        ControlAnswer::Done(message) => {
            output::print(&format!("{message}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        ControlAnswer::Refused(reason) => Err(Failure::new(reason)),
    }
}
