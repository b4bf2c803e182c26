//! Totals of accesses by site.

use trackway_trace::{Batch, Lane, Run};

use super::columns::CountColumn;
use super::wanted::Chosen;

/// Each list is indexed by the number of the site; a list that no column needs stays empty.
#[derive(Default)]
pub struct Tally {
    pub accesses: Vec<u64>,
    pub bytes: Vec<u64>,
    /// `u64::MAX` and 0 where there is no access.
    pub lowest: Vec<u64>,
    pub highest: Vec<u64>,
    wants_bytes: bool,
    wants_addresses: bool,
}

impl Tally {
    pub fn new(sites: usize, columns: &[CountColumn]) -> Self {
        let wants_bytes = columns.contains(&CountColumn::Bytes);
        let wants_addresses =
            columns.contains(&CountColumn::Lowest) || columns.contains(&CountColumn::Highest);
        let room = |wanted: bool, value: u64| match wanted {
            true => vec![value; sites],
            false => Vec::new(),
        };
        Tally {
            accesses: vec![0; sites],
            bytes: room(wants_bytes, 0),
            lowest: room(wants_addresses, u64::MAX),
            highest: room(wants_addresses, 0),
            wants_bytes,
            wants_addresses,
        }
    }

    /// Adds all accesses of a batch, those of runs among them.
    pub fn add_batch(&mut self, batch: &Batch) {
        self.add_chosen(batch, &Chosen::Range(0..batch.len()));
        for run in &batch.runs {
            for lane in batch.lanes(run) {
                self.add_lane(lane, run);
            }
        }
    }

    /// Adds accesses of the columns.
    pub fn add_chosen(&mut self, batch: &Batch, chosen: &Chosen) {
        match chosen {
            Chosen::Range(range) => self.add_each(batch, range.clone()),
            Chosen::Some(indices) => self.add_each(batch, indices.iter().map(|index| *index as usize)),
        }
    }

    fn add_each(&mut self, batch: &Batch, indices: impl Iterator<Item = usize> + Clone) {
        for index in indices.clone() {
            self.accesses[batch.site[index].index()] += 1;
        }
        if self.wants_bytes {
            for index in indices.clone() {
                let bytes = &mut self.bytes[batch.site[index].index()];
                *bytes = bytes.saturating_add(batch.length(index));
            }
        }
        if self.wants_addresses {
            for index in indices {
                self.add_address(batch.site[index].index(), batch.address[index]);
            }
        }
    }

    fn add_address(&mut self, site: usize, address: u64) {
        self.lowest[site] = self.lowest[site].min(address);
        self.highest[site] = self.highest[site].max(address);
    }

    fn add_lane(&mut self, lane: &Lane, run: &Run) {
        let site = lane.site.index();
        self.accesses[site] = self.accesses[site].saturating_add(run.count);
        if self.wants_bytes {
            let bytes = u64::from(lane.size).saturating_mul(run.count);
            self.bytes[site] = self.bytes[site].saturating_add(bytes);
        }
        if self.wants_addresses {
            let last = run.count.saturating_sub(1);
            let turns = match goes_round(lane, last) {
                true => 1,
                false => last.max(1),
            };
            let turns = (0..=last).step_by(usize::try_from(turns).unwrap_or(usize::MAX));
            turns.for_each(|turn| self.add_address(site, lane.address_in(turn)));
        }
    }
}

/// Whether the lane's addresses wrap around the end of the address space.
fn goes_round(lane: &Lane, last: u64) -> bool {
    let distance = i128::from(lane.stride as i64) * i128::from(last);
    let end = i128::from(lane.address) + distance;
    u64::try_from(end).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::SiteId;

    #[test]
    fn lanes_may_go_either_way_and_round() {
        let lane = |address: u64, stride: i64| Lane {
            site: SiteId(0),
            size: 8,
            address,
            stride: stride as u64,
        };
        assert!(!goes_round(&lane(64, -8), 8));
        assert!(goes_round(&lane(64, -8), 9));
        assert!(!goes_round(&lane(u64::MAX - 16, 8), 2));
        assert!(goes_round(&lane(u64::MAX - 16, 8), 3));
    }
}
