//! What was shared, by field and by line of source.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Program, SiteId, Trace};

use super::{matrix, HandOvers, SharingShard};
use crate::misses::group;
use crate::names::Names;
use crate::Findings;

/// Sites that belong together.
struct Group<K> {
    key: K,
    counts: HandOvers,
    main_site: SiteId,
    lines: HashSet<(u32, u64)>,
    threads: HashSet<u32>,
}

pub(super) fn findings(shard: &SharingShard, trace: &Trace, line_bytes: u64, top: usize) -> Findings {
    let program = trace.program();
    let names = Names::new(program);
    let fields = groups(shard, |site| group::field_key(program, program.site(site)));
    let lines = groups(shard, |site| group::line_key(program, program.site(site)));
    let directory = Path::new(&trace.meta().working_directory);
    let path = |text: &str| {
        let inside = Path::new(text).strip_prefix(directory).ok();
        inside.and_then(Path::to_str).unwrap_or(text).to_owned()
    };
    let mut total = HandOvers::default();
    shard.sites.iter().for_each(|counts| total += counts);
    let field_table = build("fields", "Fields", &fields, &total, top, |builder| {
        builder.text("field", "field", |group| group::field_name(&names, group.key))
    });
    let line_table = build("lines", "Lines", &lines, &total, top, |builder| {
        builder
            .path("file", "file", |group| path(names.text(group.key.0)))
            .optional_integer("line", "line", Unit::Number, |group| {
                (group.key.1 > 0).then_some(group.key.1.into())
            })
            .text("function", "function", |group| {
                names.function_of(program.site(group.main_site))
            })
    });
    let answer = match fields.first() {
        Some(first) => answer(program, &names, first, &total, &path),
        None => "No cache line went from one thread to another".to_owned(),
    };
    Findings {
        answer: Some(answer),
        tables: vec![
            field_table,
            line_table,
            matrix::pairs(&shard.pairs, top),
            matrix::shared_lines(&shard.takes, &names, program, line_bytes, top),
            totals(shard, &total, line_bytes),
        ],
    }
}

fn answer(
    program: &Program,
    names: &Names,
    first: &Group<group::FieldKey>,
    total: &HandOvers,
    path: &impl Fn(&str) -> String,
) -> String {
    let location = program.location(program.site(first.main_site).location);
    let share = first.counts.all() as f64 / total.all() as f64 * 100.0;
    format!(
        "{}, taken at {}:{}, is {share:.0} % of the hand-overs of cache lines between threads",
        group::field_name(names, first.key),
        path(names.text(location.file)),
        location.line,
    )
}

/// The largest first; equal ones in the order of the program.
fn groups<K: Eq + Hash + Copy>(shard: &SharingShard, key: impl Fn(SiteId) -> K) -> Vec<Group<K>> {
    let mut positions: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<Group<K>> = Vec::new();
    for (index, counts) in shard.sites.iter().enumerate() {
        if counts.all() == 0 {
            continue;
        }
        let site = SiteId(index as u32);
        let position = *positions.entry(key(site)).or_insert_with(|| {
            groups.push(Group {
                key: key(site),
                counts: HandOvers::default(),
                main_site: site,
                lines: HashSet::new(),
                threads: HashSet::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[position];
        group.counts += counts;
        if counts.all() > shard.sites[group.main_site.index()].all() {
            group.main_site = site;
        }
    }
    for taking in shard.takes.keys() {
        let group = &mut groups[positions[&key(taking.site)]];
        group.lines.insert((taking.process, taking.line));
        group.threads.insert(taking.to);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.counts.all()));
    groups
}

fn build<K>(
    name: &str,
    title: &str,
    groups: &[Group<K>],
    total: &HandOvers,
    top: usize,
    name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
) -> Table {
    let shown = &groups[..groups.len().min(top)];
    let cut = if shown.len() < groups.len() {
        format!(", {} of {}", shown.len(), groups.len())
    } else {
        String::new()
    };
    let title = format!("{title} by hand-overs{cut}");
    name_columns(TableBuilder::new(name, title, shown))
        .integer("read_hand_overs", "to read", Unit::Count, |group| {
            group.counts.reads
        })
        .integer("write_hand_overs", "to write", Unit::Count, |group| {
            group.counts.writes
        })
        .share("share", "share", |group| (group.counts.all(), total.all()))
        .share("certain", "certain", |group| {
            (group.counts.certain, group.counts.all())
        })
        .integer("cache_lines", "cache lines", Unit::Count, |group| {
            group.lines.len() as u64
        })
        .integer("threads", "threads", Unit::Count, |group| {
            group.threads.len() as u64
        })
        .build()
}

fn totals(shard: &SharingShard, total: &HandOvers, line_bytes: u64) -> Table {
    let taken: HashSet<(u32, u64)> = shard
        .takes
        .keys()
        .map(|taking| (taking.process, taking.line))
        .collect();
    TableBuilder::new("sharing", "Sharing", &[()])
        .integer("line_bytes", "bytes of a cache line", Unit::Bytes, |()| {
            line_bytes
        })
        .integer("cache_lines", "cache lines accessed", Unit::Count, |()| {
            shard.lines.len() as u64
        })
        .integer("handed_over", "of them handed over", Unit::Count, |()| {
            taken.len() as u64
        })
        .integer("read_hand_overs", "hand-overs to read", Unit::Count, |()| {
            total.reads
        })
        .integer("write_hand_overs", "hand-overs to write", Unit::Count, |()| {
            total.writes
        })
        .share("certain", "in an order that is certain", |()| {
            (total.certain, total.all())
        })
        .as_record()
        .build()
}
