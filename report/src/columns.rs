//! Columns of a table in a terminal.

use unicode_width::UnicodeWidthStr;

use crate::names::all_abridged;
use crate::wrapping::{broken, cut_end, cut_path, last_part, pad_left, pad_right};
use crate::Unit;

pub const GAP: &str = "  ";
/// A column of texts is no wider, so that the other columns stay in sight; longer texts take several lines.
const MAX_TEXT_WIDTH: usize = 72;
/// What the titles of columns begin with whose cells are options of a command.
const COMMAND: &str = "trackway ";

/// A column as it is shown.
#[derive(Debug, Clone)]
pub struct TextColumn {
    pub title: String,
    pub cells: Vec<String>,
    /// The same cells with numbers of three digits that count, where they differ.
    pub brief: Option<Vec<String>>,
    pub unit: Unit,
    pub width: usize,
    /// Whether it only adds to another column.
    pub is_aside: bool,
    /// Whether the rows are in its order.
    pub is_ranking: bool,
    /// Whether the title may take several lines.
    pub is_folded: bool,
}

impl TextColumn {
    pub fn new(title: &str, cells: Vec<String>, unit: Unit) -> Self {
        let limit = match unit.is_text() && !is_command(title) {
            true => MAX_TEXT_WIDTH,
            false => usize::MAX,
        };
        TextColumn {
            title: title.to_owned(),
            width: widest(&cells).min(limit).max(title.width()),
            unit,
            cells,
            brief: None,
            is_aside: false,
            is_ranking: false,
            is_folded: false,
        }
    }

    /// Whether its cells are options of the command that its title begins with.
    pub fn is_command(&self) -> bool {
        is_command(&self.title)
    }

    /// Makes room for the longest cell.
    pub fn be_whole(&mut self) {
        self.width = widest(&self.cells).max(self.title_width());
    }

    /// Leaves out folders, arguments of templates and parameters of functions where a name doesn't fit. Text to type stays.
    pub fn shorten_names(&mut self) {
        if self.unit == Unit::Text && !self.is_command() {
            let width = self.width;
            self.cells = all_abridged(&self.cells, width);
            self.width = widest(&self.cells).max(self.title_width()).min(width);
        }
    }

    /// Whether no row says anything.
    pub fn is_dull(&self) -> bool {
        let says_nothing = |cell: &String| matches!(cell.as_str(), "" | "-" | "0" | "0.0" | "0.0 %");
        self.cells.iter().all(says_nothing)
    }

    /// Whether it has texts, none of which says anything.
    pub fn is_empty(&self) -> bool {
        self.unit.is_text() && self.cells.iter().all(String::is_empty)
    }

    /// The lines of a cell: texts on the left, numbers on the right. Names and numbers are never cut; paths lose their
    /// first folders, and source lines their end.
    pub fn lines(&self, row: usize) -> Vec<String> {
        let cell = &self.cells[row];
        match self.unit {
            Unit::Path if last_part(cell).width() <= self.width => vec![cut_path(cell, self.width)],
            Unit::Text | Unit::Path => broken(cell, self.width),
            Unit::Source => vec![cut_end(cell, self.width)],
            _ => vec![cell.clone()],
        }
    }

    pub fn align(&self, line: &str) -> String {
        match self.unit.is_text() {
            true => pad_right(line, self.width),
            false => pad_left(line, self.width),
        }
    }

    pub fn heading(&self) -> Vec<String> {
        match self.is_folded {
            true => self.title.split(' ').map(str::to_owned).collect(),
            false => vec![self.title.clone()],
        }
    }

    /// Puts each word of the title on its own line: the column is then as wide as its cells, or the longest word.
    pub fn fold(&mut self) {
        self.is_folded = true;
        self.be_whole();
    }

    /// Shows numbers with three digits that count.
    pub fn be_brief(&mut self) {
        if let Some(brief) = self.brief.take() {
            self.cells = brief;
            self.be_whole();
        }
    }

    /// The width at which file names are still whole, or in which texts take a few lines.
    pub fn least_width(&self, least_of_texts: usize) -> usize {
        let least = match self.unit {
            Unit::Path => self
                .cells
                .iter()
                .map(|cell| shortest_path(cell))
                .max()
                .unwrap_or(0),
            unit if unit.is_text() => least_of_texts,
            _ => return self.width,
        };
        least.max(self.title_width()).min(self.width)
    }

    fn title_width(&self) -> usize {
        let widths = self.heading();
        widths.iter().map(|word| word.width()).max().unwrap_or(0)
    }
}

/// The cells that a path takes whose folders are left out.
fn shortest_path(path: &str) -> usize {
    path.width().min(last_part(path).width() + "…/".width())
}

/// Whether a text is a command of ours, or begins one.
pub fn is_command(title: &str) -> bool {
    title.starts_with(COMMAND)
}

fn widest(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.width()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &str, cell: &str, unit: Unit, width: usize) -> TextColumn {
        TextColumn {
            width,
            ..TextColumn::new(title, vec![cell.to_owned()], unit)
        }
    }

    #[test]
    fn names_and_numbers_are_whole_at_any_width() {
        for width in [8, 12, 20, 60] {
            let name = column(
                "function",
                "std::vector<int>::push_back(int&&)",
                Unit::Text,
                width,
            );
            assert_eq!(
                name.lines(0).concat(),
                "std::vector<int>::push_back(int&&)",
                "{width}"
            );
            assert!(name.lines(0).iter().all(|line| line.width() <= width));
            let number = column("misses", "123,456,789,012", Unit::Count, width);
            assert_eq!(number.lines(0), ["123,456,789,012"]);
        }
    }

    #[test]
    fn paths_lose_folders_before_they_are_broken() {
        let lines = |width| column("file", "/long/path/to/file.c", Unit::Path, width).lines(0);
        assert_eq!(lines(20), ["/long/path/to/file.c"]);
        assert_eq!(lines(14), ["…/to/file.c"]);
        assert_eq!(lines(8), ["…/file.c"]);
        assert_eq!(lines(6), ["file.c"]);
        assert_eq!(lines(4).concat(), "/long/path/to/file.c");
        assert_eq!(
            column("file", "/long/path/to/file.c", Unit::Path, 20).least_width(1),
            8
        );
    }

    #[test]
    fn commands_stay_in_one_line() {
        let options = format!("--split '{}'", "member,".repeat(20));
        let column = TextColumn::new("trackway whatif t.trackway", vec![options.clone()], Unit::Text);
        assert_eq!(column.lines(0), [options]);
    }
}
