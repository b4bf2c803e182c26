//! The tables: one row per group, with accesses, bytes, and misses at each level.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::path::Path;

use trackway_report::{Table, TableBuilder};
use trackway_trace::{Program, Site, SiteId, StringId};

use crate::model::cache::Caches;
use crate::model::site_counts::group::{self, Group};
use crate::model::site_counts::{Estimates, Grouping, Measure, SiteCounters};
use crate::model::sources::SourceFiles;
use crate::model::{named, path_inside, written_in, Names};

/// What the tables are made from.
pub(super) struct Ranking<'r> {
    pub program: &'r Program,
    pub names: Names<'r>,
    pub counters: &'r [SiteCounters],
    /// Threads by the number of the stream.
    pub threads: &'r BTreeMap<u32, SiteCounters>,
    pub caches: &'r Caches,
    pub rank_by: Measure,
    /// Rows per table.
    pub top: usize,
    /// Working directory of the recorded program. Relative source paths may start there.
    pub working_directory: &'r Path,
    pub source_root: Option<&'r Path>,
    /// What the shares say of the whole run, if only bursts of it were recorded.
    pub estimates: Option<&'r Estimates>,
    /// Whether there are estimates of cycles.
    pub timed: bool,
}

impl Ranking<'_> {
    pub fn table(&self, grouping: Grouping) -> Table {
        match grouping {
            Grouping::Field => self.fields(),
            Grouping::Variable => self.variables(),
            Grouping::Type => self.types(),
            Grouping::Line => self.lines(),
            Grouping::Function => self.functions(),
            Grouping::File => self.files(),
            Grouping::Kind => self.kinds(),
            Grouping::Site => self.sites(),
            Grouping::Instruction => self.instructions(),
            Grouping::Thread => self.threads(),
        }
    }

    /// The sum over all sites.
    pub fn total(&self) -> SiteCounters {
        SiteCounters::sum(self.counters)
    }

    fn groups<K: Eq + Hash + Clone>(&self, key: impl Fn(SiteId, &Site) -> K) -> Vec<Group<K>> {
        group::group_by(self.program, self.counters, self.rank_by, key)
    }

    fn fields(&self) -> Table {
        let groups = self.groups(|_, site| group::field_key(self.program, site));
        self.build("fields", "Fields", &groups, |builder| {
            builder.text("field", |group| group::field_name(&self.names, group.key))
        })
    }

    fn variables(&self) -> Table {
        let groups = self.groups(|_, site| group::variable_key(self.program, site));
        self.build("variables", "Variables", &groups, |builder| {
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
        let groups = self.groups(|_, site| group::type_key(self.program, site));
        self.build("types", "Types", &groups, |builder| {
            builder.text("type", |group| self.names.text(group.key))
        })
    }

    fn lines(&self) -> Table {
        let groups = self.groups(|_, site| group::line_key(self.program, site));
        let sources = SourceFiles::new(self.program, self.working_directory, self.source_root);
        self.build("lines", "Lines", &groups, |builder| {
            builder
                .path("file", |group| self.file(group.key.0))
                .number("line", |group| known_line(group.key.1))
                .text("function", |group| self.function_of(group.main_site))
                .source("source", |group| {
                    sources.line(self.program.string(group.key.0), group.key.1)
                })
        })
    }

    fn functions(&self) -> Table {
        let groups = self.groups(|_, site| written_in(self.program, site));
        self.build("functions", "Functions", &groups, |builder| {
            builder.text("function", |group| self.names.function(group.key))
        })
    }

    fn files(&self) -> Table {
        let groups = self.groups(|_, site| group::line_key(self.program, site).0);
        self.build("files", "Files", &groups, |builder| {
            builder.path("file", |group| self.file(group.key))
        })
    }

    fn kinds(&self) -> Table {
        let groups = self.groups(|_, site| site.kind);
        self.build("kinds", "Kinds of access", &groups, |builder| {
            builder.text("kind", |group| group.key.name())
        })
    }

    fn sites(&self) -> Table {
        let groups = self.groups(|id, _| id);
        let site = |id: SiteId| self.program.site(id);
        let location = |id| self.program.location(site(id).location);
        self.build("sites", "Sites", &groups, |builder| {
            builder
                .number("site", |group| group.key.0)
                .text("kind", |group| site(group.key).kind.name())
                .text("field", |group| {
                    group::field_name(&self.names, group::field_key(self.program, site(group.key)))
                })
                .path("file", |group| self.file(location(group.key).file))
                .number("line", |group| known_line(location(group.key).line))
                .number("column", |group| known_line(location(group.key).column))
                .text("function", |group| self.function_of(group.key))
        })
    }

    fn instructions(&self) -> Table {
        let groups = self.groups(|id, _| group::instruction_key(self.program, id));
        self.build("instructions", "Instructions", &groups, |builder| {
            builder
                .text("instruction", |group| {
                    group::instruction_name(self.program, group.main_site)
                })
                .text("function", |group| self.function_of(group.main_site))
        })
    }

    fn threads(&self) -> Table {
        let groups = group::group_threads(self.threads, self.rank_by);
        self.build("threads", "Threads", &groups, |builder| {
            builder.number("stream", |group| group.key)
        })
    }

    /// A file's path, without the folder in which the program ran.
    fn file(&self, id: StringId) -> &str {
        path_inside(self.working_directory, named(self.program.string(id)))
    }

    fn function_of(&self, site: SiteId) -> String {
        self.names.function_of(self.program.site(site))
    }

    /// Cuts the groups to the top, adds the columns that name a group, then the numbers.
    fn build<K>(
        &self,
        name: &str,
        title: &str,
        groups: &[Group<K>],
        name_columns: impl FnOnce(TableBuilder<Group<K>>) -> TableBuilder<Group<K>>,
    ) -> Table {
        let title = format!("{title} by {}", self.rank_by);
        let builder = TableBuilder::top(name, title, groups, self.top)
            .total_rows(groups.len())
            .ranked_by(self.rank_by.column());
        let builder = name_columns(builder);
        self.add_numbers(builder).build()
    }

    fn add_numbers<'a, K>(&self, builder: TableBuilder<'a, Group<K>>) -> TableBuilder<'a, Group<K>> {
        let mut builder = builder
            .count("accesses", |group| group.counters.accesses)
            .bytes("bytes", |group| group.counters.bytes);
        for level in 0..self.caches.levels().len() {
            let (name, title) = (format!("l{}_misses", level + 1), format!("L{} misses", level + 1));
            builder = builder.count((name, title), |group| group.counters.outcome.misses[level]);
        }
        let walks = self.caches.tlbs().len().checked_sub(1);
        if let Some(level) = walks {
            builder = builder.count(("tlb_misses", "TLB misses"), |group| {
                group.counters.outcome.tlb_misses[level]
            });
        }
        if self.caches.any_shared() {
            builder = builder.count("invalidations", |group| group.counters.outcome.invalidations);
        }
        if self.timed {
            builder = builder.count(("cycles", "estimated cycles"), |group| group.counters.cycles);
        }
        let total = self.rank_by.of(&self.total());
        let builder = builder.share("share", |group| {
            let estimated = self.estimates.and_then(|estimates| estimates.share(&group.sites));
            estimated.or_else(|| (total > 0).then(|| self.rank_by.of(&group.counters) as f64 / total as f64))
        });
        let Some(estimates) = self.estimates else {
            return builder;
        };
        builder
            .share(("share_low", "at least"), |group| {
                Some(estimates.interval(&group.sites)?.low)
            })
            .share(("share_high", "at most"), |group| {
                Some(estimates.interval(&group.sites)?.high)
            })
    }
}

fn known_line(line: u32) -> Option<u64> {
    (line > 0).then_some(line.into())
}
