//! Something kept for each site and each key that it comes with, such as its threads.

use std::collections::HashMap;
use std::hash::Hash;

use trackway_trace::SiteId;

use crate::model::cache::LineHash;

#[derive(Debug)]
pub(crate) struct SiteCells<K, T> {
    /// For each site its last key, and the cell's place: mostly the next access has the same.
    latest: Vec<Option<(K, u32)>>,
    places: HashMap<(SiteId, K), u32, LineHash>,
    cells: Vec<(SiteId, K, T)>,
}

impl<K, T> Default for SiteCells<K, T> {
    fn default() -> SiteCells<K, T> {
        SiteCells {
            latest: Vec::new(),
            places: HashMap::default(),
            cells: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash, T: Default> SiteCells<K, T> {
    #[inline]
    pub fn at(&mut self, site: SiteId, key: K) -> &mut T {
        let index = site.index();
        if self.latest.len() <= index {
            self.latest.resize(index + 1, None);
        }
        let place = match self.latest[index] {
            Some((latest, place)) if latest == key => place,
            _ => self.find(site, key),
        };
        &mut self.cells[place as usize].2
    }

    fn find(&mut self, site: SiteId, key: K) -> u32 {
        let next = self.cells.len() as u32;
        let place = *self.places.entry((site, key)).or_insert(next);
        if place == next {
            self.cells.push((site, key, T::default()));
        }
        self.latest[site.index()] = Some((key, place));
        place
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (SiteId, K, &T)> {
        self.cells.iter().map(|(site, key, cell)| (*site, *key, cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_site_has_a_cell_for_each_key() {
        let mut cells: SiteCells<char, u32> = SiteCells::default();
        for (site, key) in [(5, 'a'), (5, 'a'), (5, 'b'), (0, 'a'), (5, 'a')] {
            *cells.at(SiteId(site), key) += 1;
        }
        let found: Vec<(u32, char, u32)> = cells
            .iter()
            .map(|(site, key, count)| (site.0, key, *count))
            .collect();
        assert_eq!(found, [(5, 'a', 3), (5, 'b', 1), (0, 'a', 1)]);
    }
}
