//! The comparison with the oracle finds what differs.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::FileBytes;
use testing::golden::{table, GLOBAL_ADDRESS, WALK};
use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::oracle::{
    compare, encode_summaries, Account, Comparison, Incomparable, OracleAccess, StreamComparison,
};
use trackway_trace::{AccessKind, ChunkFields, ChunkKind, Codec};

const POINTER: u64 = 0x7000;

/// One record of segment 1: a store to the pointer, a load of `total`.
fn records() -> Vec<u8> {
    [&(2u32 << 8).to_le_bytes()[..], &POINTER.to_le_bytes()].concat()
}

fn accesses() -> [OracleAccess; 2] {
    let base = OracleAccess {
        function: WALK,
        ordinal: 5,
        part: 0,
        kind: 1,
        address: POINTER,
        size: 4,
    };
    // The files of this test give their symbols addresses of their own.
    let total = 0x40_0000 + 16;
    assert_ne!(total, GLOBAL_ADDRESS + 16);
    [
        base,
        OracleAccess {
            ordinal: 6,
            kind: AccessKind::Load as u8,
            address: total,
            size: 8,
            ..base
        },
    ]
}

fn account(accesses: &[OracleAccess]) -> Account {
    let mut account = Account::default();
    for access in accesses {
        account.add(access.word(), access.address, access.size);
    }
    account
}

fn compare_with(flags: u16, summary: Option<Account>, dump: Option<&[OracleAccess]>) -> Comparison {
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 1, &table()).records(0, flags, &records());
    if let Some(account) = summary {
        file.chunk(
            &ChunkFields::new(ChunkKind::OracleSummary),
            &encode_summaries(&[(0, account)]),
        );
    }
    if let Some(dump) = dump {
        let payload: Vec<u8> = dump.iter().flat_map(OracleAccess::to_bytes).collect();
        file.chunk(&ChunkFields::new(ChunkKind::OracleRecords), &payload);
    }
    compare(&file.open()).unwrap()
}

fn unequal(comparison: StreamComparison) -> Comparison {
    Comparison::Unequal {
        stream: 0,
        comparison,
    }
}

#[test]
fn equal_accounts_and_dumps_are_equal() {
    let all = accesses();
    assert_eq!(
        compare_with(0, Some(account(&all)), None),
        Comparison::Equal { accesses: 2 }
    );
    assert_eq!(
        compare_with(0, None, Some(&all)),
        Comparison::Equal { accesses: 2 }
    );
    // Accesses of which the oracle, though built in, says nothing.
    assert_eq!(
        compare_with(0, None, None),
        unequal(StreamComparison::Incomparable(Incomparable::NoAccount))
    );
}

#[test]
fn another_order_or_count_differs() {
    let [first, second] = accesses();
    let decoded = account(&[first, second]);
    for oracle in [
        account(&[second, first]),
        account(&[first]),
        account(&[first, second, second]),
    ] {
        let differs = unequal(StreamComparison::HashDiffers { decoded, oracle });
        assert_eq!(compare_with(0, Some(oracle), None), differs);
    }
}

#[test]
fn the_dump_names_the_first_difference() {
    let [first, second] = accesses();
    let wrong = OracleAccess {
        address: second.address + 8,
        ..second
    };
    let Comparison::Unequal {
        stream: 0,
        comparison: StreamComparison::FirstDifference(difference),
    } = compare_with(0, None, Some(&[first, wrong]))
    else {
        panic!("no difference");
    };
    assert_eq!(
        (difference.index, difference.decoded, difference.oracle),
        (1, Some(second), Some(wrong))
    );
    assert!(difference.site.is_some());
}

#[test]
fn a_dump_that_goes_on_or_ends_early_differs() {
    let [first, second] = accesses();
    for (dump, index) in [(&[first][..], 1), (&[first, second, first], 2)] {
        let comparison = compare_with(0, None, Some(dump));
        let Comparison::Unequal {
            comparison: StreamComparison::FirstDifference(difference),
            ..
        } = comparison
        else {
            panic!("no difference");
        };
        assert_eq!(difference.index, index);
    }
}

#[test]
fn of_the_last_record_of_a_swept_buffer_some_accesses_may_be_missing() {
    let [first, second] = accesses();
    for happened in [&[][..], &[first], &[first, second]] {
        let equal = Comparison::Equal {
            accesses: happened.len() as u64,
        };
        assert_eq!(compare_with(FLAG_TAIL, Some(account(happened)), None), equal);
        assert_eq!(compare_with(FLAG_TAIL, None, Some(happened)).clone(), equal);
    }
    let decoded = account(&[first, second]);
    let ahead = account(&[first, second, first]);
    let cut_off = Incomparable::CutOff {
        decoded,
        oracle: ahead,
    };
    assert_eq!(
        compare_with(FLAG_TAIL, Some(ahead), None),
        unequal(StreamComparison::Incomparable(cut_off))
    );
}

#[test]
fn of_the_last_record_of_a_swept_buffer_addresses_may_be_missing() {
    let [first, second] = accesses();
    let (decoded, oracle) = (account(&[first, second]), account(&[second]));
    let cut_off = Incomparable::CutOff { decoded, oracle };
    assert_eq!(
        compare_with(FLAG_TAIL, Some(oracle), None),
        unequal(StreamComparison::Incomparable(cut_off))
    );
    assert_eq!(
        compare_with(FLAG_TAIL, None, Some(&[second, first])),
        Comparison::Equal { accesses: 0 }
    );
}

#[test]
fn a_stream_without_records_differs_if_the_oracle_saw_accesses() {
    let mut file = FileBytes::new(Codec::None);
    let oracle = account(&accesses());
    file.module(0, 1, &table());
    file.chunk(
        &ChunkFields::new(ChunkKind::OracleSummary),
        &encode_summaries(&[(0, oracle)]),
    );
    let decoded = Account::default();
    let differs = unequal(StreamComparison::HashDiffers { decoded, oracle });
    assert_eq!(compare(&file.open()).unwrap(), differs);
}
