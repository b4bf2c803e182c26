//! Lets the program know that its recorder lives: a word in the ring that the kernel marks however the recorder ends.
//!
//! The word holds the id of a thread of the recorder, and nothing else. That thread registers a robust list of its own
//! (`set_robust_list(2)`) with one entry, which leads to the word. When the thread ends, by its own will or with the
//! process, the kernel sets TRACKWAY_RECORDER_DIED in the word. All pointers of the list lie in private memory, so the
//! program can't lead the kernel elsewhere: with the word it can only end its own recording.
//!
//! Unlike a process id the mark is never reused and means the same in every pid namespace. Unlike a descriptor or a file
//! lock it survives programs that close all descriptors, and needs neither /proc nor a system call to look at.

use std::io;
use std::mem::size_of;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{channel, Sender};
use std::thread::JoinHandle;

use crate::ring::Ring;

/// Exactly while it exists, the program takes the recorder for alive.
pub struct Liveness<'ring> {
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Must outlive the thread, which the kernel follows into the ring.
    _ring: &'ring Ring,
}

/// `struct robust_list_head` of linux/futex.h and its only entry.
#[repr(C)]
struct RobustList {
    /// Head: the first entry.
    first: *const Entry,
    /// Bytes from an entry to its word.
    futex_offset: isize,
    pending: *const Entry,
    entry: Entry,
}

#[repr(C)]
struct Entry {
    /// The head again: it is the last.
    next: *const Entry,
}

/// Size that the kernel expects of the head.
const HEAD_LENGTH: usize = 3 * size_of::<usize>();

impl<'ring> Liveness<'ring> {
    pub fn begin(ring: &'ring Ring) -> io::Result<Self> {
        let word = ring.recorder_thread().as_ptr() as usize;
        let (end, ended) = channel::<()>();
        let (tell, told) = channel();
        let thread = std::thread::Builder::new()
            .name("trackway-life".into())
            .spawn(move || {
                // Leaked: the kernel reads it after the thread's last instruction.
                let list = Box::leak(RobustList::leading_to(word));
                // SAFETY: `Liveness` keeps the ring, which holds the word, until this thread has ended.
                let word = unsafe { AtomicU32::from_ptr(word as *mut u32) };
                let _ = tell.send(list.register().map(|()| word.store(thread_id(), SeqCst)));
                let _ = ended.recv(); // fails once the sender is dropped
            })?;
        let liveness = Self {
            end: Some(end),
            thread: Some(thread),
            _ring: ring,
        };
        match told.recv() {
            Ok(registered) => registered.map(|()| liveness),
            Err(_) => Err(io::Error::other("its thread ended")),
        }
    }
}

impl Drop for Liveness<'_> {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl RobustList {
    fn leading_to(word: usize) -> Box<Self> {
        let none = std::ptr::null();
        let mut list = Box::new(Self {
            first: none,
            futex_offset: 0,
            pending: none,
            entry: Entry { next: none },
        });
        list.entry.next = std::ptr::from_ref(&*list).cast();
        list.first = &raw const list.entry;
        list.futex_offset = word.wrapping_sub(list.first as usize) as isize;
        list
    }

    /// Registers the list for the calling thread, whose C library loses its own: the thread must lock no robust mutex.
    fn register(&'static self) -> io::Result<()> {
        // SAFETY: the list is never freed and has the kernel's layout.
        let result = unsafe { libc::syscall(libc::SYS_set_robust_list, &raw const *self, HEAD_LENGTH) };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn thread_id() -> u32 {
    // SAFETY: it has no preconditions.
    unsafe { libc::gettid() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::RECORDER_DIED as DIED;
    use crate::options::{Output, RecordOptions};

    fn ring() -> Ring {
        Ring::create(&RecordOptions::new("p", Output::Discard)).unwrap()
    }

    #[test]
    fn the_kernel_marks_the_word_at_the_end() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        let liveness = Liveness::begin(&ring).unwrap();
        let alive = ring.recorder_thread().load(SeqCst);
        assert!(alive != 0 && alive & DIED == 0, "{alive:#x}");
        drop(liveness);
        assert_eq!(ring.recorder_thread().load(SeqCst) & DIED, DIED);
    }

    #[test]
    fn what_the_program_writes_there_harms_nobody() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        for hostile in [0, 1, u32::MAX, 0x8000_0000, std::process::id()] {
            let liveness = Liveness::begin(&ring).unwrap();
            ring.recorder_thread().store(hostile, SeqCst);
            drop(liveness);
        }
    }
}
