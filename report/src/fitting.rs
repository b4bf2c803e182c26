//! Makes the columns of a table fit a window: what names a row and what rows are ranked by stay, and the rest goes in
//! turn.

use crate::columns::{TextColumn, GAP};
use crate::Unit;

/// Source lines shrink to this many terminal cells before other columns give way.
const COMFORTABLE_SOURCE_WIDTH: usize = 24;
/// Names take up to half of the window, and less where otherwise fewer columns than this would measure something.
const USUAL_MEASURES: usize = 2;
/// Names are broken to this many terminal cells before names are left out.
const NARROW_NAME: usize = 16;
/// And to this many if nothing else can be left out.
const NARROWEST_NAME: usize = 8;

/// Columns that fit, or can't be made to.
pub struct Fitted {
    pub columns: Vec<TextColumn>,
    /// Commands, which stand below their rows.
    pub below: Vec<TextColumn>,
    /// The titles of those that had to be left out.
    pub left_out: Vec<String>,
}

/// Makes the columns fit. Columns that stand aside go first, if others would have to give way. Then headings take several
/// lines, paths lose folders, and numbers are shown with three digits. If that isn't enough, columns are left out.
pub fn fit(columns: Vec<TextColumn>, available: usize) -> Fitted {
    let titles: Vec<String> = columns.iter().map(|column| column.title.clone()).collect();
    let mut fitted = Fitted::all(columns);
    if !fitted.fits(available) {
        fitted.columns.retain(|column| !column.is_empty());
    }
    fitted.leave_out_asides(available);
    if !fitted.fits(available) {
        fitted.below = take_out(&mut fitted.columns, TextColumn::is_command);
        fitted.narrow_down(available);
    }
    fitted.left_out = each_once(titles, &fitted.left_out);
    fitted
}

/// The titles that were left out, in the order of the table.
fn each_once(titles: Vec<String>, left_out: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for title in titles {
        if !title.is_empty() && left_out.contains(&title) && !found.contains(&title) {
            found.push(title);
        }
    }
    found
}

