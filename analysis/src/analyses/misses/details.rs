//! What a reader wants beside the numbers: the shares of each level, and the line of source of each field.

use std::cmp::Reverse;
use std::collections::HashMap;

use trackway_report::{Table, Value};
use trackway_trace::{Program, SiteId, Trace};

use super::Misses;
use crate::model::site_counts::group::{self, FieldKey};
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::sources::SourceFiles;
use crate::model::Names;
use crate::Findings;

/// Adds the details to the findings.
pub(super) fn add(misses: &Misses, findings: &mut Findings, counters: &[SiteCounters], trace: &Trace) {
    add_shares(misses, findings, counters);
    add_sources(misses, findings, counters, trace);
}

/// The share of the ranking measure is there already.
fn add_shares(misses: &Misses, findings: &mut Findings, counters: &[SiteCounters]) {
    let mut total = SiteCounters::default();
    counters.iter().for_each(|counters| total += counters);
    let is_ranking = |table: &&mut Table| table.column("share").is_some();
    for table in findings.tables.iter_mut().filter(is_ranking) {
        for level in 0..misses.caches().levels().len() {
            let measure = Measure::Misses(level);
            if measure != misses.rank_by() {
                let (number, all) = (level + 1, measure.of(&total));
                let (name, title) = (format!("l{number}_share"), format!("of L{number}"));
                *table = table.with_shares_beside(&measure.column(), &name, &title, all);
            }
        }
    }
}

/// The line of the site that contributes most to the field.
fn add_sources(misses: &Misses, findings: &mut Findings, counters: &[SiteCounters], trace: &Trace) {
    let fields = findings.tables.iter_mut().find(|table| table.name() == "fields");
    let Some(fields) = fields else { return };
    let program = trace.program();
    let main_sites = main_sites(misses, program, counters);
    let files = SourceFiles::of(trace, misses.source_root());
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

/// The main site of each field, by name: the one that ranks first; among equal ones the first.
fn main_sites(misses: &Misses, program: &Program, counters: &[SiteCounters]) -> HashMap<String, SiteId> {
    let rank = |site: SiteId| (misses.rank_by().rank_of(&counters[site.index()]), Reverse(site.0));
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
