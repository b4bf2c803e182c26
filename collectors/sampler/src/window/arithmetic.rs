//! What arithmetic instructions make of numbers and flags.

use super::machine::mask;
use crate::registers::flag;

/// A result, and the flags that come with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub result: u64,
    pub flags: u64,
    /// Flags that the instruction sets; the others stay.
    pub sets: u64,
    /// The set flags that have a defined value.
    pub defined: u64,
}

const SHIFTED: u64 = flag::ARITHMETIC & !flag::ADJUST;

fn sign_bit(size: u32) -> u64 {
    1 << (size * 8 - 1)
}

fn set(condition: bool, bit: u64) -> u64 {
    if condition {
        bit
    } else {
        0
    }
}

/// Zero, sign and parity of a result.
fn of_result(result: u64, size: u32) -> u64 {
    set(result == 0, flag::ZERO)
        | set(result & sign_bit(size) != 0, flag::SIGN)
        | set((result as u8).count_ones().is_multiple_of(2), flag::PARITY)
}

pub fn add(left: u64, right: u64, carry: u64, size: u32) -> Outcome {
    let (left, right) = (left & mask(size), right & mask(size));
    let result = left.wrapping_add(right).wrapping_add(carry) & mask(size);
    let carries = u128::from(left) + u128::from(right) + u128::from(carry) > u128::from(mask(size));
    let overflows = !(left ^ right) & (left ^ result) & sign_bit(size) != 0;
    with_all(
        result,
        of_result(result, size) | borrowed(left, right, result, carries, overflows),
    )
}

pub fn subtract(left: u64, right: u64, borrow: u64, size: u32) -> Outcome {
    let (left, right) = (left & mask(size), right & mask(size));
    let result = left.wrapping_sub(right).wrapping_sub(borrow) & mask(size);
    let borrows = u128::from(left) < u128::from(right) + u128::from(borrow);
    let overflows = (left ^ right) & (left ^ result) & sign_bit(size) != 0;
    with_all(
        result,
        of_result(result, size) | borrowed(left, right, result, borrows, overflows),
    )
}

fn borrowed(left: u64, right: u64, result: u64, carries: bool, overflows: bool) -> u64 {
    set((left ^ right ^ result) & 0x10 != 0, flag::ADJUST)
        | set(carries, flag::CARRY)
        | set(overflows, flag::OVERFLOW)
}

fn with_all(result: u64, flags: u64) -> Outcome {
    Outcome {
        result,
        flags,
        sets: flag::ARITHMETIC,
        defined: flag::ARITHMETIC,
    }
}

/// `and`, `or` and `xor`.
pub fn logic(result: u64, size: u32) -> Outcome {
    let result = result & mask(size);
    Outcome {
        result,
        flags: of_result(result, size),
        sets: flag::ARITHMETIC,
        defined: flag::ARITHMETIC & !flag::ADJUST,
    }
}

/// `inc` and `dec` leave the carry as it is.
pub fn without_carry(outcome: Outcome) -> Outcome {
    Outcome {
        sets: outcome.sets & !flag::CARRY,
        defined: outcome.defined & !flag::CARRY,
        ..outcome
    }
}

/// The ways of shifting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Left,
    Right,
    RightSigned,
    RotateLeft,
    RotateRight,
}

/// A shift of 0 sets no flags.
pub fn shift(kind: Shift, value: u64, count: u64, size: u32) -> Outcome {
    let value = value & mask(size);
    let count = (count & if size == 8 { 63 } else { 31 }) as u32;
    if count == 0 {
        return Outcome {
            result: value,
            ..Outcome::default()
        };
    }
    let bits = size * 8;
    let wide = u128::from(value);
    let signed = i128::from((value << (64 - bits)) as i64 >> (64 - bits));
    let (result, carry) = match kind {
        Shift::Left => (wide << count, wide << count >> bits & 1 != 0),
        Shift::Right => (wide >> count, wide >> (count - 1) & 1 != 0),
        Shift::RightSigned => ((signed >> count) as u128, signed >> (count - 1) & 1 != 0),
        Shift::RotateLeft | Shift::RotateRight => return rotate(kind, value, count % bits, bits),
    };
    let result = result as u64 & mask(size);
    Outcome {
        result,
        flags: of_result(result, size) | set(carry, flag::CARRY),
        sets: flag::ARITHMETIC,
        defined: SHIFTED & !flag::OVERFLOW,
    }
}

fn rotate(kind: Shift, value: u64, count: u32, bits: u32) -> Outcome {
    let left = if kind == Shift::RotateLeft {
        count
    } else {
        (bits - count) % bits
    };
    let doubled = u128::from(value) << bits | u128::from(value);
    let result = (doubled << left >> bits) as u64 & mask(bits / 8);
    Outcome {
        result,
        flags: 0,
        sets: flag::CARRY | flag::OVERFLOW,
        defined: 0,
    }
}

