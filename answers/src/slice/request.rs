//! Finds in a trace what a slice asks for, and says what it is.

use std::ops::Range;

use trackway_analysis::Names;
use trackway_report::{counted, duration, grouped, percent, readable, Report};
use trackway_trace::{region_hash, AllocationSite, LocationId, Program, Site, Slice, StringId, Trace};
use wildmatch::WildMatch;

use super::content::Content;
use super::when::{When, WindowRange};
use crate::failure::Failure;
use crate::shell_word::quoted;

const NO_REGIONS: &str = "--region: the trace says nothing of regions: either the program marks none, or it was compiled \
                          by an older Trackway. Mark them by TRACKWAY_REGION_BEGIN and _END of trackway.h, or by `trackway \
                          cc --region=GLOB` for functions by name, and record again";

/// Numbers and names that an error lists at most.
const MOST_NAMED: usize = 16;

/// What is asked for. By default all of the trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SliceRequest {
    pub from: Option<When>,
    pub to: Option<When>,
    pub windows: Vec<WindowRange>,
    pub threads: Vec<u32>,
    pub functions: Vec<String>,
    /// Patterns of regions' names.
    pub regions: Vec<String>,
    /// Whether accesses by functions of libraries are left out.
    pub without_library: bool,
    /// What is read of the trace; it asks for nothing by itself.
    pub content: Content,
}

impl SliceRequest {
    pub fn is_all(&self) -> bool {
        let nothing = SliceRequest {
            content: self.content,
            ..SliceRequest::default()
        };
        *self == nothing
    }

    /// The same for a verb that reads that.
    pub fn of(self, content: Content) -> SliceRequest {
        SliceRequest { content, ..self }
    }

    /// The options that ask for it, with a space before each word; nothing if all of the trace is asked for.
    pub fn words(&self) -> String {
        let when = |option: &str, when: &Option<When>| {
            when.as_ref()
                .map(|when| format!(" {option} {}", quoted(&when.to_string())))
        };
        let windows = self.windows.iter().map(|range| format!(" --windows {range}"));
        let threads = self.threads.iter().map(|id| format!(" --thread {id}"));
        let functions = self.functions.iter();
        let functions = functions.map(|glob| format!(" --function {}", quoted(glob)));
        let regions = self.regions.iter();
        let regions = regions.map(|glob| format!(" --region {}", quoted(glob)));
        when("--from", &self.from)
            .into_iter()
            .chain(when("--to", &self.to))
            .chain(windows)
            .chain(threads)
            .chain(functions)
            .chain(regions)
            .chain(self.without_library.then(|| " --without-library".into()))
            .collect()
    }

    /// Fails for a verb that can only choose threads.
    ///
    /// # Errors
    /// If something else is chosen.
    pub fn require_only_threads(&self, why: &str) -> Result<(), Failure> {
        let without_threads = SliceRequest {
            threads: Vec::new(),
            ..self.clone()
        };
        match without_threads.is_all() {
            true => Ok(()),
            false => Err(Failure::new(format!(
                "{why}: of the options of slices only --thread can be obeyed here"
            ))),
        }
    }

    /// The trace with nothing but what is asked for.
    ///
    /// # Errors
    /// If the trace doesn't have it; the message says what there is.
    pub fn apply(&self, trace: Trace) -> Result<Trace, Failure> {
        if self.is_all() {
            return Ok(trace);
        }
        let failure = |what: String| Failure::about(trace.path(), what);
        let content = self.content;
        content
            .check(&trace, !self.functions.is_empty())
            .map_err(failure)?;
        let regions = self.region_hashes(&trace).map_err(failure)?;
        let slice = Slice {
            times: self.times(&trace).map_err(failure)?,
            threads: self.threads(&trace).map_err(failure)?,
            regions,
            ..self.sites(&trace).map_err(failure)?
        };
        let limits = self.limits(&trace);
        let sliced = trace.sliced(slice);
        match content.is_in(&sliced) {
            true => Ok(sliced),
            false => Err(Failure::about(
                sliced.path(),
                format!("the slice holds nothing; {limits}"),
            )),
        }
    }

