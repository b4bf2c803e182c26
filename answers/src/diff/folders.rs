//! Folders of traces, compared program by program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trackway_report::{counted, Report, TableBuilder};
use trackway_trace::{traces_in, Trace};

use super::{compared as traces_compared, DiffArguments};
use crate::failure::Failure;

/// Identifies traces of the same program: its file name and its arguments.
type Program = (String, Vec<String>);

/// The traces of a folder by program, those of one program by the time of their recording.
type Folder = BTreeMap<Program, Vec<(u64, PathBuf)>>;

/// A trace of each folder, of the same program.
struct Pair {
    program: String,
    before: PathBuf,
    after: PathBuf,
    answer: String,
}

/// What changed in each program that both folders have.
pub fn compared(arguments: &DiffArguments) -> Result<Report, Failure> {
    if !arguments.again.is_empty() {
        return Err(Failure::new("--again goes with two traces, not with folders"));
    }
    let mut warnings = Vec::new();
    let before = read(&arguments.before, &mut warnings)?;
    let mut after = read(&arguments.after, &mut warnings)?;
    let (mut pairs, mut tables) = (Vec::new(), Vec::new());
    for (program, before) in before {
        let after = after.remove(&program).unwrap_or_default();
        let name = shown(&program);
        for pair in zipped(before, after) {
            let (before, after) = match pair {
                (Some(before), Some(after)) => (before, after),
                (Some(gone), None) => {
                    warnings.push(only_in(&gone, &arguments.before, &name));
                    continue;
                }
                (None, new) => {
                    warnings.extend(new.map(|new| only_in(&new, &arguments.after, &name)));
                    continue;
                }
            };
            let report = traces_compared(arguments, &before, &after, &[])?;
            warnings.extend(report.warnings.iter().map(|warning| format!("{name}: {warning}")));
            tables.extend(report.tables.into_iter().map(|table| {
                let title = format!("{name}: {}", table.title());
                table.titled(title)
            }));
            pairs.push(Pair {
                program: name.clone(),
                before,
                after,
                answer: report.answer,
            });
        }
    }
    let rest = after
        .into_iter()
        .flat_map(|(program, traces)| traces.into_iter().map(move |trace| (shown(&program), trace)));
    warnings.extend(rest.map(|(name, (_, path))| only_in(&path, &arguments.after, &name)));
    if pairs.is_empty() {
        return Err(Failure::new(format!(
            "{} and {} have no trace of the same program and arguments",
            arguments.before.display(),
            arguments.after.display()
        )));
    }
    tables.insert(0, summary(&pairs));
    Ok(Report {
        answer: format!("{} compared", counted(pairs.len() as u64, "pair of traces")),
        warnings,
        tables,
    })
}

fn summary(pairs: &[Pair]) -> trackway_report::Table {
    TableBuilder::new("programs", "Programs", pairs)
        .text("program", |pair| pair.program.clone())
        .path("before", |pair| pair.before.display().to_string())
        .path("after", |pair| pair.after.display().to_string())
        .source(("answer", "what changed"), |pair| {
            Some(pair.answer.replace('\n', "; "))
        })
        .build()
}

fn only_in(trace: &Path, folder: &Path, program: &str) -> String {
    format!(
        "{}: no other trace of {program} to compare it with; it is only in {}",
        trace.display(),
        folder.display()
    )
}

fn zipped(
    before: Vec<(u64, PathBuf)>,
    after: Vec<(u64, PathBuf)>,
) -> Vec<(Option<PathBuf>, Option<PathBuf>)> {
    let count = before.len().max(after.len());
    let path = |traces: &[(u64, PathBuf)], index: usize| traces.get(index).map(|(_, path)| path.clone());
    (0..count)
        .map(|index| (path(&before, index), path(&after, index)))
        .collect()
}

fn shown((program, arguments): &Program) -> String {
    let words = std::iter::once(program).chain(arguments);
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Reads a folder; traces that can't be read cause a warning.
fn read(folder: &Path, warnings: &mut Vec<String>) -> Result<Folder, Failure> {
    let mut traces = Folder::new();
    for path in traces_in(folder)? {
        let trace = match Trace::open(&path) {
            Ok(trace) => trace,
            Err(error) => {
                warnings.push(error.to_string());
                continue;
            }
        };
        let meta = trace.meta();
        let name = Path::new(&meta.program).file_name().unwrap_or_default();
        let program = (name.to_string_lossy().into_owned(), meta.arguments.clone());
        traces
            .entry(program)
            .or_default()
            .push((meta.start_unix_ns, path));
    }
    traces.values_mut().for_each(|traces| traces.sort());
    Ok(traces)
}
