//! The tables of regions: times, accesses, threads, instructions.

use std::collections::BTreeMap;

use trackway_report::{top_title, Table, TableBuilder};
use trackway_trace::{Program, SiteId};

use super::accesses::Accesses;
use super::rates::RateBy;
use super::tally::{Region, ThreadTally, Totals};
use super::{Ranked, Regions};

const INSTRUCTIONS: [(&str, &str); 8] = [
    ("loads", "loads"),
    ("stores", "stores"),
    ("atomics", "atomics"),
    ("integer", "integer"),
    ("floating_point", "floating point"),
    ("vector", "vector"),
    ("branches", "branches"),
    ("calls", "calls"),
];

pub struct RegionRow<'r> {
    pub region: &'r Region,
    pub totals: Totals,
}

pub fn region_rows(regions: &Regions, ranked: Ranked) -> Vec<RegionRow<'_>> {
    let rows = regions.regions.iter().map(|region| RegionRow {
        region,
        totals: region.totals(),
    });
    rows.take(ranked.top).collect()
}

pub fn regions(regions: &Regions, ranked: Ranked) -> Table {
    let rows = region_rows(regions, ranked);
    let all = regions.regions.len();
    let builder = TableBuilder::new("regions", top_title("Regions", rows.len(), all), &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", |row| &row.region.name)
        .count("threads", |row| row.region.threads.len());
    with_totals(builder, |row| &row.totals)
        .ratio(("bytes_imbalance", "imbalance of bytes"), |row| {
            row.region.imbalance(|totals| totals.accesses.bytes)
        })
        .ratio(("time_imbalance", "imbalance of time"), |row| {
            row.region.imbalance(|totals| totals.time_ns)
        })
        .build()
}

pub fn by_thread(regions: &Regions, ranked: Ranked) -> Table {
    let all = regions.regions.iter();
    let all = all.flat_map(|region| region.threads.iter().map(move |thread| (region, thread)));
    let rows: Vec<(&Region, &ThreadTally, Totals)> = all
        .map(|(region, thread)| (region, thread, of_thread(&thread.totals)))
        .collect();
    let builder = TableBuilder::top("regions_by_thread", "Threads in regions", &rows, ranked.top)
        .total_rows(rows.len())
        .text("region", |(region, ..)| &region.name)
        .number("stream", |(_, thread, _)| thread.stream)
        .number("process", |(_, thread, _)| thread.process)
        .number("thread", |(_, thread, _)| thread.thread);
    with_totals(builder, |(.., totals)| totals).build()
}

/// Gives a thread its own speed, which includes regions that it inherited.
fn of_thread(totals: &Totals) -> Totals {
    Totals {
        speed: totals.speed_of_threads,
        ..*totals
    }
}

fn with_totals<'a, R>(
    builder: TableBuilder<'a, R>,
    totals: impl Fn(&R) -> &Totals + Copy,
) -> TableBuilder<'a, R> {
    let raw = |row: &R, bytes: fn(&Accesses) -> u64| totals(row).raw_rate(bytes);
    let corrected = |row: &R, bytes: fn(&Accesses) -> u64| totals(row).corrected_rate(bytes);
    let builder = builder
        .count("entries", |row| totals(row).entries)
        .count(("counted_entries", "of them counted"), |row| {
            totals(row).counted_entries
        })
        .count(("timed_entries", "timed only"), |row| totals(row).timed_entries)
        .count("inherited", |row| totals(row).inherited)
        .count(("time_ns", "time (ns)"), |row| totals(row).time_ns)
        .count(("own_time_ns", "own time (ns)"), |row| totals(row).own_time_ns)
        .count(("entered_time_ns", "time of entries (ns)"), |row| {
            totals(row).entered_time_ns
        })
        .count(("external_time_ns", "in other code (ns)"), |row| {
            totals(row).external_time_ns
        });
    with_accesses(builder, move |row| totals(row).accesses)
        .share(("bytes_uncertainty", "bytes ±"), move |row| {
            totals(row).bytes_uncertainty()
        })
        .rate(("read_mb_per_s", "MB/s read"), move |row| {
            corrected(row, |accesses| accesses.bytes_read)
        })
        .rate(("write_mb_per_s", "MB/s written"), move |row| {
            corrected(row, |accesses| accesses.bytes_written)
        })
        .text(("rate_by", "MB/s by"), move |row| {
            totals(row).speed.rates.by().map_or("", RateBy::name)
        })
        .rate(("raw_read_mb_per_s", "raw MB/s read"), |row| {
            raw(row, |accesses| accesses.bytes_read)
        })
        .rate(("raw_write_mb_per_s", "raw MB/s written"), |row| {
            raw(row, |accesses| accesses.bytes_written)
        })
}

