//! The tables of regions that go into the code: lines, variables, blocks, calls.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::Path;

use trackway_report::{Table, TableBuilder};
use trackway_trace::{CodeBlock, LocationId, Program, SiteId, StringId, Trace};

use super::accesses::Accesses;
use super::tables::with_all_accesses;
use super::tally::{BlockTally, CallTally, Region};
use super::{Ranked, Regions};
use crate::model::site_counts::group::{field_key, field_name};
use crate::model::site_counts::Measure;
use crate::model::sources::SourceFiles;
use crate::model::{named, path_inside, written_in, Names};

/// What the tables are made from.
pub struct CodeTables<'r> {
    regions: &'r [Region],
    program: &'r Program,
    names: Names<'r>,
    working_directory: &'r Path,
    source_root: Option<&'r Path>,
    ranked: Ranked,
}

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct LineKey {
    file: StringId,
    line: u32,
    function: StringId,
}

/// A row for people: the region, what it is of, and its numbers.
struct Row<'r, K> {
    region: &'r str,
    key: K,
    executions: u64,
    accesses: Accesses,
}

impl<'r> CodeTables<'r> {
    pub fn new(regions: &'r Regions, trace: &'r Trace, ranked: Ranked) -> Self {
        CodeTables {
            regions: &regions.regions,
            program: trace.program(),
            names: Names::new(trace.program()),
            working_directory: trace.meta().working_directory.as_ref(),
            source_root: regions.source_root.as_deref(),
            ranked,
        }
    }

