//! What can go wrong with a query, in words that help to correct it.

use std::io;
use std::path::PathBuf;

use datafusion::common::{Diagnostic, SchemaError};
use datafusion::error::DataFusionError;
use strsim::levenshtein;
use trackway_trace::TraceError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// A trace can be read, and not be asked this.
    #[error("{0}")]
    Unfit(String),

    #[error(
        "{}: no trace in this folder can be read ({unreadable} of its files could not be); traces are files named \
         *.trackway{}", folder.display(), why.as_ref().map_or(String::new(), |why| format!("; {why}"))
    )]
    NoTraces {
        folder: PathBuf,
        unreadable: usize,
        /// Why the first of them could not be.
        why: Option<String>,
    },

    #[error("{0}")]
    Sql(String),

    #[error("the query failed: {0}")]
    Failed(String),

    #[error("cannot start the threads that run queries: {0}")]
    Threads(io::Error),

    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },

    #[error("writing the answer: {0}")]
    Writing(io::Error),

    #[error("{}: writing Parquet: {source}", path.display())]
    Parquet {
        path: PathBuf,
        source: parquet::errors::ParquetError,
    },
}

/// The engine's error for a query, with the place in its text as far as that is known. `tables` are the names of all
/// tables.
pub fn explained(sql: &str, error: &DataFusionError, tables: &[String]) -> QueryError {
    let place = error
        .diagnostic()
        .and_then(place_of)
        .or_else(|| place_in(&error.to_string()));
    let error = error.find_root();
    let mut message = match error {
        DataFusionError::SQL(parser, _) => format!("SQL: {}", without_kind(&parser.to_string())),
        DataFusionError::SchemaError(schema, _) => schema_message(schema),
        other => format!("SQL: {}", without_kind(&other.strip_backtrace())),
    };
    if let Some(name) = missing_table(&message) {
        message = format!("SQL: there is no table {name:?}{}", nearest(&name, tables));
        message += &format!("; there are {}", tables.join(", "));
    }
    if let Some((line, column)) = place {
        message += &shown(sql, line, column);
    }
    match error {
        DataFusionError::Execution(_) | DataFusionError::ArrowError(..) | DataFusionError::External(_) => {
            QueryError::Failed(without_kind(&error.strip_backtrace()).to_owned())
        }
        _ => QueryError::Sql(message),
    }
}

fn schema_message(error: &SchemaError) -> String {
    let SchemaError::FieldNotFound { field, valid_fields } = error else {
        return format!("SQL: {error}");
    };
    let mut names: Vec<String> = valid_fields.iter().map(|field| field.name.clone()).collect();
    names.sort();
    names.dedup();
    let near = nearest(&field.name, &names);
    format!(
        "SQL: there is no column {:?}{near}; there are {}",
        field.name,
        names.join(", ")
    )
}

/// Removes the kind of error that engines name, since it says nothing to users.
fn without_kind(message: &str) -> &str {
    let kinds = [
        "Error during planning: ",
        "sql parser error: ",
        "SQL error: ",
        "Schema error: ",
        "Execution error: ",
        "Arrow error: ",
        "This feature is not implemented: ",
    ];
    let rest = kinds.iter().find_map(|kind| message.strip_prefix(kind));
    rest.map_or(message, without_kind)
}

fn missing_table(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("table '")?;
    let (name, rest) = rest.split_once('\'')?;
    rest.starts_with(" not found")
        .then(|| name.rsplit('.').next().unwrap_or(name).to_owned())
}

fn place_of(diagnostic: &Diagnostic) -> Option<(u64, u64)> {
    let start = diagnostic.span?.start;
    (start.line > 0).then_some((start.line, start.column))
}

/// Finds the place in the parser's message.
fn place_in(message: &str) -> Option<(u64, u64)> {
    let (_, rest) = message.split_once("at Line: ")?;
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((line.parse().ok()?, digits.parse().ok()?))
}

/// The line of the query with a mark below the place.
fn shown(sql: &str, line: u64, column: u64) -> String {
    let text = sql
        .lines()
        .nth(usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1));
    let Some(text) = text else {
        return String::new();
    };
    let before = usize::try_from(column)
        .unwrap_or(1)
        .saturating_sub(1)
        .min(text.chars().count());
    format!(
        "\n  {text}\n  {}^ line {line}, column {column}",
        " ".repeat(before)
    )
}

/// `: did you mean "x"?` for a name that is near enough.
fn nearest(name: &str, names: &[String]) -> String {
    let distance = |other: &String| levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let near = names.iter().min_by_key(|other| distance(other));
    match near.filter(|other| distance(other) <= 1 + name.len() / 3) {
        Some(other) => format!(" (did you mean {other:?}?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let names = ["accesses".to_owned(), "sites".to_owned()];
        assert_eq!(nearest("acesses", &names), " (did you mean \"accesses\"?)");
        assert_eq!(nearest("colour", &names), "");
    }

    #[test]
    fn places_are_marked_in_the_text() {
        assert_eq!(
            place_in("Expected: x, found: y at Line: 2, Column: 3"),
            Some((2, 3))
        );
        assert_eq!(place_in("nothing"), None);
        assert_eq!(shown("SELECT\n  x", 2, 3), "\n    x\n    ^ line 2, column 3");
    }
}
