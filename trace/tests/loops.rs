//! Records that stand for whole loops.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::FileBytes;
use testing::loops::{access, count_root, nest_table, repeat, step, table_of};
use trackway_trace::check::{Decoded, Interpreter, Rule};
use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::oracle::{
    compare, encode_summaries, site_records, Account, Comparison, StreamComparison,
};
use trackway_trace::table::{Expression, Operation, Table, Term, MAX_ITERATIONS, MAX_LOOP_DEPTH};
use trackway_trace::{Batch, ChunkFields, ChunkKind, Codec, Decoder, Lane, SiteId, Trace, TraceError};

type Access = (u32, u64, u64);

/// One record of the table's only segment.
fn record(values: &[u64]) -> Vec<u8> {
    let mut bytes = (1u32 << 8).to_le_bytes().to_vec();
    values
        .iter()
        .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    bytes
}

fn trace_of(table: &Table, flags: u16, payload: &[u8]) -> Trace {
    FileBytes::new(Codec::None)
        .module(0, 1, table)
        .records(0, flags, payload)
        .open()
}

fn each_batch(trace: &Trace, mut take: impl FnMut(&Batch)) -> Result<(), TraceError> {
    let mut decoder = Decoder::new(trace);
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0])?;
    while let Some(batch) = batches.next_batch()? {
        take(batch);
    }
    Ok(())
}

fn accesses(batch: &Batch) -> impl Iterator<Item = Access> + '_ {
    (0..batch.len()).map(|index| (batch.site[index].0, batch.address[index], batch.length(index)))
}

fn decode(trace: &Trace) -> Vec<Access> {
    let mut decoded = Vec::new();
    each_batch(trace, |batch| decoded.extend(accesses(batch))).unwrap();
    decoded
}

/// Decodes with the checking decoder, which must find nothing wrong.
fn interpret(trace: &Trace) -> Vec<Access> {
    let mut decoded = Vec::new();
    let mut take = |event| {
        if let Decoded::Access {
            site,
            address,
            length,
        } = event
        {
            decoded.push((site.0, address, length));
        }
    };
    let chunk = &trace.streams()[0].chunks[0];
    assert_eq!(Interpreter::new(trace).run(chunk, &mut take).unwrap(), []);
    decoded
}

fn rules(trace: &Trace) -> Vec<Rule> {
    let chunk = &trace.streams()[0].chunks[0];
    let violations = Interpreter::new(trace).run(chunk, &mut |_| {}).unwrap();
    violations.iter().map(|violation| violation.rule).collect()
}

/// What the nest of [`nest_table`] does.
fn nest(base: u64, rows: u64, columns: u64) -> Vec<Access> {
    let mut expected = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            expected.push((0, base + row * 4096 + column * 8, 8));
            expected.push((1, base + row * 4096 + column * 8 + 4, 4));
        }
        expected.push((2, base + row * 4096, 16));
    }
    expected
}

#[test]
fn nests_step_their_registers() {
    for (rows, columns) in [(0, 5), (5, 0), (1, 1), (3, 4), (70, 900)] {
        let trace = trace_of(&nest_table(), 0, &record(&[0x10_0000, rows, columns]));
        let expected = nest(0x10_0000, rows, columns);
        assert_eq!(decode(&trace), expected);
        assert_eq!(interpret(&trace), expected);
    }
}

#[test]
fn runs_are_the_accesses_of_their_loops() {
    let trace = trace_of(&nest_table(), 0, &record(&[0x10_0000, 3, 1 << 36]));
    let mut decoder = Decoder::new(&trace).with_runs();
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0]).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    assert_eq!(batch.access_count(), 3 * ((1 << 37) + 1));
    assert_eq!((batch.len(), batch.runs.len()), (3, 3));
    let run = batch.runs[1];
    assert_eq!((run.before, run.marks_before, run.count), (1, 0, 1 << 36));
    let lane = |site, size, address| Lane {
        site: SiteId(site),
        size,
        address,
        stride: 8,
    };
    assert_eq!(batch.lanes(&run), [lane(0, 8, 0x10_1000), lane(1, 4, 0x10_1004)]);
    assert_eq!(batches.next_batch().unwrap(), None);
}

