//! `trackway dump`.

mod allocations;
mod json;
mod line;
mod marks;
mod samples;
mod text;
mod value;

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use trackway_analysis::Names;
use trackway_report::readable;
use trackway_trace::{
    Batch, Decoder, Event, FunctionId, LocationId, MergedStreams, Program, SiteId, Stream, Trace, TraceError,
};
use wildmatch::WildMatch;

use crate::failure::Failure;
use crate::slice::{SliceRequest, When, WindowRange};
use crate::{output, reading, soundness};
use line::{BatchItem, Line};

/// Print the events of a trace
///
/// One line per access, allocation, function entry and exit, stream after stream. The index counts the accesses of a
/// stream from 0; events between accesses carry the index of the access that follows. Samples come after the streams,
/// one a line; with --json, the accesses that follow them, too. At the end come the marks: times at which recording was
/// switched on or off, and those that the program or a person set.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway dump prog.trackway | head\n  \
                        trackway dump --stream 1 --from 1000 --count 20 prog.trackway\n  \
                        trackway dump --function 'refresh_*' --json prog.trackway")]
pub struct DumpArguments {
    /// The trace
    pub trace: PathBuf,
    /// Only this stream
    #[arg(long, value_name = "N")]
    pub stream: Option<u32>,
    /// Start at this access of each stream; or at this time: a duration since the beginning of the recording such as 250ms
    /// or 1.5s, a part of the recording such as 10%, or mark:TEXT. Then indices count from there
    #[arg(long, value_name = "INDEX|WHEN", default_value = "0")]
    pub from: Start,
    /// Only before this time, as for --from
    #[arg(long, visible_alias = "until", value_name = "WHEN")]
    pub to: Option<When>,
    /// Only from the first mark of that text on, as --from mark:TEXT
    #[arg(long, value_name = "TEXT", conflicts_with = "from")]
    pub after_mark: Option<String>,
    /// Only these windows, in which recording was on, by their numbers: N or N-M; may be repeated
    #[arg(long, visible_alias = "window", value_name = "N")]
    pub windows: Vec<WindowRange>,
    /// Only this thread, by the number that reports show; may be repeated
    #[arg(long, value_name = "TID")]
    pub thread: Vec<u32>,
    /// Print at most this many events of each stream
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Print the events of all streams in one order, as far as it is known
    #[arg(long)]
    pub merged: bool,
    /// Calls of allocators instead of accesses, those of all streams in the order of time. A trace without accesses needs
    /// no such word
    #[arg(long, conflicts_with_all = ["merged", "function"])]
    pub allocations: bool,
    /// Only events in functions whose name, or linkage name, matches this pattern of * and ?
    #[arg(long, value_name = "PATTERN")]
    pub function: Option<String>,
    /// Only what threads did while they were in a region of interest whose name matches this pattern of * and ?; may be
    /// repeated
    #[arg(long, value_name = "GLOB", conflicts_with = "allocations")]
    pub region: Vec<String>,
    /// Without the accesses that functions of libraries make for the program's calls, such as strlen's
    #[arg(long, conflicts_with = "allocations")]
    pub without_library: bool,
    /// Print a JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
}

/// Where a dump starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// At this access of each stream.
    Access(u64),
    At(When),
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Start, String> {
        match text.parse() {
            Ok(index) => Ok(Start::Access(index)),
            Err(_) => text.parse().map(Start::At),
        }
    }
}

impl DumpArguments {
    /// The index of the first access that is printed.
    fn first(&self) -> u64 {
        match self.from {
            Start::Access(index) => index,
            Start::At(_) => 0,
        }
    }

    /// Functions are chosen line by line, so that indices count all accesses.
    fn slice(&self) -> SliceRequest {
        let from = match &self.from {
            Start::Access(_) => self.after_mark.clone().map(When::Mark),
            Start::At(when) => Some(when.clone()),
        };
        SliceRequest {
            from,
            to: self.to.clone(),
            windows: self.windows.clone(),
            threads: self.thread.clone(),
            functions: Vec::new(),
            without_library: self.without_library,
            regions: self.region.clone(),
            ..SliceRequest::default()
        }
    }
}

