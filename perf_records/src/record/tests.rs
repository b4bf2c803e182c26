use super::*;
use crate::PERF_MASK;

/// Puts fields together.
#[derive(Default)]
struct Content(Vec<u8>);

impl Content {
    fn words(mut self, words: &[u64]) -> Self {
        for word in words {
            self.0.extend_from_slice(&word.to_le_bytes());
        }
        self
    }

    fn halves(mut self, halves: &[u32]) -> Self {
        for half in halves {
            self.0.extend_from_slice(&half.to_le_bytes());
        }
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }

    fn record(self, kind: u32, flags: u32) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend_from_slice(&(flags as u16).to_le_bytes());
        bytes.extend_from_slice(&((self.0.len() + HEADER_LENGTH) as u16).to_le_bytes());
        bytes.extend_from_slice(&self.0);
        bytes
    }
}

const EVERYTHING: u64 = (perf::PERF_SAMPLE_IDENTIFIER
    | perf::PERF_SAMPLE_IP
    | perf::PERF_SAMPLE_TID
    | perf::PERF_SAMPLE_TIME
    | perf::PERF_SAMPLE_ADDR
    | perf::PERF_SAMPLE_STREAM_ID
    | perf::PERF_SAMPLE_CPU
    | perf::PERF_SAMPLE_PERIOD
    | perf::PERF_SAMPLE_READ
    | perf::PERF_SAMPLE_CALLCHAIN
    | perf::PERF_SAMPLE_RAW
    | perf::PERF_SAMPLE_BRANCH_STACK
    | perf::PERF_SAMPLE_REGS_USER
    | perf::PERF_SAMPLE_STACK_USER
    | perf::PERF_SAMPLE_WEIGHT_STRUCT
    | perf::PERF_SAMPLE_DATA_SRC
    | perf::PERF_SAMPLE_TRANSACTION
    | perf::PERF_SAMPLE_REGS_INTR
    | perf::PERF_SAMPLE_PHYS_ADDR) as u64;

fn layout() -> SampleLayout {
    SampleLayout {
        sample_type: EVERYTHING,
        user_registers: PERF_MASK,
        interrupt_registers: 1 << 8,
        read_format: (perf::PERF_FORMAT_GROUP | perf::PERF_FORMAT_ID | perf::PERF_FORMAT_TOTAL_TIME_ENABLED)
            as u64,
        branch_sample_type: perf::PERF_SAMPLE_BRANCH_HW_INDEX as u64,
        identifies_all: true,
    }
}

fn sample() -> Vec<u8> {
    Content::default()
        .words(&[77, 0x40_1000])
        .halves(&[5, 6])
        .words(&[123_456, 0x7000_0040, 1])
        .halves(&[3, 0])
        .words(&[1009])
        .words(&[2, 9, 1, 2, 3, 4]) // a group of two counters with their ids, and a time
        .words(&[3, -512i64 as u64, 0x40_1000, 0x40_2000])
        .halves(&[4, 0xdead_beef])
        .words(&[1, 0, 10, 20, 30]) // a branch with an index
        .words(&[2])
        .words(&(0..18).map(|value| 1000 + value).collect::<Vec<u64>>())
        .words(&[8, 0x1122_3344, 8])
        .words(&[(7 << 32) | 321, 2 | 13 << 33, 0])
        .words(&[2, 55, 0x9000])
        .record(perf::PERF_RECORD_SAMPLE, perf::PERF_RECORD_MISC_EXACT_IP | 2)
}

#[test]
fn a_sample_of_all_fields_is_read() {
    let Some(Record::Sample(sample)) = parse(&sample(), &layout()) else {
        panic!("it is a sample");
    };
    assert_eq!((sample.id, sample.instruction), (77, 0x40_1000));
    assert_eq!((sample.pid, sample.tid, sample.processor), (5, 6, 3));
    assert_eq!(
        (sample.time_ns, sample.address, sample.period),
        (123_456, 0x7000_0040, 1009)
    );
    assert_eq!(sample.callers, [0x40_1000, 0x40_2000]);
    assert_eq!(sample.registers.unwrap().general[0], 1000);
    assert_eq!(sample.registers.unwrap().instruction, 1008);
    assert_eq!((sample.latency_cycles, sample.data_source), (321, 2 | 13 << 33));
    assert_eq!((sample.physical_address, sample.is_exact), (0x9000, true));
}

