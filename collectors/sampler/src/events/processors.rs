//! Logical processors, as the kernel lists them.

use std::fs;

/// Those that run, or the first one if that can't be read.
pub fn online() -> Vec<u32> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let processors = parse_ranges(text.trim());
    match processors.is_empty() {
        true => vec![0],
        false => processors,
    }
}

/// `0-3,8` as 0, 1, 2, 3 and 8.
pub fn parse_ranges(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_processors_are_read() {
        assert_eq!(parse_ranges("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(parse_ranges("0"), [0]);
        assert!(parse_ranges("").is_empty());
    }
}
