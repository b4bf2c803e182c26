//! What `perf script` prints of samples of memory accesses.

use std::collections::HashMap;
use std::io::{self, Write};

use super::{Access, Executed, Format, ThreadId};

/// One line of a sample's stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub address: u64,
    /// A function, perhaps with an offset.
    pub symbol: String,
    /// A file.
    pub object: String,
}

/// Which accesses are written, and what is written for each.
pub struct Samples<'s> {
    /// Every nth access of a thread is written; at least 1.
    pub every: u64,
    /// The program's name.
    pub program: &'s str,
    /// The innermost function first.
    pub stack: &'s dyn Fn(&Executed, &Access) -> Vec<Frame>,
}

/// A line for the sample (program, process/thread, processor, time in seconds, how many accesses it stands for, event,
/// address of the data), a line for each frame, and an empty line.
pub struct PerfScript<'s, W: Write> {
    output: W,
    samples: Samples<'s>,
    /// Accesses of each thread so far.
    counts: HashMap<ThreadId, u64>,
}

impl<'s, W: Write> PerfScript<'s, W> {
    pub fn new(output: W, samples: Samples<'s>) -> Self {
        PerfScript {
            output,
            samples,
            counts: HashMap::new(),
        }
    }

    fn count(&mut self, thread: ThreadId) -> u64 {
        let count = self.counts.entry(thread).or_default();
        *count += 1;
        *count
    }

    fn sample(&mut self, executed: &Executed, access: &Access) -> io::Result<()> {
        let ThreadId { process, thread, .. } = executed.thread;
        let (seconds, microseconds) = (
            executed.time_ns / 1_000_000_000,
            executed.time_ns / 1000 % 1_000_000,
        );
        let event = match access.writes {
            true => "mem-stores",
            false => "mem-loads",
        };
        writeln!(
            self.output,
            "{} {process}/{thread} [000] {seconds}.{microseconds:06}: {} {event}: {:16x}",
            self.samples.program, self.samples.every, access.address
        )?;
        for frame in (self.samples.stack)(executed, access) {
            writeln!(
                self.output,
                "\t{:16x} {} ({})",
                frame.address, frame.symbol, frame.object
            )?;
        }
        writeln!(self.output)
    }
}

impl<W: Write> Format for PerfScript<'_, W> {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        for access in executed.accesses {
            if self.count(executed.thread).is_multiple_of(self.samples.every) {
                self.sample(executed, access)?;
            }
        }
        Ok(())
    }
}
