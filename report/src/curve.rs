//! Curves as text.

use crate::{Table, Unit, Value};

/// Eighths of a character cell, from below.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters for each row of the table.
const CELLS: usize = 3;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct CurveStyle {
    /// Height in characters.
    pub rows: usize,
    /// Whether there are characters beyond ASCII.
    pub unicode: bool,
}

/// Draws column `y`, shares, as bars over column `x`, whose numbers are written below; a bar for each row of the table. None
/// if a column or all rows are missing.
pub fn draw_curve(table: &Table, x: &str, y: &str, style: CurveStyle) -> Option<String> {
    let (x, y) = (table.column(x)?, table.column(y)?);
    let rows = 0..table.row_count();
    let heights: Vec<f64> = rows.clone().map(|row| share(y.value(row))).collect();
    let labels: Vec<String> = rows.map(|row| label(x.value(row), x.unit())).collect();
    let highest = heights.iter().copied().fold(0.0, f64::max);
    if heights.is_empty() || style.rows == 0 {
        return None;
    }
    let mut text = format!("{} by {}\n", y.title(), x.title());
    for row in (0..style.rows).rev() {
        let edge = match row {
            _ if row + 1 == style.rows => format!("{:5.1} % ", highest * 100.0),
            0 => "  0.0 % ".into(),
            _ => "        ".into(),
        };
        text += &edge;
        text.push(if style.unicode { '│' } else { '|' });
        let bars: String = heights
            .iter()
            .map(|height| bar(height / highest, row, style))
            .collect();
        text += bars.trim_end();
        text.push('\n');
    }
    text += &axis(&labels, style.unicode);
    Some(text)
}

fn share(value: Value) -> f64 {
    match value {
        Value::Real(share) if share.is_finite() => share.max(0.0),
        _ => 0.0,
    }
}

/// The part of a bar that lies in a row.
fn bar(height: f64, row: usize, style: CurveStyle) -> String {
    let height = if height.is_finite() { height } else { 0.0 };
    let within = height * style.rows as f64 - row as f64;
    let cell = if style.unicode {
        BLOCKS[(within * 8.0).round().clamp(0.0, 8.0) as usize]
    } else if within >= 0.5 {
        '#'
    } else {
        ' '
    };
    cell.to_string().repeat(CELLS - 1) + " "
}

/// As many labels as fit below their bars.
fn axis(labels: &[String], unicode: bool) -> String {
    let (corner, line) = if unicode { ('└', "─") } else { ('+', "-") };
    let mut text = format!("        {corner}{}\n         ", line.repeat(CELLS * labels.len()));
    let mut written = 0;
    for (number, label) in labels.iter().enumerate() {
        let from = CELLS * number;
        if from >= written {
            text += &" ".repeat(from - written);
            text += label;
            text.push(' ');
            written = from + label.len() + 1;
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn label(value: Value, unit: Unit) -> String {
    match (value, unit) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    fn sample() -> Table {
        let rows = [(64u64, 4u64), (2048, 3), (4096, 1), (3 << 20, 0)];
        TableBuilder::new("curve", "Curve", &rows)
            .integer("size", "bytes", Unit::Bytes, |row| row.0)
            .share("ratio", "miss ratio", |row| (row.1, 8))
            .build()
    }

    #[test]
    fn bars_stand_over_their_sizes() {
        let style = CurveStyle {
            rows: 2,
            unicode: true,
        };
        let expected = "\
miss ratio by bytes
 50.0 % │██ ▄▄
  0.0 % │██ ██ ▄▄
        └────────────
         64 2K 4K 3M
";
        assert_eq!(draw_curve(&sample(), "size", "ratio", style).unwrap(), expected);
    }

    #[test]
    fn plain_text_has_no_other_characters() {
        let style = CurveStyle {
            rows: 4,
            unicode: false,
        };
        let text = draw_curve(&sample(), "size", "ratio", style).unwrap();
        assert!(text.is_ascii());
        assert!(text.contains("        |## ##\n  0.0 % |## ## ##\n"), "{text}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let style = CurveStyle {
            rows: 2,
            unicode: true,
        };
        assert_eq!(draw_curve(&sample(), "size", "speed", style), None);
        let empty = TableBuilder::new("curve", "Curve", &[] as &[u64])
            .integer("size", "bytes", Unit::Bytes, |row| *row)
            .share("ratio", "miss ratio", |row| (*row, 8))
            .build();
        assert_eq!(draw_curve(&empty, "size", "ratio", style), None);
        let zero = TableBuilder::new("curve", "Curve", &[1u64])
            .integer("size", "bytes", Unit::Bytes, |row| *row)
            .share("ratio", "miss ratio", |_| (0, 8))
            .build();
        assert!(draw_curve(&zero, "size", "ratio", style)
            .unwrap()
            .contains("0.0 % │\n"));
    }
}
