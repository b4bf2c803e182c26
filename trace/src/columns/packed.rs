//! How columns are stored: the length and the stored length of each, then the stored bytes of each. A column that is
//! stored shorter than it is long is an LZ4 block.

use std::time::{Duration, Instant};

use crate::payload::Effort;
use crate::table::Cursor;

use super::{LENGTHS_PER_BYTE, STEPS_PER_BYTE};

/// No LZ4 block expands a byte to more than this.
const LZ4_MAX_RATIO: u64 = 255;
/// Shorter columns are not worth compressing.
const MIN_LENGTH: usize = 64;
/// Columns that are stored plainly after one for which compression didn't pay.
const PAUSE: u8 = 15;

/// Weight of the latest column in a mean.
const LATEST: f64 = 1.0 / 8.0;
/// The latest column may take so many times the mean.
const MOST_GROWTH: f64 = 4.0;
/// Decay of what compressing takes for each column that isn't compressed, so that it is tried again.
const DOUBT: f64 = 1.0 / 64.0;

/// Appends the steps, each a byte below 4, as 2 bits each.
pub(super) fn pack_steps(steps: &[u8], packed: &mut Vec<u8>) {
    let (groups, rest) = steps.as_chunks::<8>();
    packed.extend(groups.iter().flat_map(|group| {
        let wide = u64::from_le_bytes(*group);
        let near = wide | wide >> 6 | wide >> 12 | wide >> 18;
        [near as u8, (near >> 32) as u8]
    }));
    packed.extend(rest.chunks(STEPS_PER_BYTE).map(together::<2>));
}

/// Appends the lengths, each a byte below 16, as 4 bits each.
pub(super) fn pack_lengths(lengths: &[u8], packed: &mut Vec<u8>) {
    let (pairs, rest) = lengths.as_chunks::<LENGTHS_PER_BYTE>();
    packed.extend(pairs.iter().map(|pair| pair[0] | pair[1] << 4));
    packed.extend(rest.chunks(LENGTHS_PER_BYTE).map(together::<4>));
}

fn together<const BITS: usize>(entries: &[u8]) -> u8 {
    entries.iter().rev().fold(0, |byte, entry| byte << BITS | entry)
}

/// Replaces the content of `steps` by the packed ones, a byte each, and what fills up the last byte.
pub(super) fn unpack_steps(packed: &[u8], steps: &mut Vec<u8>) {
    steps.clear();
    steps.extend(packed.iter().flat_map(|byte| {
        let near = u32::from(*byte);
        ((near | near << 6 | near << 12 | near << 18) & 0x0303_0303).to_le_bytes()
    }));
}

/// The same for lengths.
pub(super) fn unpack_lengths(packed: &[u8], lengths: &mut Vec<u8>) {
    lengths.clear();
    lengths.extend(packed.iter().flat_map(|byte| [byte & 15, byte >> 4]));
}

/// Compresses the columns of one kind, as long as it pays.
#[derive(Debug, Default)]
pub(super) struct Compressor {
    /// Columns to come that are not worth trying.
    pause: u8,
    /// Nanoseconds to compress a byte, and what that saves of it.
    taking_ns: f64,
    saving: f64,
}

impl Compressor {
    /// Appends what is stored of `column`.
    fn store(&mut self, column: &[u8], effort: Effort, stored: &mut Vec<u8>) {
        let start = stored.len();
        if column.len() >= MIN_LENGTH && self.is_worthwhile(effort) {
            stored.resize(start + lz4_flex::block::get_maximum_output_size(column.len()), 0);
            let begun = Instant::now();
            let length = lz4_flex::block::compress_into(column, &mut stored[start..]).unwrap_or(usize::MAX);
            self.learn(column.len(), length.min(column.len()), begun.elapsed());
            if length < column.len() {
                stored.truncate(start + length);
                return;
            }
            stored.truncate(start);
        }
        stored.extend_from_slice(column);
    }

    fn is_worthwhile(&mut self, effort: Effort) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        match effort {
            Effort::Hasty { writing_ns } if self.taking_ns > self.saving * writing_ns => {
                self.taking_ns -= self.taking_ns * DOUBT;
                false
            }
            _ => true,
        }
    }

    fn learn(&mut self, length: usize, stored_length: usize, took: Duration) {
        // It takes as long as writing what it saves if it saves half.
        if stored_length > length / 2 {
            self.pause = PAUSE;
        }
        let per_byte = |amount: f64| amount / length as f64;
        // A thread that lost its processor meanwhile seems to take long.
        let taking_ns = per_byte(took.as_nanos() as f64);
        let most = match self.taking_ns > 0.0 {
            true => self.taking_ns * MOST_GROWTH,
            false => taking_ns,
        };
        self.taking_ns += (taking_ns.min(most) - self.taking_ns) * LATEST;
        self.saving += (per_byte((length - stored_length) as f64) - self.saving) * LATEST;
    }
}

