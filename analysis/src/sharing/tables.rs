//! What was shared, by field and by line of source.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Program, Site, SiteId, StringId, Trace};

use super::{HandOvers, SharingShard};
use crate::misses::{group, Grouping};
use crate::names::{written_in, Names};
use crate::Findings;

/// Sites that belong together.
struct Group<K> {
    key: K,
    counts: HandOvers,
    main_site: SiteId,
    lines: HashSet<(u32, u64)>,
    threads: HashSet<u32>,
}

pub(super) fn findings(
    shard: &SharingShard,
    trace: &Trace,
    line_bytes: u64,
    groupings: &[Grouping],
    top: usize,
) -> Findings {
    let program = trace.program();
    let mut total = HandOvers::default();
    shard.sites.iter().for_each(|counts| total += counts);
    let presenter = Presenter {
        shard,
        program,
        names: Names::new(program),
        directory: Path::new(&trace.meta().working_directory),
        total,
        top,
    };
    let mut tables: Vec<Table> = groupings.iter().filter_map(|&by| presenter.table(by)).collect();
    tables.push(totals(shard, &presenter.total, line_bytes));
    Findings {
        answer: Some(presenter.answer()),
        tables,
    }
}

/// What the tables are made from.
struct Presenter<'p> {
    shard: &'p SharingShard,
    program: &'p Program,
    names: Names<'p>,
    /// Of the recorded program: paths are shown without it.
    directory: &'p Path,
    total: HandOvers,
    top: usize,
}

impl Presenter<'_> {
    fn table(&self, grouping: Grouping) -> Option<Table> {
        Some(match grouping {
            Grouping::Field => self.fields(),
            Grouping::Variable => self.variables(),
            Grouping::Type => self.types(),
            Grouping::Line => self.lines(),
            Grouping::Function => self.functions(),
            Grouping::File => self.files(),
            Grouping::Kind | Grouping::Site | Grouping::Thread => return None,
        })
    }

    fn groups<K: Eq + Hash + Copy>(&self, key: impl Fn(&Site) -> K) -> Vec<Group<K>> {
        groups(self.shard, |site| key(self.program.site(site)))
    }

    fn build<K>(
        &self,
        (name, title): (&str, &str),
        groups: &[Group<K>],
        name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
    ) -> Table {
        build(name, title, groups, &self.total, self.top, name_columns)
    }

    fn fields(&self) -> Table {
        let groups = self.groups(|site| group::field_key(self.program, site));
        self.build(("fields", "Fields"), &groups, |builder| {
            builder.text("field", "field", |group| {
                group::field_name(&self.names, group.key)
            })
        })
    }

    fn variables(&self) -> Table {
        let groups = self.groups(|site| group::variable_key(self.program, site));
        self.build(("variables", "Variables"), &groups, |builder| {
            builder
                .text("variable", "variable", |group| {
                    self.names.text(group.key.variable)
                })
                .text("kind", "kind", |group| group.key.kind.name())
                .text("function", "function", |group| {
                    match self.program.string(group.key.function) {
                        "" => String::new(),
                        _ => self.names.function(group.key.function),
                    }
                })
        })
    }

    fn types(&self) -> Table {
        let groups = self.groups(|site| group::type_key(self.program, site));
        self.build(("types", "Types"), &groups, |builder| {
            builder.text("type", "type", |group| self.names.text(group.key))
        })
    }

    fn lines(&self) -> Table {
        let groups = self.groups(|site| group::line_key(self.program, site));
        self.build(("lines", "Lines"), &groups, |builder| {
            builder
                .path("file", "file", |group| self.path(group.key.0))
                .optional_integer("line", "line", Unit::Number, |group| {
                    (group.key.1 > 0).then_some(group.key.1.into())
                })
                .text("function", "function", |group| {
                    self.names.function_of(self.program.site(group.main_site))
                })
        })
    }

    fn functions(&self) -> Table {
        let groups = self.groups(|site| written_in(self.program, site));
        self.build(("functions", "Functions"), &groups, |builder| {
            builder.text("function", "function", |group| self.names.function(group.key))
        })
    }

    fn files(&self) -> Table {
        let groups = self.groups(|site| group::line_key(self.program, site).0);
        self.build(("files", "Files"), &groups, |builder| {
            builder.path("file", "file", |group| self.path(group.key))
        })
    }

    fn path(&self, file: StringId) -> String {
        let text = self.names.text(file);
        let inside = Path::new(text).strip_prefix(self.directory).ok();
        inside.and_then(Path::to_str).unwrap_or(text).to_owned()
    }

    fn answer(&self) -> String {
        let fields = self.groups(|site| group::field_key(self.program, site));
        let Some(first) = fields.first() else {
            return "No cache line went from one thread to another".to_owned();
        };
        let location = self.program.location(self.program.site(first.main_site).location);
        let share = first.counts.all() as f64 / self.total.all() as f64 * 100.0;
        format!(
            "{}, taken at {}:{}, is {share:.0} % of the hand-overs of cache lines between threads",
            group::field_name(&self.names, first.key),
            self.path(location.file),
            location.line,
        )
    }
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
    for &(site, process, number) in &shard.taken {
        groups[positions[&key(site)]].lines.insert((process, number));
    }
    for &(site, thread) in &shard.takers {
        groups[positions[&key(site)]].threads.insert(thread);
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
    name_columns(TableBuilder::new(name, title, shown).total_rows(groups.len()))
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
        .taken
        .iter()
        .map(|&(_, process, number)| (process, number))
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
