//! Placements of scenes with known answers.

use trackway_analysis::objects::Objects;
use trackway_analysis::placement::{parse_tier, Method, Placement, Tier};
use trackway_report::Value;
use trackway_trace::{DataSource, Sample, Trace};

use crate::scene::*;

const SIZE: u64 = 1 << 20;

fn tiers(texts: &[&str]) -> Vec<Tier> {
    texts.iter().map(|text| parse_tier(text).unwrap()).collect()
}

/// `build` has 1 MiB and 30 samples, `walk` 2 MiB and 10; 10 more access nothing.
fn trace() -> Trace {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (1, &[BUILD], allocated(0x1000_0000, SIZE)),
            (2, &[WALK], allocated(0x2000_0000, 2 * SIZE)),
        ],
    );
    for index in 0..50 {
        let address = match index {
            0..30 => Some(0x1000_0000),
            30..40 => Some(0x2000_0000),
            _ => None,
        };
        scene.sample(100 + index, address);
    }
    scene.open()
}

fn tier_of<'p>(placement: &'p Placement, name: &str) -> &'p str {
    let owner = |index: usize| placement.objects.owners.get_index(index).unwrap().0.name();
    let placed = placement
        .placed
        .iter()
        .find(|placed| owner(placed.candidate.owner) == name);
    &placement.tiers[placed.unwrap().tier].name
}

#[test]
fn what_gains_most_for_each_byte_comes_first() {
    let trace = trace();
    let objects = Objects::of(&trace, 1);
    let near = "near:latency=100,read=100,write=100";
    let far = "far:latency=300,read=100,write=100";
    let small = format!("{near},capacity=1M");
    let placement = Placement::of(&objects, tiers(&[&small, far]), 0);
    assert_eq!(
        (tier_of(&placement, "build"), tier_of(&placement, "walk")),
        ("near", "far")
    );
    // 50,000 ns were measured; walk's 10,000 take three times as long.
    assert_eq!((placement.predicted, placement.method), (70_000.0, Method::Exact));
    assert_eq!(placement.bound, Some(70_000.0));
    assert_eq!(
        placement.curve(),
        [(0, 130_000.0), (SIZE, 70_000.0), (3 * SIZE, 50_000.0)]
    );
    // If there is room for 2 MiB, parts of walk's blocks could come in as well.
    let placement = Placement::of(&objects, tiers(&[&format!("{near},capacity=2M"), far]), 0);
    assert_eq!((placement.predicted, placement.bound), (70_000.0, Some(60_000.0)));
}

#[test]
fn what_was_measured_in_slow_memory_gains_in_fast_one() {
    let trace = trace();
    let objects = Objects::of(&trace, 1);
    let fast = "fast:latency=50,read=100,write=100,capacity=1M";
    let slow = "slow:latency=100,read=100,write=100";
    let placement = Placement::of(&objects, tiers(&[fast, slow]), 1);
    assert_eq!(tier_of(&placement, "build"), "fast");
    assert_eq!(placement.predicted, 35_000.0);
    assert_eq!(placement.weight_with(|_| 1), 50_000.0);
}

#[test]
fn tiers_are_filled_one_after_the_other() {
    let trace = trace();
    let objects = Objects::of(&trace, 1);
    let three = tiers(&[
        "first:latency=100,read=100,write=100,capacity=1M",
        "second:latency=200,read=100,write=100,capacity=1M",
        "third:latency=1000,read=100,write=100,capacity=1M",
    ]);
    let placement = Placement::of(&objects, three, 0);
    assert_eq!(
        (tier_of(&placement, "build"), tier_of(&placement, "walk")),
        ("first", "third")
    );
    assert_eq!(
        (placement.predicted, placement.too_large_bytes),
        (140_000.0, SIZE)
    );
    assert_eq!(placement.bound, None);
    assert!(placement.warnings()[0].contains("exceeds the capacity of third by 1,048,576 bytes"));
}

#[test]
fn what_caches_answered_does_not_depend_on_memory() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(0, &[(1, &[BUILD], allocated(0x1000_0000, SIZE))]);
    for (time_ns, level) in [(10, 1u64), (11, 3), (12, 13), (13, 0)] {
        let sample = Sample {
            time_ns,
            address: Some(0x1000_0000),
            data_source: DataSource(if level > 0 { 2 | level << 33 } else { 0 }),
            ..loading()
        };
        scene.push(sample, &[]);
    }
    let trace = scene.open();
    let objects = Objects::of(&trace, 1);
    let pair = tiers(&[
        "near:latency=100,read=100,write=100",
        "far:latency=300,read=100,write=100",
    ]);
    let placement = Placement::of(&objects, pair, 0);
    assert_eq!(placement.weight_with(|_| 1), 4_000.0 + 2.0 * 2_000.0);
}

#[test]
fn advice_names_the_ways_to_each_call_site() {
    let trace = trace();
    let objects = Objects::of(&trace, 1);
    let placement = Placement::of(&objects, tiers(&["dram:capacity=1M", "cxl"]), 0);
    let header = placement.advice_header("/bin/prog");
    assert_eq!(
        (header.trackway_advice, header.tiers),
        (1, vec!["dram".to_owned(), "cxl".to_owned()])
    );
    let advice = placement.advice();
    let build = advice.iter().find(|site| site.function == "build").unwrap();
    assert_eq!((build.tier.as_str(), build.line, build.bytes), ("dram", 10, SIZE));
    let frame = &build.calls[0][0];
    assert_eq!(
        (frame.object.as_str(), frame.offset, frame.build_id.as_str()),
        ("/bin/prog", 0x101, "beef")
    );
    let findings = placement.findings(1);
    let sites = &findings.tables[0];
    assert_eq!((sites.row_count(), sites.total_rows()), (1, 2));
    assert_eq!(sites.column("name").unwrap().value(0), Value::Text("build"));
}
