//! Slices against a naive filter of everything that the trace holds.

#![allow(clippy::single_range_in_vec_init)] // lists of times, of which some have one range

mod scene;
#[path = "../../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::HashMap;
use std::ops::Range;

use proptest::prelude::*;
use scene::{table, Scene, ACCESS, LOOP, REGIONS};
use testing::choices::Choices;
use testing::file::FileBytes;
use trackway_trace::check::{Decoded, Interpreter};
use trackway_trace::{
    encode_marks, Batch, BatchItem, ChunkFields, ChunkKind, Codec, Decoder, Event, MarkInfo, MarkKind,
    MergedStreams, Piece, SiteId, Slice, Trace,
};

/// An access or event of the whole trace.
#[derive(Clone, Debug)]
struct Moment {
    stream: u32,
    what: Decoded,
    time_ns: u64,
    /// In which regions the thread was before and after it.
    regions: [Vec<u64>; 2],
}

/// Everything that the trace holds, stream by stream, with its time.
fn moments(trace: &Trace) -> Vec<Moment> {
    let recorded: Vec<Range<u64>> = trace
        .windows()
        .iter()
        .map(|window| window.begin_ns..window.end_ns)
        .collect();
    let mut moments = Vec::new();
    for stream in trace.streams() {
        let mut end_ns = 0;
        for chunk in &stream.chunks {
            let mut all = Vec::new();
            Interpreter::new(trace)
                .run(chunk, &mut |decoded| all.push(decoded))
                .unwrap();
            let begin_ns = chunk.header.first_ns.max(end_ns);
            end_ns = chunk.header.last_ns.max(begin_ns);
            let times = times(&all, begin_ns..end_ns, &recorded);
            let mut now = Vec::new();
            moments.extend(all.into_iter().zip(times).map(|(what, time_ns)| {
                let before = now.clone();
                if let Decoded::Event(Event::Region { depth, name }) = what {
                    now.truncate(depth.saturating_sub(1) as usize);
                    now.extend((depth > 0).then_some(name));
                }
                Moment {
                    stream: stream.id,
                    what,
                    time_ns,
                    regions: [before, now.clone()],
                }
            }));
        }
    }
    moments
}

/// When each took place: accesses evenly between two points, events as the access that follows.
fn times(all: &[Decoded], chunk: Range<u64>, recorded: &[Range<u64>]) -> Vec<u64> {
    let mut times = vec![chunk.end; all.len()];
    let mut from = (0, chunk.start);
    for end in 0..=all.len() {
        let point = match all.get(end) {
            Some(Decoded::Event(Event::Order { time_ns, .. })) => (*time_ns).clamp(from.1, chunk.end),
            Some(_) => continue,
            None => chunk.end,
        };
        let accesses: Vec<usize> = (from.0..end).filter(|index| is_access(&all[*index])).collect();
        for (number, index) in accesses.iter().enumerate() {
            times[*index] = evenly(number, accesses.len(), from.1..point, recorded);
        }
        from = (end, point);
    }
    for index in (0..all.len()).rev() {
        if !is_access(&all[index]) {
            times[index] = times.get(index + 1).copied().unwrap_or(chunk.end);
        }
    }
    times
}

/// The nanosecond in which access `number` of `count` took place, of those in which recording was on.
fn evenly(number: usize, count: usize, piece: Range<u64>, recorded: &[Range<u64>]) -> u64 {
    let is_recorded = |time: &u64| recorded.iter().any(|window| window.contains(time));
    let in_windows: Vec<u64> = piece.clone().filter(is_recorded).collect();
    let all = if in_windows.is_empty() {
        piece.clone().collect()
    } else {
        in_windows
    };
    all.get(number * all.len() / count)
        .copied()
        .unwrap_or(piece.start)
}

fn is_access(decoded: &Decoded) -> bool {
    matches!(decoded, Decoded::Access { .. })
}

fn is_of_memory(decoded: &Decoded) -> bool {
    matches!(decoded, Decoded::Event(event) if event.is_of_memory())
}