    pub fn program(&self) -> &'r Program {
        self.program
    }

    pub fn ranked(&self) -> Ranked {
        self.ranked
    }

    pub fn lines(&self) -> Table {
        let rows = self.rows(|region| self.lines_of(region));
        let sources = SourceFiles::new(self.program, self.working_directory, self.source_root);
        self.build("region_lines", "Lines", rows, |builder| {
            let builder = builder
                .path("file", |row: &Row<LineKey>| self.file(row.key.file))
                .number("line", |row| known(row.key.line))
                .text("function", |row| self.names.function(row.key.function))
                .count("executions", |row| row.executions);
            with_all_accesses(builder, |row| row.accesses).source("source", |row| {
                sources.line(self.program.string(row.key.file), row.key.line)
            })
        })
    }

    /// A line was executed as often as the block of it that was executed most.
    fn lines_of(&self, region: &Region) -> HashMap<LineKey, BlockTally> {
        let mut lines: HashMap<LineKey, BlockTally> = HashMap::new();
        for (block, tally) in self.blocks_of(region) {
            let sites = block.accesses.iter().map(|access| self.line_of_site(access.site));
            for key in sites.chain([self.line_of_block(block)]) {
                let line = lines.entry(key).or_default();
                line.executions = line.executions.max(tally.executions);
            }
        }
        for (site, accesses) in &region.code.sites {
            lines.entry(self.line_of_site(*site)).or_default().accesses += *accesses;
        }
        lines
    }

    fn line_of_site(&self, site: SiteId) -> LineKey {
        let site = self.program.site(site);
        self.line(site.location, written_in(self.program, site))
    }

    fn line_of_block(&self, block: &CodeBlock) -> LineKey {
        self.line(block.location, self.function_of(block))
    }

    fn line(&self, location: LocationId, function: StringId) -> LineKey {
        let location = self.program.location(location);
        LineKey {
            file: location.file,
            line: location.line,
            function,
        }
    }

    /// The function in whose text it stands.
    fn function_of(&self, block: &CodeBlock) -> StringId {
        let location = self.program.location(block.location);
        match self.program.string(location.function) {
            "" => self.program.function(block.function).linkage_name,
            _ => location.function,
        }
    }

    fn blocks_of<'t>(&self, region: &'t Region) -> impl Iterator<Item = (&'r CodeBlock, &'t BlockTally)> {
        let blocks = &self.program.blocks;
        let of_region = region.code.blocks.iter();
        of_region.map(move |(id, tally)| (&blocks[*id as usize], tally))
    }

    pub fn variables(&self) -> Table {
        let rows = self.rows(|region| {
            let mut fields: HashMap<_, BlockTally> = HashMap::new();
            for (site, accesses) in &region.code.sites {
                let key = field_key(self.program, self.program.site(*site));
                fields.entry(key).or_default().accesses += *accesses;
            }
            let names = fields.into_iter();
            let named = names.map(|(key, tally)| (field_name(&self.names, key), tally));
            sum_of_namesakes(named)
        });
        self.build("region_variables", "Variables and fields", rows, |builder| {
            let builder = builder.text("field", |row: &Row<String>| row.key.clone());
            with_all_accesses(builder, |row| row.accesses)
        })
    }

    pub fn blocks(&self) -> Table {
        let rows = self.rows(|region| region.code.blocks.clone());
        let block = |row: &Row<u32>| &self.program.blocks[row.key as usize];
        let place = |row: &Row<u32>| self.program.location(block(row).location);
        self.build("blocks", "Blocks", rows, |builder| {
            let builder = builder
                .number("block", |row| row.key)
                .text("function", |row| {
                    let function = self.program.function(block(row).function);
                    self.names.function(function.linkage_name)
                })
                .path("file", |row| self.file(place(row).file))
                .number("line", |row| known(place(row).line))
                .number("column", |row| known(place(row).column))
                .count("executions", |row| row.executions);
            with_all_accesses(builder, |row| row.accesses)
        })
    }

    pub fn external_calls(&self) -> Table {
        let mut rows: Vec<(&str, String, CallTally)> = Vec::new();
        for region in self.regions {
            // Different functions may have one name for people.
            let mut named: BTreeMap<String, CallTally> = BTreeMap::new();
            for (name, tally) in &region.code.calls {
                *named.entry(self.callee(*name)).or_default() += *tally;
            }
            rows.extend(
                named
                    .into_iter()
                    .map(|(name, tally)| (&*region.name, name, tally)),
            );
        }
        // Stable: equal rows keep the order of regions.
        rows.sort_by_key(|(_, _, tally)| Reverse((tally.time_ns, tally.calls)));
        let is_timed = |tally: &CallTally| tally.timed_calls > 0;
        TableBuilder::top("external_calls", "External calls", &rows, self.ranked.top)
            .total_rows(rows.len())
            .ranked_by("time_ns")
            .text("region", |(region, _, _)| *region)
            .text("function", |(_, name, _)| name.clone())
            .count("calls", |(_, _, tally)| tally.calls)
            .count(("timed_calls", "of them timed"), |(_, _, tally)| {
                tally.timed_calls
            })
            .count(("time_ns", "time (ns)"), |(_, _, tally)| {
                is_timed(tally).then_some(tally.time_ns)
            })
            .build()
    }

    fn callee(&self, name: StringId) -> String {
        match self.program.string(name) {
            "" => "(indirect)".into(),
            _ => self.names.function(name),
        }
    }

    /// The rows of all regions, the greatest first.
    fn rows<K: Eq + Hash + Ord + Clone>(
        &self,
        of_region: impl Fn(&Region) -> HashMap<K, BlockTally>,
    ) -> Vec<Row<'r, K>> {
        let mut rows: Vec<Row<K>> = Vec::new();
        for region in self.regions {
            let mut own: Vec<(K, BlockTally)> = of_region(region).into_iter().collect();
            own.sort_by(|(one, _), (other, _)| one.cmp(other));
            rows.extend(own.into_iter().map(|(key, tally)| Row {
                region: &region.name,
                key,
                executions: tally.executions,
                accesses: tally.accesses,
            }));
        }
        let measure = |accesses: &Accesses| match self.ranked.by {
            Measure::Accesses => accesses.accesses,
            _ => accesses.bytes,
        };
        // Stable: equal rows keep the order of regions.
        rows.sort_by_key(|row| Reverse((measure(&row.accesses), row.executions)));
        rows
    }

    /// Cuts the rows to the top, names the regions, and adds the columns.
    fn build<K>(
        &self,
        name: &str,
        title: &str,
        rows: Vec<Row<'r, K>>,
        columns: impl for<'a> FnOnce(TableBuilder<'a, Row<'r, K>>) -> TableBuilder<'a, Row<'r, K>>,
    ) -> Table {
        let title = format!("{title} by {}", self.ranked.by);
        let builder = TableBuilder::top(name, title, &rows, self.ranked.top)
            .total_rows(rows.len())
            .ranked_by(self.ranked.by.column())
            .text("region", |row| row.region);
        columns(builder).build()
    }

    /// A file's path, without the folder in which the program ran.
    fn file(&self, id: StringId) -> &'r str {
        path_inside(self.working_directory, named(self.program.string(id)))
    }
}

fn known(number: u32) -> Option<u64> {
    (number > 0).then_some(number.into())
}

/// Different things may have one name for people.
fn sum_of_namesakes(named: impl Iterator<Item = (String, BlockTally)>) -> HashMap<String, BlockTally> {
    let mut sums: HashMap<String, BlockTally> = HashMap::new();
    for (name, tally) in named {
        let sum = sums.entry(name).or_default();
        sum.executions = sum.executions.saturating_add(tally.executions);
        sum.accesses += tally.accesses;
    }
    sums
}