#[test]
fn an_old_weight_has_64_bits() {
    let layout = SampleLayout {
        sample_type: u64::from(perf::PERF_SAMPLE_IP | perf::PERF_SAMPLE_WEIGHT),
        ..SampleLayout::default()
    };
    let bytes = Content::default()
        .words(&[1, 1 << 40])
        .record(perf::PERF_RECORD_SAMPLE, 0);
    let Some(Record::Sample(sample)) = parse(&bytes, &layout) else {
        panic!("it is a sample");
    };
    assert_eq!((sample.latency_cycles, sample.is_exact), (1 << 40, false));
}

#[test]
fn a_sample_that_is_cut_off_is_refused() {
    let whole = sample();
    for length in (HEADER_LENGTH..whole.len()).step_by(4) {
        let mut cut = whole[..length].to_vec();
        cut[6..8].copy_from_slice(&(length as u16).to_le_bytes());
        assert_eq!(parse(&cut, &layout()), None, "{length}");
    }
    assert_eq!(parse(&whole[..20], &layout()), None);
    assert_eq!(parse(&[0; 4], &layout()), None);
}

/// What stands at the end of records that are no samples: thread, time, stream, processor, identity.
fn trailer(content: Content, time_ns: u64) -> Content {
    content
        .halves(&[5, 6])
        .words(&[time_ns, 1])
        .halves(&[3, 0])
        .words(&[77])
}

#[test]
fn mappings_are_read_with_and_without_build_id() {
    let content = || {
        Content::default()
            .halves(&[5, 6])
            .words(&[0x1000, 0x2000, 0x3000])
    };
    let identified = content()
        .halves(&[20, 0x0403_0201, 0, 0, 0, 0])
        .halves(&[5, libc::MAP_PRIVATE as u32])
        .text("/lib/x.so");
    let bytes = trailer(identified, 99).record(perf::PERF_RECORD_MMAP2, perf::PERF_RECORD_MISC_MMAP_BUILD_ID);
    let Some(Record::Mapped(mapped)) = parse(&bytes, &layout()) else {
        panic!("it is a mapping");
    };
    assert_eq!(
        (mapped.pid, mapped.time_ns, mapped.path.as_str()),
        (5, 99, "/lib/x.so")
    );
    assert_eq!(
        (mapped.start, mapped.length, mapped.file_offset),
        (0x1000, 0x2000, 0x3000)
    );
    assert_eq!(
        (mapped.build_id.len(), &mapped.build_id[..4]),
        (20, &[1, 2, 3, 4][..])
    );
    let code = Protection {
        readable: true,
        executable: true,
        ..Protection::default()
    };
    assert_eq!(mapped.protection, code);
    let old = trailer(content().text("//anon"), 98)
        .record(perf::PERF_RECORD_MMAP, perf::PERF_RECORD_MISC_MMAP_DATA);
    let Some(Record::Mapped(mapped)) = parse(&old, &layout()) else {
        panic!("it is a mapping");
    };
    assert_eq!(
        (
            mapped.path.as_str(),
            mapped.time_ns,
            mapped.protection.readable,
            mapped.protection.executable
        ),
        ("//anon", 98, true, false)
    );
}

#[test]
fn processes_are_told_from_threads_and_names_from_programs() {
    let fork = |pid, parent| {
        let content = Content::default().halves(&[pid, parent, 6, 5]).words(&[42]);
        parse(&trailer(content, 42).record(perf::PERF_RECORD_FORK, 0), &layout()).unwrap()
    };
    assert_eq!(
        fork(9, 5),
        Record::Forked {
            pid: 9,
            parent: 5,
            time_ns: 42
        }
    );
    assert_eq!(fork(5, 5), Record::Other);
    let comm = |flags| {
        let content = Content::default().halves(&[5, 5]).text("prog");
        parse(
            &trailer(content, 43).record(perf::PERF_RECORD_COMM, flags),
            &layout(),
        )
        .unwrap()
    };
    assert_eq!(
        comm(perf::PERF_RECORD_MISC_COMM_EXEC),
        Record::Executed {
            pid: 5,
            name: "prog".into(),
            time_ns: 43
        }
    );
    assert_eq!(comm(0), Record::Other);
}

#[test]
fn lost_records_are_counted() {
    let lost = Content::default().words(&[77, 12]);
    let bytes = trailer(lost, 1).record(perf::PERF_RECORD_LOST, 0);
    assert_eq!(parse(&bytes, &layout()), Some(Record::Lost { count: 12 }));
    let bytes = trailer(Content::default().words(&[3]), 1).record(perf::PERF_RECORD_LOST_SAMPLES, 0);
    assert_eq!(parse(&bytes, &layout()), Some(Record::Lost { count: 3 }));
}