/// All accesses, and reads and writes apart.
pub fn with_all_accesses<'a, R>(
    builder: TableBuilder<'a, R>,
    accesses: impl Fn(&R) -> Accesses + Copy,
) -> TableBuilder<'a, R> {
    let builder = builder
        .count("accesses", |row| accesses(row).accesses)
        .bytes("bytes", |row| accesses(row).bytes);
    with_accesses(builder, accesses)
}

/// Reads, writes and their bytes.
pub fn with_accesses<'a, R>(
    builder: TableBuilder<'a, R>,
    accesses: impl Fn(&R) -> Accesses,
) -> TableBuilder<'a, R> {
    builder
        .count("reads", |row| accesses(row).reads)
        .count("writes", |row| accesses(row).writes)
        .bytes("bytes_read", |row| accesses(row).bytes_read)
        .bytes("bytes_written", |row| accesses(row).bytes_written)
}

pub fn instructions(regions: &Regions, ranked: Ranked) -> Table {
    let rows = region_rows(regions, ranked);
    let all = regions.regions.len();
    let title = top_title("Instructions", rows.len(), all);
    let mut builder = TableBuilder::new("region_instructions", title, &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", |row| &row.region.name);
    for (index, (name, title)) in INSTRUCTIONS.into_iter().enumerate() {
        builder = builder.count((name, title), move |row| row.totals.instructions[index]);
    }
    builder.build()
}

pub fn by_size(regions: &Regions, program: &Program, ranked: Ranked) -> Table {
    let mut rows: Vec<(&str, u32, Accesses)> = Vec::new();
    for region in &regions.regions {
        let mut sizes: BTreeMap<u32, Accesses> = BTreeMap::new();
        for (site, accesses) in &region.code.sites {
            *sizes.entry(program.site(*site).size).or_default() += *accesses;
        }
        let of_region = sizes.into_iter();
        rows.extend(of_region.map(|(size, accesses)| (region.name.as_str(), size, accesses)));
    }
    let builder = TableBuilder::top("region_accesses_by_size", "Accesses by size", &rows, ranked.top)
        .total_rows(rows.len())
        .text("region", |row| row.0)
        .number(("size_bytes", "bytes each (0: blocks)"), |row| row.1);
    with_accesses(builder, |row| row.2).build()
}

/// Accesses of some sites in all regions.
fn counted_accesses(regions: &Regions, is_wanted: impl Fn(SiteId) -> bool) -> u64 {
    let sites = regions.regions.iter().flat_map(|region| &region.code.sites);
    let wanted = sites.filter(|(site, _)| is_wanted(**site));
    wanted.fold(0, |sum, (_, counted)| sum.saturating_add(counted.accesses))
}

/// What the numbers rest on.
pub fn audit(regions: &Regions, program: &Program) -> Table {
    let audit = &regions.audit;
    let mut builder = TableBuilder::new("counts", "Counts", &[()])
        .count(("threads", "threads that counted"), |()| audit.threads)
        .count("nodes", |()| audit.nodes)
        .count(("tails", "of them swept up at the end"), |()| audit.tails)
        .count(("open", "of regions that were not left"), |()| audit.open)
        .count(("uncounted", "of which no entry was counted"), |()| {
            audit.uncounted
        })
        .count(("modules", "modules that count"), |()| audit.modules)
        .count("blocks", |()| audit.blocks)
        .count(("below_zero", "sums below 0, taken as 0"), |()| audit.below_zero)
        .count(("time_ns", "time of the threads (ns)"), |()| audit.time_ns)
        .share(("outside", "outside of regions"), |()| {
            (audit.outside_ns, audit.time_ns)
        });
    if program.sites.iter().any(|site| site.kind.is_by_library()) {
        let all = counted_accesses(regions, |_| true);
        let by_library = counted_accesses(regions, |site| program.site(site).kind.is_by_library());
        builder = builder.share(("by_library", "by library functions"), move |()| {
            (by_library, all)
        });
    }
    builder
        .count("damaged_parts", |()| regions.damage.len())
        .as_record()
        .build()
}
