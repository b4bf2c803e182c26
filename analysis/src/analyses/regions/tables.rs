//! The tables of regions: times, accesses, threads, instructions.

use std::collections::BTreeMap;

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::Program;

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

/// "Regions", or "Regions, 10 of 23".
pub fn title(title: &str, shown: usize, of: usize) -> String {
    match shown < of {
        true => format!("{title}, {shown} of {of}"),
        false => title.into(),
    }
}

pub fn regions(regions: &Regions, ranked: Ranked) -> Table {
    let rows = region_rows(regions, ranked);
    let all = regions.regions.len();
    let builder = TableBuilder::new("regions", title("Regions", rows.len(), all), &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", "region", |row| &row.region.name)
        .integer("threads", "threads", Unit::Count, |row| {
            row.region.threads.len() as u64
        });
    with_totals(builder, |row| &row.totals)
        .optional_real("bytes_imbalance", "imbalance of bytes", Unit::Ratio, |row| {
            row.region.imbalance(|totals| totals.accesses.bytes)
        })
        .optional_real("time_imbalance", "imbalance of time", Unit::Ratio, |row| {
            row.region.imbalance(|totals| totals.time_ns)
        })
        .build()
}

pub fn by_thread(regions: &Regions, ranked: Ranked) -> Table {
    let all = regions.regions.iter();
    let all = all.flat_map(|region| region.threads.iter().map(move |thread| (region, thread)));
    let mut rows: Vec<(&Region, &ThreadTally, Totals)> = all
        .map(|(region, thread)| (region, thread, of_thread(&thread.totals)))
        .collect();
    let count = rows.len();
    rows.truncate(ranked.top);
    let title = title("Threads in regions", rows.len(), count);
    let builder = TableBuilder::new("regions_by_thread", title, &rows)
        .total_rows(count)
        .text("region", "region", |(region, ..)| &region.name)
        .integer("stream", "stream", Unit::Number, |(_, thread, _)| {
            thread.stream.into()
        })
        .integer("process", "process", Unit::Number, |(_, thread, _)| {
            thread.process.into()
        })
        .integer("thread", "thread", Unit::Number, |(_, thread, _)| {
            thread.thread.into()
        });
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
        .integer("entries", "entries", Unit::Count, |row| totals(row).entries)
        .integer("counted_entries", "of them counted", Unit::Count, |row| {
            totals(row).counted_entries
        })
        .integer("timed_entries", "timed only", Unit::Count, |row| {
            totals(row).timed_entries
        })
        .integer("inherited", "inherited", Unit::Count, |row| totals(row).inherited)
        .integer("time_ns", "time (ns)", Unit::Count, |row| totals(row).time_ns)
        .integer("own_time_ns", "own time (ns)", Unit::Count, |row| {
            totals(row).own_time_ns
        })
        .integer("entered_time_ns", "time of entries (ns)", Unit::Count, |row| {
            totals(row).entered_time_ns
        })
        .integer("external_time_ns", "in other code (ns)", Unit::Count, |row| {
            totals(row).external_time_ns
        });
    with_accesses(builder, move |row| totals(row).accesses)
        .optional_real("bytes_uncertainty", "bytes ±", Unit::Share, move |row| {
            totals(row).bytes_uncertainty()
        })
        .optional_real("read_mb_per_s", "MB/s read", Unit::Rate, move |row| {
            corrected(row, |accesses| accesses.bytes_read)
        })
        .optional_real("write_mb_per_s", "MB/s written", Unit::Rate, move |row| {
            corrected(row, |accesses| accesses.bytes_written)
        })
        .text("rate_by", "MB/s by", move |row| {
            totals(row).speed.rates.by().map_or("", RateBy::name)
        })
        .optional_real("raw_read_mb_per_s", "raw MB/s read", Unit::Rate, |row| {
            raw(row, |accesses| accesses.bytes_read)
        })
        .optional_real("raw_write_mb_per_s", "raw MB/s written", Unit::Rate, |row| {
            raw(row, |accesses| accesses.bytes_written)
        })
}

/// All accesses, and reads and writes apart.
pub fn with_all_accesses<'a, R>(
    builder: TableBuilder<'a, R>,
    accesses: impl Fn(&R) -> Accesses + Copy,
) -> TableBuilder<'a, R> {
    let builder = builder
        .integer("accesses", "accesses", Unit::Count, |row| accesses(row).accesses)
        .integer("bytes", "bytes", Unit::Bytes, |row| accesses(row).bytes);
    with_accesses(builder, accesses)
}

/// Reads, writes and their bytes.
pub fn with_accesses<'a, R>(
    builder: TableBuilder<'a, R>,
    accesses: impl Fn(&R) -> Accesses,
) -> TableBuilder<'a, R> {
    builder
        .integer("reads", "reads", Unit::Count, |row| accesses(row).reads)
        .integer("writes", "writes", Unit::Count, |row| accesses(row).writes)
        .integer("bytes_read", "bytes read", Unit::Bytes, |row| {
            accesses(row).bytes_read
        })
        .integer("bytes_written", "bytes written", Unit::Bytes, |row| {
            accesses(row).bytes_written
        })
}

pub fn instructions(regions: &Regions, ranked: Ranked) -> Table {
    let rows = region_rows(regions, ranked);
    let all = regions.regions.len();
    let title = title("Instructions", rows.len(), all);
    let mut builder = TableBuilder::new("region_instructions", title, &rows)
        .total_rows(all)
        .ranked_by("own_time_ns")
        .text("region", "region", |row| &row.region.name);
    for (index, (name, title)) in INSTRUCTIONS.into_iter().enumerate() {
        builder = builder.integer(name, title, Unit::Count, move |row| {
            row.totals.instructions[index]
        });
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
    let all = rows.len();
    rows.truncate(ranked.top);
    let title = title("Accesses by size", rows.len(), all);
    let builder = TableBuilder::new("region_accesses_by_size", title, &rows)
        .total_rows(all)
        .text("region", "region", |row| row.0)
        .integer("size_bytes", "bytes each (0: blocks)", Unit::Number, |row| {
            row.1.into()
        });
    with_accesses(builder, |row| row.2).build()
}

/// What the numbers rest on.
pub fn audit(regions: &Regions) -> Table {
    let audit = &regions.audit;
    TableBuilder::new("counts", "Counts", &[()])
        .integer("threads", "threads that counted", Unit::Count, |()| audit.threads)
        .integer("nodes", "nodes", Unit::Count, |()| audit.nodes)
        .integer("tails", "of them swept up at the end", Unit::Count, |()| {
            audit.tails
        })
        .integer("open", "of regions that were not left", Unit::Count, |()| {
            audit.open
        })
        .integer("uncounted", "of which no entry was counted", Unit::Count, |()| {
            audit.uncounted
        })
        .integer("modules", "modules that count", Unit::Count, |()| audit.modules)
        .integer("blocks", "blocks", Unit::Count, |()| audit.blocks)
        .integer("below_zero", "sums below 0, taken as 0", Unit::Count, |()| {
            audit.below_zero
        })
        .integer("time_ns", "time of the threads (ns)", Unit::Count, |()| {
            audit.time_ns
        })
        .share("outside", "outside of regions", |()| {
            (audit.outside_ns, audit.time_ns)
        })
        .integer("damaged_parts", "damaged parts", Unit::Count, |()| {
            regions.damage.len() as u64
        })
        .as_record()
        .build()
}
