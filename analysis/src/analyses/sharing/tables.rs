//! What was shared: by field, by line of source, by the two places between which lines go, by cache line and by thread.

use std::hash::Hash;
use std::path::Path;

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Program, Site, SiteId, StringId, Trace};

use super::lines::{Line, Lines, Sharer};
use super::passages::SortedPassages;
use super::totals::{group_by, most_shared_lines, taken_of_lines, Group};
use super::{LineTransfers, SharingShard};
use crate::model::site_counts::{group, Grouping};
use crate::model::{written_in, Names};
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
    total: LineTransfers,
}

pub(super) fn findings(
    shard: SharingShard,
    trace: &Trace,
    line_bytes: u64,
    groupings: &[Grouping],
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
        group_by(self.passages, |passage| key(self.program.site(passage.to)))
    }

    fn fields(&self) -> Table {
        let groups = self.taken_by(|site| group::field_key(self.program, site));
        self.build("fields", "Fields by hand-overs", &groups, |builder| {
            builder.text("field", "field", |group| {
                group::field_name(&self.names, group.key)
            })
        })
    }

    fn variables(&self) -> Table {
        let groups = self.taken_by(|site| group::variable_key(self.program, site));
        self.build("variables", "Variables by hand-overs", &groups, |builder| {
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
        let groups = self.taken_by(|site| group::type_key(self.program, site));
        self.build("types", "Types by hand-overs", &groups, |builder| {
            builder.text("type", "type", |group| self.names.text(group.key))
        })
    }

    fn lines(&self) -> Table {
        let groups = self.taken_by(|site| group::line_key(self.program, site));
        self.build("lines", "Lines by hand-overs", &groups, |builder| {
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
        let groups = self.taken_by(|site| written_in(self.program, site));
        self.build("functions", "Functions by hand-overs", &groups, |builder| {
            builder.text("function", "function", |group| self.names.function(group.key))
        })
    }

    fn files(&self) -> Table {
        let groups = self.taken_by(|site| group::line_key(self.program, site).0);
        self.build("files", "Files by hand-overs", &groups, |builder| {
            builder.path("file", "file", |group| self.path(group.key))
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
                    .text("field", "field", |group| {
                        group::field_name(&self.names, group.key.0)
                    })
                    .path("from", "from", |group| self.place(group.key.1))
                    .path("to", "to", |group| self.place(group.key.2))
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
                    .integer("process", "process", Unit::Number, |group| {
                        line(group).process.into()
                    })
                    .text("line_address", "cache line", |group| self.address(line(group)))
                    .text("field", "field", |group| self.field(group.main_site))
                    .integer("sharers", "sharers", Unit::Count, |group| {
                        self.cache_lines.sharers(line(group)).count() as u64
                    })
                    .integer("most_accesses", "most accesses", Unit::Count, |group| {
                        self.most_accesses(line(group))[0]
                    })
                    .integer("second_most", "second most", Unit::Count, |group| {
                        self.most_accesses(line(group))[1]
                    })
                    .text("uniform", "uniform", |group| {
                        let [most, second] = self.most_accesses(line(group));
                        if most < second.saturating_mul(2) {
                            "yes"
                        } else {
                            "no"
                        }
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
        .integer("process", "process", Unit::Number, |row| {
            line(row.0).process.into()
        })
        .text("line_address", "cache line", |row| self.address(line(row.0)))
        .text("field", "mostly for", |row| self.field(row.1))
        .integer("to_stream", "stream", Unit::Number, |row| row.2.thread.into())
        .integer("reads", "reads", Unit::Count, |row| row.2.reads)
        .integer("writes", "writes", Unit::Count, |row| row.2.writes)
        .integer("read_hand_overs", "to read", Unit::Count, |row| row.3.reads)
        .integer("write_hand_overs", "to write", Unit::Count, |row| row.3.writes)
        .share("certain", "certain", |row| (row.3.certain, row.3.all()))
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
                    .integer("from_stream", "from stream", Unit::Number, |group| {
                        group.key.0.into()
                    })
                    .integer("to_stream", "to stream", Unit::Number, |group| group.key.1.into())
            },
        )
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
            .integer("line_bytes", "bytes of a cache line", Unit::Bytes, |()| {
                self.line_bytes
            })
            .integer("cache_lines", "cache lines accessed", Unit::Count, |()| {
                self.cache_lines.count()
            })
            .integer("handed_over", "of them handed over", Unit::Count, |()| {
                handed_over as u64
            })
            .integer("read_hand_overs", "hand-overs to read", Unit::Count, |()| {
                total.reads
            })
            .integer("write_hand_overs", "hand-overs to write", Unit::Count, |()| {
                total.writes
            })
            .integer("invalidations", "copies invalidated", Unit::Count, |()| {
                total.invalidations
            })
            .share("false_sharing", "of them false sharing", |()| {
                (total.false_sharing, total.all())
            })
            .share("certain", "in an order that is certain", |()| {
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
        let cut = if shown.len() < all {
            format!(", {} of {all}", shown.len())
        } else {
            String::new()
        };
        name_columns(TableBuilder::new(name, format!("{title}{cut}"), shown).total_rows(all))
            .integer("read_hand_overs", "to read", Unit::Count, |group| {
                group.counts.reads
            })
            .integer("write_hand_overs", "to write", Unit::Count, |group| {
                group.counts.writes
            })
            .integer("invalidations", "invalidated", Unit::Count, |group| {
                group.counts.invalidations
            })
            .share("share", "share", |group| (group.counts.all(), self.total.all()))
            .share("false_sharing", "false", |group| {
                (group.counts.false_sharing, group.counts.all())
            })
            .share("certain", "certain", |group| {
                (group.counts.certain, group.counts.all())
            })
            .integer("cache_lines", "cache lines", Unit::Count, |group| group.lines)
            .integer("threads", "threads", Unit::Count, |group| {
                group.threads.len() as u64
            })
            .build()
    }

    fn address(&self, line: &Line) -> String {
        format!("{:#x}", line.number * self.line_bytes)
    }

    /// Path of a file without the folder in which the program ran.
    fn path(&self, file: StringId) -> String {
        let text = self.names.text(file);
        let inside = Path::new(text).strip_prefix(self.directory).ok();
        inside.and_then(Path::to_str).unwrap_or(text).to_owned()
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
