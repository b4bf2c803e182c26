//! Where threads' stacks are, while the program still runs: nothing tells it of one that has died.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use trackway_names::{maps_lines, MapsLine};

/// Reading the mappings of a process with a thousand of them takes about a millisecond.
const MOST_LOOKS: u32 = 64;

/// Memory of the program that has a guard page right below it, as the C library gives threads their stacks.
#[derive(Debug, Default)]
pub struct ThreadStacks {
    /// The end, by the begin.
    ranges: BTreeMap<u64, u64>,
    looks: u32,
}

impl ThreadStacks {
    /// Adds what the process has mapped now. A process that is gone has nothing.
    pub fn look_at(&mut self, pid: u32) {
        if self.looks < MOST_LOOKS {
            self.looks += 1;
            self.add(&fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default());
        }
    }

    pub fn ranges(&self) -> Vec<Range<u64>> {
        self.ranges.iter().map(|(begin, end)| *begin..*end).collect()
    }

    fn add(&mut self, maps: &str) {
        let mut guard_end = None;
        for line in maps_lines(maps) {
            if guard_end == Some(line.start) && is_memory(&line) {
                self.ranges.insert(line.start, line.end);
            }
            guard_end = is_guard(&line).then_some(line.end);
        }
    }
}

fn is_guard(line: &MapsLine) -> bool {
    let protection = line.protection;
    line.path.is_empty() && !(protection.readable || protection.writable || protection.executable)
}

fn is_memory(line: &MapsLine) -> bool {
    let protection = line.protection;
    line.path.is_empty() && protection.readable && protection.writable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_above_a_guard_page_may_be_a_stack() {
        let mut stacks = ThreadStacks::default();
        stacks.add(
            "1000-2000 ---p 00000000 00:00 0 \n\
             2000-9000 rw-p 00000000 00:00 0 \n\
             9000-a000 rw-p 00000000 00:00 0 \n\
             a000-b000 ---p 00001000 08:01 7 /lib/x.so\n\
             b000-c000 rw-p 00000000 00:00 0 \n\
             d000-e000 ---p 00000000 00:00 0 \n\
             f000-10000 rw-p 00000000 00:00 0 \n\
             7000000-7100000 rw-p 00000000 00:00 0 [stack]\n",
        );
        assert_eq!(
            stacks.ranges().as_slice(),
            std::slice::from_ref(&(0x2000..0x9000))
        );
    }

    #[test]
    fn a_threads_stack_is_found() {
        let local = 0u8;
        let mut stacks = ThreadStacks::default();
        stacks.look_at(std::process::id());
        let here = std::ptr::from_ref(&local) as u64;
        assert!(stacks.ranges().iter().any(|stack| stack.contains(&here)));
    }
}
