//! The code that a program executed.

use foldhash::HashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A basic block of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExecutedBlock {
    /// Addresses of its instructions, in their order, less the address at which the object was loaded.
    pub offsets: Vec<u64>,
}

/// Each block once.
#[derive(Default)]
pub struct ExecutedCode {
    objects: BTreeMap<String, ExecutedObject>,
}

#[derive(Default)]
struct ExecutedObject {
    blocks: HashSet<ExecutedBlock>,
    calls: BTreeSet<u64>,
}

/// What was executed of an object.
pub(crate) struct ObjectCode<'c> {
    pub path: &'c str,
    /// In the order of their addresses.
    pub blocks: Vec<&'c ExecutedBlock>,
    /// Offsets of the last bytes of calls whose places are asked for, too.
    pub calls: Vec<u64>,
}

impl ExecutedCode {
    /// Takes a block of the object `path`. What isn't from a file has no names.
    pub fn add(&mut self, path: &str, offsets: impl Iterator<Item = u64>) {
        if !path.starts_with('/') {
            return;
        }
        let mut offsets: Vec<u64> = offsets.collect();
        offsets.dedup(); // iterations of a repeated instruction
        self.object(path).blocks.insert(ExecutedBlock { offsets });
    }

    /// Takes a call of the object `path` of which only the offset of its last byte is known.
    pub fn add_call(&mut self, path: &str, last_byte: u64) {
        if path.starts_with('/') {
            self.object(path).calls.insert(last_byte);
        }
    }

    fn object(&mut self, path: &str) -> &mut ExecutedObject {
        self.objects.entry(path.to_owned()).or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// By path.
    pub(crate) fn objects(&self) -> Vec<ObjectCode<'_>> {
        let objects = self.objects.iter().map(|(path, object)| {
            let mut blocks: Vec<&ExecutedBlock> = object.blocks.iter().collect();
            blocks.sort_unstable_by(|one, other| one.offsets.cmp(&other.offsets));
            ObjectCode {
                path,
                blocks,
                calls: object.calls.iter().copied().collect(),
            }
        });
        objects.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_files_are_taken_once() {
        let mut code = ExecutedCode::default();
        code.add("[anonymous]", [1, 2].into_iter());
        assert!(code.is_empty());
        for _ in 0..2 {
            code.add("/bin/true", [8, 8, 10].into_iter());
        }
        code.add("/bin/true", [2].into_iter());
        for last_byte in [14, 9, 14] {
            code.add_call("/bin/true", last_byte);
        }
        let objects = code.objects();
        assert_eq!(objects[0].path, "/bin/true");
        let offsets: Vec<&[u64]> = objects[0].blocks.iter().map(|block| &*block.offsets).collect();
        assert_eq!(offsets, [&[2][..], &[8, 10]]);
        assert_eq!(objects[0].calls, [9, 14]);
    }
}
