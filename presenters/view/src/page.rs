//! What a page shows.

use serde_json::{json, Value as Json};
use trackway_report::Report;

use crate::compact::compact;
use crate::html;
use crate::suspects::Suspect;
use crate::terms::terms;

/// Changes when scripts can no longer read older data.
const FORMAT: u32 = 1;

/// All that a page shows.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What the page is about, for people: the program's name.
    pub title: String,
    /// The program that made the page, with its version.
    pub generator: String,
    /// The path of the trace as a word of a command; empty if there is none.
    pub trace: String,
    /// Name of the column by which the rows of misses are ranked, such as `l2_misses`.
    pub rank_by: String,
    pub suspects: Vec<Suspect>,
    pub parts: Vec<PagePart>,
    /// Of two compared traces, what the page shows of the first one.
    pub first: Vec<PagePart>,
    pub sources: Vec<SourceText>,
}

/// The report of one analysis.
#[derive(Debug, Clone)]
pub struct PagePart {
    /// Name for programs: `misses`, `sharing`, ...
    pub name: String,
    /// Title for people.
    pub title: String,
    pub report: Report,
}

/// Text of a source file, as the tables name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    pub file: String,
    /// The whole file or stretches of it.
    pub stretches: Vec<Stretch>,
}

/// Successive lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Number of the first line, from 1.
    pub first_line: u32,
    pub lines: Vec<String>,
}

impl Page {
    /// The page, bounded in size however large the reports are.
    pub fn to_html(&self) -> String {
        html::page(&self.to_json())
    }

    /// The page's data: reports as `--json` has them, but with each row as an array in the order of the columns.
    pub fn to_json(&self) -> Json {
        let parts = |parts: &[PagePart]| parts.iter().map(PagePart::to_json).collect::<Vec<_>>();
        json!({
            "format": FORMAT,
            "title": self.title,
            "generator": self.generator,
            "trace": self.trace,
            "rank_by": self.rank_by,
            "terms": terms(),
            "suspects": self.suspects.iter().map(Suspect::to_json).collect::<Vec<_>>(),
            "parts": parts(&self.parts),
            "first": parts(&self.first),
            "sources": self.sources.iter().map(SourceText::to_json).collect::<Vec<_>>(),
        })
    }
}

impl PagePart {
    fn to_json(&self) -> Json {
        json!({
            "name": self.name,
            "title": self.title,
            "answer": self.report.answer,
            "warnings": self.report.warnings,
            "tables": self.report.tables.iter().map(compact).collect::<Vec<_>>(),
        })
    }
}

impl SourceText {
    fn to_json(&self) -> Json {
        let stretches: Vec<Json> = self.stretches.iter().map(Stretch::to_json).collect();
        json!({"file": self.file, "stretches": stretches})
    }
}

impl Stretch {
    fn to_json(&self) -> Json {
        json!({"first_line": self.first_line, "lines": self.lines})
    }
}
