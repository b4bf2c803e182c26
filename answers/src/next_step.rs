//! What to type after an answer.

use std::fmt;
use std::path::Path;

use crate::shell_word::quoted;
use trackway_report::{Report, Table, TextStyle};

/// Changes of which `trackway fix` makes patches.
const PATCHED: [&str; 9] = [
    "split",
    "reorder",
    "pack",
    "struct of arrays",
    "align",
    "pad",
    "prefetch",
    "reserve",
    "pool",
];

/// A command to type, or a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep(String);

impl NextStep {
    /// Asks a trace by a verb, with options that are quoted already.
    pub fn ask(verb: &str, trace: &Path, options: &str) -> NextStep {
        let line = format!("trackway {verb} {} {options}", quoted(&trace.to_string_lossy()));
        NextStep(line.trim_end().to_owned())
    }

    /// The verb that it asks by; nothing of a sentence.
    pub fn verb(&self) -> &str {
        let mut words = self.0.split(' ');
        match (words.next(), words.next()) {
            (Some("trackway"), Some(verb)) => verb,
            _ => "",
        }
    }

    /// The last line of an answer.
    pub fn shown(&self, style: &TextStyle) -> String {
        style.next_step(&self.0)
    }

    /// Has a patch made of a card, where one can be; else shows the page. None if nothing is advised.
    pub fn after_advice(report: &Report, trace: &Path) -> Option<NextStep> {
        let cards = report.table("cards").filter(|cards| cards.row_count() > 0)?;
        let can_be_made = (0..cards.row_count())
            .filter_map(|row| cards.text("change", row))
            .any(|change| PATCHED.contains(&change));
        Some(match can_be_made {
            true => NextStep::ask("fix", trace, ""),
            false => NextStep::ask("view", trace, ""),
        })
    }

    /// Has the best proposal of `layout` simulated alone; without a proposal, looks for other changes.
    pub fn after_layout(report: &Report, trace: &Path) -> NextStep {
        let options = report
            .table("proposals")
            .and_then(|proposals| first(proposals, "options"));
        match options {
            Some(options) => NextStep::ask("whatif", trace, options),
            None => NextStep::ask("advise", trace, ""),
        }
    }

    /// Shows the calls whose blocks were never freed; if these are shown, or there are none, who allocates.
    pub fn after_allocations(report: &Report, trace: &Path, shows_leaks: bool) -> NextStep {
        let leaked = report
            .table("allocation_totals")
            .and_then(|totals| totals.integer("leaked", 0));
        match leaked.unwrap_or(0) > 0 && !shows_leaks {
            true => NextStep::ask("allocations", trace, "--sort leaked"),
            false => NextStep::ask("allocations", trace, "--by function"),
        }
    }

    /// Has a patch made of a card, or shows where the time goes if there is none.
    pub fn after_cards(report: &Report, trace: &Path) -> NextStep {
        NextStep::after_advice(report, trace).unwrap_or_else(|| NextStep::ask("report", trace, "--time"))
    }

    /// Shows the layout of the structure whose lines threads take from each other most often; of a plain variable, what
    /// would be gained if they didn't.
    pub fn after_sharing(report: &Report, trace: &Path) -> NextStep {
        let field = report.tables.first().and_then(|fields| first(fields, "field"));
        match field.and_then(|field| field.rsplit_once('.')) {
            Some((structure, _)) => NextStep::ask("layout", trace, &format!("--type {}", quoted(structure))),
            None => NextStep::ask("advise", trace, ""),
        }
    }
}

/// The text of a column in the first row, if there is one.
fn first<'t>(table: &'t Table, column: &str) -> Option<&'t str> {
    (table.row_count() > 0).then(|| table.text(column, 0)).flatten()
}

impl fmt::Display for NextStep {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn report(table: Table) -> Report {
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: vec![table],
        }
    }

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        assert_eq!(
            NextStep::ask("report", Path::new("a b"), "").to_string(),
            "trackway report 'a b'"
        );
    }

    #[test]
    fn the_best_proposal_is_tried_next() {
        let options = "--split 'arc:cost,ident' --link index";
        let proposals = TableBuilder::new("proposals", "Proposals", &[options])
            .text(("options", "trackway whatif t.trackway"), |row| *row)
            .build();
        let trace = Path::new("t.trackway");
        assert_eq!(
            NextStep::after_layout(&report(proposals), trace).to_string(),
            "trackway whatif t.trackway --split 'arc:cost,ident' --link index"
        );
        let none = TableBuilder::new("structures", "Structures", &[1_u64])
            .count("accesses", |row| *row)
            .build();
        assert_eq!(
            NextStep::after_layout(&report(none), trace).to_string(),
            "trackway advise t.trackway"
        );
    }

    #[test]
    fn cards_lead_to_a_patch_if_one_can_be_made() {
        let next = |changes: &[&'static str]| {
            let cards = TableBuilder::new("cards", "Cards", changes)
                .text("change", |change| *change)
                .build();
            let step = NextStep::after_advice(&report(cards), Path::new("t"));
            step.map(|step| step.to_string())
        };
        assert_eq!(
            next(&["order of visits", "pool"]).as_deref(),
            Some("trackway fix t")
        );
        assert_eq!(next(&["order of visits"]).as_deref(), Some("trackway view t"));
        assert_eq!(next(&[]), None);
    }

    #[test]
    fn without_cards_the_report_says_where_the_time_goes() {
        let cards: [&str; 0] = [];
        let cards = TableBuilder::new("cards", "Cards", &cards)
            .text("change", |change| *change)
            .build();
        let none = report(cards);
        let next = NextStep::after_cards(&none, Path::new("t"));
        assert_eq!(next.to_string(), "trackway report t --time");
    }

    #[test]
    fn allocations_lead_to_leaks_if_there_are_any() {
        let next = |leaked: u64, shows_leaks| {
            let totals = TableBuilder::new("allocation_totals", "In all", &[leaked])
                .count("leaked", |row| *row)
                .build();
            NextStep::after_allocations(&report(totals), Path::new("t"), shows_leaks).to_string()
        };
        assert_eq!(next(2, false), "trackway allocations t --sort leaked");
        assert_eq!(next(2, true), "trackway allocations t --by function");
        assert_eq!(next(0, false), "trackway allocations t --by function");
    }

    #[test]
    fn shared_members_lead_to_their_structure() {
        let next = |field: &'static str| {
            let fields = TableBuilder::new("fields", "Fields", &[field])
                .text("field", |row| *row)
                .build();
            NextStep::after_sharing(&report(fields), Path::new("t")).to_string()
        };
        assert_eq!(next("Pool<int>.head"), "trackway layout t --type 'Pool<int>'");
        assert_eq!(next("total"), "trackway advise t");
        let nothing: [&str; 0] = [];
        let fields = TableBuilder::new("fields", "Fields", &nothing)
            .text("field", |row| *row)
            .build();
        let next = NextStep::after_sharing(&report(fields), Path::new("t"));
        assert_eq!(next.to_string(), "trackway advise t");
    }
}
