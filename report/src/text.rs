//! Tables and reports for terminals: columns that fit the width, numbers right-aligned.

use unicode_width::UnicodeWidthStr;

use crate::columns::{fit, pad_right, wrapped, TextColumn, GAP};
use crate::number::{grouped, percent, ratio, signed, signed_real};
use crate::terminal::printable;
use crate::{Column, Layout, Report, Table, Unit, Value};

/// How to write for people.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// Terminal cells that a line may take; none for unlimited.
    pub width: Option<usize>,
    pub colour: bool,
    /// Whether there are characters beyond ASCII for drawings.
    pub unicode: bool,
}

impl TextStyle {
    /// The whole report: the answer, warnings, tables.
    pub fn report(&self, report: &Report) -> String {
        self.report_with(report, None, &[])
    }

    /// The same with a drawing before the tables, which replaces some of them.
    pub fn report_with(&self, report: &Report, drawing: Option<String>, replaced: &[&str]) -> String {
        let mut parts = vec![self.paint(BOLD, &printable(&report.answer)) + "\n"];
        if !report.warnings.is_empty() {
            let lines = report
                .warnings
                .iter()
                .map(|warning| self.paint(YELLOW, &format!("warning: {}", printable(warning))) + "\n");
            parts.push(lines.collect());
        }
        parts.extend(drawing);
        let shown = report
            .tables
            .iter()
            .filter(|table| !replaced.contains(&table.name()));
        parts.extend(shown.map(|table| self.table(table)));
        parts.join("\n")
    }

    /// One table below its title.
    pub fn table(&self, table: &Table) -> String {
        let body = match table.layout() {
            Layout::Rows => self.rows(table),
            Layout::Record => self.records(table),
        };
        format!("{}\n{body}", self.paint(BOLD, &printable(table.title())))
    }

    fn rows(&self, table: &Table) -> String {
        let mut columns: Vec<TextColumn> = table
            .columns()
            .filter(|column| !says_nothing(*column))
            .map(|column| {
                let cells = (0..table.row_count()).map(|row| cell(column, row));
                TextColumn::new(&printable(column.title()), cells.collect(), column.unit())
                    .aside(column.is_aside())
            })
            .collect();
        let left_out = self.width.map_or(Vec::new(), |width| fit(&mut columns, width));
        let mut text = self.headings(&columns);
        for row in 0..table.row_count() {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| column.align(&column.cells[row]))
                .collect();
            text += join(&cells).trim_end();
            text.push('\n');
        }
        if !left_out.is_empty() {
            let note = format!("(no room for: {})", left_out.join(", "));
            text += &(self.paint(DIM, &note) + "\n");
        }
        text
    }

    /// Titles of several lines end in the same one.
    fn headings(&self, columns: &[TextColumn]) -> String {
        let titles: Vec<Vec<String>> = columns.iter().map(TextColumn::heading).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or(0);
        let line = |line: usize| {
            let words = columns.iter().zip(&titles).map(|(column, title)| {
                let word = (line + title.len()).checked_sub(height);
                column.align(word.map_or("", |word| &title[word]))
            });
            self.paint(DIM, join(&words.collect::<Vec<_>>()).trim_end()) + "\n"
        };
        (0..height).map(line).collect()
    }

    fn records(&self, table: &Table) -> String {
        let title_width = table
            .columns()
            .map(|column| column.title().width())
            .max()
            .unwrap_or(0);
        let value_width = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(title_width + GAP.len()));
        let line = |column: Column, row| {
            let lines = wrapped(&cell(column, row), value_width);
            let title = printable(column.title());
            let titles = std::iter::once(title.as_str()).chain(std::iter::repeat(""));
            let lines = titles.zip(lines);
            lines
                .map(|(title, value)| format!("{}{GAP}{value}\n", pad_right(title, title_width)))
                .collect::<String>()
        };
        (0..table.row_count())
            .flat_map(|row| table.columns().map(move |column| line(column, row)))
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

