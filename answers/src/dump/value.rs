//! Values for people, by their form.

use std::fmt::{Display, LowerExp};

use rustc_apfloat::ieee::{BFloat, Half, Quad, X87DoubleExtended};
use rustc_apfloat::Float;
use trackway_trace::{Value, ValueForm, ValueShape};

/// `-3`, `0x7ffe10`, `1.5`, `'a'`, `true`; of several elements `{1, 2, 3}`.
pub fn text(value: &Value) -> String {
    let elements: Vec<String> = (0..value.shape.lanes)
        .map(|lane| element(value.shape, &value.element(lane)))
        .collect();
    match elements.as_slice() {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

fn element(shape: ValueShape, words: &[u64]) -> String {
    let Ok(bits) = narrow(words) else {
        return hexadecimal(words);
    };
    match shape.form {
        ValueForm::Bits | ValueForm::Pointer => hexadecimal(words),
        ValueForm::Unsigned => bits.to_string(),
        ValueForm::Signed => signed(bits, shape.bits).to_string(),
        ValueForm::Float => floating(bits, shape.bits).unwrap_or_else(|| hexadecimal(words)),
        ValueForm::BrainFloat => BFloat::from_bits(bits).to_string(),
        ValueForm::Boolean if bits <= 1 => (bits == 1).to_string(),
        ValueForm::Boolean => bits.to_string(),
        ValueForm::Character => character(bits, shape.bits),
    }
}

/// Wider values are shown as they are.
fn narrow(words: &[u64]) -> Result<u128, ()> {
    match *words {
        [low] => Ok(low.into()),
        [low, high] => Ok(u128::from(high) << 64 | u128::from(low)),
        _ => Err(()),
    }
}

fn hexadecimal(words: &[u64]) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:016x}")).collect();
    match digits.trim_start_matches('0') {
        "" => "0x0".into(),
        digits => format!("0x{digits}"),
    }
}

fn signed(bits: u128, width: u32) -> i128 {
    let unused = 128 - width;
    (bits << unused) as i128 >> unused
}

/// As many digits as distinguish the number from its neighbours.
fn floating(bits: u128, width: u32) -> Option<String> {
    Some(match width {
        16 => Half::from_bits(bits).to_string(),
        32 => shortest(f32::from_bits(bits as u32)),
        64 => shortest(f64::from_bits(bits as u64)),
        80 => X87DoubleExtended::from_bits(bits).to_string(),
        128 => Quad::from_bits(bits).to_string(),
        _ => return None,
    })
}

/// Rust prints only as many digits as are needed.
fn shortest<F: Display + LowerExp + Into<f64> + Copy>(number: F) -> String {
    let magnitude: f64 = number.into().abs();
    match magnitude == 0.0 || (1e-5..1e16).contains(&magnitude) || !magnitude.is_finite() {
        true => format!("{number}"),
        false => format!("{number:e}"),
    }
}

/// A character that can't be printed is shown as a number.
fn character(bits: u128, width: u32) -> String {
    let letter = u32::try_from(bits).ok().and_then(char::from_u32);
    match letter {
        Some(letter) if letter.is_ascii_graphic() || letter == ' ' => format!("'{letter}'"),
        Some(letter) if width > 8 && letter.is_alphanumeric() => format!("'{letter}'"),
        _ => bits.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(form: ValueForm, bits: u32, lanes: u32, words: &[u64]) -> String {
        let shape = ValueShape { form, bits, lanes };
        text(&Value { shape, words })
    }

    #[test]
    fn integers_have_the_sign_of_their_width() {
        assert_eq!(shown(ValueForm::Signed, 8, 1, &[0xff]), "-1");
        assert_eq!(shown(ValueForm::Unsigned, 8, 1, &[0xff]), "255");
        assert_eq!(shown(ValueForm::Signed, 24, 1, &[0x80_0000]), "-8388608");
        assert_eq!(shown(ValueForm::Signed, 128, 1, &[u64::MAX - 1, u64::MAX]), "-2");
        assert_eq!(
            shown(ValueForm::Unsigned, 128, 1, &[0, 1]),
            "18446744073709551616"
        );
        assert_eq!(shown(ValueForm::Bits, 128, 1, &[5, 0x10]), "0x100000000000000005");
        assert_eq!(shown(ValueForm::Pointer, 64, 1, &[0]), "0x0");
    }

    #[test]
    fn floating_point_numbers_are_of_every_width() {
        assert_eq!(shown(ValueForm::Float, 16, 1, &[0x3e00]), "1.5");
        assert_eq!(shown(ValueForm::BrainFloat, 16, 1, &[0x3fc0]), "1.5");
        assert_eq!(shown(ValueForm::Float, 32, 1, &[0x3fc0_0000]), "1.5");
        assert_eq!(shown(ValueForm::Float, 64, 1, &[(-0.1f64).to_bits()]), "-0.1");
        assert_eq!(shown(ValueForm::Float, 64, 1, &[3e-300f64.to_bits()]), "3e-300");
        assert_eq!(
            shown(ValueForm::Float, 80, 1, &[0xc000_0000_0000_0000, 0x3fff]),
            "1.5"
        );
        assert_eq!(
            shown(ValueForm::Float, 128, 1, &[0, 0x3fff_8000_0000_0000]),
            "1.5"
        );
        assert_eq!(shown(ValueForm::Float, 64, 1, &[f64::NAN.to_bits()]), "NaN");
    }

    #[test]
    fn others_and_vectors_are_readable() {
        assert_eq!(shown(ValueForm::Boolean, 8, 1, &[1]), "true");
        assert_eq!(shown(ValueForm::Boolean, 8, 1, &[7]), "7");
        assert_eq!(shown(ValueForm::Character, 8, 1, &[97]), "'a'");
        assert_eq!(shown(ValueForm::Character, 8, 1, &[10]), "10");
        assert_eq!(shown(ValueForm::Character, 32, 1, &[0xe4]), "'ä'");
        assert_eq!(shown(ValueForm::Signed, 16, 3, &[0xffff_0002_0001]), "{1, 2, -1}");
        assert_eq!(
            shown(ValueForm::Bits, 256, 1, &[1, 0, 0, 1 << 60]),
            format!("0x1{}1", "0".repeat(62))
        );
    }
}
