//! Compresses and decompresses payloads of chunks.

use std::io;
use std::time::Duration;

use crate::columns::{ColumnReader, ColumnWriter, Preference, RecordShapes};
use crate::encoding_times::{EncodingTimes, Stopwatch};
use crate::{Chunk, ChunkFields, ChunkHeader, ChunkKind, Codec, TraceError};

/// Greatest length of an uncompressed payload, bytes.
pub const MAX_RAW_LENGTH: u32 = 1 << 30;

const ZSTD_LEVEL: i32 = 1;
/// No LZ4 block expands a byte to more than this.
const LZ4_MAX_RATIO: u64 = 255;
/// No byte of a column, before it is compressed, stands for more than 16 bytes of records.
const COLUMNS_MAX_RATIO: u64 = 16 * LZ4_MAX_RATIO;

/// How much time records may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// They become as small as the codec makes them.
    Full,
    /// No part of them is compressed where that takes longer than to write what it saves.
    Hasty {
        /// Nanoseconds to write a byte.
        writing_ns: f64,
    },
    /// They are stored as they are.
    None,
}

/// Turns payloads into chunks. Each compressing thread has one; its memory is reused from chunk to chunk.
pub struct ChunkEncoder {
    codec: Codec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    columns: Option<Box<ColumnWriter>>,
    preference: Preference,
    /// The latest payload, if it was split.
    columns_stored: Vec<u8>,
    /// The latest payload, if it was compressed as a whole, in the first bytes. It never shrinks: growing again would fill
    /// it with zeros.
    block: Vec<u8>,
    block_length: usize,
    stopwatch: Stopwatch,
}

impl ChunkEncoder {
    /// An encoder that compresses with `codec`; [`Codec::Other`] stores plainly. To split records into columns it must
    /// have encoded the chunks of their modules before; other payloads are compressed by LZ4 then.
    pub fn new(codec: Codec) -> Result<Self, TraceError> {
        Self::with_modules(codec, RecordShapes::default())
    }

    /// An encoder like this one for the same trace: it knows the modules that this one has encoded, and the reverse.
    pub fn sibling(&self) -> Result<Self, TraceError> {
        let modules = self.columns.as_ref().map(|columns| columns.modules().clone());
        Self::with_modules(self.codec, modules.unwrap_or_default())
    }

    fn with_modules(codec: Codec, modules: RecordShapes) -> Result<Self, TraceError> {
        let zstd = match codec {
            Codec::Zstd => Some(zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(compression)?),
            _ => None,
        };
        let columns = (codec == Codec::Columns).then(|| Box::new(ColumnWriter::new(modules)));
        Ok(ChunkEncoder {
            codec,
            zstd,
            columns,
            preference: Preference::default(),
            columns_stored: Vec::new(),
            block: Vec::new(),
            block_length: 0,
            stopwatch: Stopwatch::default(),
        })
    }

    /// From now on measures by the clock what takes how long.
    pub fn measure(&mut self, clock: fn() -> Duration) {
        self.stopwatch.clock = Some(clock);
    }

    /// What has been measured.
    pub fn times(&self) -> EncodingTimes {
        self.stopwatch.times
    }

