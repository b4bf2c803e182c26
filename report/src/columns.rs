//! Columns of a table in a terminal, and how they shrink to fit a narrow one.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Unit;

pub const GAP: &str = "  ";
/// Names of C++ templates can be too long to be readable.
const MAX_TEXT_WIDTH: usize = 72;
/// Text columns shrink to this many terminal cells before headings are folded.
const COMFORTABLE_TEXT_WIDTH: usize = 24;
/// Text columns shrink to this many terminal cells after headings were folded.
const MIN_TEXT_WIDTH: usize = 8;

/// A column as it is shown.
#[derive(Debug, Clone)]
pub struct TextColumn {
    pub title: String,
    pub cells: Vec<String>,
    pub unit: Unit,
    pub width: usize,
    /// Whether it only adds to another column.
    is_aside: bool,
    /// Whether the title may take several lines.
    is_folded: bool,
}

impl TextColumn {
    pub fn new(title: &str, cells: Vec<String>, unit: Unit) -> Self {
        let widest = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        let limit = if unit.is_text() {
            MAX_TEXT_WIDTH
        } else {
            usize::MAX
        };
        TextColumn {
            title: title.to_owned(),
            width: widest.min(limit).max(title.width()),
            unit,
            cells,
            is_aside: false,
            is_folded: false,
        }
    }

    pub fn aside(self, is_aside: bool) -> Self {
        TextColumn { is_aside, ..self }
    }

    /// Texts on the left, numbers on the right. Numbers are never cut; names lose their middle, paths their begin, source
    /// lines their end.
    pub fn align(&self, text: &str) -> String {
        match self.unit {
            Unit::Path => pad_right(&cut_start(text, self.width), self.width),
            Unit::Text => pad_right(&cut_middle(text, self.width), self.width),
            Unit::Source => pad_right(&cut_end(text, self.width), self.width),
            _ => pad_left(text, self.width),
        }
    }

    pub fn heading(&self) -> Vec<String> {
        match self.is_folded {
            true => self.title.split(' ').map(str::to_owned).collect(),
            false => vec![self.title.clone()],
        }
    }

    /// Puts each word on its own line: the column is then as wide as its numbers, or the longest word.
    fn fold(&mut self) {
        let widest =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.width()).max().unwrap_or(0);
        let cells = widest(&mut self.cells.iter().map(String::as_str));
        self.width = cells.max(widest(&mut self.title.split(' ')));
        self.is_folded = true;
    }
}

/// Makes the columns fit, if they can. Returns the titles of those that had to be left out. Columns that stand aside go
/// first, if other columns would have to shrink for them. Then go source lines; names except the first; counts and the
/// like except the first, each from the right; and lines and other numbers.
pub fn fit(columns: &mut Vec<TextColumn>, available: usize) -> Vec<String> {
    let mut left_out = leave_out_asides(columns, available);
    loop {
        let mut narrow = columns.clone();
        narrow_down(&mut narrow, available);
        let dispensable = dispensable(columns).filter(|_| total_width(&narrow) > available);
        let Some(index) = dispensable else {
            *columns = narrow;
            return left_out;
        };
        left_out.push(columns.remove(index).title);
    }
}

/// Leaves out columns that stand aside and have no room; source lines may shrink to the room that is left.
fn leave_out_asides(columns: &mut Vec<TextColumn>, available: usize) -> Vec<String> {
    let mut left_out = Vec::new();
    while let Some(index) = dispensable_aside(columns) {
        let mut comfortable = columns.clone();
        shrink(&mut comfortable, available, COMFORTABLE_TEXT_WIDTH);
        if total_width(&comfortable) <= available {
            break;
        }
        left_out.push(columns.remove(index).title);
    }
    left_out
}

/// Source lines go before shares.
fn dispensable_aside(columns: &[TextColumn]) -> Option<usize> {
    let is_source = |column: &TextColumn| column.is_aside && column.unit == Unit::Source;
    let source = columns.iter().rposition(is_source);
    source.or_else(|| columns.iter().rposition(|column| column.is_aside))
}

fn narrow_down(columns: &mut [TextColumn], available: usize) {
    shrink(columns, available, COMFORTABLE_TEXT_WIDTH);
    if total_width(columns) > available {
        columns
            .iter_mut()
            .filter(|column| !column.unit.is_text())
            .for_each(TextColumn::fold);
    }
    shrink(columns, available, MIN_TEXT_WIDTH);
}

/// Takes cells from the widest text columns until the table fits or none can give more.
fn shrink(columns: &mut [TextColumn], available: usize, least: usize) {
    let mut total = total_width(columns);
    while total > available {
        let texts = columns
            .iter_mut()
            .filter(|column| column.unit.is_text() && column.width > least);
        let Some(widest) = texts.max_by_key(|column| column.width) else {
            return;
        };
        widest.width -= 1;
        total -= 1;
    }
}

