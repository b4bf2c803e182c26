//! A program that writes anything anywhere into its ring, while it is recorded.

use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use memmap2::{MmapOptions, MmapRaw};
use trackway_trace::{GapReason, Trace};

use super::Collector;
use crate::clock::{Calibration, RecordingClock};
use crate::encoding::{self, Settings};
use crate::options::{Compression, Output, RecordOptions};
use crate::processes::Image;
use crate::ring::Ring;
use crate::sink::{self, Sink};

const ROUNDS: u64 = 200;
/// Bytes from the ring's begin on that get most of what is written: the header and the first buffers' descriptions.
const BUSY_BYTES: usize = 4096 + 16 * 72;
/// Buffers past them that get the rest.
const BUFFERS: u32 = 16;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }
}

/// The ring as the program has it.
struct Program {
    memory: MmapRaw,
    data_offset: usize,
    buffer_size: usize,
}

impl Program {
    fn of(ring: RawFd, options: &RecordOptions) -> Self {
        // SAFETY: the ring outlives this.
        let descriptor = unsafe { BorrowedFd::borrow_raw(ring) };
        let memory = MmapOptions::new().map_raw(&descriptor).unwrap();
        // SAFETY: within the mapping; written before anybody scribbles.
        let data_offset = unsafe { memory.as_ptr().add(48).cast::<u64>().read() } as usize;
        Self {
            memory,
            data_offset,
            buffer_size: options.buffer_size as usize,
        }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset + 4 <= self.memory.len());
        // SAFETY: within the mapping, aligned, and everybody uses atomics.
        unsafe { AtomicU32::from_ptr(self.memory.as_mut_ptr().add(offset & !3).cast()) }
    }

    fn scribble(&self, random: &mut Random) {
        let tables = self.data_offset;
        let data = tables + BUFFERS as usize * self.buffer_size;
        let offset = match random.below(8) {
            0..=4 => random.below(BUSY_BYTES as u64),
            5 => random.below(tables as u64),
            _ => tables as u64 + random.below((data - tables) as u64),
        };
        let size = self.buffer_size as u32;
        let hostile = [
            0,
            1,
            2,
            3,
            4,
            5,
            10,
            11,
            13,
            15,
            u32::MAX,
            i32::MAX as u32,
            size - 1,
            size,
            size + 1,
        ];
        let value = match random.below(3) {
            0 => random.next() as u32,
            1 => random.below(20) as u32,
            _ => hostile[random.below(hostile.len() as u64) as usize],
        };
        self.word(offset as usize & !3).store(value, Relaxed);
    }

    fn act(&self, random: &mut Random) {
        match random.below(4) {
            0 => self.hand_over(random),
            _ => self.scribble(random),
        }
    }

    /// Hands over buffers that look as a runtime's at first sight.
    fn hand_over(&self, random: &mut Random) {
        let index = random.below(BUFFERS.into()) as usize;
        let at = 4096 + index * 72;
        let kinds = [2, 3, 3, 3, 5, 10, 11, 13, 15];
        let pid = std::process::id();
        let words = [
            (4, kinds[random.below(kinds.len() as u64) as usize]),
            (8, random.below(3) as u32),
            (12, pid),
            (20, random.below(16) as u32),
            (24, random.below(4) as u32),
            (28, 0),
            (48, random.below(self.buffer_size as u64 + 1) as u32),
            (52, 0),
            (60, 1),
            (0, 2),
        ];
        for (offset, value) in words {
            self.word(at + offset).store(value, Relaxed);
        }
        let used = self.word(USED);
        used.fetch_max(BUFFERS, Relaxed);
    }
}

/// Offset of `buffers_used`.
const USED: usize = std::mem::offset_of!(crate::abi::RingHeader, full) + 12;

fn options(folder: &std::path::Path) -> RecordOptions {
    let path = folder.join("hostile.trackway");
    let mut options = RecordOptions::new("hostile", Output::File { path, force: true });
    options.buffer_size = 16 * 1024;
    options.buffer_count = 4;
    options.compression = Compression::Auto;
    options.workers = 2;
    options
}

/// Returns the trace, and whether damage was noticed.
fn record_hostile(seed: u64, clock: &RecordingClock, folder: &std::path::Path) -> (Trace, bool) {
    let options = options(folder);
    let ring = Ring::create(&options).unwrap();
    let program = Program::of(ring.descriptor(), &options);
    let sink = Sink::new(sink::open(&options).unwrap(), options.compression, false).unwrap();
    let settings = Settings {
        keeps_pace: true,
        measures: true,
    };
    let output = encoding::Output::new(sink, settings);
    let over = AtomicBool::new(false);
    let totals = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(!seed);
            while !over.load(Relaxed) {
                program.act(&mut random);
            }
        });
        let queue = encoding::start(crate::encoders(&options).unwrap(), &output, &ring, scope);
        let mut collector = Collector::new(&ring, queue, clock);
        collector.processes.notice(Image {
            pid: std::process::id(),
            image: 1,
        });
        // Something happens on a busy machine, too.
        let mut random = Random(seed);
        for _ in 0..20 {
            (0..40).for_each(|_| program.act(&mut random));
            collector.collect();
            for (index, words) in ring.all_words().take(32) {
                if words.pid != 0 && words.flags % 7 == 0 {
                    ring.claim(index);
                }
            }
        }
        over.store(true, Relaxed);
        while collector.collect() > 0 {}
        collector.push_names(&options);
        collector.finish(GapReason::RecordingStopped, None)
    });
    let (mut sink, _) = output.into_parts();
    sink.finish(&trackway_trace::EndInfo::default());
    let Output::File { path, .. } = &options.output else {
        unreachable!("a file was asked for");
    };
    (Trace::open(path).unwrap(), totals.is_damaged)
}

#[test]
fn hostile_programs_spoil_only_their_recordings() {
    let _turn = crate::watching::take_turn();
    let rounds = std::env::var("TRACKWAY_HOSTILE_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let clock = Calibration::begin().finish();
    let mut damaged = 0;
    for round in 0..rounds {
        let (trace, is_damaged) = record_hostile(round * 0x9E37_79B9 + 1, &clock, folder.path());
        let has_gap = trace.gaps().iter().any(|gap| gap.reason == GapReason::Damaged);
        assert!(trace.end().is_some() && has_gap == is_damaged, "round {round}");
        damaged += u64::from(is_damaged);
    }
    assert!(damaged > rounds * 9 / 10, "{damaged} of {rounds}");
}
