//! Patterns in one part of a trace.

use trackway_trace::{Batch, Lane, Piece, SiteId};

use super::entropy::LineCounts;
use super::strides::{PointerLoads, SiteStrides, StrideCounts};
use super::working_set::{Windows, WorkingSet};
use super::Patterns;
use crate::model::cache::LineChanges;
use crate::model::fetch_ahead::fetch;
use crate::model::page_index::GROUP_LINES;
use crate::model::site_types::SiteTypes;

/// Addresses of programs have no more.
const ADDRESS_BITS: u32 = 47;
pub(super) const PAGE_BITS: u32 = 12;
/// The place of a line is fetched this many accesses ahead.
const SOON: usize = 10;

/// Strides, working set and counts of lines of one thread, or of all.
pub struct PatternsShard {
    /// Strides are a thread's own, even of threads that were merged.
    streams: Vec<StreamStrides>,
    types: Vec<SiteTypes>,
    type_count: usize,
    touches: Touches,
    changes: LineChanges,
    /// What the shards found that were merged into this one.
    merged_sites: Vec<StrideCounts>,
    merged_series: Vec<Series>,
    merged_counts: LineCounts,
    merged: bool,
}

struct StreamStrides {
    stream: u32,
    sites: Vec<SiteStrides>,
    loads: PointerLoads,
    /// Run in which each site was last seen.
    seen_in_run: Vec<u64>,
    run: u64,
}

/// Working sets of one thread, or of all.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// None: all.
    pub stream: Option<u32>,
    pub windows: Windows,
    pub lines: WorkingSet,
    pub pages: WorkingSet,
}

/// What windows and counts are made of.
struct Touches {
    line_bits: u32,
    process_bits: u64,
    series: Series,
    /// References by the cell of their line in the series' set.
    counts: Vec<[u64; GROUP_LINES]>,
}

impl PatternsShard {
    pub(super) fn new(patterns: &Patterns) -> PatternsShard {
        let line_bits = patterns.line_bytes.trailing_zeros();
        PatternsShard {
            streams: Vec::new(),
            types: Vec::new(),
            type_count: 0,
            touches: Touches {
                line_bits,
                process_bits: 0,
                series: Series {
                    stream: None,
                    windows: Windows::default(),
                    lines: WorkingSet::default(),
                    pages: WorkingSet::default(),
                },
                counts: Vec::new(),
            },
            merged_counts: LineCounts::default(),
            changes: LineChanges::new(patterns.line_bytes, u32::MAX),
            merged_sites: Vec::new(),
            merged_series: Vec::new(),
            merged: patterns.merged,
        }
    }

    pub(super) fn take_program(&mut self, (types, type_count): (Vec<SiteTypes>, usize)) {
        self.types = types;
        self.type_count = type_count;
        for stream in &mut self.streams {
            stream.make_room(&self.types, type_count);
        }
    }

    pub(super) fn take(&mut self, batch: &Batch) {
        self.touches.process_bits = u64::from(batch.process) << ADDRESS_BITS;
        if !self.merged {
            self.touches.series.stream = Some(batch.stream);
        }
        let position = self.position_of(batch.stream);
        let stream = &mut self.streams[position];
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        self.touches.prepare(&batch.address, index + SOON);
                        let (site, address) = (batch.site[index], batch.address[index]);
                        let length = batch.length(index);
                        stream.access(site, address, length);
                        self.touches.access(address, length);
                    }
                }
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    stream.take_run(lanes, run.count);
                    self.touches.take_run(&mut self.changes, lanes, run.count);
                }
            }
        }
    }

    fn position_of(&mut self, stream: u32) -> usize {
        let known = self.streams.iter().position(|other| other.stream == stream);
        known.unwrap_or_else(|| {
            let mut strides = StreamStrides {
                stream,
                sites: Vec::new(),
                loads: PointerLoads::default(),
                seen_in_run: Vec::new(),
                run: 0,
            };
            strides.make_room(&self.types, self.type_count);
            self.streams.push(strides);
            self.streams.len() - 1
        })
    }

    pub(super) fn merge(&mut self, from: PatternsShard) {
        self.merged_sites = merge_sites(self.sites(), &from.sites());
        self.streams.clear();
        let series = from.series().into_iter().map(Series::without_units);
        self.merged_series.extend(series);
        self.merged_counts.merge(&from.counts());
    }

    /// The counts of all sites that a part of the trace knew.
    pub(super) fn sites(&self) -> Vec<StrideCounts> {
        let mut sites = self.merged_sites.clone();
        for stream in &self.streams {
            let counts: Vec<StrideCounts> = stream.sites.iter().map(|site| site.counts).collect();
            sites = merge_sites(sites, &counts);
        }
        sites
    }

    /// The working sets of all threads that made an access, or the one of all together.
    pub(super) fn series(&self) -> Vec<&Series> {
        let own = Some(&self.touches.series).filter(|series| series.windows.clock > 0);
        own.into_iter().chain(&self.merged_series).collect()
    }

    /// References by line.
    pub(super) fn counts(&self) -> LineCounts {
        let mut counts = self.merged_counts.clone();
        for (first, number) in self.touches.series.lines.groups() {
            let group = self.touches.counts.get(number).into_iter().flatten();
            let lines = (first..).zip(group).filter(|(_, count)| **count > 0);
            lines.for_each(|(line, count)| counts.add(line, *count));
        }
        counts
    }
}

fn merge_sites(mut into: Vec<StrideCounts>, from: &[StrideCounts]) -> Vec<StrideCounts> {
    into.resize(into.len().max(from.len()), StrideCounts::default());
    for (counts, more) in into.iter_mut().zip(from) {
        counts.merge(more);
    }
    into
}

