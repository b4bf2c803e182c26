//! `trackway whatif`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Command, FromArgMatches, ValueEnum};
use trackway_analysis::cache::Caches;
use trackway_analysis::site_counts::Measure;
use trackway_analysis::structures::Structures;
use trackway_analysis::whatif::{self, what_if, Change, Link, NewLayout, Rewritten, ENOUGH};
use trackway_analysis::Observer;
use trackway_report::{grouped, percent, Report, Table};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::layout::find;
use crate::model::{simulated, ModelArguments};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};
use crate::soundness;
use crate::time::TimeArguments;

/// TLBs that are simulated for --huge-pages if the caches have none.
const USUAL_TLBS: &str = "TLB1=64,4:TLB2=1536,12";
const HUGE_PAGE: &str = "2M";
const USUAL_LINE_BYTES: u64 = 64;
/// A patch is worth a try if it saves this part of a number.
const LEAST_GAIN: f64 = 0.02;

/// Say what another layout, other pages or other caches would gain
///
/// Rewrites the addresses of the trace as if structures were laid out differently, runs them through the simulated caches,
/// and shows the misses before and after, per level and per field, and the definition to write. The program is not run
/// again. The answer first says how many of the accesses to each changed structure could be rewritten.
/// docs/verbs/whatif.md says where the new parts are placed, and how well predictions agreed with edited programs.
#[derive(Debug, Args)]
#[command(
    mut_arg("csv", |csv| csv.help("Print the table of levels as CSV")),
    after_help = "Exit status: 0, or 2 on a wrong command line or an error, also if no access to a structure could be rewritten.\n\n\
                  Examples:\n  trackway whatif --split arc:ident,cost,tail,head prog.trackway\n  \
                        trackway whatif --split arc:ident,cost --link index --pad stats:64 prog.trackway\n  \
                        trackway whatif --reorder node:potential,pred,depth --align node:128 prog.trackway\n  \
                        trackway whatif --huge-pages prog.trackway\n  \
                        trackway whatif --cache preset:zen3 prog.trackway"
)]
pub struct WhatIfArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub layouts: LayoutArguments,
    /// Pages of 2 MiB, if the TLBs are those of the caches, or 64 and 1536 entries
    #[arg(long)]
    pub huge_pages: bool,
    /// Caches after the change, as for `trackway report` [default: those before]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    /// Caches before the change [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache_before: Option<Caches>,
    /// What to rank by: accesses, bytes, misses in L1, L2, ..., or cycles with --time [default: L2, with --time cycles]
    #[arg(long, value_name = "MEASURE")]
    pub sort: Option<Measure>,
    #[command(flatten)]
    pub time: TimeArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

/// Other layouts of structures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct LayoutArguments {
    /// These members of the type stay, the others go to a part of their own
    #[arg(long, value_name = "TYPE:MEMBER,...")]
    pub split: Vec<String>,
    /// How the two parts of --split find each other
    #[arg(long, value_enum, default_value_t = LinkName::Pointer)]
    pub link: LinkName,
    /// These members first, in this order; then the others as they are
    #[arg(long, value_name = "TYPE:MEMBER,...")]
    pub reorder: Vec<String>,
    /// So many bytes after each object; or a member on cache lines of its own
    #[arg(long, value_name = "TYPE:BYTES|TYPE.MEMBER")]
    pub pad: Vec<String>,
    /// Objects begin at multiples of so many bytes
    #[arg(long, value_name = "TYPE:BYTES")]
    pub align: Vec<String>,
    /// Each member in an array of its own, with the same index
    #[arg(long, value_name = "TYPE")]
    pub soa: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LinkName {
    /// The first part holds a pointer to the other
    #[default]
    Pointer,
    /// Parts are arrays, and have the same index
    Index,
}

impl Question for WhatIfArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let structures = Structures::of(trace.program());
        let mut warnings = Vec::new();
        let question = question(self, &structures, trace, &mut warnings)?;
        // One pass to find the objects that change, one to simulate.
        let passes = 1 + u64::from(!question.layouts.is_empty());
        let ask =
            |threads, observer: &dyn Observer| what_if(&question, &structures, trace, threads, observer);
        let answer = self.reading.with_progress(trace, passes, ask);
        for (layout, done) in question.layouts.iter().zip(&answer.rewritten) {
            let name = &structures.list[layout.structure].name;
            warnings.extend(little_rewritten(name, done)?);
        }
        Ok(soundness::report(
            trace,
            answer.findings,
            &answer.summary,
            warnings,
        ))
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &WhatIfArguments) -> Result<ExitCode, Failure> {
    arguments.time.prepare()?;
    let report = kept::ask("whatif", arguments, &arguments.trace, &arguments.keeping)?;
    let next = next_step(arguments, &report)?;
    arguments
        .output
        .print_before(&report, report.tables.first(), next.as_ref())
}

