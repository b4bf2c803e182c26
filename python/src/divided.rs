//! Analyses whose work is divided between processes; `trackway.spark` does that.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trackway_analysis::partial::{PartialError, Partitioned, Task};
use trackway_analysis::WorkPart;
use trackway_answers::divided;
use trackway_answers::questions;

use crate::errors::{failure, trace_error};
use crate::report::Report;

/// Blocks of sifted accesses that wait for Python, a quarter of a mebibyte each.
const WAITING_BLOCKS: usize = 16;

/// A question to a trace, whose work is divided.
#[pyclass(frozen, module = "trackway")]
pub struct Divided {
    work: Arc<dyn divided::Divided>,
}

#[pymethods]
impl Divided {
    /// Opens the trace; `words` are the options of the verb `name`.
    #[new]
    fn new(py: Python, path: PathBuf, name: &str, words: Vec<String>) -> PyResult<Divided> {
        let opened = py.detach(|| trackway_trace::Trace::open(&path));
        let trace = Arc::new(opened.map_err(|error| trace_error(&error))?);
        let work = questions::divided(name, &words, trace).map_err(|error| failure(&error))?;
        Ok(Divided { work })
    }

    /// About so many tasks, and into how many parts lines are dealt out.
    fn plan<'py>(&self, py: Python<'py>, count: usize) -> PyResult<(Vec<Bound<'py, PyBytes>>, u32)> {
        let plan = self
            .work
            .plan(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN));
        let encoded = |task: &Task| {
            let bytes = serde_json::to_vec(task).map_err(|error| PyValueError::new_err(error.to_string()))?;
            Ok(PyBytes::new(py, &bytes))
        };
        let tasks: PyResult<_> = plan.tasks.iter().map(encoded).collect();
        Ok((tasks?, plan.parts))
    }

    /// Begins a task.
    fn run(&self, task: &[u8], parts: u32) -> PyResult<TaskRun> {
        let task: Task = serde_json::from_slice(task)
            .map_err(|error| PyValueError::new_err(format!("this is no task of a plan: {error}")))?;
        check_parts(parts)?;
        Ok(TaskRun::start(self.work.clone(), task, parts))
    }

    /// Begins with the accesses of a part.
    fn lines(&self, number: u32, parts: u32) -> PyResult<Lines> {
        check_parts(parts)?;
        if parts < 2 || number >= parts {
            return Err(PyValueError::new_err(format!(
                "there is no part {number} of {parts}"
            )));
        }
        let lines = self.work.clone().lines(WorkPart { number, count: parts });
        Ok(Lines {
            lines: Mutex::new(Some(lines)),
        })
    }

    /// One partial result of several.
    fn merge<'py>(&self, py: Python<'py>, partials: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
        let partials: Vec<&[u8]> = partials.iter().map(Vec::as_slice).collect();
        let merged = py.detach(|| self.work.merge(&partials));
        Ok(PyBytes::new(py, &merged.map_err(partial_error)?))
    }

    /// The report, of the partial results of all tasks and parts.
    fn finish(&self, py: Python, partials: Vec<Vec<u8>>) -> PyResult<Report> {
        let partials: Vec<&[u8]> = partials.iter().map(Vec::as_slice).collect();
        let report = py.detach(|| self.work.finish(&partials));
        Ok(Report::from(report.map_err(partial_error)?))
    }
}

fn check_parts(parts: u32) -> PyResult<()> {
    match parts.is_power_of_two() {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "parts are a power of two, not {parts}"
        ))),
    }
}

/// A task that is being done on a thread of its own: yields part, stream, number and block of the accesses that it
/// deals out.
#[pyclass(frozen, module = "trackway")]
pub struct TaskRun {
    received: Mutex<Receiver<Message>>,
    found: Mutex<Option<Vec<u8>>>,
}

enum Message {
    Partitioned(Partitioned),
    Found(Result<Vec<u8>, PartialError>),
}

impl TaskRun {
    fn start(work: Arc<dyn divided::Divided>, task: Task, parts: u32) -> TaskRun {
        let (sender, receiver) = sync_channel(WAITING_BLOCKS);
        thread::spawn(move || {
            // If the receiver is gone, the remaining accesses are dropped.
            let mut emit = |sifted| drop(sender.send(Message::Partitioned(sifted)));
            let found = work.run_task(&task, parts, &mut emit);
            let _ = sender.send(Message::Found(found));
        });
        TaskRun {
            received: Mutex::new(receiver),
            found: Mutex::new(None),
        }
    }
}

type Block<'py> = (u32, u32, u64, Bound<'py, PyBytes>);

#[pymethods]
impl TaskRun {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Block<'py>>> {
        let received = py.detach(|| {
            let receiver = self.received.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv()
        });
        match received {
            Ok(Message::Partitioned(sifted)) => {
                let block = PyBytes::new(py, &sifted.block);
                Ok(Some((sifted.part, sifted.stream, sifted.number, block)))
            }
            Ok(Message::Found(found)) => {
                let found = found.map_err(partial_error)?;
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }

    /// The task's partial result, when all blocks have been taken.
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        let found = found.ok_or_else(|| PyValueError::new_err("the task isn't done"))?;
        Ok(PyBytes::new(py, &found))
    }
}

/// The accesses of one part.
#[pyclass(frozen, module = "trackway")]
pub struct Lines {
    lines: Mutex<Option<Box<dyn divided::Lines>>>,
}

#[pymethods]
impl Lines {
    /// Takes the next block.
    fn take(&self, py: Python, stream: u32, number: u64, block: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.as_mut().map(|lines| lines.take(stream, number, block))
        })
        .ok_or_else(finished)?
        .map_err(partial_error)
    }

    /// The partial result; nothing can be taken after.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner).take();
        let lines = lines.ok_or_else(finished)?;
        let found = py.detach(|| lines.finish());
        Ok(PyBytes::new(py, &found.map_err(partial_error)?))
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("this part is finished already")
}

fn partial_error(error: PartialError) -> PyErr {
    match error {
        PartialError::Trace(error) => trace_error(&error),
        error => PyValueError::new_err(error.to_string()),
    }
}
