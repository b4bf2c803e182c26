//! Reports: typed tables and their presenters for terminals, CSV and JSON.
//!
//! A [`Table`] is an Arrow record batch whose fields carry a title and a [`Unit`]; every presenter shows every table.

mod csv_text;
mod curve;
mod heat_map;
mod json;
mod number;
mod plot;
mod report;
mod table;
mod text;

pub use csv_text::to_csv;
pub use curve::{draw_curve, CurveStyle};
pub use heat_map::{HeatMap, HeatRow};
pub use json::{report_to_json, to_json};
pub use number::{counted, duration, grouped, percent};
pub use plot::Plot;
pub use report::Report;
pub use table::{Column, Layout, Table, TableBuilder, Unit, Value};
pub use text::{printable, TextStyle};
