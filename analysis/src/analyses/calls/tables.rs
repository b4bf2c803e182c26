//! Stacks, calls and lines with what they cost.

use std::collections::HashMap;
use std::path::Path;

use trackway_report::{percent, Table, TableBuilder};
use trackway_trace::{Program, StringId, Trace};

use super::clock::Clock;
use super::tree::{Cost, Tree, ROOT};
use super::CallsShard;
use crate::model::cache::Caches;
use crate::model::{path_inside, Names};
use crate::Findings;

/// Stands before a stack whose beginning is not kept.
const CUT: &str = "(...)";
/// The caller of functions that nothing recorded calls.
const OUTSIDE: &str = "(outside)";

pub(super) struct Presenter<'p> {
    pub shard: &'p CallsShard,
    pub program: &'p Program,
    names: Names<'p>,
    /// Working directory of the recorded program. Paths are shown without it.
    directory: &'p Path,
    pub levels: usize,
    top: usize,
}

impl<'p> Presenter<'p> {
    pub fn new(shard: &'p CallsShard, trace: &'p Trace, caches: &Caches, top: usize) -> Presenter<'p> {
        let program = trace.program();
        Presenter {
            shard,
            program,
            names: Names::new(program),
            directory: Path::new(&trace.meta().working_directory),
            levels: caches.levels().len(),
            top,
        }
    }

    pub fn findings(&self) -> Findings {
        let stacks = self.stacks();
        Findings {
            answer: Some(self.answer(&stacks)),
            tables: vec![
                self.stacks_table(&stacks),
                self.calls_table(),
                self.lines_table(),
                self.repairs_table(),
            ],
        }
    }
}

struct StackRow {
    stack: String,
    /// Inlined functions at its end.
    inlined: u64,
    cost: Cost,
}

struct CallRow {
    caller: Option<u32>,
    callee: u32,
    /// 0 if it was inlined only.
    calls: u64,
    cost: Cost,
}

struct LineRow {
    function: u32,
    file: StringId,
    line: u32,
    cost: Cost,
}

