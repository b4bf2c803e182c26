use trackway_trace::allocations::Allocator;

use super::*;

fn holdings() -> Holdings {
    let process = |number, origin| AllocatingProcess {
        number,
        pid: 100 + number,
        origin,
        began_ns: 0,
    };
    Holdings::new(&[
        process(0, Origin::Started),
        process(1, Origin::Forked { parent: 0 }),
        process(2, Origin::Executed { former: 1 }),
    ])
}

fn event(time_ns: u64, process: u32, stack: u32, what: AllocationAction) -> AllocationEvent {
    AllocationEvent {
        time_ns,
        process,
        stream: process,
        thread: 1,
        by: Allocator::Malloc,
        what,
        stack: StackId(stack),
    }
}

fn allocated(address: u64, size: u64) -> AllocationAction {
    AllocationAction::Allocated {
        address,
        size,
        alignment: 0,
    }
}

fn mapped(address: u64, length: u64) -> AllocationAction {
    AllocationAction::Mapped {
        address,
        length,
        protection: 3,
        flags: 0x22,
        descriptor: None,
        offset: 0,
    }
}

/// Applies events in their order.
fn after(events: &[AllocationEvent]) -> (Holdings, Vec<Change>) {
    let (mut holdings, mut changes) = (holdings(), Vec::new());
    events
        .iter()
        .for_each(|event| holdings.apply(event, &mut changes));
    (holdings, changes)
}

fn site(holdings: &Holdings, process: u32, address: u64) -> Option<u32> {
    holdings.find(process, address).map(|(_, block)| block.stack.0)
}

#[test]
fn an_address_is_whose_block_it_is_at_the_time() {
    let freed = AllocationAction::Freed { address: 0x1000 };
    let events = [
        event(1, 0, 7, allocated(0x1000, 64)),
        event(2, 0, 0, freed),
        event(3, 0, 8, allocated(0x1000, 32)),
    ];
    assert_eq!(site(&after(&events[..1]).0, 0, 0x103f), Some(7));
    assert_eq!(site(&after(&events[..2]).0, 0, 0x1000), None);
    let (holdings, changes) = after(&events);
    assert_eq!(
        (site(&holdings, 0, 0x101f), site(&holdings, 0, 0x1020)),
        (Some(8), None)
    );
    assert_eq!(changes.len(), 3);
}

#[test]
fn a_block_is_there_while_it_is_reallocated_and_at_its_new_place_behind() {
    let announced = AllocationAction::Reallocating { address: 0x1000 };
    let through = AllocationAction::Reallocated {
        old: 0x1000,
        address: 0x8000,
        size: 128,
    };
    let events = [
        event(1, 0, 7, allocated(0x1000, 64)),
        event(2, 0, 9, announced),
        event(3, 0, 9, through),
    ];
    assert_eq!(site(&after(&events[..2]).0, 0, 0x1010), Some(7));
    let (holdings, _) = after(&events);
    assert_eq!(
        (site(&holdings, 0, 0x1010), site(&holdings, 0, 0x8070)),
        (None, Some(9))
    );
}

#[test]
fn a_child_holds_what_its_parent_held_when_it_forked() {
    let freed = |address| AllocationAction::Freed { address };
    let forked = AllocationAction::Forked { began_ns: 10 };
    let events = [
        event(1, 0, 7, allocated(0x1000, 64)),
        event(2, 0, 8, allocated(0x2000, 64)),
        event(11, 0, 0, freed(0x1000)), // before the child shows itself
        event(12, 0, 9, allocated(0x1000, 16)),
        event(13, 1, 0, forked),
        event(14, 1, 0, freed(0x2000)),
    ];
    let (holdings, changes) = after(&events);
    assert_eq!(
        (site(&holdings, 1, 0x1020), site(&holdings, 1, 0x2000)),
        (Some(7), None)
    );
    assert_eq!(
        (site(&holdings, 0, 0x1000), site(&holdings, 0, 0x2000)),
        (Some(9), Some(8))
    );
    assert_eq!(
        site(&holdings, 2, 0x2000),
        None,
        "another program holds nothing of it"
    );
    let released = |change: &&Change| matches!(change, Change::Released(_));
    assert_eq!(
        changes.iter().filter(released).count(),
        1,
        "only the parent's own"
    );
}

#[test]
fn a_child_that_has_not_shown_itself_holds_what_its_parent_holds() {
    let (holdings, _) = after(&[event(1, 0, 7, allocated(0x1000, 64))]);
    assert_eq!(site(&holdings, 1, 0x1000), Some(7));
}

#[test]
fn blocks_come_before_the_pages_that_they_lie_in() {
    let unmapped = AllocationAction::Unmapped {
        address: 0x10000,
        length: 0x1000,
    };
    let events = [
        event(1, 0, 5, mapped(0x10000, 0x4000)),
        event(2, 0, 6, allocated(0x11000, 64)),
        event(3, 0, 0, unmapped),
    ];
    let (holdings, changes) = after(&events);
    assert_eq!(
        (site(&holdings, 0, 0x11000), site(&holdings, 0, 0x11040)),
        (Some(6), Some(5))
    );
    assert_eq!(site(&holdings, 0, 0x10000), None);
    let Some(Change::Released(part)) = changes.last() else {
        panic!("a part is released: {changes:?}");
    };
    assert_eq!((part.bytes, part.stack.0), (0x1000, 5));
}

#[test]
fn moved_pages_stay_those_of_their_call() {
    let remapped = AllocationAction::Remapped {
        old: 0x10000,
        old_length: 0x1000,
        address: 0x40000,
        length: 0x3000,
    };
    let (holdings, _) = after(&[event(1, 0, 5, mapped(0x10000, 0x1000)), event(2, 0, 6, remapped)]);
    assert_eq!(
        (site(&holdings, 0, 0x10000), site(&holdings, 0, 0x42fff)),
        (None, Some(5))
    );
}