    /// The windows, as far as they are between the two moments.
    fn times(&self, trace: &Trace) -> Result<Option<Vec<Range<u64>>>, String> {
        if self.from.is_none() && self.to.is_none() && self.windows.is_empty() {
            return Ok(None);
        }
        let moment = |when: &Option<When>, option: &str| {
            let moment = when.as_ref().map(|when| when.in_trace(trace));
            moment.transpose().map_err(|error| format!("{option}: {error}"))
        };
        let end_ns = trace.span_ns().1;
        let from_ns = moment(&self.from, "--from")?.unwrap_or(0);
        // What happens at the very end belongs to the last part.
        let to_ns = moment(&self.to, "--to")?.filter(|to_ns| *to_ns < end_ns);
        let to_ns = to_ns.unwrap_or(u64::MAX);
        if from_ns >= to_ns || from_ns > end_ns {
            return Err(format!(
                "--from is not before --to, or later than the end of the recording; {}",
                self.limits(trace)
            ));
        }
        let windows = match self.windows.is_empty() {
            true => std::iter::once(0..u64::MAX).collect(),
            false => self.window_times(trace)?,
        };
        let cut = |window: Range<u64>| window.start.max(from_ns)..window.end.min(to_ns);
        Ok(Some(windows.into_iter().map(cut).collect()))
    }

    fn window_times(&self, trace: &Trace) -> Result<Vec<Range<u64>>, String> {
        let windows = trace.windows();
        if windows.is_empty() {
            return Err("--windows: the trace was recorded as a whole, without windows".into());
        }
        let mut times = Vec::new();
        for WindowRange(numbers) in &self.windows {
            let chosen = windows.iter().filter(|window| numbers.contains(&window.number));
            let before = times.len();
            times.extend(chosen.map(|window| match window.is_closed {
                true => window.begin_ns..window.end_ns,
                false => window.begin_ns..u64::MAX,
            }));
            if times.len() == before {
                return Err(format!(
                    "--windows: there is none of that number; {}",
                    window_numbers(trace)
                ));
            }
        }
        Ok(times)
    }

    fn threads(&self, trace: &Trace) -> Result<Option<Vec<u32>>, String> {
        if self.threads.is_empty() {
            return Ok(None);
        }
        let known = self.content.threads(trace);
        match self.threads.iter().find(|id| !known.contains(id)) {
            Some(id) => Err(format!(
                "--thread: there is no thread {id}; there are {}",
                listed(&known)
            )),
            None => Ok(Some(self.threads.clone())),
        }
    }

    /// The regions whose names match.
    fn region_hashes(&self, trace: &Trace) -> Result<Option<Vec<u64>>, String> {
        if self.regions.is_empty() {
            return Ok(None);
        }
        self.content.check_regions(trace)?;
        let program = trace.program();
        let names: Vec<&str> = program.regions.iter().map(|name| program.string(*name)).collect();
        if names.is_empty() {
            return Err(NO_REGIONS.into());
        }
        let patterns: Vec<WildMatch> = self.regions.iter().map(|glob| WildMatch::new(glob)).collect();
        let is_wanted = |name: &&&str| patterns.iter().any(|pattern| pattern.matches(name));
        let hashes: Vec<u64> = names
            .iter()
            .filter(is_wanted)
            .map(|name| region_hash(name))
            .collect();
        match hashes.is_empty() {
            true => Err(format!(
                "--region: no region has such a name; there are {}",
                listed(&names)
            )),
            false => Ok(Some(hashes)),
        }
    }

    /// The names that functions must match, if they are to be chosen.
    pub fn function_patterns(&self) -> Option<Vec<WildMatch>> {
        let patterns = self.functions.iter().map(|glob| WildMatch::new(glob));
        (!self.functions.is_empty()).then(|| patterns.collect())
    }

