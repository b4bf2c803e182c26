//! Large blocks ask for huge pages.

use std::collections::{BTreeMap, BTreeSet};

use trackway_answers::failure::Failure;
use trackway_answers::questions;
use trackway_answers::reading::Following;
use trackway_report::{percent, Table};
use trackway_trace::Trace;

use crate::edits::{distinction, Edits};
use crate::refusal::{Possibly, Refusal};
use crate::source_line::SourceLine;
use crate::structure::above_comments;
use crate::uses::{Span, Use, What};

/// A smaller block may have no place for a page of 2 MiB.
const LEAST_BYTES: u64 = 4 << 20;
/// The prediction is for all memory, so nearly all must be in large blocks.
const LEAST_SHARE: f64 = 0.8;

/// The sites of large blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Large {
    sites: BTreeSet<SourceLine>,
    /// Their part of all bytes that were allocated.
    share: f64,
}

/// Sites whose mean block is large, by what the trace recorded.
///
/// # Errors
/// If the trace can't be asked.
pub fn blocks(trace: &Trace) -> Result<Large, Failure> {
    let report = questions::ask(
        "memory",
        &["--top".into(), "0".into()],
        trace,
        Following::default(),
    )?;
    Ok(report.table("allocations").map(large).unwrap_or_default())
}

fn large(table: &Table) -> Large {
    let count = |column, row| table.integer(column, row).unwrap_or(0);
    let bytes = |row: &usize| count("allocated_bytes", *row);
    let is_large = |row: &usize| bytes(row) / count("allocations", *row).max(1) >= LEAST_BYTES;
    let site = |row| SourceLine {
        file: table.text("file", row).unwrap_or_default().to_owned(),
        line: usize::try_from(count("line", row)).unwrap_or(0),
    };
    let rows = || 0..table.row_count();
    let all: u64 = rows().map(|row| bytes(&row)).sum();
    let in_large: u64 = rows().filter(is_large).map(|row| bytes(&row)).sum();
    Large {
        sites: rows().filter(is_large).map(site).collect(),
        share: in_large as f64 / all.max(1) as f64,
    }
}

/// `calls`: all calls of allocators in the sources.
pub fn edits(large: &Large, calls: &BTreeSet<Use>) -> Possibly<Edits> {
    if large.share < LEAST_SHARE {
        return Err(vec![Refusal::new(format!(
            "blocks of 4 MiB or more are {} of what is allocated; smaller ones are the allocator's: \
             GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment makes it ask",
            percent(large.share)
        ))]);
    }
    let sites = &large.sites;
    let mut edits = Edits::default();
    let mut reasons = Vec::new();
    let mut calls_of_large = Vec::new();
    for site in sites {
        let here: Vec<&Use> = calls.iter().filter(|call| site.has(call)).collect();
        match here[..] {
            [call] => match wrapping(call) {
                Ok(wrapping) => calls_of_large.push((call.file.as_str(), wrapping)),
                Err(reason) => reasons.push(reason),
            },
            _ => {
                let place = Some(site.to_string());
                let why = format!(
                    "{} calls of allocators are here that take sizes alone, not one",
                    here.len()
                );
                reasons.push(Refusal { place, why });
            }
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut wrapped: BTreeMap<(&str, &str, usize), usize> = BTreeMap::new();
    for &(file, (callee, span, arguments, function)) in &calls_of_large {
        let mark = distinction(file, calls_of_large.iter().map(|(file, _)| *file));
        edits.replace(file, span, format!("huge_{callee}{mark}"));
        let first = wrapped.entry((file, callee, arguments)).or_insert(function);
        *first = function.min(*first);
    }
    define(&wrapped, &mut edits)?;
    Ok(edits)
}

/// The allocator's name and its place, the number of its arguments, and the function around the call.
fn wrapping(call: &Use) -> Result<(&str, Span, usize, usize), Refusal> {
    let refuse = |why: &str| Err(Refusal::at(call, why));
    let What::Allocation {
        callee,
        callee_span,
        arguments,
        function,
        ..
    } = &call.what
    else {
        return refuse("no call of an allocator");
    };
    match (callee_span, function) {
        (Some(span), Some(function)) if (1..=2).contains(&arguments.len()) && !callee.contains("realloc") => {
            Ok((callee, *span, arguments.len(), *function))
        }
        (Some(_), Some(_)) => refuse(&format!("{callee} takes more than sizes")),
        _ => refuse("a macro allocates"),
    }
}

/// Writes the functions that allocate and advise, each file's above the first of its own that needs one.
fn define(wrapped: &BTreeMap<(&str, &str, usize), usize>, edits: &mut Edits) -> Possibly<()> {
    let files: BTreeSet<&str> = wrapped.keys().map(|(file, _, _)| *file).collect();
    for file in files {
        let own = || wrapped.iter().filter(|((other, _, _), _)| *other == file);
        let text =
            std::fs::read_to_string(file).map_err(|error| vec![Refusal::new(format!("{file}: {error}"))])?;
        let first = own().map(|(_, function)| *function).min().unwrap_or(0);
        let mark = distinction(file, wrapped.keys().map(|(file, _, _)| *file));
        let mut functions = ADVISING.replace("MARK", &mark);
        for ((_, callee, arguments), _) in own() {
            let (parameters, passed, bytes) = match arguments {
                1 => ("size_t bytes", "bytes", "bytes"),
                // The second is the size, but for aligned_alloc the first is none.
                _ if callee.contains("align") => {
                    ("size_t alignment, size_t bytes", "alignment, bytes", "bytes")
                }
                _ => ("size_t number, size_t size", "number, size", "number * size"),
            };
            functions += &format!(
                "static inline void *huge_{callee}{mark}({parameters}) {{\n    \
                 return with_huge_pages{mark}({callee}({passed}), {bytes});\n}}\n\n"
            );
        }
        edits.insert(file, above_comments(&text, first), functions);
        edits.insert(file, after_includes(&text[..first]), INCLUDES);
    }
    Ok(())
}

const INCLUDES: &str = "#include <stdint.h>\n#include <sys/mman.h>\n#include <unistd.h>\n";
const ADVISING: &str = "/* Huge pages for all whole pages of a block. */
static inline void *with_huge_pagesMARK(void *block, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)block + bytes) / page * page;
    if (block && end > begin)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    return block;
}

";

/// After the last `#include` that no condition of the preprocessor holds.
pub fn after_includes(text: &str) -> usize {
    let (mut at, mut depth, mut after) = (0, 0usize, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        match directive {
            Some(directive) if directive.starts_with("if") => depth += 1,
            Some(directive) if directive.starts_with("endif") => depth = depth.saturating_sub(1),
            Some(directive) if directive.starts_with("include") && depth == 0 => after = at,
            _ => (),
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_come_after_those_that_are_always_there() {
        let text = "#define _GNU_SOURCE\n#include <a.h>\n#if X\n#include <b.h>\n#endif\nint x;\n";
        assert_eq!(
            &text[..after_includes(text)],
            "#define _GNU_SOURCE\n#include <a.h>\n"
        );
        assert_eq!(after_includes("int x;\n"), 0);
    }
}
