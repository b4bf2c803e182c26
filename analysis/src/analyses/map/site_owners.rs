//! The owners of the memory that each site accesses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use trackway_report::{Table, TableBuilder};
use trackway_trace::SiteId;

use super::owners::Owners;
use super::Map;
use crate::model::site_counts::SiteNames;

/// Rows of the table.
const MOST_ROWS: usize = 4000;

/// Accesses by site and owner of the memory.
#[derive(Debug, Default)]
pub(super) struct SiteOwners {
    /// For each site the owner that was counted last, and its place.
    latest: Vec<Option<(u32, u32)>>,
    index: HashMap<(u32, u32), u32>,
    cells: Vec<((u32, u32), u64)>,
}

impl SiteOwners {
    #[inline]
    pub fn add(&mut self, site: SiteId, owner: u32, accesses: u64) {
        let index = site.index();
        if self.latest.len() <= index {
            self.latest.resize(index + 1, None);
        }
        let place = match self.latest[index] {
            Some((latest, place)) if latest == owner => place,
            _ => self.find(site, owner),
        };
        let count = &mut self.cells[place as usize].1;
        *count = count.saturating_add(accesses);
    }

    fn find(&mut self, site: SiteId, owner: u32) -> u32 {
        let next = self.cells.len() as u32;
        let key = (site.0, owner);
        let place = *self.index.entry(key).or_insert(next);
        if place == next {
            self.cells.push((key, 0));
        }
        self.latest[site.index()] = Some((owner, place));
        place
    }
}

/// What a row of the table is about: field, variable and type, the memory's label and kind.
type Key = ([String; 4], &'static str);

/// The most accessed first.
pub(super) fn table(map: &Map, owners: &Owners, counts: &SiteOwners) -> Table {
    let program = map.trace.program();
    let names = SiteNames::new(program);
    let mut sums: BTreeMap<Key, u64> = BTreeMap::new();
    for &((site, owner), accesses) in &counts.cells {
        let (site, kind) = (&program.sites[site as usize], owners.list[owner as usize].kind);
        let name = [
            names.field(site),
            names.variable(site),
            names.type_name(site),
            map.names.label(kind),
        ];
        let sum = sums.entry((name, map.names.kind(kind))).or_default();
        *sum = sum.saturating_add(accesses);
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
