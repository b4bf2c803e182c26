//! Reuse distances of groups of sites, such as fields, by thread and time.

use std::collections::HashMap;
use std::hash::Hash;

use trackway_report::{Table, TableBuilder};

use super::octaves::{last_bucket, with_columns, Octaves, Rounding, WholeOctaves};
use super::Reference;
use crate::model::moments::{rows_with_room, Moment};

/// Rows that are listed: groups that have no room are left out as a whole.
const MOST_ROWS: usize = 3_000;
/// With more groups and moments, of some 200 bytes each, groups aren't told apart by time.
const MOST_CELLS: usize = 1 << 18;
const NONE: u32 = u32::MAX;

/// What a group did at a moment.
#[derive(Debug, Clone, Default)]
struct Cell {
    accesses: u64,
    octaves: Octaves,
}

impl Cell {
    fn merge(&mut self, more: &Cell) {
        self.accesses = self.accesses.saturating_add(more.accesses);
        self.octaves.merge(&more.octaves);
    }
}

/// What each group did at each moment.
#[derive(Debug, Default)]
pub(super) struct GroupMoments {
    /// The group of each site. Empty if groups aren't asked for.
    groups: Vec<u32>,
    /// Whether there were too many cells, so that none is known any more.
    is_given_up: bool,
    moment: Moment,
    /// The cell of each site at the present moment, if it is known.
    present: Vec<u32>,
    places: HashMap<(u32, Moment), u32>,
    cells: Vec<Cell>,
}

impl GroupMoments {
    /// Groups of sites with the same key.
    pub fn set_groups<K: Hash + Eq>(&mut self, keys: impl Iterator<Item = K>) {
        let mut numbers: HashMap<K, u32> = HashMap::new();
        let mut number = |key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        };
        self.groups = keys.map(&mut number).collect();
        self.present = vec![NONE; self.groups.len()];
    }

    pub fn go_to(&mut self, moment: Moment) {
        self.moment = moment;
        self.present.fill(NONE);
    }

    #[inline]
    fn at(&mut self, site: usize) -> Option<&mut Cell> {
        let place = match *self.present.get(site)? {
            NONE => self.find(site)?,
            place => place,
        };
        self.cells.get_mut(place as usize)
    }

    #[cold]
    fn find(&mut self, site: usize) -> Option<u32> {
        let place = self.place_of(*self.groups.get(site)?, self.moment)?;
        self.present[site] = place;
        Some(place)
    }

    /// None if there are too many: then nothing is known any more.
    fn place_of(&mut self, group: u32, moment: Moment) -> Option<u32> {
        let next = self.cells.len() as u32;
        let place = *self.places.entry((group, moment)).or_insert(next);
        if place == next {
            self.cells.push(Cell::default());
        }
        if self.cells.len() > MOST_CELLS {
            self.give_up();
            return None;
        }
        Some(place)
    }

    fn give_up(&mut self) {
        *self = GroupMoments {
            is_given_up: true,
            ..GroupMoments::default()
        };
    }

    pub fn count_access(&mut self, site: usize, times: u64) {
        if let Some(cell) = self.at(site) {
            cell.accesses = cell.accesses.saturating_add(times);
        }
    }

    pub fn count_reference(&mut self, site: usize, times: u64) {
        if let Some(cell) = self.at(site) {
            cell.octaves.count_reference(times);
        }
    }

    pub fn enter(&mut self, site: usize, reference: &Reference, times: u64) {
        if let Some(cell) = self.at(site) {
            cell.octaves.enter(reference, times);
        }
    }

    /// Adds what the same groups did at other moments.
    pub fn merge(&mut self, from: &GroupMoments) {
        if self.groups.is_empty() && !self.is_given_up {
            self.groups.clone_from(&from.groups);
            self.present = vec![NONE; self.groups.len()];
        }
        if from.is_given_up {
            self.give_up();
        }
        for (&(group, moment), &place) in &from.places {
            let into = match self.is_given_up {
                true => None,
                false => self.place_of(group, moment),
            };
            let Some(into) = into else { return };
            self.cells[into as usize].merge(&from.cells[place as usize]);
        }
    }

    /// By the rows of a table, each the group of one of its sites. None if that isn't known.
    pub fn table(&self, name: &'static str, title: &str, sites: &[usize]) -> Option<Table> {
        if self.groups.is_empty() {
            return None;
        }
        let numbered = sites.iter().zip(0..);
        let row_of: HashMap<u32, u32> = numbered.map(|(site, row)| (self.groups[*site], row)).collect();
        let mut cells: Vec<(u32, Moment, &Cell)> = Vec::new();
        for (&(group, moment), &place) in &self.places {
            let row = row_of.get(&group);
            cells.extend(row.map(|row| (*row, moment, &self.cells[place as usize])));
        }
        cells.sort_by_key(|(row, moment, _)| (*row, *moment));
        let all = cells.len();
        cells.truncate(rows_with_room(cells.iter().map(|(row, ..)| *row), MOST_ROWS));
        Some(table((name, title), &rows(&cells), all))
    }
}

