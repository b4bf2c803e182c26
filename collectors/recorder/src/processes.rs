//! The recorded processes: who they are, and which still live.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{poll, PollFd, PollFlags, Timespec};

use crate::program::open_process;

/// A program in a process: another one after exec.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Image {
    pub pid: u32,
    pub image: u32,
}

struct Process {
    image: Image,
    /// Number in the trace, once a chunk of it was queued.
    number: Option<u32>,
    /// None once it has ended.
    descriptor: Option<OwnedFd>,
}

/// A process that got its number in the trace.
pub struct Numbered {
    pub number: u32,
    pub parent: Option<u32>,
    /// It had no number before.
    pub is_new: bool,
}

#[derive(Default)]
pub struct Processes {
    known: Vec<Process>,
    by_image: HashMap<Image, usize>,
    numbered: u32,
}

impl Processes {
    /// Keeps an eye on a process from now on.
    pub fn notice(&mut self, image: Image) -> usize {
        *self.by_image.entry(image).or_insert_with(|| {
            self.known.push(Process {
                image,
                number: None,
                descriptor: open_process(image.pid),
            });
            self.known.len() - 1
        })
    }

    pub fn is_numbered(&self, image: Image) -> bool {
        let known = self.by_image.get(&image);
        known.is_some_and(|&index| self.known[index].number.is_some())
    }

    /// The process's number in the trace. `parent_pid`: 0 if it was not forked from a recorded process.
    pub fn number(&mut self, image: Image, parent_pid: u32) -> Numbered {
        let index = self.notice(image);
        if let Some(number) = self.known[index].number {
            return Numbered {
                number,
                parent: None,
                is_new: false,
            };
        }
        let parent = self.parent_number(index, parent_pid);
        let number = self.numbered;
        self.numbered += 1;
        self.known[index].number = Some(number);
        Numbered {
            number,
            parent,
            is_new: true,
        }
    }

    /// Who forked it, or was the same process before exec.
    fn parent_number(&self, index: usize, parent_pid: u32) -> Option<u32> {
        let image = self.known[index].image;
        let is_parent = |earlier: &&Process| {
            let forked = earlier.image.pid == parent_pid && earlier.image.image == image.image;
            forked || earlier.image.pid == image.pid
        };
        self.known
            .iter()
            .rev()
            .filter(|process| process.number.is_some())
            .find(is_parent)?
            .number
    }

    /// The number of the process's last image.
    pub fn latest_number(&self, pid: u32) -> Option<u32> {
        let of_process = |process: &&Process| process.image.pid == pid && process.number.is_some();
        self.known.iter().rev().find(of_process)?.number
    }

    pub fn numbered(&self) -> u32 {
        self.numbered
    }

    /// Finds out who has ended since the last call; returns the pids and numbers of those in the trace.
    pub fn note_ends(&mut self) -> Vec<(u32, u32)> {
        let mut ended = Vec::new();
        for process in &mut self.known {
            if process.descriptor.as_ref().is_some_and(has_ended) {
                process.descriptor = None;
                ended.extend(process.number.map(|number| (process.image.pid, number)));
            }
        }
        ended
    }

    /// By the last `note_ends`.
    pub fn lives(&self, pid: u32) -> bool {
        self.known
            .iter()
            .any(|process| process.image.pid == pid && process.descriptor.is_some())
    }

    pub fn any_lives(&self) -> bool {
        self.known.iter().any(|process| process.descriptor.is_some())
    }
}

fn has_ended(descriptor: &OwnedFd) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN)];
    poll(
        &mut watched,
        Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }),
    )
    .is_ok_and(|ready| ready > 0)
}
