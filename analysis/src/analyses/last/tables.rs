//! The last accesses as a table, and the one at which the program stopped as a sentence.

use std::sync::Arc;

use trackway_report::{Table, TableBuilder};
use trackway_trace::{SiteId, Trace};

use super::objects::Object;
use super::{Access, Last, LastShard, PAGE_SHIFT};
use crate::model::blocks::{AllocationNames, Origins};
use crate::model::site_counts::group;
use crate::model::{path_inside, Names};
use crate::Findings;

/// An access of a thread.
struct Row {
    thread: u32,
    process: u32,
    is_certain: bool,
    access: Access,
}

struct Describer<'a> {
    trace: &'a Trace,
    names: Names<'a>,
    allocations: AllocationNames<'a>,
    shard: &'a LastShard,
}

pub(super) fn findings(last: &Last, shard: &LastShard, trace: &Trace) -> Findings {
    let describer = Describer {
        trace,
        names: Names::new(trace.program()),
        allocations: AllocationNames::new(trace, Arc::new(Origins::none(trace.program()))),
        shard,
    };
    let rows = rows(shard);
    Findings {
        answer: Some(answer(last, &describer, &rows)),
        tables: vec![table(&describer, &rows)],
    }
}

fn rows(shard: &LastShard) -> Vec<Row> {
    let mut rows = Vec::new();
    for (&thread, newest) in &shard.threads {
        let row = |is_certain: bool, access: &Access| Row {
            thread,
            process: newest.process,
            is_certain,
            access: *access,
        };
        rows.extend(newest.certain.iter().map(|access| row(true, access)));
        rows.extend(newest.uncertain.iter().map(|access| row(false, access)));
    }
    rows
}

fn table(describer: &Describer, rows: &[Row]) -> Table {
    let place = |row: &Row| describer.location(row.access.site);
    TableBuilder::new("last", "Last accesses of each thread", rows)
        .number("thread", |row| row.thread)
        .text("happened", |row| if row.is_certain { "yes" } else { "perhaps" })
        .text("kind", |row| {
            describer.trace.program().site(row.access.site).kind.name()
        })
        .text("address", |row| format!("{:#x}", row.access.address))
        .aside()
        .count("bytes", |row| row.access.bytes)
        .text("field", |row| describer.field(row.access.site))
        .text("function", |row| describer.function(row.access.site))
        .path("file", |row| place(row).0)
        .number("line", |row| place(row).1)
        .text("object", |row| describer.object(row).unwrap_or_default())
        .aside()
        .build()
}

impl Describer<'_> {
    fn field(&self, site: SiteId) -> String {
        let program = self.trace.program();
        group::field_name(&self.names, group::field_key(program, program.site(site)))
    }

    fn function(&self, site: SiteId) -> String {
        self.names.function_of(self.trace.program().site(site))
    }

    fn location(&self, site: SiteId) -> (&str, Option<u32>) {
        let program = self.trace.program();
        let location = program.location(program.site(site).location);
        let file = path_inside(
            &self.trace.meta().working_directory,
            self.names.text(location.file),
        );
        (file, Some(location.line).filter(|line| *line > 0))
    }

    fn object_at(&self, row: &Row) -> Option<&Object> {
        let objects = self.shard.objects.get(&row.process)?;
        objects.at(row.access.address, row.access.moment)
    }

    /// `malloc at list.c:12, given back: free at list.c:31`; none if no allocation is known there.
    fn object(&self, row: &Row) -> Option<String> {
        let object = self.object_at(row)?;
        let allocated = self.allocations.label(object.allocated);
        Some(match object.freed_before(row.access.moment) {
            Some(freed) => format!("{allocated}, given back: {}", self.allocations.label(freed)),
            None => allocated,
        })
    }

    /// Why the access may have raised a signal; none if nothing speaks for it.
    fn suspicion(&self, row: &Row) -> Option<&'static str> {
        let object = self.object_at(row);
        if object.is_some_and(|object| object.freed_before(row.access.moment).is_some()) {
            return Some("that memory had been given back");
        }
        self.is_on_new_page(row)
            .then_some("nothing on that page had been accessed before")
    }

    fn is_on_new_page(&self, row: &Row) -> bool {
        !self
            .shard
            .pages
            .contains(&(row.process, row.access.address >> PAGE_SHIFT))
    }

    fn sentence(&self, row: &Row) -> String {
        let (file, line) = self.location(row.access.site);
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        let object = self
            .object(row)
            .map_or(String::new(), |object| format!(" ({object})"));
        format!(
            "{} of {} at {file}{line} ({}), address {:#x}{object}",
            self.trace.program().site(row.access.site).kind.name(),
            self.field(row.access.site),
            self.function(row.access.site),
            row.access.address,
        )
    }
}

/// Signals that an access raises: SIGBUS and SIGSEGV.
const OF_ACCESSES: [i32; 2] = [7, 11];

fn answer(last: &Last, describer: &Describer, rows: &[Row]) -> String {
    let Some(signal) = last.signal else {
        return "The program wasn't ended by a signal; these accesses are its threads' last ones".to_owned();
    };
    let is_raised_by_access = OF_ACCESSES.contains(&signal);
    let suspect = rows
        .iter()
        .filter(|row| is_raised_by_access && !row.is_certain)
        .find_map(|row| Some((row, describer.suspicion(row)?)));
    if let Some((row, suspicion)) = suspect {
        return format!(
            "Signal {signal} ended the program, probably at the last access of thread {}: {}; {suspicion}",
            row.thread,
            describer.sentence(row)
        );
    }
    format!("Signal {signal} ended the program. Which thread got it isn't known; these are the last accesses of each")
}
