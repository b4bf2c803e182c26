//! Samples as points of a picture that can be searched by time, memory, thread and address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use trackway_report::{Table, TableBuilder};

use super::owner::Owner;
use super::totals::{Objects, OwnerTotals, Spot};
use crate::model::moments::TimeBins;

/// Parts of time that are told apart at first, and bits of addresses that are not.
const FINEST_BINS: usize = 1024;
const FINEST_SHIFT: u32 = 6;
/// One step of coarser times follows this many steps of coarser addresses.
const STEPS_OF_ADDRESSES: u32 = 4;
/// Number of coarser scales. The last one has a single part of time.
const STEPS: u32 = 42;

/// Part of time, process, thread, rank of the owner, granule; without granule if the address isn't known.
type Place = (usize, u32, u32, u32, Option<u64>);

/// How finely times and addresses are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    bins: TimeBins,
    /// Granules are powers of two.
    shift: u32,
}

impl Scale {
    fn place(&self, spot: &Spot, ranks: &[u32]) -> Option<Place> {
        let bin = self.bins.of(spot.time_ns)?;
        let rank = *ranks.get(spot.owner as usize)?;
        let granule = spot.address.map(|address| address >> self.shift);
        Some((bin, spot.pid, spot.tid, rank, granule))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    loads: u64,
    stores: u64,
    weight: u64,
}

impl Objects {
    /// Samples by part of time, thread, memory and address; the scales of both; and the memory, whose `memory` is its
    /// rank by weight; no memory comes last. As finely as no more than `most` rows of samples allow.
    pub fn spot_tables(&self, most: usize) -> [Table; 3] {
        let owners = self.sampled_owners();
        let mut ranks = vec![u32::MAX; self.owners.len()];
        for (rank, (index, ..)) in (0..).zip(&owners) {
            ranks[*index] = rank;
        }
        let scale = self.scale(most, &ranks);
        [
            self.spots_table(scale, &ranks),
            self.scale_table(scale),
            self.memory_table(&owners),
        ]
    }

    /// Owners that samples access, by weight; after them, those of samples without access or with an unknown one.
    fn sampled_owners(&self) -> Vec<(usize, &Owner, &OwnerTotals)> {
        let all = self
            .owners
            .iter()
            .enumerate()
            .map(|(index, (owner, totals))| (index, owner, totals));
        let mut owners: Vec<_> = all.filter(|(.., totals)| totals.weight.samples > 0).collect();
        owners.sort_by_key(|(index, owner, totals)| (!owner.is_memory(), Reverse(totals.weight.sum), *index));
        owners
    }

    /// The finest scale with at most this many places, otherwise the coarsest.
    fn scale(&self, most: usize, ranks: &[u32]) -> Scale {
        let scale = |step: u32| Scale {
            bins: TimeBins::new(
                self.bins.first_ns,
                self.bins.last_ns,
                FINEST_BINS >> (step / STEPS_OF_ADDRESSES),
            ),
            shift: FINEST_SHIFT + step,
        };
        let fits = |scale: &Scale| {
            let mut places = HashSet::new();
            self.spots.iter().all(|spot| {
                places.extend(scale.place(spot, ranks));
                places.len() <= most
            })
        };
        (0..STEPS).map(scale).find(fits).unwrap_or_else(|| scale(STEPS))
    }

    fn spots_table(&self, scale: Scale, ranks: &[u32]) -> Table {
        let mut counts: BTreeMap<Place, Count> = BTreeMap::new();
        for spot in &self.spots {
            let Some(place) = scale.place(spot, ranks) else {
                continue;
            };
            let count = counts.entry(place).or_default();
            count.weight = count.weight.saturating_add(spot.weight);
            match spot.stores {
                true => count.stores += 1,
                false => count.loads += 1,
            }
        }
        let rows: Vec<(Place, Count)> = counts.into_iter().collect();
        TableBuilder::new("spots", "Samples by time, thread and address", &rows)
            .number(("time_bin", "part of time"), |row| row.0 .0)
            .number("process", |row| row.0 .1)
            .number("thread", |row| row.0 .2)
            .number("memory", |row| row.0 .3)
            .number("address", |row| Some(row.0 .4? << scale.shift))
            .count(("loads", "at loads"), |row| row.1.loads)
            .count(("stores", "at stores"), |row| row.1.stores)
            .count(("weight", &self.weight_title()), |row| row.1.weight)
            .build()
    }

    fn scale_table(&self, scale: Scale) -> Table {
        let first_ns = scale.bins.first_ns.saturating_sub(self.start_ns);
        TableBuilder::new("spot_scale", "Scales of times and addresses", &[()])
            .count(("time_bins", "parts of time"), |()| scale.bins.count())
            .count(("first_ns", "from ns"), |()| first_ns)
            .count(("bin_ns", "ns each"), |()| scale.bins.width_ns())
            .bytes(("granule_bytes", "bytes told apart"), |()| 1u64 << scale.shift)
            .text(("weight_unit", "weights are"), |()| self.unit.as_str())
            .as_record()
            .build()
    }

    fn memory_table(&self, owners: &[(usize, &Owner, &OwnerTotals)]) -> Table {
        let rows: Vec<_> = (0_u64..).zip(owners).collect();
        TableBuilder::new("spot_memory", "Memory in the picture", &rows)
            .number("memory", |row| row.0)
            .text("kind", |row| row.1 .1.kind())
            .text(("label", "name"), |row| row.1 .1.label())
            .text(("data_type", "type"), |row| row.1 .2.data_type())
            .bytes(("peak_bytes", "most live"), |row| row.1 .2.peak_bytes)
            .count("samples", |row| row.1 .2.weight.samples)
            .share("share", |row| (row.1 .2.weight.sum, self.weight.sum))
            .build()
    }
}
