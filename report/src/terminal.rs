//! Text for a terminal. Names, paths and messages may come from foreign traces or from another machine. None of their
//! control characters reaches the terminal, where it could move the cursor, hide text or send keys.

use std::io::{self, Write};

/// One line of text: controls, line ends among them, and what turns the direction of writing are replaced.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' => ' ',
            control if is_unprintable(control) => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

/// Text of several lines, likewise. Line ends and tabs stay.
pub fn printable_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|character| match character {
            '\t' | '\n' => character,
            control if is_unprintable(control) => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

/// Controls, and the embeddings, overrides and isolates by which a text shows in another order than it has.
fn is_unprintable(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Passes on what is written, as [`printable_lines`] if it goes to a terminal, else unchanged.
pub struct TerminalWriter<W: Write> {
    output: W,
    is_terminal: bool,
    /// The beginning of a character, or of a line end.
    unfinished: Vec<u8>,
}

impl<W: Write> TerminalWriter<W> {
    pub fn new(output: W, is_terminal: bool) -> Self {
        TerminalWriter {
            output,
            is_terminal,
            unfinished: Vec::new(),
        }
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.output.write(bytes);
        }
        self.unfinished.extend_from_slice(bytes);
        let rest = self.unfinished.split_off(whole_characters(&self.unfinished));
        let text = std::mem::replace(&mut self.unfinished, rest);
        self.output
            .write_all(printable_lines(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// How many of the bytes stand before a character, or a line end, of which more may come.
fn whole_characters(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return bytes.len() - 1;
    }
    match bytes.utf8_chunks().last() {
        Some(last) if bytes.ends_with(last.invalid()) && may_continue(last.invalid()) => {
            bytes.len() - last.invalid().len()
        }
        _ => bytes.len(),
    }
}

/// Whether some further bytes would make a character of it.
fn may_continue(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_reaches_the_terminal() {
        assert_eq!(
            printable("a\x1b[2J\u{9b}b\r\nc\td"),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}c d"
        );
        assert_eq!(
            printable_lines("a\x1b]0;x\x07\r\nb\rc\td\u{202e}"),
            "a\u{fffd}]0;x\u{fffd}\nb\u{fffd}c\td\u{fffd}"
        );
        assert_eq!(printable("Grüße 東京"), "Grüße 東京");
    }

    #[test]
    fn characters_may_come_in_parts() {
        let text = "ä\u{9b}2J\r\n東\x1b\u{202e}.";
        for size in 1..=text.len() {
            let mut writer = TerminalWriter::new(Vec::new(), true);
            for part in text.as_bytes().chunks(size) {
                writer.write_all(part).unwrap();
            }
            let written = String::from_utf8(writer.output).unwrap();
            assert_eq!(written, printable_lines(text), "in parts of {size} bytes");
        }
    }

    #[test]
    fn files_and_pipes_get_every_byte() {
        let bytes = b"\x1b[2J\xff\r";
        let mut writer = TerminalWriter::new(Vec::new(), false);
        writer.write_all(bytes).unwrap();
        assert_eq!(writer.output, bytes);
    }
}
