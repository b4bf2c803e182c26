//! Samples joined with calls of allocators: scenes with known answers.

mod placements;
mod scene;
#[path = "../../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use scene::*;
use trackway_analysis::objects::{Confidence, Objects, Owner, Picture, PictureView, ReturnPlace};
use trackway_report::{HeatMap, Value};
use trackway_trace::allocations::AllocationAction;
use trackway_trace::{Direction, Protection, Sample, Trace, WindowAccess, WindowAddress, WindowEnd};

/// Owners that samples fell to, by label, with their numbers.
fn samples(trace: &Trace) -> Vec<(String, u64)> {
    let objects = Objects::of(trace, 64);
    assert!(objects.damage.is_empty(), "{:?}", objects.damage);
    let mut owners: Vec<(String, u64)> = objects
        .owners
        .iter()
        .filter(|(_, totals)| totals.weight.samples > 0)
        .map(|(owner, totals)| (owner.label(), totals.weight.samples))
        .collect();
    owners.sort();
    owners
}

fn owned(owners: &[(&str, u64)]) -> Vec<(String, u64)> {
    owners
        .iter()
        .map(|(label, count)| (String::from(*label), *count))
        .collect()
}

#[test]
fn a_sample_belongs_to_the_block_of_its_time() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (10, &[BUILD], allocated(0x10000, 64)),
            (20, &[], AllocationAction::Freed { address: 0x10000 }),
            (30, &[WALK], allocated(0x10000, 64)),
        ],
    );
    // The address goes from one to the other; times in the file run back.
    for time_ns in [35, 15, 19, 25, 30, 9] {
        scene.sample(time_ns, Some(0x10020));
    }
    let expected = owned(&[
        ("build at prog.c:10", 2),
        ("unknown", 2),
        ("walk at prog.c:20", 2),
    ]);
    assert_eq!(samples(&scene.open()), expected);
}

#[test]
fn a_few_samples_are_no_share_of_the_time() {
    let answer = |samples: u64| {
        let mut scene = Scene::new(Vec::new());
        scene.calls(0, &[(10, &[BUILD], allocated(0x10000, 64))]);
        for at in 0..samples {
            scene.sample(20 + at, Some(0x10020));
        }
        Objects::of(&scene.open(), 64).findings(10).answer.unwrap()
    };
    assert!(answer(1).starts_with("1 sample can't say where the time goes"));
    assert!(answer(20).starts_with("build at prog.c:10 has "));
}

#[test]
fn reallocated_blocks_belong_to_the_latest_call() {
    let mut scene = Scene::new(Vec::new());
    let moved = AllocationAction::Reallocated {
        old: 0x10000,
        address: 0x20000,
        size: 128,
    };
    scene.calls(
        0,
        &[
            (10, &[BUILD], allocated(0x10000, 64)),
            (20, &[WALK], AllocationAction::Reallocating { address: 0x10000 }),
            (30, &[WALK], moved),
        ],
    );
    scene.sample(25, Some(0x10000)); // is being copied
    scene.sample(35, Some(0x10000)); // is nobody's
    scene.sample(35, Some(0x20040));
    let expected = owned(&[
        ("build at prog.c:10", 1),
        ("unknown", 1),
        ("walk at prog.c:20", 1),
    ]);
    assert_eq!(samples(&scene.open()), expected);
}

#[test]
fn forked_children_hold_what_their_parents_held() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (10, &[BUILD], allocated(0x10000, 64)),
            (505, &[], AllocationAction::Freed { address: 0x10000 }),
            (506, &[WALK], allocated(0x10000, 64)),
        ],
    );
    scene.calls(1, &[(510, &[], AllocationAction::Forked { began_ns: 500 })]);
    for (pid, time_ns) in [(CHILD, 600), (CHILD, 700), (PID, 600)] {
        let sample = Sample {
            time_ns,
            pid,
            tid: pid,
            address: Some(0x10000),
            ..loading()
        };
        scene.push(sample, &[]);
    }
    let expected = owned(&[("build at prog.c:10", 2), ("walk at prog.c:20", 1)]);
    assert_eq!(samples(&scene.open()), expected);
}

