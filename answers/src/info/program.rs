//! What is instrumented in a program, shared object or object file.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection};
use trackway_report::{counted, Report};
use trackway_trace::Program;

use super::{counts, instrumentation};
use crate::failure::Failure;

/// The section into which the pass puts its tables.
pub const SECTION: &str = "trackway_table";

pub fn describe(path: &Path) -> Result<Report, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::about(path, error))?;
    let file = object::File::parse(bytes.as_slice())
        .map_err(|error| Failure::about(path, format!("is a damaged or unsupported ELF file: {error}")))?;
    let program = match file.section_by_name(SECTION) {
        Some(section) => read_tables(path, &section)?,
        None => Program::default(),
    };
    let name = path.display();
    if program.modules.is_empty() {
        return Ok(Report {
            answer: format!("{name}: not instrumented"),
            warnings: vec![
                "it records nothing; build it with CC=\"trackway cc\" CXX=\"trackway c++\"".into(),
            ],
            tables: Vec::new(),
        });
    }
    let mut tables = vec![
        instrumentation::coverage(&program),
        instrumentation::modules(&program),
    ];
    tables.extend(instrumentation::not_recordable(&program));
    tables.extend(counts::modules(&program));
    Ok(Report {
        answer: format!(
            "{name}: {} with {} and {} instrumented",
            counted(program.modules.len() as u64, "module"),
            counted(program.functions.len() as u64, "function"),
            counted(program.sites.len() as u64, "site")
        ),
        warnings: Vec::new(),
        tables,
    })
}

fn read_tables<'data>(path: &Path, section: &impl ObjectSection<'data>) -> Result<Program, Failure> {
    let damaged = |what: String| Failure::about(path, format!("section {SECTION}: {what}"));
    let bytes = section
        .uncompressed_data()
        .map_err(|error| damaged(error.to_string()))?;
    Program::from_tables(&bytes).map_err(|error| damaged(error.to_string()))
}
