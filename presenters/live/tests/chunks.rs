//! Compares the sum of partial aggregates of single chunks with a walk over the accesses of whole traces.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::RecordBatch;
use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{Fragment, Layout, Shown};
use trackway_analysis::site_counts::{Measure, SiteNames};
use trackway_analysis::structures::Structures;
use trackway_analysis::{run, Findings};
use trackway_live::{AffinityWindow, By, Granule, LiveError, LiveTrace, PlacedChunk, SharedGranules};
use trackway_trace::{ChunkKind, Decoder, Trace};

const GRANULE_BYTES: u64 = 8;

fn vectors() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../trace/vectors");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let traces: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "trackway"))
        .filter(|file| {
            Trace::open(file)
                .is_ok_and(|trace| trace.streams().iter().any(|stream| !stream.chunks.is_empty()))
        })
        .collect();
    assert!(!traces.is_empty());
    traces
}

/// A trace as it arrives: its definitions, and its records apart.
struct Arriving {
    trace: Trace,
    bytes: Vec<u8>,
    live: LiveTrace,
}

impl Arriving {
    fn of(file: &Path) -> Arriving {
        let mut live = LiveTrace::new("live");
        let (trace, bytes) = (Trace::open(file).unwrap(), std::fs::read(file).unwrap());
        for chunk in trace.chunks() {
            let end = chunk.offset + chunk.header.chunk_length();
            if chunk.header.kind != ChunkKind::Records {
                let bytes = &bytes[chunk.offset as usize..end as usize];
                let position = chunk.offset;
                live.define(PlacedChunk { position, bytes }).unwrap();
                live.define(PlacedChunk { position, bytes }).unwrap(); // again, as after a reconnection
            }
            live.pass_over(end);
        }
        Arriving { trace, bytes, live }
    }

    fn records(&self) -> Vec<PlacedChunk<'_>> {
        let chunks = self.trace.chunks_of(ChunkKind::Records);
        chunks
            .map(|chunk| {
                let start = chunk.offset as usize;
                let end = start + chunk.header.chunk_length() as usize;
                PlacedChunk {
                    position: chunk.offset,
                    bytes: &self.bytes[start..end],
                }
            })
            .collect()
    }

    /// Thread, variable, line, address, bytes and whether it writes, of each access.
    fn accesses(&self) -> Vec<(u32, String, String, u64, u64, bool)> {
        let program = self.trace.program();
        let names = SiteNames::new(program);
        let mut decoder = Decoder::new(&self.trace);
        let mut accesses = Vec::new();
        for chunk in self.trace.chunks_of(ChunkKind::Records) {
            let mut batches = decoder.decode(chunk).unwrap();
            while let Some(batch) = batches.next_batch().unwrap() {
                for index in 0..batch.len() {
                    let site = &program.sites[batch.site[index].index()];
                    accesses.push((
                        batch.stream,
                        names.variable(site),
                        names.line(site),
                        batch.address[index],
                        batch.length(index),
                        site.kind.writes(),
                    ));
                }
            }
        }
        assert!(!accesses.is_empty());
        accesses
    }
}

fn texts<'b>(batch: &'b RecordBatch, column: &str) -> Vec<&'b str> {
    batch
        .column_by_name(column)
        .unwrap()
        .as_string::<i32>()
        .iter()
        .map(Option::unwrap)
        .collect()
}

fn integers(batch: &RecordBatch, column: &str) -> Vec<i64> {
    batch
        .column_by_name(column)
        .unwrap()
        .as_primitive::<Int64Type>()
        .values()
        .to_vec()
}

fn threads(batch: &RecordBatch, column: &str) -> Vec<u32> {
    let column = batch.column_by_name(column).unwrap().as_primitive::<Int32Type>();
    column.values().iter().map(|&thread| thread as u32).collect()
}

