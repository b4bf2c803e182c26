//! CSV as RFC 4180 has it: a line of names, lines that end with CR LF, quotes where needed.

use csv::{Terminator, WriterBuilder};

use crate::{Table, Value};

/// The table with the columns' names in the first line. Shares are fractions of 1; unknown values are empty.
pub fn to_csv(table: &Table) -> String {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    let mut write = |record: Vec<String>| writer.write_record(&record).expect("memory takes every record");
    write(table.columns().map(|column| column.name().to_owned()).collect());
    for row in 0..table.row_count() {
        write(table.columns().map(|column| cell(column.value(row))).collect());
    }
    let bytes = writer.into_inner().expect("memory takes every record");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cell(value: Value) -> String {
    match value {
        Value::None => String::new(),
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;

    #[test]
    fn quotes_and_line_ends_follow_the_standard() {
        let expected = "field,line,accesses,share,source\r\n\
                        arc.ident,123,4567890,0.75,if (arc->ident > BASIC)\r\n\
                        \"node, \"\"x\"\"\",7,12,,\r\n";
        assert_eq!(to_csv(&sample()), expected);
    }
}
