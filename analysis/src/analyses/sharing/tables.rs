//! What was shared: by field, by line of source, by the two places between which lines go, by cache line and by thread.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use trackway_report::{top_title, Table, TableBuilder};
use trackway_trace::{Program, Site, SiteId, StringId, Trace};

use super::lines::{Line, Lines, Sharer};
use super::moments::TransferMoments;
use super::passages::SortedPassages;
use super::totals::{group_by, most_shared_lines, taken_of_lines, Group};
use super::{LineTransfers, SharingShard};
use crate::model::site_counts::{group, Grouping};
use crate::model::{path_inside, written_in, Names};
use crate::Findings;

struct Tables<'t> {
    cache_lines: &'t Lines,
    passages: &'t SortedPassages,
    program: &'t Program,
    names: Names<'t>,
    /// Working directory of the recorded program.
    directory: &'t Path,
    line_bytes: u64,
    top: usize,
    /// Estimated cycles by site; none if time is not estimated.
    cycles: Option<&'t [u64]>,
    total: LineTransfers,
}

pub(super) fn findings(
    shard: SharingShard,
    trace: &Trace,
    line_bytes: u64,
    (groupings, cycles): (&[Grouping], Option<&[u64]>),
    top: usize,
) -> Findings {
    let program = trace.program();
    let passages = shard.passages.sorted();
    let presenter = Tables {
        cache_lines: &shard.lines,
        passages: &passages,
        program,
        names: Names::new(program),
        directory: Path::new(&trace.meta().working_directory),
        line_bytes,
        top,
        cycles,
        total: passages.total(),
    };
    let (cache_lines, all_lines) = most_shared_lines(&passages, top);
    let mut tables: Vec<Table> = groupings.iter().filter_map(|&by| presenter.table(by)).collect();
    tables.extend([
        presenter.pairs(),
        presenter.cache_lines(&cache_lines, all_lines),
        presenter.shared_lines(&cache_lines),
        presenter.thread_pairs(),
        presenter.sharing(all_lines),
    ]);
    if let Some(moments) = &shard.moments {
        tables.extend(presenter.over_time(moments));
        let ranks: HashMap<u32, usize> = cache_lines.iter().map(|group| group.key).zip(0..).collect();
        tables.extend(moments.lines(|line| ranks.get(&line).copied()));
    }
    Findings {
        answer: Some(presenter.answer()),
        tables,
    }
}

impl<'t> Tables<'t> {
    fn answer(&self) -> String {
        let fields = self.taken_by(|site| group::field_key(self.program, site));
        let Some(first) = fields.first() else {
            return "No cache line went from one thread to another".to_owned();
        };
        let location = self.program.location(self.program.site(first.main_site).location);
        let per_cent = |part: u64, whole: u64| part as f64 / whole as f64 * 100.0;
        let field = group::field_name(&self.names, first.key);
        format!(
            "{field}, taken at {}:{}, is {:.0} % of the hand-overs of cache lines between threads, {:.0} % of them false sharing",
            self.path(location.file),
            location.line,
            per_cent(first.counts.all(), self.total.all()),
            per_cent(first.counts.false_sharing, first.counts.all()),
        )
    }

    fn table(&self, grouping: Grouping) -> Option<Table> {
        Some(match grouping {
            Grouping::Field => self.fields(),
            Grouping::Variable => self.variables(),
            Grouping::Type => self.types(),
            Grouping::Line => self.lines(),
            Grouping::Function => self.functions(),
            Grouping::File => self.files(),
            Grouping::Kind | Grouping::Site | Grouping::Instruction | Grouping::Thread => return None,
        })
    }

    /// Groups the passages by what the site is that takes the line.
    fn taken_by<K: Eq + Hash + Clone>(&self, key: impl Fn(&Site) -> K) -> Vec<Group<K>> {
        let mut groups = group_by(self.passages, |passage| key(self.program.site(passage.to)));
        groups.sort_by_key(|group| Reverse(self.cycles_of(group)));
        groups
    }

    /// The cycles of all accesses of the group's sites; 0 if time is not estimated.
    fn cycles_of<K>(&self, group: &Group<K>) -> u64 {
        let cycles = |site: SiteId| self.cycles.and_then(|cycles| cycles.get(site.index()));
        group.sites().filter_map(cycles).sum()
    }

    /// A table of groups of sites, with their cycles if time is estimated.
    fn build_sites<K>(
        &self,
        name: &str,
        title: &str,
        groups: &[Group<K>],
        name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
    ) -> Table {
        let ranked_by = match self.cycles {
            Some(_) => "estimated cycles",
            None => "hand-overs",
        };
        self.build(name, &format!("{title} by {ranked_by}"), groups, |builder| {
            let builder = name_columns(builder);
            match self.cycles {
                Some(_) => builder.count(("cycles", "estimated cycles"), |group| self.cycles_of(group)),
                None => builder,
            }
        })
    }

