//! Whose children processes are.

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
    /// Nothing of ours.
    Started,
    /// Nothing either: it is what this process went on with by exec.
    Executed { former: u32 },
    /// What this process held, at the time that its event [`super::AllocationAction::Forked`] tells.
    Forked { parent: u32 },
}

impl Trace {
    /// The processes of the trace in the order of their numbers, and whose children they are.
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
