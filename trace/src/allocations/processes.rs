//! Processes whose calls of allocators were recorded, and their parents.

use std::collections::BTreeMap;

use crate::{ProcessEvent, Trace};

/// A program in a process: after exec there is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocatingProcess {
    /// Number of the process in the trace.
    pub number: u32,
    /// The system's id.
    pub pid: u32,
    pub origin: Origin,
    /// When it was first seen, nanoseconds of the trace's clock.
    pub began_ns: u64,
}

/// What a process holds when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing from another process of the trace.
    Started,
    /// Nothing: the process `former` became this one by exec.
    Executed { former: u32 },
    /// What the process `parent` held at the time that the event [`super::AllocationAction::Forked`] gives.
    Forked { parent: u32 },
}

impl Trace {
    /// The processes of the trace in the order of their numbers, with what each of them began with.
    pub fn allocating_processes(&self) -> Vec<AllocatingProcess> {
        let starts: BTreeMap<u32, _> = self
            .processes()
            .iter()
            .filter(|(_, info)| info.event == ProcessEvent::Start)
            .map(|(number, info)| (*number, info))
            .collect();
        let origin = |pid, parent: Option<u32>| match parent {
            None => Origin::Started,
            Some(former) if starts.get(&former).is_some_and(|info| info.pid == pid) => {
                Origin::Executed { former }
            }
            Some(parent) => Origin::Forked { parent },
        };
        starts
            .iter()
            .map(|(number, info)| AllocatingProcess {
                number: *number,
                pid: info.pid,
                origin: origin(info.pid, info.parent),
                began_ns: info.monotonic_ns,
            })
            .collect()
    }
}
