//! Where samples go: the terminal, lines of text, files.

use std::io::Write;

use trackway_analysis::regions::live::Sample;

use super::arguments::ViewArguments;
use super::files::Files;
use super::history::Histories;
use super::screen::Screen;
use super::table::{table, Shown};
use crate::failure::Failure;
use crate::output::{self, PLAIN_STYLE};

/// Rows of threads beneath their regions, where the window doesn't say.
const THREAD_ROWS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Nowhere,
    Screen,
    StandardOutput,
    StandardError,
}

pub struct Display {
    place: Place,
    screen: Option<Screen>,
    files: Files,
    histories: Histories,
    begin_ns: u64,
    with_bytes: bool,
    once: bool,
    /// Between the last interval and the program's end may be too little time to say anything.
    shortest_ns: u64,
    samples: u64,
}

impl Display {
    pub fn new(arguments: &ViewArguments, place: Place, title: &str) -> Result<Self, Failure> {
        Ok(Display {
            files: Files::create(arguments)?,
            screen: (place == Place::Screen).then(|| Screen::new(title)),
            place,
            histories: Histories::default(),
            begin_ns: 0,
            with_bytes: true,
            once: arguments.once,
            shortest_ns: arguments.interval.as_nanos() as u64 / 2,
            samples: 0,
        })
    }

    /// Nothing says what the counters stand for.
    pub fn without_bytes(&mut self, without: bool) {
        self.with_bytes = !without;
    }

    /// When the time of the samples begins.
    pub fn begin(&mut self, begin_ns: u64) {
        self.begin_ns = begin_ns;
    }

    pub fn show(&mut self, sample: &Sample) -> Result<(), Failure> {
        self.files.write(sample, self.begin_ns, self.with_bytes)?;
        self.histories.add(sample, self.with_bytes);
        self.samples += 1;
        if self.samples > 1 && (self.once || sample.duration_ns() < self.shortest_ns) {
            return Ok(());
        }
        let shown = Shown {
            sample,
            histories: &self.histories,
            begin_ns: self.begin_ns,
            with_bytes: self.with_bytes,
        };
        match (self.place, &mut self.screen) {
            (_, Some(screen)) => screen.draw(&shown),
            (Place::StandardOutput, _) => output::print(&text(&shown)),
            (Place::StandardError, _) => {
                // Nobody may read it, but the program goes on.
                let _ = std::io::stderr().lock().write_all(text(&shown).as_bytes());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Leaves the terminal as it was, and completes the files.
    pub fn finish(self) -> Result<(), Failure> {
        drop(self.screen);
        self.files.finish(self.begin_ns, self.with_bytes)
    }
}

fn text(shown: &Shown) -> String {
    PLAIN_STYLE.table(&table(shown, THREAD_ROWS)) + "\n"
}
