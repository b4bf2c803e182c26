//! The program that replaces `trackway` for commands that need DataFusion or the clients of object stores. It takes the
//! same command line, and prints messages under the name of `trackway`.

mod parquet_folders;
mod places;
mod query;

use std::process::ExitCode;

use trackway_answers::failure::Failure;
use trackway_answers::{check, diff};
use trackway_cli::{exit_code, verb, Verb};

use places::Places;

fn main() -> ExitCode {
    let done = run(verb());
    places::wait_if_interrupted();
    exit_code(done)
}

fn run(verb: Verb) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Query(arguments) => query::run(&arguments),
        Verb::Export(arguments) => parquet_folders::write(&arguments),
        Verb::Diff(mut arguments) => {
            let places = [&mut arguments.before, &mut arguments.after];
            let _copies = Places::bring(places, arguments.reading.quiet)?;
            diff::run(&arguments)
        }
        Verb::Check(mut arguments) => {
            let _copies = Places::bring([&mut arguments.trace], arguments.reading.quiet)?;
            check::run(&arguments)
        }
        _ => Err(Failure::new(
            "trackway-lake is a part of `trackway`, which does this: call that",
        )),
    }
}
