//! Which places of one function are the same before and after an edit.

/// Where a row's code is, within one function of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place<'t> {
    /// Line number from 1; 0 if unknown.
    pub line: u64,
    pub column: u64,
    /// The source line, if it is known.
    pub text: Option<&'t str>,
}

/// Maximum number of cells in the table of the longest common subsequence; larger functions are aligned only by
/// counting.
const MOST_CELLS: usize = 4 << 20;

/// Pairs places, as indices of both lists:
///
/// 1. those of equal text, in order, as many as go (the longest common subsequence);
/// 2. then those of equal text that were moved, in order;
/// 3. then, if a text changed or is unknown: if nothing was paired and both sides have equally many, the first with the
///    first and so on; else the place at the line to which the nearest pair before it was shifted.
pub fn align(before: &[Place], after: &[Place]) -> Vec<(usize, usize)> {
    let mut alignment = Alignment {
        before: &sorted(before),
        after: &sorted(after),
        pairs: Vec::new(),
    };
    alignment.pair_in_order();
    alignment.pair_moved();
    alignment.pair_rest();
    alignment
        .pairs
        .iter()
        .map(|&(b, a)| (alignment.before[b].1, alignment.after[a].1))
        .collect()
}

/// Places in the order of the file, each with its original index.
fn sorted<'t>(places: &[Place<'t>]) -> Vec<(Place<'t>, usize)> {
    let mut sorted: Vec<_> = places.iter().copied().zip(0..).collect();
    sorted.sort();
    sorted
}

struct Alignment<'a, 't> {
    before: &'a [(Place<'t>, usize)],
    after: &'a [(Place<'t>, usize)],
    pairs: Vec<(usize, usize)>,
}

impl Alignment<'_, '_> {
    fn same_text(&self, before: usize, after: usize) -> bool {
        let (before, after) = (self.before[before].0.text, self.after[after].0.text);
        before.is_some() && before == after
    }

    /// The longest common subsequence of texts.
    fn pair_in_order(&mut self) {
        let (rows, columns) = (self.before.len(), self.after.len());
        let cells = (rows + 1).saturating_mul(columns + 1);
        if cells > MOST_CELLS {
            return;
        }
        // longest[b][a] is for the texts from b and a on.
        let mut longest = vec![0u32; cells];
        let at = |b: usize, a: usize| b * (columns + 1) + a;
        for b in (0..rows).rev() {
            for a in (0..columns).rev() {
                longest[at(b, a)] = match self.same_text(b, a) {
                    true => longest[at(b + 1, a + 1)] + 1,
                    false => longest[at(b + 1, a)].max(longest[at(b, a + 1)]),
                };
            }
        }
        let (mut b, mut a) = (0, 0);
        while b < rows && a < columns {
            if self.same_text(b, a) {
                self.pairs.push((b, a));
                (b, a) = (b + 1, a + 1);
            } else if longest[at(b + 1, a)] >= longest[at(b, a + 1)] {
                b += 1;
            } else {
                a += 1;
            }
        }
    }

    fn pair_moved(&mut self) {
        let (before, after) = self.unpaired();
        let mut texts: std::collections::HashMap<&str, std::collections::VecDeque<usize>> =
            Default::default();
        for index in after {
            if let Some(text) = self.after[index].0.text {
                texts.entry(text).or_default().push_back(index);
            }
        }
        for index in before {
            let candidates = self.before[index].0.text.and_then(|text| texts.get_mut(text));
            if let Some(partner) = candidates.and_then(std::collections::VecDeque::pop_front) {
                self.pairs.push((index, partner));
            }
        }
        self.pairs.sort_unstable();
    }

    fn pair_rest(&mut self) {
        let (before, after) = self.unpaired();
        if self.pairs.is_empty() && before.len() == after.len() {
            self.pairs.extend(before.into_iter().zip(after));
            return;
        }
        let mut found = Vec::new();
        let mut free = after.into_iter().peekable();
        let mut shifts = self.pairs.iter().peekable();
        let mut shift = 0;
        for index in before {
            while let Some(&(b, a)) = shifts.next_if(|(b, _)| *b < index) {
                shift = self.after[a].0.line as i64 - self.before[b].0.line as i64;
            }
            let line = self.before[index].0.line.saturating_add_signed(shift);
            while free
                .next_if(|&candidate| self.after[candidate].0.line < line)
                .is_some()
            {}
            if let Some(partner) = free.next_if(|&candidate| self.after[candidate].0.line == line) {
                found.push((index, partner));
            }
        }
        self.pairs.extend(found);
    }

    /// Places without a partner, in the order of the file.
    fn unpaired(&self) -> (Vec<usize>, Vec<usize>) {
        let mut is_paired = (vec![false; self.before.len()], vec![false; self.after.len()]);
        for &(before, after) in &self.pairs {
            is_paired.0[before] = true;
            is_paired.1[after] = true;
        }
        let free = |is_paired: Vec<bool>| (0..is_paired.len()).filter(|&index| !is_paired[index]).collect();
        (free(is_paired.0), free(is_paired.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<'t>(lines: &[(u64, &'t str)]) -> Vec<Place<'t>> {
        lines
            .iter()
            .map(|&(line, text)| Place {
                line,
                column: 0,
                text: Some(text).filter(|text| !text.is_empty()),
            })
            .collect()
    }

    /// The pairs as lines.
    fn lines(before: &[(u64, &str)], after: &[(u64, &str)]) -> Vec<(u64, u64)> {
        let pairs = align(&places(before), &places(after));
        let mut lines: Vec<_> = pairs.iter().map(|&(b, a)| (before[b].0, after[a].0)).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn shifted_lines_are_found_by_their_text() {
        let before = [(10, "a = 1;"), (11, "i++;"), (14, "i++;")];
        let after = [(13, "a = 1;"), (14, "i++;"), (16, "new();"), (17, "i++;")];
        assert_eq!(lines(&before, &after), [(10, 13), (11, 14), (14, 17)]);
    }

    #[test]
    fn an_edited_line_is_found_by_its_distance_from_the_one_before() {
        let before = [(10, "a = 1;"), (12, "b = 2;"), (20, "gone();")];
        let after = [(15, "a = 1;"), (17, "b = 3;"), (40, "new();")];
        assert_eq!(lines(&before, &after), [(10, 15), (12, 17)]);
    }

    #[test]
    fn a_moved_line_is_still_the_same() {
        let before = [(1, "a;"), (2, "b;"), (3, "c;")];
        let after = [(1, "b;"), (2, "c;"), (3, "a;")];
        assert_eq!(lines(&before, &after), [(1, 3), (2, 1), (3, 2)]);
    }

    #[test]
    fn without_texts_equally_many_lines_go_in_order() {
        assert_eq!(lines(&[(1, ""), (5, "")], &[(3, ""), (9, "")]), [(1, 3), (5, 9)]);
        assert_eq!(
            lines(&[(1, ""), (5, "")], &[(1, ""), (4, ""), (5, "")]),
            [(1, 1), (5, 5)]
        );
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let (before, after) = ([(2, "x;"), (1, "x;")], [(4, "x;"), (9, "x;")]);
        assert_eq!(lines(&before, &after), [(1, 4), (2, 9)]);
        assert_eq!(lines(&before, &[]), []);
    }
}
