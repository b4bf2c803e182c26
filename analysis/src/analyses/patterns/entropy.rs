//! How evenly accesses are spread over memory.

use crate::model::page_index::{PageIndex, GROUP_LINES};

/// Accesses by line.
#[derive(Debug, Clone, Default)]
pub(super) struct LineCounts {
    index: PageIndex,
    counts: Vec<[u64; GROUP_LINES]>,
}

/// The accesses at one resolution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entropy {
    pub resolution_bits: u32,
    /// Different blocks of that size that were accessed.
    pub blocks: u64,
    /// Shannon's, bits.
    pub bits: f64,
}

impl LineCounts {
    #[inline(always)]
    pub fn add(&mut self, line: u64, accesses: u64) {
        let cell = self.index.cell(line);
        if self.counts.len() < self.index.len() {
            self.counts.push([0; GROUP_LINES]);
        }
        let count = &mut self.counts[cell / GROUP_LINES][cell % GROUP_LINES];
        *count = count.saturating_add(accesses);
    }

    pub fn merge(&mut self, from: &LineCounts) {
        for (line, count) in from.lines() {
            self.add(line, count);
        }
    }

    /// The entropies of blocks of 2^bits bytes, for lines of 2^`line_bits` bytes and each of the larger `resolutions`.
    pub fn entropies(&self, line_bits: u32, resolutions: &[u32]) -> Vec<Entropy> {
        let mut lines: Vec<(u64, u64)> = self.lines().collect();
        lines.sort_unstable();
        let coarser = resolutions.iter().copied().filter(|bits| *bits > line_bits);
        std::iter::once(line_bits)
            .chain(coarser)
            .map(|bits| entropy(&lines, line_bits, bits))
            .collect()
    }

    fn lines(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let groups = self.index.groups();
        let lines = groups.flat_map(|(first, number)| (first..).zip(self.counts[number]));
        lines.filter(|(_, count)| *count > 0)
    }
}

/// `lines` must be sorted.
fn entropy(lines: &[(u64, u64)], line_bits: u32, resolution_bits: u32) -> Entropy {
    let shift = resolution_bits - line_bits;
    let blocks = lines.chunk_by(|(line, _), (next, _)| line >> shift == next >> shift);
    let counts = blocks.map(|block| block.iter().map(|(_, count)| *count as f64).sum::<f64>());
    let (mut number, mut total, mut sum) = (0, 0.0, 0.0);
    for count in counts {
        number += 1;
        total += count;
        sum += count * count.log2();
    }
    Entropy {
        resolution_bits,
        blocks: number,
        // Rounding must not leave less than nothing.
        bits: if total > 0.0 {
            (total.log2() - sum / total).max(0.0)
        } else {
            0.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(accesses: &[(u64, u64)], resolutions: &[u32]) -> Vec<(u64, f64)> {
        let mut counts = LineCounts::default();
        accesses.iter().for_each(|&(line, count)| counts.add(line, count));
        let entropies = counts.entropies(6, resolutions);
        entropies
            .iter()
            .map(|entropy| (entropy.blocks, (entropy.bits * 1e9).round() / 1e9))
            .collect()
    }

    #[test]
    fn equal_lines_have_the_logarithm_of_their_number() {
        let even: Vec<(u64, u64)> = (0..256).map(|line| (line, 7)).collect();
        assert_eq!(bits(&even, &[12, 20]), [(256, 8.0), (4, 2.0), (1, 0.0)]);
    }

    #[test]
    fn uneven_lines_have_less() {
        // 1/2, 1/4, 1/8, 1/8: 1.75 bits. Resolutions below that of lines say nothing.
        assert_eq!(bits(&[(0, 4), (900, 2), (70, 1), (80, 1)], &[4]), [(4, 1.75)]);
        assert_eq!(bits(&[(5, 1 << 40)], &[]), [(1, 0.0)]);
        assert_eq!(bits(&[], &[]), [(0, 0.0)]);
    }

    #[test]
    fn counts_of_the_same_line_add_up() {
        let (mut counts, mut more) = (LineCounts::default(), LineCounts::default());
        counts.add(1, 3);
        more.add(1, 1);
        more.add(1000, 4);
        counts.merge(&more);
        assert_eq!(counts.entropies(6, &[])[0].bits, 1.0);
    }
}