impl Fitted {
    /// All columns as they are.
    pub fn all(columns: Vec<TextColumn>) -> Fitted {
        Fitted {
            columns,
            below: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// With names that fit into their columns as far as arguments of templates and parameters can be left out.
    pub fn with_short_names(mut self) -> Fitted {
        self.columns.iter_mut().for_each(TextColumn::shorten_names);
        self
    }

    fn fits(&self, available: usize) -> bool {
        total_width(&self.columns) <= available
    }

    /// Leaves out columns that stand aside and have no room; source lines may shrink to the room that is left.
    fn leave_out_asides(&mut self, available: usize) {
        let least = |column: &TextColumn| match column.unit {
            Unit::Source => COMFORTABLE_SOURCE_WIDTH.min(column.width),
            _ => column.width,
        };
        loop {
            let widths = shrunk(&self.columns, available, least);
            if with_gaps(&widths) <= available {
                return set(&mut self.columns, widths);
            }
            let Some(index) = dispensable_aside(&self.columns) else {
                return;
            };
            self.leave_out(index);
        }
    }

    fn narrow_down(&mut self, available: usize) {
        let widest_name = available / 2;
        let narrower_name = available / 4;
        self.change_numbers(available, widest_name, TextColumn::fold);
        self.leave_out_until(available, widest_name, source);
        self.change_numbers(available, widest_name, TextColumn::be_brief);
        let but_some =
            |columns: &[TextColumn]| dispensable(columns).filter(|_| measures(columns) > USUAL_MEASURES);
        self.leave_out_until(available, widest_name, but_some);
        self.leave_out_until(available, NARROW_NAME, second_place);
        self.leave_out_until(available, NARROW_NAME, dispensable);
        self.leave_out_until(available, NARROW_NAME, dispensable_name);
        for least_name in [widest_name, narrower_name, NARROW_NAME, NARROWEST_NAME] {
            let widths = shrunk(&self.columns, available, |column| column.least_width(least_name));
            set(&mut self.columns, widths);
        }
    }

    /// Changes how numbers are shown, unless all columns fit.
    fn change_numbers(&mut self, available: usize, least_name: usize, change: fn(&mut TextColumn)) {
        if !self.fits_with(least_name, available) {
            let numbers = self.columns.iter_mut().filter(|column| !column.unit.is_text());
            numbers.for_each(change);
        }
    }

    fn leave_out_until(
        &mut self,
        available: usize,
        least_name: usize,
        next: fn(&[TextColumn]) -> Option<usize>,
    ) {
        while !self.fits_with(least_name, available) {
            let Some(index) = next(&self.columns) else {
                return;
            };
            self.leave_out(index);
        }
    }

    /// Whether they fit where names take several lines if they are wider than that.
    fn fits_with(&self, least_name: usize, available: usize) -> bool {
        let widths = shrunk(&self.columns, available, |column| column.least_width(least_name));
        with_gaps(&widths) <= available
    }

    fn leave_out(&mut self, index: usize) {
        self.left_out.push(self.columns.remove(index).title);
    }
}

fn take_out(columns: &mut Vec<TextColumn>, goes: impl Fn(&TextColumn) -> bool) -> Vec<TextColumn> {
    let (out, kept) = std::mem::take(columns).into_iter().partition(goes);
    *columns = kept;
    out
}

/// Source lines go before shares.
fn dispensable_aside(columns: &[TextColumn]) -> Option<usize> {
    let is_source = |column: &TextColumn| column.is_aside && column.unit == Unit::Source;
    let source = columns.iter().rposition(is_source);
    source.or_else(|| columns.iter().rposition(|column| column.is_aside))
}

/// The widths after cells were taken from the widest columns, until the table fits or none can give more.
fn shrunk(columns: &[TextColumn], available: usize, least: impl Fn(&TextColumn) -> usize) -> Vec<usize> {
    let least: Vec<usize> = columns.iter().map(least).collect();
    let mut widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let mut total = with_gaps(&widths);
    while total > available {
        let wide = (0..widths.len()).filter(|&index| widths[index] > least[index]);
        let Some(widest) = wide.max_by_key(|&index| widths[index]) else {
            break;
        };
        widths[widest] -= 1;
        total -= 1;
    }
    widths
}

fn set(columns: &mut [TextColumn], widths: Vec<usize>) {
    for (column, width) in columns.iter_mut().zip(widths) {
        column.width = width;
    }
}

fn with_gaps(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

fn total_width(columns: &[TextColumn]) -> usize {
    let widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    with_gaps(&widths)
}

/// How many columns name the rows: those before the first one that measures something.
fn names(columns: &[TextColumn]) -> usize {
    let first_measure = columns.iter().position(|column| is_measure(column.unit));
    first_measure.unwrap_or(columns.len())
}

fn is_measure(unit: Unit) -> bool {
    !unit.is_text() && unit != Unit::Number
}

/// Source lines, unless there is nothing else.
fn source(columns: &[TextColumn]) -> Option<usize> {
    let source = columns.iter().rposition(|column| column.unit == Unit::Source);
    source.filter(|_| columns.len() > 1)
}

fn measures(columns: &[TextColumn]) -> usize {
    columns.iter().filter(|column| is_measure(column.unit)).count()
}

/// The column that is missed least, except names and what rows are ranked by: one that says nothing, notes after the
/// numbers, and places only after other notes; then the last of numbers and of quotients in turn, so that some of both
/// stay.
fn dispensable(columns: &[TextColumn]) -> Option<usize> {
    let names = names(columns);
    let ranking = ranking(columns);
    let others = || (names..columns.len()).filter(|&index| Some(index) != ranking);
    let last = |goes: &dyn Fn(&TextColumn) -> bool| others().filter(|&index| goes(&columns[index])).last();
    last(&TextColumn::is_dull)
        .or_else(|| last(&|column| column.unit.is_text() && column.unit != Unit::Path))
        .or_else(|| last(&|column| column.unit.is_text()))
        .or_else(|| {
            let is_quotient =
                |column: &TextColumn| matches!(column.unit, Unit::Share | Unit::Rate | Unit::Ratio);
            let quotients = others().filter(|&index| is_quotient(&columns[index])).count();
            let goes_first = quotients * 2 > others().count();
            last(&|column| is_quotient(column) == goes_first).or_else(|| last(&|_| true))
        })
}

/// The last of several places in files: rows have a name and another place.
fn second_place(columns: &[TextColumn]) -> Option<usize> {
    let places = || (0..columns.len()).filter(|&index| columns[index].unit == Unit::Path);
    places().nth(1).and_then(|_| places().next_back())
}

/// The last name but the first one that isn't a place in a file.
fn dispensable_name(columns: &[TextColumn]) -> Option<usize> {
    let ranking = ranking(columns);
    let is_place = |column: &TextColumn| column.unit == Unit::Path || column.unit == Unit::Number;
    let others = || (1..columns.len()).filter(|&index| Some(index) != ranking);
    let last = others().rfind(|&index| !is_place(&columns[index]));
    last.or_else(|| others().next_back())
}

/// The column that rows are ranked by; if none is known, the first that measures something.
fn ranking(columns: &[TextColumn]) -> Option<usize> {
    let known = columns.iter().position(|column| column.is_ranking);
    known.or_else(|| columns.iter().position(|column| is_measure(column.unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &str, cell: &str, unit: Unit) -> TextColumn {
        TextColumn::new(title, vec![cell.to_owned()], unit)
    }

    fn number(title: &str, cell: &str, brief: &str) -> TextColumn {
        TextColumn {
            brief: Some(vec![brief.to_owned()]),
            ..column(title, cell, Unit::Count)
        }
    }

    fn ranking(column: TextColumn) -> TextColumn {
        TextColumn {
            is_ranking: true,
            ..column
        }
    }

    fn aside(column: TextColumn) -> TextColumn {
        TextColumn {
            is_aside: true,
            ..column
        }
    }

    fn columns() -> Vec<TextColumn> {
        vec![
            column("function", "refresh_potential(node*)", Unit::Text),
            column("file", "/long/path/to/a/file.c", Unit::Path),
            column("line", "1234", Unit::Number),
            number("accesses", "1,234,567,890", "1.23G"),
            number("L1 misses", "234,567,890", "235M"),
            ranking(number("L2 misses", "34,567,890", "34.6M")),
            column("share", "61.4 %", Unit::Share),
            column("kind", "heap", Unit::Text),
            column("source", &"s".repeat(60), Unit::Source),
        ]
    }

    fn titles(fitted: &Fitted) -> Vec<&str> {
        fitted
            .columns
            .iter()
            .map(|column| column.title.as_str())
            .collect()
    }

    #[test]
    fn names_and_the_ranking_stay_and_the_rest_goes_in_turn() {
        for (width, left_out) in [
            (200, vec![]),
            (120, vec!["source"]),
            (80, vec!["source"]),
            (77, vec!["kind", "source"]),
            (68, vec!["L1 misses", "kind", "source"]),
            (60, vec!["accesses", "L1 misses", "kind", "source"]),
            (50, vec!["accesses", "L1 misses", "kind", "source"]),
            (40, vec!["accesses", "L1 misses", "share", "kind", "source"]),
        ] {
            let fitted = fit(columns(), width);
            assert_eq!(fitted.left_out, left_out, "{width}: {:?}", titles(&fitted));
            assert!(total_width(&fitted.columns) <= width, "{width}");
            let names: String = fitted.columns[0].lines(0).concat();
            assert_eq!(names, "refresh_potential(node*)", "{width}");
            let ranked = fitted.columns.iter().find(|column| column.is_ranking).unwrap();
            assert!(["34,567,890", "34.6M"].contains(&ranked.cells[0].as_str()));
        }
    }

    #[test]
    fn numbers_are_whole_where_there_is_room() {
        let cell = |width| {
            let fitted = fit(columns(), width);
            fitted.columns[3].cells[0].clone()
        };
        assert_eq!(
            (cell(200), cell(120), cell(80)),
            ("1,234,567,890".into(), "1,234,567,890".into(), "1.23G".into())
        );
    }

    #[test]
    fn what_stands_aside_has_no_room_where_others_give_way() {
        let columns = || {
            vec![
                column("field", "arc.ident", Unit::Text),
                aside(column("source", &"s".repeat(60), Unit::Source)),
                column("L1 misses", "12,345,678", Unit::Count),
                aside(column("of L1", "75.9 %", Unit::Share)),
                column("share", "61.4 %", Unit::Share),
            ]
        };
        for (width, left_out, widths) in [
            (99, vec![], vec![9, 60, 10, 6, 6]),
            (63, vec![], vec![9, 24, 10, 6, 6]),
            (62, vec!["source"], vec![9, 10, 6, 6]),
            (37, vec!["source"], vec![9, 10, 6, 6]),
            (36, vec!["source", "of L1"], vec![9, 10, 6]),
        ] {
            let fitted = fit(columns(), width);
            assert_eq!(fitted.left_out, left_out, "{width}");
            let found: Vec<usize> = fitted.columns.iter().map(|column| column.width).collect();
            assert_eq!(found, widths, "{width}");
        }
    }

    #[test]
    fn columns_that_say_nothing_go_before_others() {
        let mut columns = columns();
        columns.insert(3, number("gaps", "0", "0"));
        assert_eq!(fit(columns, 77).left_out, ["gaps", "kind", "source"]);
    }

    #[test]
    fn empty_columns_take_no_room_from_others() {
        let mut columns = columns();
        columns.insert(1, column("inlined into", "", Unit::Path));
        columns.push(column("", "changed", Unit::Text));
        columns.push(column("kind", "heap", Unit::Text));
        let fitted = fit(columns.clone(), 77);
        assert_eq!(
            fitted.left_out,
            ["kind", "source"],
            "each title once, and none that is empty"
        );
        assert!(!titles(&fitted).contains(&"inlined into"));
        assert!(
            titles(&fit(columns, 300)).contains(&"inlined into"),
            "where there is room"
        );
    }

    #[test]
    fn commands_go_below_their_rows() {
        let command = "--split 'arc:cost,tail,head,ident' --link index";
        let columns = vec![
            column("type", "arc", Unit::Text),
            column("because", "32 of 64 bytes are cold", Unit::Text),
            column("trackway whatif t.trackway", command, Unit::Text),
            column("saved", "48.5 %", Unit::Share),
        ];
        let fitted = fit(columns.clone(), 80);
        assert_eq!(titles(&fitted), ["type", "because", "saved"]);
        assert_eq!(fitted.below[0].cells, [command]);
        assert!(fit(columns, 200).below.is_empty());
    }

    #[test]
    fn a_narrow_window_has_a_name_and_a_number() {
        let fitted = fit(columns(), 15);
        assert_eq!(titles(&fitted), ["function", "L2 misses"]);
        assert_eq!(fitted.columns[0].lines(0).concat(), "refresh_potential(node*)");
    }
}
