//! Prints where the bytes of a trace's records go, segment by segment, the greatest share first.
//!
//!     cargo run --release -p trackway-trace --example record_bytes -- TRACE [lines]
//!
//! A record is an id (one or two bytes within a function, else four) and its roots. Segments of one function, number and
//! table count together over all processes of the trace. `acc.` is the number of accesses and events for which one
//! record stands (a masked access counts its lanes, a loop its body once), `loops` the loops in it, `line` that of the
//! first access; without one, `enter` and `exit` are marks of the function. A segment that stands for nothing sets
//! registers: `resume`, where a full buffer was changed in the midst of a function, or `roots` before a loop.
//!
//! `through joins` are the local ids that path numbers would save if they ran on through joins, where the program comes
//! to a block in more ways than one: those of records of a later block of the function than the record before.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use trackway_trace::table::{Operation, Segment, Table, TableFunction};
use trackway_trace::{ChunkKind, ChunkRef, Decoder, Trace};

const GLOBAL_ID: u64 = 4;
/// Bytes of a module payload before the table, the addresses of its symbols apart.
const MODULE_HEADER: usize = 40;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: record_bytes TRACE [lines]")?;
    let lines = arguments.next().map_or(Ok(40), |text| text.parse())?;
    let trace = Trace::open(Path::new(&path))?;
    let modules = read_modules(&trace)?;
    let mut walk = Walk::new(&modules);
    let mut payload = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::Records) {
        trace.read_payload(chunk, &mut payload)?;
        walk.chunk(chunk, &payload)?;
    }
    let rows = rows(&walk);
    print_totals(&trace, &walk, &rows, count_accesses(&trace)?);
    print_rows(&rows, lines);
    Ok(())
}

struct Module {
    first_id: u32,
    key: u64,
    table: Table,
}

fn read_modules(trace: &Trace) -> Result<Vec<Module>> {
    let mut payload = Vec::new();
    let mut modules = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::Module) {
        trace.read_payload(chunk, &mut payload)?;
        let number = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().expect("4 bytes"));
        let table = MODULE_HEADER + 8 * number(24) as usize;
        modules.push(Module {
            first_id: number(0),
            key: u64::from(number(8)) | u64::from(number(12)) << 32,
            table: Table::parse(&payload[table..])?,
        });
    }
    Ok(modules)
}

#[derive(Clone, Copy, Default)]
struct Uses {
    local: u64,
    global: u64,
}

/// How many ids, and their bytes.
#[derive(Clone, Copy, Default)]
struct Ids {
    count: u64,
    bytes: u64,
}

/// Follows the records' ids and lengths; their values don't matter.
struct Walk<'m> {
    modules: &'m [Module],
    /// Module and segment of each id.
    places: HashMap<u32, (usize, usize)>,
    /// By module and function: the segment of each local id.
    locals: Vec<Vec<HashMap<u16, usize>>>,
    /// Uses by module and segment.
    uses: Vec<Vec<Uses>>,
    chunks: u64,
    bytes: u64,
    through_joins: Ids,
}

impl<'m> Walk<'m> {
    fn new(modules: &'m [Module]) -> Self {
        let mut places = HashMap::new();
        for (index, module) in modules.iter().enumerate() {
            for segment in 0..module.table.segments.len() {
                places.insert(module.first_id + segment as u32, (index, segment));
            }
        }
        let uses = modules
            .iter()
            .map(|module| vec![Uses::default(); module.table.segments.len()]);
        Walk {
            modules,
            places,
            locals: modules.iter().map(locals_of).collect(),
            uses: uses.collect(),
            chunks: 0,
            bytes: 0,
            through_joins: Ids::default(),
        }
    }

