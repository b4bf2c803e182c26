//! The view in a terminal: the other screen, drawn over each time. Keys are left to the program.

use std::io::{self, Stdout, Write};

use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{cursor, execute, queue, style};
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_report::{printable, TextStyle};

use crate::table::{table, Shown};

/// Lines above the rows: the program, the title and the headings.
const HEAD_LINES: usize = 6;
/// Size that is used if the terminal doesn't report one.
const SIZE: (u16, u16) = (80, 24);

pub struct Screen {
    output: Stdout,
    title: String,
    is_open: bool,
}

impl Screen {
    /// The terminal is taken over when something is drawn first.
    pub fn new(title: &str) -> Self {
        Screen {
            output: io::stdout(),
            title: printable(title),
            is_open: false,
        }
    }

    pub fn draw(&mut self, shown: &Shown) -> Result<(), Failure> {
        let (width, height) = terminal::size()
            .ok()
            .filter(|size| size.0 > 0 && size.1 > 0)
            .unwrap_or(SIZE);
        let text = text(shown, width.into(), height.into());
        let title: String = self.title.chars().take(width.into()).collect();
        let lines = [title.as_str(), ""].into_iter().chain(text.lines());
        let lines: Vec<&str> = lines.take(height.into()).collect();
        self.write(&lines).map_err(Failure::writing)
    }

    fn write(&mut self, lines: &[&str]) -> io::Result<()> {
        if !self.is_open {
            execute!(
                self.output,
                terminal::EnterAlternateScreen,
                cursor::Hide,
                terminal::DisableLineWrap
            )?;
            self.is_open = true;
        }
        queue!(self.output, terminal::BeginSynchronizedUpdate)?;
        for (row, line) in (0..).zip(lines) {
            let end = Clear(ClearType::UntilNewLine);
            queue!(self.output, cursor::MoveTo(0, row), style::Print(line), end)?;
        }
        queue!(
            self.output,
            Clear(ClearType::FromCursorDown),
            terminal::EndSynchronizedUpdate
        )?;
        self.output.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_open {
            // There is nothing left to do about a terminal that is gone.
            let _ = execute!(
                self.output,
                terminal::EnableLineWrap,
                cursor::Show,
                terminal::LeaveAlternateScreen
            );
        }
    }
}

/// All regions, with as many of their threads as there is room for.
fn text(shown: &Shown, width: usize, height: usize) -> String {
    let style = TextStyle {
        width: Some(width),
        ..output::terminal_style()
    };
    let rows = height.saturating_sub(HEAD_LINES + shown.sample.regions.len());
    style.table(&table(shown, rows))
}
