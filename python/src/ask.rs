//! Questions: what the verbs of the command line ask a trace, with the same options.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use trackway_analysis::Observer;
use trackway_answers::failure::Failure;
use trackway_answers::questions as verbs;
use trackway_answers::reading::Following;

use crate::errors::failure;
use crate::report::Report;
use crate::trace::Trace;

/// Time from one check for Ctrl-C, and report of the progress, to the next.
const PULSE: Duration = Duration::from_millis(20);

/// What the verb `name` would say of the trace, with these words for its options.
#[pyfunction]
#[pyo3(signature = (trace, name, words, progress=None))]
pub fn ask(
    py: Python,
    trace: &Trace,
    name: String,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let tables = trace.tables().clone();
    let answer = move |following| verbs::ask(&name, &words, tables.trace(), following);
    answer_beside(py, progress.as_ref(), answer).map(Report::from)
}

/// Whether a trace, a saved report, or each trace of a folder keeps to budgets, as `trackway check`.
#[pyfunction]
#[pyo3(signature = (path, words, progress=None))]
pub fn check(py: Python, path: PathBuf, words: Vec<String>, progress: Option<Py<PyAny>>) -> PyResult<Report> {
    let answer = move |following| verbs::ask_check(&path, &words, following);
    answer_beside(py, progress.as_ref(), answer).map(Report::from)
}

/// What changed between two traces or saved reports, as `trackway diff`.
#[pyfunction]
#[pyo3(signature = (before, after, words, progress=None))]
pub fn diff(
    py: Python,
    before: PathBuf,
    after: PathBuf,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let answer = move |following| verbs::ask_diff(&before, &after, &words, following);
    answer_beside(py, progress.as_ref(), answer).map(Report::from)
}

/// The names of a verb's options, as the command line writes them; None if there is no such verb.
#[pyfunction]
pub fn options(name: &str) -> Option<Vec<String>> {
    verbs::options(name)
}

/// What a verb that `ask` knows asks, in a line; None if it knows no such verb.
#[pyfunction]
pub fn about(name: &str) -> Option<String> {
    verbs::about(name)
}

/// Names of the verbs that `ask` knows.
#[pyfunction]
pub fn questions() -> Vec<&'static str> {
    verbs::names()
}

/// Answers in another thread, so that this one can hear of signals. `progress` gets bytes done and bytes in all.
pub fn answer_beside<A: Send>(
    py: Python,
    progress: Option<&Py<PyAny>>,
    answer: impl FnOnce(Following) -> Result<A, Failure> + Send,
) -> PyResult<A> {
    let pace = Arc::new(Pace::default());
    let following = Following(Some(pace.clone()));
    let asking = thread::current();
    let answered = thread::scope(|scope| {
        let answering = scope.spawn(move || {
            let answer = answer(following);
            asking.unpark();
            answer
        });
        let mut heard = Ok(());
        while !answering.is_finished() {
            py.detach(|| thread::park_timeout(PULSE));
            if heard.is_ok() {
                heard = py.check_signals().and_then(|()| tell(py, progress, &pace));
                pace.is_stopped.store(heard.is_err(), Relaxed);
            }
        }
        heard.map(|()| answering.join())
    })?;
    let answered = answered.map_err(|_| PyRuntimeError::new_err("the analysis ended before time"))?;
    answered.map_err(|error| failure(&error))
}

fn tell(py: Python, progress: Option<&Py<PyAny>>, pace: &Pace) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1(py, (pace.done_bytes.load(Relaxed), pace.all_bytes.load(Relaxed)))?;
    }
    Ok(())
}

/// How far an analysis is.
#[derive(Default)]
struct Pace {
    done_bytes: AtomicU64,
    all_bytes: AtomicU64,
    is_stopped: AtomicBool,
}

impl Observer for Pace {
    fn begin(&self, bytes: u64) {
        self.all_bytes.fetch_add(bytes, Relaxed);
    }

    fn advance(&self, _accesses: u64, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }
}
