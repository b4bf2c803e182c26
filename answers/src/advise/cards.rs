//! Cards: a change, what it gains, what that rests on, and when it would be wrong.

use trackway_analysis::edits::Kind;
use trackway_analysis::layout::{LayoutCards, MemberMove};
use trackway_analysis::site_counts::SiteCounters;
use trackway_analysis::time::Machine;
use trackway_analysis::Findings;
use trackway_report::{percent, Table, TableBuilder};
use trackway_trace::Trace;

use super::card::{place, Card, HUGE_PAGES};
use super::edits::{change_of, EditCard};
use crate::shell_word::quoted;

/// A card must save this part of the program's time.
const LEAST_GAIN: f64 = 0.02;
/// Predictions for huge pages were up to 9 points too high in programs that gained nothing: what the system does to
/// fill such pages isn't in the model. A smaller gain may be that error.
const LEAST_GAIN_OF_HUGE_PAGES: f64 = 0.1;
/// Gains that differ by less are alike.
const ABOUT_AS_MUCH: f64 = 0.01;
/// Where waiting takes less, memory isn't what to look at.
const LITTLE: f64 = 0.05;

/// What it is of, the change, and why it isn't advised.
pub type Dropped = (String, String, String);

pub struct Cards {
    before: SiteCounters,
    /// Cycles if nothing had to be waited for.
    work: u64,
    cards: Vec<Card>,
    dropped: Vec<Dropped>,
}

impl Cards {
    /// Those of layouts, for a program of these counters.
    pub fn new(trace: &Trace, machine: &Machine, counters: &[SiteCounters], layouts: &LayoutCards) -> Cards {
        let recorded = trace.program();
        let path = quoted(&trace.path().to_string_lossy());
        let dropped = layouts.dropped.iter();
        let cards = layouts.cards.iter().map(|card| Card {
            change: card.change.into(),
            of: card.structure.clone(),
            after: card.after,
            because: card.reason.clone(),
            unless: wrong_when(card.change).into(),
            worse: card.worse.clone(),
            place: card.location.and_then(|location| place(recorded, location)),
            next: format!("trackway whatif --time {} {path}", card.options),
            definition: card.definition.clone(),
            moves: card.moves.clone(),
        });
        Cards {
            before: SiteCounters::sum(counters),
            work: machine.cycles_of_work(recorded, counters),
            cards: cards.collect(),
            dropped: dropped
                .map(|(of, change, why)| (of.clone(), (*change).to_owned(), why.clone()))
                .collect(),
        }
    }

    /// Adds a card, if it gains enough.
    pub fn add(&mut self, card: Option<Card>) {
        let Some(card) = card else {
            return;
        };
        let gain = self.gain(&card);
        let why = match (card.change.as_str(), gain) {
            (_, gain @ ..0.0) => format!("takes {} more time", percent(-gain)),
            (_, gain @ ..LEAST_GAIN) => format!("saves {} of the time", percent(gain)),
            (HUGE_PAGES, gain @ ..LEAST_GAIN_OF_HUGE_PAGES) => format!(
                "may save {} of the time, and less than {} is within the error of this prediction; to try it: {}",
                percent(gain),
                percent(LEAST_GAIN_OF_HUGE_PAGES),
                card.next
            ),
            _ => return self.cards.push(card),
        };
        self.dropped.push((card.of, card.change, why));
    }

    /// Adds a card, or the reason for which there is none.
    pub fn add_or_drop(&mut self, found: Result<Card, Dropped>) {
        match found {
            Ok(card) => self.add(Some(card)),
            Err(dropped) => self.dropped.push(dropped),
        }
    }

    /// Adds those of edits. Where threads write the same bytes of a field, it is no use to move the field elsewhere.
    pub fn add_edits(&mut self, (cards, dropped): (Vec<EditCard>, Vec<Dropped>)) {
        self.dropped.extend(dropped);
        for EditCard { card, kind } in cards {
            match kind {
                Kind::OneForEachThread | Kind::ThreadsApart => self.drop_moves(&card),
                Kind::LinesOfTheirOwn if self.cards.iter().any(|known| moves(known, &card.of)) => continue,
                _ => (),
            }
            self.add(Some(card));
        }
    }

    fn drop_moves(&mut self, shared: &Card) {
        let (moves, kept) = std::mem::take(&mut self.cards)
            .into_iter()
            .partition(|card| moves(card, &shared.of));
        self.cards = kept;
        let moves: Vec<Card> = moves;
        let why = format!("threads write the same bytes of {}", shared.of);
        let dropped = moves.into_iter().map(|card| (card.of, card.change, why.clone()));
        self.dropped.extend(dropped);
    }

