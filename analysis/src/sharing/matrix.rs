//! Who took what from whom: by pairs of threads, and by cache line and thread.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Program, SiteId};

use super::HandOvers;
use crate::misses::group;
use crate::names::Names;

/// A thread takes a line of a process at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Taking {
    pub process: u32,
    pub line: u64,
    pub site: SiteId,
    pub to: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ThreadPair {
    pub from: u32,
    pub to: u32,
}

/// The pairs with the most hand-overs.
pub(super) fn pairs(pairs: &HashMap<ThreadPair, HandOvers>, top: usize) -> Table {
    let mut rows: Vec<(ThreadPair, HandOvers)> =
        pairs.iter().map(|(&pair, &counts)| (pair, counts)).collect();
    rows.sort_by_key(|(pair, counts)| (Reverse(counts.all()), *pair));
    let title = format!("From thread to thread{}", cut(rows.len(), top));
    rows.truncate(top);
    let builder = TableBuilder::new("thread_pairs", title, &rows)
        .integer("from_stream", "from stream", Unit::Number, |row| {
            row.0.from.into()
        })
        .integer("to_stream", "to stream", Unit::Number, |row| row.0.to.into());
    add_counts(builder, |row| &row.1).build()
}

/// A line, and what each thread took of it.
#[derive(Default)]
struct SharedLine {
    all: HandOvers,
    threads: BTreeMap<u32, HandOvers>,
    sites: BTreeMap<SiteId, u64>,
}

impl SharedLine {
    /// Where most was taken; of equal ones the first in the program.
    fn main_site(&self) -> SiteId {
        let most = self
            .sites
            .iter()
            .max_by_key(|&(&site, &count)| (count, Reverse(site)));
        most.map(|(&site, _)| site).unwrap_or_default()
    }
}

struct LineRow {
    process: u32,
    line: u64,
    main_site: SiteId,
    to: u32,
    counts: HandOvers,
}

/// The lines with the most hand-overs, a row for each thread that took them.
pub(super) fn shared_lines(
    takes: &HashMap<Taking, HandOvers>,
    names: &Names,
    program: &Program,
    line_bytes: u64,
    top: usize,
) -> Table {
    let mut lines: Vec<((u32, u64), SharedLine)> = by_line(takes).into_iter().collect();
    lines.sort_by_key(|(key, line)| (Reverse(line.all.all()), *key));
    let title = format!("Cache lines by hand-overs{}", cut(lines.len(), top));
    lines.truncate(top);
    let rows: Vec<LineRow> = lines.iter().flat_map(|(key, line)| rows_of(*key, line)).collect();
    let site = |row: &LineRow| program.site(row.main_site);
    let builder = TableBuilder::new("shared_lines", title, &rows)
        .integer("process", "process", Unit::Number, |row| row.process.into())
        .text("line_address", "cache line", |row| {
            format!("{:#x}", row.line.saturating_mul(line_bytes))
        })
        .text("field", "mostly for", |row| {
            group::field_name(names, group::field_key(program, site(row)))
        })
        .integer("to_stream", "to stream", Unit::Number, |row| row.to.into());
    add_counts(builder, |row| &row.counts).build()
}

fn by_line(takes: &HashMap<Taking, HandOvers>) -> HashMap<(u32, u64), SharedLine> {
    let mut lines: HashMap<(u32, u64), SharedLine> = HashMap::new();
    for (taking, counts) in takes {
        let line = lines.entry((taking.process, taking.line)).or_default();
        line.all += counts;
        *line.threads.entry(taking.to).or_default() += counts;
        *line.sites.entry(taking.site).or_default() += counts.all();
    }
    lines
}

fn rows_of((process, number): (u32, u64), line: &SharedLine) -> Vec<LineRow> {
    let main_site = line.main_site();
    let row = |(&to, &counts): (&u32, &HandOvers)| LineRow {
        process,
        line: number,
        main_site,
        to,
        counts,
    };
    line.threads.iter().map(row).collect()
}

fn add_counts<'a, R>(builder: TableBuilder<'a, R>, counts: impl Fn(&R) -> &HandOvers) -> TableBuilder<'a, R> {
    builder
        .integer("read_hand_overs", "to read", Unit::Count, |row| counts(row).reads)
        .integer("write_hand_overs", "to write", Unit::Count, |row| {
            counts(row).writes
        })
        .share("certain", "certain", |row| {
            (counts(row).certain, counts(row).all())
        })
}

fn cut(all: usize, top: usize) -> String {
    match all > top {
        true => format!(", {top} of {all}"),
        false => String::new(),
    }
}