#[test]
fn other_memory_goes_by_what_is_mapped() {
    let anonymous = read_write();
    let mappings = vec![
        range(0x41_0000, 0x1000, "/bin/prog", CODE, anonymous),
        range(0x41_1000, 0x1000, "", 0, anonymous), // variables without initial values
        range(0x50_0000, 0x1000, "[heap]", 0, anonymous),
        range(0x60_0000, 0x1000, "/data/input", 0, anonymous),
        range(0x70_0000, 0x1000, "//anon", 0, anonymous),
        range(0x80_0000, 0x80_0000, "//anon", 0, Protection::default()),
        range(0x7fff_0000_0000, 0x1000, "[stack]", 0, anonymous),
    ];
    let mut scene = Scene::new(mappings);
    let at = |instruction, address, tid| Sample {
        time_ns: 50,
        tid,
        instruction,
        address: Some(address),
        ..loading()
    };
    scene.push(at(AT_TABLE, 0x41_0010, PID), &[]);
    scene.push(at(CODE, 0x41_1010, PID), &[]);
    scene.push(at(AT_TABLE, 0x90_0000_0000, PID), &[]); // nothing is known to be mapped there, but the name is
    for address in [0x50_0000, 0x60_0008, 0x70_0000, 0x99_9999_9999, 0x7fff_0000_0fff] {
        scene.push(at(CODE, address, PID), &[]);
    }
    // Another thread's stack, on which the first one may look, too.
    scene.push(at(CODE, 0xff_f000, 107), &[]);
    scene.push(at(CODE, 0xff_e000, PID), &[]);
    let expected = owned(&[
        ("anonymous", 1),
        ("file /data/input", 1),
        ("free heap", 1),
        ("global /bin/prog", 1),
        ("stack thread 100", 1),
        ("stack thread 107", 2),
        ("table at /bin/prog", 2),
        ("unknown", 1),
    ]);
    assert_eq!(samples(&scene.open()), expected);
}

#[test]
fn allocations_are_named_after_who_wanted_them() {
    let mut scene = Scene::new(Vec::new());
    let operator_new = CODE + 0x401;
    scene.calls(
        0,
        &[
            (10, &[operator_new, BUILD], allocated(0x10000, 100)),
            (11, &[BUILD], allocated(0x20000, 200)),
            (12, &[], AllocationAction::Freed { address: 0x10000 }),
            (13, &[BUILD], allocated(0x30000, 50)),
        ],
    );
    let sample = Sample {
        time_ns: 20,
        instruction: AT_TABLE,
        address: Some(0x20000),
        ..loading()
    };
    scene.push(sample, &[]);
    let trace = scene.open();
    let objects = Objects::of(&trace, 64);
    assert_eq!(objects.owners.len(), 1, "{:?}", objects.owners.keys());
    let totals = &objects.owners[0];
    assert_eq!(
        (totals.allocations, totals.peak_bytes, totals.live_bytes),
        (3, 300, 250)
    );
    assert_eq!(totals.data_type(), "struct entry");
    let place = |offset| ReturnPlace {
        object: "/bin/prog".into(),
        offset,
        build_id: "beef".into(),
    };
    let chains: Vec<_> = totals.chains.iter().cloned().collect();
    assert_eq!(chains, [vec![place(0x101)], vec![place(0x401), place(0x101)]]);
}

#[test]
fn windows_say_what_share_of_the_accesses_goes_where() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (1, &[BUILD], allocated(0x10000, 4096)),
            (2, &[WALK], allocated(0x20000, 4096)),
        ],
    );
    let access = |instruction, address, is_store, known_by| WindowAccess {
        instruction,
        address,
        size_bytes: 8,
        is_store,
        known_by,
    };
    let sure = WindowAddress::Registers;
    let window = [
        access(1, 0x10000, false, sure),
        access(1, 0x10008, false, sure),
        access(1, 0x10800, false, WindowAddress::MemoryReadLater),
        access(2, 0x20000, true, sure),
        access(3, 0, false, WindowAddress::Unknown),
    ];
    for time_ns in 100..140 {
        let sample = Sample {
            time_ns,
            address: Some(0x20000),
            ..loading()
        };
        scene.push(sample, &window);
    }
    let trace = scene.open();
    let objects = Objects::of(&trace, 64);
    let of = |name: &str| {
        let found = objects.owners.iter().find(|(owner, _)| owner.name() == name);
        found.map(|(_, totals)| totals).unwrap()
    };
    let (build, walk) = (of("build"), of("walk"));
    assert_eq!((build.weight.samples, walk.weight.samples), (0, 40));
    assert_eq!(
        (build.window_loads, build.window_stores, walk.window_stores),
        (120, 0, 40)
    );
    let share = build.clusters.share_of(&objects.windows).unwrap();
    assert_eq!((share.share, share.low, share.high), (0.75, 0.75, 0.75));
    assert_eq!(build.streaming_share(), Some(0.5));
    assert_eq!(walk.store_share(), Some(1.0));
    // 40 windows, and a fifth of the accesses is unknown.
    assert_eq!(objects.confidence(walk), Confidence::Medium);
    assert_eq!(objects.unknown_window_accesses, 40);
}

