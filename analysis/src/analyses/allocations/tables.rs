//! Calls of allocators as tables.

use std::cmp::Reverse;

use trackway_report::{counted, grouped, percent, Table, TableBuilder, Unit};

use super::call_sites::Frame;
use super::totals::{Allocations, SiteTotals};
use crate::{Findings, UNKNOWN};

/// How call sites are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    Allocations,
    Bytes,
    /// Bytes when most was live of all.
    #[default]
    Peak,
    Leaked,
}

impl Ranking {
    /// The name of the column.
    fn column(self) -> &'static str {
        match self {
            Ranking::Allocations => "allocations",
            Ranking::Bytes => "bytes",
            Ranking::Peak => "bytes_at_peak",
            Ranking::Leaked => "leaked_bytes",
        }
    }

    fn of(self, site: &SiteTotals) -> u64 {
        match self {
            Ranking::Allocations => site.allocations,
            Ranking::Bytes => site.bytes,
            Ranking::Peak => site.bytes_at_peak,
            Ranking::Leaked => site.leaked_bytes,
        }
    }
}

/// The outermost function first; one without a name is where it stands.
fn folded(frames: &[Frame]) -> String {
    let name = |frame: &Frame| match frame.function.as_str() {
        UNKNOWN => frame.place(),
        name => name.replace(';', ":"),
    };
    let names: Vec<String> = frames.iter().rev().map(name).collect();
    match names.is_empty() {
        true => UNKNOWN.to_owned(),
        false => names.join(";"),
    }
}

type Row<'a> = (&'a Vec<Frame>, &'a SiteTotals);

impl Allocations {
    /// The tables; the one of call sites has the `top` rows.
    pub fn findings(&self, ranking: Ranking, top: usize) -> Findings {
        let mut rows: Vec<Row> = self.sites.iter().collect();
        rows.sort_by_key(|(_, site)| (Reverse(ranking.of(site)), Reverse(site.allocations)));
        Findings {
            answer: Some(self.answer()),
            tables: vec![self.call_sites(&rows, ranking, top), self.totals(&rows)],
        }
    }

    fn answer(&self) -> String {
        let place = if self.is_of_slice { " in the slice" } else { "" };
        format!(
            "{}{place} of {} bytes; at most {} bytes were live, and {} at the end",
            counted(self.allocations, "allocation"),
            grouped(self.bytes),
            grouped(self.peak_bytes),
            grouped(self.live_bytes)
        )
    }

    /// What makes the numbers incomplete or doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.damage.iter().map(ToString::to_string).collect();
        if self.gaps > 0 {
            warnings.push(format!(
                "calls are missing in {}: live and leaked blocks are wrong from there on",
                counted(self.gaps, "place")
            ));
        }
        if self.contradictions > 0 {
            warnings.push(format!(
                "{} of events contradict others, which this program's allocator can't have done; `trackway verify` \
                 shows them",
                grouped(self.contradictions)
            ));
        }
        if self.cut_stacks > 0 {
            warnings.push(format!(
                "the call stacks of {} of the allocations ({}) end at code without frame pointers: frames are missing; \
                 build with -fno-omit-frame-pointer",
                grouped(self.cut_stacks),
                percent(self.cut_stacks as f64 / self.allocations.max(1) as f64)
            ));
        }
        warnings
    }

    fn call_sites(&self, rows: &[Row], ranking: Ranking, top: usize) -> Table {
        let shown = &rows[..rows.len().min(top)];
        let innermost = |row: &Row| row.0.first().cloned();
        TableBuilder::new("call_sites", "Allocations by call site", shown)
            .total_rows(rows.len())
            .ranked_by(ranking.column())
            .text("function", |row| {
                innermost(row).map_or(UNKNOWN.to_owned(), |frame| frame.function)
            })
            .path("place", |row| {
                innermost(row).map_or(String::new(), |frame| frame.place())
            })
            .text(("callers", "called by"), |(frames, _)| {
                let callers = frames.iter().skip(1).map(|frame| frame.function.as_str());
                callers.collect::<Vec<_>>().join(" < ")
            })
            .count("allocations", |(_, site)| site.allocations)
            .bytes("bytes", |(_, site)| site.bytes)
            .bytes(("bytes_at_peak", "at the peak"), |(_, site)| site.bytes_at_peak)
            .bytes(("peak_bytes", "own peak"), |(_, site)| site.peak_bytes)
            .rate(("mean_lifetime_us", "mean life, µs"), |(_, site)| {
                (site.lifetimes_ns as f64 / 1000.0, site.freed)
            })
            .count("leaked", |(_, site)| site.leaked)
            .bytes("leaked_bytes", |(_, site)| site.leaked_bytes)
            .share("cut_stacks", |(_, site)| (site.cut_stacks, site.allocations))
            .build()
    }

    /// All call sites as stacks, `outer;inner`, with their numbers.
    pub fn stacks(&self) -> Table {
        let rows: Vec<Row> = self.sites.iter().collect();
        TableBuilder::new("stacks", "Stacks of allocations", &rows)
            .text("stack", |(frames, _)| folded(frames))
            .count("allocations", |(_, site)| site.allocations)
            .bytes("bytes", |(_, site)| site.bytes)
            .bytes(("bytes_at_peak", "at the peak"), |(_, site)| site.bytes_at_peak)
            .bytes(("peak_bytes", "own peak"), |(_, site)| site.peak_bytes)
            .count("leaked", |(_, site)| site.leaked)
            .bytes("leaked_bytes", |(_, site)| site.leaked_bytes)
            .build()
    }

    fn totals(&self, rows: &[Row]) -> Table {
        let leaked: u64 = rows.iter().map(|(_, site)| site.leaked).sum();
        let count = Unit::Count;
        let builder = TableBuilder::new("allocation_totals", "In all", &[()])
            .whole("events", count, |()| self.events)
            .whole("allocations", count, |()| self.allocations)
            .bytes(("bytes", "bytes allocated"), |()| self.bytes)
            .whole(("frees", "blocks freed"), count, |()| self.frees)
            .whole(("reallocations", "blocks reallocated"), count, |()| {
                self.reallocations
            })
            .bytes(("peak_bytes", "most bytes live"), |()| self.peak_bytes);
        let builder = match self.is_of_slice {
            true => builder.bytes(("outside_bytes", "bytes of other blocks then"), |()| {
                self.outside_bytes
            }),
            false => builder,
        };
        builder
            .whole(("leaked", "blocks live at the end"), count, |()| leaked)
            .bytes(("leaked_bytes", "bytes live at the end"), |()| self.live_bytes)
            .whole(("mappings", "calls of mmap"), count, |()| self.mappings)
            .bytes(("mapped_bytes", "bytes mapped"), |()| self.mapped_bytes)
            .bookkeeping()
            .whole("cut_stacks", count, |()| self.cut_stacks)
            .whole("contradictions", count, |()| self.contradictions)
            .whole("gaps", count, |()| self.gaps)
            .as_record()
            .build()
    }
}