/// A patch with the layouts that were simulated, if they save anything that counts.
fn next_step(arguments: &WhatIfArguments, report: &Report) -> Result<Option<NextStep>, Failure> {
    let changes = arguments.layouts.changes()?;
    let is_split = changes
        .iter()
        .any(|(_, change)| matches!(change, Change::Split(_)));
    let mut options: Vec<String> = changes
        .iter()
        .map(|(structure, change)| change.options(structure, Link::Pointer))
        .collect();
    if is_split && arguments.layouts.link() == Link::Index {
        options.push("--link index".into());
    }
    let saves = !options.is_empty() && report.tables.first().is_some_and(saves);
    Ok(saves.then(|| NextStep::ask("fix", &arguments.trace, &options.join(" "))))
}

/// Whether a number of the table is less after the change, by a part that counts.
fn saves(levels: &Table) -> bool {
    let numbers = |row| Some((levels.integer("before", row)?, levels.integer("after", row)?));
    (0..levels.row_count())
        .filter_map(numbers)
        .any(|(before, after)| (after as f64) < before as f64 * (1.0 - LEAST_GAIN))
}

/// A warning if too few accesses to the structure were rewritten for a prediction.
///
/// # Errors
/// If none was.
fn little_rewritten(name: &str, done: &Rewritten) -> Result<Option<String>, Failure> {
    let (rewritten, all) = done.share();
    if all == 0 {
        return Err(Failure::new(format!(
            "{name}: the trace has no access to its fields; nothing would change"
        )));
    }
    let where_else = "in memory that was not seen to be allocated as objects of this type alone: the stack, memory of code \
                      that was not compiled by trackway, blocks of several types";
    if rewritten == 0 {
        return Err(Failure::new(format!(
            "{name}: nothing can be said, since none of the accesses to its fields ({}) could be rewritten; they are {where_else}",
            grouped(all)
        )));
    }
    let share = percent(rewritten as f64 / all as f64);
    Ok((!done.covers(ENOUGH)).then(|| {
        format!("only {share} of the accesses to {name} were rewritten; the others are {where_else}")
    }))
}

fn question(
    arguments: &WhatIfArguments,
    structures: &Structures,
    trace: &Trace,
    warnings: &mut Vec<String>,
) -> Result<whatif::Question, Failure> {
    let model = ModelArguments {
        sort: arguments.sort,
        cache: arguments.cache_before.clone(),
    };
    let (before, rank_by) = arguments.time.choose(&model, trace, true, warnings)?;
    let after = match &arguments.cache {
        Some(caches) => simulated(Some(caches.clone()), trace, true, warnings),
        None => before.clone(),
    };
    let (before, after) = match arguments.huge_pages {
        true => (with_tlbs(&before)?, with_huge_pages(&after)?),
        false => (before, after),
    };
    let line_bytes = after
        .levels()
        .first()
        .map_or(USUAL_LINE_BYTES, |level| level.geometry.line_bytes.into());
    let link = arguments.layouts.link();
    let mut layouts: Vec<NewLayout> = Vec::new();
    for (name, change) in arguments.layouts.changes()? {
        let structure = find(structures, &name)?;
        if layouts.iter().any(|layout| layout.structure == structure) {
            return Err(Failure::new(format!(
                "{name} is changed twice; ask one question at a time"
            )));
        }
        let layout = NewLayout::new(structures, structure, change, link, line_bytes);
        layouts.push(layout.map_err(|error| Failure::new(error.to_string()))?);
    }
    if layouts.is_empty() && before == after {
        return Err(Failure::new(
            "nothing would change; say what with --split, --reorder, --pad, --align, --soa, --huge-pages or --cache",
        ));
    }
    let machine_before = arguments.time.machine(&before, trace, warnings)?.map(Arc::new);
    let machine_after = arguments
        .time
        .machine(&after, trace, &mut Vec::new())?
        .map(Arc::new);
    Ok(whatif::Question {
        layouts,
        machine_before,
        machine_after,
        caches_before: before,
        caches_after: after,
        rank_by,
        top: arguments.output.rows(),
    })
}