    /// The chunk of `payload`, which stands in the encoder's memory or, if compression does not shrink it, is stored
    /// as it is.
    pub fn encode<'p>(
        &'p mut self,
        fields: &ChunkFields,
        payload: &'p [u8],
    ) -> Result<Chunk<'p>, TraceError> {
        self.encode_by(fields, payload, Effort::Full)
    }

    /// The same with less effort, if these are records.
    pub fn encode_by<'p>(
        &'p mut self,
        fields: &ChunkFields,
        payload: &'p [u8],
        effort: Effort,
    ) -> Result<Chunk<'p>, TraceError> {
        check_length(payload)?;
        let codec = match (&mut self.columns, fields.kind) {
            (_, ChunkKind::Samples | ChunkKind::Mappings) if self.codec != Codec::None => {
                self.store_differences(payload)?
            }
            (_, ChunkKind::Records) if effort == Effort::None => Codec::None,
            (Some(_), ChunkKind::Records) => self.store_records(payload, effort),
            (Some(columns), ChunkKind::Module) => {
                columns.modules().add(payload);
                self.store(Codec::Lz4, payload)
            }
            (Some(_), _) => self.store(Codec::Lz4, payload),
            (None, _) => self.store(self.codec, payload),
        };
        let stored = match codec {
            Codec::None => payload,
            Codec::Columns => &self.columns_stored,
            _ => &self.block[..self.block_length],
        };
        let header = self.stopwatch.step(
            |times| &mut times.checksums,
            || ChunkHeader::new(fields, codec, payload.len() as u32, stored),
        );
        Ok(Chunk { header, stored })
    }

    /// Differences of samples are few and small: LZ4 makes nothing of them.
    fn store_differences(&mut self, payload: &[u8]) -> Result<Codec, TraceError> {
        if self.zstd.is_none() {
            self.zstd = Some(zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(compression)?);
        }
        Ok(self.store(Codec::Zstd, payload))
    }

    /// Stores records, by columns or LZ4, and returns which.
    fn store_records(&mut self, payload: &[u8], effort: Effort) -> Codec {
        if self.preference.is_lz4() {
            let codec = self.store(Codec::Lz4, payload);
            let stored_length = match codec {
                Codec::None => payload.len(),
                _ => self.block_length,
            };
            if self.preference.accepts(payload.len(), stored_length) {
                return codec;
            }
        }
        let stored = &mut self.columns_stored;
        stored.clear();
        if let Some(columns) = &mut self.columns {
            if columns.append(payload, effort, &mut self.stopwatch, stored) {
                self.preference
                    .note_columns(payload.len(), stored.len(), columns.short_records());
                return Codec::Columns;
            }
        }
        self.store(Codec::Lz4, payload)
    }

    /// Compresses the payload into `block` and returns the codec; [`Codec::None`] if that doesn't shrink the payload.
    fn store(&mut self, codec: Codec, payload: &[u8]) -> Codec {
        let room = room_for(codec, payload.len());
        if self.block.len() < room {
            self.block.resize(room, 0);
        }
        let (block, zstd) = (&mut self.block[..room], &mut self.zstd);
        let compress = || match (codec, zstd) {
            (Codec::Lz4, _) => lz4_flex::block::compress_into(payload, block).ok(),
            (Codec::Zstd, Some(zstd)) => zstd.compress_to_buffer(payload, block).ok(),
            _ => None,
        };
        let compressed = self.stopwatch.step(|times| &mut times.compressing, compress);
        match compressed {
            Some(length) if length < payload.len() => {
                self.block_length = length;
                codec
            }
            _ => Codec::None,
        }
    }
}

/// The chunk of a payload as it is.
pub fn plain_chunk<'p>(fields: &ChunkFields, payload: &'p [u8]) -> Result<Chunk<'p>, TraceError> {
    check_length(payload)?;
    let header = ChunkHeader::new(fields, Codec::None, payload.len() as u32, payload);
    Ok(Chunk {
        header,
        stored: payload,
    })
}

fn check_length(payload: &[u8]) -> Result<(), TraceError> {
    let length = payload.len() as u64;
    if length > u64::from(MAX_RAW_LENGTH) {
        return Err(TraceError::PayloadTooLong { length });
    }
    Ok(())
}

/// Bytes to which a payload may grow when it is compressed.
fn room_for(codec: Codec, length: usize) -> usize {
    match codec {
        Codec::Lz4 => lz4_flex::block::get_maximum_output_size(length),
        Codec::Zstd => zstd::zstd_safe::compress_bound(length),
        _ => 0,
    }
}

fn compression(source: io::Error) -> TraceError {
    TraceError::Compression { source }
}

