//! What is known of the distances, as tables.

use std::sync::Arc;

use trackway_report::{binary_size, percent, top_title, Table, TableBuilder};
use trackway_trace::{AllocationSiteId, Program, SiteId, Trace};

use super::curve::{missing, sizes, Whole};
use super::groups::{group_by, Group};
use super::histogram::{bin_of, first_of};
use super::moments::ReuseMoments;
use super::references::{Count, References};
use super::shard::{Extent, ReuseShard};
use super::{Reuse, ReuseGrouping};
use crate::model::blocks::AllocationNames;
use crate::model::cache::Caches;
use crate::model::site_counts::attribution_table;
use crate::model::site_counts::{group, SiteCounters};
use crate::model::{Names, UNKNOWN};
use crate::Findings;

/// Bytes of caches for which groups have a column, where those of the machine are not known.
const USUAL_SIZES: [u64; 3] = [32 << 10, 1 << 20, 32 << 20];

pub(super) fn findings(reuse: &Reuse, shard: &ReuseShard, trace: &Trace) -> Findings {
    let program = trace.program();
    let (reads, writes) = reads_and_writes(shard, program);
    let all = sum(&reads, &writes);
    let whole = Whole {
        line_bytes: reuse.line_bytes.into(),
        fine: reuse.fine,
        all: &all,
        reads: &reads,
        writes: &writes,
        parts: shard.parts(),
    };
    let mut tables = vec![whole.miss_ratios(), whole.distances()];
    let mut curves = Vec::new();
    for grouping in &reuse.groupings {
        let (groups, count) = groups(*grouping, reuse, shard, trace);
        tables.push(group_table(*grouping, reuse, &groups, count, trace));
        if *grouping == ReuseGrouping::Field {
            tables.extend(field_moments(shard, &groups));
        }
        curves.extend(points(*grouping, reuse.fine, groups));
    }
    if reuse.fine {
        tables.push(group_curves(reuse, &curves));
    }
    tables.extend(shard.moments().map(ReuseMoments::table));
    tables.push(extent_table(reuse, &shard.extent(), &all));
    tables.push(attribution_table(program, &counters(shard)));
    Findings {
        answer: Some(answer(reuse, &all)),
        tables,
    }
}

/// Distances of the fields that have a row, by thread and time, if asked for.
fn field_moments(shard: &ReuseShard, fields: &[Group]) -> Option<Table> {
    let sites: Vec<usize> = fields.iter().map(|field| field.member).collect();
    let title = "Reuse distances of fields by thread and time, in lines";
    let by_field = &shard.moments()?.by_group;
    by_field.table("field_reuse_moments", title, &sites)
}

fn reads_and_writes(shard: &ReuseShard, program: &Program) -> (Count, Count) {
    let (mut reads, mut writes) = (Count::default(), Count::default());
    for (number, site) in program.sites.iter().enumerate().take(shard.sites().len()) {
        let count = if site.kind.writes() {
            &mut writes
        } else {
            &mut reads
        };
        shard.sites().add_to(number, count);
    }
    reads.complete();
    writes.complete();
    (reads, writes)
}

fn sum(reads: &Count, writes: &Count) -> Count {
    let mut sum = reads.clone();
    sum.accesses = sum.accesses.saturating_add(writes.accesses);
    sum.bytes = sum.bytes.saturating_add(writes.bytes);
    sum.references = sum.references.saturating_add(writes.references);
    sum.distances += &writes.distances;
    sum
}

fn answer(reuse: &Reuse, all: &Count) -> String {
    let (Some(half), Some(most)) = (all.distances.quantile(0.5), all.distances.quantile(0.9)) else {
        return "No cache line was accessed twice".into();
    };
    let size = |bin| binary_size(first_of(bin + 1).saturating_mul(reuse.line_bytes.into()));
    let cold = all.distances.cold / all.references as f64;
    format!(
        "An LRU cache of {} catches half of the reuses, one of {} 90 %; {} of the references are the first of their line",
        size(half),
        size(most),
        percent(cold.clamp(0.0, 1.0)),
    )
}

/// 48K, 1.5M.
fn size_in_words(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..=1023 => return format!("{bytes} bytes"),
        1024..=1_048_575 => (10, "K"),
        1_048_576..=1_073_741_823 => (20, "M"),
        _ => (30, "G"),
    };
    let number = bytes as f64 / (1u64 << unit) as f64;
    format!("{}{name}", (number * 100.0).round() / 100.0)
}

fn groups(grouping: ReuseGrouping, reuse: &Reuse, shard: &ReuseShard, trace: &Trace) -> (Vec<Group>, usize) {
    let program = trace.program();
    let names = Names::new(program);
    let site = |number| program.site(SiteId(number as u32));
    match grouping {
        ReuseGrouping::Field => group_by(
            shard.sites(),
            reuse.top,
            |number| group::field_key(program, site(number)),
            |key| group::field_name(&names, key),
        ),
        ReuseGrouping::Variable => group_by(
            shard.sites(),
            reuse.top,
            |number| group::variable_key(program, site(number)),
            |key| group::field_name(&names, group::FieldKey::Variable(key)),
        ),
        ReuseGrouping::Allocation => {
            let names = AllocationNames::new(trace, Arc::clone(&reuse.origins));
            group_by(
                shard.allocations().unwrap_or(&References::default()),
                reuse.top,
                |owner| owner,
                |owner| allocation_name(owner, &names),
            )
        }
    }
}

