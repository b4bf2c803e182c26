//! What work the accesses of sites are.

use trackway_trace::table::{Table, TableFunction, TableLocation, TableSite, TableWork};
use trackway_trace::{AccessKind, VariableKind};

fn site() -> TableSite {
    TableSite {
        function: 0,
        ordinal: 0,
        part: 0,
        kind: AccessKind::Load,
        size: 8,
        location: 0,
        variable: 0,
        variable_kind: VariableKind::Unknown,
        object_type: 0,
        field: 0,
        value_type: 0,
    }
}

fn table(work: Vec<TableWork>) -> Table {
    Table {
        strings: vec![String::new()],
        locations: vec![TableLocation::default()],
        functions: vec![TableFunction::default()],
        sites: vec![site(), site()],
        work: Some(work),
        ..Table::default()
    }
}

fn work(loads: Vec<u32>) -> TableWork {
    TableWork {
        instructions: 300,
        waits: loads.len() as u32,
        from_elsewhere: loads.is_empty(),
        loads,
    }
}

#[test]
fn it_is_read_as_it_was_written() {
    let written = table(vec![work(vec![1, 0]), work(vec![])]);
    assert_eq!(Table::parse(&written.encode()), Ok(written));
}

#[test]
fn sites_that_wait_for_nothing_say_nothing_of_it() {
    let without = table(vec![work(vec![]), work(vec![])]);
    let mut with = without.clone();
    with.work.as_mut().unwrap()[1].waits = 1;
    assert_eq!(Table::parse(&without.encode()), Ok(without.clone()));
    assert_eq!(with.encode().len(), without.encode().len() + 3);
}

#[test]
fn each_site_has_one() {
    let error = Table::parse(&table(vec![work(vec![])]).encode()).unwrap_err();
    assert!(error.what.contains("the work of 1 sites, but 2 sites"), "{error}");
}

#[test]
fn loads_are_sites() {
    let error = Table::parse(&table(vec![work(vec![2]), work(vec![])]).encode()).unwrap_err();
    assert!(error.what.contains("site"), "{error}");
}
