//! The arguments of `trackway query`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use trackway_analysis::cache::Caches;
use trackway_answers::slice::SliceArguments;
use trackway_answers::time::MachineArguments;

use crate::failure::Failure;

/// Ask a trace, or a folder of traces, in SQL
///
/// Accesses, sites, functions, threads and more are tables; --schema lists them with their columns, and docs/sql.md has
/// recipes and what they cost. Queries go to the compressed trace itself: chunks that can't have wanted rows by thread or
/// time aren't decoded, and questions about variables, fields, lines and functions are answered from counts of each
/// instruction. Options of slices leave out rows of accesses, allocations, samples and threads. Of several traces, or a folder, the columns trace, program, host, build_id, recorded_at and path say to
/// which a row belongs.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trackway query prog.trackway \"SELECT variable, count(*) AS accesses FROM accesses GROUP BY variable ORDER BY accesses DESC LIMIT 10\"\n  \
                        trackway query prog.trackway \"SELECT file, line, sum(size) AS bytes FROM accesses WHERE thread = 1 GROUP BY file, line ORDER BY bytes DESC LIMIT 5\"\n  \
                        trackway query --after-mark \"cache is warm\" prog.trackway \"SELECT count(*) FROM accesses\"\n  \
                        trackway query --schema prog.trackway\n  \
                        trackway query --explain prog.trackway \"SELECT count(*) FROM accesses WHERE time_ns < 1000000\"\n  \
                        trackway query --format parquet -o hot.parquet prog.trackway \"SELECT * FROM accesses WHERE variable = 'table'\"\n  \
                        trackway query runs/ \"SELECT program, host, count(*) FROM accesses WHERE recorded_at > '2026-01-01' GROUP BY program, host\""
)]
pub struct QueryArguments {
    /// Traces, folders of traces, or addresses of them in an object store (s3://, gs://, az://, https://); the last word is the query
    #[arg(required = true, value_name = "TRACE... SQL")]
    pub words: Vec<String>,
    /// Read the query from this file; all words are traces then
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// List tables and columns, with what they mean; all words are traces then
    #[arg(long, conflicts_with_all = ["file", "explain", "format", "output", "from", "after_mark", "windows", "function", "region", "without_library", "to", "thread"])]
    pub schema: bool,
    /// Show how the query would be answered, and of which chunks, instead of answering it
    #[arg(long)]
    pub explain: bool,
    /// How the answer is written [default: by the ending of --output, else table]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<AnswerFormat>,
    /// Print a JSON object for each row, as --format json
    #[arg(long, conflicts_with_all = ["format", "csv", "schema"])]
    pub json: bool,
    /// Print CSV, as --format csv
    #[arg(long, conflicts_with_all = ["format", "schema"])]
    pub csv: bool,
    /// Write the answer to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Rows that a table shows at most; 0 for all
    #[arg(long = "top", alias = "rows", value_name = "N", default_value_t = 1000)]
    pub rows: usize,
    /// Caches for column `level`, as for `report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub machine: MachineArguments,
    #[command(flatten)]
    pub slice: SliceArguments,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// For people
    Table,
    Csv,
    /// An object a line
    Json,
    Parquet,
}

/// What is asked of what.
#[derive(Debug, PartialEq)]
pub struct Question {
    pub places: Vec<PathBuf>,
    /// None if only the tables are asked for.
    pub sql: Option<String>,
}

impl QueryArguments {
    /// Separates traces from the query.
    pub fn question(&self) -> Result<Question, Failure> {
        let all = || self.words.iter().map(PathBuf::from).collect();
        if self.schema {
            return Ok(Question {
                places: all(),
                sql: None,
            });
        }
        if let Some(file) = &self.file {
            let sql = std::fs::read_to_string(file).map_err(|error| Failure::about(file, error))?;
            return Ok(Question {
                places: all(),
                sql: Some(sql),
            });
        }
        let [places @ .., sql] = self.words.as_slice() else {
            return Err(Failure::new("name a trace and a query"));
        };
        if places.is_empty() || Path::new(sql).exists() {
            return Err(Failure::new(
                "name a trace and, as the last word, a query: trackway query prog.trackway \"SELECT ...\" (--schema lists \
                 the tables)",
            ));
        }
        Ok(Question {
            places: places.iter().map(PathBuf::from).collect(),
            sql: Some(sql.clone()),
        })
    }

    pub fn format(&self) -> AnswerFormat {
        let ending = self.output.as_ref().and_then(|path| path.extension());
        let by_ending = match ending.and_then(|ending| ending.to_str()) {
            Some("csv") => AnswerFormat::Csv,
            Some("json" | "jsonl" | "ndjson") => AnswerFormat::Json,
            Some("parquet") => AnswerFormat::Parquet,
            _ => AnswerFormat::Table,
        };
        match (self.json, self.csv) {
            (true, _) => AnswerFormat::Json,
            (_, true) => AnswerFormat::Csv,
            _ => self.format.unwrap_or(by_ending),
        }
    }
}
