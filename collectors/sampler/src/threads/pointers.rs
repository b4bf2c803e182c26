//! Where threads keep their thread-local variables: the base of FS. Samples don't hold it; stopped threads show it.

use std::collections::HashMap;

/// The base of FS by process and thread.
#[derive(Debug, Default)]
pub struct ThreadPointers(HashMap<u32, (u32, u64)>);

impl ThreadPointers {
    pub fn note(&mut self, pid: u32, tid: u32, pointer: Option<u64>) {
        self.0.extend(pointer.map(|pointer| (tid, (pid, pointer))));
    }

    pub fn of(&self, tid: u32) -> Option<u64> {
        self.0.get(&tid).map(|(_, pointer)| *pointer)
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.0.retain(|_, (process, _)| *process != pid);
    }
}
