//! The picture as SVG.

use std::fmt::Write;

use super::colours::{colour, LEGEND};
use super::picture::sum;
use super::{HeatMap, HeatRow};
use crate::terminal::printable;
use crate::{duration, grouped};

const CELL_HEIGHT: usize = 12;
const PLOT_WIDTH: usize = 900;
const LEFT: usize = 420;
const TOP: usize = 56;
const BOTTOM: usize = 48;
const RIGHT: usize = 24;
const TIMES: usize = 5;
const LABEL_CHARACTERS: usize = 44;

impl HeatMap {
    /// A picture that needs nothing else, with labels of memory and times.
    pub fn svg(&self) -> String {
        let height = TOP + self.rows.len() * CELL_HEIGHT + BOTTOM;
        let width = LEFT + PLOT_WIDTH + RIGHT;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"10\" role=\"img\">\n<title>{0}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{0}</text>\n",
            escaped(&self.title)
        );
        self.times(&mut svg, height - BOTTOM);
        let mut previous: Option<&str> = None;
        for (index, row) in self.rows.iter().enumerate() {
            let y = TOP + index * CELL_HEIGHT;
            let is_first = previous != Some(row.label.as_str());
            previous = Some(&row.label);
            label(&mut svg, row, y, is_first);
            self.cells(&mut svg, row, y);
        }
        let y = height - 12;
        let largest = grouped(self.largest());
        let _ = write!(
            svg,
            "<text x=\"{LEFT}\" y=\"{y}\">{LEGEND}, up to {largest}; a column is {}</text>\n</svg>\n",
            duration(self.column_ns)
        );
        svg
    }

    fn times(&self, svg: &mut String, bottom: usize) {
        for tick in 0..TIMES {
            let x = LEFT + PLOT_WIDTH * tick / (TIMES - 1);
            let part = (self.end_ns() - self.from_ns) as u128 * tick as u128 / (TIMES - 1) as u128;
            let anchor = ["start", "middle", "middle", "middle", "end"][tick];
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                TOP - 6,
                TOP - 10,
                duration(self.from_ns + part as u64)
            );
        }
    }

    /// Cells that are equal to their neighbours are drawn as one.
    fn cells(&self, svg: &mut String, row: &HeatRow, y: usize) {
        let largest = self.largest();
        let border = |column: usize| LEFT as f64 + (PLOT_WIDTH * column) as f64 / row.counts.len() as f64;
        let mut first = 0;
        for equal in row.counts.chunk_by(|one, other| one == other) {
            let behind = first + equal.len();
            if sum(equal[0]) > 0 {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{CELL_HEIGHT}\" fill=\"{}\"/>",
                    border(first),
                    border(behind) - border(first),
                    fill(equal[0], largest)
                );
            }
            first = behind;
        }
    }
}

fn label(svg: &mut String, row: &HeatRow, y: usize, is_first: bool) {
    let baseline = y + CELL_HEIGHT - 2;
    if is_first {
        let name = shortened(&row.label);
        let _ = writeln!(
            svg,
            "<line x1=\"8\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#bbb\"/>\
             <text x=\"8\" y=\"{baseline}\">{}</text>",
            LEFT + PLOT_WIDTH,
            escaped(&name)
        );
    }
    if let Some(address) = row.address {
        let x = LEFT - 8;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"end\" font-family=\"monospace\">{address:#x}</text>"
        );
    }
}

fn fill(counts: [u64; 2], largest: u64) -> String {
    let [red, green, blue] = colour(counts, largest);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn shortened(text: &str) -> String {
    match text.chars().count() > LABEL_CHARACTERS {
        true => text.chars().take(LABEL_CHARACTERS - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let text = printable(text);
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::picture::tests::table;
    use super::*;

    #[test]
    fn a_picture_has_its_cells_and_labels() {
        let cells = [
            (0, "a<b> & c", 0x1000, 0, 9, 0),
            (0, "a<b> & c", 0x1000, 8, 9, 0),
            (1, "x", 0xf000, 8, 0, 3),
        ];
        let svg = HeatMap::from_cells(&table(&cells), 10, 10).unwrap().svg();
        assert!(svg.contains("a&lt;b&gt; &amp; c"), "{svg}");
        assert!(svg.contains("0x1000") && svg.contains("0xf000") && svg.contains("16 ns"));
        assert_eq!(svg.matches("<rect x=").count(), 2, "equal cells are one\n{svg}");
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    }
}
