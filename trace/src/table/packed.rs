//! The body of a table that the compiler compressed.

use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes of a body at most, so that few bytes can't claim all memory.
const MAX_BODY_LENGTH: u32 = 1 << 30;

/// The body for which `stored` stands.
pub(super) fn unpack(stored: &[u8]) -> Result<Cow<'static, [u8]>, String> {
    let (length, frame) = stored
        .split_first_chunk()
        .ok_or("it ends in the length of its body")?;
    let length = u32::from_le_bytes(*length);
    if length > MAX_BODY_LENGTH {
        return Err(format!(
            "a body of {length} bytes, where {MAX_BODY_LENGTH} are allowed"
        ));
    }
    let body = decompress(frame, length.into()).map_err(|error| format!("the compressed body: {error}"))?;
    if body.len() != length as usize {
        return Err(format!("a body of another length than {length} bytes"));
    }
    Ok(body.into())
}

/// What the frame holds, but not much more than `limit` bytes.
fn decompress(frame: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(frame)?;
    decoder.single_frame().take(limit + 1).read_to_end(&mut body)?;
    Ok(body)
}