#[test]
fn counts_of_single_chunks_add_up_to_those_of_the_trace() {
    for file in vectors() {
        let arriving = Arriving::of(&file);
        let mut expected: BTreeMap<(u32, String), [i64; 3]> = BTreeMap::new();
        for (thread, variable, _, _, length, writes) in arriving.accesses() {
            let sums = expected.entry((thread, variable)).or_default();
            *sums = [sums[0] + 1, sums[1] + i64::from(writes), sums[2] + length as i64];
        }
        let mut found: BTreeMap<(u32, String), [i64; 3]> = BTreeMap::new();
        for chunk in arriving.records() {
            let batch = arriving.live.counts(&[chunk], By::Variable).unwrap();
            let columns = ["accesses", "writes", "bytes"].map(|column| integers(&batch, column));
            for (row, (thread, name)) in threads(&batch, "thread")
                .into_iter()
                .zip(texts(&batch, "name"))
                .enumerate()
            {
                let sums = found.entry((thread, name.to_owned())).or_default();
                (0..3).for_each(|column| sums[column] += columns[column][row]);
            }
        }
        assert_eq!(found, expected, "{}", file.display());
    }
}

#[test]
fn touches_and_details_are_those_of_the_accesses() {
    for file in vectors() {
        let arriving = Arriving::of(&file);
        let granule = Granule::new(GRANULE_BYTES).unwrap();
        let touched = |address: u64, length: u64| {
            address / GRANULE_BYTES..=(address + length.max(1) - 1) / GRANULE_BYTES
        };
        let mut expected: BTreeMap<(u64, String), (BTreeSet<u32>, i64)> = BTreeMap::new();
        for (thread, variable, _, address, length, _) in arriving.accesses() {
            for number in touched(address, length) {
                let (threads, accesses) = expected
                    .entry((number * GRANULE_BYTES, variable.clone()))
                    .or_default();
                threads.insert(thread);
                *accesses += 1;
            }
        }
        let batch = arriving
            .live
            .touches(&arriving.records(), granule, By::Variable)
            .unwrap();
        let (granules, accesses) = (integers(&batch, "granule"), integers(&batch, "accesses"));
        let (first, last) = (threads(&batch, "first_thread"), threads(&batch, "last_thread"));
        assert_eq!(batch.num_rows(), expected.len());
        for (row, name) in texts(&batch, "name").into_iter().enumerate() {
            let (threads, count) = &expected[&(granules[row] as u64, name.to_owned())];
            assert_eq!(
                (Some(&first[row]), Some(&last[row])),
                (threads.first(), threads.last())
            );
            assert_eq!(accesses[row], *count);
        }
        // Every second granule, as if it were shared.
        let shared: BTreeSet<u64> = granules
            .iter()
            .step_by(2)
            .map(|&granule| granule as u64)
            .collect();
        let is_shared = |address, length| {
            touched(address, length).any(|number| shared.contains(&(number * GRANULE_BYTES)))
        };
        let mut expected: BTreeMap<(u32, String, String), i64> = BTreeMap::new();
        for (thread, variable, line, address, length, _) in arriving.accesses() {
            if is_shared(address, length) {
                *expected.entry((thread, variable, line)).or_default() += 1;
            }
        }
        let pairs = SharedGranules::new(shared.iter().map(|&granule| (0, granule)));
        let batch = arriving
            .live
            .details(&arriving.records(), granule, By::Variable, &pairs)
            .unwrap();
        let keys = threads(&batch, "thread")
            .into_iter()
            .zip(texts(&batch, "name"))
            .zip(texts(&batch, "line"));
        let found: BTreeMap<_, _> = keys
            .map(|((thread, name), line)| (thread, name.to_owned(), line.to_owned()))
            .zip(integers(&batch, "accesses"))
            .collect();
        assert_eq!(found, expected, "{}", file.display());
    }
}

