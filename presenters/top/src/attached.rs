//! Watches a program that another recorder records.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_recorder::{attach, measure_clock, Attachment};
use trackway_trace::{Follower, GrowingTrace};

use crate::arguments::ViewArguments;
use crate::display::{Display, Place};
use crate::watcher::Watcher;

/// A recording that has just begun writes its first chunk within this time.
const LONGEST_BIRTH: Duration = Duration::from_secs(2);
const SHORT_WAIT: Duration = Duration::from_millis(5);

/// A recording, and what its recorder writes.
struct Watched {
    attachment: Attachment,
    follower: Option<Follower>,
    watcher: Watcher,
}

pub fn run(pid: u32, arguments: &ViewArguments) -> Result<ExitCode, Failure> {
    let mut attachment = attach(pid).map_err(|error| Failure::new(error.to_string()))?;
    let is_told = catch_signals()?;
    let mut follower = attachment
        .trace
        .take()
        .map(|(path, file)| Follower::new(&path, file));
    if follower.is_none() && !arguments.quiet {
        output::warn(format!(
            "recorder {} writes no file, and only that has the program's tables: there are times and entries, but no bytes",
            attachment.recorder
        ));
    }
    let watcher = begin(&attachment, &mut follower)?;
    let place = match (arguments.quiet, io::stdout().is_terminal() && !arguments.once) {
        (true, _) => Place::Nowhere,
        (false, true) => Place::Screen,
        (false, false) => Place::StandardOutput,
    };
    let mut display = Display::new(arguments, place, &format!("process {pid}"))?;
    display.without_bytes(follower.is_none());
    let mut watched = Watched {
        attachment,
        follower,
        watcher,
    };
    watched.catch_up()?;
    watched.watcher.sample(); // what came before
    display.begin(watched.watcher.begin_ns, watched.attachment.ring.counts_all());
    watched.watch(&mut display, arguments, &is_told)?;
    if let Some((page, watched)) = display.finish()? {
        page.write(&watched, None, arguments.quiet)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sets the flag when the user ends the view.
fn catch_signals() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&flag))
            .map_err(|error| Failure::new(format!("cannot catch signals: {error}")))?;
    }
    Ok(flag)
}

/// A watcher with the recording's clock; if that is unknown, with the clock of this process.
fn begin(attachment: &Attachment, follower: &mut Option<Follower>) -> Result<Watcher, Failure> {
    let mut growing = GrowingTrace::new("the trace".as_ref());
    let Some(follower) = follower else {
        return Ok(Watcher::new(growing, measure_clock()));
    };
    let begun = Instant::now();
    loop {
        let next = follower.next_chunk()?;
        if let Some((header, chunk)) = &next {
            growing.push(header, chunk);
        }
        if let Some(clock) = clock_of(&growing) {
            return Ok(Watcher::new(growing, clock));
        }
        if next.is_none() && (begun.elapsed() > LONGEST_BIRTH || attachment.wait_for_end(SHORT_WAIT)) {
            return Ok(Watcher::new(growing, measure_clock()));
        }
    }
}

fn clock_of(growing: &GrowingTrace) -> Option<trackway_trace::Clock> {
    growing.trace().meta().clock.clone()
}

impl Watched {
    /// Takes what the recorder has written, and what is in the ring.
    fn catch_up(&mut self) -> Result<(), Failure> {
        self.follow()?;
        self.watcher.look(&self.attachment.ring);
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Failure> {
        while let Some((header, chunk)) = self.follower.as_mut().map_or(Ok(None), Follower::next_chunk)? {
            self.watcher.take(&header, chunk)?;
        }
        Ok(())
    }

    /// Watches until the recording ends, or the user ends the view.
    fn watch(
        &mut self,
        display: &mut Display,
        arguments: &ViewArguments,
        is_told: &AtomicBool,
    ) -> Result<(), Failure> {
        let mut next = Instant::now() + arguments.interval;
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            let is_last = self.attachment.wait_for_end(wait) || is_told.load(Ordering::Relaxed);
            if !is_last && Instant::now() < next {
                continue;
            }
            self.catch_up()?;
            let sample = self.watcher.sample();
            display.show(&sample)?;
            if is_last || arguments.once {
                return Ok(());
            }
            next = (next + arguments.interval).max(Instant::now() + arguments.interval / 2);
        }
    }
}