/// The lower half of a product, and the upper one; flags say whether that is needed.
pub fn multiply(left: u64, right: u64, size: u32, signed: bool) -> (u64, u64, Outcome) {
    let bits = size * 8;
    let extended = |value: u64| match signed {
        true => i128::from((value << (64 - bits)) as i64 >> (64 - bits)),
        false => i128::from(value & mask(size)),
    };
    let product = match signed {
        true => (extended(left) * extended(right)) as u128,
        false => u128::from(left & mask(size)) * u128::from(right & mask(size)),
    };
    let (low, high) = (product as u64 & mask(size), (product >> bits) as u64 & mask(size));
    let is_wide = match signed {
        true => extended(low) as u128 != product,
        false => high != 0,
    };
    let flags = set(is_wide, flag::CARRY | flag::OVERFLOW);
    let outcome = Outcome {
        result: low,
        flags,
        sets: flag::ARITHMETIC,
        defined: flag::CARRY | flag::OVERFLOW,
    };
    (low, high, outcome)
}

/// Quotient and remainder; none where the processor would raise an exception.
pub fn divide(high: u64, low: u64, divisor: u64, size: u32, signed: bool) -> Option<(u64, u64)> {
    let bits = size * 8;
    let dividend = u128::from(high & mask(size)) << bits | u128::from(low & mask(size));
    if signed {
        let unused = 128 - 2 * bits;
        let dividend = (dividend << unused) as i128 >> unused;
        let divisor = i128::from((divisor << (64 - bits)) as i64 >> (64 - bits));
        let quotient = dividend.checked_div(divisor)?;
        let limit = 1i128 << (bits - 1);
        let fits = (-limit..limit).contains(&quotient);
        return fits.then(|| {
            (
                quotient as u64 & mask(size),
                (dividend % divisor) as u64 & mask(size),
            )
        });
    }
    let divisor = u128::from(divisor & mask(size));
    let quotient = dividend.checked_div(divisor)?;
    let fits = quotient <= u128::from(mask(size));
    fits.then(|| (quotient as u64, (dividend % divisor) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_the_processors() {
        let flags =
            |outcome: Outcome| outcome.flags & (flag::CARRY | flag::ZERO | flag::SIGN | flag::OVERFLOW);
        assert_eq!(flags(add(0xff, 1, 0, 1)), flag::CARRY | flag::ZERO);
        assert_eq!(flags(add(0x7f, 1, 0, 1)), flag::SIGN | flag::OVERFLOW);
        assert_eq!(flags(subtract(3, 5, 0, 8)), flag::CARRY | flag::SIGN);
        assert_eq!(flags(subtract(5, 5, 0, 4)), flag::ZERO);
        assert_eq!(flags(subtract(0x80, 1, 0, 1)), flag::OVERFLOW);
        assert_eq!(flags(logic(0, 8)), flag::ZERO);
        assert_eq!(add(u64::MAX, 0, 1, 8).result, 0);
    }

    #[test]
    fn shifts_count_modulo_their_width() {
        let result = |kind, value, count, size| shift(kind, value, count, size).result;
        assert_eq!(result(Shift::Left, 1, 33, 4), 2);
        assert_eq!(result(Shift::Left, 1, 63, 8), 1 << 63);
        assert_eq!(result(Shift::RightSigned, 0x8000_0000, 31, 4), 0xffff_ffff);
        assert_eq!(result(Shift::Right, u64::MAX, 60, 8), 15);
        assert_eq!(result(Shift::RotateLeft, 0x80, 1, 1), 1);
        assert_eq!(result(Shift::RotateRight, 1, 4, 8), 1 << 60);
        assert_eq!(shift(Shift::Left, 5, 32, 4).sets, 0);
        assert!(shift(Shift::Right, 2, 2, 8).flags & flag::CARRY != 0);
    }

    #[test]
    fn products_and_quotients_have_two_halves() {
        assert_eq!(multiply(u64::MAX, 2, 8, false).1, 1);
        assert_eq!(multiply(u64::MAX, 2, 8, true).0, -2i64 as u64);
        assert_eq!(divide(1, 0, 2, 8, false), Some((1 << 63, 0)));
        assert_eq!(divide(0, 7, 0, 8, false), None);
        assert_eq!(
            divide(u64::MAX, -7i64 as u64, 2, 8, true),
            Some((-3i64 as u64, -1i64 as u64))
        );
        assert_eq!(
            divide(0xffff_ffff, -8i32 as u32 as u64, 3, 4, true),
            Some((0xffff_fffe, 0xffff_fffe))
        );
        assert_eq!(divide(1, 0, 1, 8, false), None, "the quotient doesn't fit");
    }
}
