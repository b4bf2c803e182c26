//! Compression of payloads: chunks to bytes and back.

use std::io;

use crate::chunk::HEADER_LENGTH;
use crate::{ChunkFields, ChunkHeader, Codec, TraceError};

/// Greatest length of an uncompressed payload, bytes.
pub const MAX_RAW_LENGTH: u32 = 1 << 30;

const ZSTD_LEVEL: i32 = 1;
/// No LZ4 block expands a byte to more than this.
const LZ4_MAX_RATIO: u64 = 255;

/// Turns payloads into chunks. Each compressing thread has one; its memory is reused from chunk to chunk.
pub struct ChunkEncoder {
    codec: Codec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl ChunkEncoder {
    /// An encoder that compresses with `codec`; [`Codec::Other`] stores plainly.
    pub fn new(codec: Codec) -> Result<Self, TraceError> {
        let zstd = match codec {
            Codec::Zstd => Some(zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(compression)?),
            _ => None,
        };
        Ok(ChunkEncoder { codec, zstd })
    }

    /// Replaces the content of `chunk` by the chunk of `payload`: header and stored payload, as they stand in the
    /// file. A payload that compression does not shrink is stored plainly.
    pub fn encode(
        &mut self,
        fields: &ChunkFields,
        payload: &[u8],
        chunk: &mut Vec<u8>,
    ) -> Result<ChunkHeader, TraceError> {
        let length = payload.len() as u64;
        if length > u64::from(MAX_RAW_LENGTH) {
            return Err(TraceError::PayloadTooLong { length });
        }
        let codec = self.store(payload, chunk)?;
        let header = ChunkHeader::new(fields, codec, length as u32, &chunk[HEADER_LENGTH..]);
        chunk[..HEADER_LENGTH].copy_from_slice(&header.to_bytes());
        Ok(header)
    }

    /// Puts the stored payload after room for the header and says how it is stored.
    fn store(&mut self, payload: &[u8], chunk: &mut Vec<u8>) -> Result<Codec, TraceError> {
        chunk.resize(HEADER_LENGTH + room_for(self.codec, payload.len()), 0);
        let room = &mut chunk[HEADER_LENGTH..];
        let compressed = match (self.codec, &mut self.zstd) {
            (Codec::Lz4, _) => lz4_flex::block::compress_into(payload, room).ok(),
            (Codec::Zstd, Some(zstd)) => zstd.compress_to_buffer(payload, room).ok(),
            _ => None,
        };
        match compressed {
            Some(length) if length < payload.len() => {
                chunk.truncate(HEADER_LENGTH + length);
                Ok(self.codec)
            }
            _ => {
                chunk.truncate(HEADER_LENGTH);
                chunk.extend_from_slice(payload);
                Ok(Codec::None)
            }
        }
    }
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

/// Replaces the content of `raw` by the decompressed payload, followed by `padding` zero bytes.
pub(crate) fn decompress(
    header: &ChunkHeader,
    stored: &[u8],
    padding: usize,
    raw: &mut Vec<u8>,
) -> Result<(), String> {
    let length = check_raw_length(header, stored)?;
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

fn check_raw_length(header: &ChunkHeader, stored: &[u8]) -> Result<usize, String> {
    let length = header.raw_length;
    let possible = match header.codec {
        Codec::None => u64::from(length) == stored.len() as u64,
        Codec::Lz4 => u64::from(length) <= stored.len() as u64 * LZ4_MAX_RATIO,
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
        let mut chunk = Vec::new();
        let fields = ChunkFields::new(ChunkKind::Records);
        let header = ChunkEncoder::new(codec)
            .unwrap()
            .encode(&fields, payload, &mut chunk)
            .unwrap();
        assert_eq!(chunk.len() as u64, header.chunk_length());
        let mut raw = Vec::new();
        decompress(&header, &chunk[HEADER_LENGTH..], 3, &mut raw).unwrap();
        assert_eq!(raw[..payload.len()], *payload);
        assert_eq!(raw[payload.len()..], [0; 3]);
        header.codec
    }

    #[test]
    fn compressible_payloads_keep_their_codec() {
        for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
            assert_eq!(round_trip(codec, &[7; 10_000]), codec);
        }
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
        assert!(decompress(&header, b"abc", 0, &mut Vec::new()).is_err());
        header.codec = Codec::Zstd;
        header.raw_length = u32::MAX;
        assert!(decompress(&header, b"abc", 0, &mut Vec::new()).is_err());
        header.codec = Codec::Other(9);
        header.raw_length = 10;
        assert!(decompress(&header, b"abc", 0, &mut Vec::new()).is_err());
    }
}