    /// A slice of some sites, at all times.
    fn sites(&self, trace: &Trace) -> Result<Slice, String> {
        let mut slice = self.sites_of_functions(trace)?;
        if self.without_library {
            let sites = &trace.program().sites;
            let chosen = slice.sites.get_or_insert_with(|| vec![true; sites.len()]);
            for (is_chosen, site) in chosen.iter_mut().zip(sites) {
                *is_chosen &= !site.kind.is_by_library();
            }
        }
        Ok(slice)
    }

    /// A slice of the functions. Calls of allocators in streams of their own have no sites.
    fn sites_of_functions(&self, trace: &Trace) -> Result<Slice, String> {
        let patterns = self
            .function_patterns()
            .filter(|_| self.content != Content::Calls);
        let Some(patterns) = patterns else {
            return Ok(Slice::default());
        };
        let program = trace.program();
        let names = MatchedNames::new(program, &patterns);
        let is_inside = |site: &Site| names.is_of(site.function.index(), site.location);
        let sites: Vec<bool> = program.sites.iter().map(is_inside).collect();
        let allocates = |site: &AllocationSite| names.is_of(site.function.index(), site.location);
        let allocation_sites: Vec<bool> = program.allocation_sites.iter().map(allocates).collect();
        let has_blocks = self.content.takes_allocating_functions() && allocation_sites.contains(&true);
        match sites.contains(&true) || has_blocks {
            true => Ok(Slice {
                sites: Some(sites),
                allocation_sites: Some(allocation_sites),
                ..Slice::default()
            }),
            false => Err(format!(
                "--function: no function that accesses memory has such a name; there are {}",
                names.examples()
            )),
        }
    }
}

impl SliceRequest {
    /// What slices of the trace there can be.
    fn limits(&self, trace: &Trace) -> String {
        let (begin_ns, end_ns) = trace.span_ns();
        let length = duration(end_ns - begin_ns);
        let threads = listed(&self.content.threads(trace));
        match trace.windows().is_empty() {
            true => format!("the trace goes from 0 s to {length}, of threads {threads}"),
            false => format!(
                "the trace goes from 0 s to {length}, of threads {threads}, in {}",
                window_numbers(trace)
            ),
        }
    }
}

/// Which names of functions match.
struct MatchedNames<'p> {
    program: &'p Program,
    names: Names<'p>,
    functions: Vec<bool>,
    /// Whether each location matches: by the function in which it is written, or one into which that was inlined.
    locations: Vec<bool>,
}

