//! Running a program with advised allocations in far memory.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use object::Object;
use tempfile::{NamedTempFile, TempPath};
use trackway_analysis::placement::{AdvisedCall, AdvisedFrame};
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_driver::Installation;
use trackway_report::{counted, grouped};

use crate::advice_file::{self, Advice};
use crate::far_memory::{self, FarMemory};
use crate::plan_file::{self, Counters};
use crate::PlaceArguments;

/// As shells tell of a signal.
const SIGNALLED: i32 = 128;

pub fn run(arguments: &PlaceArguments) -> Result<ExitCode, Failure> {
    let path = arguments.advice.as_deref().unwrap_or(Path::new(""));
    let advice = advice_file::read(path)?;
    let calls = far_calls(&advice, path, arguments.far.as_deref())?;
    require_same_objects(&calls, path)?;
    let library = Installation::locate().placer()?;
    let far = far_memory::prepare(arguments)?;
    let plan = plan_file::encode(&far.memory, far.capacity_bytes, std::process::id(), &calls);
    let plan = write_plan(&plan.map_err(|error| Failure::about(path, error))?)?;
    let status = start(arguments, &library, &plan)?;
    tell(
        &Counters::read(&plan).map_err(|error| Failure::about(&plan, error))?,
        &far.memory,
    );
    let code = status
        .code()
        .unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or(0));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Calls of sites whose tier is far.
fn far_calls(advice: &Advice, path: &Path, far: Option<&str>) -> Result<Vec<AdvisedCall>, Failure> {
    let tiers = &advice.header.tiers;
    let last = tiers.last().map(String::as_str).unwrap_or_default();
    let far = far.unwrap_or(last);
    if !tiers.iter().any(|tier| tier == far) {
        return Err(Failure::about(
            path,
            format!("there is no tier {far:?}; there are {}", tiers.join(", ")),
        ));
    }
    let sites = advice.sites.iter().filter(|site| site.tier == far);
    Ok(sites.flat_map(|site| site.calls.iter().cloned()).collect())
}

/// Return addresses are those of one build.
fn require_same_objects(calls: &[AdvisedCall], advice: &Path) -> Result<(), Failure> {
    let mut frames: Vec<&AdvisedFrame> = calls
        .iter()
        .flatten()
        .filter(|frame| !frame.build_id.is_empty())
        .collect();
    frames.sort_by_key(|frame| &frame.object);
    frames.dedup_by_key(|frame| &frame.object);
    for frame in frames {
        let now = build_id(Path::new(&frame.object));
        if now.as_ref().is_some_and(|now| *now != frame.build_id) {
            let problem = format!(
                "{} was built anew since it was recorded: its call sites are elsewhere now; record it again, and write new \
                 advice",
                frame.object
            );
            return Err(Failure::about(advice, problem));
        }
    }
    Ok(())
}

fn build_id(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let id = file.build_id().ok()??;
    Some(trackway_trace::hexadecimal(id))
}

/// For the program, and those that it starts, as long as it runs.
fn write_plan(plan: &[u8]) -> Result<TempPath, Failure> {
    let mut file = NamedTempFile::new().map_err(Failure::writing)?;
    file.write_all(plan).map_err(Failure::writing)?;
    Ok(file.into_temp_path())
}

fn start(arguments: &PlaceArguments, library: &Path, plan: &Path) -> Result<ExitStatus, Failure> {
    let mut words = arguments.command.iter();
    let program = words
        .next()
        .ok_or_else(|| Failure::new("name a program to run"))?;
    let mut command = Command::new(program);
    command.args(words).env("TRACKWAY_PLACE", plan).env(
        "LD_PRELOAD",
        after_tracer(library, std::env::var_os("LD_PRELOAD")),
    );
    command
        .status()
        .map_err(|error| Failure::about(Path::new(program), error))
}

/// After what the user preloads: a tracer of allocations that comes first sees where blocks lie.
fn after_tracer(library: &Path, others: Option<OsString>) -> OsString {
    match others.filter(|others| !others.is_empty()) {
        Some(mut all) => {
            all.push(":");
            all.push(library);
            all
        }
        None => library.as_os_str().to_owned(),
    }
}

fn tell(counters: &Counters, memory: &FarMemory) {
    output::say(format!(
        "{} of {} bytes in {memory}, at most {} bytes at once",
        counted(counters.placed_blocks, "allocation"),
        grouped(counters.placed_bytes),
        grouped(counters.most_live_bytes)
    ));
    if counters.full_blocks > 0 {
        output::warn(format!(
            "{} of {} bytes found no room there and stayed with the program's allocator; --far-size says how large it is",
            counted(counters.full_blocks, "allocation"),
            grouped(counters.full_bytes)
        ));
    }
}
