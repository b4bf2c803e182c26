//! What an expert would look at first, in plain words.

use serde_json::{json, Value as Json};
use trackway_report::{counted, grouped, percent, times, Report, Table, Value};

/// Data with smaller shares of the whole isn't suspect.
const MIN_SHARE: f64 = 0.02;
/// Maximum number of suspects of each kind.
const MAX_OF_A_KIND: usize = 5;

/// Data that costs, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Part of the page that has more on it: `misses` or `sharing`.
    pub part: &'static str,
    /// Name of the field or variable.
    pub name: String,
    pub sentence: String,
    /// Share of the trace's misses or cache-line transfers, 0 to 1.
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
        let (name, share) = (fields.text("field", row)?, share(fields, row)?);
        let count = fields.integer(rank_by, row)?;
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

/// Sites are ranked, so the first site of the field is its main one.
fn main_site(misses: &Report, rank_by: &str, field: &str) -> Option<MainSite> {
    let sites = table(misses, "sites")?;
    let row = (0..sites.row_count()).find(|&row| sites.text("field", row) == Some(field))?;
    Some(MainSite {
        kind: sites.text("kind", row)?.to_owned(),
        function: sites.text("function", row)?.to_owned(),
        place: place(sites, row)?,
        count: sites.integer(rank_by, row)?,
    })
}

fn shared_fields(sharing: &Report) -> Vec<Suspect> {
    let Some(fields) = table(sharing, "fields") else {
        return Vec::new();
    };
    let suspect = |row| {
        let (name, share) = (fields.text("field", row)?, share(fields, row)?);
        let transfers = fields.integer("read_hand_overs", row)? + fields.integer("write_hand_overs", row)?;
        let (lines, threads) = (
            fields.integer("cache_lines", row)?,
            fields.integer("threads", row)?,
        );
        let sentence = format!(
            "{} took {} of it from other threads {}, {} of all hand-overs.",
            counted(threads, "thread"),
            counted(lines, "cache line"),
            times(transfers),
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

fn share(table: &Table, row: usize) -> Option<f64> {
    match table.column("share")?.value(row) {
        Value::Real(share) => Some(share),
        _ => None,
    }
}

fn place(table: &Table, row: usize) -> Option<Place> {
    Some(Place {
        file: table.text("file", row)?.to_owned(),
        line: table.integer("line", row)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn report(tables: Vec<Table>) -> Report {
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables,
        }
    }

    fn misses(fields: &[(&str, u64)], sites: &[(&str, u64, u64)]) -> Report {
        let total = fields.iter().map(|field| field.1).sum();
        let fields = TableBuilder::new("fields", "Fields", fields)
            .text("field", |row| row.0)
            .count(("l2_misses", "L2 misses"), |row| row.1)
            .share("share", |row| (row.1, total))
            .build();
        let sites = TableBuilder::new("sites", "Sites", sites)
            .text("kind", |_| "load")
            .text("field", |row| row.0)
            .path("file", |_| "a.c")
            .number("line", |row| row.1)
            .text("function", |_| "main")
            .count(("l2_misses", "L2 misses"), |row| row.2)
            .build();
        report(vec![fields, sites])
    }

    #[test]
    fn fields_that_miss_are_named_with_their_main_place() {
        let report = misses(
            &[("arc.ident", 9000), ("arc.cost", 990), ("arc.tail", 10)],
            &[
                ("arc.ident", 24, 6000),
                ("arc.ident", 25, 3000),
                ("arc.cost", 30, 990),
            ],
        );
        let found = suspects(&report, "l2_misses", None);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            (found[0].part, found[0].name.as_str(), found[0].share),
            ("misses", "arc.ident", 0.9)
        );
        assert_eq!(
            found[0].sentence,
            "9,000 L2 misses, 90.0 % of all. 66.7 % of them by the load at a.c:24, in main."
        );
        assert!(found[1]
            .sentence
            .ends_with("All of them by the load at a.c:30, in main."));
        let place = Place {
            file: "a.c".into(),
            line: 24,
        };
        assert_eq!(found[0].place, Some(place));
    }

    #[test]
    fn without_a_known_site_there_is_no_place() {
        let found = suspects(&misses(&[("a", 5)], &[]), "l2_misses", None);
        assert_eq!(found[0].sentence, "5 L2 misses, 100.0 % of all.");
        assert_eq!(found[0].place, None);
    }

    #[test]
    fn fields_that_threads_share_are_named_with_what_they_took() {
        let rows = [("counters.gets", 3u64, 97u64, 2u64, 5u64), ("other", 1, 0, 1, 1)];
        let fields = TableBuilder::new("fields", "Fields", &rows)
            .text("field", |row| row.0)
            .count(("read_hand_overs", ""), |row| row.1)
            .count(("write_hand_overs", ""), |row| row.2)
            .share("share", |row| (row.1 + row.2, 101))
            .count(("cache_lines", ""), |row| row.3)
            .count(("threads", ""), |row| row.4)
            .build();
        let found = suspects(&report(Vec::new()), "l2_misses", Some(&report(vec![fields])));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].part, found[0].name.as_str()),
            ("sharing", "counters.gets")
        );
        assert_eq!(
            found[0].sentence,
            "5 threads took 2 cache lines of it from other threads 100 times, 99.0 % of all hand-overs."
        );
    }

    #[test]
    fn without_misses_there_are_no_suspects() {
        assert_eq!(suspects(&misses(&[("a", 0)], &[]), "l2_misses", None), []);
        assert_eq!(
            suspects(&report(Vec::new()), "l2_misses", Some(&report(Vec::new()))),
            []
        );
    }
}
