//! The recorded processes: their identities, and which still live.

use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;

use crate::process_handle::{has_ended, open_process};

/// A program in a process: another one after exec.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Image {
    pub pid: u32,
    pub image: u32,
}

/// Most images that are told apart; a recording of more is damaged.
const MOST_IMAGES: usize = 1 << 20;
/// Field of /proc/PID/stat, counted after the name in parentheses.
const START_TIME_FIELD: usize = 19;

struct Process {
    image: Image,
    /// Number in the trace, once a chunk of it was queued.
    number: Option<u32>,
    life: Life,
}

enum Life {
    Watched(OwnedFd),
    /// A process of that id exists, but is older than the recording. Either the id is that of another pid namespace, or the
    /// program overwrote it: the recording ends without it, and until then its buffers are left alone.
    Foreign,
    Ended,
}

/// A process that got its number in the trace.
pub struct Numbered {
    pub number: u32,
    pub parent: Option<u32>,
    /// It had no number before.
    pub is_new: bool,
}

pub struct Processes {
    known: Vec<Process>,
    by_image: HashMap<Image, usize>,
    /// Processes that had not ended by the last `note_ends`.
    lasting: Vec<usize>,
    numbered: u32,
    /// When the recorder started, in the kernel's clock ticks; 0 if that is unknown.
    start: u64,
}

impl Default for Processes {
    fn default() -> Self {
        Self {
            known: Vec::new(),
            by_image: HashMap::new(),
            lasting: Vec::new(),
            numbered: 0,
            start: start_of(std::process::id()).unwrap_or(0),
        }
    }
}

impl Processes {
    /// For a program that may be older than the recorder.
    pub fn of_any_age() -> Self {
        Self {
            start: 0,
            ..Self::default()
        }
    }

    /// Whether the image can be noticed.
    pub fn has_room_for(&self, image: Image) -> bool {
        self.known.len() < MOST_IMAGES || self.by_image.contains_key(&image)
    }

    /// Keeps an eye on a process from now on.
    pub fn notice(&mut self, image: Image) -> usize {
        if let Some(&index) = self.by_image.get(&image) {
            return index;
        }
        let index = self.known.len();
        let life = self.life_of(image.pid);
        if !matches!(life, Life::Ended) {
            self.lasting.push(index);
        }
        self.known.push(Process {
            image,
            number: None,
            life,
        });
        self.by_image.insert(image, index);
        index
    }

    /// The program states the id, so it may be any process's.
    fn life_of(&self, pid: u32) -> Life {
        match open_process(pid) {
            None => Life::Ended,
            Some(_) if start_of(pid).is_some_and(|start| start < self.start) => Life::Foreign,
            Some(descriptor) => Life::Watched(descriptor),
        }
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

    /// The process that forked it, or the same process before exec.
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

    /// Notes the processes that have ended since the last call. Returns the pids and numbers of those in the trace.
    pub fn note_ends(&mut self) -> Vec<(u32, u32)> {
        let mut ended = Vec::new();
        let known = &mut self.known;
        self.lasting.retain(|&index| {
            let process = &mut known[index];
            let has_ended = matches!(&process.life, Life::Watched(descriptor) if has_ended(descriptor));
            if has_ended {
                process.life = Life::Ended;
                ended.extend(process.number.map(|number| (process.image.pid, number)));
            }
            !has_ended
        });
        ended
    }

    /// The processes that live and are watched.
    pub fn watched(&self) -> impl Iterator<Item = u32> + '_ {
        let known = self.lasting.iter().map(|&index| &self.known[index]);
        known
            .filter(|process| matches!(process.life, Life::Watched(_)))
            .map(|process| process.image.pid)
    }

    /// The process executes another program: it counts as ended. Returns its number, if it is in the trace.
    pub fn note_exec(&mut self, pid: u32) -> Option<u32> {
        let known = &mut self.known;
        let mut number = None;
        self.lasting.retain(|&index| {
            let process = &mut known[index];
            if process.image.pid != pid {
                return true;
            }
            process.life = Life::Ended;
            number = process.number.or(number);
            false
        });
        number
    }

    /// Whether the process lived at the last `note_ends`.
    pub fn lives(&self, pid: u32) -> bool {
        self.lasting
            .iter()
            .any(|&index| self.known[index].image.pid == pid)
    }

    /// Whether one lives that the recording is to wait for.
    pub fn any_lives(&self) -> bool {
        let is_watched = |&index: &usize| matches!(self.known[index].life, Life::Watched(_));
        self.lasting.iter().any(is_watched)
    }

    /// Stops waiting for processes: what is left in their buffers can be taken.
    pub fn give_up_foreign(&mut self) {
        let known = &mut self.known;
        self.lasting.retain(|&index| {
            let is_foreign = matches!(known[index].life, Life::Foreign);
            if is_foreign {
                known[index].life = Life::Ended;
            }
            !is_foreign
        });
    }
}

/// When a process started, in the kernel's clock ticks; none if /proc doesn't say.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(START_TIME_FIELD)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pid: u32) -> Image {
        Image { pid, image: 1 }
    }

    #[test]
    fn older_processes_are_nobody_to_wait_for() {
        let mut processes = Processes::default();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        processes.notice(image(1)); // init
        processes.notice(image(child.id()));
        assert!(processes.lives(1) && processes.lives(child.id()) && processes.any_lives());
        child.kill().unwrap();
        child.wait().unwrap();
        processes.note_ends();
        assert!(processes.lives(1) && !processes.lives(child.id()) && !processes.any_lives());
        processes.give_up_foreign();
        assert!(!processes.lives(1));
    }

    #[test]
    fn impossible_ids_are_of_nobody() {
        let mut processes = Processes::default();
        for pid in [0, u32::MAX, 1 << 31, (1 << 31) - 1] {
            processes.notice(image(pid));
            assert!(!processes.lives(pid));
        }
    }
}