#[test]
fn rows_are_the_accesses_in_their_order() {
    for file in vectors() {
        let arriving = Arriving::of(&file);
        let mut found = Vec::new();
        for chunk in arriving.records() {
            for first in (0..).step_by(7) {
                let batch = arriving.live.rows(chunk, first, 7).unwrap();
                let (addresses, sizes) = (integers(&batch, "address"), integers(&batch, "size"));
                let names = texts(&batch, "variable").into_iter().zip(texts(&batch, "line"));
                for (row, (variable, line)) in names.enumerate() {
                    let thread = threads(&batch, "thread")[row];
                    assert_eq!(integers(&batch, "number")[row], first as i64 + row as i64);
                    let (address, size) = (addresses[row] as u64, sizes[row] as u64);
                    found.push((thread, variable.to_owned(), line.to_owned(), address, size));
                }
                if batch.num_rows() < 7 {
                    break;
                }
            }
        }
        let expected = arriving.accesses().into_iter();
        let expected: Vec<_> = expected
            .map(|(thread, variable, line, address, size, _)| (thread, variable, line, address, size))
            .collect();
        assert_eq!(found, expected, "{}", file.display());
    }
}

#[test]
fn layouts_of_single_chunks_are_joined_to_those_of_the_trace() {
    let window = AffinityWindow::new(100).unwrap();
    let mut seen = 0;
    for file in vectors() {
        let arriving = Arriving::of(&file);
        let mut joined: BTreeMap<u32, Fragment> = BTreeMap::new();
        for chunk in arriving.records() {
            let batch = arriving.live.layouts(&[chunk], window).unwrap();
            let stream = threads(&batch, "stream")[0];
            let data = batch.column_by_name("data").unwrap().as_binary::<i32>();
            let next = Fragment::from_bytes(data.value(0)).unwrap();
            match joined.entry(stream) {
                Entry::Vacant(place) => drop(place.insert(next)),
                Entry::Occupied(mut before) => before.get_mut().join(next).unwrap(),
            }
        }
        let joined: Vec<Fragment> = joined.into_values().collect();
        let found = arriving
            .live
            .layout_findings(&joined, window, usize::MAX)
            .unwrap();
        let shown = Shown {
            only: None,
            top: usize::MAX,
            rank_by: Measure::Accesses,
            command: "trackway whatif".into(),
        };
        let structures = Structures::of(arriving.trace.program());
        let layout = Layout::new(structures, Caches::none(), 100, shown);
        let (expected, _) = run(&layout, &arriving.trace, NonZeroUsize::MIN, &|_, _| ());
        assert_eq!(tables(&found), tables(&expected), "{}", file.display());
        assert_eq!(found.answer, expected.answer);
        seen += tables(&found)[0].1.num_rows();
    }
    assert!(seen > 0);
}

fn tables(findings: &Findings) -> Vec<(String, RecordBatch)> {
    let tables = findings.tables.iter();
    tables
        .map(|table| (table.title().to_owned(), table.batch().clone()))
        .collect()
}

#[test]
fn what_cannot_be_decoded_is_named() {
    let file = vectors().remove(0);
    let arriving = Arriving::of(&file);
    let chunk = arriving.records()[0];
    let mut bytes = chunk.bytes.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    let position = chunk.position;
    let damaged = arriving
        .live
        .counts(
            &[PlacedChunk {
                position,
                bytes: &bytes,
            }],
            By::Line,
        )
        .unwrap_err();
    assert!(matches!(damaged, LiveError::Damaged { .. }));
    assert!(
        damaged.to_string().contains(&format!("offset {position}")),
        "{damaged}"
    );
    let unknown = LiveTrace::new("new").counts(&[chunk], By::Line).unwrap_err();
    assert!(matches!(unknown, LiveError::Undefined { .. }), "{unknown}");
    assert!(By::parse("colour")
        .unwrap_err()
        .to_string()
        .contains("variable, field"));
    assert!(Granule::new(24).unwrap_err().to_string().contains("power of two"));
}
