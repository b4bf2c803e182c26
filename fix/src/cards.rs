//! The cards of `trackway advise`, as changes.

use trackway_analysis::whatif::Change;
use trackway_answers::failure::Failure;
use trackway_answers::whatif::LayoutArguments;
use trackway_report::{Report, Value};

use crate::prediction::Sides;
use crate::source_line::SourceLine;

/// A card that was advised, or a change that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// From 1 on; none if the user asked for the change.
    pub card: Option<usize>,
    /// `split of user`.
    pub title: String,
    /// The part of the time that it saves, as it was advised.
    pub saves: Option<f64>,
    /// Estimated cycles, as it was advised.
    pub cycles: Option<Sides>,
    pub edit: Edit,
}

/// What the source gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A structure, and how it changes.
    Layout(String, Change),
    /// Large blocks ask for huge pages.
    HugePages,
    /// What a line looks up is asked for ahead.
    Prefetch(SourceLine),
    /// Objects of a structure come from a pool.
    Pool(String),
    /// The vector to which a line adds gets room for all before the loop.
    Reserve(SourceLine),
    /// Nothing that a machine knows how to write.
    Unknown,
}

/// What a card says to type before the options of `trackway whatif`; after them comes the trace.
const BEFORE_OPTIONS: [&str; 3] = ["trackway", "whatif", "--time"];
/// The change of a card on pages.
const HUGE_PAGES: &str = "huge pages";
/// The change of a card that asks for what will be looked up.
const PREFETCH: &str = "prefetch";
/// The change of a card by which objects lie one after the other.
const POOL: &str = "pool";
/// The change of a card that reserves room.
const RESERVE: &str = "reserve";

/// All cards of a report, in their order.
pub fn of(advice: &Report) -> Vec<Wanted> {
    let Some(table) = advice.table("cards") else {
        return Vec::new();
    };
    let cards = advice.tables.iter().filter(|table| table.name() == "card");
    let numbered = cards.enumerate().map(|(row, card)| {
        let text = |column| table.text(column, row).unwrap_or_default().to_owned();
        let saves = table.column("saves").map(|column| column.value(row));
        Wanted {
            card: Some(row + 1),
            title: format!("{} of {}", text("change"), text("of")),
            saves: match saves {
                Some(Value::Real(share)) => Some(share),
                _ => None,
            },
            cycles: table
                .integer("cycles_before", row)
                .zip(table.integer("cycles_after", row))
                .map(|(before, after)| Sides { before, after }),
            edit: match text("change").as_str() {
                HUGE_PAGES => Edit::HugePages,
                PREFETCH => text("place").parse().map_or(Edit::Unknown, Edit::Prefetch),
                POOL => Edit::Pool(text("of")),
                RESERVE => text("place").parse().map_or(Edit::Unknown, Edit::Reserve),
                _ => layout_of(card.text("next", 0).unwrap_or_default()),
            },
        }
    });
    numbered.collect()
}

fn layout_of(next: &str) -> Edit {
    let words = shlex::split(next).unwrap_or_default();
    let before = BEFORE_OPTIONS.map(str::to_owned);
    let Some([words @ .., _trace]) = words.strip_prefix(&before) else {
        return Edit::Unknown;
    };
    // Options for caches and pages are no layouts.
    let changes = LayoutArguments::of_words(words).and_then(|layouts| layouts.changes());
    let first = changes.ok().and_then(|changes| changes.into_iter().next());
    first.map_or(Edit::Unknown, |(structure, change)| {
        Edit::Layout(structure, change)
    })
}

/// Those that options ask for.
///
/// # Errors
/// If an option isn't written as it must be.
pub fn asked(
    layouts: &LayoutArguments,
    prefetch: Option<&SourceLine>,
    reserve: Option<&SourceLine>,
    pool: Option<&str>,
) -> Result<Vec<Wanted>, Failure> {
    let changes = layouts.changes()?;
    let wanted = changes.into_iter().map(|(structure, change)| Wanted {
        card: None,
        title: change.options(&structure, layouts.link()),
        saves: None,
        cycles: None,
        edit: Edit::Layout(structure, change),
    });
    let at_line = |change: &str, line: &SourceLine, edit: fn(SourceLine) -> Edit| Wanted {
        card: None,
        title: format!("{change} at {line}"),
        saves: None,
        cycles: None,
        edit: edit(line.clone()),
    };
    let prefetch = prefetch.map(|line| at_line(PREFETCH, line, Edit::Prefetch));
    let reserve = reserve.map(|line| at_line(RESERVE, line, Edit::Reserve));
    let pool = pool.map(|structure| Wanted {
        card: None,
        title: format!("{POOL} of {structure}"),
        saves: None,
        cycles: None,
        edit: Edit::Pool(structure.to_owned()),
    });
    Ok(wanted.chain(prefetch).chain(reserve).chain(pool).collect())
}