    fn fields(&self) -> Table {
        let groups = self.taken_by(|site| group::field_key(self.program, site));
        self.build_sites("fields", "Fields", &groups, |builder| {
            builder.text("field", |group| group::field_name(&self.names, group.key))
        })
    }

    fn variables(&self) -> Table {
        let groups = self.taken_by(|site| group::variable_key(self.program, site));
        self.build_sites("variables", "Variables", &groups, |builder| {
            builder
                .text("variable", |group| self.names.text(group.key.variable))
                .text("kind", |group| group.key.kind.name())
                .text("function", |group| {
                    match self.program.string(group.key.function) {
                        "" => String::new(),
                        _ => self.names.function(group.key.function),
                    }
                })
        })
    }

    fn types(&self) -> Table {
        let groups = self.taken_by(|site| group::type_key(self.program, site));
        self.build_sites("types", "Types", &groups, |builder| {
            builder.text("type", |group| self.names.text(group.key))
        })
    }

    fn lines(&self) -> Table {
        let groups = self.taken_by(|site| group::line_key(self.program, site));
        self.build_sites("lines", "Lines", &groups, |builder| {
            builder
                .path("file", |group| self.path(group.key.0))
                .number("line", |group| (group.key.1 > 0).then_some(group.key.1))
                .text("function", |group| {
                    self.names.function_of(self.program.site(group.main_site))
                })
        })
    }

    fn functions(&self) -> Table {
        let groups = self.taken_by(|site| written_in(self.program, site));
        self.build_sites("functions", "Functions", &groups, |builder| {
            builder.text("function", |group| self.names.function(group.key))
        })
    }

    fn files(&self) -> Table {
        let groups = self.taken_by(|site| group::line_key(self.program, site).0);
        self.build_sites("files", "Files", &groups, |builder| {
            builder.path("file", |group| self.path(group.key))
        })
    }

    fn pairs(&self) -> Table {
        let place = |site| group::line_key(self.program, self.program.site(site));
        let pairs = group_by(self.passages, |passage| {
            let field = group::field_key(self.program, self.program.site(passage.to));
            (field, place(passage.from), place(passage.to))
        });
        self.build(
            "pairs",
            "Places between which lines go, by hand-overs",
            &pairs,
            |builder| {
                builder
                    .text("field", |group| group::field_name(&self.names, group.key.0))
                    .path("from", |group| self.place(group.key.1))
                    .path("to", |group| self.place(group.key.2))
            },
        )
    }

    fn place(&self, (file, line): (StringId, u32)) -> String {
        format!("{}:{line}", self.path(file))
    }

    fn cache_lines(&self, lines: &[Group<u32>], all: usize) -> Table {
        let line = |group: &Group<u32>| &self.cache_lines.all()[group.key as usize];
        self.build_part(
            "cache_lines",
            "Cache lines by hand-overs",
            lines,
            all,
            |builder| {
                builder
                    .number("process", |group| line(group).process)
                    .text(("line_address", "cache line"), |group| self.address(line(group)))
                    .text("field", |group| self.field(group.main_site))
                    .count("sharers", |group| self.cache_lines.sharers(line(group)).count())
                    .count("most_accesses", |group| self.most_accesses(line(group))[0])
                    .count("second_most", |group| self.most_accesses(line(group))[1])
                    .yes_or_no("uniform", |group| {
                        let [most, second] = self.most_accesses(line(group));
                        most < second.saturating_mul(2)
                    })
            },
        )
    }

