//! Reports as GitHub-flavoured Markdown, for comments on changes of code.
//!
//! Names come from foreign programs. Characters that Markdown, HTML, or mentions and references of GitHub and GitLab give
//! a meaning are written as entities, which none of them reads as syntax.

use crate::cells::{cell, title};
use crate::names::readable;
use crate::number::counted;
use crate::terminal::printable;
use crate::{Column, Report, Table};

/// GitHub refuses comments of more than 65,536 characters; a character has at least one byte.
pub const COMMENT_BYTES: usize = 65_000;
/// Characters of a cell; the ends of longer ones are left out.
const CELL_CHARACTERS: usize = 120;
/// Characters of a sentence.
const SENTENCE_CHARACTERS: usize = 600;
/// Kept free for the end of a table and the note on what is left out.
const RESERVED_BYTES: usize = 400;

/// What is said around the tables of a report.
#[derive(Debug, Clone, Default)]
pub struct MarkdownFrame {
    /// Stands invisibly in the first line, by which scripts find an earlier comment.
    pub marker: String,
    pub heading: String,
    /// A paragraph below the first tables.
    pub note: String,
    /// How to see what is left out.
    pub command: String,
}

/// The report with those tables open that `is_open` chooses, and the others folded, in at most `most_bytes`.
pub fn to_markdown(
    report: &Report,
    frame: &MarkdownFrame,
    most_bytes: usize,
    is_open: impl Fn(&Table) -> bool,
) -> String {
    let mut document = Document {
        text: String::new(),
        most_bytes,
        left_out: 0,
    };
    document.head(report, frame);
    let (open, folded): (Vec<&Table>, Vec<&Table>) = report.tables.iter().partition(|table| is_open(table));
    let has_rows = |table: &&&Table| table.row_count() > 0;
    for table in open.iter().filter(has_rows) {
        document.table(table, &format!("**{}**\n\n", sentence(table.title())), "\n");
    }
    if !frame.note.is_empty() {
        document.add(&format!("{}\n\n", sentence(&frame.note)));
    }
    for table in folded.iter().filter(has_rows) {
        let begin = format!("<details>\n<summary>{}</summary>\n\n", sentence(table.title()));
        document.table(table, &begin, "\n</details>\n\n");
    }
    document.finish(frame)
}

struct Document {
    text: String,
    most_bytes: usize,
    /// Rows that had no room.
    left_out: usize,
}

impl Document {
    fn head(&mut self, report: &Report, frame: &MarkdownFrame) {
        // "--" would end the comment.
        let marker = printable(&frame.marker)
            .replace("--", "- -")
            .replace(['<', '>'], "");
        self.add(&format!(
            "<!-- {marker} -->\n### {}\n\n",
            sentence(&frame.heading)
        ));
        self.add(&format!("{}\n\n", sentence(&report.answer)));
        for warning in &report.warnings {
            self.add(&format!("> Warning: {}\n\n", sentence(warning)));
        }
    }

    /// Whether there was room for it.
    fn add(&mut self, text: &str) -> bool {
        let has_room = self.text.len() + text.len() + RESERVED_BYTES <= self.most_bytes;
        if has_room {
            self.text += text;
        }
        has_room
    }

    /// The rows for which there is room, between `begin` and `end`, for which room is reserved.
    fn table(&mut self, table: &Table, begin: &str, end: &str) {
        let columns: Vec<Column> = table.columns().filter(|column| says_something(*column)).collect();
        if !self.add(&format!("{begin}{}", heading(&columns))) {
            self.left_out += table.row_count();
            return;
        }
        for index in 0..table.row_count() {
            if !self.add(&row(&columns, index)) {
                self.left_out += table.row_count() - index;
                break;
            }
        }
        self.text += end;
    }

    fn finish(mut self, frame: &MarkdownFrame) -> String {
        if self.left_out > 0 {
            let rows = counted(self.left_out as u64, "row");
            self.text += &format!("{rows} left out, for which a comment has no room.\n");
        }
        if !frame.command.is_empty() {
            self.add(&format!("All of it: {}\n", code(&frame.command)));
        }
        self.text.truncate(self.text.trim_end().len());
        self.text + "\n"
    }
}

fn says_something(column: Column) -> bool {
    (0..column.row_count()).any(|row| !cell(column, row).is_empty())
}

fn heading(columns: &[Column]) -> String {
    let titles = columns.iter().map(|column| sentence(&title(*column)));
    let rules = columns.iter().map(|column| match column.unit().is_text() {
        true => "---".to_owned(),
        false => "---:".to_owned(),
    });
    format!("{}{}", line(titles), line(rules))
}

fn row(columns: &[Column], row: usize) -> String {
    line(columns.iter().map(|column| {
        let text = cell(*column, row);
        // A title that is empty belongs to a word about the row, such as "new".
        let is_word = !column.unit().is_text() || column.title().is_empty();
        match is_word {
            true => sentence(&text),
            false => code(&text),
        }
    }))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}

/// A name or a line of code. Nothing inside of `<code>` is a mention or a reference.
fn code(text: &str) -> String {
    let text = shortened(&printable(text.trim()), CELL_CHARACTERS);
    match text.is_empty() {
        true => String::new(),
        false => format!("<code>{}</code>", escaped(&text, false)),
    }
}