struct Row {
    row: u32,
    moment: Moment,
    accesses: u64,
    octaves: WholeOctaves,
}

/// In whole numbers, whose sums are those of each group.
fn rows(cells: &[(u32, Moment, &Cell)]) -> Vec<Row> {
    let of_group = |cells: &[(u32, Moment, &Cell)]| {
        let mut rounding = Rounding::new();
        let row = |(row, moment, cell): &(u32, Moment, &Cell)| Row {
            row: *row,
            moment: *moment,
            accesses: cell.accesses,
            octaves: rounding.next(&cell.octaves),
        };
        cells.iter().map(row).collect::<Vec<Row>>()
    };
    cells
        .chunk_by(|before, next| before.0 == next.0)
        .flat_map(of_group)
        .collect()
}

fn table((name, title): (&'static str, &str), rows: &[Row], all: usize) -> Table {
    let builder = TableBuilder::new(name, title, rows)
        .total_rows(all)
        .number("row", |row| row.row)
        .number("stream", |row| row.moment.0)
        .number("bin", |row| row.moment.1)
        .count("accesses", |row| row.accesses);
    let last = last_bucket(rows.iter().map(|row| &row.octaves));
    with_columns(builder, last, |row| &row.octaves).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(groups: &[u32], moments: u32) -> GroupMoments {
        let mut made = GroupMoments::default();
        made.set_groups(groups.iter());
        for bin in 0..moments {
            made.go_to((0, bin));
            (0..groups.len()).for_each(|site| made.count_access(site, 1));
        }
        made
    }

    #[test]
    fn sites_of_a_group_count_together() {
        let mut made = counted(&[7, 8, 7], 2);
        made.merge(&counted(&[7, 8, 7], 1));
        let table = made.table("fields", "Fields", &[1, 2]).unwrap();
        let column = |name| -> Vec<u64> {
            let rows = 0..table.row_count();
            rows.map(|row| table.integer(name, row).unwrap()).collect()
        };
        assert_eq!(column("row"), [0, 0, 1, 1]);
        assert_eq!(column("bin"), [0, 1, 0, 1]);
        assert_eq!(column("accesses"), [2, 1, 4, 2]);
    }

    #[test]
    fn groups_that_have_no_room_are_left_out_as_a_whole() {
        let moments = MOST_ROWS as u32 / 2 + 1;
        let made = counted(&[7, 8], moments);
        let table = made.table("fields", "Fields", &[0, 1]).unwrap();
        assert_eq!(table.row_count(), moments as usize);
        assert_eq!(table.total_rows(), 2 * moments as usize);
    }

    #[test]
    fn too_many_groups_and_moments_are_not_told_apart() {
        let made = counted(&[7, 8], MOST_CELLS as u32 / 2 + 1);
        assert!(made.table("fields", "Fields", &[0, 1]).is_none());
        let mut few = counted(&[7, 8], 1);
        few.merge(&made);
        few.merge(&counted(&[7, 8], 1));
        assert!(few.table("fields", "Fields", &[0, 1]).is_none());
    }
}