    /// Keeps the first of changes that move the same objects apart and save about as much. Cards stand in their order.
    fn drop_same_moves(&mut self) {
        let cards = std::mem::take(&mut self.cards);
        for card in cards {
            let is_same = |known: &&Card| {
                known.of == card.of
                    && [known, &card]
                        .iter()
                        .all(|card| MOVES.contains(&card.change.as_str()))
                    && self.gain(known) - self.gain(&card) < ABOUT_AS_MUCH
            };
            match self.cards.iter().find(is_same) {
                Some(known) => {
                    let why = format!("{} of it saves as much for the same reason", known.change);
                    self.dropped.push((card.of, card.change, why));
                }
                None => self.cards.push(card),
            }
        }
    }

    /// Whether a card is for threads that take lines from each other.
    pub fn has_sharing(&self) -> bool {
        let names = [Kind::OneForEachThread, Kind::ThreadsApart, Kind::LinesOfTheirOwn].map(change_of);
        let is_moved = |card: &Card| MOVES.contains(&card.change.as_str());
        self.cards
            .iter()
            .any(|card| is_moved(card) || names.contains(&card.change.as_str()))
    }

    /// The saved part of the time; negative if the change costs time.
    fn gain(&self, card: &Card) -> f64 {
        let before = self.before.cycles.max(1) as f64;
        (before - card.after.cycles as f64) / before
    }

    /// The part of the time in which the program waits.
    fn waiting(&self) -> f64 {
        let cycles = self.before.cycles.max(1) as f64;
        (1.0 - self.work as f64 / cycles).max(0.0)
    }

    pub fn findings(mut self, most: usize, with_moves: bool) -> Findings {
        self.cards.sort_by_key(|card| card.after.cycles);
        self.drop_same_moves();
        if most > 0 {
            self.cards.truncate(most);
        }
        let mut tables = vec![self.overview()];
        tables.extend(
            self.cards
                .iter()
                .enumerate()
                .flat_map(|(index, card)| self.card(index, card)),
        );
        if !self.dropped.is_empty() {
            tables.push(self.not_advised());
        }
        tables.push(self.time());
        tables.extend(with_moves.then(|| self.moves()));
        Findings {
            answer: Some(self.answer()),
            tables,
        }
    }

    fn answer(&self) -> String {
        let waiting = percent(self.waiting());
        match self.cards.first() {
            _ if self.waiting() < LITTLE => format!(
                "Nothing is to be gained in memory here: the program waits for it in {waiting} of the estimated time"
            ),
            Some(first) => format!(
                "{} of {} would save {} of the estimated time, of which the program waits for memory in {waiting}",
                sentence(&first.change),
                first.of,
                percent(self.gain(first))
            ),
            None => format!(
                "The program waits for memory in {waiting} of the estimated time, but no change that is known here saves {}: \
                 `trackway report --time` says where",
                percent(LEAST_GAIN)
            ),
        }
    }

    fn overview(&self) -> Table {
        let before = self.before.cycles;
        TableBuilder::new(
            "cards",
            "What to change, by what it saves of the estimated time",
            &self.cards,
        )
        .share("saves", |card| (before.saturating_sub(card.after.cycles), before))
        .text("change", |card| card.change.clone())
        .text("of", |card| card.of.clone())
        .text(("place", "costs most at"), |card| {
            card.place.clone().unwrap_or_default()
        })
        .count(("cycles_before", "cycles"), |_| before)
        .count(("cycles_after", "after"), |card| card.after.cycles)
        .build()
    }

    /// A card in full, and the lines to write.
    fn card(&self, index: usize, card: &Card) -> Vec<Table> {
        let title = format!(
            "{}. {} of {}: {} of the time",
            index + 1,
            sentence(&card.change),
            card.of,
            percent(self.gain(card))
        );
        let before = self.before.cycles;
        let saves = (before.saturating_sub(card.after.cycles), before);
        let mut builder = TableBuilder::new("card", title, &[()])
            .share("saves", |()| saves)
            .text("because", |()| &card.because);
        if let Some(place) = &card.place {
            builder = builder.text(("place", "costs most at"), |()| place);
        }
        if !card.worse.is_empty() {
            builder = builder.text("worse", |()| &card.worse);
        }
        let builder = builder
            .text(("unless", "wrong if"), |()| &card.unless)
            .text("next", |()| &card.next);
        let mut tables = vec![builder.as_record().build()];
        if !card.definition.is_empty() {
            let title = format!("{}, to be written", card.of);
            let lines = TableBuilder::new("definition", title, &card.definition);
            tables.push(lines.source("source", |line| Some(line.clone())).build());
        }
        tables
    }

