//! Modules as they come, buffer by buffer.

use std::collections::{HashMap, HashSet};

/// Bytes of modules that are not complete, and of all modules of a recording: more is no program's.
const MOST_INCOMPLETE_BYTES: usize = 1 << 29;
const MOST_BYTES: u64 = 1 << 32;

/// The process that sends a module, and the module's first segment id. Forked processes send the same modules to a
/// recorder that comes later.
pub type ModuleKey = (u32, u32);

#[derive(Default)]
pub struct IncompleteModules {
    by_key: HashMap<ModuleKey, Part>,
    /// First ids of those that are complete.
    complete: HashSet<u32>,
    incomplete_bytes: usize,
    bytes: u64,
}

#[derive(Default)]
struct Part {
    payload: Vec<u8>,
    next_sequence: u64,
}

impl IncompleteModules {
    pub fn next_sequence(&self, key: ModuleKey) -> u64 {
        self.by_key.get(&key).map_or(0, |part| part.next_sequence)
    }

    /// False if there are too many bytes; then the module is forgotten.
    #[must_use]
    pub fn add(&mut self, key: ModuleKey, bytes: &[u8]) -> bool {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > MOST_BYTES || self.incomplete_bytes + bytes.len() > MOST_INCOMPLETE_BYTES {
            self.forget(key);
            return false;
        }
        let part = self.by_key.entry(key).or_default();
        part.payload.extend_from_slice(bytes);
        part.next_sequence += 1;
        self.incomplete_bytes += bytes.len();
        true
    }

    /// All of the module, whose last part has come; none if it has come from another process already.
    pub fn complete(&mut self, key: ModuleKey) -> Option<Vec<u8>> {
        let payload = self.forget(key);
        self.complete.insert(key.1).then_some(payload)
    }

    /// What has come of a module, of which no more will come.
    pub fn forget(&mut self, key: ModuleKey) -> Vec<u8> {
        let payload = self.by_key.remove(&key).unwrap_or_default().payload;
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
        let (one, other, again) = ((5, 1), (5, 7), (6, 1));
        assert!(modules.add(one, b"one, ") && modules.add(other, b"other") && modules.add(one, b"two"));
        assert!(modules.add(again, b"one, two"));
        assert_eq!(
            (modules.next_sequence(one), modules.next_sequence((5, 2))),
            (2, 0)
        );
        assert_eq!(modules.complete(one), Some(b"one, two".to_vec()));
        assert_eq!((modules.forget(one), modules.next_sequence(one)), (Vec::new(), 0));
        assert_eq!(modules.complete(again), None);
        assert_eq!(modules.incomplete_bytes, 5);
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let mut modules = IncompleteModules::default();
        let bytes = vec![0; 1 << 24];
        let taken = (0..1000).take_while(|_| modules.add((5, 1), &bytes)).count();
        assert_eq!(taken, MOST_INCOMPLETE_BYTES >> 24);
        assert_eq!((modules.incomplete_bytes, modules.next_sequence((5, 1))), (0, 0));
    }
}
