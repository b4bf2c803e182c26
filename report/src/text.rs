//! Tables and reports for terminals: columns that fit the width, numbers right-aligned.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::number::{grouped, percent};
use crate::{Column, Layout, Report, Table, Unit, Value};

const GAP: &str = "  ";
/// Text columns don't shrink below this many terminal cells.
const MIN_TEXT_WIDTH: usize = 8;
/// Names of C++ templates can be longer than anybody wants to read.
const MAX_TEXT_WIDTH: usize = 72;

/// How to write for people.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// Terminal cells that a line may take; none for unlimited.
    pub width: Option<usize>,
    pub colour: bool,
}

impl TextStyle {
    /// The whole report: the answer, warnings, tables.
    pub fn report(&self, report: &Report) -> String {
        let mut parts = vec![self.paint(BOLD, &printable(&report.answer)) + "\n"];
        if !report.warnings.is_empty() {
            let lines = report
                .warnings
                .iter()
                .map(|warning| self.paint(YELLOW, &format!("warning: {}", printable(warning))) + "\n");
            parts.push(lines.collect());
        }
        parts.extend(report.tables.iter().map(|table| self.table(table)));
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
            .map(|column| TextColumn::new(column, table.row_count()))
            .collect();
        if let Some(width) = self.width {
            shrink(&mut columns, width);
        }
        let heading: Vec<String> = columns.iter().map(|column| column.align(&column.title)).collect();
        let mut text = self.paint(DIM, join(&heading).trim_end()) + "\n";
        for row in 0..table.row_count() {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| column.align(&column.cells[row]))
                .collect();
            text += join(&cells).trim_end();
            text.push('\n');
        }
        text
    }

    fn records(&self, table: &Table) -> String {
        let title_width = table
            .columns()
            .map(|column| column.title().width())
            .max()
            .unwrap_or(0);
        let line = |column: Column, row| {
            let value = cell(column, row);
            format!("{}{GAP}{value}\n", pad_right(column.title(), title_width))
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

struct TextColumn {
    title: String,
    cells: Vec<String>,
    width: usize,
    unit: Unit,
}

impl TextColumn {
    fn new(column: Column, rows: usize) -> Self {
        let cells: Vec<String> = (0..rows).map(|row| cell(column, row)).collect();
        let widest = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        let unit = column.unit();
        let limit = if is_text(unit) { MAX_TEXT_WIDTH } else { usize::MAX };
        TextColumn {
            title: column.title().to_owned(),
            width: widest.min(limit).max(column.title().width()),
            unit,
            cells,
        }
    }

    fn align(&self, text: &str) -> String {
        match self.unit {
            Unit::Path => pad_right(&truncate_start(text, self.width), self.width),
            Unit::Text | Unit::Source => pad_right(&truncate(text, self.width), self.width),
            _ => pad_left(text, self.width),
        }
    }
}

fn is_text(unit: Unit) -> bool {
    matches!(unit, Unit::Text | Unit::Path | Unit::Source)
}

/// Takes cells from the widest text columns until the table fits or none can give more.
fn shrink(columns: &mut [TextColumn], available: usize) {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    let mut total: usize = columns.iter().map(|column| column.width).sum::<usize>() + gaps;
    while total > available {
        let texts = columns
            .iter_mut()
            .filter(|column| is_text(column.unit) && column.width > MIN_TEXT_WIDTH);
        let Some(widest) = texts.max_by_key(|column| column.width) else {
            return;
        };
        widest.width -= 1;
        total -= 1;
    }
}

fn cell(column: Column, row: usize) -> String {
    match (column.value(row), column.unit()) {
        (Value::None, unit) if is_text(unit) => String::new(),
        (Value::None, _) => "-".into(),
        // Code keeps its indentation.
        (Value::Text(text), Unit::Source) => printable(text.trim_end()),
        (Value::Text(text), _) => printable(text.trim()),
        (Value::Integer(number), Unit::Count | Unit::Bytes) => grouped(number),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Real(share), Unit::Share) => percent(share),
        (Value::Real(rate), Unit::Rate) => format!("{rate:.1}"),
        (Value::Real(number), _) => format!("{number:.3}"),
    }
}

/// Names in traces may come from anywhere: no control character reaches the terminal.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' => ' ',
            control if control.is_control() => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

fn join(cells: &[String]) -> String {
    cells.join(GAP)
}

fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

fn pad_right(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

/// Cuts to `width` terminal cells, the last of which is then an ellipsis.
fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used >= width {
            break;
        }
        cut.push(character);
    }
    cut + "…"
}

/// The same, but cuts at the start.
fn truncate_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used < width
    };
    let kept: Vec<char> = text.chars().rev().take_while(fits).collect();
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;
    use crate::TableBuilder;

    const PLAIN: TextStyle = TextStyle {
        width: None,
        colour: false,
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
    fn texts_give_way_to_a_narrow_terminal() {
        let style = TextStyle {
            width: Some(60),
            colour: false,
        };
        let text = style.table(&sample());
        assert!(text.contains("75.0 %  if (arc->ident…\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
    }

    #[test]
    fn a_record_is_a_list() {
        let table = TableBuilder::new("audit", "Audit", &[(1234, 1, 4)])
            .integer("accesses", "accesses", Unit::Count, |row| row.0)
            .share("typed", "with type", |row| (row.1, row.2))
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
        }
        .report(&report);
        assert!(coloured.starts_with("\x1b[1mevil"), "{coloured:?}");
        assert!(!coloured.contains("\x1b[2J"));
    }

    #[test]
    fn wide_characters_are_cut_by_cells() {
        assert_eq!(truncate("日本語テキスト", 5), "日本…");
        assert_eq!(truncate("short", 5), "short");
        assert_eq!(truncate_start("日本語テキスト", 5), "…スト");
        assert_eq!(truncate_start("short", 5), "short");
    }

    #[test]
    fn long_names_are_cut_and_paths_keep_their_end() {
        let rows = ["x".repeat(200) + "/end.c"];
        let table = TableBuilder::new("names", "Names", &rows)
            .text("name", "name", |row| row.clone())
            .path("file", "file", |row| row.clone())
            .build();
        let text = PLAIN.table(&table);
        let expected = format!("{}…  …{}/end.c\n", "x".repeat(71), "x".repeat(65));
        assert!(text.ends_with(&expected), "{text}");
    }
}
