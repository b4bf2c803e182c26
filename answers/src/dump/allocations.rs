//! Calls of allocators, a line each.

use std::io::{self, Write};

use serde_json::{Map, Value};
use trackway_trace::allocations::{AllocationEvent, AllocationEvents, Stack};
use trackway_trace::Trace;

use super::DumpArguments;
use crate::failure::Failure;
use crate::output;

/// Prints the calls of all streams, or of the chosen one, in the order of time.
pub fn print(trace: &Trace, arguments: &DumpArguments, output: &mut impl Write) -> Result<(), Failure> {
    let wanted = |stream: u32| arguments.stream.is_none_or(|chosen| chosen == stream);
    let mut events = AllocationEvents::of(trace, |stream| wanted(stream.stream));
    let mut index = 0;
    let end = arguments
        .count
        .map_or(u64::MAX, |count| arguments.first().saturating_add(count));
    while index < end {
        let event = match events.next_event() {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) => {
                output.flush().map_err(Failure::writing)?;
                output::warn(error);
                continue;
            }
        };
        if index >= arguments.first() {
            let stack = events.stacks().get(event.stack);
            let written = match arguments.json {
                true => write_json(output, index, &event, stack),
                false => write_text(output, index, &event, stack),
            };
            written.map_err(Failure::writing)?;
        }
        index += 1;
    }
    Ok(())
}

/// Index, stream, thread, nanoseconds, action, called function, address, size, former address, frames; `-` for missing
/// values.
fn write_text(output: &mut impl Write, index: u64, event: &AllocationEvent, stack: &Stack) -> io::Result<()> {
    let parts = event.what.parts();
    let address = |address: Option<u64>| address.map_or("-".into(), |address| format!("{address:#x}"));
    let by = match event.by.name() {
        "" => "-",
        name => name,
    };
    write!(
        output,
        "{index:>10} {:>3} {:>7} {:>15} {:<12} {by:<17} {:>14} {:>10} {:>14}",
        event.stream,
        event.thread,
        event.time_ns,
        parts.kind,
        address(parts.address),
        parts.size.map_or("-".into(), |size| size.to_string()),
        address(parts.old_address),
    )?;
    stack
        .frames
        .iter()
        .try_for_each(|frame| write!(output, " {frame:#x}"))?;
    writeln!(output)
}

fn write_json(output: &mut impl Write, index: u64, event: &AllocationEvent, stack: &Stack) -> io::Result<()> {
    let parts = event.what.parts();
    let hexadecimal = |address: u64| Value::from(format!("{address:#x}"));
    let mut object = Map::new();
    let members = [
        ("index", Some(index.into())),
        ("stream", Some(event.stream.into())),
        ("process", Some(event.process.into())),
        ("thread", Some(event.thread.into())),
        ("time_ns", Some(event.time_ns.into())),
        ("kind", Some(parts.kind.into())),
        (
            "by",
            Some(event.by.name())
                .filter(|name| !name.is_empty())
                .map(Value::from),
        ),
        ("address", parts.address.map(hexadecimal)),
        ("old_address", parts.old_address.map(hexadecimal)),
        ("size", parts.size.map(Value::from)),
        (
            "stack",
            Some(stack.frames.iter().copied().map(hexadecimal).collect()),
        ),
    ];
    for (name, value) in members {
        object.extend(value.map(|value| (name.to_owned(), value)));
    }
    serde_json::to_writer(&mut *output, &object)?;
    output.write_all(b"\n")
}
