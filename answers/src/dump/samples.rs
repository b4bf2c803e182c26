//! The samples of a trace, a line each.

use std::io::Write;

use serde_json::{json, Value};
use trackway_report::printable;
use trackway_trace::{CodePlace, CodePlaces, Sample, Samples, Trace, WindowAccess, WindowAddress};
use wildmatch::WildMatch;

use super::DumpArguments;
use crate::failure::Failure;
use crate::output;

/// Writes the samples that the arguments choose, in the order of the trace. Reports what can't be read.
pub fn write(out: &mut impl Write, arguments: &DumpArguments, trace: &Trace) -> Result<(), Failure> {
    let (places, damage) = trace.code_places();
    let (chunks, unread) = trace.samples();
    damage.iter().chain(&unread).for_each(output::warn);
    let wanted = arguments.function.as_deref().map(WildMatch::new);
    let samples = chunks
        .iter()
        .flat_map(|chunk| chunk.samples.iter().map(move |sample| (chunk, sample)));
    let count = arguments.count.unwrap_or(u64::MAX);
    for (index, (chunk, sample)) in (0..).zip(samples) {
        if index < arguments.first() || index - arguments.first() >= count {
            continue;
        }
        let place = places.of_sample(sample, sample.time_goes_to());
        if wanted
            .as_ref()
            .is_some_and(|pattern| !pattern.matches(place.function))
        {
            continue;
        }
        let line = match arguments.json {
            true => as_json(index, sample, &place, chunk, &places).to_string(),
            false => as_text(index, sample, &place),
        };
        writeln!(out, "{line}").map_err(Failure::writing)?;
    }
    Ok(())
}

/// Index, time, thread, what the instruction does, the data's address and how it is known, size, weight, accesses of
/// the window, function, file:line or object+offset.
fn as_text(index: u64, sample: &Sample, place: &CodePlace) -> String {
    let address = sample
        .address
        .map_or("-".into(), |address| format!("{address:#x}"));
    let function = match place.function {
        "" => "-".into(),
        function => printable(function),
    };
    let site = match place.file {
        "" => format!("{}+{:#x}", printable(place.object), place.offset),
        file => format!("{}:{}", printable(file), place.line),
    };
    format!(
        "{index:>10} {:>16} {:>8} {:<8} {address:>14} {:<11} {:>4} {:>10} {:>5} {function:<20} {site}",
        sample.time_ns,
        sample.tid,
        sample.direction.name().split(' ').next_back().unwrap_or_default(),
        sample.class.name(),
        sample.size_bytes,
        sample.weight,
        sample.window.len(),
    )
}

fn as_json(index: u64, sample: &Sample, place: &CodePlace, chunk: &Samples, places: &CodePlaces) -> Value {
    let window: Vec<Value> = chunk
        .window_of(sample)
        .iter()
        .map(|access| access_as_json(access, &places.of_sample(sample, access.instruction)))
        .collect();
    json!({
        "sample": index,
        "time_ns": sample.time_ns,
        "pid": sample.pid,
        "tid": sample.tid,
        "processor": sample.processor,
        "event": sample.event,
        "seen_at": sample.seen_at,
        "instruction": sample.instruction,
        "direction": sample.direction.name(),
        "address": sample.address,
        "class": sample.class.name(),
        "size": sample.size_bytes,
        "latency_cycles": sample.latency_cycles,
        "data_source": if sample.data_source.is_known() { Value::from(sample.data_source.to_string()) } else { Value::Null },
        "physical_address": sample.physical_address,
        "weight": sample.weight,
        "object": place.object,
        "offset": place.offset,
        "function": place.function,
        "file": place.file,
        "line": place.line,
        "window_instructions": sample.window_instructions,
        "window_end": sample.window_end.name(),
        "window_speed": sample.window_speed,
        "window_weight": sample.window_weight,
        "window": window,
    })
}

fn access_as_json(access: &WindowAccess, place: &CodePlace) -> Value {
    let is_known = access.known_by != WindowAddress::Unknown;
    json!({
        "instruction": access.instruction,
        "kind": if access.is_store { "store" } else { "load" },
        "address": is_known.then_some(access.address),
        "size": access.size_bytes,
        "memory_read_later": access.known_by == WindowAddress::MemoryReadLater,
        "function": place.function,
        "file": place.file,
        "line": place.line,
    })
}
