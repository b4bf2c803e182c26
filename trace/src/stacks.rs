//! Where threads' stacks are (`docs/format.md`, section 1.2, kind 17).

use std::collections::HashMap;

const ENTRY_BYTES: usize = 16;

/// The payload of a chunk of kind [`ChunkKind::Stacks`](crate::ChunkKind::Stacks): streams, and an address in the stack on which
/// each began.
pub fn encode_stacks(stacks: &[(u32, u64)]) -> Vec<u8> {
    let entry = |&(stream, address): &(u32, u64)| {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..4].copy_from_slice(&stream.to_le_bytes());
        bytes[8..].copy_from_slice(&address.to_le_bytes());
        bytes
    };
    stacks.iter().flat_map(entry).collect()
}

/// Adds the entries of such a payload. What is cut off at its end doesn't count.
pub(crate) fn read_stacks(payload: &[u8], stacks: &mut HashMap<u32, u64>) {
    for entry in payload.chunks_exact(ENTRY_BYTES) {
        let number = |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().expect("4 bytes"));
        stacks.insert(number(0), u64::from(number(8)) | u64::from(number(12)) << 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_read() {
        let mut payload = encode_stacks(&[(7, 0x7fff_1234_5678_9abc), (1, 2)]);
        payload.push(1);
        let mut stacks = HashMap::new();
        read_stacks(&payload, &mut stacks);
        assert_eq!(stacks, HashMap::from([(7, 0x7fff_1234_5678_9abc), (1, 2)]));
    }
}