#[test]
fn windows_count_by_the_instructions_for_which_they_stand() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (1, &[BUILD], allocated(0x10000, 4096)),
            (2, &[WALK], allocated(0x20000, 4096)),
        ],
    );
    // The second window stands for as much time as the first, with three times as many instructions. The third stands
    // for a third of the time, with as many instructions as the first.
    for (time_ns, address, window_weight, window_speed) in [
        (100, 0x10000, 3000, 100),
        (101, 0x20000, 3000, 300),
        (102, 0x10000, 1000, 300),
    ] {
        let sample = Sample {
            time_ns,
            window_weight,
            window_speed,
            window_end: WindowEnd::Full,
            address: Some(address),
            ..loading()
        };
        let access = WindowAccess {
            address,
            known_by: WindowAddress::Registers,
            ..WindowAccess::default()
        };
        scene.push(sample, &[access; 2]);
    }
    let trace = scene.open();
    let objects = Objects::of(&trace, 64);
    let share = |name: &str| {
        let found = objects.owners.iter().find(|(owner, _)| owner.name() == name);
        let clusters = found.unwrap().1.clusters;
        (clusters.seen, clusters.share_of(&objects.windows).unwrap().share)
    };
    let (build, walk) = (share("build"), share("walk"));
    assert_eq!((build.0, walk.0), (4, 2));
    assert!(
        (build.1 - 0.4).abs() < 1e-9 && (walk.1 - 0.6).abs() < 1e-9,
        "{build:?} {walk:?}"
    );
    let told = objects.findings(10).tables.pop().unwrap();
    let value = |name: &str| told.column(name).unwrap().value(0);
    assert_eq!(value("paced"), Value::Real(1.0));
}

#[test]
fn what_is_not_known_is_told() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(0, &[(1, &[BUILD], allocated(0x10000, 4096))]);
    scene.sample(10, Some(0x10000)).sample(11, None);
    let other = |direction, event| Sample {
        time_ns: 12,
        direction,
        event,
        ..loading()
    };
    scene.push(other(Direction::None, 0), &[]);
    scene.push(other(Direction::Load, 1), &[]); // counts loads, no time
    let trace = scene.lose(3).open();
    assert_eq!(
        samples(&trace),
        owned(&[("build at prog.c:10", 1), ("no access", 1), ("no address", 1)])
    );
    let objects = Objects::of(&trace, 64);
    assert_eq!(
        (objects.weight.samples, objects.lost, objects.left_out),
        (3, 3, 1)
    );
    let warnings = objects.warnings().join("\n");
    for part in [
        "3 samples (50.0 %) were lost",
        "1 sample stand",
        "33.3 % of the time",
    ] {
        assert!(warnings.contains(part), "{part} is missing in: {warnings}");
    }
}

#[test]
fn phases_and_pictures_have_the_samples_of_their_times() {
    let mut scene = Scene::new(Vec::new());
    scene.calls(
        0,
        &[
            (1, &[BUILD], allocated(0x10000, 8192)),
            (2, &[WALK], allocated(0x90000, 64)),
        ],
    );
    for time_ns in 0..8 {
        scene.sample(1024 + time_ns, Some(0x10000 + time_ns * 64));
        scene.sample(2047, Some(0x90000));
    }
    let trace = scene.open();
    let objects = Objects::of(&trace, 2);
    let series: Vec<&[u64]> = objects.owners.values().map(|totals| &totals.series[..]).collect();
    assert_eq!(series, [&[8000, 0][..], &[0, 8000]]);
    let tenths: Vec<[u64; 10]> = objects.owners.values().map(|totals| totals.tenths).collect();
    let (first, last) = (
        [8000, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 8000],
    );
    assert_eq!(tenths, [first, last]);
    let findings = objects.findings(10);
    let phases = findings
        .tables
        .iter()
        .find(|table| table.name() == "object_phases")
        .unwrap();
    assert_eq!(phases.row_count(), 2);
    let picture = Picture::new(&objects, &PictureView::default()).cells();
    let map = HeatMap::from_cells(&picture, 100, 100).unwrap();
    assert_eq!((map.rows.len(), map.column_count(), map.largest()), (9, 2, 8));
    let only = PictureView {
        thread: Some(PID),
        name: Some("walk".into()),
    };
    assert_eq!(Picture::new(&objects, &only).cells().row_count(), 1);
    let nobody = PictureView {
        thread: Some(7),
        name: None,
    };
    assert_eq!(Picture::new(&objects, &nobody).cells().row_count(), 0);
}

#[test]
fn mapped_pages_belong_to_the_call_that_mapped_them() {
    let mut scene = Scene::new(Vec::new());
    let mapped = AllocationAction::Mapped {
        address: 0x10000,
        length: 0x2000,
        protection: 3,
        flags: 0x22,
        descriptor: None,
        offset: 0,
    };
    let unmapped = AllocationAction::Unmapped {
        address: 0x10000,
        length: 0x1000,
    };
    scene.calls(0, &[(1, &[WALK], mapped), (20, &[], unmapped)]);
    scene
        .sample(10, Some(0x10000))
        .sample(30, Some(0x10000))
        .sample(30, Some(0x11000));
    let trace = scene.open();
    assert_eq!(
        samples(&trace),
        owned(&[("unknown", 1), ("walk at prog.c:20", 2)])
    );
    let objects = Objects::of(&trace, 64);
    let walk = objects
        .owners
        .iter()
        .find(|(owner, _)| matches!(owner, Owner::CallSite(_)))
        .unwrap()
        .1;
    assert_eq!((walk.peak_bytes, walk.live_bytes), (0x2000, 0x1000));
}
