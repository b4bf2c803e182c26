//! Reports if the program died because it overflowed its stack.

use trackway_analysis::overflow::{find, Circumstances, Evidence, Overflow};
use trackway_answers::output;
use trackway_recorder::{CountsSummary, Output, ProgramEnd, RecordOptions, RecordSummary};
use trackway_report::grouped;
use trackway_trace::Trace;

const SIGSEGV: i32 = 11;
const MEBIBYTE: u64 = 1 << 20;
const REMEDY: &str =
    "Raise the limit with `ulimit -s`, for threads with pthread_attr_setstacksize or OMP_STACKSIZE";

/// Reports that the stack overflowed of the program, or of a process that it started; says so if SIGSEGV ended the
/// program and its trace can't show whether that was why.
pub fn warn(summary: &RecordSummary, options: &RecordOptions) {
    if summary.program_end == ProgramEnd::Signalled(SIGSEGV) && summary.instrumented {
        warn_of_program(summary, options);
    } else if summary.interrupted_in_children > 0 && !summary.interrupted {
        warn_of_children(summary, options);
    }
}

fn warn_of_program(summary: &RecordSummary, options: &RecordOptions) {
    match look(summary, options, false) {
        Ok(Some(overflow)) => output::warn(message("the program", &overflow)),
        Ok(None) => {}
        Err(reason) => output::warn(format!(
            "the program died by SIGSEGV, and {reason}: whether its stack overflowed is not known. If it did: {REMEDY}."
        )),
    }
}

/// Only their parents learn how they ended. So an overflow is reported if an access near the end of the stack shows it.
fn warn_of_children(summary: &RecordSummary, options: &RecordOptions) {
    if let Ok(Some(overflow)) = look(summary, options, true) {
        if overflow.is_sure() {
            output::warn(message("a process that the program started", &overflow));
        }
    }
}

/// The overflow that ended the program, if one did, or why that can't be known.
fn look(
    summary: &RecordSummary,
    options: &RecordOptions,
    in_child: bool,
) -> Result<Option<Overflow>, &'static str> {
    let Output::File { path, .. } = &options.output else {
        return Err("there is no trace here");
    };
    let circumstances = Circumstances {
        stack_limit_bytes: summary.remains.stack_limit_bytes,
        thread_stacks: summary.thread_stacks.clone(),
        // The system tells that of the program only.
        peak_memory_bytes: if in_child {
            0
        } else {
            summary.remains.peak_memory_bytes
        },
        in_child,
    };
    if summary.damage.is_some() || summary.write_failure.is_some() {
        return Err("records are missing");
    }
    if summary.counts != CountsSummary::default() {
        return Err("it only counted");
    }
    // A trace that can't be opened is reported when it is read.
    let Ok(trace) = Trace::open(path) else {
        return Ok(None);
    };
    if trace.program().modules.iter().all(|module| !module.calls) {
        return Err("its calls were not recorded (--calls=0)");
    }
    match find(&trace, &circumstances) {
        None if circumstances.stack_limit_bytes.is_none() => Err("its stack had no limit"),
        found => Ok(found),
    }
}

/// `whose`: the process, as the subject of the sentence.
fn message(whose: &str, overflow: &Overflow) -> String {
    let function = &overflow.function;
    let at_least = |is_all| match is_all {
        true => "",
        false => "at least ",
    };
    match &overflow.evidence {
        Evidence::Reached {
            size_bytes,
            depth_bytes,
            place,
        } => {
            let (limit, depth) = (size(*size_bytes), size(*depth_bytes));
            let place = place
                .as_ref()
                .map_or_else(String::new, |place| format!(" at {place}"));
            format!(
                "{whose} overflowed its stack ({limit}): it was {depth} below its first frame, in {function}{place}. \
                 {REMEDY}, or compile with -O1."
            )
        }
        Evidence::Deep {
            size_bytes,
            calls,
            is_all,
            bytes_per_call,
        } => {
            let at_most = match is_all {
                true => "",
                false => "at most ",
            };
            format!(
                "{whose} died {}{} calls deep in {function}, most likely of a stack overflow: {} is {at_most}{bytes_per_call} \
                 bytes for each call. {REMEDY}.",
                at_least(*is_all),
                grouped(*calls),
                size(*size_bytes)
            )
        }
        Evidence::UnknownStack { calls, is_all } => format!(
            "{whose} died {}{} calls deep in {function}, on a thread whose stack may have another size than the limit: whether \
             it overflowed is not known. If it did: {REMEDY}.",
            at_least(*is_all),
            grouped(*calls)
        ),
    }
}

/// To the nearest tenth of a MiB, or to the nearest KiB.
fn size(bytes: u64) -> String {
    if bytes < MEBIBYTE {
        return format!("{} KiB", (bytes + 512) >> 10);
    }
    let tenths = (u128::from(bytes) * 10 + u128::from(MEBIBYTE) / 2) >> 20;
    match tenths % 10 {
        0 => format!("{} MiB", tenths / 10),
        tenth => format!("{}.{tenth} MiB", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overflow(evidence: Evidence) -> Overflow {
        Overflow {
            evidence,
            function: "is_even".into(),
        }
    }

    #[test]
    fn messages_say_what_they_rest_on() {
        let reached = overflow(Evidence::Reached {
            size_bytes: 32 << 20,
            depth_bytes: (32 << 20) - 100_000,
            place: Some("recursion.c:12".into()),
        });
        let text = message("the program", &reached);
        assert!(text.starts_with(
            "the program overflowed its stack (32 MiB): it was 31.9 MiB below its first frame, in is_even at \
             recursion.c:12. Raise the limit with `ulimit -s`"
        ));
        let deep = |is_all| {
            let evidence = Evidence::Deep {
                size_bytes: 32 << 20,
                calls: 1_048_576,
                is_all,
                bytes_per_call: 32,
            };
            message("the program", &overflow(evidence))
        };
        assert!(deep(true).starts_with(
            "the program died 1,048,576 calls deep in is_even, most likely of a stack overflow: 32 MiB is 32 bytes for each \
             call. Raise"
        ));
        assert!(deep(false).contains("at least 1,048,576 calls deep"));
        assert!(deep(false).contains("is at most 32 bytes for each call"));
    }

    #[test]
    fn what_is_unknown_is_called_so() {
        let unknown = overflow(Evidence::UnknownStack {
            calls: 20_000,
            is_all: true,
        });
        assert!(message("the program", &unknown)
            .starts_with("the program died 20,000 calls deep in is_even, on a thread whose stack"));
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(size(8 << 20), "8 MiB");
        assert_eq!(size((8 << 20) - 4096), "8 MiB");
        assert_eq!(size((8 << 20) - 100_000), "7.9 MiB");
        assert_eq!(size((256 << 10) - 4096), "252 KiB");
        assert_eq!(size(100), "0 KiB");
    }
}
