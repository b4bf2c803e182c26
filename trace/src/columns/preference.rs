//! Whether splitting is worth its time.

/// Chooses between columns and LZ4 for the payloads of records to come, by how the latest ones did. LZ4 is faster for
/// payloads that it makes very small and for those with hardly any roots; there it may leave a bit more.
#[derive(Debug, Default)]
pub(crate) struct Preference {
    prefers_lz4: bool,
    /// Payloads until the choice is reconsidered.
    payloads_to_go: u8,
    /// What LZ4 may leave of 1024 bytes.
    good_enough: usize,
}

/// Payloads compressed by LZ4 until columns are tried again.
const LZ4_TERM: u8 = 64;
/// Payloads that are split after one that LZ4 didn't compress well enough.
const LZ4_PAUSE: u8 = 32;
/// What LZ4 may leave in any case, of 1024 bytes.
const ALWAYS_GOOD: usize = 1024 / 6;
/// Columns of so much of 1024 bytes are easy for LZ4 too.
const EASY: usize = 1024 / 16;

impl Preference {
    /// Whether to try LZ4 first.
    pub(crate) fn is_lz4(&self) -> bool {
        self.prefers_lz4
    }

    /// Takes the result of LZ4 and returns whether it is good enough.
    pub(crate) fn accepts(&mut self, length: usize, stored_length: usize) -> bool {
        let does = per_kib(stored_length, length) <= self.good_enough;
        self.payloads_to_go = if does {
            self.payloads_to_go.saturating_sub(1)
        } else {
            LZ4_PAUSE
        };
        self.prefers_lz4 = does && self.payloads_to_go > 0;
        does
    }

    /// Takes the result of splitting.
    pub(crate) fn note_columns(&mut self, length: usize, stored_length: usize, short_records: bool) {
        self.payloads_to_go = self.payloads_to_go.saturating_sub(1);
        let left = per_kib(stored_length, length);
        if self.payloads_to_go == 0 && (short_records || left <= EASY) {
            self.prefers_lz4 = true;
            self.payloads_to_go = LZ4_TERM;
            self.good_enough = ALWAYS_GOOD.max(left + left / 4);
        }
    }
}

fn per_kib(stored_length: usize, length: usize) -> usize {
    stored_length * 1024 / length.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_what_is_not_easy() {
        let mut preference = Preference::default();
        preference.note_columns(1000, 300, false);
        assert!(!preference.is_lz4());
    }

    #[test]
    fn stays_with_lz4_for_a_term() {
        let mut preference = Preference::default();
        preference.note_columns(1000, 10, false);
        for _ in 0..LZ4_TERM {
            assert!(preference.is_lz4());
            assert!(preference.accepts(1000, 150));
        }
        assert!(!preference.is_lz4());
    }

    #[test]
    fn leaves_lz4_for_a_while_when_it_does_not_do() {
        let mut preference = Preference::default();
        preference.note_columns(1000, 300, true);
        assert!(preference.accepts(1000, 370));
        assert!(!preference.accepts(1000, 390));
        for _ in 0..LZ4_PAUSE {
            assert!(!preference.is_lz4());
            preference.note_columns(1000, 300, true);
        }
        assert!(preference.is_lz4());
    }
}
