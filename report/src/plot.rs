//! A number over time, in characters.

use crate::text::printable;
use crate::{duration, grouped, Table, TextStyle, Value};

const HEIGHT: usize = 8;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const USUAL_WIDTH: usize = 100;

/// Values of equal parts of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub title: String,
    pub values: Vec<u64>,
    pub from_ns: u64,
    pub width_ns: u64,
}

impl Plot {
    /// From a table with the columns `from_ns` and `width_ns`, in order of time, and a column of values. None without rows.
    pub fn from_table(table: &Table, values: &str) -> Option<Plot> {
        let values = table.column(values)?;
        let (from_ns, width_ns) = (table.column("from_ns")?, table.column("width_ns")?);
        let integer = |value: Value| match value {
            Value::Integer(number) => number,
            _ => 0,
        };
        (table.row_count() > 0).then(|| Plot {
            title: format!("{}: {}", table.title(), values.title()),
            values: (0..table.row_count())
                .map(|row| integer(values.value(row)))
                .collect(),
            from_ns: integer(from_ns.value(0)),
            width_ns: integer(width_ns.value(0)),
        })
    }

    fn end_ns(&self) -> u64 {
        let length = self.width_ns.saturating_mul(self.values.len() as u64);
        self.from_ns.saturating_add(length)
    }
}

impl TextStyle {
    /// Columns as high as the largest value of their part of time.
    pub fn plot(&self, plot: &Plot) -> String {
        let largest = plot.values.iter().copied().max().unwrap_or(0);
        let label = grouped(largest);
        let room = self
            .width
            .unwrap_or(USUAL_WIDTH)
            .saturating_sub(label.len() + 2)
            .max(8);
        let parts = plot.values.len().div_ceil(room).max(1);
        let columns: Vec<u64> = plot
            .values
            .chunks(parts)
            .map(|values| values.iter().copied().max().unwrap_or(0))
            .collect();
        let wide = (room / columns.len().max(1)).max(1);
        let mut text = format!("{}\n", printable(&plot.title));
        for line in (0..HEIGHT).rev() {
            let name = match line {
                0 => "0",
                line if line == HEIGHT - 1 => &label,
                _ => "",
            };
            let cells: String = columns
                .iter()
                .map(|value| block(*value, largest, line).to_string().repeat(wide))
                .collect();
            text += format!("{name:>width$} {cells}", width = label.len()).trim_end();
            text.push('\n');
        }
        let (from, to) = (duration(plot.from_ns), duration(plot.end_ns()));
        let between = (columns.len() * wide)
            .saturating_sub(from.len() + to.len())
            .max(1);
        text + &format!(
            "{}{from}{}{to}\n",
            " ".repeat(label.len() + 1),
            " ".repeat(between)
        )
    }
}

/// What of a column stands in a line; a value that isn't 0 is never blank.
fn block(value: u64, largest: u64, line: usize) -> char {
    let full = (HEIGHT * 8) as u128;
    let height = u128::from(value) * full / u128::from(largest.max(1));
    let height = height.max(u128::from(value > 0)) as usize;
    EIGHTHS[height.saturating_sub(line * 8).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TableBuilder, Unit};

    #[test]
    fn a_plot_in_characters() {
        let table = TableBuilder::new("t", "Live", &[0u64, 1, 650, 1000])
            .integer("from_ns", "", Unit::Count, |_| 0)
            .integer("width_ns", "", Unit::Count, |_| 500)
            .integer("bytes", "bytes", Unit::Bytes, |value| *value)
            .build();
        let style = TextStyle {
            width: Some(15),
            colour: false,
        };
        let expected = "\
Live: bytes
1,000       ██
            ██
          ▁▁██
          ████
          ████
          ████
          ████
    0   ▁▁████
      0 s 2 us
";
        let found = style.plot(&Plot::from_table(&table, "bytes").unwrap());
        assert_eq!(found, expected, "\n{found}");
        assert!(Plot::from_table(&table, "missing").is_none());
    }

    #[test]
    fn any_number_of_values_fits() {
        for count in [1, 7, 1000] {
            let plot = Plot {
                title: "t".into(),
                values: vec![u64::MAX; count],
                from_ns: u64::MAX,
                width_ns: u64::MAX,
            };
            let style = TextStyle {
                width: Some(80),
                colour: false,
            };
            let text = style.plot(&plot);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
