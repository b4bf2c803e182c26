//! Owners of the memory that lies in no block.

use std::collections::HashMap;

use trackway_trace::{Mapping, Mappings, VariableKind};

use super::owner::Owner;
use crate::analyses::allocations::CallSites;

const PAGE_SHIFT: u32 = 12;
/// Larger mappings without rights are what allocators reserve, no stacks.
const LARGEST_STACK: u64 = 48 << 20;

/// An access, with its process and thread.
#[derive(Clone, Copy, Debug)]
pub struct Accessed {
    pub time_ns: u64,
    pub pid: u32,
    pub tid: u32,
    pub instruction: u64,
    pub address: u64,
    pub stores: bool,
}

/// What an instruction accesses by the debugging information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// Empty if it is no global or static variable.
    pub global: String,
    /// The type of which a field is accessed, else that of the value; empty if unknown.
    pub data_type: String,
    /// The object in which the instruction stands.
    pub object: String,
}

/// What is mapped where, as far as addresses in no block need it.
#[derive(Default)]
pub struct Places {
    /// Owners by process, page and how many changes of mappings came before; none where nothing is known to be mapped.
    pages: HashMap<(u32, u64, usize), Option<Owner>>,
    /// Operands by process, instruction, and whether it stores.
    operands: HashMap<(u32, u64, bool), Operand>,
    /// Threads of the mappings that were taken for stacks, by process and first address.
    stacks: HashMap<(u32, u64), u32>,
}

impl Places {
    /// The owner of the accessed memory.
    pub fn owner(&mut self, accessed: &Accessed, sites: &CallSites) -> Owner {
        let operand = self.operand(accessed, sites).clone();
        let mapped = self.mapped(accessed, sites.mappings());
        match mapped {
            Some(Owner::Global { object, .. }) => Owner::Global {
                object,
                variable: operand.global,
            },
            None if !operand.global.is_empty() => Owner::Global {
                object: operand.object,
                variable: operand.global,
            },
            Some(owner) => owner,
            None => Owner::Unmapped,
        }
    }

    /// What the names say of the instruction.
    pub fn operand(&mut self, accessed: &Accessed, sites: &CallSites) -> &Operand {
        let key = (accessed.pid, accessed.instruction, accessed.stores);
        self.operands
            .entry(key)
            .or_insert_with(|| operand(accessed, sites).unwrap_or_default())
    }

    fn mapped(&mut self, accessed: &Accessed, mappings: &Mappings) -> Option<Owner> {
        let changes = mappings
            .events()
            .partition_point(|event| event.time_ns <= accessed.time_ns);
        let key = (accessed.pid, accessed.address >> PAGE_SHIFT, changes);
        if let Some(known) = self.pages.get(&key) {
            return known.clone();
        }
        let mapping = mappings.find(accessed.pid, accessed.time_ns, accessed.address);
        let owner = mapping.map(|mapping| self.of_mapping(mapping, accessed, mappings));
        self.pages.insert(key, owner.clone());
        owner
    }

    fn of_mapping(&mut self, mapping: &Mapping, accessed: &Accessed, mappings: &Mappings) -> Owner {
        let global = |object: &Mapping| Owner::Global {
            object: object.path.clone(),
            variable: String::new(),
        };
        match mapping.path.as_str() {
            "[heap]" => Owner::FreeHeap,
            path if path.starts_with("[stack") => Owner::Stack { tid: accessed.pid },
            "" | "//anon" => {
                let before = mappings.find(accessed.pid, accessed.time_ns, mapping.start.wrapping_sub(1));
                match before {
                    // Variables without initial values lie after an object's data.
                    Some(before) if before.load_address != 0 => global(before),
                    _ if is_reserved(mapping) => self.stack(mapping, accessed),
                    _ => Owner::Anonymous,
                }
            }
            _ if mapping.load_address != 0 => global(mapping),
            path => Owner::File {
                path: path.to_owned(),
            },
        }
    }

    /// A stack belongs to the first thread that is seen on it.
    fn stack(&mut self, mapping: &Mapping, accessed: &Accessed) -> Owner {
        let key = (accessed.pid, mapping.start);
        Owner::Stack {
            tid: *self.stacks.entry(key).or_insert(accessed.tid),
        }
    }
}

/// The C library maps the stacks of threads without rights, and gives them these afterwards.
fn is_reserved(mapping: &Mapping) -> bool {
    let rights = mapping.protection;
    !rights.readable && !rights.writable && !rights.shared && mapping.length <= LARGEST_STACK
}

fn operand(accessed: &Accessed, sites: &CallSites) -> Option<Operand> {
    let mapping = sites
        .mappings()
        .find(accessed.pid, accessed.time_ns, accessed.instruction)?;
    let (names, instruction) = sites.instruction(mapping, accessed.instruction)?;
    // An operand that an instruction both reads and writes is recorded as one that it reads.
    let number = match accessed.stores && instruction.written != 0 {
        true => instruction.written,
        false => instruction.read,
    };
    let operand = names.operands.get(number as usize)?;
    let text = |index: u32| names.strings.get(index as usize).cloned().unwrap_or_default();
    let is_global = matches!(operand.variable_kind, VariableKind::Global | VariableKind::Static);
    Some(Operand {
        global: if is_global {
            text(operand.variable)
        } else {
            String::new()
        },
        data_type: match text(operand.object_type) {
            object_type if object_type.is_empty() => text(operand.value_type),
            object_type => object_type,
        },
        object: mapping.path.clone(),
    })
}
