//! Texts in a given number of terminal cells: cut, broken into lines, filled up.

use crate::names::LEFT_OUT;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Whether a word is the unit of the number before it; a comma may follow.
fn is_unit(word: &str, number: &str) -> bool {
    let unit = word.trim_end_matches([',', ';', ':', '.', ')']);
    number.ends_with(|last: char| last.is_ascii_digit()) && UNITS.contains(&unit)
}

/// What stands before the further lines of a message.
const INDENT: &str = "  ";

pub fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

pub fn pad_right(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

/// Cuts to `width` terminal cells, the last of which is then an ellipsis.
pub fn cut_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (kept, _) = text.split_at(fitting(text, width.saturating_sub(1)));
    format!("{kept}…")
}

/// Leaves out as many of the first folders as needed; the file name always stays.
pub fn cut_path(path: &str, width: usize) -> String {
    let rests = path
        .match_indices('/')
        .map(|(slash, _)| format!("…{}", &path[slash..]));
    std::iter::once(path.to_owned())
        .chain(rests)
        .find(|shown| shown.width() <= width)
        .unwrap_or_else(|| last_part(path).to_owned())
}

/// The file name of a path.
pub fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Units that stay with their number.
const UNITS: [&str; 8] = ["%", "ns", "us", "ms", "s", "KB", "MB", "GB"];

/// Lines of at most `width` cells, broken at spaces, but not between a number and its unit; longer words stay whole.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let words = text.split(' ').fold(Vec::new(), |mut words: Vec<String>, word| {
        match words.last_mut() {
            Some(number) if is_unit(word, number) => *number += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
        words
    });
    let mut lines = vec![String::new()];
    for word in &words {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.clone());
        }
    }
    lines
}

