//! What the numbers rest on: the model's caches, and how much of the accesses could be attributed.

use trackway_report::{Table, TableBuilder, Unit};
use trackway_trace::{Program, Site};

use super::SiteCounters;
use crate::cache::{CacheGeometry, Caches, LevelTotals, Totals};

struct LevelRow {
    level: u64,
    geometry: CacheGeometry,
    reached: u64,
    totals: LevelTotals,
}

/// The simulated caches and what they came to.
pub(super) fn cache_table(caches: &Caches, counters: &[SiteCounters], totals: &Totals) -> Table {
    let mut total = SiteCounters::default();
    counters.iter().for_each(|counters| total += counters);
    let mut rows = Vec::new();
    for (index, level) in caches.levels().iter().enumerate() {
        let totals = totals.levels[index];
        rows.push(LevelRow {
            level: index as u64 + 1,
            geometry: level.geometry,
            reached: if index == 0 {
                total.accesses
            } else {
                totals.lookups
            },
            totals,
        });
    }
    TableBuilder::new("caches", "Cache model: LRU, one set of caches per thread", &rows)
        .integer("level", "level", Unit::Number, |row| row.level)
        .integer("size_bytes", "size", Unit::Bytes, |row| row.geometry.size_bytes)
        .integer("ways", "ways", Unit::Number, |row| row.geometry.ways.into())
        .integer("line_bytes", "line", Unit::Number, |row| {
            row.geometry.line_bytes.into()
        })
        .integer("reached", "reached by", Unit::Count, |row| row.reached)
        .integer("misses", "misses", Unit::Count, |row| row.totals.misses)
        .share("miss_ratio", "miss ratio", |row| (row.totals.misses, row.reached))
        .integer("write_backs", "write-backs", Unit::Count, |row| {
            row.totals.write_backs
        })
        .build()
}

#[derive(Default)]
struct Attribution {
    accesses: u64,
    bytes: u64,
    with_line: u64,
    with_variable: u64,
    with_field: u64,
    with_variable_or_field: u64,
    with_type: u64,
}

/// Shares of the executed accesses that have a line, a variable, a field, a type.
pub(super) fn attribution_table(program: &Program, counters: &[SiteCounters]) -> Table {
    let mut attribution = Attribution::default();
    for (site, counters) in program.sites.iter().zip(counters) {
        attribution.add(program, site, counters);
    }
    let rows = [attribution];
    TableBuilder::new("attribution", "Attribution", &rows)
        .integer("accesses", "accesses", Unit::Count, |row| row.accesses)
        .integer("bytes", "bytes", Unit::Bytes, |row| row.bytes)
        .share("with_line", "with a line", |row| (row.with_line, row.accesses))
        .share("with_variable_or_field", "with a variable or field", |row| {
            (row.with_variable_or_field, row.accesses)
        })
        .share("with_variable", "with a variable", |row| {
            (row.with_variable, row.accesses)
        })
        .share("with_field", "with a field", |row| (row.with_field, row.accesses))
        .share("with_type", "with a type", |row| (row.with_type, row.accesses))
        .as_record()
        .build()
}

impl Attribution {
    fn add(&mut self, program: &Program, site: &Site, counters: &SiteCounters) {
        let known = |id| !program.string(id).is_empty();
        let (variable, field) = (known(site.variable), known(site.field));
        let add_if = |sum: &mut u64, condition: bool| *sum += if condition { counters.accesses } else { 0 };
        self.accesses += counters.accesses;
        self.bytes = self.bytes.saturating_add(counters.bytes);
        add_if(&mut self.with_line, program.location(site.location).line > 0);
        add_if(&mut self.with_variable, variable);
        add_if(&mut self.with_field, field);
        add_if(&mut self.with_variable_or_field, variable || field);
        add_if(
            &mut self.with_type,
            known(site.object_type) || known(site.value_type),
        );
    }
}
