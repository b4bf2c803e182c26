//! Walks and searches: loads whose address follows from what the same load gave before.

/// Where a walk began, and the step that came before it began there again. Words; 0 is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beginning {
    at: u64,
    before: u64,
}

impl Beginning {
    /// Whether a step at that word is the first of another walk, which waits for no step of the last one: searches begin where
    /// the first one did, and come from unlike ends. A ring is at its first word after the same step each time.
    #[inline(always)]
    pub fn begins_anew(&mut self, word: u64, before: u64) -> bool {
        if self.at == 0 {
            self.at = word;
        }
        if self.at != word {
            return false;
        }
        let anew = self.before != before;
        self.before = before;
        anew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_begins_at_the_first_word_after_another_end() {
        let mut beginning = Beginning::default();
        let steps = [
            (5, 0, false),
            (7, 5, false),
            (5, 7, true),
            (5, 9, true),
            (5, 9, false),
            (6, 8, false),
        ];
        for (word, before, anew) in steps {
            assert_eq!(beginning.begins_anew(word, before), anew, "{word} after {before}");
        }
    }
}