/// Lines of a command, broken between its words. Each line but the last ends in a backslash, so that a shell takes them as
/// one command.
pub fn command_lines(command: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(CONTINUED.len());
    let mut lines = vec![String::new()];
    let mut words = shell_words(command).into_iter().peekable();
    while let Some(word) = words.next() {
        let line = lines.last_mut().expect("there is a line");
        let room = if words.peek().is_some() { room } else { width };
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= room {
            *line += &format!(" {word}");
        } else {
            line.push_str(CONTINUED);
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Ends a line of a command that goes on.
const CONTINUED: &str = " \\";

/// The words of a command as they are written, with their quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    let ends_word = |sign: char| {
        match quote {
            Some(open) if sign == open => quote = None,
            None if sign == '\'' || sign == '"' => quote = Some(sign),
            _ => (),
        }
        quote.is_none() && sign == ' '
    };
    command.split(ends_word).collect()
}

/// Lines of a message that are too wide go on below, indented; others stay as they are.
pub fn folded_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| *width > INDENT.len()) else {
        return text.to_owned();
    };
    let fold = |line: &str| {
        if line.width() <= width {
            return line.to_owned();
        }
        let margin = line.len() - line.trim_start().len();
        let (blank, words) = line.split_at(margin);
        let room = width.saturating_sub(margin + INDENT.len());
        wrapped(words, room)
            .into_iter()
            .enumerate()
            .map(|(number, part)| match number {
                0 => format!("{blank}{part}"),
                _ => format!("{blank}{INDENT}{part}"),
            })
            .collect::<Vec<_>>()
            .join("\n")
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

/// The lines of a name, of at most `width` cells each: they end at a space, or after a sign, or after an underscore,
/// where there is one in the second half of the line.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.width() > width.max(1) {
        let most = fitting(rest, width).max(rest.chars().next().map_or(0, char::len_utf8));
        let end = place_to_break(rest, most);
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// Where a line of at most so many bytes ends.
fn place_to_break(text: &str, most: usize) -> usize {
    let kinds: [fn(char) -> bool; 3] = [
        |sign| sign == ' ',
        |sign| !sign.is_alphanumeric() && sign != '_',
        |sign| sign == '_',
    ];
    if text[most..].starts_with(' ') {
        return most;
    }
    let last = |kind: fn(char) -> bool| {
        let signs = text[..most].char_indices().rev();
        let ends = signs
            .filter(|&(_, sign)| kind(sign))
            .map(|(at, sign)| at + sign.len_utf8())
            .filter(|&end| parted(text, end).is_none() && !text[end..].starts_with(','));
        ends.take(1).find(|end| end * 2 > most)
    };
    let end = kinds.into_iter().find_map(last).unwrap_or(most);
    parted(text, end).filter(|begin| *begin > 0).unwrap_or(end)
}

/// What stays in one line: scopes, and arguments and parameters that are left out.
const WHOLE: [&str; 3] = ["::", LEFT_OUT, "(…)"];

/// Where a sign of several letters begins that a line with this end would part.
fn parted(text: &str, end: usize) -> Option<usize> {
    let begins = WHOLE.iter().flat_map(|sign| {
        let inner = sign.char_indices().skip(1);
        inner.filter_map(move |(at, _)| Some((end.checked_sub(at)?, *sign)))
    });
    let mut found =
        begins.filter(|&(begin, sign)| text.get(begin..).is_some_and(|rest| rest.starts_with(sign)));
    found.next().map(|(begin, _)| begin)
}

/// How many bytes fit into `width` terminal cells.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    let too_wide = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > width
    });
    too_wide.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_the_terminal() {
        let text = "trackway: warning: a b.trackway has gaps\n  short";
        assert_eq!(folded_lines(text, None), text);
        assert_eq!(
            folded_lines(text, Some(24)),
            "trackway: warning: a\n  b.trackway has gaps\n  short"
        );
        assert_eq!(folded_lines("trackway: 12 345", Some(16)), "trackway: 12 345");
        assert_eq!(
            folded_lines("a.trackway: 104 KB in 5 ms, all", Some(17)),
            "a.trackway:\n  104 KB in 5 ms,\n  all"
        );
    }

    #[test]
    fn wide_characters_are_cut_by_cells() {
        assert_eq!(cut_end("日本語テキスト", 5), "日本…");
        assert_eq!(cut_end("short", 5), "short");
        assert_eq!(broken("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(broken("日本", 1), ["日", "本"], "wider than there is room");
        assert_eq!(broken("", 5), [""]);
    }

    #[test]
    fn long_values_are_wrapped_at_spaces() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary", 8), ["extraordinary"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("it is 100 % of", 10), ["it is", "100 % of"]);
    }

    #[test]
    fn a_shell_takes_the_lines_of_a_command_as_one() {
        let command = "trackway whatif --split 'Pool<int, 4>:a,b' --link index t.trackway";
        assert_eq!(command_lines(command, 80), [command]);
        assert_eq!(
            command_lines(command, 36),
            [
                "trackway whatif --split \\",
                "'Pool<int, 4>:a,b' --link index \\",
                "t.trackway"
            ]
        );
        assert_eq!(
            command_lines("abc defg", 8),
            ["abc defg"],
            "the last line has no sign"
        );
        assert_eq!(
            command_lines("trackway 'a b' \"c d\"", 12),
            ["trackway \\", "'a b' \"c d\""]
        );
    }

    #[test]
    fn names_are_broken_after_signs() {
        assert_eq!(broken("std::vector<int>", 9), ["std::", "vector<", "int>"]);
        assert_eq!(
            broken("32 of 64 bytes are cold", 14),
            ["32 of 64 bytes", "are cold"]
        );
        assert_eq!(broken("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(broken("read_alias < expand", 18), ["read_alias <", "expand"]);
        assert_eq!(broken("nl_make_list", 10), ["nl_make_", "list"]);
        assert_eq!(broken("std::Tree::at", 10), ["std::Tree", "::at"]);
        assert_eq!(broken("abcdefg::h", 8), ["abcdefg", "::h"]);
        assert_eq!(broken("basic_string<…>.data", 14), ["basic_string", "<…>.data"]);
        assert_eq!(broken("f<int>(char*, int)", 12), ["f<int>(", "char*, int)"]);
    }

    #[test]
    fn paths_keep_the_file_name() {
        assert_eq!(cut_path("/a/bb/c.rs", 10), "/a/bb/c.rs");
        assert_eq!(cut_path("/a/bb/c.rs", 9), "…/bb/c.rs");
        assert_eq!(cut_path("/a/bb/c.rs", 4), "c.rs");
        assert_eq!(cut_path("c.rs", 2), "c.rs");
    }
}