fn random_slice(trace: &Trace, choices: &mut Choices<'_>) -> Slice {
    let mut time = || u64::from(choices.byte()) * 2 + u64::from(choices.below(3));
    let times: Vec<_> = (0..3)
        .map(|_| (time(), time()))
        .map(|(from, to)| from..to)
        .collect();
    let kind = choices.below(4);
    let times = match kind {
        0 => None,
        1 => Some(times[..1].to_vec()),
        2 => Some(vec![times[0].start..u64::MAX]),
        _ => Some(times),
    };
    let threads = choices
        .flag()
        .then(|| (0..4).filter(|_| choices.flag()).collect());
    let sites = choices
        .flag()
        .then(|| trace.program().sites.iter().map(|_| choices.flag()).collect());
    let regions = choices
        .flag()
        .then(|| REGIONS.into_iter().filter(|_| choices.flag()).collect());
    Slice {
        times,
        threads,
        sites,
        allocation_sites: None,
        regions,
    }
}

fn keeps(slice: &Slice, moment: &Moment) -> bool {
    let in_time = |times: &Vec<Range<u64>>| times.iter().any(|range| range.contains(&moment.time_ns));
    let in_regions = |wanted: &Vec<u64>| {
        let mut both = moment.regions.iter();
        both.all(|regions| regions.iter().any(|region| wanted.contains(region)))
    };
    let is_site = |site: SiteId| slice.sites.as_ref().is_none_or(|sites| sites[site.index()]);
    slice.times.as_ref().is_none_or(in_time)
        && slice.regions.as_ref().is_none_or(in_regions)
        && slice
            .threads
            .as_ref()
            .is_none_or(|threads| threads.contains(&moment.stream))
        && match &moment.what {
            Decoded::Access { site, .. } => is_site(*site),
            _ => true,
        }
}

/// Allocations up to the slice's end are kept.
fn keeps_allocation(slice: &Slice, moment: &Moment) -> bool {
    let ends = |times: &Vec<Range<u64>>| {
        times
            .iter()
            .filter(|range| !range.is_empty())
            .map(|range| range.end)
            .max()
    };
    let end_ns = slice
        .times
        .as_ref()
        .map_or(u64::MAX, |times| ends(times).unwrap_or(0));
    moment.time_ns < end_ns
}

/// What batches hold, in program order.
fn add_batch(batch: &Batch, found: &mut Vec<Decoded>) {
    add_items(batch, batch.all_items(), found);
}

fn add_items<'b>(batch: &Batch, items: impl Iterator<Item = BatchItem<'b>>, found: &mut Vec<Decoded>) {
    for item in items {
        match item {
            BatchItem::Event(event) => found.push(Decoded::Event(event)),
            BatchItem::Accesses(Piece::Accesses(range)) => found.extend(range.map(|index| Decoded::Access {
                site: batch.site[index],
                address: batch.address[index],
                length: batch.length(index),
            })),
            BatchItem::Accesses(Piece::Run(run)) => {
                for iteration in 0..run.count {
                    found.extend(batch.lanes(run).iter().map(|lane| Decoded::Access {
                        site: lane.site,
                        address: lane.address_in(iteration),
                        length: lane.size.into(),
                    }));
                }
            }
        }
    }
}

type ByStream = HashMap<u32, Vec<Decoded>>;

fn decoded(trace: &Trace, with_runs: bool, from_start: bool) -> ByStream {
    let mut decoder = Decoder::new(trace);
    if with_runs {
        decoder = decoder.with_runs();
    }
    if from_start {
        decoder = decoder.from_start();
    }
    let mut found = ByStream::new();
    for stream in trace.streams() {
        let of_stream = found.entry(stream.id).or_default();
        let chunks = if from_start {
            stream.chunks_from_start()
        } else {
            &stream.chunks
        };
        for chunk in chunks {
            let mut batches = decoder.decode(chunk).unwrap();
            while let Some(batch) = batches.next_batch().unwrap() {
                assert_eq!((batch.stream, batch.sequence), (stream.id, chunk.header.sequence));
                add_batch(batch, of_stream);
            }
        }
    }
    found.retain(|_, found| !found.is_empty());
    found
}

