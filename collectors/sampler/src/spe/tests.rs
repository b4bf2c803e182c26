use super::*;

fn address(index: u8, value: u64) -> Vec<u8> {
    [&[0xb0 | index][..], &value.to_le_bytes()].concat()
}

fn timestamp(ticks: u64) -> Vec<u8> {
    [&[0x71][..], &ticks.to_le_bytes()].concat()
}

/// A load with every kind of packet.
fn load() -> Vec<u8> {
    [
        address(0, 0x40_1000),
        vec![0x64, 77, 0, 0, 0],
        vec![0x49, 0x00],
        vec![0x98, 0x2c, 1], // total latency
        vec![0x99, 0x10, 0], // until it was issued
        vec![0x9a, 0x03, 0], // of the translation
        address(2, 0x5a00_0000_7000_0040),
        address(3, 0x8000_0000_9000_0040),
        vec![0x52, 0x3e, 0x03],
        vec![0x43, 0x0e],
        timestamp(1234),
    ]
    .concat()
}

const NONE: DataSources = DataSources::Unknown;

#[test]
fn a_load_has_all_its_fields() {
    let decoded = decode(&load());
    let expected = SpeOperation {
        instruction: 0x40_1000,
        exception_level: 0,
        address: 0x7000_0040,
        physical_address: 0x9000_0040,
        latency_cycles: 300,
        loads: true,
        stores: false,
        events: 0x33e,
        source: Some(14),
        ticks: Some(1234),
        context: Some(77),
    };
    assert_eq!((decoded.operations, decoded.damaged), (vec![expected], 0));
}

#[test]
fn records_follow_each_other_with_padding_between() {
    let store = [
        address(0, 0x40_2000),
        vec![0x49, 0x01],
        address(2, 0x10),
        vec![0x01],
    ]
    .concat();
    let bytes = [load(), vec![0; 7], store, vec![0; 3], load()].concat();
    let operations = decode(&bytes).operations;
    let seen: Vec<_> = operations
        .iter()
        .map(|operation| {
            (
                operation.instruction,
                operation.loads,
                operation.stores,
                operation.ticks,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0x40_1000, true, false, Some(1234)),
            (0x40_2000, false, true, None),
            (0x40_1000, true, false, Some(1234)),
        ]
    );
}

#[test]
fn atomic_operations_load_and_store() {
    let of = |details: u8| {
        let bytes = [address(0, 4), vec![0x49, details, 0x01]].concat();
        let operation = decode(&bytes).operations[0];
        (operation.loads, operation.stores)
    };
    assert_eq!(of(0x07), (true, true), "an atomic store");
    assert_eq!(of(0x06), (true, true), "an atomic load");
    assert_eq!(of(0x0b), (false, true), "an exclusive store");
    assert_eq!(of(0x0a), (true, false), "an exclusive load");
    assert_eq!(of(0x05), (false, true), "of a vector register");
}

#[test]
fn branches_access_nothing() {
    let bytes = [
        address(0, 0x40),
        vec![0x4a, 1],
        address(1, 0x80),
        vec![0x42, 2],
        vec![0x01],
    ]
    .concat();
    let operation = decode(&bytes).operations[0];
    assert_eq!((operation.address, operation.data_source(NONE)), (0, 0));
}

#[test]
fn addresses_of_the_kernel_keep_their_sign() {
    let in_kernel = 0xa0ff_8000_1234_5678; // exception level 1
    let bytes = [address(0, in_kernel), vec![0x01]].concat();
    let operation = decode(&bytes).operations[0];
    assert_eq!(
        (operation.instruction, operation.exception_level),
        (0xffff_8000_1234_5678, 1)
    );
}

#[test]
fn levels_follow_from_events_or_from_the_processors_numbers() {
    let level = |operation: &SpeOperation, sources| operation.data_source(sources) >> 33 & 15;
    let with = |events: u64, source: Option<u16>| SpeOperation {
        loads: true,
        events,
        source,
        ..SpeOperation::default()
    };
    for (events, expected) in [
        (1 << 2, 1),
        (1 << 2 | 1 << 3, 0),
        (1 << 2 | 1 << 3 | 1 << 8, 3),
        (1 << 2 | 1 << 3 | 1 << 8 | 1 << 9, 13),
        (0, 0),
    ] {
        assert_eq!(level(&with(events, Some(8)), NONE), expected, "{events:x}");
    }
    for (source, expected) in [(0x0, 1), (0x8, 2), (0xb, 3), (0xe, 13), (0x7, 1)] {
        let operation = with(1 << 2, Some(source));
        assert_eq!(level(&operation, DataSources::Neoverse), expected, "{source:x}");
    }
    let remote = with(1 << 10, None).data_source(NONE);
    assert_eq!((remote >> 33 & 15, remote >> 37 & 1), (13, 1));
    assert_eq!(with(1 << 4 | 1 << 5, None).data_source(NONE) >> 26 & 0x7f, 0xc);
    assert_eq!(with(1 << 4, None).data_source(NONE) >> 26 & 0x7f, 0xa);
    assert_eq!(DataSources::of_processor(0x413f_d0c1), DataSources::Neoverse);
    assert_eq!(DataSources::of_processor(0x480f_d010), DataSources::Unknown);
}

#[test]
fn what_is_damaged_costs_its_own_record() {
    let mut torn = load();
    torn[9] = 0x80; // in the place of a header
    let bytes = [load(), torn, load()].concat();
    let decoded = decode(&bytes);
    assert_eq!((decoded.operations.len(), decoded.damaged), (2, 1));
    for length in 0..bytes.len() {
        decode(&bytes[..length]);
    }
    let cut = decode(&load()[..40]);
    assert_eq!(cut.operations, []);
}

#[test]
fn ticks_are_counted_back_from_the_end() {
    // 25 MHz: 40 ns each.
    let clock = TimerClock {
        zero_ns: 7,
        multiplier: 40 << 10,
        shift: 10,
    };
    assert_eq!((clock.duration_ns(100), clock.time_ns(100)), (4000, 4007));
    let times = clock.times_before(1_000_000, &[Some(10), Some(35), None]);
    assert_eq!(times, [999_000, 1_000_000, 1_000_000]);
    assert_eq!(clock.times_before(5, &[Some(0), Some(1000)]), [0, 5]);
    let widest = TimerClock {
        multiplier: u32::MAX,
        shift: 0,
        ..clock
    };
    assert_eq!(widest.duration_ns(u64::MAX), u64::MAX);
}
