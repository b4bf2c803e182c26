//! Which lines of source a page holds.

use std::collections::{BTreeMap, BTreeSet};

use trackway_report::{Column, Table};

use crate::page::{SourceText, Stretch};

/// Lines around one that a table names.
const CONTEXT: u32 = 8;
/// Files of no more lines are shown whole.
const WHOLE_FILE_LINES: usize = 400;
/// Lines of a page, over all files.
const MAX_LINES: usize = 12_000;
/// Characters of a line.
const MAX_LINE_LENGTH: usize = 300;

/// What a page has of a file.
pub enum FileText {
    Text(String),
    /// A text that is shown instead of each line that the tables name.
    Instead(String),
}

/// The lines that the tables name in their columns `file` and `line`, and those around them. `read` gives a file's text;
/// files that it doesn't know are left out. Those that come first in the tables come first.
pub fn source_texts(tables: &[Table], read: impl Fn(&str) -> Option<FileText>) -> Vec<SourceText> {
    let mut left = MAX_LINES;
    let mut texts = Vec::new();
    for (file, named) in named_lines(tables) {
        let Some(text) = read(file) else { continue };
        let source = SourceText {
            file: file.to_owned(),
            stretches: match text {
                FileText::Text(text) => stretches(&text, &named, &mut left),
                FileText::Instead(words) => instead(&words, &named, &mut left),
            },
        };
        if !source.stretches.is_empty() {
            texts.push(source);
        }
    }
    texts
}

/// The files in the order of their first lines.
fn named_lines(tables: &[Table]) -> Vec<(&str, BTreeSet<u32>)> {
    let mut positions = BTreeMap::new();
    let mut files: Vec<(&str, BTreeSet<u32>)> = Vec::new();
    for table in tables {
        let (Some(file), Some(line)) = (table.column("file"), table.column("line")) else {
            continue;
        };
        for row in 0..table.row_count() {
            if let Some((file, line)) = place(file, line, row) {
                let position = *positions.entry(file).or_insert_with(|| {
                    files.push((file, BTreeSet::new()));
                    files.len() - 1
                });
                files[position].1.insert(line);
            }
        }
    }
    files
}

fn place<'t>(file: Column<'t>, line: Column, row: usize) -> Option<(&'t str, u32)> {
    Some((file.text(row)?, u32::try_from(line.integer(row)?).ok()?))
}

fn stretches(text: &str, named: &BTreeSet<u32>, left: &mut usize) -> Vec<Stretch> {
    let lines: Vec<&str> = text.lines().collect();
    let count = lines.len() as u32;
    let ranges = match lines.len() <= WHOLE_FILE_LINES {
        true => vec![(1, count)],
        false => ranges_around(named, count),
    };
    let mut stretches = Vec::new();
    for (first, last) in ranges {
        let length = (last + 1).saturating_sub(first) as usize;
        if length == 0 || length > *left {
            continue;
        }
        *left -= length;
        stretches.push(Stretch {
            first_line: first,
            lines: lines[first as usize - 1..last as usize]
                .iter()
                .map(|line| cut(line))
                .collect(),
        });
    }
    stretches
}

fn instead(words: &str, named: &BTreeSet<u32>, left: &mut usize) -> Vec<Stretch> {
    let shown = named.iter().filter(|&&line| line > 0).take(*left);
    let stretches: Vec<Stretch> = shown
        .map(|&line| Stretch {
            first_line: line,
            lines: vec![cut(words)],
        })
        .collect();
    *left -= stretches.len();
    stretches
}

/// Ranges with both ends included; those that touch are joined.
fn ranges_around(named: &BTreeSet<u32>, count: u32) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &line in named.iter().filter(|&&line| (1..=count).contains(&line)) {
        let (first, last) = (
            line.saturating_sub(CONTEXT).max(1),
            line.saturating_add(CONTEXT).min(count),
        );
        match ranges.last_mut() {
            Some(before) if before.1 + 1 >= first => before.1 = last,
            _ => ranges.push((first, last)),
        }
    }
    ranges
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    fn table(rows: &[(&str, u64)]) -> Table {
        TableBuilder::new("lines", "Lines", rows)
            .path("file", |row| row.0)
            .number("line", |row| row.1)
            .build()
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn short_files_are_whole_and_unknown_ones_left_out() {
        let texts = source_texts(&[table(&[("b.c", 2), ("a.c", 1), ("b.c", 3)])], |file| {
            (file == "b.c").then(|| FileText::Text(numbered(4)))
        });
        assert_eq!(texts.len(), 1);
        assert_eq!(texts[0].file, "b.c");
        assert_eq!(texts[0].stretches.len(), 1);
        assert_eq!(texts[0].stretches[0].first_line, 1);
        assert_eq!(
            texts[0].stretches[0].lines,
            ["line 1", "line 2", "line 3", "line 4"]
        );
    }

    #[test]
    fn of_long_files_there_is_what_stands_around_the_lines() {
        let named = [
            ("a.c", 5),
            ("a.c", 500),
            ("a.c", 510),
            ("a.c", 1000),
            ("a.c", 5000),
            ("a.c", 0),
        ];
        let texts = source_texts(&[table(&named)], |_| Some(FileText::Text(numbered(1000))));
        let ranges: Vec<(u32, usize)> = texts[0]
            .stretches
            .iter()
            .map(|stretch| (stretch.first_line, stretch.lines.len()))
            .collect();
        assert_eq!(ranges, [(1, 13), (492, 27), (992, 9)]);
        assert_eq!(texts[0].stretches[1].lines[8], "line 500");
    }

    #[test]
    fn the_page_is_bounded() {
        let files: Vec<String> = (0..100).map(|number| format!("{number}.c")).collect();
        let rows: Vec<(&str, u64)> = files.iter().map(|file| (file.as_str(), 1)).collect();
        let texts = source_texts(&[table(&rows)], |_| {
            Some(FileText::Text(numbered(WHOLE_FILE_LINES)))
        });
        let lines: usize = texts
            .iter()
            .flat_map(|text| &text.stretches)
            .map(|stretch| stretch.lines.len())
            .sum();
        assert_eq!(lines, MAX_LINES);
        assert_eq!(cut(&"ü".repeat(1000)).chars().count(), MAX_LINE_LENGTH + 1);
    }

    #[test]
    fn files_that_became_empty_are_left_out() {
        let empty = |_: &str| Some(FileText::Text(String::new()));
        assert_eq!(source_texts(&[table(&[("a.c", 1)])], empty), []);
    }

    #[test]
    fn words_stand_in_place_of_each_named_line() {
        let changed = |_: &str| Some(FileText::Instead("changed".into()));
        let texts = source_texts(&[table(&[("a.c", 9), ("a.c", 0), ("a.c", 4)])], changed);
        let lines: Vec<(u32, &[String])> = texts[0]
            .stretches
            .iter()
            .map(|stretch| (stretch.first_line, stretch.lines.as_slice()))
            .collect();
        let words = ["changed".to_owned()];
        assert_eq!(lines, [(4, &words[..]), (9, &words[..])]);
    }
}
