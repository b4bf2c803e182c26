//! The cards of `trackway advise`, as changes.

use trackway_analysis::whatif::Change;
use trackway_answers::failure::Failure;
use trackway_answers::whatif::LayoutArguments;
use trackway_report::{Report, Value};

/// A card that was advised, or a change that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// From 1 on; none if the user asked for the change.
    pub card: Option<usize>,
    /// `split of user`.
    pub title: String,
    /// The part of the time that it saves, as it was advised.
    pub saves: Option<f64>,
    /// Structure and change; none if the card isn't about a layout.
    pub change: Option<(String, Change)>,
}

/// What a card says to type, before and after the options of `trackway whatif`.
const BEFORE_OPTIONS: usize = 2;
const AROUND: [&str; 2] = ["--time", "TRACE"];

/// All cards of a report, in their order.
///
/// # Errors
/// If a card says to type something that `trackway whatif` doesn't know.
pub fn of(advice: &Report) -> Result<Vec<Wanted>, Failure> {
    let Some(table) = advice.table("cards") else {
        return Ok(Vec::new());
    };
    let cards = advice.tables.iter().filter(|table| table.name() == "card");
    let numbered = cards.enumerate().map(|(row, card)| {
        let text = |column| table.text(column, row).unwrap_or_default().to_owned();
        let saves = table.column("saves").map(|column| column.value(row));
        Ok(Wanted {
            card: Some(row + 1),
            title: format!("{} of {}", text("change"), text("of")),
            saves: match saves {
                Some(Value::Real(share)) => Some(share),
                _ => None,
            },
            change: change_of(card.text("next", 0).unwrap_or_default())?,
        })
    });
    numbered.collect()
}

fn change_of(next: &str) -> Result<Option<(String, Change)>, Failure> {
    let words = shlex::split(next).unwrap_or_default();
    if !words.starts_with(&["trackway".to_owned(), "whatif".to_owned()]) {
        return Ok(None);
    }
    let words = words[BEFORE_OPTIONS..]
        .iter()
        .filter(|word| !AROUND.contains(&word.as_str()));
    let words: Vec<String> = words.cloned().collect();
    let changes = LayoutArguments::of_words(&words).and_then(|layouts| layouts.changes());
    // Of pages and caches, the options are no layouts.
    Ok(changes.ok().and_then(|changes| changes.into_iter().next()))
}

/// Those that options ask for.
///
/// # Errors
/// If an option isn't written as it must be.
pub fn asked(layouts: &LayoutArguments) -> Result<Vec<Wanted>, Failure> {
    let changes = layouts.changes()?;
    let wanted = changes.into_iter().map(|(structure, change)| Wanted {
        card: None,
        title: change.options(&structure, layouts.link()),
        saves: None,
        change: Some((structure, change)),
    });
    Ok(wanted.collect())
}
