//! Tables and reports for terminals: columns that fit the width, numbers right-aligned.

use unicode_width::UnicodeWidthStr;

use crate::cells::{brief_cell, cell, title};
use crate::columns::{is_command, TextColumn, GAP};
use crate::compare::SHARES;
use crate::fitting::{fit, Fitted};
use crate::names::{abridged, readable};
use crate::terminal::printable;
use crate::wrapping::{command_lines, pad_right, wrapped};
use crate::{Column, Layout, Report, Table, Unit, Value};

/// How to write for people.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// Terminal cells that a line may take; none for unlimited.
    pub width: Option<usize>,
    pub colour: bool,
    /// Whether there are characters beyond ASCII for drawings.
    pub unicode: bool,
    /// Whether the answer stands below the tables, where a terminal shows the end.
    pub answer_last: bool,
    /// Whether tables are shown that say what the numbers rest on, and names stay whole.
    pub bookkeeping: bool,
}

impl TextStyle {
    /// Lines as long as they are, without colour, with everything.
    pub const PLAIN: TextStyle = TextStyle {
        width: None,
        colour: false,
        unicode: true,
        answer_last: false,
        bookkeeping: true,
    };
}

impl TextStyle {
    /// The whole report: the answer, warnings, tables.
    pub fn report(&self, report: &Report) -> String {
        self.report_with(report, None, &[])
    }

    /// The same with a drawing before the tables, which replaces some of them.
    pub fn report_with(&self, report: &Report, drawing: Option<String>, replaced: &[&str]) -> String {
        let answer = self.answer(report);
        let ranking = report.tables.first().and_then(|table| ranking_in(table.title()));
        let tables = report
            .tables
            .iter()
            .filter(|table| !replaced.contains(&table.name()));
        let (empty, tables): (Vec<&Table>, Vec<&Table>) = tables.partition(|table| table.row_count() == 0);
        let (hidden, shown): (Vec<&Table>, Vec<&Table>) =
            tables.into_iter().partition(|table| self.hides(table));
        let columns = shown.iter().flat_map(|table| self.hidden_columns(table));
        let hidden = columns.chain(hidden.iter().map(|table| table.title().to_owned()));
        let notes: Option<String> = [
            self.note_on("-v also shows", hidden),
            self.note_on("empty", empty.iter().map(|table| subject(table.title()))),
        ]
        .into_iter()
        .flatten()
        .reduce(|notes, note| notes + &note);
        let tables = drawing
            .into_iter()
            .chain(shown.into_iter().map(|table| self.ranked_table(table, ranking)))
            .chain(notes);
        let parts: Vec<String> = match self.answer_last {
            true => tables.chain(answer).collect(),
            false => answer.into_iter().chain(tables).collect(),
        };
        parts.join("\n")
    }

