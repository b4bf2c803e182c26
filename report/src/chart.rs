//! Columns in characters: a number over time, or a share by size.

use crate::terminal::printable;
use crate::wrapping::wrapped;
use crate::{duration, grouped, Column, Table, TextStyle, Unit, Value};

/// Lines of a chart.
const HEIGHT: usize = 8;
/// Bars that fill 0 to 8 eighths of a line, from below.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters from one labelled column to the next, at least, if there is room.
const LABELLED_WIDTH: usize = 3;
/// Width that is used if the width of lines is not limited.
const USUAL_WIDTH: usize = 100;

/// Columns, each as high as its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    title: String,
    values: Vec<f64>,
    /// What is written beside the highest and the lowest line.
    edges: [String; 2],
    axis: Axis,
}

/// What is written below.
#[derive(Debug, Clone, PartialEq)]
enum Axis {
    /// Columns touch each other; the times of both ends.
    Time { from_ns: u64, to_ns: u64 },
    /// Columns stand apart; a label for each, as far as there is room.
    Labels(Vec<String>),
}

impl Chart {
    /// Makes a chart from a table in the order of time with the columns `from_ns` and `width_ns`, and a column of
    /// values. None without rows.
    pub fn over_time(table: &Table, values: &str) -> Option<Chart> {
        let values = table.column(values)?;
        let (from_ns, width_ns) = (table.column("from_ns")?, table.column("width_ns")?);
        if table.row_count() == 0 {
            return None;
        }
        let counts: Vec<u64> = (0..table.row_count()).map(|row| integer(values, row)).collect();
        let from_ns = integer(from_ns, 0);
        let length = integer(width_ns, 0).saturating_mul(counts.len() as u64);
        let largest = counts.iter().copied().max().unwrap_or(0);
        Some(Chart {
            title: format!("{}: {}", table.title(), values.title()),
            values: counts.into_iter().map(|count| count as f64).collect(),
            edges: [grouped(largest), "0".into()],
            axis: Axis::Time {
                from_ns,
                to_ns: from_ns.saturating_add(length),
            },
        })
    }

    /// Makes a chart of column `y`, shares, over column `x`, whose numbers are written below; with a column for each
    /// row of the table. None if a column or all rows are missing.
    pub fn by_size(table: &Table, x: &str, y: &str) -> Option<Chart> {
        let (x, y) = (table.column(x)?, table.column(y)?);
        if table.row_count() == 0 {
            return None;
        }
        let rows = 0..table.row_count();
        let values: Vec<f64> = rows.clone().map(|row| share(y, row)).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        Some(Chart {
            title: format!("{}: {} by {}", table.title(), y.title(), x.title()),
            values,
            edges: [highest, 0.0].map(|share| format!("{:.1} %", share * 100.0)),
            axis: Axis::Labels(rows.map(|row| size(x, row)).collect()),
        })
    }
}

fn integer(column: Column, row: usize) -> u64 {
    column.integer(row).unwrap_or(0)
}

fn share(column: Column, row: usize) -> f64 {
    match column.value(row) {
        Value::Real(share) if share.is_finite() => share.max(0.0),
        _ => 0.0,
    }
}

fn size(column: Column, row: usize) -> String {
    match (column.value(row), column.unit()) {
        (Value::Integer(bytes), Unit::Bytes) => short_bytes(bytes),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Real(number), _) => format!("{number:.1}"),
        _ => String::new(),
    }
}

/// 32K, 1M: rounded down to whole units.
fn short_bytes(bytes: u64) -> String {
    match bytes {
        0..=1023 => format!("{bytes}"),
        1024..=1_048_575 => format!("{}K", bytes >> 10),
        1_048_576..=1_073_741_823 => format!("{}M", bytes >> 20),
        _ => format!("{}G", bytes >> 30),
    }
}

impl TextStyle {
    /// The chart below its title, within the width. If there is no room for all values, the largest of several
    /// represents them.
    pub fn chart(&self, chart: &Chart) -> String {
        let margin = chart.edges.iter().map(String::len).max().unwrap_or(0);
        let room = self
            .width
            .unwrap_or(USUAL_WIDTH)
            .saturating_sub(margin + 2)
            .max(8);
        let together = chart.values.len().div_ceil(room).max(1);
        let values: Vec<f64> = chart
            .values
            .chunks(together)
            .map(|values| values.iter().copied().fold(0.0, f64::max))
            .collect();
        let column = match &chart.axis {
            Axis::Time { .. } => (room / values.len()).max(1),
            Axis::Labels(labels) => labelled_width(labels).min(room / values.len()).max(1),
        };
        let gap = match chart.axis {
            Axis::Labels(_) if column > 1 => 1,
            _ => 0,
        };
        let (side, corner, line) = if self.unicode {
            ('│', '└', "─")
        } else {
            ('|', '+', "-")
        };
        let title = wrapped(&printable(&chart.title), self.width.unwrap_or(usize::MAX));
        let mut text = title.join("\n") + "\n";
        for row in (0..HEIGHT).rev() {
            let edge = match row {
                0 => &chart.edges[1],
                row if row == HEIGHT - 1 => &chart.edges[0],
                _ => "",
            };
            let cells = self.line_of_chart(&values, row, column - gap, gap);
            text += format!("{edge:>margin$} {side}{cells}").trim_end();
            text.push('\n');
        }
        let blank = " ".repeat(margin + 1);
        let width = values.len() * column;
        let below = below(&chart.axis, column, width, together);
        text + &format!("{blank}{corner}{}\n{blank} {below}\n", line.repeat(width))
    }

