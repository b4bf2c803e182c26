//! Compares with a map of each byte.

use std::collections::BTreeSet;

use proptest::prelude::*;
use trackway_trace::{
    AccessKind, AllocationSiteId, Event, FunctionId, LocationId, ModuleId, Site, StringId, Symbol,
    VariableKind,
};

use super::*;
use crate::analyses::whatif::{Change as LayoutChange, Link};
use crate::model::structures::{test_structure, test_structures};

const START: u64 = 0x40_0010;

fn program(block_bytes: u64) -> Program {
    let mut program = Program::default();
    program.sites.push(Site {
        function: FunctionId(0),
        ordinal: 0,
        part: 0,
        kind: AccessKind::Load,
        size: 0,
        location: LocationId(0),
        variable: StringId(0),
        variable_kind: VariableKind::Unknown,
        object_type: StringId(0),
        field: StringId(0),
        value_type: StringId(0),
        waits: false,
    });
    program.symbols.push(Symbol {
        module: ModuleId(0),
        name: StringId(0),
        type_name: StringId(0),
        size: block_bytes,
        address: Some(START),
        location: LocationId(0),
    });
    program
}

/// Where a byte of the array goes; none if it is in no member.
fn moved(structure: &Structure, layout: &NewLayout, starts: &[u64], inside: u64) -> Option<u64> {
    let (number, within) = (inside / structure.size, inside % structure.size);
    let holds = |member: &crate::model::structures::Member| {
        (member.offset..member.offset + member.size).contains(&within)
    };
    let member = structure.members.iter().position(holds)?;
    let (part, offset) = layout.places[member];
    Some(starts[part] + number * layout.parts[part].size + offset + within - structure.members[member].offset)
}

fn change(names: Vec<String>) -> impl Strategy<Value = LayoutChange> {
    let some = proptest::sample::subsequence(names.clone(), 1..=names.len() - 1).prop_shuffle();
    let last = names[names.len() - 1].clone();
    prop_oneof![
        some.clone().prop_map(LayoutChange::Split),
        some.prop_map(LayoutChange::Reorder),
        (1u64..100).prop_map(LayoutChange::PadBy),
        Just(LayoutChange::PadMember(last)),
        (0u32..8).prop_map(|shift| LayoutChange::Align(1 << shift)),
        Just(LayoutChange::Arrays),
    ]
}

fn question() -> impl Strategy<Value = (Structure, LayoutChange, Link)> {
    let link = prop_oneof![Just(Link::Pointer), Just(Link::Index)];
    proptest::collection::vec(1u64..30, 2..7).prop_flat_map(move |sizes| {
        let structure = test_structure(&sizes);
        let names = structure
            .members
            .iter()
            .map(|member| member.name.clone())
            .collect();
        (Just(structure), change(names), link.clone())
    })
}

proptest! {
    #[test]
    fn each_byte_goes_where_its_member_went(
        (structure, change, link) in question(),
        count in 1u64..20,
        phase in 0u64..8,
        accesses in proptest::collection::vec((0u64..1200, 1u64..90), 1..60),
    ) {
        let phase = phase % structure.size;
        let block_bytes = phase + count * structure.size;
        let program = program(block_bytes);
        let structures = test_structures(structure.clone());
        let layout = NewLayout::new(&structures, 0, change, link, 64).unwrap();
        let targets = Targets::new(&structures, std::slice::from_ref(&layout));
        let purposes = Purposes::from_list(vec![Purpose::Array { structure: 0, phase }]);
        let starts = Space::new(layout.parts.len(), 0).place(&layout.parts, START + phase, count);

        let mut rewriter = Rewriter::new(&program, &purposes, &targets);
        let mut last_object = None;
        for (offset, length) in accesses {
            let (mut from, mut to) = (Batch::default(), Batch::default());
            let address = START + offset;
            push(&mut from, SiteId(0), address, length);
            let before = rewriter.done[0];
            rewriter.rewrite(&program, &from, &mut to, &mut |_| {});
            let covered: BTreeSet<u64> = (0..to.len())
                .filter(|&index| to.site[index] == SiteId(0))
                .flat_map(|index| to.address[index]..to.address[index] + to.length(index))
                .collect();

            let array = START + phase;
            let is_inside = (array..array + count * structure.size).contains(&address);
            if !is_inside {
                prop_assert_eq!(covered, (address..address + length).collect::<BTreeSet<u64>>());
                continue;
            }
            let bytes = (address - array)..(address - array + length);
            let expected: BTreeSet<u64> = bytes.clone().filter_map(|inside| match inside < count * structure.size {
                true => moved(&structure, &layout, &starts, inside),
                false => Some(array + inside),
            }).collect();
            prop_assert!(expected.is_subset(&covered), "{:x?} {:x?}", expected, covered);
            let within = bytes.start % structure.size;
            if within + length <= structure.size && structure.holes().is_empty() && structure.padding() == 0 {
                prop_assert_eq!(&expected, &covered);
            }
            if within + length <= structure.size && layout.has_pointer() {
                // A hole belongs to the member before.
                let part = |byte: u64| structure.members.iter().rposition(|member| member.offset <= byte % structure.size)
                    .map_or(0, |member| layout.places[member].0);
                let object = bytes.start / structure.size;
                let reaches = bytes.clone().any(|byte| part(byte) == 1);
                let loads = reaches && last_object != Some(object);
                prop_assert_eq!(rewriter.done[0].pointer_loads - before.pointer_loads, u64::from(loads));
                if reaches {
                    last_object = Some(object);
                }
            } else if layout.has_pointer() {
                last_object = Some(bytes.start / structure.size);
            }
        }
    }
}

