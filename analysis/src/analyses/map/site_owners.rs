//! The owners of the memory that each site accesses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trackway_report::{Table, TableBuilder};

use super::owners::Owners;
use super::Map;
use crate::model::site_cells::SiteCells;
use crate::model::site_counts::SiteNames;

/// Rows of the table.
const MOST_ROWS: usize = 4000;

/// Accesses by site and owner of the memory.
pub(super) type SiteOwners = SiteCells<u32, u64>;

/// What a row of the table is about: field, variable and type, the memory's label and kind.
type Key = ([String; 4], &'static str);

/// The most accessed first.
pub(super) fn table(map: &Map, owners: &Owners, counts: &SiteOwners) -> Table {
    let program = map.trace.program();
    let names = SiteNames::new(program);
    let mut sums: BTreeMap<Key, u64> = BTreeMap::new();
    for (site, owner, accesses) in counts.iter() {
        let (site, kind) = (program.site(site), owners.list[owner as usize].kind);
        let name = [
            names.field(site),
            names.variable(site),
            names.type_name(site),
            map.names.label(kind),
        ];
        let sum = sums.entry((name, map.names.kind(kind))).or_default();
        *sum = sum.saturating_add(*accesses);
    }
    let mut rows: Vec<(Key, u64)> = sums.into_iter().collect();
    rows.sort_by_key(|(_, accesses)| Reverse(*accesses));
    let all = rows.len();
    rows.truncate(MOST_ROWS);
    TableBuilder::new("site_owners", "Memory by what it is accessed as", &rows)
        .total_rows(all)
        .text("field", |((name, _), _)| name[0].clone())
        .text("variable", |((name, _), _)| name[1].clone())
        .text("type", |((name, _), _)| name[2].clone())
        .text("memory", |((name, _), _)| name[3].clone())
        .text("kind", |((_, kind), _)| *kind)
        .count("accesses", |(_, accesses)| *accesses)
        .build()
}
