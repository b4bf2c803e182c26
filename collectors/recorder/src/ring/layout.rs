//! Where everything lies in the ring. The header repeats it for the program; the recorder never reads it there.

use std::mem::size_of;

use crate::abi::{Buffer, Mark, StreamSlot, MARKS};
use crate::options::{RecordOptions, MOST_WAITING_IN_SESSIONS};

/// Buffers beside those that may wait for the recorder: as many threads may record at a time. Memory is taken only
/// for those that are used.
const BUFFERS_IN_USE: u32 = 4096;
/// Streams whose dropped buffers and oracle's hash are kept.
const STREAM_SLOTS: u32 = 1 << 16;
const PAGE: u64 = 4096;

/// Buffers of the first window.
const FIRST_WINDOW: u32 = 16;
/// Enough for 2^19 buffers, where 2^16 + 4096 are the most.
pub const WINDOWS: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub buffer_size: u32,
    pub buffer_count: u32,
    pub stream_count: u32,
    /// While so many buffers wait for the recorder, the ring is full.
    pub full_limit: u32,
    /// Most frames of the call stack that are recorded with a call of an allocator.
    pub stack_frames: u32,
    pub mark_offset: u64,
    pub buffer_table_offset: u64,
    pub stream_table_offset: u64,
    /// Where the table of an address in each stream's stack begins.
    pub stack_offset: u64,
    pub data_offset: u64,
    pub total_size: u64,
}

impl Layout {
    /// The layout that the options ask for, or a smaller one if shared memory can't be larger than `most_bytes`.
    pub fn within(options: &RecordOptions, most_bytes: u64) -> Self {
        let wanted = Self::new(
            options.buffer_size,
            options.buffer_count + BUFFERS_IN_USE,
            STREAM_SLOTS,
            options.buffer_count,
        );
        let fitting = std::iter::successors(Some(wanted), Self::smaller);
        let mut fitting = fitting.filter(|layout| layout.total_size <= most_bytes);
        Self {
            stack_frames: options.allocations.as_ref().map_or(0, |tracer| tracer.frames),
            ..fitting.next().unwrap_or(wanted)
        }
    }

    /// The layout for recorders that come to a program: each finds what the former ones left, so it is always the same,
    /// but for how much may wait.
    pub fn of_sessions(full_limit: u32) -> Self {
        const BUFFER_SIZE: u32 = 256 * 1024;
        let count = MOST_WAITING_IN_SESSIONS + BUFFERS_IN_USE;
        Self::new(BUFFER_SIZE, count, STREAM_SLOTS, full_limit)
    }

    fn new(buffer_size: u32, buffer_count: u32, stream_count: u32, full_limit: u32) -> Self {
        let mark_offset = PAGE;
        let marks_end = mark_offset + MARKS as u64 * size_of::<Mark>() as u64;
        let buffer_table_offset = marks_end.next_multiple_of(PAGE);
        let stream_table_offset = buffer_table_offset + u64::from(buffer_count) * size_of::<Buffer>() as u64;
        let stack_offset = stream_table_offset + u64::from(stream_count) * size_of::<StreamSlot>() as u64;
        let stacks_end = stack_offset + u64::from(stream_count) * size_of::<u64>() as u64;
        let data_offset = stacks_end.next_multiple_of(PAGE);
        let total_size = data_offset + u64::from(buffer_count) * u64::from(buffer_size);
        Self {
            buffer_size,
            buffer_count,
            stream_count,
            full_limit,
            stack_frames: 0,
            mark_offset,
            buffer_table_offset,
            stream_table_offset,
            stack_offset,
            data_offset,
            total_size,
        }
    }

    /// The next smaller layout: first for fewer threads at a time, then with smaller buffers. None if it would be of no
    /// use.
    fn smaller(&self) -> Option<Self> {
        const LEAST_BUFFERS: u32 = 32;
        const LEAST_SIZE: u32 = 16 * 1024;
        let streams = (self.stream_count / 2).max(1024);
        if self.buffer_count > LEAST_BUFFERS {
            let count = (self.buffer_count / 2).max(LEAST_BUFFERS);
            return Some(Self::new(
                self.buffer_size,
                count,
                streams,
                self.full_limit.min(count / 2),
            ));
        }
        let size = (self.buffer_size / 2)
            .max(LEAST_SIZE)
            .next_multiple_of(PAGE as u32);
        (size < self.buffer_size).then(|| Self::new(size, self.buffer_count, streams, self.full_limit))
    }

    /// Windows are mapped one by one, as their buffers are used: 16 buffers, 16 more, 32 more, 64 more and so on. Gives a
    /// buffer's window and its place there.
    pub fn window_of(&self, index: u32) -> (usize, u32) {
        match (index / FIRST_WINDOW).checked_ilog2() {
            None => (0, index),
            Some(doublings) => (doublings as usize + 1, index - (FIRST_WINDOW << doublings)),
        }
    }

    /// Offset and length of a window in the ring, bytes.
    pub fn window(&self, window: usize) -> (u64, u64) {
        let (first, count) = match window {
            0 => (0, FIRST_WINDOW),
            window => (FIRST_WINDOW << (window - 1), FIRST_WINDOW << (window - 1)),
        };
        let count = count.min(self.buffer_count.saturating_sub(first));
        let size = u64::from(self.buffer_size);
        (
            self.data_offset + u64::from(first) * size,
            u64::from(count) * size,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Output;

    fn options() -> RecordOptions {
        RecordOptions::new("p", Output::Discard)
    }

    #[test]
    fn windows_hold_each_buffer_once() {
        let layout = Layout::within(&options(), u64::MAX);
        let mut behind = layout.data_offset;
        for window in 0..WINDOWS {
            let (offset, length) = layout.window(window);
            if length > 0 {
                assert_eq!(offset, behind);
                behind += length;
            }
        }
        assert_eq!(behind, layout.total_size);
        for index in 0..layout.buffer_count {
            let (window, place) = layout.window_of(index);
            let (offset, length) = layout.window(window);
            let at = offset + u64::from(place) * u64::from(layout.buffer_size);
            assert_eq!(
                at,
                layout.data_offset + u64::from(index) * u64::from(layout.buffer_size)
            );
            assert!(at < offset + length);
        }
    }

    #[test]
    fn a_ring_fits_where_files_must_be_small() {
        let wanted = Layout::within(&options(), u64::MAX);
        assert_eq!((wanted.buffer_size, wanted.full_limit), (256 * 1024, 16));
        for most in [100 << 20, 10 << 20, 1000 << 10] {
            let layout = Layout::within(&options(), most);
            assert!(layout.total_size <= most, "{most}: {layout:?}");
            assert!(layout.full_limit >= 2 && layout.full_limit < layout.buffer_count);
            assert!(layout.buffer_size.is_multiple_of(4096) && layout.buffer_size >= 16 * 1024);
        }
        // Less is of no use: making it fails, and says so.
        assert_eq!(Layout::within(&options(), 1).total_size, wanted.total_size);
    }
}
