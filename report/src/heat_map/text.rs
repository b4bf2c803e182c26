//! The picture in characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::names::abridged;

use super::picture::{strength, sum};
use super::HeatMap;
use crate::terminal::printable;
use crate::wrapping::wrapped;
use crate::{duration, grouped, TextStyle};

/// Shades from few to many.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = ['.', ':', '+', '%', '#'];
const MAX_LABEL: usize = 40;
/// Characters of an address such as `0x7fff12345678`.
const ADDRESS: usize = 14;
/// Width that is used if the width of lines is not limited.
const USUAL_WIDTH: usize = 120;
const BLUE: &str = "34";
const RED: &str = "31";
const MAGENTA: &str = "35";

impl TextStyle {
    /// How many columns a picture has room for.
    pub fn heat_map_columns(&self) -> usize {
        let width = self.width.unwrap_or(USUAL_WIDTH);
        width
            .saturating_sub(MAX_LABEL.min(width / 3) + ADDRESS + 2)
            .max(8)
    }

    /// The picture: labels and addresses on the left, time along the top.
    pub fn heat_map(&self, map: &HeatMap) -> String {
        let room = self.heat_map_columns();
        let label_width = MAX_LABEL.min(self.width.unwrap_or(USUAL_WIDTH) / 3);
        // Few columns are drawn wide.
        let wide = (room / map.column_count().max(1)).max(1);
        let margin = label_width + ADDRESS + 2;
        let mut text = format!("{}\n", printable(&map.title));
        text += &axis(map, margin, map.column_count() * wide);
        let mut previous: Option<&str> = None;
        for row in &map.rows {
            let label = match previous == Some(row.label.as_str()) {
                true => String::new(),
                false => cut(&abridged(&printable(&row.label), label_width), label_width),
            };
            previous = Some(&row.label);
            let address = row
                .address
                .map_or(String::new(), |address| format!("{address:#x}"));
            let blank = " ".repeat(label_width.saturating_sub(label.width()));
            let cells = self.cells(&row.counts, map.largest(), wide);
            let line = format!("{label}{blank} {address:>ADDRESS$} {cells}");
            text += line.trim_end();
            text.push('\n');
        }
        text += &self.legend(map);
        text
    }

    fn cells(&self, counts: &[[u64; 2]], largest: u64, wide: usize) -> String {
        let cell = |counts: &[u64; 2]| {
            let text = self.shade(sum(*counts), largest).to_string().repeat(wide);
            match self.colour && sum(*counts) > 0 {
                true => format!("\x1b[{}m{text}\x1b[0m", colour(*counts)),
                false => text,
            }
        };
        counts.iter().map(cell).collect()
    }

    fn shades(&self) -> &[char; 5] {
        match self.unicode {
            true => &SHADES,
            false => &ASCII_SHADES,
        }
    }

    /// A character for the count, blank only if that is 0.
    fn shade(&self, count: u64, largest: u64) -> char {
        let shades = self.shades();
        let strength = strength(count, largest);
        match count {
            0 => ' ',
            _ => shades[((strength * shades.len() as f64).ceil() as usize).clamp(1, shades.len()) - 1],
        }
    }

    fn legend(&self, map: &HeatMap) -> String {
        let colours = match self.colour {
            true => format!(
                "\x1b[{BLUE}mmostly reads\x1b[0m, \x1b[{RED}mmostly writes\x1b[0m, \x1b[{MAGENTA}mboth\x1b[0m\n"
            ),
            false => String::new(),
        };
        let largest = map.largest();
        let known = self.shades().iter().filter_map(|shade| {
            let count = self.least_shown_as(*shade, largest)?;
            Some((shade, grouped(count)))
        });
        let (shades, least): (String, Vec<String>) = known.unzip();
        let legend = format!(
            "{shades}: at least {} in a cell, at most {}; a column is {}",
            least.join(", "),
            grouped(largest),
            duration(map.column_ns)
        );
        let width = self.width.unwrap_or(usize::MAX);
        let lines = wrapped(&legend, width);
        lines.into_iter().map(|line| line + "\n").collect::<String>() + &colours
    }

    /// The least count that a shade stands for; none if no count has it, since all are small.
    fn least_shown_as(&self, shade: char, largest: u64) -> Option<u64> {
        let (mut least, mut beyond) = (1, largest.saturating_add(1));
        let order = |count| {
            let shown = self.shade(count, largest);
            self.shades().iter().position(|other| *other == shown)
        };
        let wanted = self.shades().iter().position(|other| *other == shade);
        while least < beyond {
            let middle = least + (beyond - least) / 2;
            match order(middle) < wanted {
                true => least = middle + 1,
                false => beyond = middle,
            }
        }
        (least <= largest && order(least) == wanted).then_some(least)
    }
}

fn colour([reads, writes]: [u64; 2]) -> &'static str {
    match (reads / 3 > writes, writes / 3 > reads) {
        _ if writes == 0 => BLUE,
        _ if reads == 0 => RED,
        (true, _) => BLUE,
        (_, true) => RED,
        _ => MAGENTA,
    }
}

/// The times of both ends.
fn axis(map: &HeatMap, margin: usize, width: usize) -> String {
    let (from, to) = (duration(map.from_ns), duration(map.end_ns()));
    let between = width.saturating_sub(from.width() + to.width()).max(1);
    format!("{}{from}{}{to}\n", " ".repeat(margin), " ".repeat(between))
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used < width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::super::picture::tests::table;
    use super::*;

    const PLAIN: TextStyle = TextStyle {
        width: Some(60),
        ..TextStyle::PLAIN
    };

    #[test]
    fn a_picture_in_characters() {
        let cells = [
            (0, "nodes", 0x1000, 0, 1, 0),
            (0, "nodes", 0x9000, 8, 0, 40),
            (1, "stack", 0xf000, 8, 3, 0),
        ];
        let map = HeatMap::from_cells(&table(&cells), 10, 2).unwrap();
        let expected = "\
Accesses
                                    0 s                16 ns
nodes                        0x1000 ············
                             0x9000             ████████████
stack                        0xf000             ░░░░░░░░░░░░
·░▒▓█: at least 1, 2, 4, 9, 19 in a cell, at most 40; a
column is 8 ns
";
        let found = PLAIN.heat_map(&map);
        assert_eq!(found, expected, "\n{found}");
        assert!(found.lines().all(|line| line.width() <= 60), "{found}");
    }

    #[test]
    fn colour_is_optional_and_labels_are_harmless() {
        let map = HeatMap::from_cells(&table(&[(0, "\x1b[2J", 0x1000, 0, 1, 0)]), 10, 2).unwrap();
        assert!(!PLAIN.heat_map(&map).contains('\x1b'));
        let style = TextStyle {
            colour: true,
            ..PLAIN
        };
        let text = style.heat_map(&map);
        assert!(text.contains("\x1b[34m") && !text.contains("\x1b[2J"), "{text:?}");
    }

    #[test]
    fn shades_end_where_counts_do() {
        assert_eq!(
            [0, 1, 1000].map(|count| PLAIN.shade(count, 1000)),
            [' ', '·', '█']
        );
        assert_eq!(PLAIN.shade(1, 1), '█');
        let ascii = TextStyle {
            unicode: false,
            ..PLAIN
        };
        assert_eq!(
            [0, 1, 1000].map(|count| ascii.shade(count, 1000)),
            [' ', '.', '#']
        );
        assert_eq!(
            [[5, 0], [0, 5], [5, 5], [50, 5], [5, 50]].map(colour),
            [BLUE, RED, MAGENTA, BLUE, RED]
        );
    }
}
