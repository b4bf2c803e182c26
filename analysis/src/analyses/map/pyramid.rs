//! The grid at lower and lower resolution.

use std::collections::BTreeMap;

use super::grid::{add, Grid, Row};

/// One resolution: granules and parts of time are 2^number times the finest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    pub number: u32,
    pub time_bins: usize,
    /// Logarithm of the bytes of a granule; from 64 on, that is all addresses.
    shift: u32,
    /// Owners' granules that were touched, of each thread.
    pub rows: usize,
    /// Cells of these rows that are not empty.
    pub cells: usize,
}

impl Level {
    pub fn granule_bytes(&self) -> u64 {
        1u64.checked_shl(self.shift).unwrap_or(u64::MAX)
    }
}

/// What happened to a granule in a part of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub level: u32,
    pub owner: u32,
    pub stream: u32,
    /// Address of the granule.
    pub address: u64,
    pub bin: usize,
    pub reads: u64,
    pub writes: u64,
}

/// Cells by row, and then by part of time.
type Cells = BTreeMap<(Row, usize), [u64; 2]>;

/// All resolutions, the finest first; the last one has one part of time.
pub(super) fn pyramid(grid: &Grid) -> Vec<(Level, Cells)> {
    let mut levels = Vec::new();
    let mut cells = finest(grid);
    for number in 0.. {
        let time_bins = ((grid.bins() - 1) >> number) + 1;
        let level = Level {
            number,
            time_bins,
            shift: grid.shift() + number,
            rows: row_count(&cells),
            cells: cells.len(),
        };
        let next = halved(&cells);
        levels.push((level, cells));
        if time_bins == 1 {
            break;
        }
        cells = next;
    }
    levels
}

fn finest(grid: &Grid) -> Cells {
    let mut cells = Cells::new();
    for (row, counts) in grid.rows() {
        let filled = counts.iter().enumerate().filter(|(_, counts)| **counts != [0, 0]);
        cells.extend(filled.map(|(bin, counts)| ((row, bin), *counts)));
    }
    cells
}

fn halved(cells: &Cells) -> Cells {
    let mut halved = Cells::new();
    for ((row, bin), counts) in cells {
        let granule = row.granule >> 1;
        let sum = halved.entry((Row { granule, ..*row }, bin >> 1)).or_default();
        add(std::slice::from_mut(sum), &[*counts]);
    }
    halved
}

fn row_count(cells: &Cells) -> usize {
    let mut latest = None;
    let mut is_new = |row: Row| latest.replace(row) != Some(row);
    cells.keys().filter(|(row, _)| is_new(*row)).count()
}

/// The cells of a level as they are listed.
pub(super) fn listed(level: &Level, cells: &Cells) -> Vec<Cell> {
    let cell = |((row, bin), counts): (&(Row, usize), &[u64; 2])| Cell {
        level: level.number,
        owner: row.owner,
        stream: row.stream,
        address: row.granule.checked_shl(level.shift).unwrap_or(0),
        bin: *bin,
        reads: counts[0],
        writes: counts[1],
    };
    cells.iter().map(cell).collect()
}
