//! The joint counts as tables of bounded size.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use trackway_report::{Table, TableBuilder};
use trackway_trace::SiteId;

use super::joint::{Joint, Moments};
use super::path_moments::{PathCost, PathKey, PathMoments};
use super::place_members::{self, members_of, MembersOf};
use super::tables::Presenter;
use super::tree::ROOT;
use super::SiteCounts;
use crate::model::site_counts::SiteNames;

/// Places in the source that are listed; the others are one row.
const MOST_PLACES: usize = 1000;
/// Rows of places by thread and time, and of any table.
const MOST_ROWS: usize = 40_000;
/// Rows of places by path of calls.
const MOST_PATHS: usize = 12_000;
/// The same by thread and time.
const MOST_PATH_MOMENTS: usize = 40_000;
/// Stands for all places that aren't listed.
const OTHERS: &str = "(others)";

/// What sites have in common that the tables tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    field: String,
    variable: String,
    type_name: String,
    kind: &'static str,
    function: String,
    file: String,
    line: u32,
    /// None if it is no member of a structure.
    members: Option<MembersOf>,
}

impl Place {
    fn others() -> Place {
        let others = || OTHERS.to_owned();
        Place {
            field: others(),
            variable: others(),
            type_name: others(),
            kind: OTHERS,
            function: others(),
            file: String::new(),
            line: 0,
            members: None,
        }
    }
}

/// Places by rank; the last one stands for all others, if there are more.
struct Places {
    list: Vec<(Place, SiteCounts)>,
    of_site: HashMap<SiteId, u64>,
}

fn members_by_place(places: &Places) -> impl Iterator<Item = (u64, Option<&MembersOf>)> {
    let numbered = (0..).zip(&places.list);
    numbered.map(|(number, (place, _))| (number, place.members.as_ref()))
}

/// A number of a place, two of what it is counted by, and the counts.
type Row = ([u64; 3], SiteCounts);

/// Places, the same by thread and time, by path of calls, and by both.
pub(super) fn tables(presenter: &Presenter, joint: &Joint) -> Vec<Table> {
    let moments = joint.moments();
    let places = places(presenter, joint);
    let (rows, bin_width) = moment_rows(joint, &places);
    let paths = path_rows(joint, &places);
    let by_both = path_moments(presenter, joint, &places, bin_width);
    let nodes = nodes_of(presenter, &paths, &by_both);
    vec![
        places_table(presenter, &places),
        counts_table(
            presenter,
            ("place_moments", "Places by thread and time"),
            ["stream", "bin"],
            &rows,
        ),
        axis_table(moments, bin_width, by_both.folded()),
        place_members::table(moments.structures(), members_by_place(&places)),
        counts_table(
            presenter,
            ("place_paths", "Places by path of calls"),
            ["node", ""],
            &paths,
        ),
        path_moments_table(presenter, &by_both),
        nodes_table(presenter, &nodes),
    ]
}

fn places(presenter: &Presenter, joint: &Joint) -> Places {
    let names = SiteNames::new(presenter.program);
    let mut of_site: BTreeMap<SiteId, SiteCounts> = BTreeMap::new();
    for (site, _, counts) in joint.by_moment.iter() {
        of_site.entry(site).or_default().merge(counts);
    }
    let mut sums: HashMap<Place, (SiteCounts, Vec<SiteId>)> = HashMap::new();
    for (&number, counts) in &of_site {
        let site = presenter.program.site(number);
        let location = presenter.program.location(site.location);
        let place = Place {
            field: names.field(site),
            variable: names.variable(site),
            type_name: names.type_name(site),
            kind: site.kind.name(),
            function: names.function(site),
            file: presenter.path(location.file),
            line: location.line,
            members: members_of(joint.moments().structures(), number),
        };
        let sum = sums.entry(place).or_default();
        sum.0.merge(counts);
        sum.1.push(number);
    }
    let mut ranked: Vec<(Place, (SiteCounts, Vec<SiteId>))> = sums.into_iter().collect();
    ranked.sort_by_key(|(_, (counts, sites))| {
        let moments = joint.moments();
        (Reverse(moments.rank(counts)), Reverse(counts.accesses), sites[0])
    });
    numbered(ranked)
}

fn numbered(ranked: Vec<(Place, (SiteCounts, Vec<SiteId>))>) -> Places {
    let mut places = Places {
        list: Vec::new(),
        of_site: HashMap::new(),
    };
    for (place, (counts, sites)) in ranked {
        let number = places.list.len().min(MOST_PLACES);
        match number < MOST_PLACES {
            true => places.list.push((place, counts)),
            false if places.list.len() == number => places.list.push((Place::others(), counts)),
            false => places.list[number].1.merge(&counts),
        }
        places
            .of_site
            .extend(sites.into_iter().map(|site| (site, number as u64)));
    }
    places
}

/// Rows by place, thread and bin, and how many bins were joined so that the rows are few enough. If they are too many in one
/// bin, those of the last places come last.
fn moment_rows(joint: &Joint, places: &Places) -> (Vec<Row>, u64) {
    let mut width = 1;
    loop {
        let mut rows: BTreeMap<[u64; 3], SiteCounts> = BTreeMap::new();
        for (site, (stream, bin), counts) in joint.by_moment.iter() {
            let key = [places.of_site[&site], stream.into(), u64::from(bin) / width];
            rows.entry(key).or_default().merge(counts);
        }
        if rows.len() <= MOST_ROWS || width >= joint.moments().bins().count() as u64 {
            return (rows.into_iter().collect(), width);
        }
        width *= 2;
    }
}