impl<'p> MatchedNames<'p> {
    fn new(program: &'p Program, patterns: &[WildMatch]) -> MatchedNames<'p> {
        let names = Names::new(program);
        let is_like = |text: &str| {
            let shown = readable(text);
            let mut patterns = patterns.iter();
            patterns.any(|pattern| pattern.matches(text) || pattern.matches(&shown))
        };
        let matches = |linkage_name: StringId| {
            is_like(program.string(linkage_name)) || is_like(&names.function(linkage_name))
        };
        let functions = program.functions.iter();
        let functions = functions
            .map(|function| matches(function.linkage_name) || is_like(program.string(function.name)));
        let functions = functions.collect();
        let written = program
            .locations
            .iter()
            .map(|location| matches(location.function));
        let written: Vec<bool> = written.collect();
        let is_inlined_from = |id: LocationId| program.inline_stack(id).any(|id| written[id.index()]);
        let locations = (0..program.locations.len() as u32).map(|index| is_inlined_from(LocationId(index)));
        MatchedNames {
            locations: locations.collect(),
            functions,
            names,
            program,
        }
    }

    fn is_of(&self, function: usize, location: LocationId) -> bool {
        self.functions[function] || self.locations[location.index()]
    }

    fn examples(&self) -> String {
        let functions = self.program.sites.iter().map(|site| self.names.function_of(site));
        let mut functions: Vec<String> = functions.collect();
        functions.sort_unstable();
        functions.dedup();
        listed(&functions)
    }
}

fn listed<T: ToString>(items: &[T]) -> String {
    let some: Vec<String> = items.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    match items.len() {
        0 => "none".into(),
        count if count > MOST_NAMED => format!("{} and {} others", some.join(", "), count - MOST_NAMED),
        _ => some.join(", "),
    }
}

fn window_numbers(trace: &Trace) -> String {
    let windows = trace.windows();
    let numbers = || windows.iter().map(|window| window.number);
    match (numbers().min(), numbers().max()) {
        (Some(first), Some(last)) => format!("windows {first} to {last}"),
        _ => "no windows".into(),
    }
}

/// What the trace's slice is; none if it is all of the trace.
pub fn description(trace: &Trace) -> Option<String> {
    let slice = trace.slice()?;
    let parts = [
        slice.times.as_ref().map(|times| described_times(trace, times)),
        slice
            .threads
            .as_ref()
            .map(|threads| described_threads(trace, threads)),
        slice
            .regions
            .as_ref()
            .map(|regions| described_regions(trace, regions)),
        slice.sites.as_ref().map(|sites| {
            let chosen = sites.iter().filter(|is_chosen| **is_chosen).count();
            format!(
                "{} of {} sites",
                grouped(chosen as u64),
                grouped(sites.len() as u64)
            )
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the slice is on which the report was made; none if it is on all of a trace.
pub fn described_in(report: &Report) -> Option<&str> {
    let tables = ["trace", "extent"].iter();
    tables
        .filter_map(|name| report.table(name))
        .find_map(|table| table.text("slice", 0))
}

fn described_times(trace: &Trace, times: &[Range<u64>]) -> String {
    let (begin_ns, end_ns) = trace.span_ns();
    let shown = |time_ns: u64| duration(time_ns.clamp(begin_ns, end_ns) - begin_ns);
    let whole = duration(end_ns - begin_ns);
    match times {
        [one] => format!("{} to {} of {whole}", shown(one.start), shown(one.end)),
        several => {
            let inside = several
                .iter()
                .map(|range| range.start.max(begin_ns)..range.end.min(end_ns));
            let sum: u64 = inside.map(|range| range.end.saturating_sub(range.start)).sum();
            format!(
                "{} parts, {} of {whole}",
                grouped(several.len() as u64),
                duration(sum)
            )
        }
    }
}

fn described_threads(trace: &Trace, threads: &[u32]) -> String {
    let calls = trace.allocation_streams();
    let is_of_calls = |id: &u32| calls.iter().any(|calls| calls.stream == *id);
    if threads.iter().all(is_of_calls) {
        let all = counted(calls.len() as u64, "stream");
        return format!("{} of {all} of calls", threads.len());
    }
    match trace.whole_stream_count() {
        0 => format!(
            "{} that {} sampled",
            counted(threads.len() as u64, "thread"),
            if threads.len() == 1 { "was" } else { "were" }
        ),
        all => format!("{} of {}", threads.len(), counted(all as u64, "thread")),
    }
}

fn described_regions(trace: &Trace, regions: &[u64]) -> String {
    let names = regions
        .iter()
        .filter_map(|hash| trace.program().region_name(*hash));
    let names: Vec<&str> = names.collect();
    let word = if names.len() == 1 { "region" } else { "regions" };
    format!("{word} {}", listed(&names))
}

/// In which windows the trace was recorded; none if it was recorded as a whole.
pub fn windows(trace: &Trace) -> Option<String> {
    let windows = trace.windows();
    if windows.is_empty() {
        return trace
            .meta()
            .begins_unrecorded
            .then(|| "in no window: nothing".into());
    }
    let (begin_ns, end_ns) = trace.span_ns();
    let mut sum = 0;
    let mut until_ns = begin_ns;
    for window in &windows {
        // They are in the order of their beginning, and may overlap.
        let from_ns = window.begin_ns.max(until_ns);
        until_ns = window.end_ns.min(end_ns).max(until_ns);
        sum += until_ns.saturating_sub(from_ns);
    }
    let share = sum as f64 / (end_ns - begin_ns).max(1) as f64;
    let verb = if windows.len() == 1 { "makes" } else { "make" };
    Some(format!(
        "in {} that {verb} up {} of its time",
        counted(windows.len() as u64, "window"),
        percent(share)
    ))
}
