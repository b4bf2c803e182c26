//! Misses with what a reader wants beside the numbers: the shares of each level, and the line of source behind each field.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use trackway_report::{Table, Value};
use trackway_trace::{Batch, Program, SiteId, Trace};

use crate::cache::Caches;
use crate::misses::group::{self, FieldKey};
use crate::misses::packed::PackedMisses;
use crate::misses::shard::MissesShard;
use crate::misses::{Grouping, Measure, Misses, SiteCounters};
use crate::names::Names;
use crate::partial::{Division, PartialError, Portable};
use crate::sources::SourceFiles;
use crate::{Analysis, Findings, Order, Part};

/// What [`Misses`] finds, with more columns.
#[derive(Debug, Clone)]
pub struct Offenders {
    misses: Misses,
    caches: Caches,
}

impl Offenders {
    /// One table for each of `groupings`, with the `top` rows by `rank_by`.
    pub fn new(caches: Caches, groupings: Vec<Grouping>, rank_by: Measure, top: usize) -> Offenders {
        Offenders {
            misses: Misses::new(caches.clone(), groupings, rank_by, top),
            caches,
        }
    }

    /// Looks for source files below this folder, too.
    pub fn with_sources_below(self, root: Option<&Path>) -> Offenders {
        Offenders {
            misses: self.misses.with_sources_below(root),
            ..self
        }
    }

    /// The share of the ranking measure is there already.
    fn add_shares(&self, findings: &mut Findings, counters: &[SiteCounters]) {
        let mut total = SiteCounters::default();
        counters.iter().for_each(|counters| total += counters);
        let is_ranking = |table: &&mut Table| table.column("share").is_some();
        for table in findings.tables.iter_mut().filter(is_ranking) {
            for level in 0..self.caches.levels().len() {
                let measure = Measure::Misses(level);
                if measure != self.misses.rank_by() {
                    let (number, all) = (level + 1, measure.of(&total));
                    let (name, title) = (format!("l{number}_share"), format!("of L{number}"));
                    *table = table.with_shares_beside(&measure.column(), &name, &title, all);
                }
            }
        }
    }

    /// The line of the site that contributes most to the field.
    fn add_sources(&self, findings: &mut Findings, counters: &[SiteCounters], trace: &Trace) {
        let fields = findings.tables.iter_mut().find(|table| table.name() == "fields");
        let Some(fields) = fields else { return };
        let program = trace.program();
        let main_sites = self.main_sites(program, counters);
        let files = SourceFiles::of(trace, self.misses.source_root());
        let line = |row| {
            let site = match fields.column("field")?.value(row) {
                Value::Text(name) => *main_sites.get(name)?,
                _ => return None,
            };
            let location = program.location(program.site(site).location);
            files.line(program.string(location.file), location.line)
        };
        let lines: Vec<Option<String>> = (0..fields.row_count()).map(line).collect();
        *fields = fields.with_sources_beside("field", &lines);
    }

    /// By the names of fields. Of sites that contribute equally it is that with more accesses, then the first.
    fn main_sites(&self, program: &Program, counters: &[SiteCounters]) -> HashMap<String, SiteId> {
        let rank = |site: SiteId| {
            let counters = &counters[site.index()];
            let contributes = self.misses.rank_by().of(counters);
            (contributes, counters.accesses, Reverse(site.0))
        };
        let larger = |one: SiteId, other: SiteId| if rank(other) > rank(one) { other } else { one };
        let mut of_keys: HashMap<FieldKey, SiteId> = HashMap::new();
        let executed = program.sites.iter().zip(counters).enumerate();
        for (index, (site, _)) in executed.filter(|(_, (_, counters))| counters.accesses > 0) {
            let id = SiteId(index as u32);
            let main = of_keys.entry(group::field_key(program, site)).or_insert(id);
            *main = larger(*main, id);
        }
        let names = Names::new(program);
        let mut of_names: HashMap<String, SiteId> = HashMap::new();
        for (key, id) in of_keys {
            let main = of_names.entry(group::field_name(&names, key)).or_insert(id);
            *main = larger(*main, id);
        }
        of_names
    }
}

impl Analysis for Offenders {
    type Shard = MissesShard;

    fn order(&self) -> Order {
        self.misses.order()
    }

    fn takes_runs(&self) -> bool {
        self.misses.takes_runs()
    }

    fn start_shard(&self) -> MissesShard {
        self.misses.start_shard()
    }

    fn most_parts(&self) -> u32 {
        self.misses.most_parts()
    }

    fn start_part(&self, part: Part) -> MissesShard {
        self.misses.start_part(part)
    }

    fn take_program(&self, shard: &mut MissesShard, program: &Program) {
        self.misses.take_program(shard, program);
    }

    fn take_batch(&self, shard: &mut MissesShard, batch: &Batch) {
        self.misses.take_batch(shard, batch);
    }

    fn merge(&self, into: &mut MissesShard, from: MissesShard) {
        self.misses.merge(into, from);
    }

    fn finish(&self, shard: MissesShard, trace: &Trace) -> Findings {
        let counters = shard.counters();
        let mut findings = self.misses.finish(shard, trace);
        self.add_shares(&mut findings, &counters);
        self.add_sources(&mut findings, &counters, trace);
        findings
    }
}

impl Portable for Offenders {
    type Packed = PackedMisses;

    fn division(&self) -> Division {
        self.misses.division()
    }

    fn start_range(&self) -> MissesShard {
        self.misses.start_range()
    }

    fn start_lines(&self, part: Part) -> MissesShard {
        self.misses.start_lines(part)
    }

    fn pack(&self, shard: MissesShard) -> PackedMisses {
        self.misses.pack(shard)
    }

    fn unpack(&self, packed: PackedMisses, program: &Program) -> Result<MissesShard, PartialError> {
        self.misses.unpack(packed, program)
    }
}