fn total_width(columns: &[TextColumn]) -> usize {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    columns.iter().map(|column| column.width).sum::<usize>() + gaps
}

/// The column that is missed least; none if only one name and one number are left.
fn dispensable(columns: &[TextColumn]) -> Option<usize> {
    let last = |fits: &dyn Fn(Unit) -> bool, kept: usize| {
        let fitting = (0..columns.len()).filter(|&index| fits(columns[index].unit));
        fitting.skip(kept).last()
    };
    let is_measure = |unit: Unit| !unit.is_text() && unit != Unit::Number;
    last(&|unit| unit == Unit::Source, 0)
        .or_else(|| last(&|unit| unit.is_text(), 1))
        .or_else(|| last(&is_measure, 1))
        .or_else(|| last(&|unit| unit == Unit::Number, 0))
}

pub fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

pub fn pad_right(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

/// As many characters as fit into `width` terminal cells.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(fits).collect()
}

/// Cuts to `width` terminal cells, the last of which is then an ellipsis.
fn cut_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = fitting(text.chars(), width.saturating_sub(1));
    kept.into_iter().chain(['…']).collect()
}

/// The same at the start.
fn cut_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = fitting(text.chars().rev(), width.saturating_sub(1));
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

/// The same in the middle: begin and end of a name say most.
fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let begin = fitting(text.chars(), kept.div_ceil(2));
    let end = fitting(text.chars().rev(), kept / 2);
    begin
        .into_iter()
        .chain(['…'])
        .chain(end.into_iter().rev())
        .collect()
}

/// Lines of at most `width` cells, broken at spaces; longer words stay whole.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &str, cell: &str, unit: Unit) -> TextColumn {
        TextColumn::new(title, vec![cell.to_owned()], unit)
    }

    fn columns() -> Vec<TextColumn> {
        vec![
            column("function", &"f".repeat(40), Unit::Text),
            column("file", "/long/path/to/a/file.c", Unit::Path),
            column("source", &"s".repeat(60), Unit::Source),
            column("L1 misses", "1,234", Unit::Count),
            column("accesses", "1,234,567", Unit::Count),
        ]
    }

    #[test]
    fn columns_give_way_in_turn_and_numbers_stay_whole() {
        for (width, left_out, widths) in [
            (200, vec![], vec![40, 22, 60, 9, 9]),
            (100, vec![], vec![26, 22, 26, 9, 9]),
            (90, vec![], vec![23, 22, 22, 6, 9]),
            (50, vec![], vec![9, 9, 9, 6, 9]),
            (46, vec!["source"], vec![13, 12, 6, 9]),
            (36, vec!["source", "file"], vec![17, 6, 9]),
            (20, vec!["source", "file", "accesses"], vec![12, 6]),
            (5, vec!["source", "file", "accesses"], vec![8, 6]),
        ] {
            let mut columns = columns();
            assert_eq!(fit(&mut columns, width), left_out, "{width}");
            let found: Vec<usize> = columns.iter().map(|column| column.width).collect();
            assert_eq!(found, widths, "{width}");
            let cell = |column: &TextColumn| column.align(&column.cells[0]);
            assert!(columns.iter().all(|column| cell(column).width() == column.width));
            assert!(columns.iter().any(|column| cell(column).trim() == "1,234"));
        }
    }

    #[test]
    fn what_stands_aside_has_no_room_where_others_give_way() {
        let columns = || {
            vec![
                column("field", "arc.ident", Unit::Text),
                column("source", &"s".repeat(60), Unit::Source).aside(true),
                column("L1 misses", "12,345,678", Unit::Count),
                column("of L1", "75.9 %", Unit::Share).aside(true),
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
            let mut columns = columns();
            assert_eq!(fit(&mut columns, width), left_out, "{width}");
            let found: Vec<usize> = columns.iter().map(|column| column.width).collect();
            assert_eq!(found, widths, "{width}");
        }
    }

    #[test]
    fn wide_characters_are_cut_by_cells() {
        assert_eq!(cut_end("日本語テキスト", 5), "日本…");
        assert_eq!(cut_end("short", 5), "short");
        assert_eq!(cut_start("日本語テキスト", 5), "…スト");
        assert_eq!(cut_start("short", 5), "short");
        assert_eq!(cut_middle("日本語テキスト", 5), "日…ト");
        assert_eq!(cut_middle("std::vector<int>", 9), "std:…int>");
        assert_eq!(cut_middle("short", 5), "short");
        for width in 0..4 {
            assert!(cut_middle("日本語", width).width() <= width.max(1), "{width}");
        }
    }

    #[test]
    fn long_values_are_wrapped_at_spaces() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary", 8), ["extraordinary"]);
        assert_eq!(wrapped("", 8), [""]);
    }
}
