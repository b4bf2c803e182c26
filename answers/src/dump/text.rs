//! Lines for people: columns of fixed order, separated by at least one space.

use std::io::{self, Write};

use trackway_report::printable;

use super::line::Line;

/// Index, stream, kind, address, size, variable, field or what threads synchronise by or are in, function, file:line, value; `-` for
/// what is unknown, nothing for values that were not recorded.
pub fn write(output: &mut impl Write, line: &Line) -> io::Result<()> {
    let address = line.address.map_or("-".into(), |address| format!("{address:#x}"));
    let size = line.size.map_or("-".into(), |size| size.to_string());
    let kind = if line.uncertain {
        format!("{}?", line.kind)
    } else {
        line.kind.to_owned()
    };
    write!(
        output,
        "{:>10} {:>3} {kind:<10} {address:>14} {size:>6} ",
        line.index, line.stream
    )?;
    let names = [line.by, line.region, &line.field];
    let field = names
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default();
    write!(
        output,
        "{:<16} {:<20} {:<20} ",
        text(line.variable),
        text(field),
        text(&line.function)
    )?;
    match (line.file, line.line) {
        ("", _) => write!(
            output,
            "{}",
            line.instruction.as_deref().map_or("-".into(), printable)
        ),
        (file, 0) => write!(output, "{}", printable(file)),
        (file, number) => write!(output, "{}:{number}", printable(file)),
    }?;
    match &line.value {
        Some(value) => writeln!(output, " = {value}"),
        None => writeln!(output),
    }
}

fn text(name: &str) -> String {
    if name.is_empty() {
        "-".into()
    } else {
        printable(name)
    }
}