fn merged(trace: &Trace, from_start: bool) -> (ByStream, Vec<Decoded>) {
    let mut merged = match from_start {
        true => MergedStreams::from_start(trace),
        false => MergedStreams::new(trace),
    };
    let (mut found, mut order) = (ByStream::new(), Vec::new());
    let mut accesses = 0;
    while let Some(batch) = merged.next_batch().unwrap() {
        let in_intervals: u64 = batch.intervals().map(|(accesses, _)| accesses).sum();
        assert_eq!(in_intervals, batch.access_count());
        accesses += batch.access_count();
        add_batch(batch, found.entry(batch.stream).or_default());
        add_batch(batch, &mut order);
    }
    assert_eq!(merged.exactness().accesses, accesses);
    (found, order)
}

/// What decoders from the start and the merged order say of each stream's accesses and events of memory that lie inside.
fn of_slice(trace: &Trace) -> [ByStream; 2] {
    let inside = |batch: &Batch, found: &mut ByStream| {
        let items = batch.items_of_slice();
        let inside = items.filter_map(|(item, is_inside)| is_inside.then_some(item));
        add_items(batch, inside, found.entry(batch.stream).or_default());
    };
    let (mut by_chunk, mut in_order) = (ByStream::new(), ByStream::new());
    let mut decoder = Decoder::new(trace).with_runs().from_start();
    for stream in trace.streams() {
        for chunk in stream.chunks_from_start() {
            let mut batches = decoder.decode(chunk).unwrap();
            while let Some(batch) = batches.next_batch().unwrap() {
                inside(batch, &mut by_chunk);
            }
        }
    }
    let mut merged = MergedStreams::from_start(trace);
    while let Some(batch) = merged.next_batch().unwrap() {
        inside(batch, &mut in_order);
    }
    [by_chunk, in_order].map(|mut found| {
        found.retain(|_, found| !found.is_empty());
        found
    })
}

fn expected(moments: &[Moment], keeps: impl Fn(&Moment) -> bool) -> ByStream {
    let mut found = ByStream::new();
    for moment in moments.iter().filter(|moment| keeps(moment)) {
        found.entry(moment.stream).or_default().push(moment.what);
    }
    found
}

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let trace = Scene::random(&mut choices);
    let moments = moments(&trace);
    let slice = random_slice(&trace, &mut choices);
    let sliced = trace.again().unwrap().sliced(slice.clone());
    let inside = expected(&moments, |moment| keeps(&slice, moment));
    let with_memory = expected(&moments, |moment| match is_of_memory(&moment.what) {
        true => keeps_allocation(&slice, moment),
        false => keeps(&slice, moment),
    });
    for with_runs in [false, true] {
        assert_eq!(decoded(&sliced, with_runs, false), inside, "{slice:?}");
        assert_eq!(decoded(&sliced, with_runs, true), with_memory, "{slice:?}");
    }
    for found in of_slice(&sliced) {
        assert_eq!(found, inside, "{slice:?}");
    }
    assert_eq!(merged(&sliced, false).0, inside);
    assert_eq!(merged(&sliced, true).0, with_memory);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_slice_is_what_a_naive_filter_finds(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        check(&bytes);
    }

    /// A slice by sites alone changes nothing of the order.
    #[test]
    fn sites_are_left_out_of_the_merged_order(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut choices = Choices::new(&bytes);
        let trace = Scene::random(&mut choices);
        let sites: Vec<bool> = trace.program().sites.iter().map(|_| choices.flag()).collect();
        let (_, mut whole) = merged(&trace, false);
        whole.retain(|what| match what {
            Decoded::Access { site, .. } => sites[site.index()],
            _ => true,
        });
        let slice = Slice { sites: Some(sites), ..Slice::default() };
        prop_assert_eq!(merged(&trace.sliced(slice), false).1, whole);
    }
}

/// All of a trace of one stream that steps from 0 to 100 ns, without points.
fn evenly_spread(accesses: u64) -> Trace {
    let mut file = FileBytes::new(Codec::Columns);
    file.module(0, 1, &table());
    let mut payload = Vec::new();
    payload.extend((LOOP << 8).to_le_bytes());
    payload.extend([1u64 << 20, accesses / 3].into_iter().flat_map(u64::to_le_bytes));
    for sequence in 0..10 {
        let fields = ChunkFields {
            sequence,
            first_ns: 1000 + sequence * 100,
            last_ns: 1100 + sequence * 100,
            ..ChunkFields::new(ChunkKind::Records)
        };
        file.chunk(&fields, &payload);
    }
    file.open()
}