    /// What each thread did with the lines that are shown, and how often it took them.
    fn shared_lines(&self, lines: &[Group<u32>]) -> Table {
        let taken = taken_of_lines(self.passages, lines.iter().map(|group| group.key));
        let all = self.cache_lines.all();
        let sharers = |line: u32| self.cache_lines.sharers(&all[line as usize]);
        let of_line = |group: &'_ Group<u32>| {
            let (line, site) = (group.key, group.main_site);
            let row = |sharer: &Sharer| {
                let counts = taken.get(&(line, sharer.thread)).copied().unwrap_or_default();
                (line, site, *sharer, counts)
            };
            let mut rows: Vec<_> = sharers(line).map(row).collect();
            rows.sort_by_key(|row| row.2.thread);
            rows
        };
        let rows: Vec<_> = lines.iter().flat_map(of_line).collect();
        let line = |number: u32| &all[number as usize];
        TableBuilder::new(
            "shared_lines",
            "Who accessed these cache lines, and took them",
            &rows,
        )
        .number("process", |row| line(row.0).process)
        .text(("line_address", "cache line"), |row| self.address(line(row.0)))
        .text(("field", "mostly for"), |row| self.field(row.1))
        .number(("to_stream", "stream"), |row| row.2.thread)
        .count("reads", |row| row.2.reads)
        .count("writes", |row| row.2.writes)
        .count(("read_hand_overs", "to read"), |row| row.3.reads)
        .count(("write_hand_overs", "to write"), |row| row.3.writes)
        .share("certain", |row| (row.3.certain, row.3.all()))
        .build()
    }

    fn thread_pairs(&self) -> Table {
        let pairs = group_by(self.passages, |passage| (passage.from_thread, passage.to_thread));
        self.build(
            "thread_pairs",
            "From thread to thread, by hand-overs",
            &pairs,
            |builder| {
                builder
                    .number("from_stream", |group| group.key.0)
                    .number("to_stream", |group| group.key.1)
            },
        )
    }

    /// The transfers of the fields and lines that are listed, and between threads, by time.
    fn over_time(&self, moments: &TransferMoments) -> [Table; 3] {
        let fields = self.rows_of(|site| group::field_key(self.program, site));
        let lines = self.rows_of(|site| group::line_key(self.program, site));
        [
            moments.table("field_moments", "Fields by thread and time", |site| {
                fields(self.program.site(site))
            }),
            moments.table("line_moments", "Lines by thread and time", |site| {
                lines(self.program.site(site))
            }),
            moments.thread_pairs(),
        ]
    }

    /// The row of each site in the table of such groups; none if it isn't listed.
    fn rows_of<K: Hash + Eq + Clone>(&self, key: impl Fn(&Site) -> K) -> impl Fn(&Site) -> Option<usize> {
        let groups = self.taken_by(&key);
        let listed = groups.into_iter().take(self.top).map(|group| group.key);
        let rows: HashMap<K, usize> = listed.zip(0..).collect();
        move |site| rows.get(&key(site)).copied()
    }

    fn field(&self, site: SiteId) -> String {
        group::field_name(
            &self.names,
            group::field_key(self.program, self.program.site(site)),
        )
    }

    fn sharing(&self, handed_over: usize) -> Table {
        let total = self.total;
        TableBuilder::new("sharing", "Sharing", &[()])
            .bytes(("line_bytes", "bytes of a cache line"), |()| self.line_bytes)
            .count(("cache_lines", "cache lines accessed"), |()| {
                self.cache_lines.count()
            })
            .count(("handed_over", "of them handed over"), |()| handed_over)
            .count(("read_hand_overs", "hand-overs to read"), |()| total.reads)
            .count(("write_hand_overs", "hand-overs to write"), |()| total.writes)
            .count(("invalidations", "copies invalidated"), |()| total.invalidations)
            .share(("false_sharing", "of them false sharing"), |()| {
                (total.false_sharing, total.all())
            })
            .share(("certain", "in an order that is certain"), |()| {
                (total.certain, total.all())
            })
            .as_record()
            .build()
    }

    /// Builds a table of the names of the rows' groups, followed by the transfers.
    fn build<K>(
        &self,
        name: &str,
        title: &str,
        groups: &[Group<K>],
        name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
    ) -> Table {
        let shown = &groups[..groups.len().min(self.top)];
        self.build_part(name, title, shown, groups.len(), name_columns)
    }

    /// Builds a table of those of `all` groups that are shown.
    fn build_part<K>(
        &self,
        name: &str,
        title: &str,
        shown: &[Group<K>],
        all: usize,
        name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
    ) -> Table {
        let title = top_title(title, shown.len(), all);
        name_columns(TableBuilder::new(name, title, shown).total_rows(all))
            .count(("read_hand_overs", "to read"), |group| group.counts.reads)
            .count(("write_hand_overs", "to write"), |group| group.counts.writes)
            .count(("invalidations", "invalidated"), |group| {
                group.counts.invalidations
            })
            .share("share", |group| (group.counts.all(), self.total.all()))
            .share(("false_sharing", "false"), |group| {
                (group.counts.false_sharing, group.counts.all())
            })
            .share("certain", |group| (group.counts.certain, group.counts.all()))
            .count("cache_lines", |group| group.lines)
            .count("threads", |group| group.threads.len())
            .build()
    }

    fn address(&self, line: &Line) -> String {
        format!("{:#x}", line.number * self.line_bytes)
    }

    /// Path of a file without the folder in which the program ran.
    fn path(&self, file: StringId) -> String {
        path_inside(self.directory, self.names.text(file)).to_owned()
    }

    /// Accesses of the two threads that have most.
    fn most_accesses(&self, line: &Line) -> [u64; 2] {
        let sharers = self.cache_lines.sharers(line);
        sharers.fold([0, 0], |[most, second], sharer| {
            let count = sharer.reads + sharer.writes;
            match count > most {
                true => [count, most],
                false => [most, second.max(count)],
            }
        })
    }
}
