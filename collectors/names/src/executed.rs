//! The code that a program executed.

use std::collections::{BTreeMap, HashSet};

/// A basic block of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExecutedBlock {
    /// Of its instructions, in their order: addresses less the one at which the object was loaded.
    pub offsets: Vec<u64>,
}

/// Each block once.
#[derive(Default)]
pub struct ExecutedCode {
    objects: BTreeMap<String, HashSet<ExecutedBlock>>,
}

impl ExecutedCode {
    /// Takes a block of the object `path`. What isn't from a file has no names.
    pub fn add(&mut self, path: &str, offsets: impl Iterator<Item = u64>) {
        if !path.starts_with('/') {
            return;
        }
        let mut offsets: Vec<u64> = offsets.collect();
        offsets.dedup(); // iterations of a repeated instruction
        let block = ExecutedBlock { offsets };
        match self.objects.get_mut(path) {
            Some(blocks) => drop(blocks.insert(block)),
            None => drop(self.objects.insert(path.to_owned(), HashSet::from([block]))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects by path, and their blocks in the order of their addresses.
    pub(crate) fn objects(&self) -> Vec<(&str, Vec<&ExecutedBlock>)> {
        let objects = self.objects.iter().map(|(path, blocks)| {
            let mut blocks: Vec<&ExecutedBlock> = blocks.iter().collect();
            blocks.sort_unstable_by(|one, other| one.offsets.cmp(&other.offsets));
            (path.as_str(), blocks)
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
        let objects = code.objects();
        assert_eq!(objects[0].0, "/bin/true");
        let offsets: Vec<&[u64]> = objects[0].1.iter().map(|block| &*block.offsets).collect();
        assert_eq!(offsets, [&[2][..], &[8, 10]]);
    }
}
