//! One level: sets of tags, the most recently used first.

use super::CacheGeometry;

/// Marks an empty way. No line has this number: line numbers are addresses shifted right by at least 2.
const EMPTY: u64 = u64::MAX;

/// A set-associative cache with LRU replacement.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// `sets` × `ways` line numbers, each set from the most to the least recently used.
    lines: Vec<u64>,
    ways: usize,
    sets: SetCount,
    /// Logarithm of the line's bytes.
    line_shift: u32,
}

/// How a line number becomes a set number.
#[derive(Debug, Clone, Copy)]
enum SetCount {
    /// Sets are a power of two: the mask.
    Mask(u64),
    Modulus(u64),
}

impl Level {
    pub(super) fn new(geometry: CacheGeometry) -> Level {
        let sets = geometry.sets();
        Level {
            lines: vec![EMPTY; (sets * u64::from(geometry.ways)) as usize],
            ways: geometry.ways as usize,
            sets: if sets.is_power_of_two() {
                SetCount::Mask(sets - 1)
            } else {
                SetCount::Modulus(sets)
            },
            line_shift: geometry.line_bytes.trailing_zeros(),
        }
    }

    #[inline]
    pub(super) fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// Uses the line; says whether it was there. If not, it takes the place of the least recently used of its set.
    #[inline(always)]
    pub(super) fn touch(&mut self, line: u64) -> bool {
        let set = match self.sets {
            SetCount::Mask(mask) => line & mask,
            SetCount::Modulus(sets) => line % sets,
        };
        let start = set as usize * self.ways;
        let ways = &mut self.lines[start..start + self.ways];
        if ways[0] == line {
            return true;
        }
        // The usual associativities get code of their own, in which all ways are compared at once.
        match ways.len() {
            4 => promote::<4>(ways, line),
            8 => promote::<8>(ways, line),
            12 => promote::<12>(ways, line),
            16 => promote::<16>(ways, line),
            _ => promote_any(ways, line),
        }
    }
}

#[inline(always)]
fn promote<const WAYS: usize>(ways: &mut [u64], line: u64) -> bool {
    let Some(ways) = ways.first_chunk_mut::<WAYS>() else {
        return false;
    };
    let hit = ways.iter().fold(false, |hit, way| hit | (*way == line));
    if hit {
        return promote_any(ways, line);
    }
    let old = *ways;
    ways[1..].copy_from_slice(&old[..WAYS - 1]);
    ways[0] = line;
    false
}

/// Moves the line to the front, shifting what stood before it; if it was missing, the last falls out.
#[inline(always)]
fn promote_any(ways: &mut [u64], line: u64) -> bool {
    let mut carried = line;
    for way in ways {
        std::mem::swap(way, &mut carried);
        if carried == line {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(sets: u64, ways: u32) -> Level {
        let line_bytes = 64;
        Level::new(CacheGeometry {
            size_bytes: sets * u64::from(ways) * 64,
            ways,
            line_bytes,
        })
    }

    #[test]
    fn the_least_recently_used_line_of_a_set_falls_out() {
        let mut level = level(1, 2);
        let hits = [1, 2, 1, 3, 1, 2].map(|line| level.touch(line));
        assert_eq!(hits, [false, false, true, false, true, false]);
    }

    #[test]
    fn lines_of_different_sets_do_not_compete() {
        for sets in [3, 4] {
            let mut level = level(sets, 1);
            assert_eq!(
                [0, 1, 0, 1].map(|line| level.touch(line)),
                [false, false, true, true]
            );
            assert_eq!([sets, 0].map(|line| level.touch(line)), [false, false]);
        }
    }
}
