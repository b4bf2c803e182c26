//! The page that `trackway run` writes beside the trace, if that is quick.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trackway_answers::advise::KnownAdvice;
use trackway_answers::progress::record_bytes;
use trackway_answers::questions::options_from;
use trackway_trace::Trace;
use trackway_view::ViewArguments;

use crate::failure::Failure;
use crate::output;
use crate::run_arguments::RunArguments;

/// What a page takes for each byte of records, once it is known what to change: lua, bzip2 and RapidJSON took 110 to 290 ns
/// on two processors of an AMD EPYC that had other work, too.
const NS_PER_BYTE: u64 = 250;
/// A page that takes longer is written on request.
const QUICK: Duration = Duration::from_secs(5);

/// Whether a page is to be written. What counts and samples have in chunks of records is little.
pub fn is_wanted(arguments: &RunArguments, trace: &Trace) -> bool {
    arguments.page || (!arguments.no_page && is_quick(record_bytes(trace)))
}

fn is_quick(bytes: u64) -> bool {
    Duration::from_nanos(bytes.saturating_mul(NS_PER_BYTE)) < QUICK
}

/// Writes the page, and returns where it lies. If that fails, a message says why: the answer counts, whatever comes of the page.
pub fn write(arguments: &RunArguments, path: &Path, advice: Option<&KnownAdvice>) -> Option<PathBuf> {
    let written = options(arguments, path).and_then(|asked| {
        let trace = Trace::open(path)?;
        trackway_view::write_page(&asked, &trace, advice.map(KnownAdvice::of_page))
    });
    written.map_err(output::say).ok()
}

/// The page looks for changes where `run` did.
fn options(arguments: &RunArguments, trace: &Path) -> Result<ViewArguments, Failure> {
    let mut words = vec![format!("--look={}", arguments.look)];
    let machine = arguments.machine.iter();
    words.extend(machine.map(|machine| format!("--machine={machine}")));
    let flags = [(arguments.force, "--force"), (arguments.quiet, "--quiet")];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    words.extend(set.map(|(_, flag)| flag.to_owned()));
    options_from("view", &words, &[trace.as_os_str()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_short_recordings_are_quick() {
        assert!(is_quick(0));
        assert!(is_quick(19_000_000));
        assert!(!is_quick(20_000_000));
        assert!(!is_quick(u64::MAX));
    }
}
