//! Streams merged into one order.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::HashMap;

use proptest::prelude::*;
use testing::choices::Choices;
use testing::file::FileBytes;
use testing::loops::{access, count_root, repeat, step, table_of};
use testing::tables::record_length;
use trackway_trace::table::{Expression, Operation, Segment, Table};
use trackway_trace::{
    ChunkFields, ChunkKind, Codec, Event, MergedStreams, Side, Synchronisation, Synchroniser, Trace,
};

const ACCESS: u32 = 1;
const POINT: u32 = 2;
const LOOP: u32 = 3;

/// Segment 1: an access; segment 2: an order point; segment 3: a loop of accesses, 8 bytes apart.
fn table() -> Table {
    let point = Operation::Order {
        synchronisation: Synchronisation {
            side: Side::Acquire,
            by: Synchroniser::Lock,
        },
        location: 0,
        address: Expression::constant(0),
        stamp: Expression::register(1, 0),
    };
    let walk = vec![access(0, 0, 0), step(0, 8)];
    let mut table = table_of(vec![count_root(0), access(0, 0, 0)]);
    for operations in [
        vec![count_root(1), point],
        vec![count_root(0), count_root(2), repeat(2, walk)],
    ] {
        table.segments.push(Segment {
            function: 0,
            local_id: table.segments.len() as u16 + 1,
            record_length: record_length(&operations),
            operations,
        });
    }
    table.functions[0].segment_count = 3;
    table.order = true;
    table
}

fn record(segment: u32, values: &[u64], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(segment << 8).to_le_bytes());
    values
        .iter()
        .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// Times between which an access took place, by the stamps of its own stream.
#[derive(Clone, Copy, Debug)]
struct Window {
    earliest_ns: u64,
    latest_ns: u64,
}

/// A trace of random streams, whose accesses each have an address of their own, and what its stamps say of them.
struct Scene {
    file: FileBytes,
    /// The accesses of each stream, in order.
    streams: Vec<Vec<u64>>,
    windows: HashMap<u64, Window>,
    points: u64,
}

impl Scene {
    fn new() -> Self {
        let mut file = FileBytes::new(Codec::Lz4);
        file.module(0, 1, &table());
        Scene {
            file,
            streams: Vec::new(),
            windows: HashMap::new(),
            points: 0,
        }
    }

    fn random(choices: &mut Choices<'_>) -> Self {
        let mut scene = Scene::new();
        for _ in 0..1 + choices.below(4) {
            scene.add_stream(choices);
        }
        scene
    }

    fn add_stream(&mut self, choices: &mut Choices<'_>) {
        let stream = self.streams.len() as u32;
        self.streams.push(Vec::new());
        let mut time_ns = 1000 + u64::from(choices.byte());
        for sequence in 0..u64::from(choices.below(4)) {
            time_ns = self.add_chunk(stream, sequence, time_ns, choices);
        }
    }

    /// Returns when the chunk ended.
    fn add_chunk(&mut self, stream: u32, sequence: u64, mut time_ns: u64, choices: &mut Choices<'_>) -> u64 {
        time_ns += u64::from(choices.below(30));
        let first_ns = time_ns;
        let mut payload = Vec::new();
        let mut open = Vec::new();
        for _ in 0..choices.below(40) {
            match choices.below(5) {
                0 => {
                    time_ns += u64::from(choices.below(50));
                    record(POINT, &[time_ns], &mut payload);
                    self.points += 1;
                    self.close(&mut open, time_ns);
                }
                1 => {
                    let count = u64::from(choices.byte()) * 40;
                    let first = self.add_accesses(stream, count, time_ns, &mut open);
                    record(LOOP, &[first, count], &mut payload);
                }
                _ => {
                    let address = self.add_accesses(stream, 1, time_ns, &mut open);
                    record(ACCESS, &[address], &mut payload);
                }
            }
        }
        time_ns += u64::from(choices.below(50));
        self.close(&mut open, time_ns);
        let fields = ChunkFields {
            stream,
            sequence,
            first_ns,
            last_ns: time_ns,
            ..ChunkFields::new(ChunkKind::Records)
        };
        self.file.chunk(&fields, &payload);
        time_ns
    }

    /// Returns the address of the first one.
    fn add_accesses(&mut self, stream: u32, count: u64, earliest_ns: u64, open: &mut Vec<u64>) -> u64 {
        let accesses = &mut self.streams[stream as usize];
        let first = u64::from(stream) << 40 | (accesses.len() as u64) << 3;
        let addresses = (0..count).map(|index| first + index * 8);
        accesses.extend(addresses.clone());
        open.extend(addresses.clone());
        let window = Window {
            earliest_ns,
            latest_ns: u64::MAX,
        };
        self.windows.extend(addresses.map(|address| (address, window)));
        first
    }

    fn close(&mut self, open: &mut Vec<u64>, latest_ns: u64) {
        for address in open.drain(..) {
            self.windows.get_mut(&address).unwrap().latest_ns = latest_ns;
        }
    }