    /// What several places would change for the same reason is one row.
    fn not_advised(&self) -> Table {
        let mut rows: Vec<&Dropped> = Vec::new();
        for dropped in &self.dropped {
            if !rows.contains(&dropped) {
                rows.push(dropped);
            }
        }
        TableBuilder::new("not_advised", "Not advised", &rows)
            .text("of", |(of, _, _)| of.clone())
            .text("change", |(_, change, _)| change.clone())
            .text("why", |(_, _, why)| why.clone())
            .build()
    }

    /// Members of the structures whose layouts the cards change, by the number of the card from 1.
    fn moves(&self) -> Table {
        let cards = (1u64..).zip(&self.cards);
        let rows: Vec<(u64, &MemberMove)> = cards
            .flat_map(|(number, card)| card.moves.iter().map(move |moved| (number, moved)))
            .collect();
        TableBuilder::new("card_moves", "Members before and after the changes", &rows)
            .number("card", |row| row.0)
            .text("member", |row| row.1.member.clone())
            .bytes("size", |row| row.1.size)
            .number(("old_offset", "offset before"), |row| row.1.old_offset)
            .number(("part", "part after"), |row| row.1.part as u64)
            .number(("offset", "offset after"), |row| row.1.offset)
            .bytes(("part_size", "bytes of the part"), |row| row.1.part_size)
            .build()
    }

    fn time(&self) -> Table {
        let waiting = self.before.cycles.saturating_sub(self.work);
        TableBuilder::new("time", "Estimated time", &[()])
            .count("cycles", |()| self.before.cycles)
            .count(("work_cycles", "cycles if nothing had to be waited for"), |()| {
                self.work
            })
            .share(("waiting", "waiting for memory"), |()| {
                (waiting, self.before.cycles)
            })
            .as_record()
            .build()
    }
}

/// Changes by which objects no longer share lines.
const MOVES: [&str; 2] = ["align", "pad"];

/// Whether the card is for the structure of a field, and moves objects or members away from others.
fn moves(card: &Card, field: &str) -> bool {
    let own = field
        .strip_prefix(&card.of)
        .is_some_and(|rest| rest.starts_with('.'));
    own && MOVES.contains(&card.change.as_str())
}

fn wrong_when(change: &str) -> &'static str {
    match change {
        "split" => "whole objects are copied, stored or sent; or addresses of cold fields are kept elsewhere",
        "reorder" | "pack" => {
            "the layout is a file's, a protocol's or another program's; or an initialiser goes by position"
        }
        "struct of arrays" => "pointers to single objects are kept, or objects come and go one by one",
        "align" | "pad" => {
            "there are so many objects that the added bytes cost more than they save elsewhere"
        }
        _ => "the trace isn't of the work that matters",
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(cycles: u64) -> SiteCounters {
        SiteCounters {
            cycles,
            ..SiteCounters::default()
        }
    }

    fn card(change: &str, of: &str, cycles: u64) -> Card {
        Card {
            change: change.into(),
            of: of.into(),
            after: counters(cycles),
            because: String::new(),
            unless: String::new(),
            worse: String::new(),
            place: None,
            next: String::new(),
            definition: Vec::new(),
            moves: Vec::new(),
        }
    }

    #[test]
    fn huge_pages_must_save_more_than_their_prediction_errs() {
        let mut cards = Cards {
            before: counters(1000),
            work: 100,
            cards: Vec::new(),
            dropped: Vec::new(),
        };
        cards.add(Some(card(HUGE_PAGES, "the whole program", 905)));
        cards.add(Some(card("pool", "node", 905)));
        cards.add(Some(card("pool", "edge", 985)));
        cards.add(Some(card("pool", "list", 1010)));
        cards.add(Some(card(HUGE_PAGES, "another program", 895)));
        let shown = cards.cards.iter().map(|card| card.of.as_str());
        assert_eq!(shown.collect::<Vec<_>>(), ["node", "another program"]);
        let why: Vec<&str> = cards.dropped.iter().map(|(_, _, why)| why.as_str()).collect();
        assert!(why[0].contains("within the error"), "{why:?}");
        assert_eq!(why[1..], ["saves 1.5 % of the time", "takes 1.0 % more time"]);
    }

    #[test]
    fn of_moves_that_save_as_much_the_first_is_shown() {
        let mut cards = Cards {
            before: counters(1000),
            work: 100,
            cards: vec![
                card("align", "counters", 500),
                card("pad", "counters", 505),
                card("pad", "queue", 506),
                card("split", "counters", 507),
                card("pad", "counters", 600),
            ],
            dropped: Vec::new(),
        };
        cards.drop_same_moves();
        let shown = cards.cards.iter().map(|card| (&card.change[..], &card.of[..]));
        let kept = [
            ("align", "counters"),
            ("pad", "queue"),
            ("split", "counters"),
            ("pad", "counters"),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), kept);
        let why = "align of it saves as much for the same reason";
        assert_eq!(cards.dropped, [("counters".into(), "pad".into(), why.into())]);
    }
}
