//! Values that accesses loaded or stored, where the program was built to record them.

use crate::table_enum::table_enum;

table_enum! {
    /// How an element of a value is to be read.
    #[derive(Default)]
    ValueForm {
        /// Nothing is known but the bits.
        #[default]
        Bits = 0,
        Unsigned = 1,
        /// Two's complement.
        Signed = 2,
        /// IEEE 754 with 16, 32, 64 or 128 bits, or the x87 format with 80 bits.
        Float = 3,
        Pointer = 4,
        Boolean = 5,
        Character = 6,
        /// The upper half of a `Float` of 32 bits.
        BrainFloat = 7,
    }
}

/// Bits of a value at most.
pub const MAX_VALUE_BITS: u32 = 1 << 16;

/// A value is `lanes` elements of `bits` bits each without holes, the first one in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueShape {
    pub form: ValueForm,
    /// At least 1.
    pub bits: u32,
    /// At least 1; `bits` × `lanes` is at most [`MAX_VALUE_BITS`].
    pub lanes: u32,
}

impl ValueShape {
    pub fn total_bits(&self) -> u32 {
        self.bits * self.lanes
    }

    /// Words of 64 bits that the value fills.
    pub fn word_count(&self) -> usize {
        self.total_bits().div_ceil(64) as usize
    }

    /// One of the elements.
    pub fn element(&self) -> ValueShape {
        ValueShape { lanes: 1, ..*self }
    }
}

/// The value of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'b> {
    pub shape: ValueShape,
    /// The words, lowest first. Bits of the last one past the value's bits are 0.
    pub words: &'b [u64],
}

impl Value<'_> {
    /// The words of an element, as [`Value::words`] are.
    pub fn element(&self, lane: u32) -> Vec<u64> {
        let mut words = Vec::new();
        copy_bits(
            |index| self.words[index],
            lane * self.shape.bits,
            self.shape.bits,
            &mut words,
        );
        words
    }
}

/// Appends bits `first` to `first + count` of a value as words; `word` returns the value's words.
pub(crate) fn copy_bits(word: impl Fn(usize) -> u64, first: u32, count: u32, out: &mut Vec<u64>) {
    for position in (first..first + count).step_by(64) {
        let left = (first + count - position).min(64);
        let (index, shift) = (position as usize / 64, position % 64);
        let mut bits = word(index) >> shift;
        if shift + left > 64 {
            bits |= word(index + 1) << (64 - shift);
        }
        out.push(bits & u64::MAX >> (64 - left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_may_lie_across_words() {
        let value = Value {
            shape: ValueShape {
                form: ValueForm::Unsigned,
                bits: 24,
                lanes: 4,
            },
            words: &[0x7766_5544_3322_1100, 0xbbaa_9988],
        };
        let elements: Vec<_> = (0..4).map(|lane| value.element(lane)).collect();
        assert_eq!(elements, [[0x22_1100], [0x55_4433], [0x88_7766], [0xbb_aa99]]);
        let wide = Value {
            shape: ValueShape {
                form: ValueForm::Bits,
                bits: 80,
                lanes: 2,
            },
            words: &[1 << 63 | 1, 0xabcd_1234, 0xffff_ffff],
        };
        assert_eq!(wide.element(0), [1 << 63 | 1, 0x1234]);
        assert_eq!(wide.element(1), [0xffff_0000_0000_abcd, 0xffff]);
    }
}
