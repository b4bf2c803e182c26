//! The tables of the golden trace, whose accesses are listed in `trace/testing/golden.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::RecordBatch;
use trackway_arrow::{partitions, Partition, Relation, Selection, TraceTables};

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../trace/vectors")
        .join(name)
}

fn golden() -> Arc<TraceTables> {
    TraceTables::open(&vector("golden-v2.trackway")).unwrap()
}

/// What the golden trace's stream 0 holds: kind, address, size.
const ACCESSES: [(&str, u64, u64); 10] = [
    ("load", 0x7f00_0000_1008, 8),
    ("store", 0x7f00_0000_2000, 4),
    ("load", 0x40_4010, 8),
    ("store", 0x7f00_0000_3000, 4),
    ("load", 0x40_4010, 8),
    ("fill", 0x7f00_0000_3010, 100),
    ("load", 0x7f00_0000_3000, 4),
    ("load", 0x7f00_0000_3008, 4),
    ("store", 0x7f00_0000_4000, 4),
    ("load", 0x40_4010, 8),
];

fn columns(relation: Relation, names: &[&str]) -> Vec<usize> {
    let schema = relation.schema();
    names.iter().map(|name| schema.index_of(name).unwrap()).collect()
}

fn all(
    tables: &Arc<TraceTables>,
    relation: Relation,
    selection: &Selection,
    count: usize,
) -> Vec<RecordBatch> {
    let parts = partitions(tables, relation, selection, count);
    let batches = parts
        .into_iter()
        .flat_map(|part| tables.scan(relation, part, selection.clone()));
    batches.map(Result::unwrap).collect()
}

fn wide(batches: &[RecordBatch], column: usize) -> Vec<u64> {
    let values = batches.iter().flat_map(|batch| {
        batch
            .column(column)
            .as_primitive::<UInt64Type>()
            .values()
            .to_vec()
    });
    values.collect()
}

fn keyed(batches: &[RecordBatch], column: usize) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    for batch in batches {
        let keyed = batch.column(column).as_dictionary::<UInt32Type>();
        let values = keyed.downcast_dict::<arrow_array::StringArray>().unwrap();
        texts.extend(values.into_iter().map(|text| text.map(str::to_owned)));
    }
    texts
}

