//! Advice that is looked for once, and of which a command prints a part and a page shows another.

use trackway_report::{Report, Table};
use trackway_trace::Trace;

use super::{AdviseArguments, Advising};
use crate::failure::Failure;
use crate::page::CARDS;

/// The tables of one card.
const OF_A_CARD: [&str; 2] = ["card", "definition"];
const MOVES: &str = "card_moves";

/// All cards that are shown anywhere, with the members that they move.
pub struct KnownAdvice(Report);

impl KnownAdvice {
    /// # Errors
    /// If the trace doesn't hold the slice, or its time can't be estimated.
    pub fn of(arguments: &AdviseArguments) -> Result<KnownAdvice, Failure> {
        arguments.machine.prepare()?;
        let trace = arguments.slice.request().apply(Trace::open(&arguments.trace)?)?;
        let advising = Advising {
            machine: &arguments.machine,
            cache: &arguments.cache,
            reading: &arguments.reading,
            most: arguments.output.rows().max(CARDS),
            with_moves: true,
        };
        advising.report(&trace).map(KnownAdvice)
    }

    /// What `advise` reports with that many cards at most.
    pub fn shown(&self, most: usize) -> Report {
        let report = first_cards(&self.0, most);
        Report {
            tables: without(report.tables, MOVES),
            ..report
        }
    }

    /// What a page shows.
    pub fn of_page(&self) -> Report {
        first_cards(&self.0, CARDS)
    }
}

fn without(tables: Vec<Table>, name: &str) -> Vec<Table> {
    tables.into_iter().filter(|table| table.name() != name).collect()
}

/// Moves of other cards stay: they name their card.
fn first_cards(report: &Report, most: usize) -> Report {
    let mut report = report.clone();
    let mut card = 0;
    report.tables.retain(|table| {
        card += usize::from(table.name() == OF_A_CARD[0]);
        card <= most || !OF_A_CARD.contains(&table.name())
    });
    for table in report.tables.iter_mut().filter(|table| table.name() == "cards") {
        *table = table.first_rows(most);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn named(name: &'static str, rows: usize) -> Table {
        TableBuilder::new(name, name, &vec![(); rows])
            .text("of", |()| "x")
            .build()
    }

    #[test]
    fn what_is_shown_has_the_first_cards_and_no_moves() {
        let tables = [
            named("cards", 3),
            named("card", 1),
            named("definition", 1),
            named("card", 1),
            named("card", 1),
            named("definition", 1),
            named("time", 1),
            named(MOVES, 2),
        ];
        let advice = KnownAdvice(Report {
            answer: "Split".into(),
            warnings: Vec::new(),
            tables: tables.to_vec(),
        });
        let names = |report: &Report| -> Vec<String> {
            report
                .tables
                .iter()
                .map(|table| table.name().to_owned())
                .collect()
        };
        let shown = advice.shown(2);
        assert_eq!(names(&shown), ["cards", "card", "definition", "card", "time"]);
        assert_eq!(shown.tables[0].row_count(), 2);
        assert_eq!(names(&advice.shown(usize::MAX)).len(), 7);
        assert_eq!(names(&advice.of_page()).last().map(String::as_str), Some(MOVES));
    }
}
