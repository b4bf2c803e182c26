//! The finest cells that are told apart.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::cache::LineHash;

/// Logarithm of the bytes of the smallest granule.
const FINEST_SHIFT: u32 = 6;
const COARSEST_SHIFT: u32 = 63;

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

/// Reads and writes of each row in each part of time. All granules are of one size, a power of two, that doubles when
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
    /// Grows when rows get other numbers.
    edition: u32,
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
            edition: 0,
        }
    }

    pub fn shift(&self) -> u32 {
        self.shift
    }

    pub fn edition(&self) -> u32 {
        self.edition
    }

    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The row of an address. May change the size of granules.
    pub fn row_at(&mut self, owner: u32, stream: u32, address: u64) -> u32 {
        if self.rows.len() >= self.limit && !self.numbers.contains_key(&self.row(owner, stream, address)) {
            self.coarsen();
        }
        let row = self.row(owner, stream, address);
        if let Some(&number) = self.numbers.get(&row) {
            return number;
        }
        self.push(row)
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
        self.edition = self.edition.wrapping_add(1);
        if self.shift == COARSEST_SHIFT {
            self.limit = self.limit.max(self.rows.len() * 2);
        }
    }

    #[inline(always)]
    pub fn add(&mut self, row: u32, bin: usize, is_write: bool, count: u64) {
        self.cells[row as usize * self.bins + bin][usize::from(is_write)] += count;
    }

    /// Rows with their cells.
    pub fn rows(&self) -> impl Iterator<Item = (Row, &[[u64; 2]])> {
        self.rows.iter().copied().zip(self.cells.chunks(self.bins))
    }
}

fn add(sums: &mut [[u64; 2]], more: &[[u64; 2]]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        sum[0] += more[0];
        sum[1] += more[1];
    }
}
