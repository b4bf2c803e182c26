//! CSV as RFC 4180 has it: a line of names, lines that end with CR LF, quotes where needed.

use std::borrow::Cow;

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
        Value::Text(text) => guarded(text).into_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
    }
}

/// A text with an apostrophe before it if a spreadsheet would take it for a formula: names of a foreign trace must not
/// become commands. Numbers are never texts, so negative ones stay what they are.
pub fn guarded(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample;
    use crate::TableBuilder;

    #[test]
    fn quotes_and_line_ends_follow_the_standard() {
        let expected = "field,line,accesses,share,source\r\n\
                        arc.ident,123,4567890,0.75,if (arc->ident > BASIC)\r\n\
                        \"node, \"\"x\"\"\",7,12,,\r\n";
        assert_eq!(to_csv(&sample()), expected);
    }

    #[test]
    fn texts_are_no_formulas_and_numbers_stay_numbers() {
        let names = [
            "=1+1",
            "+x",
            "-[Arc init]",
            "@plt",
            "\t=1",
            "\r=1",
            "a=b",
            "'=1",
            "",
        ];
        let table = TableBuilder::new("names", "Names", &names)
            .text("name", |name| (*name).to_owned())
            .change("change", |_| Some(-5))
            .build();
        let expected = "name,change\r\n'=1+1,-5\r\n'+x,-5\r\n'-[Arc init],-5\r\n'@plt,-5\r\n'\t=1,-5\r\n\"'\r=1\",-5\r\n\
                        a=b,-5\r\n'=1,-5\r\n,-5\r\n";
        assert_eq!(to_csv(&table), expected);
    }
}
