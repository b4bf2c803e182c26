//! Tables whose types are not what the format demands are refused.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use trackway_trace::table::{Table, TableType};
use trackway_trace::MemberKind;

fn parsed(change: impl Fn(&mut TableType)) -> Result<Table, String> {
    let mut table = testing::golden::table();
    change(&mut table.types[0]);
    Table::parse(&table.encode()).map_err(|error| error.what)
}

fn refused(change: impl Fn(&mut TableType), complaint: &str) {
    let what = parsed(change).unwrap_err();
    assert!(what.contains(complaint), "{what}");
}

#[test]
fn members_lie_within_their_structure() {
    assert!(parsed(|_| ()).is_ok());
    refused(|node| node.size = 15, "outside of its 15 bytes");
    refused(|node| node.members[0].offset_bits = 72, "outside");
    refused(|node| node.members[0].size_bits = u64::MAX - 7, "outside");
    refused(|node| node.size = 1 << 60, "a type of");
}

#[test]
fn only_bit_fields_lie_between_bytes() {
    refused(|node| node.members[0].size_bits = 63, "between bytes");
    let bits = parsed(|node| {
        node.members[0].kind = MemberKind::BitField;
        node.members[0].size_bits = 63;
    });
    assert!(bits.is_ok());
}

#[test]
fn alignments_are_powers_of_two() {
    refused(|node| node.alignment = 12, "an alignment of 12");
    refused(|node| node.members[0].alignment = 0, "an alignment of 0");
}

#[test]
fn structures_hold_only_earlier_ones() {
    refused(
        |node| node.members[0].nested = Some(0),
        "type of a member 1, where there are 1",
    );
}
