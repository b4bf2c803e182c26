//! What `trackway fix` is told, and what it answers.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_answers::advise::AdviseArguments;
use trackway_answers::failure::Failure;
use trackway_answers::kept::{self, KeepingArguments};
use trackway_answers::output::{self, OutputArguments};
use trackway_answers::reading::ReadingArguments;
use trackway_answers::slice::SliceArguments;
use trackway_answers::time::MachineArguments;
use trackway_answers::whatif::LayoutArguments;
use trackway_driver::Language;
use trackway_report::percent;
use trackway_trace::output_file::Existing;
use trackway_trace::Trace;

use crate::asking::{self, Subject};
use crate::cards::{self, Edit, Wanted};
use crate::change::{self, Made};
use crate::commands::{self, Command};
use crate::edits::Changed;
use crate::huge;
use crate::pool;
use crate::prediction::{self, Prediction};
use crate::prefetch;
use crate::prove::{self, ProveArguments};
use crate::public::Patterns;
use crate::refusal::Refusal;
use crate::reserve;
use crate::source_line::SourceLine;

const NOTHING_MADE: u8 = 1;
const USUAL_LINE_BYTES: u64 = 64;
const MOST_REASONS: usize = 10;

/// Make a patch of a change that was advised
///
/// Edits the sources as a card of `trackway advise` says, and prints a patch for `git apply`; files stay as they are. The
/// sources are read by the compiler that compiled the program, with its options. What can't be done by a machine is
/// refused, with the reasons. With --prove, the patch is applied to a copy, built, compared with the program as it was,
/// and kept only if it saves time. docs/verbs/fix.md says what is changed and what is refused.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 with a patch, 1 if none can be made or none gains, 2 on an error.\n\n\
                  Examples:\n  trackway fix prog.trackway > fix.patch && git apply fix.patch\n  \
                        trackway fix prog.trackway 2\n  \
                        trackway fix --split arc:ident,cost prog.trackway\n  \
                        trackway fix --prove 'make' './prog input' prog.trackway"
)]
pub struct FixArguments {
    /// The trace
    pub trace: PathBuf,
    /// The number of a card of `trackway advise` [default: the first that a patch can be made of]
    #[arg(value_name = "CARD", conflicts_with_all = ["split", "reorder", "pad", "align", "soa", "prefetch", "reserve", "pool"])]
    pub card: Option<usize>,
    #[command(flatten)]
    pub layouts: LayoutArguments,
    /// Ask for what a line looks up some iterations before it is needed
    #[arg(long, value_name = "FILE:LINE")]
    pub prefetch: Option<SourceLine>,
    /// Reserve room before the loop in which a line adds to a vector
    #[arg(long, value_name = "FILE:LINE")]
    pub reserve: Option<SourceLine>,
    /// Let objects of a structure come from a pool
    #[arg(long, value_name = "TYPE")]
    pub pool: Option<String>,
    /// The folder of a compile_commands.json [default: the program's debugging information says how it was compiled]
    #[arg(short = 'p', long, value_name = "FOLDER")]
    pub commands: Option<PathBuf>,
    /// Headers that other programs use: what they define stays as it is; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub public: Vec<String>,
    /// Write the patch to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file of --output if there is one
    #[arg(short, long, requires = "output")]
    pub force: bool,
    #[command(flatten)]
    pub prove: ProveArguments,
    /// Caches to simulate, as for `report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub machine: MachineArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

/// A patch that was made.
struct Patch {
    wanted: Wanted,
    files: Vec<Changed>,
    /// None if the trace doesn't tell.
    predicted: Option<Prediction>,
}

/// # Errors
/// If the trace, the program or the sources can't be read.
pub fn run(arguments: FixArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let program = Path::new(&trace.meta().working_directory).join(&trace.meta().program);
    let units = match &arguments.commands {
        Some(folder) => commands::of_database(folder, &trackway_driver::usual_compiler(Language::C))?,
        None => commands::of_program(&program)?,
    };
    let root = prove::root_of(&units);
    let mut wanted = wanted(&arguments)?;
    if let Some(card) = arguments.card {
        let cards = wanted.len();
        wanted.retain(|wanted| wanted.card == Some(card));
        if wanted.is_empty() {
            return Err(Failure::new(format!(
                "there is no card {card}: `trackway advise` has {cards}"
            )));
        }
    }
    let public = Patterns::new(&arguments.public);
    let mut made = false;
    for one in wanted {
        let Some(patch) = patch_of(one, &units, &public, &arguments, &trace)? else {
            continue;
        };
        made = true;
        if keep(&patch, &root, &arguments)? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if !made {
        output::say("no patch can be made");
    }
    Ok(ExitCode::from(NOTHING_MADE))
}

fn wanted(arguments: &FixArguments) -> Result<Vec<Wanted>, Failure> {
    let asked = cards::asked(
        &arguments.layouts,
        arguments.prefetch.as_ref(),
        arguments.reserve.as_ref(),
        arguments.pool.as_deref(),
    )?;
    arguments.machine.prepare()?;
    if !asked.is_empty() {
        return Ok(asked);
    }
    let advise = AdviseArguments {
        trace: arguments.trace.clone(),
        cache: arguments.cache.clone(),
        machine: arguments.machine.clone(),
        output: OutputArguments::default(),
        slice: SliceArguments::default(),
        reading: arguments.reading.clone(),
        keeping: arguments.keeping.clone(),
    };
    let advice = kept::ask("advise", &advise, &arguments.trace, &arguments.keeping)?;
    let cards = cards::of(&advice);
    if cards.is_empty() {
        output::say(advice.answer);
    }
    Ok(cards)
}

/// None if it can't be made; the reasons are printed.
fn patch_of(
    wanted: Wanted,
    units: &[Command],
    public: &Patterns,
    arguments: &FixArguments,
    trace: &Trace,
) -> Result<Option<Patch>, Failure> {
    let card = wanted.card.map_or(String::new(), |card| format!("card {card}, "));
    let title = format!("{card}{}", wanted.title);
    let made = match &wanted.edit {
        Edit::Unknown => Err(vec![Refusal::new("no patch is known for such a change")]),
        Edit::HugePages => huge::edits(
            &huge::blocks(trace)?,
            &asking::found(Subject::Allocations, units)?,
        )
        .map(|edits| (edits, Some("--huge-pages".to_owned()))),
        Edit::Prefetch(line) => {
            let found = asking::found(prefetch::subject(line), units)?;
            prefetch::edits(line, &found).map(|edits| (edits, None))
        }
        Edit::Reserve(line) => {
            let found = asking::found(reserve::subject(line), units)?;
            reserve::edits(line, &found).map(|edits| (edits, None))
        }
        Edit::Pool(structure) => {
            let made = pool::edits(structure, units, |file| public.matches(file))?;
            made.map(|edits| (edits, None))
        }
        Edit::Layout(structure, change) => {
            let uses = asking::found(Subject::Structure(structure), units)?;
            let is_public = |file: &str| public.matches(file);
            let made = change::made(structure, change, &uses, USUAL_LINE_BYTES, is_public);
            made.map(|Made { edits, link }| (edits, Some(change.options(structure, link))))
        }
    };
    match made {
        Err(reasons) => {
            output::say(format!("{title}: can't be made by a machine:"));
            say_reasons(&reasons);
            Ok(None)
        }
        Ok((edits, options)) => {
            let files = edits.applied().map_err(|error| Failure::new(error.to_string()))?;
            if let Some(objection) = asking::objection(&files, units)? {
                output::say(format!("{title}: can't be made by a machine:"));
                say_reasons(&[objection]);
                return Ok(None);
            }
            let predicted = predicted(options.as_deref(), &wanted, arguments, trace)?;
            let options = options.map_or(String::new(), |options| format!(" ({options})"));
            output::say(match &predicted {
                Ok(predicted) => format!(
                    "{title}: predicted to save {} of the time{}{options}",
                    percent(predicted.cycles.saved()),
                    predicted.misses.map_or(String::new(), |misses| format!(
                        ", and {} of the L{} misses",
                        percent(misses.sides.saved()),
                        misses.level
                    )),
                ),
                Err(why) => format!("{title}: what it saves can't be predicted: {why}"),
            });
            Ok(Some(Patch {
                wanted,
                files,
                predicted: predicted.ok(),
            }))
        }
    }
}

/// Each once, the first ones.
fn say_reasons(reasons: &[Refusal]) {
    let mut said: Vec<String> = reasons.iter().map(Refusal::to_string).collect();
    let mut seen = BTreeSet::new();
    said.retain(|reason| seen.insert(reason.clone()));
    said.iter()
        .take(MOST_REASONS)
        .for_each(|reason| eprintln!("    {reason}"));
    if said.len() > MOST_REASONS {
        eprintln!("    and {} more", said.len() - MOST_REASONS);
    }
}

/// The user may want a change of which nothing can be said; a card was simulated before. `options`: of `whatif`, which doesn't
/// know all changes.
fn predicted(
    options: Option<&str>,
    wanted: &Wanted,
    arguments: &FixArguments,
    trace: &Trace,
) -> Result<Result<Prediction, Failure>, Failure> {
    let Some(options) = options else {
        let known = wanted.cycles.map(|cycles| Prediction { cycles, misses: None });
        return Ok(known.ok_or_else(|| Failure::new("only cards of `trackway advise` say so")));
    };
    match prediction::of(options, arguments.cache.as_ref(), &arguments.machine, trace) {
        Err(failure) if wanted.card.is_some() => Err(failure),
        predicted => Ok(predicted),
    }
}

/// Prints or writes a patch, if it is to be kept.
fn keep(patch: &Patch, root: &Path, arguments: &FixArguments) -> Result<bool, Failure> {
    let saved = patch.predicted.as_ref().map(|predicted| predicted.cycles.saved());
    if patch.wanted.card.is_some() && saved.is_some_and(|saved| saved <= 0.0) {
        output::say("it would save nothing as it can be made here, so it isn't proposed");
        return Ok(false);
    }
    if arguments.prove.is_asked()
        && !prove::gains(&arguments.prove, &patch.files, root, patch.predicted.as_ref())?
    {
        return Ok(false);
    }
    let text: String = patch.files.iter().map(|file| file.patch(root)).collect();
    match &arguments.output {
        None => output::print(&text)?,
        Some(path) => {
            output::write_file(path, text.as_bytes(), Existing::with_force(arguments.force))?;
            let path = OsString::from(path).to_string_lossy().into_owned();
            output::say(format!(
                "{path}: apply it in {} by `git apply {path}`",
                root.display()
            ));
        }
    }
    Ok(true)
}
