//! `trackway collect`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use trackway_recorder::{collect, CollectEvent, CollectOptions, CollectOutput, CollectSummary};
use trackway_report::{counted, grouped};

use crate::arguments::CollectArguments;
use crate::failure::Failure;
use crate::output;

pub fn run(arguments: CollectArguments) -> Result<ExitCode, Failure> {
    let quiet = arguments.quiet;
    let options = options(arguments)?;
    let summary =
        collect(&options, &|event| tell(&event, quiet)).map_err(|error| Failure::new(error.to_string()))?;
    conclude(&summary, quiet);
    Ok(ExitCode::SUCCESS)
}

fn options(arguments: CollectArguments) -> Result<CollectOptions, Failure> {
    let path = arguments.output;
    let names_folder = path.is_dir() || path.as_os_str().as_bytes().ends_with(b"/");
    let (output, count) = if names_folder {
        let count = arguments.count.map(u64::from);
        (CollectOutput::Folder(path), count.or(arguments.once.then_some(1)))
    } else {
        if arguments.count.is_some_and(|count| count.get() > 1) {
            return Err(Failure::about(
                &path,
                "a file takes one trace; name a folder (with / at its end) for --count",
            ));
        }
        let force = arguments.force;
        (CollectOutput::File { path, force }, Some(1))
    };
    Ok(CollectOptions {
        listen: arguments.listen,
        allow_remote: arguments.allow_remote,
        output,
        count,
        sync: arguments.sync,
    })
}

fn tell(event: &CollectEvent, quiet: bool) {
    let say = |path: &Path, what: String| {
        if !quiet {
            eprintln!("trackway: {}: {what}", path.display());
        }
    };
    match event {
        CollectEvent::Listening { address } => {
            eprintln!(
                "trackway: listening at {address}; record with `trackway record --to {address} -- PROGRAM`"
            );
        }
        CollectEvent::Began { path } => say(path, "begun".into()),
        CollectEvent::Resumed { path, position } => {
            say(path, format!("goes on after {} bytes", grouped(*position)));
        }
        CollectEvent::Interrupted { path, position, why } => {
            let position = grouped(*position);
            say(
                path,
                format!("the connection broke after {position} bytes ({why})"),
            );
        }
        CollectEvent::Completed { path, bytes } => say(path, format!("complete, {} bytes", grouped(*bytes))),
        CollectEvent::Rejected { why } => output::warn(format!("turned a connection away: {why}")),
    }
}

fn conclude(summary: &CollectSummary, quiet: bool) {
    for path in &summary.unfinished {
        output::warn(format!(
            "{}: unfinished, valid up to there; a collector with the same output goes on with it if its recorder \
             comes back",
            path.display()
        ));
    }
    if !quiet {
        eprintln!("trackway: {} complete", counted(summary.complete, "trace"));
    }
}
