//! What happened to the recording, from the ring's table of marks into the trace.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use trackway_trace::{ChunkKind, MarkInfo, MarkKind};

use super::Collector;
use crate::abi;
use crate::ring::MarkWords;

/// Switches that are remembered: samples are asked about those of the last milliseconds only.
const MOST_SWITCHES: usize = 4096;

/// How far the table of marks has been taken.
pub struct MarksTaken {
    next: u32,
    /// The trace says when the window that was open from the start began.
    has_begun: bool,
    /// Windows that are part of the trace. The others are the recorder's own business.
    shown: RangeInclusive<u32>,
    /// When recording was switched, and whether on.
    switches: VecDeque<(u64, bool)>,
}

impl Default for MarksTaken {
    fn default() -> Self {
        Self {
            next: 0,
            has_begun: false,
            shown: 1..=u32::MAX,
            switches: VecDeque::new(),
        }
    }
}

impl MarksTaken {
    fn remember_switches(&mut self, infos: &[MarkInfo]) {
        let switches = infos.iter().filter(|info| info.kind != MarkKind::Mark);
        self.switches
            .extend(switches.map(|info| (info.ns, info.kind == MarkKind::Opens)));
        let surplus = self.switches.len().saturating_sub(MOST_SWITCHES);
        self.switches.drain(..surplus);
    }

    /// Whether recording was on at a time; `now`: whether it is.
    fn was_on(&self, ns: u64, now: bool) -> bool {
        let later = self.switches.partition_point(|(at, _)| *at <= ns);
        match (later.checked_sub(1), self.switches.front()) {
            (Some(last), _) => self.switches[last].1,
            (None, Some((_, first))) => !first,
            (None, None) => now,
        }
    }
}

impl Collector<'_> {
    /// Queues the marks that have come since the last time.
    pub fn take_marks(&mut self) {
        let (marks, lost) = self.ring.take_marks(&mut self.marks.next);
        self.totals.lost_marks += u64::from(lost);
        let wants_snapshot = |mark: &&MarkWords| mark.kind == abi::MARK_SNAPSHOT;
        let reasons = marks.iter().filter(wants_snapshot).map(MarkWords::text);
        self.wanted_snapshots.extend(reasons);
        let is_shown = |mark: &&MarkWords| !is_switch(mark) || self.marks.shown.contains(&mark.window);
        let shown = marks.iter().filter(is_shown);
        let mut infos: Vec<MarkInfo> = shown.filter_map(|mark| self.mark_info(mark)).collect();
        self.marks.remember_switches(&infos);
        if !self.marks.has_begun && infos.iter().any(|info| info.kind != MarkKind::Mark) {
            self.marks.has_begun = true;
            infos.splice(0..0, self.first_window(&infos[0]));
        }
        if !infos.is_empty() {
            self.push_json(ChunkKind::Marks, 0, &infos);
        }
    }

    /// The trace begins with the next window.
    pub fn forget_windows_so_far(&mut self) {
        self.take_marks();
        self.marks.has_begun = true;
        self.marks.shown = self.ring.window_count().saturating_add(1)..=u32::MAX;
    }

    /// Windows that open from now on aren't part of the trace.
    pub fn hide_later_windows(&mut self) {
        self.marks.shown = *self.marks.shown.start()..=self.ring.window_count();
    }

    /// Whether a window was open at a time of the trace, of those whose marks were taken.
    pub fn was_recording(&self, ns: u64) -> bool {
        self.marks.was_on(ns, self.ring.open_window().is_some())
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
            window: (!is_text).then(|| (mark.window - self.marks.shown.start() + 1).into()),
            cause: cause_of(mark, &kind),
            pid: thread(mark.pid),
            tid: thread(mark.tid),
            text: is_text.then(|| mark.text()),
            kind,
        })
    }
}

fn is_switch(mark: &MarkWords) -> bool {
    matches!(mark.kind, abi::MARK_OPENS | abi::MARK_CLOSES)
}

/// Names the region, too, if one opened the window.
fn cause_of(mark: &MarkWords, kind: &MarkKind) -> String {
    let name = cause_name(mark.cause, kind);
    match mark.cause == abi::BY_REGION && *kind == MarkKind::Opens {
        true => format!("{name} {}", mark.text()),
        false => name.to_owned(),
    }
}

fn cause_name(cause: u32, kind: &MarkKind) -> &'static str {
    match cause {
        abi::BY_PROGRAM => "program",
        abi::BY_CONTROL => "control",
        abi::BY_TIME => "timer",
        abi::BY_BURST => "burst",
        abi::BY_SIZE => "limit",
        abi::BY_REGION => "region",
        abi::BY_ACCESSES => "accesses",
        abi::BY_EVEN_BURST => "even burst",
        _ if *kind == MarkKind::Closes => "end",
        _ => "start",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switched(at: &[(u64, bool)]) -> MarksTaken {
        let info = |&(ns, is_on): &(u64, bool)| MarkInfo {
            ns,
            kind: if is_on { MarkKind::Opens } else { MarkKind::Closes },
            ..MarkInfo::default()
        };
        let mut taken = MarksTaken::default();
        taken.remember_switches(&at.iter().map(info).collect::<Vec<_>>());
        taken
    }

    #[test]
    fn recording_is_on_from_a_switch_to_the_next() {
        let taken = switched(&[(10, true), (20, false), (30, true)]);
        let on = |ns| taken.was_on(ns, true);
        assert_eq!(
            [9, 10, 19, 20, 29, 30, 99].map(on),
            [false, true, true, false, false, true, true]
        );
        assert!(switched(&[(10, false)]).was_on(5, false), "it began so");
        assert!(switched(&[]).was_on(5, true) && !switched(&[]).was_on(5, false));
    }

    #[test]
    fn old_switches_are_forgotten() {
        let at: Vec<(u64, bool)> = (0..2 * MOST_SWITCHES as u64)
            .map(|ns| (ns, ns % 2 == 0))
            .collect();
        let taken = switched(&at);
        assert_eq!(taken.switches.len(), MOST_SWITCHES);
        assert!(taken.was_on(at.len() as u64 - 2, true) && !taken.was_on(at.len() as u64 - 1, true));
    }
}
