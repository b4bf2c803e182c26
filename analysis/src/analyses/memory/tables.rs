//! Memory as tables.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use trackway_report::{duration, grouped, Table, TableBuilder};
use trackway_trace::{AllocationSiteId, StringId};

use super::curve::{Amount, Point};
use super::shard::MemoryShard;
use super::site_totals::SiteTotals;
use super::Memory;
use crate::model::blocks::AllocationNames;
use crate::Findings;

/// Sites that belong together, or one.
struct Group<K> {
    key: K,
    totals: SiteTotals,
}

pub(super) fn findings(memory: &Memory, shard: &MemoryShard) -> Findings {
    let names = AllocationNames::new(memory.trace, Arc::clone(&memory.origins));
    let sites: Vec<Group<AllocationSiteId>> = grouped_by(shard, |site| site);
    let types: Vec<Group<StringId>> = grouped_by(shard, |site| names.site(site).element_type);
    let type_name: Namer<StringId> =
        &|builder| builder.text(("type", "type of elements"), |group| names.text(group.key));
    let place: Namer<AllocationSiteId> = &|builder| place_columns(builder, &names);
    let tables = Tables {
        top: memory.top,
        peak: shard.ledger.peak.live,
    };
    let mut findings = Findings {
        answer: Some(answer(memory, shard, &names, &sites)),
        tables: vec![
            tables.peak("peak", "Live at the peak by allocation", &sites, place),
            tables.peak("peak_types", "Live at the peak by type", &types, type_name),
            tables.allocations("allocations", "Allocations", &sites, place),
            tables.uses("use", "Use of allocations", &sites, place),
            tables.uses("type_use", "Use by type", &types, type_name),
            lifetimes(shard),
            over_time(memory, shard),
            totals(memory, shard),
        ],
    };
    findings.tables.extend(allocation_moments(memory, shard, &sites));
    findings
}

/// The sites of table `allocations` by thread and time, if asked for.
fn allocation_moments(
    memory: &Memory,
    shard: &MemoryShard,
    sites: &[Group<AllocationSiteId>],
) -> Option<Table> {
    let moments = shard.ledger.moments.as_ref()?;
    let listed = ranked(sites, rank_of_allocations);
    let keys = listed.iter().take(memory.top).map(|group| group.key);
    let rows: HashMap<AllocationSiteId, usize> = keys.zip(0..).collect();
    Some(moments.table(|site| rows.get(&site).copied()))
}

/// The groups that have any of a number, the largest first.
fn ranked<K>(groups: &[Group<K>], rank: impl Fn(&SiteTotals) -> (u64, u64)) -> Vec<&Group<K>> {
    let has_any = |group: &&Group<K>| rank(&group.totals) != (0, 0);
    let mut ranked: Vec<&Group<K>> = groups.iter().filter(has_any).collect();
    ranked.sort_by_key(|group| Reverse(rank(&group.totals)));
    ranked
}

fn rank_of_allocations(totals: &SiteTotals) -> (u64, u64) {
    (totals.allocated.bytes, totals.allocated.blocks + totals.failed)
}

fn grouped_by<K: Eq + std::hash::Hash + Copy>(
    shard: &MemoryShard,
    key: impl Fn(AllocationSiteId) -> K,
) -> Vec<Group<K>> {
    let mut positions = HashMap::new();
    let mut groups: Vec<Group<K>> = Vec::new();
    for (index, totals) in shard.ledger.sites.iter().enumerate() {
        let key = key(AllocationSiteId(index as u32));
        let position = *positions.entry(key).or_insert_with(|| {
            groups.push(Group {
                key,
                totals: SiteTotals::default(),
            });
            groups.len() - 1
        });
        groups[position].totals += totals;
    }
    groups
        .retain(|group| group.totals.allocated.blocks + group.totals.failed > 0 || group.totals.accesses > 0);
    groups
}

fn answer(
    memory: &Memory,
    shard: &MemoryShard,
    names: &AllocationNames,
    sites: &[Group<AllocationSiteId>],
) -> String {
    let peak = &shard.ledger.peak;
    let Some(first) = sites.iter().max_by_key(|group| group.totals.at_peak.bytes) else {
        return "No allocation was recorded".to_owned();
    };
    let is_slice = memory.trace.slice().is_some();
    if peak.live.bytes == 0 {
        let place = if is_slice { " in the slice" } else { "" };
        return format!("No memory was allocated{place}");
    }
    let share = first.totals.at_peak.bytes as f64 / peak.live.bytes as f64 * 100.0;
    let whose = if is_slice { "of blocks from the slice " } else { "" };
    format!(
        "At most {} bytes {whose}were live at once, {} after the beginning; {share:.0} % of them from {}",
        grouped(peak.live.bytes),
        duration(memory.times.shown_ns(peak.time_ns)),
        names.label(first.key),
    )
}