impl LayoutArguments {
    /// As the options of `trackway whatif` say it.
    ///
    /// # Errors
    /// If a word is none of these options.
    pub fn of_words(words: &[String]) -> Result<LayoutArguments, Failure> {
        let command = LayoutArguments::augment_args(Command::new("layouts")).no_binary_name(true);
        let parsed = command.try_get_matches_from(words);
        parsed
            .and_then(|matches| LayoutArguments::from_arg_matches(&matches))
            .map_err(|error| Failure::new(error.to_string()))
    }

    /// The changed types, and how each changes.
    ///
    /// # Errors
    /// If an option isn't written as it must be.
    pub fn changes(&self) -> Result<Vec<(String, Change)>, Failure> {
        let mut changes = Vec::new();
        for text in &self.split {
            let (name, members) = members_of(text, "--split")?;
            changes.push((name, Change::Split(members)));
        }
        for text in &self.reorder {
            let (name, members) = members_of(text, "--reorder")?;
            changes.push((name, Change::Reorder(members)));
        }
        for text in &self.pad {
            changes.push(padding(text)?);
        }
        for text in &self.align {
            let (name, bytes) = last_colon(text).ok_or_else(|| expected("--align", "TYPE:BYTES", text))?;
            let bytes = trackway_analysis::cache::parse_size(bytes);
            let bytes = bytes.ok_or_else(|| expected("--align", "TYPE:BYTES", text))?;
            changes.push((name.to_owned(), Change::Align(bytes)));
        }
        changes.extend(self.soa.iter().map(|name| (name.clone(), Change::Arrays)));
        Ok(changes)
    }

    pub fn link(&self) -> Link {
        match self.link {
            LinkName::Pointer => Link::Pointer,
            LinkName::Index => Link::Index,
        }
    }
}

fn members_of(text: &str, option: &str) -> Result<(String, Vec<String>), Failure> {
    let parts = last_colon(text).filter(|(_, members)| !members.is_empty());
    let (name, members) = parts.ok_or_else(|| expected(option, "TYPE:MEMBER,MEMBER", text))?;
    Ok((name.to_owned(), members.split(',').map(str::to_owned).collect()))
}

/// Parses `arc:64` or `arc.flow`.
fn padding(text: &str) -> Result<(String, Change), Failure> {
    if let Some((name, bytes)) = last_colon(text) {
        if let Some(bytes) = trackway_analysis::cache::parse_size(bytes) {
            return Ok((name.to_owned(), Change::PadBy(bytes)));
        }
    }
    match text.rsplit_once('.') {
        Some((name, member)) => Ok((name.to_owned(), Change::PadMember(member.to_owned()))),
        None => Err(expected("--pad", "TYPE:BYTES or TYPE.MEMBER", text)),
    }
}

/// The last colon that is none of `::`.
fn last_colon(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let is_alone = |&index: &usize| {
        let before = index.checked_sub(1).map(|before| bytes[before]);
        bytes[index] == b':' && before != Some(b':') && bytes.get(index + 1) != Some(&b':')
    };
    let index = (0..bytes.len()).rev().find(is_alone)?;
    Some((&text[..index], &text[index + 1..]))
}

fn expected(option: &str, form: &str, text: &str) -> Failure {
    Failure::new(format!("{option} {text}: expected {form}"))
}

fn with_tlbs(caches: &Caches) -> Result<Caches, Failure> {
    match caches.tlbs().is_empty() {
        true => parse(&format!("{caches}:{USUAL_TLBS}")),
        false => Ok(caches.clone()),
    }
}

fn with_huge_pages(caches: &Caches) -> Result<Caches, Failure> {
    let with_tlbs = with_tlbs(caches)?;
    let page = trackway_analysis::cache::parse_size(HUGE_PAGE).unwrap_or_default();
    let tlbs = with_tlbs.tlbs().to_vec();
    with_tlbs
        .with_tlbs(tlbs, page)
        .map_err(|error| Failure::new(format!("--huge-pages: {error}")))
}

fn parse(text: &str) -> Result<Caches, Failure> {
    text.parse()
        .map_err(|error| Failure::new(format!("--huge-pages: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_may_have_scopes() {
        assert_eq!(
            last_colon("ns::Cell:next,particles"),
            Some(("ns::Cell", "next,particles"))
        );
        assert_eq!(last_colon("ns::Cell"), None);
        assert_eq!(last_colon("arc:"), Some(("arc", "")));
    }

    #[test]
    fn padding_is_of_bytes_or_of_a_member() {
        assert_eq!(
            padding("ns::arc:1K").unwrap(),
            ("ns::arc".into(), Change::PadBy(1024))
        );
        let member = Change::PadMember("flow".into());
        assert_eq!(padding("ns::arc.flow").unwrap(), ("ns::arc".into(), member));
        assert!(padding("arc").is_err());
    }
}
