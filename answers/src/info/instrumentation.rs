//! Tables of what is instrumented; the same for a program and for a trace.

use trackway_analysis::Names;
use trackway_report::{Table, TableBuilder};
use trackway_trace::{Coverage, Function, Module, Program, Site};

/// Functions that are listed.
const MOST_LACKING: usize = 20;

struct Summary {
    modules: u64,
    functions: u64,
    allocation_sites: u64,
    sites: SiteShares,
    coverage: Coverage,
}

#[derive(Default)]
struct SiteShares {
    count: u64,
    with_line: u64,
    with_variable: u64,
    with_field: u64,
    with_variable_or_field: u64,
    with_type: u64,
}

/// How much of the program's code is recorded, and how many of its sites are attributed.
pub fn coverage(program: &Program) -> Table {
    let mut sites = SiteShares::default();
    program.sites.iter().for_each(|site| sites.add(program, site));
    let rows = [Summary {
        modules: program.modules.len() as u64,
        functions: program.functions.len() as u64,
        allocation_sites: program.allocation_sites.len() as u64,
        sites,
        coverage: total_coverage(program),
    }];
    TableBuilder::new("instrumentation", "Instrumentation", &rows)
        .count("modules", |row| row.modules)
        .count("functions", |row| row.functions)
        .count(("accesses", "instructions that access memory"), |row| {
            row.coverage.accesses
        })
        .count(("recorded", "of them recorded"), |row| row.coverage.recorded)
        .share(("recorded_share", "share recorded"), |row| {
            (row.coverage.recorded, row.coverage.accesses)
        })
        .count(("filtered", "left out on request"), |row| row.coverage.filtered)
        .count("not_recordable", |row| row.coverage.not_recordable)
        .count("sites", |row| row.sites.count)
        .share(("with_line", "sites with a line"), |row| {
            (row.sites.with_line, row.sites.count)
        })
        .share(("with_variable_or_field", "with a variable or field"), |row| {
            (row.sites.with_variable_or_field, row.sites.count)
        })
        .share(("with_variable", "with a variable"), |row| {
            (row.sites.with_variable, row.sites.count)
        })
        .share(("with_field", "with a field"), |row| {
            (row.sites.with_field, row.sites.count)
        })
        .share(("with_type", "with a type"), |row| {
            (row.sites.with_type, row.sites.count)
        })
        .count("allocation_sites", |row| row.allocation_sites)
        .as_record()
        .build()
}

impl SiteShares {
    fn add(&mut self, program: &Program, site: &Site) {
        let known = |id| !program.string(id).is_empty();
        let (variable, field) = (known(site.variable), known(site.field));
        self.count += 1;
        self.with_line += u64::from(program.location(site.location).line > 0);
        self.with_variable += u64::from(variable);
        self.with_field += u64::from(field);
        self.with_variable_or_field += u64::from(variable || field);
        self.with_type += u64::from(known(site.object_type) || known(site.value_type));
    }
}

fn total_coverage(program: &Program) -> Coverage {
    let mut total = Coverage::default();
    for function in &program.functions {
        let Coverage {
            accesses,
            recorded,
            filtered,
            not_recordable,
        } = function.coverage;
        total.accesses = total.accesses.saturating_add(accesses);
        total.recorded = total.recorded.saturating_add(recorded);
        total.filtered = total.filtered.saturating_add(filtered);
        total.not_recordable = total.not_recordable.saturating_add(not_recordable);
    }
    total
}

/// Functions in which something can't be recorded, those with the most first; none if there are none.
pub fn not_recordable(program: &Program) -> Option<Table> {
    let lacking = program
        .functions
        .iter()
        .filter(|function| function.coverage.not_recordable > 0);
    let mut rows: Vec<&Function> = lacking.collect();
    rows.sort_by_key(|function| std::cmp::Reverse(function.coverage.not_recordable));
    let names = Names::new(program);
    let title = "Functions with instructions that can't be recorded";
    let table = TableBuilder::top("not_recordable", title, &rows, MOST_LACKING)
        .text("function", |function| names.function(function.linkage_name))
        .path("source_file", |function| program.string(function.source_file))
        .count(("accesses", "instructions that access memory"), |function| {
            function.coverage.accesses
        })
        .count(("recorded", "of them recorded"), |function| {
            function.coverage.recorded
        })
        .count("not_recordable", |function| function.coverage.not_recordable)
        .build();
    (!rows.is_empty()).then_some(table)
}

/// A row for each translation unit.
pub fn modules(program: &Program) -> Table {
    let length = |range: &std::ops::Range<u32>| u64::from(range.end.saturating_sub(range.start));
    TableBuilder::new("modules", "Modules", &program.modules)
        .path("source_file", |module: &Module| {
            program.string(module.source_file)
        })
        .count("functions", |module| length(&module.functions))
        .count("sites", |module| length(&module.sites))
        .count("segments", |module| module.segment_count)
        .count("loops", |module| module.loop_count)
        .yes_or_no("calls", |module| module.calls)
        .yes_or_no("oracle", |module| module.oracle)
        .text("producer", |module| program.string(module.producer))
        .build()
}