    /// What to type next, below a report.
    pub fn next_step(&self, command: &str) -> String {
        let width = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(NEXT.len() + 1));
        let indent = format!("\n{}", " ".repeat(NEXT.len() + 1));
        let command = text_lines(&printable(command), width).join(&indent);
        format!("\n{} {command}\n", self.paint(DIM, NEXT))
    }

    /// The answer, and the warnings that go with it.
    fn answer(&self, report: &Report) -> Vec<String> {
        let answer = self.abridged(&printable(&readable(&report.answer)), ANSWER_LINES);
        let answer = self.paragraph(BOLD, &answer);
        let warnings: String = report
            .warnings
            .iter()
            .map(|warning| {
                let warning = printable(&readable(warning));
                self.paragraph(YELLOW, &format!("warning: {warning}"))
            })
            .collect();
        match (warnings.is_empty(), self.answer_last) {
            (true, _) => vec![answer],
            (false, true) => vec![warnings, answer],
            (false, false) => vec![answer, warnings],
        }
    }

    fn hides(&self, table: &Table) -> bool {
        let is_named = || BOOKKEEPING.contains(&changed_table(table.name()));
        !self.bookkeeping && (is_named() || self.columns(table).next().is_none())
    }

    /// The columns that are shown.
    fn columns<'t>(&self, table: &'t Table) -> impl Iterator<Item = Column<'t>> {
        let all = self.bookkeeping;
        let columns = table.columns().filter(|column| !says_nothing(*column));
        columns.filter(move |column| all || !column.is_bookkeeping())
    }

    /// The titles of the others that say something.
    fn hidden_columns(&self, table: &Table) -> Vec<String> {
        let hidden = table
            .columns()
            .filter(|column| !self.bookkeeping && column.is_bookkeeping());
        hidden.map(title).collect()
    }

    /// Names tables that aren't shown, and says why.
    fn note_on(&self, why: &str, titles: impl Iterator<Item = impl Into<String>>) -> Option<String> {
        let titles: Vec<String> = titles.map(Into::into).collect();
        let note = format!("({why}: {})", printable(&readable(&titles.join(", "))));
        (!titles.is_empty()).then(|| self.paragraph(DIM, &note))
    }

    /// One table below its title.
    pub fn table(&self, table: &Table) -> String {
        self.ranked_table(table, None)
    }

    /// The same among tables that are ranked by a column of that title.
    fn ranked_table(&self, table: &Table, ranking: Option<&str>) -> String {
        let body = match table.layout() {
            Layout::Rows => self.rows(table, ranking),
            Layout::Record => self.records(table),
        };
        format!(
            "{}{body}",
            self.paragraph(BOLD, &self.abridged(&printable(&readable(table.title())), 1))
        )
    }

    /// With long names shortened where the text would take more lines than that; with `-v` all names stay whole.
    fn abridged(&self, text: &str, lines: usize) -> String {
        match self.width {
            Some(width) if !self.bookkeeping => abridged(text, width.saturating_mul(lines)),
            _ => text.to_owned(),
        }
    }

    fn rows(&self, table: &Table, ranking: Option<&str>) -> String {
        let columns = self.text_columns(table, ranking);
        let Fitted {
            columns,
            below,
            left_out,
        } = match self.width {
            Some(width) if !is_text_to_write(&columns) && self.bookkeeping => fit(columns, width),
            Some(width) if !is_text_to_write(&columns) => fit(columns, width).with_short_names(),
            _ => Fitted::all(columns),
        };
        let mut text = self.headings(&columns);
        for row in 0..table.row_count() {
            text += &row_of(&columns, row);
            for column in &below {
                text += &self.below(column, row);
            }
        }
        if !left_out.is_empty() {
            text += &self.paragraph(DIM, &format!("(no room for: {})", left_out.join(", ")));
        }
        text
    }

    /// The columns as they are shown; a file and its line are one.
    fn text_columns(&self, table: &Table, ranking: Option<&str>) -> Vec<TextColumn> {
        let mut columns = self.columns(table).peekable();
        let mut shown = Vec::new();
        while let Some(column) = columns.next() {
            shown.push(match columns.next_if(|line| is_line_of(*line, column)) {
                Some(line) => places(column, line),
                None => text_column(table, column, ranking),
            });
        }
        if is_text_to_write(&shown) {
            shown.iter_mut().for_each(TextColumn::be_whole);
        }
        shown
    }

    /// A cell below its row, after the title, so that it can be copied.
    fn below(&self, column: &TextColumn, row: usize) -> String {
        let text = format!("{} {}", column.title, column.cells[row]);
        let width = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(BELOW.len()));
        let lines = command_lines(text.trim_end(), width);
        lines.iter().map(|line| format!("{BELOW}{line}\n")).collect()
    }

    /// A text of its own in lines that fit.
    fn paragraph(&self, code: &str, text: &str) -> String {
        let lines = wrapped(text, self.width.unwrap_or(usize::MAX));
        lines.iter().map(|line| self.paint(code, line) + "\n").collect()
    }

    /// Titles of several lines end in the same one.
    fn headings(&self, columns: &[TextColumn]) -> String {
        let titles: Vec<Vec<String>> = columns.iter().map(TextColumn::heading).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or(0);
        let line = |line: usize| {
            let words = columns.iter().zip(&titles).map(|(column, title)| {
                let word = (line + title.len()).checked_sub(height);
                column.align(word.map_or("", |word| title[word].as_str()))
            });
            self.paint(DIM, join(&words.collect::<Vec<_>>()).trim_end()) + "\n"
        };
        (0..height).map(line).collect()
    }

    fn records(&self, table: &Table) -> String {
        let title_width = self
            .columns(table)
            .map(|column| title(column).width())
            .max()
            .unwrap_or(0);
        let value_width = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(title_width + GAP.len()));
        let line = |column: Column, row| {
            let value = cell(column, row);
            let lines = text_lines(&value, value_width);
            let title = title(column);
            let titles = std::iter::once(title.as_str()).chain(std::iter::repeat(""));
            let lines = titles.zip(lines);
            lines
                .map(|(title, value)| format!("{}{GAP}{value}\n", pad_right(title, title_width)))
                .collect::<String>()
        };
        (0..table.row_count())
            .flat_map(|row| self.columns(table).map(move |column| (column, row)))
            .map(|(column, row)| line(column, row))
            .collect()
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Lines that an answer takes before its names are shortened.
const ANSWER_LINES: usize = 2;
const BOLD: &str = "1";
const DIM: &str = "2";
const YELLOW: &str = "33";