/// Replaces the content of `raw` by the decompressed payload, followed by `padding` zero bytes. `columns` knows the
/// modules whose records the payload may hold.
pub(crate) fn decompress(
    header: &ChunkHeader,
    stored: &[u8],
    columns: &ColumnReader,
    padding: usize,
    raw: &mut Vec<u8>,
) -> Result<(), String> {
    let length = check_raw_length(header, stored)?;
    if header.codec == Codec::Columns {
        return columns.read(stored, length, padding, raw);
    }
    raw.clear();
    if header.codec == Codec::None {
        raw.extend_from_slice(stored);
    } else {
        raw.resize(length, 0);
        let written = decompress_into(header.codec, stored, raw)?;
        if written != length {
            return Err(format!("{written} bytes instead of {length}"));
        }
    }
    raw.resize(length + padding, 0);
    Ok(())
}

/// The length of the decompressed payload, if the stored one can stand for it.
pub(crate) fn check_raw_length(header: &ChunkHeader, stored: &[u8]) -> Result<usize, String> {
    let length = header.raw_length;
    let possible = match header.codec {
        Codec::None => u64::from(length) == stored.len() as u64,
        Codec::Lz4 => u64::from(length) <= stored.len() as u64 * LZ4_MAX_RATIO,
        Codec::Columns => u64::from(length) <= stored.len() as u64 * COLUMNS_MAX_RATIO,
        _ => true,
    };
    if length > MAX_RAW_LENGTH || !possible {
        return Err(format!("{} stored bytes cannot stand for {length}", stored.len()));
    }
    Ok(length as usize)
}

fn decompress_into(codec: Codec, stored: &[u8], raw: &mut [u8]) -> Result<usize, String> {
    match codec {
        Codec::Lz4 => lz4_flex::block::decompress_into(stored, raw).map_err(|error| error.to_string()),
        Codec::Zstd => zstd::bulk::decompress_to_buffer(stored, raw).map_err(|error| error.to_string()),
        codec => Err(format!("unknown codec {}", u8::from(codec))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChunkKind;

    fn round_trip(codec: Codec, payload: &[u8]) -> Codec {
        let fields = ChunkFields::new(ChunkKind::Records);
        let mut encoder = ChunkEncoder::new(codec).unwrap();
        let Chunk { header, stored } = encoder.encode(&fields, payload).unwrap();
        assert_eq!(stored.len(), header.stored_length as usize);
        let mut raw = Vec::new();
        decompress(&header, stored, &ColumnReader::default(), 3, &mut raw).unwrap();
        assert_eq!(raw[..payload.len()], *payload);
        assert_eq!(raw[payload.len()..], [0; 3]);
        header.codec
    }

    #[test]
    fn compressible_payloads_keep_their_codec() {
        for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
            assert_eq!(round_trip(codec, &[7; 10_000]), codec);
        }
        assert_eq!(
            round_trip(Codec::Columns, &[7; 10_000]),
            Codec::Lz4,
            "no module is known"
        );
    }

    #[test]
    fn payloads_that_do_not_shrink_are_stored_plainly() {
        for payload in [&b""[..], b"x", b"\x91\x03\xfe\x20"] {
            assert_eq!(round_trip(Codec::Lz4, payload), Codec::None);
            assert_eq!(round_trip(Codec::Zstd, payload), Codec::None);
        }
    }

    #[test]
    fn impossible_lengths_are_refused_before_memory_is_taken() {
        let mut header = ChunkHeader::new(&ChunkFields::new(ChunkKind::Records), Codec::Lz4, 1 << 29, b"abc");
        let refused = |header: &ChunkHeader| {
            decompress(header, b"abc", &ColumnReader::default(), 0, &mut Vec::new()).is_err()
        };
        assert!(refused(&header));
        header.codec = Codec::Columns;
        assert!(refused(&header));
        header.codec = Codec::Zstd;
        header.raw_length = u32::MAX;
        assert!(refused(&header));
        header.codec = Codec::Other(9);
        header.raw_length = 10;
        assert!(refused(&header));
    }
}