#[test]
fn many_short_runs_come_in_batches_of_bounded_size() {
    let trace = trace_of(&nest_table(), 0, &record(&[0x10_0000, 50_000, 5]));
    let mut decoder = Decoder::new(&trace).with_runs();
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0]).unwrap();
    let (mut accesses, mut most_runs) = (0, 0);
    while let Some(batch) = batches.next_batch().unwrap() {
        accesses += batch.access_count();
        most_runs = most_runs.max(batch.runs.len());
    }
    assert_eq!(accesses, 50_000 * 11);
    assert!(most_runs > 100 && most_runs < 5_000, "{most_runs}");
}

#[test]
fn steps_may_be_what_a_register_says() {
    // The stride is a root; register 4 follows from the pointer and has its last value after the loop.
    let sum = |register, other| Expression {
        symbol: None,
        constant: 0,
        terms: [(register, 1), (other, 1)]
            .map(|(register, scale)| Term { register, scale })
            .into(),
    };
    let set = |register, value| Operation::Set { register, value };
    let body = vec![
        set(4, sum(0, 2)),
        access(0, 4, 0),
        set(0, sum(0, 1)),
        access(1, 0, 0),
    ];
    let roots = [0, 1, 2, 3].map(count_root).to_vec();
    let behind = vec![repeat(3, body), access(2, 4, 0), access(2, 0, 1)];
    let trace = trace_of(
        &table_of([roots, behind].concat()),
        0,
        &record(&[0x1000, 24, 0x500, 2000]),
    );
    let mut expected = Vec::new();
    for iteration in 0..2000 {
        expected.push((0, 0x1500 + iteration * 24, 8));
        expected.push((1, 0x1000 + iteration * 24 + 24, 4));
    }
    expected.push((2, 0x1500 + 1999 * 24, 16));
    expected.push((2, 0x1000 + 2000 * 24 + 1, 16));
    assert_eq!(decode(&trace), expected);
    assert_eq!(interpret(&trace), expected);
    let mut decoder = Decoder::new(&trace).with_runs();
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0]).unwrap();
    assert_eq!(batches.next_batch().unwrap().unwrap().runs.len(), 1);
}

#[test]
fn a_root_behind_a_loop_replaces_what_the_loop_set() {
    let body = vec![step(0, 8), access(0, 0, 0)];
    let table = table_of(vec![
        count_root(1),
        repeat(1, body),
        count_root(0),
        access(1, 0, 0),
    ]);
    let trace = trace_of(&table, 0, &record(&[2, 0x9000]));
    assert_eq!(decode(&trace), [(0, 8, 8), (0, 16, 8), (1, 0x9000, 4)]);
}

#[test]
fn a_long_loop_comes_in_batches_of_bounded_size() {
    let trace = trace_of(&nest_table(), 0, &record(&[0x10_0000, 500, 500]));
    let mut lengths = Vec::new();
    each_batch(&trace, |batch| lengths.push(batch.len())).unwrap();
    assert_eq!(lengths.iter().sum::<usize>(), 500 * (2 * 500 + 1));
    assert!(
        lengths.len() > 50 && lengths.iter().all(|length| *length < 9000),
        "{lengths:?}"
    );
}

#[test]
fn records_go_on_after_a_loop() {
    let payload = [
        record(&[0x1000, 2, 3]),
        record(&[0x2000, 100, 100]),
        record(&[0x3000, 1, 0]),
    ]
    .concat();
    let trace = trace_of(&nest_table(), 0, &payload);
    let expected = [nest(0x1000, 2, 3), nest(0x2000, 100, 100), nest(0x3000, 1, 0)].concat();
    assert_eq!(decode(&trace), expected);
    assert_eq!(interpret(&trace), expected);
}

#[test]
fn lanes_blocks_and_gathers_repeat() {
    let mask = Operation::Masked {
        site: 0,
        address: Expression::register(0, 0),
        mask: 1,
        lanes: 3,
        packed: false,
        stride: 8,
    };
    let gather = Operation::Gather {
        site: 1,
        mask: 1,
        lanes: 2,
        first_register: 0,
    };
    let block = Operation::Block {
        site: 2,
        address: Expression::register(0, 0),
        length: Expression::register(1, 0),
    };
    let body = vec![mask, gather, block, step(0, 64), step(1, 1)];
    let table = table_of(vec![count_root(0), count_root(1), count_root(2), repeat(2, body)]);
    let trace = trace_of(&table, 0, &record(&[0x1000, u64::from(u32::MAX) - 1, 4]));
    let length = |iteration: u64| u64::from(u32::MAX) - 1 + iteration;
    let mut expected = Vec::new();
    for iteration in 0..4 {
        let (address, mask) = (0x1000 + iteration * 64, length(iteration));
        let lanes = (0..3).filter(|lane| mask >> lane & 1 == 1);
        expected.extend(lanes.map(|lane| (0, address + lane * 8, 8)));
        let gathered = [address, mask].into_iter().enumerate();
        let gathered = gathered.filter(|(lane, _)| mask >> lane & 1 == 1);
        expected.extend(gathered.map(|(_, address)| (1, address, 4)));
        expected.push((2, address, length(iteration)));
    }
    assert_eq!(decode(&trace), expected);
    assert_eq!(interpret(&trace), expected);
}