const BOLD: &str = "1";
const DIM: &str = "2";
const YELLOW: &str = "33";

/// Whether it stands aside and has only empty cells.
fn says_nothing(column: Column) -> bool {
    column.is_aside() && (0..column.row_count()).all(|row| column.value(row) == Value::None)
}

fn cell(column: Column, row: usize) -> String {
    match (column.value(row), column.unit()) {
        (Value::None, unit) if unit.is_text() => String::new(),
        (Value::None, _) => "-".into(),
        // Code keeps its indentation.
        (Value::Text(text), Unit::Source) => printable(text.trim_end()),
        (Value::Text(text), _) => printable(text.trim()),
        (Value::Integer(number), Unit::Count | Unit::Bytes) => grouped(number),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Signed(change), _) => signed(change),
        (Value::Real(share), Unit::Share) => percent(share),
        (Value::Real(rate), Unit::Rate) => format!("{rate:.1}"),
        (Value::Real(factor), Unit::Ratio) => ratio(factor),
        (Value::Real(change), Unit::Change) => signed_real(change),
        (Value::Real(number), _) => format!("{number:.3}"),
    }
}

fn join(cells: &[String]) -> String {
    cells.join(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;
    use crate::TableBuilder;

    const PLAIN: TextStyle = TextStyle {
        width: None,
        colour: false,
        unicode: true,
    };

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
    fn texts_give_way_to_a_narrow_terminal() {
        let style = TextStyle {
            width: Some(50),
            colour: false,
            unicode: true,
        };
        let text = style.table(&sample());
        assert!(text.contains("75.0 %  if (arc->iden…\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 50), "{text}");
    }

    #[test]
    fn titles_are_folded_and_columns_left_out_where_there_is_no_room() {
        let narrow = |width| TextStyle {
            width: Some(width),
            colour: false,
            unicode: true,
        };
        assert_eq!(
            narrow(44).table(&sample()),
            "Fields\n\
             \x20                            share\n\
             \x20                               of\n\
             field      line   accesses  misses  source\n\
             arc.ident   123  4,567,890  75.0 %  if (arc…\n\
             node, \"x\"     7         12       -\n"
        );
        assert_eq!(
            narrow(20).table(&sample()),
            "Fields\n\
             field       accesses\n\
             arc.ident  4,567,890\n\
             node, \"x\"         12\n\
             (no room for: source, share of misses, line)\n"
        );
    }

    #[test]
    fn long_values_of_a_record_are_wrapped() {
        let table = TableBuilder::new("clock", "Clock", &[()])
            .text("clock", |()| "the same on all processors")
            .as_record()
            .build();
        let style = TextStyle {
            width: Some(20),
            colour: false,
            unicode: true,
        };
        assert_eq!(
            style.table(&table),
            "Clock\nclock  the same on\n       all\n       processors\n"
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
    fn colour_is_optional_and_control_characters_never_pass() {
        let report = Report {
            answer: "evil \x1b[2Jname".into(),
            warnings: vec!["gap".into()],
            tables: vec![],
        };
        assert_eq!(PLAIN.report(&report), "evil \u{fffd}[2Jname\n\nwarning: gap\n");
        let coloured = TextStyle {
            width: None,
            colour: true,
            unicode: true,
        }
        .report(&report);
        assert!(coloured.starts_with("\x1b[1mevil"), "{coloured:?}");
        assert!(!coloured.contains("\x1b[2J"));
    }

    #[test]
    fn long_names_are_cut_and_paths_keep_their_end() {
        let rows = ["x".repeat(200) + "/end.c"];
        let table = TableBuilder::new("names", "Names", &rows)
            .text("name", |row| row.clone())
            .path("file", |row| row.clone())
            .build();
        let text = PLAIN.table(&table);
        let expected = format!(
            "{}…{}/end.c  …{}/end.c\n",
            "x".repeat(36),
            "x".repeat(29),
            "x".repeat(65)
        );
        assert!(text.ends_with(&expected), "{text}");
    }
}
