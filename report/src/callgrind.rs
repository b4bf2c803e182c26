//! The format of callgrind.out files, version 1, for KCachegrind and callgrind_annotate.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::{Column, Table, Unit};

/// What stands at the beginning of the file.
#[derive(Debug, Clone)]
pub struct CallgrindHeader {
    /// The tool and its version.
    pub creator: String,
    /// The program with its arguments.
    pub command: String,
    /// Where relative paths of sources start.
    pub directory: String,
}

/// Callgrind's name for an unknown file.
const UNKNOWN_FILE: &str = "???";

/// Calls of inlined functions are not counted; callgrind_annotate takes the costs of 0 calls for the caller's own.
const LEAST_CALLS: u64 = 1;

/// A name and a file.
type Function<'t> = (&'t str, &'t str);

#[derive(Default)]
struct Block<'t> {
    /// File, line, costs.
    lines: Vec<(&'t str, u64, Vec<u64>)>,
    /// Callee, number of calls, inclusive costs.
    calls: Vec<(Function<'t>, u64, Vec<u64>)>,
}

/// `lines`: a table with `function`, `function_file`, `file`, `line`; `calls`: one with `caller`, `caller_file`, `callee`,
/// `callee_file`, `calls`. All further counts that both have are events. None if a column is missing.
pub fn to_callgrind(header: &CallgrindHeader, lines: &Table, calls: &Table) -> Option<String> {
    let events = events(lines, calls);
    let mut blocks: BTreeMap<Function, Block> = BTreeMap::new();
    let totals = add_lines(&mut blocks, lines, &events)?;
    add_calls(&mut blocks, calls, &events)?;
    let mut writer = Writer {
        text: begin(header, lines, &events, &totals),
        directory: &header.directory,
        files: HashMap::new(),
        functions: HashMap::new(),
    };
    for (function, block) in &blocks {
        writer.block(*function, block);
    }
    Some(writer.text)
}

fn events<'t>(lines: &'t Table, calls: &Table) -> Vec<&'t str> {
    let counts = lines
        .columns()
        .filter(|column| matches!(column.unit(), Unit::Count | Unit::Bytes));
    counts
        .map(|column| column.name())
        .filter(|name| calls.column(name).is_some())
        .collect()
}

fn begin(header: &CallgrindHeader, lines: &Table, events: &[&str], totals: &[u64]) -> String {
    let one_line = |text: &str| text.replace(char::is_control, " ");
    let mut text = format!(
        "# callgrind format\nversion: 1\ncreator: {}\ncmd: {}\npositions: line\n",
        one_line(&header.creator),
        one_line(&header.command)
    );
    for event in events {
        let title = lines.column(event).map_or(*event, |column| column.title());
        let _ = writeln!(text, "event: {event} : {title}");
    }
    let _ = writeln!(text, "events: {}\nsummary: {}", events.join(" "), joined(totals));
    text
}

fn add_lines<'t>(
    blocks: &mut BTreeMap<Function<'t>, Block<'t>>,
    table: &'t Table,
    events: &[&str],
) -> Option<Vec<u64>> {
    let (function, function_file) = (table.column("function")?, table.column("function_file")?);
    let (file, line) = (table.column("file")?, table.column("line")?);
    let mut totals = vec![0u64; events.len()];
    for row in 0..table.row_count() {
        let costs = costs(table, events, row);
        totals
            .iter_mut()
            .zip(&costs)
            .for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
        let block = blocks
            .entry((text(function, row), text(function_file, row)))
            .or_default();
        block.lines.push((text(file, row), integer(line, row), costs));
    }
    Some(totals)
}

/// Calls from outside have no caller in the file.
fn add_calls<'t>(
    blocks: &mut BTreeMap<Function<'t>, Block<'t>>,
    table: &'t Table,
    events: &[&str],
) -> Option<()> {
    let (caller, caller_file) = (table.column("caller")?, table.column("caller_file")?);
    let (callee, callee_file) = (table.column("callee")?, table.column("callee_file")?);
    let calls = table.column("calls")?;
    for row in 0..table.row_count() {
        if text(caller_file, row).is_empty() {
            continue;
        }
        let block = blocks
            .entry((text(caller, row), text(caller_file, row)))
            .or_default();
        let callee = (text(callee, row), text(callee_file, row));
        block
            .calls
            .push((callee, integer(calls, row), costs(table, events, row)));
    }
    Some(())
}

fn costs(table: &Table, events: &[&str], row: usize) -> Vec<u64> {
    events
        .iter()
        .map(|event| table.column(event).map_or(0, |column| integer(column, row)))
        .collect()
}

