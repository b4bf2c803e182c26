//! Samples as a picture of addresses by time.

use std::collections::{BTreeMap, BTreeSet};

use trackway_report::{Table, TableBuilder};

use super::totals::{Objects, Spot};

/// Most granules of addresses. The finest granules that stay within it are used.
const MOST_GRANULES: usize = 4096;
const FINEST_SHIFT: u32 = 6;
const COARSEST_SHIFT: u32 = 40;

/// Which samples are shown.
#[derive(Clone, Debug, Default)]
pub struct PictureView {
    /// Shows only samples of this thread, by the system's id.
    pub thread: Option<u32>,
    /// Shows only memory whose name, or place, contains this text.
    pub name: Option<String>,
}

/// Samples of a view, and how finely their addresses are told apart.
pub struct Picture<'o> {
    objects: &'o Objects,
    spots: Vec<Spot>,
    shift: u32,
}

/// Process, owner, granule and part of time.
type Cell = (u32, u32, u64, usize);

impl<'o> Picture<'o> {
    pub fn new(objects: &'o Objects, view: &PictureView) -> Self {
        let shown = |spot: &&Spot| {
            let owner = objects
                .owners
                .get_index(spot.owner as usize)
                .map(|(owner, _)| owner);
            let is_named = |name: &String| owner.is_some_and(|owner| owner.label().contains(name.as_str()));
            view.thread.is_none_or(|tid| tid == spot.tid) && view.name.as_ref().is_none_or(is_named)
        };
        let spots: Vec<Spot> = objects.spots.iter().filter(shown).copied().collect();
        let granules = |shift: &u32| {
            let all = spots
                .iter()
                .filter_map(|spot| Some((spot.pid, spot.address? >> shift)));
            all.collect::<BTreeSet<_>>().len()
        };
        let shift = (FINEST_SHIFT..COARSEST_SHIFT).find(|shift| granules(shift) <= MOST_GRANULES);
        Picture {
            objects,
            spots,
            shift: shift.unwrap_or(COARSEST_SHIFT),
        }
    }

    /// Samples by memory and time, as [`trackway_report::HeatMap::from_cells`] takes them.
    pub fn cells(&self) -> Table {
        let bins = &self.objects.bins;
        let mut cells: BTreeMap<Cell, [u64; 2]> = BTreeMap::new();
        for spot in &self.spots {
            let (Some(bin), Some(address)) = (bins.of(spot.time_ns), spot.address) else {
                continue;
            };
            let cell = (spot.pid, spot.owner, address >> self.shift, bin);
            cells.entry(cell).or_default()[usize::from(spot.stores)] += 1;
        }
        let cells: Vec<(Cell, [u64; 2])> = cells.into_iter().collect();
        let label = |owner: u32| match self.objects.owners.get_index(owner as usize) {
            Some((owner, _)) => owner.label(),
            None => String::new(),
        };
        let from_ns = |bin: usize| bins.start_ns(bin, 0).saturating_sub(self.objects.start_ns);
        TableBuilder::new("cells", "Samples by memory and time", &cells)
            .number("level", |_| 0u32)
            .number("process", |(cell, _)| cell.0)
            .number("owner", |(cell, _)| cell.1)
            .text(("name", "memory"), |(cell, _)| label(cell.1))
            .number("address", |(cell, _)| cell.2 << self.shift)
            .bytes(("granule_bytes", "bytes"), |_| 1u64 << self.shift)
            .count("from_ns", |(cell, _)| from_ns(cell.3))
            .count(("width_ns", "width (ns)"), |_| bins.width_ns())
            .count(("reads", "at loads"), |(_, counts)| counts[0])
            .count(("writes", "at stores"), |(_, counts)| counts[1])
            .build()
    }
}