    fn check(&self) {
        let trace = self.file.open();
        let mut merged = MergedStreams::new(&trace);
        let mut streams: Vec<Vec<u64>> = vec![Vec::new(); self.streams.len()];
        let mut latest_begin_ns = 0;
        let mut points = 0;
        while let Some(batch) = merged.next_batch().unwrap() {
            assert!(batch.runs.is_empty());
            assert!(batch.first_ns <= batch.last_ns);
            points += batch.marks.len() as u64;
            let mut addresses = batch.address.iter();
            for (accesses, interval) in batch.intervals() {
                assert!(batch.first_ns <= interval.first_ns && interval.last_ns <= batch.last_ns);
                for address in addresses.by_ref().take(accesses as usize) {
                    let window = self.windows[address];
                    assert!(interval.first_ns >= window.earliest_ns && interval.last_ns <= window.latest_ns);
                    // Nothing that surely came later stands before it.
                    assert!(window.latest_ns >= latest_begin_ns, "{window:?}");
                    latest_begin_ns = latest_begin_ns.max(window.earliest_ns);
                    streams[batch.stream as usize].push(*address);
                }
            }
            assert_eq!(addresses.next(), None);
        }
        assert!(
            streams == self.streams,
            "program order is kept, and nothing is lost"
        );
        assert_eq!(points, self.points);
        let exactness = merged.exactness();
        assert_eq!(exactness.accesses, self.windows.len() as u64);
        assert_eq!((exactness.order_points, exactness.backward_points), (points, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_order_respects_all_stamps(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
        Scene::random(&mut Choices::new(&bytes)).check();
    }
}

/// A trace of two streams with one chunk each, from time 100 to time 200; a record is a segment and its values.
fn two_streams(records: [&[(u32, &[u64])]; 2]) -> Trace {
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 1, &table());
    for (stream, records) in (0..).zip(records) {
        let mut payload = Vec::new();
        records
            .iter()
            .for_each(|(segment, values)| record(*segment, values, &mut payload));
        let fields = ChunkFields {
            stream,
            first_ns: 100,
            last_ns: 200,
            ..ChunkFields::new(ChunkKind::Records)
        };
        file.chunk(&fields, &payload);
    }
    file.open()
}

fn merged_addresses(trace: &Trace) -> Vec<u64> {
    let mut merged = MergedStreams::new(trace);
    let mut addresses = Vec::new();
    while let Some(batch) = merged.next_batch().unwrap() {
        addresses.extend_from_slice(&batch.address);
    }
    addresses
}

#[test]
fn what_was_released_comes_before_what_was_acquired() {
    for (release, acquire, expected) in [(150, 160, [1, 3, 2, 4]), (150, 140, [3, 1, 4, 2])] {
        let trace = two_streams([
            &[(ACCESS, &[1]), (POINT, &[release]), (ACCESS, &[2])],
            &[(ACCESS, &[3]), (POINT, &[acquire]), (ACCESS, &[4])],
        ]);
        let addresses = merged_addresses(&trace);
        let place = |address| addresses.iter().position(|other| *other == address).unwrap();
        assert_eq!(addresses.len(), expected.len());
        let (before, after) = if release < acquire { (1, 4) } else { (3, 2) };
        assert!(place(before) < place(after), "{addresses:?}");
    }
}

#[test]
fn accesses_between_two_points_are_taken_as_evenly_spread() {
    let trace = two_streams([&[(LOOP, &[0, 1000])], &[(LOOP, &[1 << 40, 1000])]]);
    let addresses = merged_addresses(&trace);
    let mut ahead = 0i64;
    for address in addresses {
        ahead += if address < 1 << 40 { 1 } else { -1 };
        assert!(ahead.abs() <= 24, "{ahead}");
    }
}

#[test]
fn time_that_goes_backwards_is_noticed() {
    let stamped = |first, second| {
        let trace = two_streams([&[(POINT, &[first]), (ACCESS, &[1]), (POINT, &[second])], &[]]);
        let mut merged = MergedStreams::new(&trace);
        while merged.next_batch().unwrap().is_some() {}
        merged.exactness().backward_points
    };
    assert_eq!(stamped(110, 120), 0);
    assert_eq!(stamped(120, 110), 1);
}

#[test]
fn an_order_point_begins_an_interval() {
    let trace = two_streams([
        &[(ACCESS, &[1]), (POINT, &[130]), (POINT, &[140]), (ACCESS, &[2])],
        &[],
    ]);
    let mut merged = MergedStreams::new(&trace);
    let mut times = Vec::new();
    while let Some(batch) = merged.next_batch().unwrap() {
        let begins: Vec<u64> = batch.intervals().map(|(_, interval)| interval.first_ns).collect();
        for mark in &batch.marks {
            let Event::Order { time_ns, .. } = batch.event(*mark) else {
                panic!("{mark:?}");
            };
            assert!(begins.contains(&time_ns), "{begins:?}");
            times.push(time_ns);
        }
    }
    assert_eq!(times, [130, 140]);
}

#[test]
fn a_damaged_chunk_is_reported_and_the_rest_is_merged() {
    let trace = two_streams([&[(ACCESS, &[1]), (77, &[]), (ACCESS, &[2])], &[(ACCESS, &[3])]]);
    let mut merged = MergedStreams::new(&trace);
    let (mut addresses, mut errors) = (Vec::new(), 0);
    loop {
        match merged.next_batch() {
            Ok(Some(batch)) => addresses.extend_from_slice(&batch.address),
            Ok(None) => break,
            Err(_) => errors += 1,
        }
    }
    addresses.sort_unstable();
    assert_eq!((addresses, errors), (vec![1, 3], 1));
}