/// Rows by place and node, the first ones by rank. What isn't listed counts at the root.
fn path_rows(joint: &Joint, places: &Places) -> Vec<Row> {
    let mut sums: BTreeMap<[u64; 3], SiteCounts> = BTreeMap::new();
    for (site, node, counts) in joint.by_node.iter() {
        let key = [places.of_site[&site], node.into(), 0];
        sums.entry(key).or_default().merge(counts);
    }
    let mut ranked: Vec<Row> = sums.into_iter().collect();
    ranked.sort_by_key(|(_, counts)| Reverse((joint.moments().rank(counts), counts.accesses)));
    let mut rest: BTreeMap<[u64; 3], SiteCounts> = BTreeMap::new();
    for (key, counts) in ranked.drain(ranked.len().min(MOST_PATHS)..) {
        rest.entry([key[0], ROOT.into(), 0]).or_default().merge(&counts);
    }
    ranked.extend(rest);
    ranked
}

/// Costs by place, node and moment, in as many bins as those of the places.
fn path_moments(presenter: &Presenter, joint: &Joint, places: &Places, bin_width: u64) -> PathMoments {
    let mut paths = joint.by_path.with_keys(|key| PathKey {
        moment: (key.moment.0, key.moment.1 / bin_width as u32),
        unit: key.unit.map(|site| places.of_site[&SiteId(site)] as u32),
        ..*key
    });
    paths.fold_to(MOST_PATH_MOMENTS, presenter.tree());
    paths
}

/// All nodes on these paths, in the order of their numbers.
fn nodes_of(presenter: &Presenter, paths: &[Row], by_both: &PathMoments) -> Vec<u32> {
    let listed = paths.iter().map(|(key, _)| key[1] as u32);
    let ends = listed.chain(by_both.iter().map(|(key, _)| key.node));
    let on_paths = ends.flat_map(|node| presenter.tree().path(node));
    on_paths.collect::<BTreeSet<u32>>().into_iter().collect()
}

fn places_table(presenter: &Presenter, places: &Places) -> Table {
    let builder = TableBuilder::new("places", "Places in the source", &places.list)
        .text("field", |(place, _)| place.field.clone())
        .text("variable", |(place, _)| place.variable.clone())
        .text("type", |(place, _)| place.type_name.clone())
        .text("kind", |(place, _)| place.kind)
        .text("function", |(place, _)| place.function.clone())
        .path("file", |(place, _)| place.file.clone())
        .number("line", |(place, _)| (place.line > 0).then_some(place.line));
    add_counts(presenter, builder, |(_, counts)| counts).build()
}

/// An empty name leaves the second key out.
fn counts_table(
    presenter: &Presenter,
    (name, title): (&str, &str),
    keys: [&'static str; 2],
    rows: &[Row],
) -> Table {
    let listed = &rows[..rows.len().min(MOST_ROWS)];
    let builder = TableBuilder::new(name, title, listed).total_rows(rows.len());
    let mut builder = builder.number("place", |(key, _)| key[0]);
    for (index, key) in (1..).zip(keys).filter(|(_, key)| !key.is_empty()) {
        builder = builder.number(key, move |(row, _): &Row| row[index]);
    }
    add_counts(presenter, builder, |(_, counts)| counts).build()
}

/// Without a place, a row is of lines and callees of the node that aren't listed by themselves.
fn path_moments_table(presenter: &Presenter, paths: &PathMoments) -> Table {
    let rows: Vec<(PathKey, PathCost)> = {
        let sorted: BTreeMap<PathKey, PathCost> = paths.iter().map(|(key, cost)| (*key, *cost)).collect();
        sorted.into_iter().collect()
    };
    let builder = TableBuilder::new("path_moments", "Places by path, thread and time", &rows)
        .number("place", |(key, _)| key.unit)
        .number("node", |(key, _)| key.node)
        .number("stream", |(key, _)| key.moment.0)
        .number("bin", |(key, _)| key.moment.1);
    let builder = add_counts(presenter, builder, |(_, cost)| &cost.counts);
    match presenter.is_timed() {
        true => builder.count("cycles", |(_, cost)| cost.cycles).build(),
        false => builder.build(),
    }
}

fn add_counts<'r, R>(
    presenter: &Presenter,
    builder: TableBuilder<'r, R>,
    counts: impl Fn(&R) -> &SiteCounts,
) -> TableBuilder<'r, R> {
    let mut builder = builder
        .count("accesses", |row| counts(row).accesses)
        .bytes("bytes", |row| counts(row).bytes);
    for level in 0..presenter.levels {
        let (name, title) = (format!("l{}_misses", level + 1), format!("L{} misses", level + 1));
        builder = builder.count((name, title), |row| counts(row).misses[level]);
    }
    builder
}

fn axis_table(moments: &Moments, width: u64, folded: f64) -> Table {
    let bins = moments.bins();
    TableBuilder::new("moment_axis", "Scale of time of the places", &[()])
        .count("bins", |()| (bins.count() as u64).div_ceil(width))
        .count("bin_ns", |()| bins.width_ns() * width)
        .count("first_ns", |()| moments.first_shown_ns())
        .share("folded_share", |()| Some(folded))
        .as_record()
        .build()
}

fn nodes_table(presenter: &Presenter, nodes: &[u32]) -> Table {
    let tree = presenter.tree();
    let node = |number: &u32| &tree.nodes()[*number as usize];
    let builder = TableBuilder::new("path_nodes", "Functions on paths of calls", nodes)
        .number("node", |number| *number)
        .number("parent", |number| tree.caller(*number))
        .text("function", |number| presenter.function(node(number).function))
        .text(
            "inlined",
            |number| if node(number).is_inlined { "yes" } else { "" },
        );
    match presenter.is_timed() {
        true => builder.count("cycles", |number| node(number).cost.cycles).build(),
        false => builder.build(),
    }
}