fn sentence(text: &str) -> String {
    let text = printable(&readable(&text.replace('\n', "; ")));
    escaped(&shortened(&text, SENTENCE_CHARACTERS), true)
}

fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Text that means itself in Markdown and HTML, within a cell of a table, too. An empty comment may interrupt mentions and
/// references, so that they name nobody.
fn escaped(text: &str, interrupted: bool) -> String {
    let mut found = String::new();
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let begins_a_name = characters.peek().is_some_and(|next| next.is_alphanumeric());
        let is_inside_a_name = character == '_' && before.is_alphanumeric() && begins_a_name;
        match is_syntax(character) && !is_inside_a_name {
            true => found += &format!("&#{};", character as u32),
            false => found.push(character),
        }
        if interrupted && begins_a_name && "@#!~$%&".contains(character) {
            found += "<!-- -->";
        }
        before = character;
    }
    // What begins as an address does is a link without any further sign.
    found.replace("www.", "www&#46;").replace("://", "&#58;//")
}

fn is_syntax(character: char) -> bool {
    "&<>\"'`*_[]!\\|~#@$^{}".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{grouped, TableBuilder};

    const HOSTILE: [&str; 8] = [
        "a|b",
        "`x`",
        "<script>alert(1)</script>",
        "two\nlines\r\n| x | y |",
        "@everyone",
        "](http://x) www.x.org",
        "</details></code>",
        "a\\|b",
    ];

    fn report(rows: &[(String, u64)]) -> Report {
        let table = |name: &str| {
            TableBuilder::new(name, "Fields by change | of *L2*", rows)
                .text("field", |row| row.0.clone())
                .count("before", |row| row.1)
                .build()
        };
        Report {
            answer: format!("@me {} #12", HOSTILE.join(" ")),
            warnings: vec![HOSTILE.join(" ")],
            tables: vec![table("fields"), table("lines")],
        }
    }

    fn frame() -> MarkdownFrame {
        MarkdownFrame {
            marker: "trackway --> <b>".into(),
            heading: "Trackway".into(),
            note: "Noise isn't known.".into(),
            command: "trackway diff 'a|b' c".into(),
        }
    }

    fn markdown(rows: &[(String, u64)], most_bytes: usize) -> String {
        to_markdown(&report(rows), &frame(), most_bytes, |table| {
            table.name() == "fields"
        })
    }

    /// The only elements are ours, each table has a row for each row, and each row has all cells and no more.
    #[test]
    fn hostile_names_break_nothing() {
        let rows: Vec<(String, u64)> = HOSTILE.iter().map(|name| ((*name).to_owned(), 7)).collect();
        let text = markdown(&rows, COMMENT_BYTES);
        let table_lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table_lines.len(), 2 * (HOSTILE.len() + 2), "{text}");
        for line in table_lines {
            assert_eq!(line.matches('|').count(), 3, "{line}");
        }
        let ours = [
            "<!--",
            "-->",
            "<code>",
            "</code>",
            "<details>",
            "</details>",
            "<summary>",
            "</summary>",
            "> Warning",
        ];
        let rest = ours
            .iter()
            .fold(text.clone(), |rest, element| rest.replace(element, ""));
        for character in ['<', '>', '`', '[', '@', '\\'] {
            assert!(!rest.contains(character), "{character} in {rest}");
        }
        assert_eq!(
            text.matches("<details>").count(),
            text.matches("</details>").count()
        );
        assert!(
            !text.contains("&#64;me") && text.contains("&#64;<!-- -->me"),
            "{text}"
        );
        assert!(!text.contains("www.") && !text.contains("://"), "{text}");
    }

    #[test]
    fn the_first_table_is_open_and_the_others_are_folded() {
        let text = markdown(&[("arc.ident".to_owned(), 1_234_567)], COMMENT_BYTES);
        let row = "| field | before |\n| --- | ---: |\n| <code>arc.ident</code> | 1,234,567 |\n";
        let (open, folded) = text.split_once("<details>").unwrap();
        assert!(open.contains(row) && folded.contains(row), "{text}");
        assert!(
            text.starts_with("<!-- trackway - - b -->\n### Trackway\n\n"),
            "{text}"
        );
        assert!(open.trim_end().ends_with("Noise isn&#39;t known."), "{text}");
    }

    #[test]
    fn the_size_is_bounded_and_what_is_left_out_is_counted() {
        let rows: Vec<(String, u64)> = (0..5000).map(|row| (format!("|field_{row}"), row)).collect();
        for most_bytes in [2_500, 10_000, COMMENT_BYTES] {
            let text = markdown(&rows, most_bytes);
            assert!(text.len() <= most_bytes, "{} of {most_bytes}", text.len());
            let shown = text.lines().filter(|line| line.contains("field_")).count();
            let left_out = grouped((2 * rows.len() - shown) as u64);
            assert!(
                text.contains(&format!("{left_out} rows left out")),
                "{shown}, {left_out}: {text}"
            );
            assert_eq!(
                text.matches("<details>").count(),
                text.matches("</details>").count()
            );
        }
    }

    #[test]
    fn tables_without_rows_are_not_shown() {
        let text = markdown(&[], COMMENT_BYTES);
        assert!(
            !text.contains("| field |") && !text.contains("<details>"),
            "{text}"
        );
    }
}
