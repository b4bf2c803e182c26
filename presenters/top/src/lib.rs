//! `trackway top`: what a program that counts does in its regions, while it does it.

mod arguments;
mod attached;
mod display;
mod files;
mod history;
mod page;
mod screen;
mod started;
mod table;
mod tee;
mod watcher;

use std::process::ExitCode;

use trackway_answers::failure::Failure;

pub use arguments::TopArguments;

pub fn run(arguments: TopArguments) -> Result<ExitCode, Failure> {
    match arguments.process() {
        Some(pid) => {
            arguments.require_no_options_of_programs()?;
            attached::run(pid, &arguments.view)
        }
        None => started::run(arguments),
    }
}
