//! Modules as they come, buffer by buffer.

use std::collections::HashMap;

/// Bytes of modules that are not complete, and of all modules of a recording: more is no program's.
const MOST_INCOMPLETE_BYTES: usize = 1 << 29;
const MOST_BYTES: u64 = 1 << 32;

/// Modules by their first segment id.
#[derive(Default)]
pub struct IncompleteModules {
    by_first_id: HashMap<u32, Part>,
    incomplete_bytes: usize,
    bytes: u64,
}

#[derive(Default)]
struct Part {
    payload: Vec<u8>,
    next_sequence: u64,
}

impl IncompleteModules {
    pub fn next_sequence(&self, first_id: u32) -> u64 {
        self.by_first_id
            .get(&first_id)
            .map_or(0, |part| part.next_sequence)
    }

    /// False if there are too many bytes; then the module is forgotten.
    #[must_use]
    pub fn add(&mut self, first_id: u32, bytes: &[u8]) -> bool {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > MOST_BYTES || self.incomplete_bytes + bytes.len() > MOST_INCOMPLETE_BYTES {
            self.complete(first_id);
            return false;
        }
        let part = self.by_first_id.entry(first_id).or_default();
        part.payload.extend_from_slice(bytes);
        part.next_sequence += 1;
        self.incomplete_bytes += bytes.len();
        true
    }

    /// What has come of the module, which is now forgotten.
    pub fn complete(&mut self, first_id: u32) -> Vec<u8> {
        let payload = self.by_first_id.remove(&first_id).unwrap_or_default().payload;
        self.incomplete_bytes -= payload.len();
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_put_together() {
        let mut modules = IncompleteModules::default();
        assert!(modules.add(1, b"one, ") && modules.add(7, b"other") && modules.add(1, b"two"));
        assert_eq!((modules.next_sequence(1), modules.next_sequence(2)), (2, 0));
        assert_eq!(modules.complete(1), b"one, two");
        assert_eq!((modules.complete(1), modules.next_sequence(1)), (Vec::new(), 0));
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let mut modules = IncompleteModules::default();
        let bytes = vec![0; 1 << 24];
        let taken = (0..1000).take_while(|_| modules.add(1, &bytes)).count();
        assert_eq!(taken, MOST_INCOMPLETE_BYTES >> 24);
        assert_eq!((modules.incomplete_bytes, modules.next_sequence(1)), (0, 0));
    }
}