#[test]
fn accesses_are_those_of_the_trace() {
    let tables = golden();
    let selection = Selection {
        columns: Some(columns(
            Relation::Accesses,
            &["address", "size", "kind", "sequence", "thread"],
        )),
        ..Selection::default()
    };
    for parts in [1, 2, 7] {
        let batches = all(&tables, Relation::Accesses, &selection, parts);
        let kinds = keyed(&batches, 2);
        let found = wide(&batches, 0).into_iter().zip(wide(&batches, 1)).zip(kinds);
        let found: Vec<_> = found
            .map(|((address, size), kind)| (kind.unwrap(), address, size))
            .collect();
        let expected = ACCESSES.map(|(kind, address, size)| (kind.to_owned(), address, size));
        assert_eq!(found[..10], expected, "{parts} parts");
        assert_eq!(wide(&batches, 3)[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}

#[test]
fn rows_are_chosen_while_they_are_decoded() {
    let tables = golden();
    let count = |selection: Selection| {
        let batches = all(&tables, Relation::Accesses, &selection, 1);
        batches.iter().map(RecordBatch::num_rows).sum::<usize>()
    };
    let none = || Selection {
        columns: Some(Vec::new()),
        threads: Some(vec![0]),
        ..Selection::default()
    };
    assert_eq!(count(none()), 10);
    assert_eq!(
        count(Selection {
            addresses: 0x40_0000..=0x40_ffff,
            ..none()
        }),
        3
    );
    assert_eq!(
        count(Selection {
            addresses: 0x7f00_0000_3000..=0x7f00_0000_3008,
            ..none()
        }),
        3
    );
    assert_eq!(
        count(Selection {
            limit: Some(4),
            ..none()
        }),
        4
    );
    assert_eq!(
        count(Selection {
            threads: Some(vec![77]),
            ..none()
        }),
        0
    );
    assert_eq!(
        count(Selection {
            sites: Some(vec![]),
            ..none()
        }),
        0
    );
}

#[test]
fn the_times_of_accesses_decide_and_are_shown() {
    let tables = golden();
    let selection = |times_ns| Selection {
        columns: Some(columns(Relation::Accesses, &["time_ns"])),
        threads: Some(vec![0]),
        times_ns,
        ..Selection::default()
    };
    let every = wide(&all(&tables, Relation::Accesses, &selection(0..=u64::MAX), 1), 0);
    assert_eq!(every.len(), 10);
    assert_eq!(every[0], 1000, "the first chunk begins then");
    assert!(every.is_sorted());
    for (first, last) in [(0, 999), (1000, 1000), (1001, 1500), (1990, 2200), (3000, 9999)] {
        let found = wide(&all(&tables, Relation::Accesses, &selection(first..=last), 3), 0);
        let expected: Vec<u64> = every
            .iter()
            .copied()
            .filter(|time| (first..=last).contains(time))
            .collect();
        assert_eq!(found, expected, "{first} to {last}");
    }
}

#[test]
fn chunks_without_wanted_rows_are_in_no_part() {
    let tables = golden();
    let chunks = |selection: Selection| {
        let parts = partitions(&tables, Relation::Accesses, &selection, 2);
        parts.iter().map(Partition::chunk_count).sum::<usize>()
    };
    let all = chunks(Selection::default());
    assert!(all >= 2);
    assert_eq!(
        chunks(Selection {
            times_ns: 0..=1,
            ..Selection::default()
        }),
        0
    );
    assert_eq!(
        chunks(Selection {
            times_ns: 1200..=1300,
            ..Selection::default()
        }),
        1
    );
    assert_eq!(
        chunks(Selection {
            threads: Some(vec![]),
            ..Selection::default()
        }),
        0
    );
}

#[test]
fn parts_travel_as_text() {
    let tables = golden();
    for part in partitions(&tables, Relation::Accesses, &Selection::default(), 2) {
        let text = serde_json::to_string(&part).unwrap();
        assert_eq!(serde_json::from_str::<Partition>(&text).unwrap(), part);
    }
    let selection = Selection {
        addresses: 3..=u64::MAX,
        limit: Some(7),
        ..Selection::default()
    };
    let text = serde_json::to_string(&selection).unwrap();
    assert_eq!(serde_json::from_str::<Selection>(&text).unwrap(), selection);
}

#[test]
fn every_table_has_the_columns_of_its_schema() {
    for name in ["golden-v2.trackway", "counts-v2.trackway"] {
        let tables = TraceTables::open(&vector(name)).unwrap();
        for relation in Relation::ALL {
            for batch in all(&tables, relation, &Selection::default(), 1) {
                assert_eq!(batch.schema(), relation.schema(), "{}", relation.name());
            }
        }
    }
}

#[test]
fn counts_of_sites_add_up_to_the_accesses() {
    let tables = golden();
    let accesses = all(&tables, Relation::Accesses, &Selection::default(), 1);
    let rows: usize = accesses.iter().map(RecordBatch::num_rows).sum();
    let size = Relation::Accesses.schema().index_of("size").unwrap();
    let address = Relation::Accesses.schema().index_of("address").unwrap();
    let names = ["accesses", "bytes", "lowest_address", "highest_address", "site"];
    let selection = Selection {
        columns: Some(columns(Relation::SiteCounts, &names)),
        ..Selection::default()
    };
    for parts in [1, 3] {
        let counts = all(&tables, Relation::SiteCounts, &selection, parts);
        assert_eq!(wide(&counts, 0).iter().sum::<u64>(), rows as u64);
        assert_eq!(
            wide(&counts, 1).iter().sum::<u64>(),
            wide(&accesses, size).iter().sum::<u64>()
        );
        assert_eq!(
            wide(&counts, 2).iter().min(),
            wide(&accesses, address).iter().min()
        );
        assert_eq!(
            wide(&counts, 3).iter().max(),
            wide(&accesses, address).iter().max()
        );
    }
    let few = Selection {
        threads: Some(vec![0]),
        addresses: 0x40_0000..=0x40_ffff,
        ..selection
    };
    assert_eq!(
        wide(&all(&tables, Relation::SiteCounts, &few, 1), 0)
            .iter()
            .sum::<u64>(),
        3
    );
}

#[test]
fn other_tables_hold_what_the_trace_defines() {
    let tables = golden();
    let only = |relation, names: &[&str]| {
        let selection = Selection {
            columns: Some(columns(relation, names)),
            ..Selection::default()
        };
        all(&tables, relation, &selection, 1).remove(0)
    };
    let allocations = only(
        Relation::Allocations,
        &["kind", "by", "address", "size", "element_type", "line", "time_ns"],
    );
    assert_eq!(allocations.num_rows(), 1);
    assert_eq!(allocations.column(0).as_string::<i32>().value(0), "allocated");
    assert_eq!(
        allocations.column(2).as_primitive::<UInt64Type>().value(0),
        0x6000
    );
    assert_eq!(allocations.column(3).as_primitive::<UInt64Type>().value(0), 16);
    assert_eq!(allocations.column(4).as_string::<i32>().value(0), "struct node");
    let program = tables.trace().program();
    assert_eq!(only(Relation::Types, &["type"]).num_rows(), program.types.len());
    let members: usize = program.types.iter().map(|layout| layout.members.len()).sum();
    assert_eq!(only(Relation::Fields, &["field"]).num_rows(), members);
    assert_eq!(only(Relation::Sites, &["site"]).num_rows(), program.sites.len());
    assert_eq!(
        only(Relation::Functions, &["function"]).num_rows(),
        program.functions.len()
    );
    assert_eq!(only(Relation::Samples, &["tid"]).num_rows(), 0);
}

#[test]
fn regions_are_those_of_the_report() {
    let tables = TraceTables::open(&vector("counts-v2.trackway")).unwrap();
    let selection = Selection {
        columns: Some(columns(Relation::Regions, &["region", "entries"])),
        ..Selection::default()
    };
    let regions = all(&tables, Relation::Regions, &selection, 1).remove(0);
    let names: Vec<&str> = regions.column(0).as_string::<i32>().iter().flatten().collect();
    assert!(names.contains(&"solve") && names.contains(&"halo"), "{names:?}");
}
