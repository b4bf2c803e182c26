//! The finest cells that are told apart.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::model::cache::LineHash;

/// Logarithm of the bytes of the smallest granule.
const FINEST_SHIFT: u32 = 6;
const COARSEST_SHIFT: u32 = 63;
/// A power of two.
const RECENT_ROWS: usize = 8192;
const NO_ROW: u32 = u32::MAX;

/// The addresses of a row: a granule, as far as it is the owner's, accessed by a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub owner: u32,
    pub granule: u64,
    pub stream: u32,
}

impl Hash for Row {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.owner) << 32 | u64::from(self.stream));
        state.write_u64(self.granule);
    }
}

/// Reads and writes of each row in each part of time. All granules have the same size, a power of two. It doubles when
/// there are too many rows.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    bins: usize,
    limit: usize,
    /// Logarithm of the bytes of a granule.
    shift: u32,
    rows: Vec<Row>,
    numbers: HashMap<Row, u32, LineHash>,
    /// Row by row.
    cells: Vec<[u64; 2]>,
    /// Rows that were asked for, each where its granule, owner and thread put it.
    recent: Vec<(Row, u32)>,
}

impl Grid {
    pub fn new(bins: usize, limit: usize) -> Self {
        Grid {
            bins,
            limit: limit.max(1),
            shift: FINEST_SHIFT,
            rows: Vec::new(),
            numbers: HashMap::default(),
            cells: Vec::new(),
            recent: vec![(NOWHERE, NO_ROW); RECENT_ROWS],
        }
    }

    pub fn shift(&self) -> u32 {
        self.shift
    }

    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The row of an address. May change the size of granules.
    #[inline(always)]
    pub fn row_at(&mut self, owner: u32, stream: u32, address: u64) -> u32 {
        let row = self.row(owner, stream, address);
        match self.recent[recent_index(row)] {
            (known, number) if known == row && number != NO_ROW => number,
            _ => self.find_row(owner, stream, address),
        }
    }

    #[inline(never)]
    fn find_row(&mut self, owner: u32, stream: u32, address: u64) -> u32 {
        if self.rows.len() >= self.limit && !self.numbers.contains_key(&self.row(owner, stream, address)) {
            self.coarsen();
        }
        let row = self.row(owner, stream, address);
        let number = match self.numbers.get(&row) {
            Some(&number) => number,
            None => self.push(row),
        };
        self.recent[recent_index(row)] = (row, number);
        number
    }

    /// The part of some addresses that lies in the granule of one of them. `to` is past the last one; 0 is the end of
    /// the address space.
    #[inline]
    pub fn same_granule(&self, address: u64, (from, to): (u64, u64)) -> (u64, u64) {
        let first = address >> self.shift << self.shift;
        let last = first | ((1 << self.shift) - 1);
        let last = last.min(to.wrapping_sub(1));
        (first.max(from), last.wrapping_add(1))
    }

    fn row(&self, owner: u32, stream: u32, address: u64) -> Row {
        Row {
            owner,
            granule: address >> self.shift,
            stream,
        }
    }

    fn push(&mut self, row: Row) -> u32 {
        let number = self.rows.len() as u32;
        self.rows.push(row);
        self.numbers.insert(row, number);
        self.cells.resize(self.rows.len() * self.bins, [0; 2]);
        number
    }

    /// Doubles granules until a quarter of the rows may be new. If owners and threads alone are more, so be it.
    fn coarsen(&mut self) {
        while self.rows.len() > self.limit / 4 * 3 && self.shift < COARSEST_SHIFT {
            let (rows, cells) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.cells));
            self.numbers.clear();
            self.shift += 1;
            for (row, cells) in rows.into_iter().zip(cells.chunks(self.bins)) {
                let granule = row.granule >> 1;
                let row = Row { granule, ..row };
                let number = match self.numbers.get(&row) {
                    Some(&number) => number,
                    None => self.push(row),
                };
                add(&mut self.cells[number as usize * self.bins..], cells);
            }
        }
        self.recent.fill((NOWHERE, NO_ROW));
        if self.shift == COARSEST_SHIFT {
            self.limit = self.limit.max(self.rows.len() * 2);
        }
    }

    #[inline(always)]
    pub fn add(&mut self, row: u32, bin: usize, is_write: bool, count: u64) {
        let cell = &mut self.cells[row as usize * self.bins + bin][usize::from(is_write)];
        *cell = cell.saturating_add(count);
    }

    /// Rows with their cells.
    pub fn rows(&self) -> impl Iterator<Item = (Row, &[[u64; 2]])> {
        self.rows.iter().copied().zip(self.cells.chunks(self.bins))
    }
}

const NOWHERE: Row = Row {
    owner: 0,
    granule: 0,
    stream: 0,
};

#[inline(always)]
fn recent_index(row: Row) -> usize {
    let spread = row.owner.wrapping_mul(0x9E37) ^ row.stream.wrapping_mul(0x79B9);
    (row.granule as usize ^ spread as usize) & (RECENT_ROWS - 1)
}

pub(super) fn add(sums: &mut [[u64; 2]], more: &[[u64; 2]]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        sum[0] = sum[0].saturating_add(more[0]);
        sum[1] = sum[1].saturating_add(more[1]);
    }
}