impl Presenter<'_> {
    pub fn tree(&self) -> &Tree {
        &self.shard.tree
    }

    /// Stacks that accessed memory; the same names in different files stay apart.
    fn stacks(&self) -> Vec<StackRow> {
        let nodes = self.tree().nodes().iter().zip(0..);
        let mut rows: Vec<StackRow> = nodes
            .filter(|(node, _)| node.cost.accesses > 0)
            .map(|(node, number)| StackRow {
                stack: self.stack(number),
                inlined: self.inlined(number),
                cost: node.cost,
            })
            .collect();
        rows.sort_by(|a, b| {
            b.cost
                .accesses
                .cmp(&a.cost.accesses)
                .then_with(|| a.stack.cmp(&b.stack))
                .then(a.inlined.cmp(&b.inlined))
        });
        rows
    }

    /// The outermost function first. The separator occurs in no name.
    fn stack(&self, node: u32) -> String {
        let tree = self.tree();
        let function = |node: u32| {
            self.function(tree.nodes()[node as usize].function)
                .replace(';', ",")
        };
        let mut functions: Vec<String> = tree.path(node).map(function).collect();
        if tree.is_cut(node) {
            functions.push(CUT.into());
        }
        functions.reverse();
        functions.join(";")
    }

    fn inlined(&self, node: u32) -> u64 {
        let tree = self.tree();
        let inlined = tree.path(node);
        inlined
            .take_while(|&node| tree.nodes()[node as usize].is_inlined)
            .count() as u64
    }

    fn calls(&self) -> Vec<CallRow> {
        let tree = self.tree();
        let inclusive = tree.inclusive_costs();
        let mut rows: HashMap<(Option<u32>, u32), CallRow> = HashMap::new();
        for (from, call) in tree.calls() {
            let node = &tree.nodes()[call.node as usize];
            let was_inlined = node.is_inlined && node.parent == from;
            if call.count == 0 && !was_inlined {
                continue;
            }
            let caller = tree
                .path(from)
                .next()
                .map(|from| tree.nodes()[from as usize].function);
            let row = rows.entry((caller, node.function)).or_insert(CallRow {
                caller,
                callee: node.function,
                calls: 0,
                cost: Cost::default(),
            });
            row.calls += call.count;
            // What a recursive call costs counts where the function was called first.
            if node.parent == from {
                row.cost += &inclusive[call.node as usize];
            }
        }
        let mut rows: Vec<CallRow> = rows.into_values().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.cost.accesses), row.caller, row.callee));
        rows
    }

    fn lines(&self) -> Vec<LineRow> {
        let mut rows: HashMap<(u32, StringId, u32), LineRow> = HashMap::new();
        let sites = self
            .program
            .sites
            .iter()
            .zip(&self.shard.numbered.sites)
            .zip(&self.shard.counts)
            .zip(self.cycles_of_sites());
        for (((site, traits), counts), cycles) in sites.filter(|((_, counts), _)| counts.accesses > 0) {
            let location = self.program.location(site.location);
            let key = (traits.written_in, location.file, location.line);
            let row = rows.entry(key).or_insert(LineRow {
                function: key.0,
                file: key.1,
                line: key.2,
                cost: Cost::default(),
            });
            row.cost += &Cost {
                accesses: counts.accesses,
                reads: if traits.reads { counts.accesses } else { 0 },
                writes: if traits.writes { counts.accesses } else { 0 },
                bytes: counts.bytes,
                misses: counts.misses,
                cycles,
            };
        }
        let mut rows: Vec<LineRow> = rows.into_values().collect();
        rows.sort_by_key(|row| {
            (
                std::cmp::Reverse(row.cost.accesses),
                row.function,
                row.file,
                row.line,
            )
        });
        rows
    }

    fn stacks_table(&self, rows: &[StackRow]) -> Table {
        let builder = self
            .start("stacks", "Stacks", rows)
            .text("stack", |row| row.stack.clone())
            .number("inlined", |row| row.inlined);
        self.add_cost(builder, |row| &row.cost).build()
    }

    fn calls_table(&self) -> Table {
        let rows = self.calls();
        let name =
            |function: Option<u32>| function.map_or(OUTSIDE.into(), |function| self.function(function));
        let file = |function: Option<u32>| function.map_or(String::new(), |function| self.file_of(function));
        let builder = self
            .start("calls", "Calls", &rows)
            .text("caller", |row| name(row.caller))
            .path(("caller_file", "in"), |row| file(row.caller))
            .text(("callee", "called"), |row| self.function(row.callee))
            .path(("callee_file", "in"), |row| self.file_of(row.callee))
            .count("calls", |row| (row.calls > 0).then_some(row.calls));
        self.add_cost(builder, |row| &row.cost).build()
    }

    fn lines_table(&self) -> Table {
        let rows = self.lines();
        let builder = self
            .start("function_lines", "Lines of functions", &rows)
            .text("function", |row| self.function(row.function))
            .path(("function_file", "in"), |row| self.file_of(row.function))
            .path("file", |row| self.path(row.file))
            .number("line", |row| (row.line > 0).then_some(row.line));
        self.add_cost(builder, |row| &row.cost).build()
    }

    fn repairs_table(&self) -> Table {
        let repairs = self.shard.all_repairs();
        let nodes = self.tree().nodes().len() as u64;
        TableBuilder::new("stack_repairs", "How the stacks were found", &[repairs])
            .count(("paths", "different paths"), |_| nodes.saturating_sub(2))
            .count(("missing_exits", "functions left without an exit"), |row| {
                row.missing_exits
            })
            .count(("missing_entries", "functions entered unseen"), |row| {
                row.missing_entries
            })
            .count(("stray_exits", "exits of functions not on the stack"), |row| {
                row.stray_exits
            })
            .count(("too_deep", "entries beyond the greatest depth"), |row| {
                row.too_deep
            })
            .as_record()
            .build()
    }

    /// The table of the top rows.
    fn start<'r, R>(&self, name: &str, title: &str, rows: &'r [R]) -> TableBuilder<'r, R> {
        TableBuilder::top(name, format!("{title} by accesses"), rows, self.top)
            .total_rows(rows.len())
            .ranked_by("accesses")
    }

    fn add_cost<'r, R>(
        &self,
        builder: TableBuilder<'r, R>,
        cost: impl Fn(&R) -> &Cost,
    ) -> TableBuilder<'r, R> {
        let mut builder = builder
            .count("accesses", |row| cost(row).accesses)
            .count("reads", |row| cost(row).reads)
            .count("writes", |row| cost(row).writes)
            .bytes("bytes", |row| cost(row).bytes);
        for level in 0..self.levels {
            let (name, title) = (format!("l{}_misses", level + 1), format!("L{} misses", level + 1));
            builder = builder.count((name, title), |row| cost(row).misses[level]);
        }
        match self.shard.clock {
            Some(_) => builder.count("cycles", |row| cost(row).cycles),
            None => builder,
        }
    }

    pub fn is_timed(&self) -> bool {
        self.shard.clock.is_some()
    }

    /// 0 where time is not estimated.
    fn cycles_of_sites(&self) -> Vec<u64> {
        let mut cycles = vec![0; self.program.sites.len()];
        let known = self.shard.clock.iter().flat_map(Clock::cycles);
        cycles
            .iter_mut()
            .zip(known)
            .for_each(|(site, known)| *site = known);
        cycles
    }

    fn answer(&self, stacks: &[StackRow]) -> String {
        let total = self.tree().inclusive_costs()[ROOT as usize].accesses;
        let Some(first) = stacks.first() else {
            return "No access was recorded.".into();
        };
        let share = first.cost.accesses as f64 / total.max(1) as f64;
        format!(
            "{} makes {} of the accesses",
            first.stack.replace(';', " > "),
            percent(share)
        )
    }

    pub fn function(&self, function: u32) -> String {
        let function = self.shard.functions.get(function);
        self.names.function(function.linkage_name)
    }

    fn file_of(&self, function: u32) -> String {
        self.path(self.shard.functions.get(function).file)
    }

    pub fn path(&self, file: StringId) -> String {
        path_inside(self.directory, self.names.text(file)).to_owned()
    }
}