/// What stands before a command to type next.
const NEXT: &str = "next:";

/// What stands before a cell below its row.
const BELOW: &str = "    ";

/// Tables that say what the numbers rest on.
const BOOKKEEPING: [&str; 10] = [
    "attribution",
    "trace",
    "order",
    "structures_seen",
    "sampling",
    "sample_classes",
    "sampled",
    "address_classes",
    "counts",
    "bursts",
];

/// The table whose changes one of this name says.
fn changed_table(name: &str) -> &str {
    name.strip_suffix(SHARES).unwrap_or(name)
}

/// Whether it stands aside and has only empty cells.
fn says_nothing(column: Column) -> bool {
    column.is_aside() && (0..column.row_count()).all(|row| column.value(row) == Value::None)
}

/// Whether the rows are lines for a source, which are to be copied: these are never cut.
fn is_text_to_write(columns: &[TextColumn]) -> bool {
    matches!(columns, [lines] if lines.unit == Unit::Source)
}

fn is_line_of(line: Column, file: Column) -> bool {
    file.name() == "file" && line.name() == "line" && file.unit() == Unit::Path
}

/// `file.c:12`, since a line says nothing without its file.
fn places(files: Column, lines: Column) -> TextColumn {
    let place = |row| match (cell(files, row), lines.value(row)) {
        (file, Value::None | Value::Integer(0)) => file,
        (file, _) => format!("{file}:{}", cell(lines, row)),
    };
    let cells = (0..files.row_count()).map(place).collect();
    TextColumn::new("place", cells, Unit::Path)
}

/// `ranking` is the title of the column by which the rows of other tables are ranked.
fn text_column(table: &Table, column: Column, ranking: Option<&str>) -> TextColumn {
    let rows = || 0..table.row_count();
    let brief: Option<Vec<String>> = rows().map(|row| brief_cell(column, row)).collect();
    let cells = rows().map(|row| cell(column, row)).collect();
    let ranked_by = table.ranked_by();
    let is_in_title = |ranking: Option<&str>| ranking == Some(column.title());
    TextColumn {
        brief,
        is_aside: column.is_aside(),
        is_ranking: match ranked_by {
            Some(name) => name == column.name(),
            None => is_in_title(ranking_in(table.title()).or(ranking)),
        },
        ..TextColumn::new(&title(column), cells, column.unit())
    }
}

/// What the rows of a table are, without the order that they would have: `Structures` of `Structures by L2 misses`, and
/// `Lines (6 unchanged)` of `Lines by change of bytes; 6 unchanged`.
fn subject(title: &str) -> String {
    let (title, rest) = title.split_once("; ").unwrap_or((title, ""));
    let (title, _) = title.split_once(" by ").unwrap_or((title, ""));
    let title = title.split(',').next().unwrap_or(title);
    match rest {
        "" => title.to_owned(),
        rest => format!("{title} ({rest})"),
    }
}

/// What rows are ranked by, if the title of their table says so: `Structures by L2 misses, 5 of 7`.
fn ranking_in(title: &str) -> Option<&str> {
    let (_, ranking) = title.split_once(" by ")?;
    ranking.split(',').next()
}

/// Lines of a sentence, or of a command, which can be copied.
fn text_lines(text: &str, width: usize) -> Vec<String> {
    match is_command(text) {
        true => command_lines(text, width),
        false => wrapped(text, width),
    }
}

/// The lines of a row, as many as its longest name takes.
fn row_of(columns: &[TextColumn], row: usize) -> String {
    let cells: Vec<Vec<String>> = columns.iter().map(|column| column.lines(row)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |line: usize| {
        let parts = columns.iter().zip(&cells);
        let parts = parts.map(|(column, lines)| column.align(lines.get(line).map_or("", String::as_str)));
        join(&parts.collect::<Vec<_>>()).trim_end().to_owned() + "\n"
    };
    (0..height).map(line).collect()
}

fn join(cells: &[String]) -> String {
    cells.join(GAP)
}

#[cfg(test)]
mod tests;
