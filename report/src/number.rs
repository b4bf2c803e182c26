//! Numbers for people.

/// Whole numbers with a comma between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole number with three digits that count: 9,999, 29.8K, 355M.
pub fn brief(number: u64) -> String {
    const LETTERS: [&str; 6] = ["K", "M", "G", "T", "P", "E"];
    if number < 10_000 {
        return grouped(number);
    }
    let mut rest = number as f64;
    for letter in LETTERS {
        rest /= 1000.0;
        // What rounds to 1000 belongs to the next letter.
        if rest < 999.5 {
            let decimals = match rest {
                ..9.995 => 2,
                ..99.95 => 1,
                _ => 0,
            };
            return format!("{rest:.decimals$}{letter}");
        }
    }
    grouped(number)
}

/// A size of files, in thousands: `219 MB`, `7.36 KB`, `1 byte`.
pub fn file_size(bytes: u64) -> String {
    let text = match bytes {
        ..1_000 => return counted(bytes, "byte"),
        1_000..10_000 => format!("{:.2}K", bytes as f64 / 1000.0),
        _ => brief(bytes),
    };
    let (number, letter) = text.split_at(text.len() - 1);
    format!("{number} {letter}B")
}

/// A size of caches and buffers: `32 KiB`, `1.5 MiB`, `100 bytes`.
pub fn binary_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let fitting = |unit: usize| 1_u64 << (10 * (unit + 1));
    let Some(unit) = (0..UNITS.len()).rev().find(|&unit| bytes >= fitting(unit)) else {
        return counted(bytes, "byte");
    };
    let number = format!("{:.2}", bytes as f64 / fitting(unit) as f64);
    format!(
        "{} {}",
        number.trim_end_matches('0').trim_end_matches('.'),
        UNITS[unit]
    )
}

/// A change: "+1,234", "-5", or "0".
pub fn signed(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    match number {
        0 => digits,
        1.. => format!("+{digits}"),
        _ => format!("-{digits}"),
    }
}

/// A change of a share or another quotient, with at least two digits that count.
pub fn signed_real(number: f64) -> String {
    let leading_zeros = -number.abs().log10().floor();
    let decimals = match leading_zeros.is_finite() {
        true => (leading_zeros + 1.0).clamp(3.0, 12.0) as usize,
        false => 0,
    };
    format!("{number:+.decimals$}")
}

/// A factor, with three digits that count: "x0.310", "x1.04", "x123". Never rounded to a false 1.
pub fn ratio(factor: f64) -> String {
    let decimals = match factor {
        1.0 => 0,
        factor if (0.995..1.005).contains(&factor) => return if factor < 1.0 { "x<1" } else { "x>1" }.into(),
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("x{factor:.decimals$}")
}

/// "1 stream", "1,234 streams".
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// "once", "1,234 times".
pub fn times(number: u64) -> String {
    match number {
        1 => "once".into(),
        _ => format!("{} times", grouped(number)),
    }
}

/// A share as per cent: one decimal, and never rounded to a false 0 or 100.
pub fn percent(share: f64) -> String {
    let per_cent = share * 100.0;
    if per_cent < -100.0 {
        // Worse than twice as bad: how much worse says nothing more.
        "<-100 %".into()
    } else if per_cent > 1000.0 {
        // As of a budget of nearly nothing.
        ">1000 %".into()
    } else if per_cent > 0.0 && per_cent < 0.05 {
        "<0.1 %".into()
    } else if (99.95..100.0).contains(&per_cent) {
        ">99.9 %".into()
    } else {
        format!("{per_cent:.1} %")
    }
}

/// A time in the unit that suits it: `0 s`, `16 ns`, `1.5 ms`, `12.3 s`.
pub fn duration(time_ns: u64) -> String {
    let (number, unit) = match time_ns {
        0 => return "0 s".into(),
        1..1_000 => return format!("{time_ns} ns"),
        1_000..1_000_000 => (time_ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (time_ns as f64 / 1e6, "ms"),
        _ => (time_ns as f64 / 1e9, "s"),
    };
    let text = format!("{number:.3}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn brief_numbers_have_three_digits_that_count() {
        for (number, text) in [
            (0, "0"),
            (9_999, "9,999"),
            (10_000, "10.0K"),
            (99_949, "99.9K"),
            (99_950, "100K"),
            (999_499, "999K"),
            (999_500, "1.00M"),
            (29_795_810, "29.8M"),
            (9_994_999_999, "9.99G"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(brief(number), text);
        }
    }

    #[test]
    fn sizes_have_a_unit() {
        for (bytes, text) in [
            (1, "1 byte"),
            (999, "999 bytes"),
            (7_359, "7.36 KB"),
            (219_053_415, "219 MB"),
        ] {
            assert_eq!(file_size(bytes), text);
        }
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (32 << 10, "32 KiB"),
            (3 << 19, "1.5 MiB"),
            (33 << 20, "33 MiB"),
            (1 << 40, "1 TiB"),
        ] {
            assert_eq!(binary_size(bytes), text);
        }
    }

    #[test]
    fn times_have_a_unit_that_suits_them() {
        for (time_ns, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (1_500, "1.5 us"),
            (20_000_000, "20 ms"),
            (12_345_678_901, "12.346 s"),
        ] {
            assert_eq!(duration(time_ns), text);
        }
    }

    #[test]
    fn changes_have_their_sign_and_ratios_keep_off_one() {
        assert_eq!(
            [0, 1234, -5, i64::MIN].map(signed),
            ["0", "+1,234", "-5", "-9,223,372,036,854,775,808"]
        );
        for (factor, text) in [
            (0.31, "x0.310"),
            (0.999, "x<1"),
            (1.0, "x1"),
            (1.001, "x>1"),
            (1.5, "x1.50"),
            (12.34, "x12.3"),
            (1234.0, "x1234"),
        ] {
            assert_eq!(ratio(factor), text);
        }
        assert_eq!(
            [0.25, -0.000_012_34, 0.0, 1234.5].map(signed_real),
            ["+0.250", "-0.000012", "+0", "+1234.500"]
        );
    }

    #[test]
    fn one_time_is_once() {
        assert_eq!([0, 1, 2000].map(times), ["0 times", "once", "2,000 times"]);
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            [0, 1, 2000].map(|number| counted(number, "gap")),
            ["0 gaps", "1 gap", "2,000 gaps"]
        );
    }

    #[test]
    fn shares_keep_their_ends_honest() {
        for (share, text) in [
            (-23.446, "<-100 %"),
            (-0.5, "-50.0 %"),
            (0.0, "0.0 %"),
            (0.0001, "<0.1 %"),
            (0.614, "61.4 %"),
            (0.9999, ">99.9 %"),
            (1.0, "100.0 %"),
            (10.0, "1000.0 %"),
            (4_600_009.0, ">1000 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
