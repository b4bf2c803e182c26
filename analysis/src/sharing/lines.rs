//! Who has which cache line, if caches had no end.

use std::collections::HashMap;

/// A thread that has read or written the line since it was last handed over for writing.
#[derive(Clone, Copy, Debug)]
struct Holder {
    thread: u32,
    /// The thread's latest access took place no later.
    until_ns: u64,
}

/// Of one cache line.
#[derive(Clone, Debug, Default)]
struct Line {
    writer: Option<Holder>,
    holders: Vec<Holder>,
}

/// An access, as far as sharing goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub thread: u32,
    pub writes: bool,
    /// Between which times it took place.
    pub from_ns: u64,
    pub until_ns: u64,
}

/// A line that came from another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandOver {
    /// The thread that gives it: who wrote it last or, to a write, who accessed it last.
    pub from: u32,
    /// Whether the two accesses were in this order for certain.
    pub certain: bool,
}

impl Line {
    /// Makes the thread hold the line; says whether another one had to hand it over.
    fn access(&mut self, access: Access) -> Option<HandOver> {
        if access.writes {
            self.write(access)
        } else {
            self.read(access)
        }
    }

    /// Another thread's write is read for the first time.
    fn read(&mut self, access: Access) -> Option<HandOver> {
        let held = |holder: &Holder| holder.thread == access.thread;
        if let Some(position) = self.holders.iter().position(held) {
            let own = &mut self.holders[position];
            own.until_ns = own.until_ns.max(access.until_ns);
            // The last one to access the line stands at the end.
            self.holders[position..].rotate_left(1);
            return None;
        }
        self.holders.push(access.holder());
        let writer = self.writer.filter(|writer| writer.thread != access.thread)?;
        Some(HandOver {
            from: writer.thread,
            certain: writer.until_ns <= access.from_ns,
        })
    }

    /// Other threads have read or written the line since this one wrote it.
    fn write(&mut self, access: Access) -> Option<HandOver> {
        let others = || {
            self.holders
                .iter()
                .filter(|holder| holder.thread != access.thread)
        };
        let until_ns = others().map(|holder| holder.until_ns).max();
        let from = others().next_back().map(|holder| holder.thread);
        self.holders.clear();
        self.holders.push(access.holder());
        self.writer = Some(access.holder());
        from.zip(until_ns).map(|(from, until_ns)| HandOver {
            from,
            certain: until_ns <= access.from_ns,
        })
    }
}

impl Access {
    fn holder(&self) -> Holder {
        Holder {
            thread: self.thread,
            until_ns: self.until_ns,
        }
    }
}

/// All lines that were ever accessed, by process and number.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: HashMap<(u32, u64), Line>,
}

impl Lines {
    pub fn access(&mut self, process: u32, number: u64, access: Access) -> Option<HandOver> {
        self.lines.entry((process, number)).or_default().access(access)
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: bool = false;
    const WRITE: bool = true;

    /// Accesses of one line, as thread and kind, each in a nanosecond of its own; which ones are hand-overs.
    fn hand_overs(accesses: &[(u32, bool)]) -> Vec<bool> {
        let mut lines = Lines::default();
        let times = (0..).map(|index| 10 * index);
        accesses
            .iter()
            .zip(times)
            .map(|(&(thread, writes), from_ns)| {
                let access = Access {
                    thread,
                    writes,
                    from_ns,
                    until_ns: from_ns + 10,
                };
                let hand_over = lines.access(0, 7, access);
                assert!(hand_over.is_none_or(|hand_over| hand_over.certain));
                hand_over.is_some()
            })
            .collect()
    }

    #[test]
    fn one_thread_hands_nothing_over() {
        assert_eq!(
            hand_overs(&[(1, READ), (1, WRITE), (1, READ), (1, WRITE)]),
            [false; 4]
        );
    }

    #[test]
    fn reading_what_nobody_wrote_hands_nothing_over() {
        assert_eq!(hand_overs(&[(1, READ), (2, READ), (3, READ)]), [false; 3]);
    }

    #[test]
    fn each_reader_gets_a_write_once() {
        let accesses = [(1, WRITE), (2, READ), (2, READ), (3, READ), (1, READ)];
        assert_eq!(hand_overs(&accesses), [false, true, false, true, false]);
    }

    #[test]
    fn a_writer_takes_the_line_from_all_others() {
        let accesses = [
            (1, READ),
            (2, WRITE),
            (2, WRITE),
            (1, WRITE),
            (2, READ),
            (1, WRITE),
        ];
        assert_eq!(hand_overs(&accesses), [false, true, false, true, true, true]);
    }

    #[test]
    fn the_giver_is_the_writer_or_the_last_holder() {
        let mut lines = Lines::default();
        let mut from = |thread, writes, from_ns| {
            let until_ns = from_ns + 10;
            let access = Access {
                thread,
                writes,
                from_ns,
                until_ns,
            };
            lines.access(0, 7, access).map(|hand_over| hand_over.from)
        };
        assert_eq!(from(1, WRITE, 0), None);
        assert_eq!(from(2, READ, 10), Some(1));
        assert_eq!(from(3, READ, 20), Some(1));
        assert_eq!(from(2, READ, 30), None);
        assert_eq!(from(1, WRITE, 40), Some(2));
        assert_eq!(from(3, WRITE, 50), Some(1));
    }

    #[test]
    fn what_may_have_been_at_the_same_time_is_uncertain() {
        let mut lines = Lines::default();
        let access = |thread, from_ns, until_ns| Access {
            thread,
            writes: true,
            from_ns,
            until_ns,
        };
        let certain = |hand_over: Option<HandOver>| hand_over.map(|hand_over| hand_over.certain);
        assert_eq!(certain(lines.access(0, 1, access(1, 0, 20))), None);
        assert_eq!(certain(lines.access(0, 1, access(2, 10, 30))), Some(false));
        assert_eq!(certain(lines.access(0, 1, access(1, 30, 40))), Some(true));
        assert_eq!(
            certain(lines.access(1, 1, access(3, 50, 60))),
            None,
            "another process"
        );
    }
}
