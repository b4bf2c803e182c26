//! Compares the oracle's account with what the trace decodes to.

use trackway_analysis::Names;
use trackway_report::grouped;
use trackway_trace::oracle::{
    compare, site_records, Account, Comparison, Difference, Incomparable, OracleAccess, StreamComparison,
};
use trackway_trace::{AccessKind, SiteId, Trace};

use super::Verdict;
use crate::failure::Failure;

const KINDS: [AccessKind; 11] = [
    AccessKind::Load,
    AccessKind::Store,
    AccessKind::AtomicLoad,
    AccessKind::AtomicStore,
    AccessKind::AtomicReadModifyWrite,
    AccessKind::AtomicCompareExchange,
    AccessKind::CopyRead,
    AccessKind::CopyWrite,
    AccessKind::Fill,
    AccessKind::LibraryRead,
    AccessKind::LibraryWrite,
];

pub fn check(trace: &Trace) -> Result<Verdict, Failure> {
    let (findings, summary) = match compare(trace)? {
        Comparison::Equal { accesses } => (Vec::new(), format!("{} accesses equal", grouped(accesses))),
        Comparison::NoOracle => (
            Vec::new(),
            "no oracle in this trace (build the program with `trackway cc --oracle`)".into(),
        ),
        Comparison::Unequal { stream, comparison } => {
            let (finding, summary) = describe(trace, &comparison);
            (vec![format!("stream {stream}: {finding}")], summary.into())
        }
    };
    Ok(Verdict {
        findings,
        summary: format!("oracle: {summary}"),
    })
}

/// What was found, and what that says about the trace.
fn describe(trace: &Trace, comparison: &StreamComparison) -> (String, &'static str) {
    const DIFFERENT: &str = "the trace is not what the program did";
    const UNKNOWN: &str = "not all accesses could be compared";
    match comparison {
        StreamComparison::Equal { accesses } => (format!("{} accesses equal", grouped(*accesses)), UNKNOWN),
        StreamComparison::FirstDifference(difference) => (first_difference(trace, difference), DIFFERENT),
        StreamComparison::HashDiffers { decoded, oracle } => {
            let remedy = "record with --oracle-dump to see the first difference";
            (format!("{}; {remedy}", accounts(*decoded, *oracle)), DIFFERENT)
        }
        StreamComparison::Incomparable(reason) => (incomparable(*reason), UNKNOWN),
    }
}

fn accounts(decoded: Account, oracle: Account) -> String {
    format!(
        "the oracle saw {} accesses (hash {:016x}), the trace decodes to {} (hash {:016x})",
        grouped(oracle.count),
        oracle.hash,
        grouped(decoded.count),
        decoded.hash
    )
}

fn incomparable(reason: Incomparable) -> String {
    match reason {
        Incomparable::Gap => "it has gaps; record with --on-full wait".into(),
        Incomparable::CutOff { decoded, oracle } => {
            format!(
                "its process ended in the middle of a record: {}",
                accounts(decoded, oracle)
            )
        }
        Incomparable::NoAccount => "the oracle says nothing of it".into(),
    }
}

fn first_difference(trace: &Trace, difference: &Difference) -> String {
    let side = |access: Option<OracleAccess>, site, value: &[u64]| match access {
        Some(access) => access_text(trace, &access, site) + &value_text(value),
        None => "nothing more".into(),
    };
    let oracle_site = difference.oracle.and_then(|access| site_of(trace, &access));
    format!(
        "first difference at access {}\n  trace:  {}\n  oracle: {}",
        difference.index,
        side(difference.decoded, difference.site, &difference.decoded_value),
        side(difference.oracle, oracle_site, &difference.oracle_value)
    )
}

fn value_text(words: &[u64]) -> String {
    let digits: Vec<String> = words.iter().rev().map(|word| format!("{word:016x}")).collect();
    match words {
        [] => String::new(),
        _ => format!(", value {}", digits.join(" ")),
    }
}

/// The site that the oracle reports, if the trace has it.
fn site_of(trace: &Trace, access: &OracleAccess) -> Option<SiteId> {
    let place = |access: &OracleAccess| (access.function, access.ordinal, access.part);
    let position = site_records(trace.program())
        .iter()
        .position(|record| place(record) == place(access))?;
    u32::try_from(position).ok().map(SiteId)
}

fn access_text(trace: &Trace, access: &OracleAccess, site: Option<SiteId>) -> String {
    let kind = KINDS
        .iter()
        .find(|kind| **kind as u8 == access.kind)
        .map_or("unknown kind", |kind| kind.name());
    let place = site.map_or_else(
        || format!("function {:016x}, at no site of the trace", access.function),
        |site| site_text(trace, site),
    );
    let OracleAccess {
        address,
        size,
        ordinal,
        part,
        ..
    } = access;
    format!("{kind} of {size} bytes at {address:#x}, instruction {ordinal} part {part} of {place}")
}

fn site_text(trace: &Trace, id: SiteId) -> String {
    let program = trace.program();
    let site = program.site(id);
    let location = program.location(site.location);
    let function = Names::new(program).function(program.function(site.function).linkage_name);
    format!(
        "{function}, {}:{} (site {})",
        program.string(location.file),
        location.line,
        id.0
    )
}