#[test]
fn copies_of_many_objects_stay_few_accesses() {
    let structure = test_structure(&[8, 8]);
    let program = program(16 << 20);
    let structures = test_structures(structure);
    let change = LayoutChange::Split(vec!["a".into()]);
    let layout = NewLayout::new(&structures, 0, change, Link::Index, 64).unwrap();
    let targets = Targets::new(&structures, &[layout]);
    let purposes = Purposes::from_list(vec![Purpose::Array {
        structure: 0,
        phase: 0,
    }]);
    let mut rewriter = Rewriter::new(&program, &purposes, &targets);
    let (mut from, mut to) = (Batch::default(), Batch::default());
    push(&mut from, SiteId(0), START, 16 << 20);
    rewriter.rewrite(&program, &from, &mut to, &mut |_| {});
    assert_eq!((to.len(), to.length(0), to.length(1)), (2, 8 << 20, 8 << 20));
    assert_eq!((rewriter.done[0].objects, rewriter.done[0].divided), (1 << 20, 1));
}

#[test]
fn pointers_of_an_allocation_are_set_at_once() {
    const COUNT: u64 = 100_000;
    let program = program(0);
    let structures = test_structures(test_structure(&[8, 24]));
    let change = LayoutChange::Split(vec!["a".into()]);
    let layout = NewLayout::new(&structures, 0, change, Link::Pointer, 64).unwrap();
    let targets = Targets::new(&structures, &[layout]);
    // The static variable, which is empty, is block 0.
    let purposes = Purposes::from_list(vec![
        Purpose::Unknown,
        Purpose::Array {
            structure: 0,
            phase: 0,
        },
    ]);
    let mut rewriter = Rewriter::new(&program, &purposes, &targets);
    let mut blocks = rewriter.begin_process(&program, 0);
    let allocation = Change::Begins {
        number: 1,
        start: START,
        length: 32 * COUNT,
    };
    let pointers = rewriter.apply(&mut blocks, 0, allocation);
    let mut stored: Vec<(SiteId, u64, u32)> = Vec::new();
    let mut keep = |batch: &Batch| {
        stored.extend(
            (0..batch.len()).map(|index| (batch.site[index], batch.address[index], batch.size[index])),
        );
    };
    let (from, mut to) = (Batch::default(), Batch::default());
    rewriter.set_pointers(pointers, &from, &mut to, &mut keep);
    keep(&to);
    assert_eq!(rewriter.done[0].pointer_stores, COUNT);
    let first = stored[0].1;
    let expected = (0..COUNT).map(|number| (SiteId(2), first + number * 16, 8));
    assert!(expected.eq(stored.iter().copied()));
    let field = rewriter.pointers_of(blocks.at(0, START).unwrap().1.as_ref().unwrap());
    assert_eq!(field.unwrap().start, first);
}

#[test]
fn calls_of_the_allocator_are_passed_on() {
    let program = program(64);
    let (purposes, targets) = (
        Purposes::default(),
        Targets::new(&test_structures(test_structure(&[8])), &[]),
    );
    let mut from = Batch::default();
    let free = Event::Free {
        site: AllocationSiteId(0),
        address: START,
    };
    from.push(Event::Enter(FunctionId(0)));
    push(&mut from, SiteId(0), START, 8);
    from.push(free);
    let mut to = Batch::default();
    let mut passed = Vec::new();
    let mut rewriter = Rewriter::new(&program, &purposes, &targets);
    rewriter.rewrite(&program, &from, &mut to, &mut |batch| passed.push(batch.clone()));
    let items: Vec<_> = passed.iter().flat_map(Batch::all_items).collect();
    assert_eq!(items, from.all_items().collect::<Vec<_>>());
}
