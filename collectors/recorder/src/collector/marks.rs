//! What happened to the recording, from the ring's table of marks into the trace.

use trackway_trace::{ChunkKind, MarkInfo, MarkKind};

use super::Collector;
use crate::abi;
use crate::ring::MarkWords;

/// How far the table of marks has been taken.
#[derive(Default)]
pub struct MarksTaken {
    next: u32,
    /// The trace says when the window that was open from the start began.
    has_begun: bool,
}

impl Collector<'_> {
    /// Queues the marks that have come since the last time.
    pub fn take_marks(&mut self) {
        let (marks, lost) = self.ring.take_marks(&mut self.marks.next);
        self.totals.lost_marks += u64::from(lost);
        let wants_snapshot = |mark: &&MarkWords| mark.kind == abi::MARK_SNAPSHOT;
        let reasons = marks.iter().filter(wants_snapshot).map(MarkWords::text);
        self.wanted_snapshots.extend(reasons);
        let mut infos: Vec<MarkInfo> = marks.iter().filter_map(|mark| self.mark_info(mark)).collect();
        infos.retain(|info| info.kind == MarkKind::Mark || !self.keeps_newest);
        if !self.marks.has_begun && infos.iter().any(|info| info.kind != MarkKind::Mark) {
            self.marks.has_begun = true;
            infos.splice(0..0, self.first_window(&infos[0]));
        }
        if !infos.is_empty() {
            self.push_json(ChunkKind::Marks, 0, &infos);
        }
    }

    /// The window that was open from the start: without others nothing needs to be said of it.
    fn first_window(&self, first: &MarkInfo) -> Option<MarkInfo> {
        let closes_first = first.kind == MarkKind::Closes && first.window == Some(1);
        closes_first.then(|| MarkInfo {
            ns: self.clock.description().base_ns,
            kind: MarkKind::Opens,
            window: Some(1),
            cause: "start".to_owned(),
            ..MarkInfo::default()
        })
    }

    /// None if the program has written what no mark is.
    fn mark_info(&self, mark: &MarkWords) -> Option<MarkInfo> {
        let kind = match mark.kind {
            abi::MARK_OPENS => MarkKind::Opens,
            abi::MARK_CLOSES => MarkKind::Closes,
            abi::MARK_TEXT | abi::MARK_SNAPSHOT => MarkKind::Mark,
            _ => return None,
        };
        let is_text = kind == MarkKind::Mark;
        let ns = match mark.flags & abi::FLAG_MONOTONIC {
            0 => self.clock.ns(mark.ticks),
            _ => mark.ticks,
        };
        // Switches are for all threads, not only for the one that made them.
        let thread = |number: u32| Some(number).filter(|number| is_text && *number != 0);
        Some(MarkInfo {
            ns: ns.clamp(self.clock.description().base_ns, self.clock.now_ns()),
            window: (!is_text).then_some(mark.window.into()),
            cause: cause_name(mark.cause, &kind).to_owned(),
            pid: thread(mark.pid),
            tid: thread(mark.tid),
            text: is_text.then(|| mark.text()),
            kind,
        })
    }
}

fn cause_name(cause: u32, kind: &MarkKind) -> &'static str {
    match cause {
        abi::BY_PROGRAM => "program",
        abi::BY_CONTROL => "control",
        abi::BY_TIME => "timer",
        abi::BY_BURST => "burst",
        abi::BY_SIZE => "limit",
        _ if *kind == MarkKind::Closes => "end",
        _ => "start",
    }
}