pub fn run(arguments: &DumpArguments) -> Result<ExitCode, Failure> {
    let trace = arguments.slice().apply(reading::open_events(&arguments.trace)?)?;
    soundness::warnings(&trace).iter().for_each(output::warn);
    let is_of_allocations = |id: u32| {
        let streams = trace.allocation_streams();
        streams.binary_search_by_key(&id, |stream| stream.stream).is_ok()
    };
    if arguments.allocations
        || trace.holds_only_allocations()
        || arguments.stream.is_some_and(is_of_allocations)
    {
        if !arguments.slice().is_all() {
            let what = "calls of allocators can't be chosen by time or thread: --from INDEX, --stream";
            return Err(Failure::about(&arguments.trace, what));
        }
        let mut output = BufWriter::new(output::standard_output());
        allocations::print(&trace, arguments, &mut output)?;
        output.flush().map_err(Failure::writing)?;
        return Ok(ExitCode::SUCCESS);
    }
    let streams = chosen_streams(arguments, &trace)?;
    let mut dump = Dump {
        arguments,
        program: trace.program(),
        wanted: arguments
            .function
            .as_deref()
            .map(|pattern| wanted_sites(pattern, trace.program())),
        names: Names::new(trace.program()),
        output: BufWriter::new(output::standard_output()),
    };
    if arguments.merged {
        dump.merged(&trace, &streams)?;
    } else {
        for stream in streams {
            dump.stream(&trace, stream)?;
        }
    }
    if trace.is_sampled() && arguments.stream.is_none() {
        samples::write(&mut dump.output, arguments, &trace)?;
    }
    if arguments.stream.is_none() && arguments.function.is_none() {
        marks::write(&mut dump.output, arguments, &trace)?;
    }
    dump.output.flush().map_err(Failure::writing)?;
    Ok(ExitCode::SUCCESS)
}

fn chosen_streams<'t>(arguments: &DumpArguments, trace: &'t Trace) -> Result<Vec<&'t Stream>, Failure> {
    let Some(id) = arguments.stream else {
        return Ok(trace.streams().iter().collect());
    };
    match trace.stream(id) {
        Some(stream) => Ok(vec![stream]),
        None => Err(Failure::about(
            &arguments.trace,
            format!(
                "no stream {id}; `trackway info` lists the {} streams",
                trace.streams().len()
            ),
        )),
    }
}

/// Which sites and functions an event must belong to.
struct Wanted {
    sites: Vec<bool>,
    allocation_sites: Vec<bool>,
    functions: Vec<bool>,
    /// Locations of synchronisations.
    locations: Vec<bool>,
}

/// A site is wanted if the function that holds it, or one that was inlined around it, matches.
fn wanted_sites(pattern: &str, program: &Program) -> Wanted {
    let pattern = WildMatch::new(pattern);
    let names = Names::new(program);
    let matches = |linkage_name| {
        let name = names.function(linkage_name);
        let is_like = |name: &str| pattern.matches(name);
        is_like(program.string(linkage_name)) || is_like(&name) || is_like(&readable(&name))
    };
    let functions: Vec<bool> = program
        .functions
        .iter()
        .map(|function| matches(function.linkage_name) || pattern.matches(program.string(function.name)))
        .collect();
    let written_in = |location| {
        program
            .inline_stack(location)
            .any(|location| matches(program.location(location).function))
    };
    let wanted = |function: FunctionId, location| functions[function.index()] || written_in(location);
    Wanted {
        sites: program
            .sites
            .iter()
            .map(|site| wanted(site.function, site.location))
            .collect(),
        allocation_sites: program
            .allocation_sites
            .iter()
            .map(|site| wanted(site.function, site.location))
            .collect(),
        locations: (0..program.locations.len())
            .map(|index| written_in(LocationId(index as u32)))
            .collect(),
        functions,
    }
}

impl Wanted {
    fn access(&self, site: SiteId) -> bool {
        self.sites.get(site.index()).copied().unwrap_or(false)
    }

