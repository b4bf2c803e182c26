//! `trackway collect`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use trackway_kafka::{Producer, Target};
use trackway_recorder::{collect, CollectEvent, CollectOptions, CollectOutput, CollectSummary, Feed};
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
    let (output, fed_only) = output(&arguments)?;
    let count = match output {
        CollectOutput::File { .. } => Some(1),
        _ => arguments.count.map(u64::from).or(arguments.once.then_some(1)),
    };
    let feed = match fed_only.or(arguments.kafka) {
        Some(target) => Some(feed(target)?),
        None => None,
    };
    Ok(CollectOptions {
        listen: arguments.listen,
        allow_remote: arguments.allow_remote,
        output,
        feed,
        count,
        sync: arguments.sync,
    })
}

/// Where the files go; the target is set if the traces go there instead of to files.
fn output(arguments: &CollectArguments) -> Result<(CollectOutput, Option<Target>), Failure> {
    let path = &arguments.output;
    if let Some(address) = path.to_str().filter(|text| text.starts_with(Target::SCHEME)) {
        if arguments.kafka.is_some() {
            return Err(Failure::about(
                path,
                "with --kafka, --output is for files; name one address only",
            ));
        }
        let target = address
            .parse()
            .map_err(|reason: String| Failure::about(path, reason))?;
        return Ok((CollectOutput::FeedOnly, Some(target)));
    }
    if path.is_dir() || path.as_os_str().as_bytes().ends_with(b"/") {
        return Ok((CollectOutput::Folder(path.clone()), None));
    }
    if arguments.count.is_some_and(|count| count.get() > 1) {
        return Err(Failure::about(
            path,
            "a file takes one trace; name a folder (with / at its end) for --count",
        ));
    }
    let (path, force) = (path.clone(), arguments.force);
    Ok((CollectOutput::File { path, force }, None))
}

fn feed(target: Target) -> Result<Arc<dyn Feed>, Failure> {
    let started = Producer::start(target, Arc::new(|text: &str| output::warn(text)));
    match started {
        Ok(producer) => Ok(Arc::new(producer)),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

fn tell(event: &CollectEvent, quiet: bool) {
    let say = |path: &Path, what: String| {
        if !quiet {
            output::say(format!("{}: {what}", path.display()));
        }
    };
    match event {
        CollectEvent::Listening { address } => {
            output::say(format!(
                "listening at {address}; record with `trackway record --to {address} -- PROGRAM`"
            ));
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
        output::say(format!("{} complete", counted(summary.complete, "trace")));
    }
}
