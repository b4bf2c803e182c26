//! The code that samples and windows named, which is what the trace is to have names of.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use trackway_perf_records::AddressSpaces;

use super::{CodeCache, Function};
use crate::overhead::cpu_time;

/// Addresses whose functions are kept.
const MOST_RECENT: usize = 1 << 16;

/// A basic block of an object: its instructions' offsets from the load address.
pub struct SeenBlock {
    pub path: String,
    pub offsets: Vec<u64>,
}

/// Code of objects' files, and what of it was seen.
#[derive(Default)]
pub struct SeenCode {
    pub cache: CodeCache,
    /// Functions by object, the object's load address, and the function's begin.
    functions: HashMap<(String, u64, u64), Rc<Function>>,
    /// Functions by the addresses asked for since code was last mapped: hot code is asked for again and again.
    recent: HashMap<(u32, u64), Option<Rc<Function>>>,
    /// What it took to open objects and decode functions, which is done once for each.
    pub finding: Duration,
    /// Addresses of instructions that samples and windows named, in any process.
    named: HashSet<u64>,
}

impl SeenCode {
    /// The function at that address of the process, by the file in which it is; it is then code that was seen.
    pub fn function(&mut self, spaces: &AddressSpaces, pid: u32, address: u64) -> Option<Rc<Function>> {
        if let Some(known) = self.recent.get(&(pid, address)) {
            return known.clone();
        }
        let began = cpu_time();
        let function = self.find(spaces, pid, address);
        self.finding += cpu_time() - began;
        if self.recent.len() == MOST_RECENT {
            self.recent.clear();
        }
        self.recent.insert((pid, address), function.clone());
        function
    }

    /// Code was mapped, or a process has other code.
    pub fn forget_recent(&mut self) {
        self.recent.clear();
    }

    fn find(&mut self, spaces: &AddressSpaces, pid: u32, address: u64) -> Option<Rc<Function>> {
        let mapping = spaces.mapping(pid, address)?;
        let function = self.cache.function(mapping, address)?;
        let begin = function.steps().first()?.address();
        self.functions
            .entry((mapping.path.clone(), mapping.load_address, begin))
            .or_insert_with(|| Rc::clone(&function));
        Some(function)
    }

    /// The instructions at these addresses are to be named.
    pub fn name(&mut self, instructions: impl IntoIterator<Item = u64>) {
        self.named.extend(instructions);
    }

    /// The blocks in which an instruction is to be named.
    pub fn blocks(&self) -> Vec<SeenBlock> {
        let mut blocks = Vec::new();
        for ((path, load_address, _), function) in &self.functions {
            for block in function.blocks() {
                let steps = &function.steps()[block];
                if !steps.iter().any(|step| self.named.contains(&step.address())) {
                    continue;
                }
                let offset = |address: u64| address.wrapping_sub(*load_address);
                blocks.push(SeenBlock {
                    path: path.clone(),
                    offsets: steps.iter().map(|step| offset(step.address())).collect(),
                });
            }
        }
        blocks
    }
}
