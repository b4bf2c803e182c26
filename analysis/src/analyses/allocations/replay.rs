//! Following what processes hold, event by event.

use std::collections::HashMap;

use trackway_trace::allocations::{AllocatingProcess, AllocationAction, AllocationEvent, Origin};

use super::blocks::{Block, Blocks};

/// What an event did to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayStep {
    /// No block is concerned, or a call is not through yet.
    Nothing,
    Allocated(Block),
    Freed(Block),
    /// The block became another one.
    Reallocated {
        old: Block,
        new: Block,
    },
    /// Impossible if all events were recorded.
    Contradiction(Contradiction),
}

/// What the events of a process say against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A block was allocated where another one lives.
    AllocatedTwice { address: u64 },
    /// A block was freed, or reallocated, that isn't live.
    NotLive { address: u64 },
}

/// What became of a block at the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    pub process: u32,
    pub block: Block,
}

/// Follows all processes of a trace; events come in the order of [`trackway_trace::allocations::AllocationEvents`].
#[derive(Debug)]
pub struct Replay {
    origins: HashMap<u32, Origin>,
    processes: HashMap<u32, Blocks>,
}

impl Replay {
    pub fn new(processes: &[AllocatingProcess]) -> Replay {
        Replay {
            origins: processes
                .iter()
                .map(|process| (process.number, process.origin))
                .collect(),
            processes: HashMap::new(),
        }
    }

    /// Applies the event. Reports contradictions only if all events of the process were recorded.
    pub fn step(&mut self, event: &AllocationEvent) -> ReplayStep {
        self.step_of(event, true)
    }

    /// The same; a block that the event allocates remembers whether it is counted.
    pub fn step_of(&mut self, event: &AllocationEvent, is_counted: bool) -> ReplayStep {
        let step = self.follow(event, is_counted);
        let has_gaps = self
            .processes
            .get(&event.process)
            .is_some_and(|blocks| blocks.has_gaps);
        match step {
            ReplayStep::Contradiction(_) if has_gaps => ReplayStep::Nothing,
            step => step,
        }
    }

    fn follow(&mut self, event: &AllocationEvent, is_counted: bool) -> ReplayStep {
        if let AllocationAction::Forked { began_ns } = event.what {
            self.fork(event.process, began_ns);
            return ReplayStep::Nothing;
        }
        let blocks = self.processes.entry(event.process).or_default();
        let block = |size_bytes| Block {
            size_bytes,
            allocated_ns: event.time_ns,
            stack: event.stack,
            is_inherited: false,
            is_counted,
        };
        let not_live = |address| ReplayStep::Contradiction(Contradiction::NotLive { address });
        match event.what {
            AllocationAction::Allocated { address, size, .. } => {
                match blocks.insert(address, block(size)) {
                    // A child may hold what another thread of its parent freed as it was forked.
                    Some(former) if !former.is_inherited => {
                        ReplayStep::Contradiction(Contradiction::AllocatedTwice { address })
                    }
                    _ => ReplayStep::Allocated(block(size)),
                }
            }
            AllocationAction::Freed { address } => blocks
                .remove(address, event.time_ns)
                .map_or(not_live(address), ReplayStep::Freed),
            AllocationAction::Reallocating { address } => match blocks.depart(event.stream, address) {
                Some(_) => ReplayStep::Nothing,
                None => not_live(address),
            },
            AllocationAction::Reallocated { old, address, size } => {
                let former = blocks.arrive(event.stream, old);
                arrived(blocks, former, address, block(size))
            }
            AllocationAction::Kept { address } => {
                if let Some(former) = blocks.arrive(event.stream, address) {
                    blocks.insert(address, former);
                }
                ReplayStep::Nothing
            }
            AllocationAction::Missing { .. } => {
                blocks.has_gaps = true;
                ReplayStep::Nothing
            }
            _ => ReplayStep::Nothing,
        }
    }

    fn fork(&mut self, process: u32, began_ns: u64) {
        let Some(Origin::Forked { parent }) = self.origins.get(&process) else {
            return;
        };
        if let Some(parent) = self.processes.get(parent) {
            let inherited = parent.inherited(began_ns);
            self.processes.insert(process, inherited);
        }
    }

    /// The blocks that are live now, but for those that a process has from its parent.
    pub fn live(&self) -> impl Iterator<Item = Fate> + '_ {
        self.processes.iter().flat_map(|(process, blocks)| {
            blocks
                .live()
                .filter(|block| !block.is_inherited)
                .map(|block| Fate {
                    process: *process,
                    block: *block,
                })
        })
    }
}