    fn line_of_chart(&self, values: &[f64], row: usize, wide: usize, gap: usize) -> String {
        let highest = values.iter().copied().fold(0.0, f64::max);
        let cell = |value: &f64| {
            let cell = self.part_of_column(*value, highest, row);
            cell.to_string().repeat(wide) + &" ".repeat(gap)
        };
        values.iter().map(cell).collect()
    }

    /// The part of a column that is in a line; a value that isn't 0 is never blank.
    fn part_of_column(&self, value: f64, highest: f64, row: usize) -> char {
        if value <= 0.0 {
            return ' ';
        }
        let steps = if self.unicode { 8 } else { 1 };
        let height = (value / highest * (HEIGHT * steps) as f64).round().max(1.0) as usize;
        match height.saturating_sub(row * steps).min(steps) {
            0 => ' ',
            _ if !self.unicode => '#',
            eighths => EIGHTHS[eighths],
        }
    }
}

/// Room for each label and a blank.
fn labelled_width(labels: &[String]) -> usize {
    let longest = labels.iter().map(String::len).max().unwrap_or(0);
    LABELLED_WIDTH.max(longest + 1)
}

fn below(axis: &Axis, column: usize, width: usize, together: usize) -> String {
    match axis {
        Axis::Time { from_ns, to_ns } => {
            let (from, to) = (duration(*from_ns), duration(*to_ns));
            let between = width.saturating_sub(from.len() + to.len()).max(1);
            format!("{from}{}{to}", " ".repeat(between))
        }
        Axis::Labels(labels) => {
            let labels = labels.iter().step_by(together);
            let mut text = String::new();
            for (label, from) in labels.zip((0..).step_by(column)) {
                let blank = from - text.len().min(from);
                if blank > 0 || text.is_empty() {
                    text += &" ".repeat(blank);
                    text += label;
                }
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    const PLAIN: TextStyle = TextStyle {
        width: Some(80),
        ..TextStyle::PLAIN
    };

    fn live(values: &[u64]) -> Table {
        TableBuilder::new("t", "Live", values)
            .count(("from_ns", ""), |_| 0)
            .count(("width_ns", ""), |_| 500)
            .bytes("bytes", |value| *value)
            .build()
    }

    fn curve(rows: &[(u64, u64)]) -> Table {
        TableBuilder::new("curve", "Curve", rows)
            .bytes(("size", "bytes"), |row| row.0)
            .share(("ratio", "miss ratio"), |row| (row.1, 8))
            .build()
    }

    #[test]
    fn a_number_over_time() {
        let style = TextStyle {
            width: Some(16),
            ..PLAIN
        };
        let expected = "\
Live: bytes
1,000 │      ██
      │      ██
      │    ▂▂██
      │    ████
      │    ████
      │    ████
      │    ████
    0 │  ▁▁████
      └────────
       0 s 2 us
";
        let found = style.chart(&Chart::over_time(&live(&[0, 1, 650, 1000]), "bytes").unwrap());
        assert_eq!(found, expected, "\n{found}");
    }

    #[test]
    fn columns_stand_over_their_sizes() {
        let expected = "\
Curve: miss ratio by bytes
50.0 % │██
       │██
       │██ ██
       │██ ██
       │██ ██
       │██ ██
       │██ ██ ██
 0.0 % │██ ██ ██
       └────────────
        64 2K 4K 3M
";
        let table = curve(&[(64, 4), (2048, 3), (4096, 1), (3 << 20, 0)]);
        let chart = Chart::by_size(&table, "size", "ratio").unwrap();
        assert_eq!(PLAIN.chart(&chart), expected);
        let plain = TextStyle {
            unicode: false,
            ..PLAIN
        };
        let text = plain.chart(&chart);
        assert!(text.is_ascii());
        assert!(
            text.contains("|## ##\n       |## ## ##\n 0.0 % |## ## ##\n"),
            "{text}"
        );
    }

    #[test]
    fn all_labels_are_shown_where_there_is_room() {
        let rows: Vec<(u64, u64)> = (6..18).map(|power| (1 << power, 4)).collect();
        let text = PLAIN.chart(&Chart::by_size(&curve(&rows), "size", "ratio").unwrap());
        let labels: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(
            labels,
            ["64", "128", "256", "512", "1K", "2K", "4K", "8K", "16K", "32K", "64K", "128K"]
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn labels_are_left_out_where_they_would_touch() {
        let rows: Vec<(u64, u64)> = (0..40).map(|power| (1 << power, power % 8)).collect();
        let chart = Chart::by_size(&curve(&rows), "size", "ratio").unwrap();
        for width in [20, 60, 80, 200] {
            let style = TextStyle {
                width: Some(width),
                ..PLAIN
            };
            let text = style.chart(&chart);
            let labels = text.lines().last().unwrap();
            assert!(labels.split_whitespace().all(|label| label.len() <= 4), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= width + 3),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(Chart::by_size(&curve(&[(1, 1)]), "size", "speed"), None);
        assert_eq!(Chart::by_size(&curve(&[]), "size", "ratio"), None);
        assert_eq!(Chart::over_time(&live(&[1]), "missing"), None);
        assert_eq!(Chart::over_time(&live(&[]), "bytes"), None);
        let zero = Chart::by_size(&curve(&[(1, 0)]), "size", "ratio").unwrap();
        assert!(PLAIN.chart(&zero).contains("0.0 % │\n"));
    }

    #[test]
    fn any_number_of_values_fits() {
        for count in [1, 7, 1000] {
            let rows = vec![u64::MAX; count];
            let table = TableBuilder::new("t", "t", &rows)
                .count(("from_ns", ""), |row| *row)
                .count(("width_ns", ""), |row| *row)
                .bytes("bytes", |row| *row)
                .build();
            let text = PLAIN.chart(&Chart::over_time(&table, "bytes").unwrap());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