/// `struct node at tree.c:12`; the allocator's name where the type is unknown.
fn allocation_name(owner: usize, names: &AllocationNames) -> String {
    let Some(number) = owner.checked_sub(1) else {
        return "(other memory)".into();
    };
    let id = AllocationSiteId(number as u32);
    let what = match names.text(names.site(id).element_type) {
        UNKNOWN => names.allocator(id),
        element => element.to_owned(),
    };
    match names.place(names.frame(id).location) {
        Some(place) => format!("{what} at {place}"),
        None => format!("{what} in {}", names.function(id)),
    }
}

impl ReuseGrouping {
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            ReuseGrouping::Field => ("fields", "field", "Fields"),
            ReuseGrouping::Variable => ("variables", "variable", "Variables"),
            ReuseGrouping::Allocation => ("allocations", "allocation", "Allocation sites"),
        }
    }
}

fn group_table(grouping: ReuseGrouping, reuse: &Reuse, groups: &[Group], of: usize, trace: &Trace) -> Table {
    let (name, column, title) = grouping.words();
    let title = top_title(format!("{title} by accesses"), groups.len(), of);
    let distance = |group: &Group, share| group.count.distances.quantile(share).map(first_of);
    let mut builder = TableBuilder::new(name, title, groups)
        .text(column, |group| group.name.clone())
        .count("accesses", |group| group.count.accesses)
        .count("references", |group| group.count.references)
        .share(("cold", "first"), |group| {
            (group.count.distances.cold.round() as u64, group.count.references)
        })
        .count("median_distance", |group| distance(group, 0.5))
        .count(("p90_distance", "90th percentile"), |group| distance(group, 0.9));
    for bytes in cache_sizes(trace) {
        let bin = bin_of((bytes / u64::from(reuse.line_bytes)).max(1));
        let name = format!("miss_ratio_{bytes}");
        let title = format!("misses in {}", size_in_words(bytes));
        builder = builder.share((name, title), |group| missing(&group.count, bin));
    }
    builder.build()
}

/// Sizes of the caches of the machine that recorded, or usual sizes.
fn cache_sizes(trace: &Trace) -> Vec<u64> {
    let machine = Caches::of_machine(&trace.meta().caches);
    let sizes = machine.map(|caches| {
        caches
            .levels()
            .iter()
            .map(|level| level.geometry.size_bytes)
            .collect()
    });
    sizes.unwrap_or(USUAL_SIZES.to_vec())
}

/// One size of a group's curve.
struct Point {
    grouping: &'static str,
    name: String,
    lines: u64,
    missing: (u64, u64),
}

fn points(grouping: ReuseGrouping, fine: bool, groups: Vec<Group>) -> Vec<Point> {
    let of_group = |group: Group| {
        let sizes = sizes(&group.count.distances, fine).into_iter();
        sizes.map(move |bin| Point {
            grouping: grouping.words().1,
            name: group.name.clone(),
            lines: first_of(bin),
            missing: missing(&group.count, bin),
        })
    };
    groups.into_iter().flat_map(of_group).collect()
}

fn group_curves(reuse: &Reuse, points: &[Point]) -> Table {
    TableBuilder::new("group_curves", "Miss ratios of groups", points)
        .text("grouping", |point| point.grouping)
        .text("name", |point| point.name.clone())
        .count(("cache_lines", "lines"), |point| point.lines)
        .bytes(("cache_bytes", "bytes"), |point| {
            point.lines.saturating_mul(reuse.line_bytes.into())
        })
        .count("misses", |point| point.missing.0)
        .share("miss_ratio", |point| point.missing)
        .build()
}

fn extent_table(reuse: &Reuse, extent: &Extent, all: &Count) -> Table {
    let line_bytes = u64::from(reuse.line_bytes);
    let cold = all.distances.cold.round() as u64;
    let mut builder = TableBuilder::new("reuse", "Reuse", &[()])
        .bytes(("line_bytes", "bytes of a cache line"), |()| line_bytes)
        .text(("order", "order of threads"), |()| match reuse.merged {
            true => "merged",
            false => "each by itself",
        })
        .count("accesses", |()| all.accesses)
        .count(("references", "references of lines"), |()| all.references)
        .count(("cold", "of them first references"), |()| cold)
        .bytes(("footprint_bytes", "footprint"), |()| {
            cold.saturating_mul(line_bytes)
        });
    if let Some(rate) = extent.rate {
        builder = builder
            .share(("sampled_share", "sampled share of lines"), |()| (rate, 1))
            .count("sampled_lines", |()| extent.lines)
            .count("sampled_references", |()| extent.sampled_references);
    } else {
        builder = builder
            .count(("most_lines", "lines of the largest stack"), |()| {
                extent.most_lines
            })
            .count(("untracked", "references beyond the limit"), |()| {
                extent.untracked
            });
    }
    builder.as_record().build()
}

fn counters(shard: &ReuseShard) -> Vec<SiteCounters> {
    let of_site = |(accesses, bytes)| SiteCounters {
        accesses,
        bytes,
        ..SiteCounters::default()
    };
    shard.sites().accesses().map(of_site).collect()
}
