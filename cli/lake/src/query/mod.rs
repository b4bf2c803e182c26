//! `trackway query`.

mod destination;

use std::path::Path;
use std::process::ExitCode;

use trackway_answers::failure::Failure;
use trackway_answers::model::ModelArguments;
use trackway_answers::progress::{stored_bytes, with_polled_bar};
use trackway_answers::served::{served, CYCLES};
use trackway_answers::slice::{self, Content};
use trackway_answers::{output, processors, soundness};
use trackway_cli::query::{AnswerFormat, QueryArguments, Question};
use trackway_query::{
    catalog, served_columns, write, Answer, Format, QueryError, Session, TableDescription, TraceSet, Written,
};
use trackway_report::{counted, Report, Table, TableBuilder};
use trackway_trace::Trace;

use crate::places::Places;
use destination::Destination;

pub fn run(arguments: &QueryArguments) -> Result<ExitCode, Failure> {
    let question = arguments.question()?;
    let places = Places::open(&question.places, arguments.quiet)?;
    let slice = arguments.slice.request().of(Content::Tables);
    let open = |path: &Path| {
        let trace = Trace::open(path)?;
        slice
            .apply(trace)
            .map_err(|failure| QueryError::Unfit(failure.to_string()))
    };
    let set = TraceSet::open_by(&places.paths(), open).map_err(failed)?;
    let set = set.named(&|file| places.name_of(file));
    tell_of_traces(&set, !slice.is_all());
    let Some(sql) = sql(arguments, &question) else {
        output::print_report(&schema(&set), false)?;
        return Ok(ExitCode::SUCCESS);
    };
    serve(&set, &sql, arguments)?;
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let session = Session::new(set, threads).map_err(failed)?;
    let written = answer(&session, &sql, arguments);
    session.take_damage().iter().for_each(output::warn);
    let written = written?;
    if written.is_cut {
        output::warn(format!(
            "only the first {} are shown; see more with --top, or all with --csv, --json or --format parquet",
            counted(written.rows, "row")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// If a query asks for what served accesses, says which caches and which machine do.
fn serve(set: &TraceSet, sql: &str, arguments: &QueryArguments) -> Result<(), Failure> {
    let columns = served_columns(sql);
    if columns.is_empty() {
        return Ok(());
    }
    let model = ModelArguments {
        cache: arguments.cache.clone(),
        ..ModelArguments::default()
    };
    let wants_cycles = columns.contains(&CYCLES);
    for tables in set.traces() {
        let mut warnings = Vec::new();
        tables.serve_by(served(
            tables.trace(),
            &model,
            &arguments.machine,
            wants_cycles,
            &mut warnings,
        )?);
        warnings.iter().for_each(output::warn);
    }
    Ok(())
}

/// None if only the schema is asked for.
fn sql(arguments: &QueryArguments, question: &Question) -> Option<String> {
    let sql = question.sql.as_ref()?;
    Some(match arguments.explain {
        true => format!("EXPLAIN {sql}"),
        false => sql.clone(),
    })
}

fn answer(session: &Session, sql: &str, arguments: &QueryArguments) -> Result<Written, Failure> {
    let mut answer = session.query(sql).map_err(failed)?;
    let format = match arguments.format() {
        AnswerFormat::Table => Format::Table {
            rows: match arguments.rows {
                0 => usize::MAX,
                rows => rows,
            },
            width: match arguments.output {
                Some(_) => None,
                None => output::terminal_style().width,
            },
        },
        AnswerFormat::Csv => Format::Csv,
        AnswerFormat::Json => Format::Json,
        AnswerFormat::Parquet => Format::Parquet,
    };
    let total: u64 = session
        .traces()
        .traces()
        .iter()
        .map(|tables| stored_bytes(tables.trace()))
        .sum();
    let mut destination = Destination::open(arguments)?;
    let path = destination.path();
    let done = with_polled_bar(total, arguments.quiet, &|| session.decoded().1, || {
        write_answer(&mut answer, format, &mut destination, &path)
    });
    let written = done?;
    destination.finish()?;
    Ok(written)
}

fn write_answer(
    answer: &mut Answer,
    format: Format,
    destination: &mut Destination,
    path: &Path,
) -> Result<Written, Failure> {
    write(answer, format, destination, path).map_err(|error| match error {
        QueryError::Writing(error) if path == destination::standard_output() => Failure::writing(error),
        QueryError::Writing(error) => Failure::about(path, error),
        other => failed(other),
    })
}

/// Reports what the answer lacks, and why.
fn tell_of_traces(set: &TraceSet, is_slice: bool) {
    for tables in set.traces() {
        let trace = tables.trace();
        let slice = slice::description(trace).map(|slice| format!("this is a slice: {slice}"));
        for warning in soundness::warnings(trace).into_iter().chain(slice) {
            match set.is_collection() {
                true => output::warn(format!("{}: {warning}", trace.path().display())),
                false => output::warn(warning),
            }
        }
    }
    let unreadable = set.unreadable();
    unreadable.iter().for_each(|file| output::warn(&file.why));
    if !unreadable.is_empty() {
        let or_outside = if is_slice {
            ", or hold nothing of the slice"
        } else {
            ""
        };
        output::warn(format!(
            "{} of {} could not be read{or_outside}: the answer is without them",
            unreadable.len(),
            counted((unreadable.len() + set.traces().len()) as u64, "trace")
        ));
    }
}

/// The tables that there are, for people.
fn schema(set: &TraceSet) -> Report {
    let tables = catalog(set);
    Report {
        answer: format!("{} to query", counted(tables.len() as u64, "table")),
        warnings: Vec::new(),
        tables: tables.iter().map(columns).collect(),
    }
}

fn columns(description: &TableDescription) -> Table {
    let title = format!("{}: a row is {}", description.name, description.meaning);
    TableBuilder::new(description.name, title, &description.columns)
        .text("column", |column| column.name.clone())
        .text("type", |column| column.data_type.clone())
        .text("unit", |column| column.unit.clone())
        .source("meaning", |column| Some(column.meaning.clone()))
        .build()
}

pub fn failed(error: QueryError) -> Failure {
    match error {
        QueryError::Trace(error) => error.into(),
        other => Failure::new(other.to_string()),
    }
}
