//! Colours of cells in pictures.

use super::picture::{strength, sum};

/// What the colours mean, for legends.
pub(super) const LEGEND: &str = "blue: reads, red: writes; the darker the more, logarithmic";

/// Red, green, blue: blue for reads, red for writes, a mixture for both; never white.
pub(super) fn colour(counts: [u64; 2], largest: u64) -> [u8; 3] {
    let strength = strength(sum(counts), largest);
    let writes = counts[1] as f64 / sum(counts) as f64;
    let pale = 0.82 * (1.0 - strength);
    let channel = |share: f64| ((pale + (1.0 - pale) * share) * 255.0).round() as u8;
    let (red, green, blue) = (
        0.10 + 0.65 * writes,
        0.25 * (1.0 - writes) + 0.08,
        0.70 - 0.60 * writes,
    );
    [red, green, blue].map(channel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_count_is_darker_than_paper() {
        for counts in [[1, 0], [0, 1], [1, 1], [u64::MAX, 0]] {
            assert_ne!(colour(counts, u64::MAX), [255; 3]);
        }
        assert_eq!(colour([7, 0], 7), [0x1a, 0x54, 0xb3]);
        assert_eq!(colour([0, 7], 7), [0xbf, 0x14, 0x19]);
    }

    #[test]
    fn more_is_darker_and_writes_are_redder() {
        let light = |count| {
            let channels = colour([count, 0], 10_000);
            channels.iter().map(|&channel| u32::from(channel)).sum::<u32>()
        };
        let lights = [1, 10, 100, 1000, 10_000].map(light);
        assert!(lights.is_sorted_by(|more, fewer| more > fewer), "{lights:?}");
        let redness = |writes: u64| {
            let [red, _, blue] = colour([100 - writes, writes], 100);
            i32::from(red) - i32::from(blue)
        };
        let shades = [0, 25, 50, 75, 100].map(redness);
        assert!(shades.is_sorted_by(|fewer, more| fewer < more), "{shades:?}");
        assert!(shades[0] < 0 && shades[4] > 0, "blue for reads, red for writes");
    }
}
