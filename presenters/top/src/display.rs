//! Where samples go: the terminal, lines of text, files.

use std::io::Write;

use trackway_analysis::regions::live::Sample;
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_report::TextStyle;
use trackway_view::Target;

use crate::arguments::ViewArguments;
use crate::files::Files;
use crate::history::Histories;
use crate::page::{PageFile, Watched};
use crate::screen::Screen;
use crate::table::{table, Shown};

/// Rows of threads beneath their regions, if the window has no size.
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
    page: Option<PageFile>,
    watched: Watched,
    once: bool,
    /// A sample of less time, unless it is the first, is only the rest before the program's end.
    shortest_ns: u64,
    samples: u64,
}

impl Display {
    pub fn new(arguments: &ViewArguments, place: Place, title: &str) -> Result<Self, Failure> {
        let target = arguments
            .page
            .clone()
            .map(|path| Target::new(path, arguments.force));
        let new_page = |target| PageFile::new(target, arguments.sources.clone());
        let page = target.map(new_page).transpose()?;
        let watched = Watched {
            title: title.to_owned(),
            with_bytes: true,
            counts_all: true,
            ..Watched::default()
        };
        Ok(Display {
            files: Files::create(arguments)?,
            screen: (place == Place::Screen).then(|| Screen::new(title)),
            place,
            histories: Histories::default(),
            page,
            watched,
            once: arguments.once,
            shortest_ns: arguments.interval.as_nanos() as u64 / 2,
            samples: 0,
        })
    }

    /// Sets whether it is unknown what the counters stand for.
    pub fn without_bytes(&mut self, without: bool) {
        self.watched.with_bytes = !without;
    }

    /// Sets when the time of the samples begins, and whether the program counts all entries.
    pub fn begin(&mut self, begin_ns: u64, counts_all: bool) {
        (self.watched.begin_ns, self.watched.counts_all) = (begin_ns, counts_all);
    }

    pub fn show(&mut self, sample: &Sample) -> Result<(), Failure> {
        let Watched {
            begin_ns, with_bytes, ..
        } = self.watched;
        self.files.write(sample, begin_ns, with_bytes)?;
        let is_rest = self.samples > 0 && sample.duration_ns() < self.shortest_ns;
        if let Some(page) = &mut self.page {
            page.add(sample, is_rest);
        }
        self.samples += 1;
        if self.samples > 1 && (self.once || is_rest) {
            return Ok(());
        }
        self.histories.add(sample, with_bytes);
        let shown = Shown {
            sample,
            histories: &self.histories,
            title: self.title(sample),
            with_bytes,
        };
        match (self.place, &mut self.screen) {
            (_, Some(screen)) => screen.draw(&shown),
            (Place::StandardOutput, _) => output::print(&text(&shown)),
            (Place::StandardError, _) => {
                // Standard error may be closed, but the program goes on.
                let _ = std::io::stderr().lock().write_all(text(&shown).as_bytes());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// "12.5 s: the last 0.5 s", and a remark
    fn title(&self, sample: &Sample) -> String {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let now = seconds(sample.end_ns.saturating_sub(self.watched.begin_ns));
        let interval = seconds(sample.duration_ns());
        format!("{now:.1} s: the last {interval:.1} s{}", self.remark())
    }

    fn remark(&self) -> &'static str {
        match self.watched.counts_all {
            true => "",
            false => " (estimated: not all entries are counted)",
        }
    }

    /// A text on the whole run; none if that isn't wanted.
    pub fn conclusion(&self, whole: &Sample) -> Option<String> {
        let shown = Shown {
            sample: whole,
            histories: &self.histories,
            title: format!(
                "{:.1} s in all{}",
                whole.duration_ns() as f64 / 1e9,
                self.remark()
            ),
            with_bytes: self.watched.with_bytes,
        };
        let is_news = match self.place {
            Place::Nowhere => false,
            Place::Screen => true,
            Place::StandardOutput | Place::StandardError => self.samples > 1 && !self.once,
        };
        (is_news && !whole.regions.is_empty()).then(|| text(&shown))
    }

    /// Restores the terminal, and completes the files. Returns the page, if one is to be written.
    pub fn finish(self) -> Result<Option<(PageFile, Watched)>, Failure> {
        drop(self.screen);
        self.files
            .finish(self.watched.begin_ns, self.watched.with_bytes)?;
        Ok(self.page.map(|page| (page, self.watched)))
    }
}

fn text(shown: &Shown) -> String {
    TextStyle::PLAIN.table(&table(shown, THREAD_ROWS)) + "\n"
}
