//! The tables, and the sentence above them.

use trackway_report::{grouped, percent, Table, TableBuilder};

use super::comparison::{Code, Comparison, Moved, Part};
use super::Caller;
use crate::model::{demangle, named};
use crate::Findings;

pub(super) fn findings(comparison: &Comparison, top: usize) -> Findings {
    Findings {
        answer: Some(answer(comparison)),
        tables: vec![summary(comparison), parts(comparison, top)],
    }
}

fn all(comparison: &Comparison) -> Moved {
    Moved {
        bytes: comparison.compiled.bytes + comparison.called.bytes + comparison.before + comparison.constants,
        recorded: comparison.compiled.recorded + comparison.called.recorded,
    }
}

fn answer(comparison: &Comparison) -> String {
    let all = all(comparison);
    if all.bytes == 0 {
        return "the program moves no bytes outside of stacks".to_owned();
    }
    let share = percent(all.recorded as f64 / all.bytes as f64);
    let first = format!(
        "{share} of the bytes that the program's machine code moves outside of stacks are recorded ({} of {})",
        grouped(all.recorded),
        grouped(all.bytes)
    );
    match comparison.parts.first().filter(|part| part.moved.missing() > 0) {
        Some(part) => format!("{first}; of the others, most are moved by {}", described(part)),
        None => first,
    }
}

fn described(part: &Part) -> String {
    match &part.code {
        Code::Called { from: Some(from), .. } => format!("{}, called at {}", name(part), place(from)),
        _ => name(part),
    }
}

fn name(part: &Part) -> String {
    match &part.code {
        Code::Compiled(function) => source_name(function),
        Code::Called { callee, .. } if callee.function.is_empty() => {
            format!("code without a name in {}", file_name(&callee.object))
        }
        Code::Called { callee, .. } => source_name(&callee.function),
        Code::Constants => "constants of the compiler".to_owned(),
    }
}

fn source_name(linkage_name: &str) -> String {
    demangle(linkage_name).unwrap_or_else(|| named(linkage_name).to_owned())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn place(caller: &Caller) -> String {
    match caller.line {
        0 => source_name(&caller.function),
        line => format!("{}:{line}", caller.file),
    }
}

fn summary(comparison: &Comparison) -> Table {
    let all = all(comparison);
    let Comparison { compiled, called, .. } = comparison;
    TableBuilder::new(
        "coverage",
        "Bytes that machine code moves outside of stacks",
        &[()],
    )
    .bytes("bytes", |()| all.bytes)
    .bytes("recorded", |()| all.recorded)
    .share("share", |()| (all.recorded, all.bytes))
    .bytes(("compiled_bytes", "by compiled functions"), |()| compiled.bytes)
    .bytes(("compiled_recorded", "of them recorded"), |()| compiled.recorded)
    .bytes(("called_bytes", "by what these call"), |()| called.bytes)
    .bytes(("called_recorded", "of them recorded"), |()| called.recorded)
    .bytes(("allocator_bytes", "by allocators among these"), |()| {
        comparison.allocators.bytes
    })
    .bytes(("allocator_recorded", "of them recorded"), |()| {
        comparison.allocators.recorded
    })
    .bytes(("before", "before compiled functions run"), |()| {
        comparison.before
    })
    .bytes(("constants", "constants of the compiler"), |()| {
        comparison.constants
    })
    .bytes(("offset_table", "not counted: global offset table"), |()| {
        comparison.offset_table
    })
    .as_record()
    .build()
}

fn parts(comparison: &Comparison, top: usize) -> Table {
    let missing = comparison.parts.iter().filter(|part| part.moved.missing() > 0);
    let rows: Vec<&Part> = missing.collect();
    let whole = all(comparison).bytes;
    TableBuilder::top("not_recorded", "Code whose bytes are not recorded", &rows, top)
        .text("function", |part| name(part))
        .path("object", |part| match &part.code {
            Code::Called { callee, .. } => callee.object.clone(),
            _ => String::new(),
        })
        .text(("called_from", "called from"), |part| match &part.code {
            Code::Called { from: Some(from), .. } => place(from),
            _ => String::new(),
        })
        .bytes("bytes", |part| part.moved.bytes)
        .bytes("recorded", |part| part.moved.recorded)
        .bytes(("missing", "not recorded"), |part| part.moved.missing())
        .share(("share", "of all bytes"), |part| (part.moved.missing(), whole))
        .ranked_by("missing")
        .build()
}