fn text(column: Column<'_>, row: usize) -> &str {
    column.text(row).unwrap_or("")
}

/// 0 for what is unknown.
fn integer(column: Column, row: usize) -> u64 {
    column.integer(row).unwrap_or(0)
}

fn joined(costs: &[u64]) -> String {
    costs.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

struct Writer<'h> {
    text: String,
    directory: &'h str,
    /// Names that were written before, with the numbers that stand for them.
    files: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

impl Writer<'_> {
    fn block(&mut self, (function, function_file): Function, block: &Block) {
        let file = self.file(function_file);
        let function = number(
            &mut self.functions,
            &format!("{function_file}\0{function}"),
            function,
        );
        let _ = writeln!(self.text, "\nfl={file}\nfn={function}");
        let mut lines: Vec<_> = block.lines.iter().collect();
        lines.sort_by_key(|(file, line, _)| (*file != function_file, *file, *line));
        let mut present = function_file;
        for (file, line, costs) in lines {
            if *file != present {
                let number = self.file(file);
                let _ = writeln!(self.text, "fi={number}");
                present = file;
            }
            let _ = writeln!(self.text, "{line} {}", joined(costs));
        }
        if present != function_file {
            let number = self.file(function_file);
            let _ = writeln!(self.text, "fe={number}");
        }
        for ((callee, file), calls, costs) in &block.calls {
            let calls = (*calls).max(LEAST_CALLS);
            let number_of_file = self.file(file);
            let callee = number(&mut self.functions, &format!("{file}\0{callee}"), callee);
            // Where in the caller the call stands, and where the callee begins, is not known.
            let _ = writeln!(
                self.text,
                "cfi={number_of_file}\ncfn={callee}\ncalls={calls} 0\n0 {}",
                joined(costs)
            );
        }
    }

    fn file(&mut self, file: &str) -> String {
        let path = match file {
            "" | "(unknown)" => UNKNOWN_FILE.to_owned(),
            absolute if absolute.starts_with('/') || self.directory.is_empty() => absolute.to_owned(),
            relative => format!("{}/{relative}", self.directory),
        };
        number(&mut self.files, &path, &path)
    }
}

/// `(3) name` where the name comes for the first time, then `(3)`.
fn number(known: &mut HashMap<String, usize>, key: &str, name: &str) -> String {
    let next = known.len() + 1;
    match known.get(key) {
        Some(number) => format!("({number})"),
        None => {
            known.insert(key.to_owned(), next);
            format!("({next}) {}", name.replace(char::is_control, " "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    #[test]
    fn functions_have_their_lines_and_calls() {
        let lines = [
            ("main", "a.c", "a.c", 3, 10),
            ("main", "a.c", "/b.h", 7, 5),
            ("f", "a.c", "a.c", 9, 2),
        ];
        let lines = TableBuilder::new("function_lines", "", &lines)
            .text(("function", ""), |row| row.0)
            .path(("function_file", ""), |row| row.1)
            .path(("file", ""), |row| row.2)
            .number(("line", ""), |row| row.3)
            .count(("accesses", "memory accesses"), |row| row.4)
            .build();
        let calls = [
            ("(outside)", "", "main", "a.c", 1, 17),
            ("main", "a.c", "f", "a.c", 4, 2),
            ("main", "a.c", "inlined", "a.c", 0, 3),
        ];
        let calls = TableBuilder::new("calls", "", &calls)
            .text(("caller", ""), |row| row.0)
            .path(("caller_file", ""), |row| row.1)
            .text(("callee", ""), |row| row.2)
            .path(("callee_file", ""), |row| row.3)
            .count(("calls", ""), |row| row.4)
            .count(("accesses", ""), |row| row.5)
            .build();
        let header = CallgrindHeader {
            creator: "trackway 1".into(),
            command: "./a 1\n2".into(),
            directory: "/src".into(),
        };
        assert_eq!(
            to_callgrind(&header, &lines, &calls).unwrap(),
            "# callgrind format\nversion: 1\ncreator: trackway 1\ncmd: ./a 1 2\npositions: line\n\
             event: accesses : memory accesses\nevents: accesses\nsummary: 17\n\
             \nfl=(1) /src/a.c\nfn=(1) f\n9 2\n\
             \nfl=(1)\nfn=(2) main\n3 10\nfi=(2) /b.h\n7 5\nfe=(1)\n\
             cfi=(1)\ncfn=(1)\ncalls=4 0\n0 2\ncfi=(1)\ncfn=(3) inlined\ncalls=1 0\n0 3\n"
        );
        assert_eq!(to_callgrind(&header, &calls, &calls), None);
    }
}
