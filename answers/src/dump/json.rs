//! Lines for programs: a JSON object each. Addresses are hexadecimal strings, as JSON's numbers end at 2^53 in many
//! readers.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::line::Line;

/// Writes a line. Members that a kind of event doesn't have, or that are unknown, are left out.
pub fn write(output: &mut impl Write, line: &Line) -> io::Result<()> {
    let mut object = Map::new();
    let hexadecimal = |address: u64| Value::from(format!("{address:#x}"));
    object.insert("index".into(), line.index.into());
    object.insert("stream".into(), line.stream.into());
    object.insert("kind".into(), line.kind.into());
    let optional = [
        ("address", line.address.map(hexadecimal)),
        ("old_address", line.old_address.map(hexadecimal)),
        ("size", line.size.map(Value::from)),
        ("by", known(line.by)),
        ("region", known(line.region)),
        ("time_ns", line.time_ns.map(Value::from)),
        ("value", line.value.as_deref().map(Value::from)),
        ("site", line.site.map(Value::from)),
        ("variable", known(line.variable)),
        ("field", known(&line.field)),
        ("element_type", known(line.element_type)),
        ("function", known(&line.function)),
        ("instruction", line.instruction.as_deref().map(Value::from)),
        ("file", known(line.file)),
        ("line", (line.line > 0).then(|| line.line.into())),
        ("column", (line.column > 0).then(|| line.column.into())),
        ("uncertain", line.uncertain.then_some(Value::Bool(true))),
    ];
    object.extend(
        optional
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?))),
    );
    serde_json::to_writer(&mut *output, &object)?;
    output.write_all(b"\n")
}

fn known(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}