    fn chunk(&mut self, chunk: &ChunkRef, payload: &[u8]) -> Result<()> {
        self.chunks += 1;
        let unknown: HashMap<u16, usize> = HashMap::new();
        let mut locals = &unknown;
        let mut current = (usize::MAX, u32::MAX);
        let mut last = usize::MAX;
        let mut position = 0;
        while position < payload.len() {
            let error = |what| format!("chunk at {}: {what} at byte {position}", chunk.offset);
            let first = u16::from(payload[position]);
            let (place, id_bytes) = if first != 0 {
                let second = u16::from(payload.get(position + 1).copied().unwrap_or(0));
                let found = locals.get(&first).or_else(|| locals.get(&(second << 8 | first)));
                let segment = *found.ok_or_else(|| error("unknown local id"))?;
                self.uses[current.0][segment].local += 1;
                let table = &self.modules[current.0].table;
                let id_bytes = table.segments[segment].local_id_length() as u64;
                ((current.0, segment), id_bytes)
            } else {
                let mut id = [0; 4];
                let present = payload.len().min(position + 4) - position;
                id[..present].copy_from_slice(&payload[position..position + present]);
                match u32::from_le_bytes(id) >> 8 {
                    0 => break,
                    id => {
                        let place = *self.places.get(&id).ok_or_else(|| error("unknown id"))?;
                        self.uses[place.0][place.1].global += 1;
                        (place, GLOBAL_ID)
                    }
                }
            };
            let segment = &self.modules[place.0].table.segments[place.1];
            if current != (place.0, segment.function) {
                current = (place.0, segment.function);
                locals = &self.locals[current.0][current.1 as usize];
            }
            // Segments of a function are numbered in reverse post-order of its blocks.
            if id_bytes != GLOBAL_ID && last < place.1 {
                self.through_joins.count += 1;
                self.through_joins.bytes += id_bytes;
            }
            last = place.1;
            position += id_bytes as usize + segment.record_length as usize;
        }
        self.bytes += position.min(payload.len()) as u64;
        Ok(())
    }
}

fn locals_of(module: &Module) -> Vec<HashMap<u16, usize>> {
    let of_function = |function: &TableFunction| {
        let first = function.first_segment as usize;
        (first..first + function.segment_count as usize)
            .map(|segment| (module.table.segments[segment].local_id, segment))
            .collect()
    };
    module.table.functions.iter().map(of_function).collect()
}

/// A segment and what its records took.
struct Row {
    function: String,
    segment: usize,
    local_id: u16,
    uses: Uses,
    widths: Vec<u8>,
    accesses: u64,
    loops: u64,
    line: String,
}

impl Row {
    fn records(&self) -> u64 {
        self.uses.local + self.uses.global
    }

    fn id_bytes(&self) -> u64 {
        self.uses.local * self.local_id_length() + self.uses.global * GLOBAL_ID
    }

    fn local_id_length(&self) -> u64 {
        if self.local_id < 256 {
            1
        } else {
            2
        }
    }

    fn root_bytes(&self) -> u64 {
        self.widths.iter().map(|width| u64::from(*width)).sum()
    }

    fn bytes(&self) -> u64 {
        self.id_bytes() + self.records() * self.root_bytes()
    }

    /// Buffers that were full are the only use of a segment that has no local id and no accesses.
    fn is_resume(&self) -> bool {
        self.local_id == 0 && self.accesses == 0
    }
}

fn rows(walk: &Walk<'_>) -> Vec<Row> {
    let mut rows: HashMap<(u64, usize), Row> = HashMap::new();
    for (module, uses) in walk.modules.iter().zip(&walk.uses) {
        for (number, uses) in uses.iter().enumerate() {
            if uses.local + uses.global == 0 {
                continue;
            }
            let row = rows
                .entry((module.key, number))
                .or_insert_with(|| row(&module.table, number));
            row.uses.local += uses.local;
            row.uses.global += uses.global;
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.bytes()), row.function.clone(), row.segment));
    rows
}

fn row(table: &Table, number: usize) -> Row {
    let segment = &table.segments[number];
    let function = &table.functions[segment.function as usize];
    let name = [function.name, function.linkage_name]
        .map(|string| table.strings[string as usize].as_str())
        .into_iter()
        .find(|name| !name.is_empty());
    let accesses = segment.operations.iter().map(Operation::max_events).sum();
    let mut row = Row {
        function: name.unwrap_or("?").to_owned(),
        segment: number - function.first_segment as usize,
        local_id: segment.local_id,
        uses: Uses::default(),
        widths: widths(segment),
        accesses,
        loops: segment.operations.iter().map(Operation::loop_count).sum(),
        line: String::new(),
    };
    row.line = match first_line(table, segment) {
        Some(line) => line,
        None if segment.operations.contains(&Operation::Enter) => "enter".to_owned(),
        None if segment.operations.contains(&Operation::Exit) => "exit".to_owned(),
        None if row.is_resume() => "resume".to_owned(),
        None => "roots".to_owned(),
    };
    row
}

fn widths(segment: &Segment) -> Vec<u8> {
    let width = |operation: &Operation| match operation {
        Operation::Root { encoding, .. } => Some(encoding.width),
        _ => None,
    };
    segment.operations.iter().filter_map(width).collect()
}

fn first_line(table: &Table, segment: &Segment) -> Option<String> {
    let location = segment
        .operations
        .iter()
        .find_map(|operation| location_of(table, operation))?;
    let location = &table.locations[location as usize];
    let file = &table.strings[location.file as usize];
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(format!("{file}:{}", location.line))
}