#[test]
fn loops_that_run_too_often_are_damage() {
    let outer = |count: u64| trace_of(&nest_table(), 0, &record(&[0, count, 0]));
    for count in [MAX_ITERATIONS + 1, u64::MAX] {
        let trace = outer(count);
        assert_eq!(decode_error(&trace), Some(0));
        assert_eq!(
            rules(&trace),
            [Rule::Iterations {
                limit: MAX_ITERATIONS
            }]
        );
    }
    // All loops of a record count together: the second turn of the outer loop is too much.
    let payload = [record(&[0, 1, 1]), record(&[0, 2, MAX_ITERATIONS - 2])].concat();
    let trace = trace_of(&nest_table(), 0, &payload);
    let mut decoder = Decoder::new(&trace);
    let mut batches = decoder.decode(&trace.streams()[0].chunks[0]).unwrap();
    for _ in 0..100 {
        assert!(batches.next_batch().unwrap().unwrap().len() > 8000);
    }
}

/// Position of the record in which decoding fails.
fn decode_error(trace: &Trace) -> Option<u64> {
    match each_batch(trace, |_| {}) {
        Ok(()) => None,
        Err(TraceError::BadRecord { position, what, .. }) => {
            assert!(what.contains("more than 1099511627776 times"), "{what}");
            Some(position)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_position_of_a_damaged_record_is_told() {
    let payload = [record(&[0, 5000, 1]), record(&[0, u64::MAX, 0])].concat();
    let trace = trace_of(&nest_table(), 0, &payload);
    assert_eq!(decode_error(&trace), Some(28));
}

#[test]
fn a_count_that_was_never_written_ends_a_swept_stream() {
    let short = [record(&[0x1000, 1, 1]), record(&[0x2000])].concat();
    let endless = [record(&[0x1000, 1, 1]), record(&[0x2000, u64::MAX])].concat();
    for payload in [short, endless] {
        let trace = trace_of(&nest_table(), FLAG_TAIL, &payload);
        assert_eq!(decode(&trace), nest(0x1000, 1, 1));
        assert_eq!(interpret(&trace), nest(0x1000, 1, 1));
    }
    let not_last = [record(&[0x1000, u64::MAX, 1]), record(&[0x2000, 1, 1])].concat();
    let trace = trace_of(&nest_table(), FLAG_TAIL, &not_last);
    assert_eq!(decode_error(&trace), Some(0));
    assert_eq!(rules(&trace).len(), 1);
}

#[test]
fn all_batches_of_the_last_loop_of_a_swept_stream_are_uncertain() {
    let payload = [record(&[0x1000, 3, 3]), record(&[0x2000, 100, 100])].concat();
    for end in [payload.clone(), [&payload[..], &[0; 9]].concat()] {
        let trace = trace_of(&nest_table(), FLAG_TAIL, &end);
        let mut uncertain = Vec::new();
        each_batch(&trace, |batch| uncertain.push(batch.uncertain_from)).unwrap();
        assert_eq!(uncertain, [Some(21), Some(0), Some(0)]);
    }
    let more = [payload, record(&[0x3000, 1, 1])].concat();
    let trace = trace_of(&nest_table(), FLAG_TAIL, &more);
    let mut uncertain = Vec::new();
    each_batch(&trace, |batch| uncertain.push(batch.uncertain_from.is_some())).unwrap();
    assert_eq!(uncertain, [false, false, true]);
}

#[test]
fn the_oracle_may_end_anywhere_in_the_last_loop_of_a_swept_stream() {
    let payload = [record(&[0x1000, 3, 3]), record(&[0x2000, 100, 100])].concat();
    let all = [nest(0x1000, 3, 3), nest(0x2000, 100, 100)].concat();
    let comparison = |flags, happened: usize| {
        let mut file = FileBytes::new(Codec::Lz4);
        file.module(0, 1, &nest_table()).records(0, flags, &payload);
        let records = site_records(file.open().program());
        let mut account = Account::default();
        for (site, address, length) in &all[..happened] {
            account.add(records[SiteId(*site).index()].word(), *address, *length);
        }
        file.chunk(
            &ChunkFields::new(ChunkKind::OracleSummary),
            &encode_summaries(&[(0, account)]),
        );
        compare(&file.open()).unwrap()
    };
    for happened in [21, 22, 9_000, 20_000, all.len()] {
        let accesses = happened as u64;
        assert_eq!(comparison(FLAG_TAIL, happened), Comparison::Equal { accesses });
    }
    for (flags, happened) in [(FLAG_TAIL, 20), (0, 9_000), (0, 0)] {
        let differs = matches!(
            comparison(flags, happened),
            Comparison::Unequal {
                comparison: StreamComparison::HashDiffers { .. },
                ..
            }
        );
        assert!(differs, "{happened}");
    }
}

#[test]
fn a_loop_without_accesses_does_not_keep_its_reader_waiting() {
    let masked_out = Operation::Masked {
        site: 0,
        address: Expression::constant(0),
        mask: 2,
        lanes: 4,
        packed: false,
        stride: 8,
    };
    let table = |body| {
        let repetition = repeat(1, body);
        table_of(vec![count_root(0), count_root(1), repetition, access(0, 0, 0)])
    };
    let steps_only = trace_of(&table(vec![step(0, 1)]), 0, &record(&[0x1000, MAX_ITERATIONS]));
    assert_eq!(decode(&steps_only), [(0, 0x1000 + MAX_ITERATIONS, 8)]);
    let table = table(vec![step(0, 1), masked_out]);
    let trace = trace_of(&table, 0, &record(&[0x1000, 300_000]));
    let mut batches = 0;
    each_batch(&trace, |_| batches += 1).unwrap();
    assert!(batches > 2, "{batches}");
    assert_eq!(decode(&trace), [(0, 0x1000 + 300_000, 8)]);
    let endless = trace_of(&table, 0, &record(&[0x1000, MAX_ITERATIONS]));
    let mut decoder = Decoder::new(&endless);
    let mut batches = decoder.decode(&endless.streams()[0].chunks[0]).unwrap();
    assert!(batches.next_batch().unwrap().is_some_and(Batch::is_empty));
}

fn nested(depth: usize) -> Table {
    let mut body = vec![access(0, 0, 0)];
    for _ in 0..depth {
        body = vec![Operation::Loop {
            count: Expression::constant(2),
            body,
        }];
    }
    body.insert(0, count_root(0));
    table_of(body)
}

#[test]
fn loops_nest_so_deep_and_no_deeper() {
    let trace = trace_of(&nested(MAX_LOOP_DEPTH), 0, &record(&[0x1000]));
    let accesses = decode(&trace);
    assert_eq!(accesses.len(), 1 << MAX_LOOP_DEPTH);
    assert_eq!(accesses, interpret(&trace));
    let error = Table::parse(&nested(MAX_LOOP_DEPTH + 1).encode()).unwrap_err();
    assert!(
        error.what.contains("more than 16 loops within each other"),
        "{error}"
    );
}

#[test]
fn roots_and_events_do_not_repeat() {
    for operation in [count_root(1), Operation::Enter, Operation::Exit] {
        let table = table_of(vec![count_root(0), repeat(0, vec![operation])]);
        let error = Table::parse(&table.encode()).unwrap_err();
        assert!(error.what.contains("a loop around a root or an event"), "{error}");
    }
}

#[test]
fn the_limit_of_accesses_counts_a_body_once() {
    let lanes = |lanes| Operation::Masked {
        site: 0,
        address: Expression::constant(0),
        mask: 0,
        lanes,
        packed: false,
        stride: 8,
    };
    let body = |last: u8| [vec![lanes(64); (1 << 14) - 1], vec![lanes(last), access(0, 0, 0)]].concat();
    let table = |last| table_of(vec![count_root(0), count_root(1), repeat(1, body(last))]);
    assert!(Table::parse(&table(63).encode()).is_ok());
    let error = Table::parse(&table(64).encode()).unwrap_err();
    assert!(error.what.contains("where 1048576 is the limit"), "{error}");
}