type Builder<'a, K> = TableBuilder<'a, &'a Group<K>>;
/// Adds the columns that say what a row is about.
type Namer<'n, K> = &'n dyn for<'a> Fn(Builder<'a, K>) -> Builder<'a, K>;

fn place_columns<'a>(
    builder: Builder<'a, AllocationSiteId>,
    names: &AllocationNames,
) -> Builder<'a, AllocationSiteId> {
    builder
        .text("variable", |group| names.variable(group.key))
        .text(("allocator", "by"), |group| names.allocator(group.key))
        .text("function", |group| names.function(group.key))
        .path("file", |group| names.file(group.key))
        .number("line", |group| names.line(group.key))
        .path(("caller", "inlined into"), |group| {
            names.caller(group.key).unwrap_or_default()
        })
}

/// How tables of sites are made.
struct Tables {
    top: usize,
    peak: Amount,
}

impl Tables {
    /// The largest by a number, and those that have any of it.
    fn build<K>(
        &self,
        (name, title): (&str, &str),
        groups: &[Group<K>],
        rank: impl Fn(&SiteTotals) -> (u64, u64),
        names: Namer<K>,
        numbers: impl FnOnce(Builder<'_, K>) -> Builder<'_, K>,
    ) -> Table {
        let ranked = ranked(groups, rank);
        numbers(names(TableBuilder::top(name, title, &ranked, self.top))).build()
    }

    fn peak<K>(&self, name: &str, title: &str, groups: &[Group<K>], names: Namer<K>) -> Table {
        let rank = |totals: &SiteTotals| (totals.at_peak.bytes, totals.at_peak.blocks);
        self.build((name, title), groups, rank, names, |builder| {
            builder
                .count(("peak_blocks", "blocks"), |group| group.totals.at_peak.blocks)
                .bytes(("peak_bytes", "bytes"), |group| group.totals.at_peak.bytes)
                .share("share", |group| (group.totals.at_peak.bytes, self.peak.bytes))
                .ranked_by("peak_bytes")
        })
    }

    fn allocations<K>(&self, name: &str, title: &str, groups: &[Group<K>], names: Namer<K>) -> Table {
        self.build((name, title), groups, rank_of_allocations, names, |builder| {
            builder
                .count(("allocations", "blocks"), |group| group.totals.allocated.blocks)
                .bytes(("allocated_bytes", "bytes"), |group| group.totals.allocated.bytes)
                .count("failed", |group| group.totals.failed)
                .count(("short_lived", "short-lived"), |group| {
                    group.totals.short_lived.blocks
                })
                .rate(("mean_life_accesses", "accesses they lived"), |group| {
                    (group.totals.lived_accesses as f64, group.totals.released)
                })
                .rate(("mean_life_us", "mean life, µs"), |group| {
                    (group.totals.lived_ns as f64 / 1e3, group.totals.released)
                })
                .count("never_released", |group| group.totals.never_released.blocks)
                .bytes(("never_released_bytes", "their bytes"), |group| {
                    group.totals.never_released.bytes
                })
                .ranked_by("allocated_bytes")
        })
    }

    fn uses<K>(&self, name: &str, title: &str, groups: &[Group<K>], names: Namer<K>) -> Table {
        let rank = |totals: &SiteTotals| {
            (
                totals.allocated.bytes,
                totals.allocated.blocks.saturating_add(totals.accesses),
            )
        };
        self.build((name, title), groups, rank, names, |builder| {
            builder
                .bytes(("allocated_bytes", "bytes"), |group| group.totals.allocated.bytes)
                .count("accesses", |group| group.totals.accesses)
                .bytes("accessed_bytes", |group| group.totals.accessed_bytes)
                .rate("accesses_per_byte", |group| {
                    (group.totals.accesses_inside as f64, group.totals.allocated.bytes)
                })
                .count("never_accessed", |group| group.totals.never_accessed.blocks)
                .bytes(("never_accessed_bytes", "their bytes"), |group| {
                    group.totals.never_accessed.bytes
                })
                .ranked_by("allocated_bytes")
        })
    }
}

/// Released blocks by the number of accesses that they lived. Each row goes from a power of two to less than twice
/// that.
fn lifetimes(shard: &MemoryShard) -> Table {
    let classes = shard.ledger.lifetimes.iter().enumerate();
    let rows: Vec<(usize, Amount)> = classes
        .filter(|(_, amount)| amount.blocks > 0)
        .map(|(digits, amount)| (digits, *amount))
        .collect();
    TableBuilder::new(
        "lifetimes",
        "Released blocks by the accesses that they lived",
        &rows,
    )
    .count(("from_accesses", "from"), |(digits, _)| {
        (1u64 << digits.saturating_sub(1)) * u64::from(*digits > 0)
    })
    .count(("to_accesses", "to"), |(digits, _)| {
        1u64.checked_shl(*digits as u32).map_or(u64::MAX, |end| end - 1)
    })
    .count("blocks", |(_, amount)| amount.blocks)
    .bytes("bytes", |(_, amount)| amount.bytes)
    .build()
}

fn over_time(memory: &Memory, shard: &MemoryShard) -> Table {
    let points: Vec<(usize, &Point)> = shard.ledger.curve.points().iter().enumerate().collect();
    let bins = memory.bins;
    TableBuilder::new("memory_over_time", "Live memory by time", &points)
        .count("from_ns", |(bin, _)| {
            memory.times.shown_ns(bins.start_ns(*bin, 0))
        })
        .count(("width_ns", "width (ns)"), |_| bins.width_ns())
        .count("most_blocks", |(_, point)| point.most.blocks)
        .bytes("most_bytes", |(_, point)| point.most.bytes)
        .count("allocations", |(_, point)| point.allocations)
        .count("releases", |(_, point)| point.releases)
        .build()
}

fn totals(memory: &Memory, shard: &MemoryShard) -> Table {
    let ledger = &shard.ledger;
    let mut all = SiteTotals::default();
    ledger.sites.iter().for_each(|site| all += site);
    let share = |part: u64| (part, ledger.accesses);
    let builder = TableBuilder::new("memory", "Memory", &[()])
        .bytes(("peak_bytes", "most bytes live at once"), |()| {
            ledger.peak.live.bytes
        })
        .count(("peak_blocks", "blocks then"), |()| ledger.peak.live.blocks);
    let builder = match memory.trace.slice() {
        Some(_) => builder
            .bytes(("outside_bytes", "bytes of other blocks then"), |()| {
                ledger.peak.outside.bytes
            })
            .count(("outside_blocks", "other blocks then"), |()| {
                ledger.peak.outside.blocks
            }),
        None => builder,
    };
    let builder = builder
        .count(("peak_ns", "ns after the beginning"), |()| {
            memory.times.shown_ns(ledger.peak.time_ns)
        })
        .count("allocations", |()| all.allocated.blocks)
        .bytes("allocated_bytes", |()| all.allocated.bytes)
        .count(("failed", "failed allocations"), |()| all.failed)
        .count(("short_lived", "short-lived blocks"), |()| all.short_lived.blocks)
        .count(("short_life_accesses", "released before accesses"), |()| {
            memory.short_life
        })
        .count(("never_released", "blocks never released"), |()| {
            all.never_released.blocks
        })
        .bytes(("never_released_bytes", "their bytes"), |()| {
            all.never_released.bytes
        })
        .count(("never_accessed", "blocks never accessed"), |()| {
            all.never_accessed.blocks
        })
        .bytes(("never_accessed_bytes", "their bytes"), |()| {
            all.never_accessed.bytes
        });
    builder
        .share(("in_blocks", "accesses to blocks"), |()| share(all.accesses))
        .share(("in_statics", "to static variables"), |()| {
            share(shard.outside.statics)
        })
        .share(("in_stacks", "to stacks"), |()| share(shard.outside.stacks))
        .share(("in_other", "to other memory"), |()| share(shard.outside.other))
        .bookkeeping()
        .count(("overlapped_blocks", "blocks that others overlapped"), |()| {
            all.overlapped
        })
        .count(("unknown_releases", "releases of unknown blocks"), |()| {
            ledger.unknown_releases
        })
        .as_record()
        .build()
}
