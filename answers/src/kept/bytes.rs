//! The form of an entry: a checksum of all that follows, the length of the premises, these as JSON, and the answer.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::premises::{Premises, SourceState};

const MAGIC: &[u8; 8] = b"TWANSW01";
const CHECKSUM_END: usize = MAGIC.len() + 8;
const HEAD_LENGTH: usize = CHECKSUM_END + 8;

/// What an answer rests on.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Foundation {
    pub premises: Premises,
    pub sources: Vec<SourceState>,
}

/// The bytes of an entry; none if paths are no text.
pub(super) fn pack(foundation: &Foundation, answer: &[u8]) -> Option<Vec<u8>> {
    let foundation = serde_json::to_vec(foundation).ok()?;
    let mut bytes = Vec::with_capacity(HEAD_LENGTH + foundation.len() + answer.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&(foundation.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&foundation);
    bytes.extend_from_slice(answer);
    let checksum = xxh3_64(&bytes[CHECKSUM_END..]);
    bytes[MAGIC.len()..CHECKSUM_END].copy_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

/// What an entry holds; none if it is torn or of another form.
pub(super) fn unpack(bytes: &[u8]) -> Option<(Foundation, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD_LENGTH)?;
    let number = |at: usize| Some(u64::from_le_bytes(head[at..at + 8].try_into().ok()?));
    let is_whole = head.starts_with(MAGIC) && number(MAGIC.len())? == xxh3_64(&bytes[CHECKSUM_END..]);
    let (foundation, answer) = rest.split_at_checked(usize::try_from(number(CHECKSUM_END)?).ok()?)?;
    let foundation = is_whole.then(|| serde_json::from_slice(foundation).ok())??;
    Some((foundation, answer))
}
