use super::*;

fn samples() -> Samples {
    let first = Sample {
        time_ns: 1_000_000,
        pid: 40,
        tid: 41,
        processor: 1,
        event: 0,
        seen_at: 0x40_1007,
        instruction: 0x40_1004,
        direction: Direction::Load,
        address: Some(0),
        class: AddressClass::RolledBack,
        size_bytes: 8,
        latency_cycles: 300,
        data_source: DataSource(2 | 13 << 33),
        physical_address: 0x1234_5000,
        weight: 4_000_000,
        window_instructions: 3,
        window_end: WindowEnd::SystemCall,
        window_speed: 50_125,
        window_weight: 9_000_000,
        window: 0..2,
    };
    let second = Sample {
        time_ns: 900_000,
        pid: 40,
        tid: 40,
        seen_at: u64::MAX,
        weight: 1,
        window: 2..2,
        ..Sample::default()
    };
    let access = |instruction, address, is_store, known_by| WindowAccess {
        instruction,
        address,
        size_bytes: 8,
        is_store,
        known_by,
    };
    Samples {
        lost: 7,
        samples: vec![first, second],
        window: vec![
            access(0x40_1007, 0x7fff_0000, false, WindowAddress::Registers),
            access(0x40_100a, 0, true, WindowAddress::Unknown),
        ],
    }
}

#[test]
fn samples_survive_encoding() {
    let samples = samples();
    assert_eq!(Samples::parse(&samples.encode()).unwrap(), samples);
    let empty = Samples::default();
    assert_eq!(Samples::parse(&empty.encode()).unwrap(), empty);
}

#[test]
fn every_prefix_is_refused() {
    let bytes = samples().encode();
    for length in 0..bytes.len() {
        assert!(Samples::parse(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn every_changed_byte_is_refused_or_read() {
    let bytes = samples().encode();
    for index in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[index] = value;
            if let Ok(read) = Samples::parse(&changed) {
                assert!(read.samples.len() <= bytes.len());
                assert!(read
                    .samples
                    .iter()
                    .all(|sample| sample.window.end <= read.window.len()));
            }
        }
    }
}

#[test]
fn columns_of_newer_writers_are_passed_over() {
    let mut bytes = samples().encode();
    bytes[3] += 1; // the number of columns
    bytes.extend_from_slice(&[31, 2, 0xff, 0xff]);
    assert_eq!(Samples::parse(&bytes).unwrap(), samples());
}

#[test]
fn windows_of_older_writers_have_no_speed_and_weight() {
    let mut samples = samples();
    let with = samples.encode();
    for sample in &mut samples.samples {
        (sample.window_speed, sample.window_weight) = (0, 0);
    }
    let without = samples.encode();
    // Columns of zeros are left out.
    assert_eq!(with[3] - without[3], 2);
    assert_eq!(Samples::parse(&without).unwrap(), samples);
}

#[test]
fn numbers_without_columns_take_no_memory() {
    let error = Samples::parse(&[0, 0xff, 0xff, 0xff, 0x7f, 0, 0]).unwrap_err();
    assert!(error.what.contains("samples"), "{error}");
}