    fn event(&self, event: &Event) -> bool {
        let wanted = match event {
            Event::Region { .. } => return false, // no function's
            Event::Order { location, .. } => self.locations.get(location.index()),
            Event::Enter(function) | Event::Exit(function) => self.functions.get(function.index()),
            Event::Allocate { site, .. } | Event::Free { site, .. } | Event::Reallocate { site, .. } => {
                self.allocation_sites.get(site.index())
            }
        };
        wanted.copied().unwrap_or(false)
    }
}

struct Dump<'d, W: Write> {
    arguments: &'d DumpArguments,
    program: &'d Program,
    wanted: Option<Wanted>,
    names: Names<'d>,
    output: W,
}

/// Where a stream's dump stands.
struct Position {
    /// Index of the next access in the stream.
    index: u64,
    /// Lines that may still be printed.
    left: u64,
}

impl<W: Write> Dump<'_, W> {
    fn begin(&self) -> Position {
        Position {
            index: 0,
            left: self.arguments.count.unwrap_or(u64::MAX),
        }
    }

    fn merged(&mut self, trace: &Trace, streams: &[&Stream]) -> Result<(), Failure> {
        let begin = |stream: &&Stream| (stream.id, self.begin());
        let mut positions: HashMap<u32, Position> = streams.iter().map(begin).collect();
        let mut merged = MergedStreams::new(trace);
        while positions.values().any(|position| position.left > 0) {
            match merged.next_batch() {
                Ok(Some(batch)) => {
                    if let Some(position) = positions.get_mut(&batch.stream) {
                        self.batch(batch, position)?;
                    }
                }
                Ok(None) => break,
                Err(error) => self.report_damage(&error)?,
            }
        }
        Ok(())
    }

    fn stream(&mut self, trace: &Trace, stream: &Stream) -> Result<(), Failure> {
        let mut decoder = Decoder::new(trace);
        let mut position = self.begin();
        for chunk in &stream.chunks {
            let mut batches = match decoder.decode(chunk) {
                Ok(batches) => batches,
                Err(error) => {
                    self.report_damage(&error)?;
                    continue;
                }
            };
            loop {
                match batches.next_batch() {
                    Ok(Some(batch)) => self.batch(batch, &mut position)?,
                    Ok(None) => break,
                    Err(error) => {
                        self.report_damage(&error)?;
                        break;
                    }
                }
                if position.left == 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reports damage after what was printed so far, so that its place is visible where both go to one terminal.
    fn report_damage(&mut self, error: &TraceError) -> Result<(), Failure> {
        self.output.flush().map_err(Failure::writing)?;
        output::warn(error);
        Ok(())
    }

    fn batch(&mut self, batch: &Batch, position: &mut Position) -> Result<(), Failure> {
        let first = position.index;
        position.index += batch.len() as u64;
        if position.index < self.arguments.first() {
            return Ok(());
        }
        let mut marks = batch.marks.iter().peekable();
        for index in 0..=batch.len() {
            while let Some(mark) = marks.next_if(|mark| mark.before as usize <= index) {
                let event = batch.event(*mark);
                let item = BatchItem::Event(&event);
                self.line(batch, first + index as u64, false, item, position)?;
            }
            if index < batch.len() {
                let uncertain = batch.uncertain_from.is_some_and(|from| index >= from as usize);
                let item = BatchItem::Access {
                    site: batch.site[index],
                    address: batch.address[index],
                    length: batch.length(index),
                    value: batch.value(index),
                };
                self.line(batch, first + index as u64, uncertain, item, position)?;
            }
        }
        Ok(())
    }

    fn line(
        &mut self,
        batch: &Batch,
        index: u64,
        uncertain: bool,
        item: BatchItem,
        position: &mut Position,
    ) -> Result<(), Failure> {
        let wanted = self.wanted.as_ref().is_none_or(|wanted| match item {
            BatchItem::Access { site, .. } => wanted.access(site),
            BatchItem::Event(event) => wanted.event(event),
        });
        if !wanted || index < self.arguments.first() || position.left == 0 {
            return Ok(());
        }
        position.left -= 1;
        let line = Line::new(self.program, &self.names, batch.stream, index, uncertain, item);
        let written = match self.arguments.json {
            true => json::write(&mut self.output, &line),
            false => text::write(&mut self.output, &line),
        };
        written.map_err(Failure::writing)
    }
}