/// Bytes of the head's entry for a column.
const ENTRY_LENGTH: usize = 8;

/// Appends the columns with their head.
pub(super) fn pack<const N: usize>(
    columns: [&[u8]; N],
    compressors: &mut [Compressor; N],
    effort: Effort,
    stored: &mut Vec<u8>,
) {
    let head = stored.len();
    stored.resize(head + N * ENTRY_LENGTH, 0);
    for (index, (column, compressor)) in columns.into_iter().zip(compressors).enumerate() {
        let start = stored.len();
        compressor.store(column, effort, stored);
        let lengths = [column.len() as u32, (stored.len() - start) as u32].map(u32::to_le_bytes);
        stored[head + index * ENTRY_LENGTH..][..ENTRY_LENGTH].copy_from_slice(&lengths.concat());
    }
}

/// Whether any of `count` columns is compressed.
pub(super) fn has_compressed(bytes: &[u8], count: usize) -> bool {
    let (entries, _) = bytes.as_chunks::<ENTRY_LENGTH>();
    entries.iter().take(count).any(|entry| entry[..4] != entry[4..])
}

/// Reads the columns after their head. None is longer than `max_length`.
pub(super) fn unpack<const N: usize>(
    bytes: &[u8],
    max_length: usize,
    columns: [&mut Vec<u8>; N],
) -> Result<(), String> {
    let mut cursor = Cursor::new(bytes);
    let mut lengths = [(0, 0); N];
    for entry in &mut lengths {
        let mut length = |what| cursor.u32(what).map_err(|error| error.what);
        *entry = (
            length("length of a column")?,
            length("stored length of a column")?,
        );
    }
    for (column, (length, stored)) in columns.into_iter().zip(lengths) {
        let stored = cursor.take(stored.into(), "column").map_err(|error| error.what)?;
        unpack_column(stored, length.into(), max_length, column)?;
    }
    match cursor.remaining() {
        0 => Ok(()),
        rest => Err(format!("{rest} bytes behind the columns")),
    }
}

fn unpack_column(stored: &[u8], length: u64, max_length: usize, column: &mut Vec<u8>) -> Result<(), String> {
    let stored_length = stored.len() as u64;
    let is_possible = stored_length <= length && length <= stored_length * LZ4_MAX_RATIO;
    if !is_possible || length > max_length as u64 {
        return Err(format!(
            "{stored_length} stored bytes cannot stand for a column of {length}"
        ));
    }
    column.clear();
    if stored_length == length {
        column.extend_from_slice(stored);
        return Ok(());
    }
    column.resize(length as usize, 0);
    let written = lz4_flex::block::decompress_into(stored, column).map_err(|error| error.to_string())?;
    match written == column.len() {
        true => Ok(()),
        false => Err(format!("a column of {written} bytes instead of {length}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 64 << 10;

    /// One that has seen what compressing takes and saves, for a byte.
    fn compressor(taking_ns: f64, saving: f64) -> Compressor {
        Compressor {
            taking_ns,
            saving,
            ..Compressor::default()
        }
    }

    fn is_compressed(compressor: &mut Compressor, effort: Effort) -> bool {
        let mut stored = Vec::new();
        compressor.store(&[7; LENGTH], effort, &mut stored);
        stored.len() < LENGTH
    }

    #[test]
    fn haste_compresses_where_writing_takes_longer() {
        let [fast, slow] = [0.3, 3.0].map(|writing_ns| Effort::Hasty { writing_ns });
        for (effort, expected) in [(Effort::Full, true), (fast, false), (slow, true)] {
            let mut compressor = compressor(1.0, 0.5);
            assert_eq!(is_compressed(&mut compressor, effort), expected, "{effort:?}");
        }
    }

    #[test]
    fn haste_tries_again() {
        let mut compressor = compressor(1.0, 0.5);
        let effort = Effort::Hasty { writing_ns: 1.0 };
        assert!((0..100).any(|_| is_compressed(&mut compressor, effort)));
    }

    #[test]
    fn compressed_columns_are_seen() {
        for (column, expected) in [(vec![7; LENGTH], true), (vec![7; 3], false)] {
            let mut stored = Vec::new();
            pack(
                [&column[..], &[]],
                &mut Default::default(),
                Effort::Full,
                &mut stored,
            );
            assert_eq!(has_compressed(&stored, 2), expected);
        }
    }
}