/// Address 0: the block was freed, since no bytes were wanted.
fn arrived(blocks: &mut Blocks, former: Option<Block>, address: u64, block: Block) -> ReplayStep {
    let replaced = match address {
        0 => None,
        address => blocks.insert(address, block),
    };
    match (replaced, former, address) {
        (Some(other), ..) if !other.is_inherited => {
            ReplayStep::Contradiction(Contradiction::AllocatedTwice { address })
        }
        (_, Some(former), 0) => ReplayStep::Freed(former),
        (_, None, 0) => ReplayStep::Nothing,
        (_, Some(old), _) => ReplayStep::Reallocated { old, new: block },
        (_, None, _) => ReplayStep::Allocated(block),
    }
}

#[cfg(test)]
mod tests {
    use trackway_trace::allocations::{Allocator, StackId};

    use super::*;

    fn replay() -> Replay {
        let process = |number, origin| AllocatingProcess {
            number,
            pid: 100 + number,
            origin,
            began_ns: 0,
        };
        Replay::new(&[
            process(0, Origin::Started),
            process(1, Origin::Forked { parent: 0 }),
        ])
    }

    fn event(time_ns: u64, process: u32, stream: u32, what: AllocationAction) -> AllocationEvent {
        AllocationEvent {
            time_ns,
            process,
            stream,
            thread: 7,
            by: Allocator::Malloc,
            what,
            stack: StackId(0),
        }
    }

    fn allocated(address: u64) -> AllocationAction {
        AllocationAction::Allocated {
            address,
            size: 8,
            alignment: 0,
        }
    }

    fn freed(address: u64) -> AllocationAction {
        AllocationAction::Freed { address }
    }

    #[test]
    fn contradictions_are_told_unless_events_are_missing() {
        let mut replay = replay();
        let twice = ReplayStep::Contradiction(Contradiction::AllocatedTwice { address: 16 });
        let not_live = ReplayStep::Contradiction(Contradiction::NotLive { address: 32 });
        assert!(matches!(
            replay.step(&event(1, 0, 0, allocated(16))),
            ReplayStep::Allocated(_)
        ));
        assert_eq!(replay.step(&event(2, 0, 1, allocated(16))), twice);
        assert_eq!(replay.step(&event(3, 0, 0, freed(32))), not_live);
        assert!(matches!(
            replay.step(&event(4, 0, 1, freed(16))),
            ReplayStep::Freed(_)
        ));
        replay.step(&event(5, 0, 1, AllocationAction::Missing { buffers: 1 }));
        assert_eq!(replay.step(&event(6, 0, 0, freed(32))), ReplayStep::Nothing);
    }

    #[test]
    fn a_block_that_is_being_reallocated_is_nobodys() {
        let mut replay = replay();
        replay.step(&event(1, 0, 0, allocated(16)));
        replay.step(&event(2, 0, 0, AllocationAction::Reallocating { address: 16 }));
        assert!(matches!(
            replay.step(&event(3, 0, 1, allocated(16))),
            ReplayStep::Allocated(_)
        ));
        let moved = AllocationAction::Reallocated {
            old: 16,
            address: 32,
            size: 64,
        };
        let step = replay.step(&event(4, 0, 0, moved));
        assert!(
            matches!(step, ReplayStep::Reallocated { old, new } if old.size_bytes == 8 && new.size_bytes == 64)
        );
        replay.step(&event(5, 0, 0, AllocationAction::Reallocating { address: 32 }));
        replay.step(&event(6, 0, 0, AllocationAction::Kept { address: 32 }));
        assert_eq!(replay.live().count(), 2);
    }

    #[test]
    fn children_hold_what_their_parent_held() {
        let mut replay = replay();
        replay.step(&event(1, 0, 0, allocated(16)));
        replay.step(&event(2, 0, 0, allocated(32)));
        replay.step(&event(3, 0, 0, allocated(48)));
        replay.step(&event(4, 0, 0, freed(48)));
        replay.step(&event(6, 0, 1, freed(16))); // maybe after the fork
        replay.step(&event(7, 1, 2, AllocationAction::Forked { began_ns: 5 }));
        for address in [16, 32] {
            assert!(matches!(
                replay.step(&event(8, 1, 2, freed(address))),
                ReplayStep::Freed(_)
            ));
        }
        let not_live = ReplayStep::Contradiction(Contradiction::NotLive { address: 48 });
        assert_eq!(replay.step(&event(9, 1, 2, freed(48))), not_live);
        assert!(matches!(
            replay.step(&event(10, 0, 0, freed(32))),
            ReplayStep::Freed(_)
        ));
        assert_eq!(replay.live().count(), 0);
    }
}
