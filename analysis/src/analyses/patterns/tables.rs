//! Patterns, working sets and entropy as tables.

use std::collections::BTreeMap;

use trackway_report::{percent, Table, TableBuilder};
use trackway_trace::{SiteId, Trace};

use super::shard::{PatternsShard, Series, PAGE_BITS};
use super::strides::{Pattern, StrideCounts};
use super::Patterns;
use crate::model::site_counts::attribution_table;
use crate::model::site_counts::{group, SiteCounters};
use crate::model::{path_inside, Names};
use crate::Findings;

/// Block sizes for which the entropy is shown, as powers of two: 256 bytes to huge pages.
const RESOLUTIONS: [u32; 5] = [8, PAGE_BITS, 14, 16, 21];
/// Windows that people read.
const FEW_WINDOWS: usize = 16;
/// Joining all windows leaves one.
const MOST_JOINS: usize = 8;

pub(super) fn findings(patterns: &Patterns, shard: &PatternsShard, trace: &Trace) -> Findings {
    let sites = shard.sites();
    let by_pattern = by_pattern(&sites);
    Findings {
        answer: Some(answer(&by_pattern)),
        tables: vec![
            pattern_table(&by_pattern),
            site_table(patterns, &sites, trace),
            working_set_table(patterns, shard),
            window_table(patterns, shard),
            entropy_table(patterns, shard),
            attribution_table(trace.program(), &counters(&sites)),
        ],
    }
}

/// Accesses and sites of a pattern.
#[derive(Default)]
struct Part {
    sites: u64,
    accesses: u64,
}

fn by_pattern(sites: &[StrideCounts]) -> BTreeMap<Pattern, Part> {
    let mut parts: BTreeMap<Pattern, Part> = BTreeMap::new();
    for site in sites.iter().filter(|site| site.accesses > 0) {
        let part = parts.entry(site.pattern()).or_default();
        part.sites += 1;
        part.accesses = part.accesses.saturating_add(site.accesses);
    }
    parts
}

fn all_accesses(parts: &BTreeMap<Pattern, Part>) -> u64 {
    let accesses = parts.values().map(|part| part.accesses);
    accesses.fold(0, u64::saturating_add)
}

fn answer(parts: &BTreeMap<Pattern, Part>) -> String {
    let all = all_accesses(parts);
    if all == 0 {
        return "The trace holds no access".into();
    }
    let share = |pattern| {
        let accesses = parts.get(&pattern).map_or(0, |part: &Part| part.accesses);
        percent(accesses as f64 / all as f64)
    };
    format!(
        "{} of the accesses are at sites that walk with a stride, {} at one address, {} follow pointers, {} are random",
        share(Pattern::Stride),
        share(Pattern::Constant),
        share(Pattern::PointerChase),
        share(Pattern::Random),
    )
}

fn pattern_table(parts: &BTreeMap<Pattern, Part>) -> Table {
    let all = all_accesses(parts);
    let mut rows: Vec<(&Pattern, &Part)> = parts.iter().collect();
    rows.sort_by_key(|(_, part)| std::cmp::Reverse(part.accesses));
    TableBuilder::new("patterns", "Patterns of sites by accesses", &rows)
        .text("pattern", |row| row.0.name())
        .count("sites", |row| row.1.sites)
        .count("accesses", |row| row.1.accesses)
        .share("share", |row| (row.1.accesses, all))
        .build()
}

fn site_table(patterns: &Patterns, sites: &[StrideCounts], trace: &Trace) -> Table {
    let program = trace.program();
    let names = Names::new(program);
    let mut rows: Vec<(SiteId, &StrideCounts)> = (0..).map(SiteId).zip(sites).collect();
    rows.retain(|(_, counts)| counts.accesses > 0);
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.accesses));
    let site = |id: SiteId| program.site(id);
    let location = |id: SiteId| program.location(site(id).location);
    let directory = &trace.meta().working_directory;
    TableBuilder::top("sites", "Sites by accesses", &rows, patterns.top)
        .ranked_by("accesses")
        .number("site", |row| row.0 .0)
        .text("kind", |row| site(row.0).kind.name())
        .text("field", |row| {
            group::field_name(&names, group::field_key(program, site(row.0)))
        })
        .text("pattern", |row| row.1.pattern().name())
        .path("file", |row| {
            path_inside(directory, names.text(location(row.0).file))
        })
        .number("line", |row| Some(location(row.0).line).filter(|line| *line > 0))
        .count("accesses", |row| row.1.accesses)
        .text("main_stride", |row| {
            row.1
                .main_stride()
                .map(|stride| stride.to_string())
                .unwrap_or_default()
        })
        .share("constant", |row| (row.1.zero, row.1.strides))
        .share("regular", |row| (row.1.regular, row.1.strides))
        .share("chased", |row| (row.1.chased, row.1.irregular()))
        .build()
}

/// The thread with the most accesses first.
fn series_by_accesses(shard: &PatternsShard) -> Vec<&Series> {
    let mut series = shard.series();
    series.sort_by_key(|series| (std::cmp::Reverse(series.windows.clock), series.stream));
    series
}

