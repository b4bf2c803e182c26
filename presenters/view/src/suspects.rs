//! What an expert would look at first, in plain words.

use serde_json::{json, Value as Json};
use trackway_report::{counted, grouped, percent, Report, Table, Value};

/// Parts of the whole below this are no suspects.
const MIN_SHARE: f64 = 0.02;
/// Suspects of each kind.
const MAX_OF_A_KIND: usize = 5;

/// Data that costs, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Part of the page that has more on it: `misses` or `sharing`.
    pub part: &'static str,
    /// Of the field or variable.
    pub name: String,
    pub sentence: String,
    /// Of the misses or hand-overs of the trace, 0 to 1.
    pub share: f64,
    /// The line of source that contributes most.
    pub place: Option<Place>,
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u64,
}

impl Suspect {
    pub(crate) fn to_json(&self) -> Json {
        let place = self.place.as_ref();
        json!({
            "part": self.part,
            "name": self.name,
            "sentence": self.sentence,
            "share": self.share,
            "file": place.map(|place| &place.file),
            "line": place.map(|place| place.line),
        })
    }
}

/// The fields that cause most of the measure `rank_by`, and those whose cache lines threads take from each other.
pub fn suspects(misses: &Report, rank_by: &str, sharing: Option<&Report>) -> Vec<Suspect> {
    let mut suspects = missing_fields(misses, rank_by);
    suspects.extend(sharing.map(shared_fields).unwrap_or_default());
    suspects
}

fn missing_fields(misses: &Report, rank_by: &str) -> Vec<Suspect> {
    let Some(fields) = table(misses, "fields") else {
        return Vec::new();
    };
    let title = fields.column(rank_by).map_or(rank_by, |column| column.title());
    let suspect = |row| {
        let (name, share) = (text(fields, "field", row)?, share(fields, row)?);
        let count = integer(fields, rank_by, row)?;
        let main = main_site(misses, rank_by, name);
        let mut sentence = format!("{} {title}, {} of all.", grouped(count), percent(share));
        if let Some(main) = &main {
            sentence += &main.words(count);
        }
        Some(Suspect {
            part: "misses",
            name: name.to_owned(),
            sentence,
            share,
            place: main.map(|main| main.place),
        })
    };
    (0..fields.row_count())
        .map_while(suspect)
        .take_while(is_large)
        .take(MAX_OF_A_KIND)
        .collect()
}

/// The site that contributes most to a field.
struct MainSite {
    kind: String,
    function: String,
    place: Place,
    count: u64,
}

impl MainSite {
    fn words(&self, of: u64) -> String {
        let part = match (self.count, of) {
            (count, of) if count == of => "All".to_owned(),
            (count, of) => percent(count as f64 / of as f64),
        };
        format!(
            " {part} of them by the {} at {}:{}, in {}.",
            self.kind, self.place.file, self.place.line, self.function
        )
    }
}

/// Sites are ranked, so the first one of the field is it.
fn main_site(misses: &Report, rank_by: &str, field: &str) -> Option<MainSite> {
    let sites = table(misses, "sites")?;
    let row = (0..sites.row_count()).find(|&row| text(sites, "field", row) == Some(field))?;
    Some(MainSite {
        kind: text(sites, "kind", row)?.to_owned(),
        function: text(sites, "function", row)?.to_owned(),
        place: place(sites, row)?,
        count: integer(sites, rank_by, row)?,
    })
}

fn shared_fields(sharing: &Report) -> Vec<Suspect> {
    let Some(fields) = table(sharing, "fields") else {
        return Vec::new();
    };
    let suspect = |row| {
        let (name, share) = (text(fields, "field", row)?, share(fields, row)?);
        let hand_overs = integer(fields, "read_hand_overs", row)? + integer(fields, "write_hand_overs", row)?;
        let (lines, threads) = (
            integer(fields, "cache_lines", row)?,
            integer(fields, "threads", row)?,
        );
        let sentence = format!(
            "{} took {} of it from other threads {} times, {} of all hand-overs.",
            counted(threads, "thread"),
            counted(lines, "cache line"),
            grouped(hand_overs),
            percent(share),
        );
        Some(Suspect {
            part: "sharing",
            name: name.to_owned(),
            sentence,
            share,
            place: None,
        })
    };
    (0..fields.row_count())
        .map_while(suspect)
        .take_while(is_large)
        .take(MAX_OF_A_KIND)
        .collect()
}

fn is_large(suspect: &Suspect) -> bool {
    suspect.share >= MIN_SHARE
}

fn table<'r>(report: &'r Report, name: &str) -> Option<&'r Table> {
    report.tables.iter().find(|table| table.name() == name)
}

fn text<'t>(table: &'t Table, column: &str, row: usize) -> Option<&'t str> {
    match table.column(column)?.value(row) {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn integer(table: &Table, column: &str, row: usize) -> Option<u64> {
    match table.column(column)?.value(row) {
        Value::Integer(number) => Some(number),
        _ => None,
    }
}

fn share(table: &Table, row: usize) -> Option<f64> {
    match table.column("share")?.value(row) {
        Value::Real(share) => Some(share),
        _ => None,
    }
}

fn place(table: &Table, row: usize) -> Option<Place> {
    Some(Place {
        file: text(table, "file", row)?.to_owned(),
        line: integer(table, "line", row)?,
    })
}