impl Series {
    /// What is needed of a thread that has ended.
    fn without_units(&self) -> Series {
        Series {
            stream: self.stream,
            windows: self.windows.clone(),
            lines: self.lines.without_units(),
            pages: self.pages.without_units(),
        }
    }
}

impl StreamStrides {
    fn make_room(&mut self, types: &[SiteTypes], type_count: usize) {
        let new = types.iter().skip(self.sites.len());
        self.sites.extend(new.map(|types| SiteStrides::new(*types)));
        self.seen_in_run.resize(self.sites.len(), 0);
        self.loads.last.resize(type_count, 0);
    }

    #[inline(always)]
    fn access(&mut self, site: SiteId, address: u64, length: u64) {
        self.sites[site.index()].access(address, length, &mut self.loads);
    }

    /// If each site stands in the loop once, each stride from the third iteration on equals the one before.
    fn take_run(&mut self, lanes: &[Lane], count: u64) {
        let one_by_one = if self.has_site_twice(lanes) {
            count
        } else {
            count.min(2)
        };
        for iteration in 0..one_by_one {
            for lane in lanes {
                let address = lane.address_in(iteration);
                self.access(lane.site, address, lane.size.into());
            }
        }
        let rest = count - one_by_one;
        if rest > 0 {
            for lane in lanes {
                self.sites[lane.site.index()].repeat(lane.stride, lane.size.into(), rest);
            }
            let accesses = rest.saturating_mul(lanes.len() as u64);
            self.loads.clock = self.loads.clock.saturating_add(accesses);
        }
    }

    fn has_site_twice(&mut self, lanes: &[Lane]) -> bool {
        self.run += 1;
        let run = self.run;
        let mut seen_before =
            |lane: &Lane| std::mem::replace(&mut self.seen_in_run[lane.site.index()], run) == run;
        lanes.iter().any(&mut seen_before)
    }
}

impl Touches {
    #[inline(always)]
    fn access(&mut self, address: u64, length: u64) {
        self.advance();
        self.touch(address, length, 1);
    }

    /// Has what a later access needs fetched, unless it is in the line of the one before.
    #[inline(always)]
    fn prepare(&self, addresses: &[u64], index: usize) {
        let Some(&[before, address]) = addresses.get(index..).and_then(|rest| rest.first_chunk()) else {
            return;
        };
        let line = address >> self.line_bits;
        if line != before >> self.line_bits {
            let cell = self
                .series
                .lines
                .prepare(line ^ self.process_bits >> self.line_bits);
            if let Some(cell) = cell {
                fetch(&self.counts[cell / GROUP_LINES][cell % GROUP_LINES]);
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        let series = &mut self.series;
        series.windows.advance([&mut series.lines, &mut series.pages]);
    }

    /// The present window uses the lines and pages of an access, which counts `times` times.
    #[inline(always)]
    fn touch(&mut self, address: u64, length: u64, times: u64) {
        let Some(last) = length.checked_sub(1).map(|more| address.saturating_add(more)) else {
            return;
        };
        let window = self.series.windows.current;
        let (line_process, page_process) = (
            self.process_bits >> self.line_bits,
            self.process_bits >> PAGE_BITS,
        );
        for line in address >> self.line_bits..=last >> self.line_bits {
            let cell = self.series.lines.access(line ^ line_process, window);
            self.add(cell, times);
        }
        for page in address >> PAGE_BITS..=last >> PAGE_BITS {
            self.series.pages.access(page ^ page_process, window);
        }
    }

    #[inline(always)]
    fn add(&mut self, cell: usize, times: u64) {
        if cell / GROUP_LINES >= self.counts.len() {
            self.counts.push([0; GROUP_LINES]);
        }
        let count = &mut self.counts[cell / GROUP_LINES][cell % GROUP_LINES];
        *count = count.saturating_add(times);
    }

    /// Counts an access that was touched before.
    fn count(&mut self, address: u64, length: u64, times: u64) {
        let Some(last) = length.checked_sub(1).map(|more| address.saturating_add(more)) else {
            return;
        };
        let process = self.process_bits >> self.line_bits;
        for line in address >> self.line_bits..=last >> self.line_bits {
            let cell = self.series.lines.cell_of(line ^ process);
            self.add(cell, times);
        }
    }

    /// As long as each access stays in its line, one iteration in each window shows the lines that all of them use.
    fn take_run(&mut self, changes: &mut LineChanges, lanes: &[Lane], count: u64) {
        if lanes.is_empty() {
            return;
        }
        changes.begin(lanes, count);
        while let Some(first) = changes.next_iteration() {
            changes.simulated(lanes, true);
            let end = changes.next_iteration().unwrap_or(count);
            self.touch_iterations(lanes, first, end);
            for lane in lanes {
                self.count(lane.address_in(first), lane.size.into(), end - first);
            }
        }
    }

    fn touch_iterations(&mut self, lanes: &[Lane], first: u64, end: u64) {
        let mut iteration = first;
        while iteration < end {
            let before = self.series.windows.current;
            for lane in lanes {
                self.advance();
                self.touch(lane.address_in(first), lane.size.into(), 0);
            }
            iteration += 1;
            let windows = &mut self.series.windows;
            if windows.current == before {
                let room = (windows.border - windows.clock) / lanes.len() as u64;
                let skipped = room.min(end - iteration);
                windows.clock += skipped * lanes.len() as u64;
                iteration += skipped;
            }
        }
    }
}
