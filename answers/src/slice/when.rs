//! Moments and windows of a recording, as options name them.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use trackway_report::counted;
use trackway_trace::{MarkKind, Trace};

/// Marks that an error names at most.
const MOST_NAMED: usize = 8;
const EXPECTED: &str =
    "expected a time such as 250us, 1.5ms or 2s, a part of the recording such as 10%, or mark:TEXT";

/// A moment of a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    /// Since its beginning.
    After(Duration),
    /// Percent of its duration.
    Percent(f64),
    /// The text of a mark, perhaps with # and its number among those of that text, from 1.
    Mark(String),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        if let Some(mark) = text.strip_prefix("mark:") {
            return Ok(When::Mark(mark.to_owned()));
        }
        if let Some(number) = text.strip_suffix('%') {
            let percent = decimal(number).filter(|percent| *percent <= 100.0);
            return percent.map(When::Percent).ok_or_else(|| EXPECTED.into());
        }
        parse_duration(text)
            .map(When::After)
            .ok_or_else(|| EXPECTED.into())
    }
}

/// As options have it.
impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            When::After(duration) => write!(formatter, "{}ns", duration.as_nanos()),
            When::Percent(percent) => write!(formatter, "{percent}%"),
            When::Mark(text) => write!(formatter, "mark:{text}"),
        }
    }
}

/// Digits and at most one point.
fn decimal(text: &str) -> Option<f64> {
    let is_plain = text
        .chars()
        .all(|character| character.is_ascii_digit() || character == '.');
    text.parse().ok().filter(|_| is_plain)
}

/// A number with a unit.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let number = decimal(&text[..text.len() - unit.len()])?;
    let factor = match unit.trim() {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * factor).ok()
}

impl When {
    /// CLOCK_MONOTONIC nanoseconds.
    ///
    /// # Errors
    /// If the trace has no such mark; it names those that there are.
    pub fn in_trace(&self, trace: &Trace) -> Result<u64, String> {
        let (begin_ns, end_ns) = trace.span_ns();
        Ok(match self {
            When::After(duration) => {
                begin_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
            }
            When::Percent(percent) => begin_ns + ((end_ns - begin_ns) as f64 * percent / 100.0) as u64,
            When::Mark(text) => mark(trace, text)?,
        })
    }
}

/// When the mark was made. A text that ends with # and a number may also be all of a mark's text.
fn mark(trace: &Trace, text: &str) -> Result<u64, String> {
    let marks = || trace.marks().iter().filter(|mark| mark.kind == MarkKind::Mark);
    let of_text = |text: &str| -> Vec<u64> {
        let found = marks().filter(|mark| mark.text.as_deref() == Some(text));
        found.map(|mark| mark.ns).collect()
    };
    if let Some(first) = of_text(text).first() {
        return Ok(*first);
    }
    let numbered = text.rsplit_once('#');
    let numbered =
        numbered.and_then(|(text, number)| Some((text, number.parse::<usize>().ok()?.checked_sub(1)?)));
    let found = numbered.map(|(text, number)| (text, number, of_text(text)));
    match found {
        Some((_, number, times)) if number < times.len() => Ok(times[number]),
        Some((text, _, times)) if !times.is_empty() => {
            let count = counted(times.len() as u64, "mark");
            Err(format!("the trace has only {count} with the text {text:?}"))
        }
        _ => Err(format!(
            "the trace has no mark with the text {text:?}; {}",
            known_marks(trace)
        )),
    }
}

fn known_marks(trace: &Trace) -> String {
    let marks = trace.marks().iter().filter(|mark| mark.kind == MarkKind::Mark);
    let mut texts: Vec<&str> = marks.filter_map(|mark| mark.text.as_deref()).collect();
    texts.sort_unstable();
    texts.dedup();
    let some: Vec<String> = texts
        .iter()
        .take(MOST_NAMED)
        .map(|text| format!("{text:?}"))
        .collect();
    match texts.len() {
        0 => "it has no marks".into(),
        count if count > MOST_NAMED => {
            format!("it has {}, and {} others", some.join(", "), count - MOST_NAMED)
        }
        _ => format!("it has {}", some.join(", ")),
    }
}

/// Numbers of windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowRange(pub RangeInclusive<u64>);

impl FromStr for WindowRange {
    type Err = String;

    fn from_str(text: &str) -> Result<WindowRange, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let numbers = first.parse().ok().zip(last.parse().ok());
        let numbers = numbers.filter(|(first, last)| *first >= 1u64 && first <= last);
        let (first, last) =
            numbers.ok_or("expected a window's number from 1, or the first and the last: 3, 2-5")?;
        Ok(WindowRange(first..=last))
    }
}

/// As options have it.
impl fmt::Display for WindowRange {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let WindowRange(numbers) = self;
        write!(formatter, "{}-{}", numbers.start(), numbers.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        let read = |text: &str| text.parse::<When>();
        assert_eq!(read("1.5ms"), Ok(When::After(Duration::from_micros(1500))));
        assert_eq!(read("0s"), Ok(When::After(Duration::ZERO)));
        assert_eq!(read("12.5%"), Ok(When::Percent(12.5)));
        assert_eq!(read("mark:a b#2"), Ok(When::Mark("a b#2".into())));
        let wrong = [
            "",
            "5",
            "ms",
            "1.5.2s",
            "-1s",
            "1e3s",
            "99999999999999999999999s",
            "101%",
            "-1%",
            "%",
            "inf%",
        ];
        for wrong in wrong {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn windows_are_read() {
        assert_eq!("3".parse(), Ok(WindowRange(3..=3)));
        assert_eq!("2-5".parse(), Ok(WindowRange(2..=5)));
        for wrong in ["", "0", "5-2", "-", "a", "1-2-3"] {
            assert!(wrong.parse::<WindowRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments_and_windows_are_written_as_they_are_read() {
        for text in ["1500000ns", "12.5%", "mark:a b#2"] {
            assert_eq!(text.parse::<When>().unwrap().to_string(), text);
        }
        assert_eq!("3".parse::<WindowRange>().unwrap().to_string(), "3-3");
    }
}
