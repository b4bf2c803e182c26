//! Reports: typed tables and their presenters for terminals, CSV and JSON.
//!
//! A [`Table`] is an Arrow record batch whose fields carry a title and a [`Unit`]; every presenter shows every table.

mod callgrind;
mod cells;
mod chart;
mod chrome_trace;
mod columns;
mod compare;
mod csv_text;
mod fitting;
mod folded;
mod heat_map;
mod ipc;
mod json;
mod markdown;
mod names;
mod number;
mod parquet_file;
mod pprof;
mod report;
mod saved;
mod table;
mod terminal;
mod text;
mod wrapping;

pub use callgrind::{to_callgrind, CallgrindHeader};
pub use chart::Chart;
pub use chrome_trace::to_chrome_trace;
pub use compare::{compare, Comparison, Selection};
pub use csv_text::{guarded, to_csv};
pub use folded::to_folded;
pub use heat_map::{HeatMap, HeatRow};
pub use ipc::{report_from_bytes, report_to_bytes};
pub use json::{report_to_json, to_json};
pub use markdown::{to_markdown, MarkdownFrame, COMMENT_BYTES};
pub use names::readable;
pub use number::{binary_size, brief, counted, duration, file_size, grouped, percent, ratio, signed, times};
pub use parquet_file::to_parquet;
pub use pprof::to_pprof;
pub use report::Report;
pub use saved::{saved_report, SavedReportError};
pub use table::{top_title, Column, Heading, Layout, Quotient, Table, TableBuilder, Unit, Value, Whole};
pub use terminal::{printable, printable_lines, TerminalWriter};
pub use text::TextStyle;
pub use wrapping::{folded_lines, wrapped};
