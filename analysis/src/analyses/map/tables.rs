//! The map as tables.

use std::collections::HashSet;

use trackway_report::{Table, TableBuilder};

use super::owners::OwnerKind;
use super::pyramid::{listed, pyramid, Cell, Level};
use super::shard::MapShard;
use super::{owner_moments, Finest, Map};
use crate::model::site_counts::Measure;
use crate::Findings;

/// Totals of an owner's memory.
#[derive(Debug, Clone, Default)]
struct OwnerTotal {
    owner: usize,
    reads: u64,
    writes: u64,
    streams: HashSet<u32>,
    granules: HashSet<u64>,
    /// The first and the last part of time.
    bins: Option<(usize, usize)>,
}

impl OwnerTotal {
    fn all(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }
}

pub(super) fn findings(map: &Map, shard: &MapShard) -> Findings {
    let levels = pyramid(&shard.grid);
    let owners = owners(shard);
    let total = owners.iter().map(OwnerTotal::all).fold(0, u64::saturating_add);
    let first = match map.view.finest {
        Finest::Level(level) => level,
        Finest::Cells(limit) => {
            let small = levels.iter().find(|(level, _)| level.cells <= limit);
            small.or(levels.last()).map_or(0, |(level, _)| level.number)
        }
    };
    let cells: Vec<Cell> = levels
        .iter()
        .filter(|(level, _)| level.number >= first)
        .flat_map(|(level, cells)| listed(level, cells))
        .collect();
    let levels: Vec<Level> = levels.iter().map(|(level, _)| *level).collect();
    let mut tables = vec![
        cell_table(map, shard, &levels, &cells),
        owner_table(map, shard, &owners, total),
        level_table(map, &levels),
        totals(map, shard, total),
    ];
    if map.moments.is_some() {
        let listed = owners.iter().take(map.view.top).map(|total| total.owner as u32);
        tables.push(owner_moments::table(map, shard, listed));
    }
    let of_sites = shard.site_owners.as_ref();
    tables.extend(
        of_sites
            .into_iter()
            .flat_map(|counts| counts.tables(map, &shard.owners)),
    );
    Findings {
        answer: Some(answer(map, shard, owners.first(), total)),
        tables,
    }
}

fn answer(map: &Map, shard: &MapShard, first: Option<&OwnerTotal>, total: u64) -> String {
    let measure = map.measure;
    match first {
        Some(first) if total > 0 => {
            let label = map.names.label(shard.owners.list[first.owner].kind);
            let share = first.all() as f64 / total as f64 * 100.0;
            format!("{label} has {share:.0} % of the {measure} that the map shows")
        }
        _ => format!("The map shows no {measure}"),
    }
}

/// The largest first; those without anything in them are left out.
fn owners(shard: &MapShard) -> Vec<OwnerTotal> {
    let mut totals = vec![OwnerTotal::default(); shard.owners.list.len()];
    for (row, cells) in shard.grid.rows() {
        let total = &mut totals[row.owner as usize];
        for (bin, [reads, writes]) in cells.iter().enumerate().filter(|(_, counts)| **counts != [0, 0]) {
            total.reads = total.reads.saturating_add(*reads);
            total.writes = total.writes.saturating_add(*writes);
            total.streams.insert(row.stream);
            total.granules.insert(row.granule);
            let (first, last) = total.bins.unwrap_or((bin, bin));
            total.bins = Some((first.min(bin), last.max(bin)));
        }
    }
    totals
        .iter_mut()
        .enumerate()
        .for_each(|(index, total)| total.owner = index);
    totals.retain(|total| total.all() > 0);
    totals.sort_by_key(|total| std::cmp::Reverse(total.all()));
    totals
}

fn owner_table(map: &Map, shard: &MapShard, owners: &[OwnerTotal], total: u64) -> Table {
    let owner = |row: &OwnerTotal| shard.owners.list[row.owner];
    let time = |bin: usize| map.times.shown_ns(map.bins.start_ns(bin, 0)) / 1000;
    let granule_bytes = 1u64 << shard.grid.shift();
    TableBuilder::top(
        "owners",
        format!("Memory by {}", map.measure),
        owners,
        map.view.top,
    )
    .text(("name", "memory"), |row| map.names.label(owner(row).kind))
    .text("kind", |row| map.names.kind(owner(row).kind))
    .number("process", |row| owner(row).process)
    .count(("reads", "by reads"), |row| row.reads)
    .count(("writes", "by writes"), |row| row.writes)
    .share("share", |row| (row.all(), total))
    .count("threads", |row| row.streams.len())
    .bytes("touched_bytes", |row| {
        (row.granules.len() as u64).saturating_mul(granule_bytes)
    })
    .count("first_us", |row| Some(time(row.bins?.0)))
    .count("last_us", |row| Some(time(row.bins?.1)))
    .build()
}

