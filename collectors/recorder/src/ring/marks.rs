//! Windows of recording, which the ring's words switch, and the table of marks, which says what was switched when.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::Ring;
use crate::abi::{self, Closings, Mark, Regions, RingHeader, Windows};
use crate::clock;
use crate::options::REGION_GLOBS;

const _: () = assert!(
    abi::REGION_GLOBS == REGION_GLOBS,
    "the ring has room for what options allow"
);

/// Why the recorder opens or closes a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// It comes, or goes.
    Recorder = 0,
    Control = abi::BY_CONTROL,
    Time = abi::BY_TIME,
    Burst = abi::BY_BURST,
    EvenBurst = abi::BY_EVEN_BURST,
    Size = abi::BY_SIZE,
    Region = abi::BY_REGION,
    Accesses = abi::BY_ACCESSES,
}

/// `struct trackway_mark`, as it was. Any value is possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkWords {
    pub kind: u32,
    pub window: u32,
    pub cause: u32,
    pub pid: u32,
    pub tid: u32,
    pub ticks: u64,
    pub flags: u32,
    pub text: Vec<u8>,
}

impl MarkWords {
    fn read(mark: &Mark) -> Self {
        let text = mark.text.iter().map(|byte| byte.load(Relaxed));
        Self {
            kind: mark.kind.load(Relaxed),
            window: mark.window.load(Relaxed),
            cause: mark.cause.load(Relaxed),
            pid: mark.pid.load(Relaxed),
            tid: mark.tid.load(Relaxed),
            ticks: mark.ticks.load(Relaxed),
            flags: mark.flags.load(Relaxed),
            text: text.take_while(|byte| *byte != 0).collect(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

impl Ring {
    fn windows(&self) -> &Windows {
        self.part(offset_of!(RingHeader, windows))
    }

    pub(super) fn prepare_windows(&self, begins_open: bool) {
        let windows = self.windows();
        windows.mark_offset.store(self.layout.mark_offset as u32, Relaxed);
        windows
            .stack_offset
            .store(self.layout.stack_offset as u32, Relaxed);
        windows.windows.store(begins_open.into(), Relaxed);
        windows.window.store(begins_open.into(), Release);
    }

    fn regions(&self) -> &Regions {
        self.part(offset_of!(RingHeader, regions))
    }

    /// Threads that enter such a region open windows; `globs`: each ends with a line feed.
    pub fn prepare_regions(&self, globs: &str) {
        let regions = self.regions();
        self.forget_region_holders();
        let ended = globs.bytes().chain(std::iter::once(0));
        // The first one last: it says that there are any.
        let places: Vec<_> = regions.only_regions.iter().zip(ended).collect();
        for (place, byte) in places.into_iter().rev() {
            place.store(byte, Release);
        }
        let switch = &self.windows().regions_switch;
        switch.store((!globs.is_empty()).into(), Release);
    }

    /// Whether regions open windows, as far as the ring says.
    pub(super) fn has_regions(&self) -> bool {
        self.windows().regions_switch.load(Relaxed) != 0
    }

    /// No region opens a window any more.
    pub fn forget_regions(&self) {
        self.regions().only_regions[0].store(0, Release);
        self.windows().regions_switch.store(0, Release);
    }

    /// The number of the window that is open, as far as the ring says.
    pub fn open_window(&self) -> Option<u32> {
        Some(self.windows().window.load(Relaxed)).filter(|window| *window != 0)
    }

    /// The same number in this recording, in which the first one is 1.
    fn number_here(&self, window: u32) -> u32 {
        window.wrapping_sub(self.session.windows_before)
    }

    /// Windows that have been opened so far, as far as the ring says.
    pub fn window_count(&self) -> u32 {
        self.number_here(self.windows().windows.load(Relaxed))
    }

    /// False if one is open already.
    pub fn begin_window(&self, cause: Cause) -> bool {
        if self.open_window().is_some() {
            return false;
        }
        let number = self.windows().windows.fetch_add(1, Relaxed).wrapping_add(1);
        let opened = self.windows().window.compare_exchange(0, number, SeqCst, Relaxed);
        if opened.is_ok() {
            self.note_mark(abi::MARK_OPENS, number, cause, "");
        }
        opened.is_ok()
    }

    /// Another window takes the place of the open one, so that no access lies between them. Threads hand over what they
    /// recorded in the former one. If none is open, it only opens one.
    pub fn begin_next_window(&self, cause: Cause) {
        let Some(number) = self.open_window() else {
            self.begin_window(cause);
            return;
        };
        self.note_end_of(number);
        let next = self.windows().windows.fetch_add(1, Relaxed).wrapping_add(1);
        let replaced = self
            .windows()
            .window
            .compare_exchange(number, next, SeqCst, Relaxed);
        if replaced.is_ok() {
            self.note_mark(abi::MARK_CLOSES, number, cause, "");
            self.note_mark(abi::MARK_OPENS, next, cause, "");
        } else {
            self.begin_window(cause); // the program has closed it
        }
    }

    fn note_end_of(&self, window: u32) {
        let closings: &Closings = self.part(offset_of!(RingHeader, closings));
        closings.closed_ticks[window as usize % abi::CLOSINGS].store(clock::ticks(), Relaxed);
    }

    /// False if none is open.
    pub fn end_window(&self, cause: Cause) -> bool {
        let Some(number) = self.open_window() else {
            return false;
        };
        self.note_end_of(number);
        let closed = self.windows().window.compare_exchange(number, 0, SeqCst, Relaxed);
        if closed.is_ok() {
            self.note_mark(abi::MARK_CLOSES, number, cause, "");
        }
        closed.is_ok()
    }

    pub fn mark(&self, text: &str) {
        self.note_mark(abi::MARK_TEXT, 0, Cause::Control, text);
    }

    fn entry(&self, number: u32) -> &Mark {
        let table: &[Mark] = self.memory.control(self.layout.mark_offset, abi::MARKS);
        &table[number as usize % abi::MARKS]
    }

    fn note_mark(&self, kind: u32, window: u32, cause: Cause, text: &str) {
        let number = self.windows().marks.fetch_add(1, Relaxed);
        let mark = self.entry(number);
        mark.ready.store(0, Release);
        mark.kind.store(kind, Relaxed);
        mark.window.store(window, Relaxed);
        mark.cause.store(cause as u32, Relaxed);
        mark.pid.store(0, Relaxed);
        mark.tid.store(0, Relaxed);
        mark.ticks.store(clock::ticks(), Relaxed);
        mark.flags.store(0, Relaxed);
        let ended = text.bytes().chain(std::iter::once(0));
        for (place, byte) in mark.text.iter().zip(ended) {
            place.store(byte, Relaxed);
        }
        mark.ready.store(number.wrapping_add(1), Release);
    }

    /// The marks since the one of number `next`, which is then that of the first one that isn't ready, and how many were
    /// lost, since others took their place.
    pub fn take_marks(&self, next: &mut u32) -> (Vec<MarkWords>, u32) {
        let before = self.session.marks_before;
        let begun = self.windows().marks.load(Acquire).wrapping_sub(before);
        let waiting = begun.wrapping_sub(*next);
        let lost = waiting.saturating_sub(abi::MARKS as u32);
        *next = next.wrapping_add(lost);
        let mut taken = Vec::new();
        let mut overwritten = 0;
        while *next != begun {
            let number = before.wrapping_add(*next);
            let (mark, is_ready) = (self.entry(number), number.wrapping_add(1));
            let was_ready = mark.ready.load(Acquire) == is_ready;
            let mut words = MarkWords::read(mark);
            words.window = self.number_here(words.window);
            let is_whole = was_ready && mark.ready.load(Acquire) == is_ready;
            match is_whole {
                true => taken.push(words),
                // It is being written: by the one whose turn it is, or by a later one already.
                false if self.windows().marks.load(Acquire).wrapping_sub(number) <= abi::MARKS as u32 => {
                    break
                }
                false => overwritten += 1,
            }
            *next = next.wrapping_add(1);
        }
        (taken, lost + overwritten)
    }
}
