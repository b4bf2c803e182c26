//! The times in which recording was on.

use std::collections::HashMap;

use super::{MarkInfo, MarkKind};

/// A time in which threads recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// From 1.
    pub number: u64,
    /// CLOCK_MONOTONIC nanoseconds.
    pub begin_ns: u64,
    /// Not before `begin_ns`; the trace's end if it was never closed.
    pub end_ns: u64,
    /// Whether a mark closed it.
    pub is_closed: bool,
    /// What opened it.
    pub cause: String,
    /// The process that recorded, as the system numbers it; none: all.
    pub pid: Option<u32>,
    /// The thread that recorded, as the system numbers it; none: all of the process.
    pub tid: Option<u32>,
}

impl Window {
    pub fn duration_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    fn opened_by(mark: &MarkInfo, number: u64, trace_end_ns: u64) -> Window {
        Window {
            number,
            begin_ns: mark.ns,
            end_ns: trace_end_ns.max(mark.ns),
            is_closed: false,
            cause: mark.cause.clone(),
            pid: mark.pid,
            tid: mark.tid,
        }
    }
}

/// The windows that these marks open, in the order of their beginning. Among several marks that open or close the same
/// window the first counts, and none that closes it before it opens.
pub(crate) fn windows(marks: &[MarkInfo], trace_end_ns: u64) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    let mut positions = HashMap::new();
    for mark in marks {
        let Some(number) = mark.window else { continue };
        let position = positions.get(&number).copied();
        match (&mark.kind, position) {
            (MarkKind::Opens, None) => {
                positions.insert(number, windows.len());
                windows.push(Window::opened_by(mark, number, trace_end_ns));
            }
            (MarkKind::Closes, Some(position)) if !windows[position].is_closed => {
                windows[position].end_ns = mark.ns;
                windows[position].is_closed = true;
            }
            _ => {}
        }
    }
    windows
}