struct Window {
    stream: Option<u32>,
    from: u64,
    accesses: u64,
    lines: u64,
    pages: u64,
}

fn windows_of(series: &Series, level: usize) -> Vec<Window> {
    let width = series.windows.width.saturating_mul(1u64 << level);
    let sizes = series.lines.sizes(level).into_iter();
    let pages = series.pages.sizes(level).into_iter().chain(std::iter::repeat(0));
    let from = (0..).map(|number: u64| number.saturating_mul(width));
    let window = |((lines, pages), from): ((u64, u64), u64)| Window {
        stream: series.stream,
        from,
        accesses: width.min(series.windows.clock.saturating_sub(from)),
        lines,
        pages,
    };
    sizes.zip(pages).zip(from).map(window).collect()
}

/// The level at which no more than a few windows remain.
fn coarse_level(series: &Series) -> usize {
    let windows = series.lines.sizes(0).len();
    let few = |level: &usize| windows.div_ceil(1 << level) <= FEW_WINDOWS;
    (0..MOST_JOINS).find(few).unwrap_or(MOST_JOINS)
}

fn working_set_table(patterns: &Patterns, shard: &PatternsShard) -> Table {
    let series = series_by_accesses(shard);
    let rows: Vec<Window> = match (patterns.fine, series.first()) {
        (true, _) => series.iter().flat_map(|series| windows_of(series, 0)).collect(),
        (false, Some(first)) => windows_of(first, coarse_level(first)),
        (false, None) => Vec::new(),
    };
    let whose = match rows.first().and_then(|row| row.stream) {
        Some(stream) if !patterns.fine => format!(" of thread {stream}"),
        _ => String::new(),
    };
    let title = format!("Working set{whose} over its accesses");
    let line_bytes = u64::from(patterns.line_bytes);
    TableBuilder::new("working_set", title, &rows)
        .number("stream", |row| row.stream)
        .count("from_access", |row| row.from)
        .count("accesses", |row| row.accesses)
        .count(("cache_lines", "lines"), |row| row.lines)
        .bytes(("bytes", "bytes of lines"), |row| {
            row.lines.saturating_mul(line_bytes)
        })
        .count("pages", |row| row.pages)
        .build()
}

/// Working sets of all windows of one length.
struct Length {
    stream: Option<u32>,
    accesses: u64,
    windows: Vec<Window>,
}

impl Length {
    fn mean(&self, size: impl Fn(&Window) -> u64) -> (f64, u64) {
        let sum: f64 = self.windows.iter().map(|window| size(window) as f64).sum();
        (sum, self.windows.len() as u64)
    }
}

/// How the working set grows with the window (Denning); whole windows only, where there is one.
fn window_table(patterns: &Patterns, shard: &PatternsShard) -> Table {
    let series = series_by_accesses(shard);
    let shown = if patterns.fine {
        series.len()
    } else {
        series.len().min(1)
    };
    let length = |series: &Series, level| {
        let accesses = series.windows.width.saturating_mul(1u64 << level);
        let mut windows = windows_of(series, level);
        if windows.len() > 1 {
            windows.retain(|window| window.accesses == accesses);
        }
        Length {
            stream: series.stream,
            accesses,
            windows,
        }
    };
    let rows: Vec<Length> = series[..shown]
        .iter()
        .flat_map(|series| (0..=MOST_JOINS).map(|level| length(series, level)))
        .filter(|length| length.windows.len() > 1)
        .collect();
    TableBuilder::new("working_set_sizes", "Working set by length of the window", &rows)
        .number("stream", |row| row.stream)
        .count(("window_accesses", "window"), |row| row.accesses)
        .count("windows", |row| row.windows.len())
        .rate("mean_lines", |row| row.mean(|window| window.lines))
        .count("most_lines", |row| {
            row.windows.iter().map(|window| window.lines).max().unwrap_or(0)
        })
        .rate("mean_pages", |row| row.mean(|window| window.pages))
        .count("most_pages", |row| {
            row.windows.iter().map(|window| window.pages).max().unwrap_or(0)
        })
        .build()
}

fn entropy_table(patterns: &Patterns, shard: &PatternsShard) -> Table {
    let line_bits = patterns.line_bytes.trailing_zeros();
    let rows = shard.counts().entropies(line_bits, &RESOLUTIONS);
    TableBuilder::new("entropy", "Memory entropy", &rows)
        .bytes(("block_bytes", "block"), |row| 1u64 << row.resolution_bits)
        .count("blocks", |row| row.blocks)
        .rate(("entropy_bits", "entropy, bits"), |row| (row.bits, 1))
        .rate(("most_bits", "if even"), |row| {
            ((row.blocks.max(1) as f64).log2(), 1)
        })
        .count(("as_if_blocks", "as many as even blocks"), |row| {
            row.bits.exp2().round() as u64
        })
        .build()
}

fn counters(sites: &[StrideCounts]) -> Vec<SiteCounters> {
    let of_site = |site: &StrideCounts| SiteCounters {
        accesses: site.accesses,
        bytes: site.bytes,
        ..SiteCounters::default()
    };
    sites.iter().map(of_site).collect()
}
