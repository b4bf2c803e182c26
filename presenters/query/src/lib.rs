//! SQL over traces: their tables, a rule that counts by site instead of reading every access, and what answers are
//! written as.
//!
//! A [`Session`] asks a [`TraceSet`], one trace or many as one; DataFusion plans and runs the queries, and
//! `trackway-arrow` reads the tables. `docs/sql.md` describes tables, columns and costs.

mod catalog;
mod counting;
mod error;
mod export;
mod filters;
mod flattened;
mod integers;
mod output;
mod scan;
mod session;
mod table;
mod traces;

pub use catalog::{catalog, relations, ColumnDescription, TableDescription};
pub use error::QueryError;
pub use export::{export, ExportSettings, Exported};
pub use output::{write, Format, Written};
pub use session::{served_columns, Answer, Session};
pub use traces::{TraceSet, Unreadable};