fn level_table(map: &Map, levels: &[Level]) -> Table {
    TableBuilder::new("levels", "Resolutions", levels)
        .bookkeeping()
        .number("level", |level| level.number)
        .count(("time_bins", "parts of time"), |level| level.time_bins)
        .count(("bin_ns", "ns each"), |level| {
            map.bins.width_ns().saturating_mul(1 << level.number)
        })
        .bytes(("granule_bytes", "bytes of a granule"), |level| {
            level.granule_bytes()
        })
        .count("rows", |level| level.rows)
        .count("cells", |level| level.cells)
        .build()
}

fn cell_table(map: &Map, shard: &MapShard, levels: &[Level], cells: &[Cell]) -> Table {
    let labels: Vec<String> = shard
        .owners
        .list
        .iter()
        .map(|owner| map.names.label(owner.kind))
        .collect();
    let owner = |cell: &Cell| shard.owners.list[cell.owner as usize];
    TableBuilder::new("cells", title(map), cells)
        .number("level", |cell| cell.level)
        .number("process", |cell| owner(cell).process)
        .number("owner", |cell| cell.owner)
        .text(("name", "memory"), |cell| &labels[cell.owner as usize])
        .text("kind", |cell| map.names.kind(owner(cell).kind))
        .number("stream", |cell| cell.stream)
        .number("address", |cell| cell.address)
        .bytes(("granule_bytes", "bytes"), |cell| {
            levels[cell.level as usize].granule_bytes()
        })
        .count("from_ns", |cell| {
            map.times.shown_ns(map.bins.start_ns(cell.bin, cell.level))
        })
        .count(("width_ns", "width (ns)"), |cell| {
            map.bins.width_ns().saturating_mul(1 << cell.level)
        })
        .count(("reads", "by reads"), |cell| cell.reads)
        .count(("writes", "by writes"), |cell| cell.writes)
        .build()
}

/// `Accesses by address and time`.
fn title(map: &Map) -> String {
    let measure = map.measure.to_string();
    let (first, rest) = measure.split_at(1);
    format!("{}{rest} by address and time", first.to_uppercase())
}

fn totals(map: &Map, shard: &MapShard, total: u64) -> Table {
    let counts = &shard.counts;
    let part = |matches: fn(OwnerKind) -> bool| -> u64 {
        let rows = shard.grid.rows();
        let rows = rows.filter(|(row, _)| matches(shard.owners.list[row.owner as usize].kind));
        rows.flat_map(|(_, cells)| cells)
            .flatten()
            .fold(0, |sum: u64, count| sum.saturating_add(*count))
    };
    let caches = match (map.measure, &map.view.machine) {
        (Measure::Misses(_), _) => map.view.caches.to_string(),
        (Measure::Cycles, Some(machine)) => machine.caches.to_string(),
        _ => "none".to_owned(),
    };
    TableBuilder::new("map", "Map", &[()])
        .text("measure", |()| map.measure.to_string())
        .text(("caches", "simulated caches"), |()| &caches)
        .count(("shown", "shown of the measure"), |()| total)
        .count("from_ns", |()| map.times.shown_ns(map.bins.first_ns))
        .count("to_ns", |()| map.times.shown_ns(map.bins.last_ns))
        .share("in_allocations", |()| {
            (part(|kind| matches!(kind, OwnerKind::Allocation(_))), total)
        })
        .share(("in_statics", "in static variables"), |()| {
            (part(|kind| matches!(kind, OwnerKind::Static(_))), total)
        })
        .share("in_stacks", |()| {
            (part(|kind| matches!(kind, OwnerKind::Stack(_))), total)
        })
        .share(("in_other", "in other memory"), |()| {
            (part(|kind| kind == OwnerKind::Other), total)
        })
        .bookkeeping()
        .count(("overlapped_blocks", "blocks that others overlapped"), |()| {
            counts.overlapped
        })
        .count(("unknown_releases", "releases of unknown blocks"), |()| {
            counts.unknown_releases
        })
        .as_record()
        .build()
}
