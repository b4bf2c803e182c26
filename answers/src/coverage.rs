//! What the recording of a compiled program has of all that its machine code does.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use trackway_analysis::coverage::{compare, CompiledFunctions, ExecutedBytes, RecordedBytes};
use trackway_analysis::{run_unfinished, Analysis, RunSummary};
use trackway_report::{Report, Table};
use trackway_trace::{FunctionId, Program, Trace};

use crate::failure::Failure;
use crate::info::TABLES_SECTION;
use crate::reading::{require_accesses, ReadingArguments};
use crate::soundness;

/// Symbols of the tables by which the copies of a function share its labels begin so.
const LABEL_TABLES: &str = "trackway.targets.";

/// Compares the trace of a program of `trackway cc` with one that `record --binary` made of the same program.
///
/// # Errors
/// If the traces aren't such a pair, or the program's file can't be read.
pub fn coverage(
    compiled: &Trace,
    binary: &Trace,
    reading: &ReadingArguments,
    rows: usize,
) -> Result<Report, Failure> {
    require_pair(compiled, binary)?;
    let recording = RecordedBytes::new(compiled);
    let (recorded, recorded_summary) = pass(&recording, compiled, reading);
    let objects = compiled_objects(binary.program());
    if objects.is_empty() {
        return Err(Failure::about(
            binary.path(),
            "none of the files whose code ran was compiled for recording, or they are gone: compare a program of \
             `trackway cc` with itself, while it is there",
        ));
    }
    let names = CompiledFunctions::of(compiled.program());
    let tables = label_tables(binary.program(), &objects);
    let execution = ExecutedBytes::new(binary.program(), &names, |path| objects.contains(path), tables);
    let (executed, executed_summary) = pass(&execution, binary, reading);
    let findings = compare(
        &recorded.recorded(compiled),
        &executed.executed(&execution, binary),
        rows,
    );
    let sides = [
        ("compiled", compiled, &recorded_summary),
        ("binary", binary, &executed_summary),
    ];
    let warnings = sides.iter().flat_map(|(side, trace, summary)| {
        let all = soundness::warnings(trace).into_iter();
        all.chain(summary.damage.iter().map(ToString::to_string))
            .map(move |warning| format!("{side}: {warning}"))
    });
    let warnings = warnings.chain(unsplit(&names));
    let mut report = findings.into_report(warnings.collect());
    report.tables.push(traces(&sides));
    Ok(report)
}

/// What is left out because its machine code never runs without records.
fn unsplit(names: &CompiledFunctions) -> Option<String> {
    let unsplit = names.without_plain_copy();
    (!unsplit.is_empty()).then(|| {
        format!(
            "not compared are loads and stores of functions that hand out labels (goto *), since they have one version \
             only, which records: {}",
            unsplit.join(", ")
        )
    })
}

fn require_pair(compiled: &Trace, binary: &Trace) -> Result<(), Failure> {
    for trace in [compiled, binary] {
        require_accesses(trace)?;
    }
    if compiled.program().is_machine_code() {
        return Err(Failure::about(
            compiled.path(),
            "name the trace of the compiled program first; this one is of a binary",
        ));
    }
    match binary.program().is_machine_code() {
        true => Ok(()),
        false => Err(Failure::about(
            binary.path(),
            "the second trace must be of the same program as a binary: `trackway record --binary`",
        )),
    }
}

fn pass<A: Analysis>(analysis: &A, trace: &Trace, reading: &ReadingArguments) -> (A::Shard, RunSummary) {
    reading.with_progress(trace, 1, |threads, observer| {
        run_unfinished(analysis, trace, threads, observer)
    })
}

/// Paths of the executed files that hold tables of the pass.
fn compiled_objects(program: &Program) -> HashSet<String> {
    let objects: HashSet<FunctionId> = program
        .instructions
        .iter()
        .map(|instruction| instruction.object)
        .collect();
    let paths = objects
        .into_iter()
        .map(|object| program.string(program.function(object).linkage_name));
    paths
        .filter(|path| has_tables(Path::new(path)))
        .map(str::to_owned)
        .collect()
}

fn has_tables(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    let file = object::File::parse(bytes.as_slice());
    file.is_ok_and(|file| {
        file.section_by_name(TABLES_SECTION)
            .is_some_and(|section| section.size() > 0)
    })
}

/// Run-time addresses of the tables by which the copies of functions share labels, as far as the objects have symbols.
fn label_tables(program: &Program, objects: &HashSet<String>) -> Vec<Range<u64>> {
    let placed = program.symbols.iter().filter_map(|symbol| {
        let path = program.string(symbol.name);
        objects.contains(path).then_some((path, symbol.address?))
    });
    placed
        .flat_map(|(path, begin)| label_tables_of(Path::new(path), begin))
        .collect()
}

fn label_tables_of(path: &Path, begin: u64) -> Vec<Range<u64>> {
    let Ok(bytes) = fs::read(path) else {
        return Vec::new();
    };
    let Ok(file) = object::File::parse(bytes.as_slice()) else {
        return Vec::new();
    };
    let first = file.segments().map(|segment| segment.address()).min();
    let distance = begin.wrapping_sub(first.unwrap_or(0));
    let tables = file
        .symbols()
        .filter(|symbol| symbol.name().is_ok_and(|name| name.starts_with(LABEL_TABLES)));
    tables
        .map(|table| {
            let start = table.address().wrapping_add(distance);
            start..start.saturating_add(table.size())
        })
        .collect()
}

fn traces(sides: &[(&str, &Trace, &RunSummary)]) -> Table {
    trackway_report::TableBuilder::new("traces", "What was compared", sides)
        .text("trace", |(side, _, _)| (*side).to_owned())
        .count("accesses", |(_, _, summary)| summary.accesses)
        .count("gaps", |(_, trace, _)| trace.gaps().len())
        .count("streams", |(_, trace, _)| trace.streams().len())
        .build()
}