fn access_count(trace: &Trace) -> usize {
    decoded(trace, true, false).values().map(Vec::len).sum()
}

#[test]
fn a_border_goes_through_a_run_of_several_batches() {
    let accesses = 300_000;
    let times = |times: Range<u64>| Slice {
        times: Some(vec![times]),
        ..Slice::default()
    };
    let trace = evenly_spread(accesses).sliced(times(1050..1225));
    assert_eq!(trace.streams()[0].chunks.len(), 3, "the other chunks aren't read");
    let expected = accesses / 2 + accesses + accesses / 4;
    assert_eq!(access_count(&trace) as u64, expected);
    let times: Vec<_> = trace.streams()[0]
        .chunks
        .iter()
        .map(|chunk| trace.chunk_times(chunk))
        .collect();
    assert_eq!(times, [(1050, 1100), (1100, 1200), (1200, 1225)]);
}

/// Recording was on for a tenth of the chunk's time, in two windows, in which all of its accesses must have been.
#[test]
fn accesses_are_spread_over_the_windows() {
    let mut file = FileBytes::new(Codec::Lz4);
    file.module(0, 1, &table());
    let mut payload = Vec::new();
    for address in 0..100u64 {
        payload.extend((ACCESS << 8).to_le_bytes());
        payload.extend(address.to_le_bytes());
    }
    let fields = ChunkFields {
        first_ns: 1000,
        last_ns: 2000,
        ..ChunkFields::new(ChunkKind::Records)
    };
    file.chunk(&fields, &payload);
    let marks = [(1010, 1), (1060, 1), (1900, 2), (1950, 2)].map(|(ns, number)| MarkInfo {
        ns,
        kind: if ns % 100 < 50 && ns != 1950 {
            MarkKind::Opens
        } else {
            MarkKind::Closes
        },
        window: Some(number),
        ..MarkInfo::default()
    });
    file.chunk(&ChunkFields::new(ChunkKind::Marks), &encode_marks(&marks));
    for window in [0, 1] {
        let trace = file.open();
        let window = &trace.windows()[window];
        let times = Some(vec![window.begin_ns..window.end_ns]);
        let trace = trace.sliced(Slice {
            times,
            ..Slice::default()
        });
        assert_eq!(access_count(&trace), 50);
    }
}

#[test]
fn a_slice_of_nothing_holds_nothing() {
    let trace = evenly_spread(30).sliced(Slice {
        times: Some(Vec::new()),
        ..Slice::default()
    });
    assert_eq!(access_count(&trace), 0);
    let trace = evenly_spread(30).sliced(Slice {
        threads: Some(vec![7]),
        ..Slice::default()
    });
    assert_eq!((access_count(&trace), trace.whole_stream_count()), (0, 1));
}

#[test]
fn gaps_are_those_of_the_slice() {
    let mut file = FileBytes::new(Codec::Lz4);
    for (stream, first_ns) in [(0, 100), (0, 900), (1, 150), (1, 0)] {
        let fields = ChunkFields {
            stream,
            first_ns,
            last_ns: first_ns + 10 * u64::from(first_ns > 0),
            ..ChunkFields::new(ChunkKind::Gap)
        };
        let payload: Vec<u8> = [1u64, 1].into_iter().flat_map(u64::to_le_bytes).collect();
        file.chunk(&fields, &payload);
    }
    assert_eq!(file.open().gaps().len(), 4);
    let slice = Slice {
        times: Some(vec![50..100, 105..400]),
        threads: Some(vec![0]),
        sites: None,
        allocation_sites: None,
        regions: None,
    };
    let times: Vec<_> = file
        .open()
        .sliced(slice)
        .gaps()
        .iter()
        .map(|gap| gap.first_ns)
        .collect();
    assert_eq!(times, [100]);
}
