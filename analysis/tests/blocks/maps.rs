//! `trackway map`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trackway_analysis::cache::Caches;
use trackway_analysis::map::{Finest, Map, View};
use trackway_analysis::moments::TimeBins;
use trackway_analysis::site_counts::Measure;
use trackway_analysis::Findings;
use trackway_report::{HeatMap, Table};
use trackway_trace::Trace;

use crate::reference::{Reference, Touch};
use crate::{bin_width, findings, integer, scene, table, text, times, undivided};

/// Reads and writes by level, owner, stream, granule and beginning of the part of time.
type Cells = BTreeMap<(u64, String, u64, u64, u64), [u64; 2]>;

fn whole(trace: &Trace, measure: Measure) -> View {
    let (from_ns, to_ns) = times(trace).range_ns();
    View {
        measure,
        machine: None,
        caches: match measure {
            Measure::Misses(_) => "L1=512,1,64".parse().unwrap(),
            _ => Caches::none(),
        },
        from_ns,
        to_ns,
        addresses: (0, u64::MAX),
        owner: None,
        rows: 4096,
        bins: 16,
        finest: Finest::Level(0),
        top: 100,
    }
}

fn weight(touch: &Touch, measure: Measure) -> u64 {
    match measure {
        Measure::Accesses => touch.accesses,
        Measure::Bytes => touch.bytes,
        Measure::Misses(_) => touch.missed.into(),
        Measure::Cycles => unreachable!("maps show no cycles"),
    }
}

fn shown<'r>(reference: &'r Reference, view: &'r View) -> impl Iterator<Item = &'r Touch> {
    reference.touches.iter().filter(|touch| {
        (view.from_ns..=view.to_ns).contains(&touch.time_ns)
            && (view.addresses.0..=view.addresses.1).contains(&touch.address)
            && view.owner.as_ref().is_none_or(|owner| *owner == touch.owner)
            && weight(touch, view.measure) > 0
    })
}

/// Times are shown since 0, when the traces of the scene began.
fn expected(reference: &Reference, view: &View, granule_bytes: u64) -> Cells {
    let width = bin_width(view.from_ns, view.to_ns, view.bins as u64);
    let mut cells = Cells::new();
    let mut level = 0;
    while level == 0 || (view.to_ns - view.from_ns) / (width << (level - 1)) > 0 {
        let (granule_bytes, width) = (u128::from(granule_bytes) << level, width << level);
        for touch in shown(reference, view) {
            let bin = (touch.time_ns - view.from_ns) / width;
            let granule = (u128::from(touch.address) / granule_bytes * granule_bytes) as u64;
            let key = (
                level,
                touch.owner.clone(),
                u64::from(touch.stream),
                granule,
                view.from_ns + bin * width,
            );
            cells.entry(key).or_default()[usize::from(touch.is_write)] += weight(touch, view.measure);
        }
        level += 1;
    }
    cells
}

fn found(cells: &Table) -> Cells {
    let mut found = Cells::new();
    for row in 0..cells.row_count() {
        let number = |name| integer(cells, name, row);
        let key = (
            number("level"),
            text(cells, "name", row).to_owned(),
            number("stream"),
            number("address"),
            number("from_ns"),
        );
        let counts = found.entry(key).or_default();
        counts[0] += number("reads");
        counts[1] += number("writes");
    }
    found
}

fn check(trace: &Trace, reference: &Reference, view: View) {
    let times = times(trace);
    let findings = findings(&Map::new(trace, &times, undivided(trace), view.clone()), trace);
    let levels = table(&findings, "levels");
    let granule_bytes = integer(levels, "granule_bytes", 0);
    let cells = table(&findings, "cells");
    assert_eq!(
        found(cells),
        expected(reference, &view, granule_bytes),
        "{view:?}"
    );
    let all: u64 = shown(reference, &view)
        .map(|touch| weight(touch, view.measure))
        .sum();
    assert_eq!(integer(table(&findings, "map"), "shown", 0), all);
    let owners = table(&findings, "owners");
    let of_owners =
        (0..owners.row_count()).map(|row| integer(owners, "reads", row) + integer(owners, "writes", row));
    assert_eq!(of_owners.sum::<u64>(), all);
    let picture = HeatMap::from_cells(cells, 10, 10);
    assert_eq!(
        picture.is_some(),
        all > 0,
        "whatever was accessed gives a picture"
    );
}

/// Reads and writes by owner, stream and bin of time.
type Moments = BTreeMap<(String, u64, u64), [u64; 2]>;

