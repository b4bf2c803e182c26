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
mod tests {
    use super::*;
    use crate::table::tests::sample;
    use crate::TableBuilder;

    const PLAIN: TextStyle = TextStyle::PLAIN;

    fn narrow(width: usize) -> TextStyle {
        TextStyle {
            width: Some(width),
            ..PLAIN
        }
    }

    #[test]
    fn numbers_stand_on_the_right_and_texts_on_the_left() {
        let expected = "\
Fields
field      line   accesses  share of misses  source
arc.ident   123  4,567,890           75.0 %  if (arc->ident > BASIC)
node, \"x\"     7         12                -
";
        assert_eq!(PLAIN.table(&sample()), expected);
    }

    #[test]
    fn what_stands_aside_and_is_empty_is_not_shown() {
        let table = sample().with_shares_beside("accesses", "access_share", "of all", 0);
        assert_eq!(PLAIN.table(&table), PLAIN.table(&sample()));
        let table = sample().with_shares_beside("accesses", "access_share", "of all", 4_567_890);
        assert!(PLAIN
            .table(&table)
            .contains("4,567,890  100.0 %           75.0 %"));
    }

    #[test]
    fn all_tables_are_ranked_alike_if_they_say_nothing_else() {
        let members = TableBuilder::new("members", "arc: 64 bytes", &[1_000_000_u64])
            .count("accesses", |row| *row)
            .count("L1 misses", |row| *row)
            .count("L2 misses", |row| *row)
            .build();
        let ranking = ranking_in("Structures by L2 misses, 3 of 7");
        assert_eq!(ranking, Some("L2 misses"));
        assert_eq!(
            narrow(9).ranked_table(&members, ranking),
            "arc: 64\nbytes\n    L2\nmisses\n 1.00M\n(no room\nfor:\naccesses,\nL1\nmisses)\n"
        );
    }

    #[test]
    fn titles_are_folded_and_columns_left_out_where_there_is_no_room() {
        assert_eq!(
            narrow(36).table(&sample()),
            "Fields\n\
             \x20                            share\n\
             \x20                               of\n\
             field      line   accesses  misses\n\
             arc.ident   123  4,567,890  75.0 %\n\
             node, \"x\"     7         12       -\n\
             (no room for: source)\n"
        );
        assert_eq!(
            narrow(25).table(&sample()),
            "Fields\n\
             field      line  accesses\n\
             arc.ident   123     4.57M\n\
             node, \"x\"     7        12\n\
             (no room for: share of\n\
             misses, source)\n"
        );
    }

    #[test]
    fn long_values_of_a_record_are_wrapped() {
        let table = TableBuilder::new("clock", "Clock", &[()])
            .text("clock", |()| "the same on all processors")
            .as_record()
            .build();
        assert_eq!(
            narrow(20).table(&table),
            "Clock\nclock  the same on\n       all\n       processors\n"
        );
    }

    #[test]
    fn a_terminal_shows_the_answer_last_and_no_bookkeeping() {
        let named = |name, title| {
            TableBuilder::new(name, title, &[7_u64])
                .count("accesses", |row| *row)
                .build()
        };
        let report = Report {
            answer: "the answer".into(),
            warnings: vec!["a gap".into()],
            tables: vec![named("fields", "Fields"), named("trace", "Trace")],
        };
        let style = TextStyle {
            answer_last: true,
            bookkeeping: false,
            ..PLAIN
        };
        assert_eq!(
            style.report(&report),
            "Fields\naccesses\n       7\n\n(-v also shows: Trace)\n\nwarning: a gap\n\nthe answer\n"
        );
        assert_eq!(
            PLAIN.report(&report),
            "the answer\n\nwarning: a gap\n\nFields\naccesses\n       7\n\nTrace\naccesses\n       7\n"
        );
    }

    #[test]
    fn columns_of_bookkeeping_are_only_named() {
        let named = |name, title| TableBuilder::new(name, title, &[7_u64]);
        let totals = named("totals", "In all")
            .count("allocations", |row| *row)
            .bookkeeping()
            .count("cut_stacks", |row| *row)
            .count("gaps", |row| *row);
        let levels = named("levels", "Resolutions")
            .bookkeeping()
            .count("rows", |row| *row);
        let report = Report {
            answer: "the answer".into(),
            warnings: Vec::new(),
            tables: vec![totals.as_record().build(), levels.build()],
        };
        let style = TextStyle {
            bookkeeping: false,
            ..PLAIN
        };
        assert_eq!(
            style.report(&report),
            "the answer\n\nIn all\nallocations  7\n\n(-v also shows: cut stacks, gaps, Resolutions)\n"
        );
        assert!(PLAIN
            .report(&report)
            .contains("\ngaps         7\n\nResolutions\nrows\n   7\n"));
    }

    #[test]
    fn empty_tables_are_only_named() {
        let none: [u64; 0] = [];
        let empty = |name, title| {
            TableBuilder::new(name, title, &none)
                .count("accesses", |row| *row)
                .build()
        };
        let report = Report {
            answer: "the answer".into(),
            warnings: Vec::new(),
            tables: vec![
                empty("fields", "Fields by change of L1 misses; 3 unchanged"),
                empty("places", "Places between which lines go, by hand-overs"),
                empty("trace", "Trace"),
            ],
        };
        assert_eq!(
            PLAIN.report(&report),
            "the answer\n\n(empty: Fields (3 unchanged), Places between which lines go, Trace)\n"
        );
    }

    #[test]
    fn changes_of_bookkeeping_are_bookkeeping() {
        let hides = |name| {
            let table = TableBuilder::new(name, name, &[7_u64])
                .count("accesses", |row| *row)
                .build();
            let style = TextStyle {
                bookkeeping: false,
                ..PLAIN
            };
            style.hides(&table)
        };
        assert_eq!(
            ["fields_shares", "trace_shares", "order"].map(hides),
            [false, true, true]
        );
    }

