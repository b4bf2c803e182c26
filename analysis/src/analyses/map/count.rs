//! Accesses and their bytes, counted where they are.

use std::ops::Range;

use trackway_trace::{Piece, SiteId};

use super::counting::{part_of, Counting, HIDDEN};
use crate::model::blocks::{parts_of_lanes, LaneRest};
use crate::model::moments::Moment;
use crate::model::site_counts::Measure;

/// Bytes are counted where they lie in pieces of this length.
const PIECE_BYTES: u64 = 64;

impl Counting<'_, '_> {
    /// Counts a part of a piece, which lies in one part of time.
    pub(super) fn count(&mut self, piece: &Piece, part: Range<u64>, bin: usize) {
        match piece {
            Piece::Accesses(range) => {
                let indices = part_of(range, &part);
                match self.map.measure {
                    Measure::Bytes => self.count_bytes(indices, bin),
                    _ => self.count_accesses(indices, bin),
                }
            }
            Piece::Run(run) => {
                let rests = parts_of_lanes(self.batch.lanes(run), part);
                rests.for_each(|rest| self.count_lane(rest, bin));
            }
        }
    }

    fn count_accesses(&mut self, indices: Range<usize>, bin: usize) {
        for index in indices {
            let site = self.batch.site[index];
            let address = self.batch.address[index];
            let owner = self.owner_at(site, address).what;
            if owner != HIDDEN {
                let row = self.grid.row_at(owner, self.batch.stream, address);
                self.grid.add(row, bin, self.map.writes[site.index()], 1);
                self.count_owner(site, owner, bin, 1);
            }
        }
    }

    #[inline]
    fn count_owner(&mut self, site: SiteId, owner: u32, bin: usize, accesses: u64) {
        if let Some(counts) = self.site_owners.as_deref_mut() {
            let moment = match self.map.moments {
                Some(_) => (self.batch.stream, self.map.moment_bin(bin)),
                None => Moment::default(),
            };
            counts.count(site, owner, moment, accesses);
        }
    }

    fn count_bytes(&mut self, indices: Range<usize>, bin: usize) {
        for index in indices {
            let (address, length) = (self.batch.address[index], self.batch.length(index));
            self.count_bytes_of(self.batch.site[index], address, length, bin);
        }
    }

    fn count_bytes_of(&mut self, site: SiteId, address: u64, length: u64, bin: usize) {
        for (address, length) in pieces(address, length, PIECE_BYTES) {
            let row = self.row_of(site, address);
            if row != HIDDEN {
                self.grid.add(row, bin, self.map.writes[site.index()], length);
            }
        }
    }

    /// Counts as many accesses at once as lie in the same row.
    fn count_lane(&mut self, mut rest: LaneRest, bin: usize) {
        let is_write = self.map.writes[rest.site.index()];
        let in_bytes = self.map.measure == Measure::Bytes;
        let weight = if in_bytes { rest.size } else { 1 };
        while rest.count > 0 && weight > 0 {
            let owner = self.owner_at(rest.site, rest.address);
            let (from, to) = match owner.what {
                HIDDEN => (owner.from, owner.to),
                _ => self.grid.same_granule(rest.address, (owner.from, owner.to)),
            };
            let count = match in_bytes {
                true => rest.lie_within(from, to),
                false => rest.begin_within(from, to),
            };
            match (count, owner.what) {
                // The bytes of this access may lie in several rows.
                (0, _) => self.count_bytes_of(rest.site, rest.address, rest.size, bin),
                (_, HIDDEN) => {}
                (_, owner) => {
                    let row = self.grid.row_at(owner, self.batch.stream, rest.address);
                    self.grid.add(row, bin, is_write, count.saturating_mul(weight));
                    self.count_owner(rest.site, owner, bin, count);
                }
            }
            rest.pass(count.max(1));
        }
    }
}

/// The parts of an access that lie in different lines, as address and length. Parts past the end of the address space
/// are left out.
pub(super) fn pieces(address: u64, length: u64, line_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let (mut address, mut rest) = (address, length);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let length = rest.min(line_bytes - address % line_bytes);
        let piece = (address, length);
        (address, rest) = match address.checked_add(length) {
            Some(next) => (next, rest - length),
            None => (address, 0),
        };
        Some(piece)
    })
}