fn location_of(table: &Table, operation: &Operation) -> Option<u32> {
    match operation {
        Operation::Access { site, .. }
        | Operation::Block { site, .. }
        | Operation::Masked { site, .. }
        | Operation::Gather { site, .. } => Some(table.sites[*site as usize].location),
        Operation::Allocate { site, .. }
        | Operation::Free { site, .. }
        | Operation::Reallocate { site, .. } => Some(table.allocation_sites[*site as usize].location),
        Operation::Loop { body, .. } => body.iter().find_map(|operation| location_of(table, operation)),
        _ => None,
    }
}

fn count_accesses(trace: &Trace) -> Result<u64> {
    let mut decoder = Decoder::new(trace);
    let mut accesses = 0;
    for chunk in trace.chunks_of(ChunkKind::Records) {
        let mut batches = decoder.decode(chunk)?;
        while let Some(batch) = batches.next_batch()? {
            accesses += batch.len() as u64;
        }
    }
    Ok(accesses)
}

fn print_totals(trace: &Trace, walk: &Walk<'_>, rows: &[Row], accesses: u64) {
    let sum = |of: &dyn Fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    let bytes = sum(&Row::bytes);
    let line = |what: &str, part: u64, records: u64| {
        println!(
            "{what:<16} {:>12} bytes {:>6.2} % {:>12} times {:>8.3} B/access",
            part,
            percent(part, bytes),
            records,
            part as f64 / accesses.max(1) as f64
        );
    };
    let chunks = || trace.chunks_of(ChunkKind::Records);
    println!("accesses         {accesses:>12}");
    println!("chunks           {:>12}", chunks().count());
    let stored = ChunkRef::stored_bytes(chunks());
    line("stored", stored, chunks().count() as u64);
    line("records", bytes, sum(&Row::records));
    for length in [1, 2] {
        let of_length = |row: &Row| row.uses.local * u64::from(row.local_id_length() == length);
        line(
            &format!("ids of {length}"),
            sum(&|row| of_length(row) * length),
            sum(&of_length),
        );
    }
    line(
        "ids of 4",
        sum(&|row| row.uses.global * GLOBAL_ID),
        sum(&|row| row.uses.global),
    );
    line(
        "through joins",
        walk.through_joins.bytes,
        walk.through_joins.count,
    );
    for width in [1, 2, 4, 8] {
        let roots = |row: &Row| row.widths.iter().filter(|own| **own == width).count() as u64 * row.records();
        line(
            &format!("roots of {width}"),
            sum(&|row| roots(row) * u64::from(width)),
            sum(&roots),
        );
    }
    let mark = |row: &&Row| matches!(row.line.as_str(), "enter" | "exit");
    let marks = |of: &dyn Fn(&Row) -> u64| rows.iter().filter(mark).map(of).sum::<u64>();
    line("only enter, exit", marks(&Row::bytes), marks(&Row::records));
    let resumes = |of: &dyn Fn(&Row) -> u64| rows.iter().filter(|row| row.is_resume()).map(of).sum::<u64>();
    line("resume records", resumes(&Row::bytes), resumes(&Row::records));
    let setting = |row: &&Row| !row.is_resume() && row.accesses == 0;
    let settings = |of: &dyn Fn(&Row) -> u64| rows.iter().filter(setting).map(of).sum::<u64>();
    line("roots, no access", settings(&Row::bytes), settings(&Row::records));
}

fn print_rows(rows: &[Row], lines: usize) {
    println!(
        "\n{:>6} {:>12} {:>12} {:>12} {:>6} {:>5} {:>4} {:>5} {:>5}  {:<24} {:<20} roots",
        "share", "bytes", "local", "global", "B/rec", "seg", "id", "acc.", "loops", "function", "line"
    );
    let bytes = rows.iter().map(Row::bytes).sum();
    for row in rows.iter().take(lines) {
        let widths: Vec<String> = row.widths.iter().map(u8::to_string).collect();
        println!(
            "{:>5.1}% {:>12} {:>12} {:>12} {:>6.1} {:>5} {:>4} {:>5} {:>5}  {:<24} {:<20} {}",
            percent(row.bytes(), bytes),
            row.bytes(),
            row.uses.local,
            row.uses.global,
            row.bytes() as f64 / row.records() as f64,
            row.segment,
            row.local_id,
            row.accesses,
            row.loops,
            row.function,
            row.line,
            widths.join(" ")
        );
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