    #[test]
    fn a_file_and_its_line_are_one_place() {
        let rows = [("/src/list.c", Some(12_u64)), ("", None), ("lib.so", Some(0))];
        let table = TableBuilder::new("lines", "Lines", &rows)
            .path("file", |row| row.0)
            .number("line", |row| row.1)
            .text("function", |_| "walk")
            .count("accesses", |_| 10_u64)
            .build();
        let expected = "\
Lines
place           function  accesses
/src/list.c:12  walk            10
                walk            10
lib.so          walk            10
";
        assert_eq!(PLAIN.table(&table), expected);
        assert!(narrow(31).table(&table).contains("\n…/list.c:12  walk"));
    }

    #[test]
    fn lines_to_write_are_never_cut() {
        let line = format!("struct {}_rest *rest;", "name".repeat(30));
        let table = TableBuilder::new("definition", "account, split", &[&line])
            .source("source", |line| Some(line.as_str()))
            .build();
        for style in [PLAIN, narrow(40)] {
            assert!(style.table(&table).contains(&line));
        }
    }

    #[test]
    fn arguments_of_templates_are_left_out_where_there_is_no_room() {
        let name = "std::vector<std::pair<Key, Value>, Pool<Key> >::at(unsigned long)";
        let table = TableBuilder::new("functions", "Functions", &[name])
            .text("function", |name| *name)
            .count("accesses", |_| 10_u64)
            .build();
        assert!(PLAIN.table(&table).contains(name), "whole in pipes");
        let short = TextStyle {
            bookkeeping: false,
            ..narrow(60)
        };
        assert!(short
            .table(&table)
            .contains("\nstd::vector<…>::at(unsigned long)"));
        assert!(!narrow(60).table(&table).contains('…'), "whole with -v");
    }

    #[test]
    fn long_names_in_answers_and_titles_are_shortened() {
        let name = "std::vector<std::pair<Key, Value>, Pool<Key> >::at(unsigned long, Options const&)";
        let rows = [10_u64];
        let report = Report {
            answer: format!("{name} causes 90 % of the misses"),
            warnings: Vec::new(),
            tables: vec![TableBuilder::new("fields", format!("{name}: fields"), &rows)
                .count("accesses", |row| *row)
                .build()],
        };
        let short = TextStyle {
            bookkeeping: false,
            ..narrow(40)
        };
        let text = short.report(&report);
        assert!(text.contains("std::vector<…>::at(unsigned long,"), "{text}");
        assert!(text.contains("\nstd::vector<…>::at(…): fields\n"), "{text}");
        assert!(!narrow(40).report(&report).contains('…'), "whole with -v");
    }

    #[test]
    fn the_next_command_is_wrapped_so_that_it_can_be_copied() {
        assert_eq!(
            narrow(40).next_step("trackway whatif t.trackway --split 'arc:cost,ident'"),
            "\nnext: trackway whatif t.trackway \\\n      --split 'arc:cost,ident'\n"
        );
        assert_eq!(PLAIN.next_step("trackway view t"), "\nnext: trackway view t\n");
    }

    #[test]
    fn commands_stand_below_their_rows() {
        let rows = [("arc", "--split 'arc:cost,ident' --link index")];
        let table = TableBuilder::new("proposals", "Proposals", &rows)
            .text("type", |row| row.0)
            .text(("options", "trackway whatif t.trackway"), |row| row.1)
            .build();
        assert_eq!(
            narrow(40).table(&table),
            "Proposals\n\
             type\n\
             arc\n\
             \x20   trackway whatif t.trackway --split \\\n\
             \x20   'arc:cost,ident' --link index\n"
        );
    }

    #[test]
    fn a_record_is_a_list() {
        let table = TableBuilder::new("audit", "Audit", &[(1234, 1, 4)])
            .count("accesses", |row| row.0)
            .share(("typed", "with type"), |row| (row.1, row.2))
            .as_record()
            .build();
        assert_eq!(
            PLAIN.table(&table),
            "Audit\naccesses   1,234\nwith type  25.0 %\n"
        );
    }

    #[test]
    fn a_command_of_a_record_can_be_copied() {
        let table = TableBuilder::new("card", "Card", &["trackway whatif --align 'node:64' t.trackway"])
            .text("next", |row| *row)
            .as_record()
            .build();
        assert_eq!(
            narrow(40).table(&table),
            "Card\n\
             next  trackway whatif --align \\\n\
             \x20     'node:64' t.trackway\n"
        );
    }

    #[test]
    fn colour_is_optional_and_control_characters_never_pass() {
        let report = Report {
            answer: "evil \x1b[2Jname".into(),
            warnings: vec!["gap".into()],
            tables: vec![],
        };
        assert_eq!(PLAIN.report(&report), "evil \u{fffd}[2Jname\n\nwarning: gap\n");
        let coloured = TextStyle {
            colour: true,
            ..PLAIN
        }
        .report(&report);
        assert!(coloured.starts_with("\x1b[1mevil"), "{coloured:?}");
        assert!(!coloured.contains("\x1b[2J"));
    }

    #[test]
    fn long_names_take_several_lines() {
        let rows = ["x".repeat(100)];
        let table = TableBuilder::new("names", "Names", &rows)
            .text("name", |row| row.clone())
            .count("misses", |_| 5_u64)
            .build();
        let expected = format!(
            "Names\nname{}  misses\n{}       5\n{}\n",
            " ".repeat(68),
            "x".repeat(72),
            "x".repeat(28)
        );
        assert_eq!(PLAIN.table(&table), expected);
    }
}
