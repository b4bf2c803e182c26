//! Compares the numbers of the table with those of the pass that writes it, as its C++ headers have them: each side
//! must know the same names by the same numbers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use super::operation::{OperationCode, PACKED_BIT, SIGN_BIT};
use super::{flag, PieceEnd, PieceLoop};
use crate::{
    AccessKind, AllocationOperation, MemberKind, Side, StepKind, StructureKind, Synchronisation,
    Synchroniser, ValueForm, VariableKind,
};

type Numbers = BTreeMap<String, u64>;

fn source_of_pass(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../collectors/pass")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let without_comment = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
    text.lines().map(without_comment).collect()
}

/// The enumerators of `head`, such as `enum class Kind`, by their numbers: stated, or one more than the one before.
fn enumerators(text: &str, head: &str) -> Numbers {
    let is_whole = |rest: &&str| rest.starts_with(|next: char| !next.is_alphanumeric());
    let mut definitions = text.split(head).skip(1).filter(is_whole);
    let definition = definitions.next().unwrap_or_else(|| panic!("no {head}"));
    let (_, body) = definition.split_once('{').unwrap();
    let (body, _) = body.split_once('}').unwrap();
    let mut next = 0;
    let stated = body.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let numbered = stated.map(|entry| {
        let (name, number) = match entry.split_once('=') {
            Some((name, number)) => (name.trim(), number.trim().parse().unwrap()),
            None => (entry, next),
        };
        next = number + 1;
        (name.to_owned(), number)
    });
    numbered.collect()
}

/// All that the reader makes of a byte, by the names of its variants.
fn variants<T: Debug>(from_byte: fn(u8) -> Option<T>) -> Numbers {
    let named = |byte: u8| from_byte(byte).map(|variant| (format!("{variant:?}"), byte.into()));
    (0..=u8::MAX).filter_map(named).collect()
}

fn compare<T: Debug>(file: &str, head: &str, from_byte: fn(u8) -> Option<T>) {
    assert_eq!(
        enumerators(&source_of_pass(file), head),
        variants(from_byte),
        "{head} of {file}"
    );
}

fn acquired_by(byte: u8) -> Option<Synchroniser> {
    let both_sides = byte.checked_mul(2)?;
    let synchronisation = Synchronisation::from_byte(both_sides | 1)?;
    assert_eq!(synchronisation.side, Side::Acquire);
    Some(synchronisation.by)
}

#[test]
fn operations_have_the_same_codes() {
    let file = "table/OperationCode.h";
    compare(file, "enum class OperationCode", OperationCode::from_byte);
    let bits = |head| enumerators(&source_of_pass(file), head);
    let bit = |name: &str, value: u8| Numbers::from([(name.to_owned(), value.into())]);
    assert_eq!(bits("enum RootBit"), bit("SignBit", SIGN_BIT));
    assert_eq!(bits("enum MaskedBit"), bit("PackedBit", PACKED_BIT));
}

#[test]
fn sites_have_the_same_kinds() {
    compare("code/Accesses.h", "enum class AccessKind", AccessKind::from_byte);
    compare("oracle/Oracle.cpp", "enum SiteKind", AccessKind::from_byte);
    compare(
        "names/Attribution.h",
        "enum class VariableKind",
        VariableKind::from_byte,
    );
    compare(
        "code/Allocators.h",
        "enum class AllocationOperation",
        AllocationOperation::from_byte,
    );
}

#[test]
fn types_have_the_same_kinds() {
    let file = "names/Layouts.h";
    compare(file, "enum class MemberKind", MemberKind::from_byte);
    compare(file, "enum class StructureKind", StructureKind::from_byte);
}

#[test]
fn values_and_synchronisers_are_the_same() {
    compare("code/Values.h", "enum class ValueForm", ValueForm::from_byte);
    compare("code/Synchronisation.h", "enum class Synchroniser", acquired_by);
}

#[test]
fn control_flow_and_counting_steps_are_the_same() {
    compare("table/FunctionRecord.h", "enum class End", PieceEnd::from_byte);
    compare("table/FunctionRecord.h", "enum class Loop", PieceLoop::from_byte);
    compare("table/Counts.h", "enum class CountingStep", StepKind::from_number);
}

#[test]
fn flags_of_the_header_are_the_same() {
    let of_pass = enumerators(&source_of_pass("table/ModuleTable.h"), "enum Flag");
    let expected = [
        ("HasOracle", flag::ORACLE),
        ("RecordsCalls", flag::CALLS),
        ("RecordsOrder", flag::ORDER),
        ("Counts", flag::COUNTS),
        ("HasFlow", flag::FLOW),
        ("HasChecksums", flag::CHECKSUMS),
        ("IsPacked", flag::PACKED),
        ("HasWork", flag::WORK),
        ("HasWaits", flag::WAITS),
        ("HasRegions", flag::REGIONS),
    ];
    let named = expected.map(|(name, bit)| (name.to_owned(), u64::from(bit)));
    assert_eq!(of_pass, named.into());
    let of_machine_code_only = flag::KNOWN & !expected.iter().fold(0, |all, (_, bit)| all | bit);
    assert_eq!(of_machine_code_only, flag::MACHINE_CODE);
}

#[test]
fn the_pass_writes_the_present_version() {
    let line = format!("constexpr uint16_t Version = {};", crate::FORMAT_VERSION);
    assert!(
        source_of_pass("table/ModuleTable.h").contains(&line),
        "the pass doesn't write tables of version {}",
        crate::FORMAT_VERSION
    );
}