fn found_moments(findings: &Findings) -> Moments {
    let (owners, moments) = (table(findings, "owners"), table(findings, "owner_moments"));
    let mut found = Moments::new();
    for row in 0..moments.row_count() {
        let number = |name| integer(moments, name, row);
        let owner = text(owners, "name", number("row") as usize).to_owned();
        let counts = found.entry((owner, number("stream"), number("bin"))).or_default();
        *counts = [counts[0] + number("reads"), counts[1] + number("writes")];
    }
    found
}

fn expected_moments(reference: &Reference, view: &View, bins: TimeBins) -> Moments {
    let mut expected = Moments::new();
    for touch in shown(reference, view) {
        let bin = bins.nearest(touch.time_ns) as u64;
        let counts = expected.entry((touch.owner.clone(), touch.stream.into(), bin));
        counts.or_default()[usize::from(touch.is_write)] += touch.accesses;
    }
    expected
}

/// Accesses by the memory's label.
fn by_memory(site_owners: &Table, accesses: impl Fn(usize) -> u64) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for row in 0..site_owners.row_count() {
        *sums
            .entry(text(site_owners, "memory", row).to_owned())
            .or_default() += accesses(row);
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn owners_by_thread_and_time_are_those_of_the_reference(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        let trace = scene::trace(&bytes);
        let reference = Reference::new(&trace);
        let view = whole(&trace, Measure::Accesses);
        let times = times(&trace);
        let bins = TimeBins::new(view.from_ns, view.to_ns, 4);
        let map = Map::new(&trace, &times, undivided(&trace), view.clone()).with_sites().with_moments(Some(bins));
        let findings = findings(&map, &trace);
        let expected = expected_moments(&reference, &view, bins);
        prop_assert_eq!(found_moments(&findings), expected.clone());
        let (sites, moments) = (table(&findings, "site_owners"), table(&findings, "site_owner_moments"));
        let of_row = |row: usize, is_wanted: &dyn Fn(usize) -> bool| -> u64 {
            let own = (0..moments.row_count()).filter(|moment| integer(moments, "row", *moment) == row as u64);
            own.filter(|moment| is_wanted(*moment)).map(|moment| integer(moments, "accesses", moment)).sum()
        };
        for row in 0..sites.row_count() {
            prop_assert_eq!(of_row(row, &|_| true), integer(sites, "accesses", row));
        }
        // A thread in a part of the time.
        let is_wanted = |moment| integer(moments, "stream", moment) == 1 && integer(moments, "bin", moment) <= 1;
        let mut found = by_memory(sites, |row| of_row(row, &is_wanted));
        found.retain(|_, accesses| *accesses > 0);
        let mut of_thread = BTreeMap::new();
        for ((owner, stream, bin), counts) in expected {
            if stream == 1 && bin <= 1 {
                *of_thread.entry(owner).or_default() += counts[0] + counts[1];
            }
        }
        prop_assert_eq!(found, of_thread);
    }

    #[test]
    fn cells_are_those_of_the_reference(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        let trace = scene::trace(&bytes);
        let reference = Reference::new(&trace);
        for measure in [Measure::Accesses, Measure::Bytes, Measure::Misses(0)] {
            check(&trace, &reference, whole(&trace, measure));
        }
    }

    #[test]
    fn granules_grow_when_there_are_too_many(
        bytes in proptest::collection::vec(any::<u8>(), 2000..4000), rows in 1usize..40,
    ) {
        let trace = scene::trace(&bytes);
        let reference = Reference::new(&trace);
        check(&trace, &reference, View { rows, ..whole(&trace, Measure::Accesses) });
        check(&trace, &reference, View { rows, ..whole(&trace, Measure::Bytes) });
    }

    #[test]
    fn a_part_can_be_shown_alone(
        bytes in proptest::collection::vec(any::<u8>(), 1000..4000),
        from in 0u64..30_000, length in 0u64..20_000, low in 0u64..0x2000, size in 0u64..0x2000, owner in 0usize..5,
    ) {
        let trace = scene::trace(&bytes);
        let reference = Reference::new(&trace);
        for measure in [Measure::Accesses, Measure::Bytes, Measure::Misses(0)] {
            let all = whole(&trace, measure);
            let addresses = (0x10_0000 + low, 0x10_0000 + low + size);
            check(&trace, &reference, View { addresses, ..all.clone() });
            let owner = ["first, malloc", "second, malloc", "table", "stack of thread 0", "other memory"][owner];
            check(&trace, &reference, View { owner: Some(owner.to_owned()), ..all.clone() });
            let (from_ns, to_ns) = (1000 + from, 1000 + from + length);
            check(&trace, &reference, View { from_ns, to_ns, ..all });
        }
    }
}
