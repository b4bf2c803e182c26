//! Where threads keep their thread-local variables: what FS is based on, which samples don't say.
//!
//! The C library's control block of a thread (glibc's `struct pthread`) holds its own address twice, at 0 and 16, and
//! the system's id of the thread at 720. It lies at the end of the thread's stack, of a process's first thread in a
//! mapping of the dynamic linker's, below which later ones may join it. A place that has all three is it.

use std::collections::HashMap;
use std::fs;

use crate::window::MemorySource;

const SELF_AT: u64 = 16;
const TID_AT: u64 = 720;
/// Bytes of the block that are looked at.
const BLOCK: usize = 724;
/// Blocks begin at multiples of that, at least.
const ALIGNMENT: usize = 16;
/// Bytes at the end of a mapping, or at the begin of the program break's memory, in which a block is.
const SEARCHED: u64 = 64 << 10;
/// Mappings of a process that are searched.
const MOST_MAPPINGS: usize = 64;
/// A thread that has none so often has none.
const MOST_SEARCHES: u32 = 3;

/// A range of addresses that may hold a control block.
type Range = std::ops::Range<u64>;

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    pid: u32,
    pointer: Option<u64>,
    searches: u32,
}

/// What is known of threads.
#[derive(Debug, Default)]
pub struct ThreadPointers {
    by_thread: HashMap<u32, Found>,
}

impl ThreadPointers {
    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.by_thread.retain(|_, found| found.pid != pid);
    }

    /// Of a thread, if it was found before.
    pub fn known(&self, tid: u32) -> Option<u64> {
        self.by_thread.get(&tid)?.pointer
    }

    /// Of a thread, whose stack pointer says which stack is its own.
    pub fn of(
        &mut self,
        memory: &mut impl MemorySource,
        pid: u32,
        tid: u32,
        stack_pointer: u64,
    ) -> Option<u64> {
        let found = self.by_thread.entry(tid).or_default();
        if found.pointer.is_none() && found.searches < MOST_SEARCHES {
            let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            let ranges = places(&maps, stack_pointer);
            *found = Found {
                pid,
                pointer: ranges.into_iter().find_map(|range| search(memory, range, tid)),
                searches: found.searches + 1,
            };
        }
        found.pointer
    }
}

/// Where a control block may be, by the lines of /proc/PID/maps: at the end of the stack, else of what has no file and
/// may be written.
fn places(maps: &str, stack_pointer: u64) -> Vec<Range> {
    let mut ends = Vec::new();
    for line in maps.lines() {
        let Some((range, rights, path)) = parse(line) else {
            continue;
        };
        let end = range.end.saturating_sub(SEARCHED).max(range.start)..range.end;
        match path {
            "[stack]" => {}
            _ if range.contains(&stack_pointer) => return vec![end],
            "" if rights.starts_with("rw") => ends.push(end),
            "[heap]" => ends.push(range.start..range.end.min(range.start.saturating_add(SEARCHED))),
            _ => {}
        }
    }
    ends.truncate(MOST_MAPPINGS);
    ends
}

/// `LOW-HIGH RIGHTS OFFSET DEVICE INODE [PATH]`.
fn parse(line: &str) -> Option<(Range, &str, &str)> {
    let mut words = line.split_ascii_whitespace();
    let (low, high) = words.next()?.split_once('-')?;
    let range = u64::from_str_radix(low, 16).ok()?..u64::from_str_radix(high, 16).ok()?;
    let rights = words.next()?;
    Some((range, rights, words.nth(3).unwrap_or_default()))
}

/// The last one in the range.
fn search(memory: &mut impl MemorySource, range: Range, tid: u32) -> Option<u64> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    if !memory.read(range.start, &mut bytes) {
        return None;
    }
    let last = bytes.len().checked_sub(BLOCK)?;
    let begins = (0..=last / ALIGNMENT).rev().map(|number| number * ALIGNMENT);
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let is_block = |at: &usize| {
        let address = range.start + *at as u64;
        let thread = &bytes[*at + TID_AT as usize..][..4];
        word(*at) == address && word(*at + SELF_AT as usize) == address && thread == tid.to_le_bytes()
    };
    let mut found = begins.filter(is_block);
    found.next().map(|at| range.start + at as u64)
}

#[cfg(all(test, target_arch = "x86_64", target_env = "gnu"))]
mod tests {
    use super::*;
    use crate::window::ProcessMemory;

    /// What FS is based on, and an address on the stack.
    fn own() -> (u64, u64) {
        let (pointer, stack): (u64, u64);
        // SAFETY: the C library keeps the base at the base, which is read here.
        unsafe {
            std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly));
            std::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem));
        }
        (pointer, stack)
    }

    fn found() -> (u64, Option<u64>) {
        let pid = std::process::id();
        // SAFETY: takes nothing.
        let tid = unsafe { libc::gettid() } as u32;
        let (pointer, stack) = own();
        let mut pointers = ThreadPointers::default();
        let found = pointers.of(&mut ProcessMemory { pid }, pid, tid, stack);
        assert_eq!(pointers.known(tid), found);
        pointers.forget(pid);
        assert_eq!(pointers.known(tid), None);
        (pointer, found)
    }

    #[test]
    fn threads_have_it_at_the_end_of_their_stacks() {
        for _ in 0..3 {
            let (pointer, found) = std::thread::spawn(found).join().unwrap();
            assert_eq!(found, Some(pointer));
        }
    }

    #[test]
    fn a_process_that_is_not_there_has_none() {
        let mut pointers = ThreadPointers::default();
        let pid = u32::MAX >> 2;
        assert_eq!(pointers.of(&mut ProcessMemory { pid }, pid, pid, 0), None);
    }

    #[test]
    fn ends_of_mappings_without_a_file_come_into_question_where_the_stack_is_the_first_threads() {
        let maps = "1000-3000 rw-p 00000000 00:00 0 \n\
                    4000-6000 r--p 00000000 00:00 0\n\
                    7000-9000 rw-p 00000000 08:01 5 /lib/x\n\
                    a000-ffff000 rw-p 00000000 00:00 0\n\
                    7f0000000000-7f0000021000 rw-p 00000000 00:00 0 [stack]\n";
        let all = [0x1000..0x3000, 0xffe_f000..0xfff_f000];
        assert_eq!(places(maps, 0x7f00_0000_1000), all);
        assert_eq!(places(maps, 0xb000), all[1..]);
    }
}
