//! Reports if the program died because it overflowed its stack.

use trackway_analysis::overflow::{find, Circumstances, Evidence, Overflow};
use trackway_answers::output;
use trackway_recorder::{Output, ProgramEnd, RecordOptions, RecordSummary};
use trackway_report::grouped;
use trackway_trace::Trace;

const SIGSEGV: i32 = 11;
const REMEDY: &str =
    "Raise the limit with `ulimit -s`, for threads with pthread_attr_setstacksize or OMP_STACKSIZE";

/// Looks at the trace only if the program died by SIGSEGV, and if there is a file that holds all that was recorded.
pub fn warn(summary: &RecordSummary, options: &RecordOptions) {
    let (Output::File { path, .. }, Some(stack_limit_bytes)) =
        (&options.output, summary.remains.stack_limit_bytes)
    else {
        return;
    };
    let is_complete = summary.damage.is_none() && summary.write_failure.is_none();
    if summary.program_end != ProgramEnd::Signalled(SIGSEGV) || !is_complete {
        return;
    }
    let circumstances = Circumstances {
        stack_limit_bytes,
        peak_memory_bytes: summary.remains.peak_memory_bytes,
    };
    // A trace that can't be opened is reported when it is read.
    let overflow = Trace::open(path)
        .ok()
        .and_then(|trace| find(&trace, &circumstances));
    if let Some(overflow) = overflow {
        output::warn(message(&overflow, stack_limit_bytes));
    }
}

fn message(overflow: &Overflow, limit_bytes: u64) -> String {
    let limit = mebibytes(limit_bytes);
    let function = &overflow.function;
    match &overflow.evidence {
        Evidence::Reached { depth_bytes, place } => {
            let depth = mebibytes(*depth_bytes);
            let place = place
                .as_ref()
                .map_or_else(String::new, |place| format!(" at {place}"));
            format!(
                "the program overflowed its stack ({limit}): it was {depth} below its first frame, in {function}{place}. \
                 {REMEDY}, or compile with -O1."
            )
        }
        Evidence::Deep {
            calls,
            is_all,
            bytes_per_call,
        } => {
            let (at_least, at_most) = match is_all {
                true => ("", ""),
                false => ("at least ", "at most "),
            };
            format!(
                "the program died {at_least}{} calls deep in {function}, most likely of a stack overflow: {limit} is \
                 {at_most}{bytes_per_call} bytes for each call. {REMEDY}.",
                grouped(*calls)
            )
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10) >> 20;
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
            depth_bytes: (32 << 20) - 5000,
            place: Some("recursion.c:12".into()),
        });
        let text = message(&reached, 32 << 20);
        assert!(text.starts_with(
            "the program overflowed its stack (32 MiB): it was 31.9 MiB below its first frame, in is_even at \
             recursion.c:12. Raise the limit with `ulimit -s`"
        ));
        let deep = |is_all| {
            let evidence = Evidence::Deep {
                calls: 1_048_576,
                is_all,
                bytes_per_call: 32,
            };
            message(&overflow(evidence), 32 << 20)
        };
        assert!(deep(true).starts_with(
            "the program died 1,048,576 calls deep in is_even, most likely of a stack overflow: 32 MiB is 32 bytes for each \
             call. Raise"
        ));
        assert!(deep(false).contains("at least 1,048,576 calls deep"));
        assert!(deep(false).contains("is at most 32 bytes for each call"));
    }

    #[test]
    fn sizes_are_rounded_down() {
        assert_eq!(mebibytes(8 << 20), "8 MiB");
        assert_eq!(mebibytes((8 << 20) - 1), "7.9 MiB");
        assert_eq!(mebibytes(1000), "0 MiB");
    }
}
