//! What edits make of calls of the allocator: an edit that changes nothing leaves the program's time, and a pool and room that is
//! reserved save the calls.

use std::collections::HashMap;

use trackway_trace::{
    AccessKind, AllocationSiteId, FunctionId, LocationId, Site, SiteWork, StringId, VariableKind,
};

use super::super::elements::{Moved, ProgramBlocks};
use super::super::pool::Pooled;
use super::super::private::Private;
use super::super::shrunk::{Shrinking, Shrunk};
use super::super::spread::Spread;
use super::*;
use crate::model::cache::Caches;
use crate::model::time::test_costs;

const BLOCKS: u64 = 1000;
const BLOCK_BYTES: u64 = 24;
const STORE: SiteId = SiteId(0);

fn program() -> Program {
    let mut program = Program::default();
    program.work.push(Some(SiteWork {
        instructions: 3,
        ..SiteWork::default()
    }));
    program.sites.push(Site {
        function: FunctionId(0),
        ordinal: 0,
        part: 0,
        kind: AccessKind::Store,
        size: 8,
        location: LocationId(0),
        variable: StringId(0),
        variable_kind: VariableKind::Unknown,
        object_type: StringId(0),
        field: StringId(0),
        value_type: StringId(0),
        waits: false,
    });
    program
}

fn machine() -> Arc<Machine> {
    Arc::new(Machine {
        caches: "L1=32K,8,64:L2=512K,8,64".parse().unwrap(),
        costs: test_costs(),
    })
}

fn allocate(address: u64, bytes: u64) -> Event {
    Event::Allocate {
        site: AllocationSiteId(0),
        address,
        element_size: bytes,
        count: 1,
    }
}

fn free(address: u64) -> Event {
    Event::Free {
        site: AllocationSiteId(0),
        address,
    }
}

fn place(number: u64) -> u64 {
    0x10_0000 + 32 * number
}

fn store(batch: &mut Batch, address: u64) {
    batch.site.push(STORE);
    batch.address.push(address);
    batch.size.push(8);
}

/// Blocks that are allocated and written one by one, each in a call, and given back in the end.
fn one_by_one() -> Batch {
    let mut batch = Batch::default();
    for number in 0..BLOCKS {
        batch.push(Event::Enter(FunctionId(0)));
        batch.push(allocate(place(number), BLOCK_BYTES));
        store(&mut batch, place(number));
        batch.push(Event::Exit(FunctionId(0)));
    }
    for number in 0..BLOCKS {
        store(&mut batch, place(number));
        batch.push(free(place(number)));
    }
    store(&mut batch, 0x1000);
    batch
}

fn cycles(program: &Program, passed: impl FnOnce(&mut Simulations)) -> u64 {
    let mut simulations = Simulations::new(&Caches::none(), Some(&machine()));
    simulations.take_sites(stores_with_plain(program), || {
        TimedSites::of(program).with_pointers().with_prefetch()
    });
    passed(&mut simulations);
    let caches = simulations.finish(stores_with_plain(program));
    SiteCounters::sum(&caches.counters()).cycles
}

fn cycles_with(program: &Program, rewrite: Box<dyn Rewrite>, batch: &Batch) -> u64 {
    cycles(program, |simulations| {
        let mut one = One {
            number: 0,
            rewrite,
            simulations: std::mem::replace(simulations, Simulations::new(&Caches::none(), None)),
            batch: Batch::default(),
            has_begun: false,
        };
        one.take(batch);
        one.end();
        *simulations = one.simulations;
    })
}

#[test]
fn edits_that_change_nothing_leave_the_time_of_calls() {
    let program = program();
    let blocks = Arc::new(ProgramBlocks::of(&program));
    let batch = one_by_one();
    let as_it_is = cycles(&program, |simulations| simulations.take(&batch));
    let unchanged = Arc::new(Shrinking {
        bytes_before: 8,
        bytes_after: 8,
        parts: Vec::new(),
    });
    let edits: [Box<dyn Rewrite>; 5] = [
        Box::new(Pooled::new(Arc::clone(&blocks), Arc::default())),
        Box::new(Moved::new(Arc::clone(&blocks), Arc::default(), None)),
        Box::new(Shrunk::new(
            Arc::clone(&blocks),
            Arc::new(HashMap::new()),
            unchanged,
            Arc::new(vec![true]),
        )),
        Box::new(Private::new(&program, &Default::default(), true)),
        Box::new(Spread::new(&program, &Default::default(), 64)),
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        assert_eq!(
            cycles_with(&program, edit, &batch),
            as_it_is,
            "edit number {number}"
        );
    }
}

#[test]
fn a_pool_saves_the_calls_of_its_objects_alone() {
    let program = program();
    let blocks = Arc::new(ProgramBlocks::of(&program));
    let batch = one_by_one();
    let mut without_calls = Batch::default();
    for item in batch.all_items() {
        match item {
            BatchItem::Event(event) if event.is_of_memory() => (),
            BatchItem::Event(event) => without_calls.push(event),
            BatchItem::Accesses(piece) => each_access(&batch, piece, |(_, address, _)| {
                // As in the pool.
                store(
                    &mut without_calls,
                    match address {
                        0x1000 => address,
                        _ => (1 << 45) + (address - place(0)) / 32 * BLOCK_BYTES,
                    },
                );
            }),
        }
    }
    let as_it_is = cycles(&program, |simulations| simulations.take(&batch));
    let least = cycles(&program, |simulations| simulations.take(&without_calls));
    let pooled = |objects: u64| {
        let edit = Pooled::new(Arc::clone(&blocks), Arc::new((0..objects).collect()));
        cycles_with(&program, Box::new(edit), &batch)
    };
    assert_eq!(pooled(BLOCKS), least);
    // 15 cycles for a new block, 5 to give it back.
    assert!(as_it_is - least >= BLOCKS * 19, "{as_it_is} and {least}");
    assert!(pooled(BLOCKS / 2) > least + BLOCKS * 9);
}
