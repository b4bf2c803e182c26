//! What the numbers rest on: how much of the accesses could be attributed.

use trackway_report::{Table, TableBuilder};
use trackway_trace::{AccessKind, Program, Site, VariableKind};

use super::SiteCounters;

#[derive(Default)]
struct Attribution {
    accesses: u64,
    bytes: u64,
    with_line: u64,
    with_variable: u64,
    with_field: u64,
    with_variable_or_field: u64,
    with_type: u64,
    waiting: u64,
    by_library: u64,
    to_members: u64,
}

/// Shares of the executed accesses that have a line, a variable, a field, a type.
pub(crate) fn attribution_table(program: &Program, counters: &[SiteCounters]) -> Table {
    let mut attribution = Attribution::default();
    for (site, counters) in program.sites.iter().zip(counters) {
        attribution.add(program, site, counters);
    }
    let rows = [attribution];
    TableBuilder::new("attribution", "Attribution", &rows)
        .count("accesses", |row| row.accesses)
        .bytes("bytes", |row| row.bytes)
        .count(("waiting", "of them waiting"), |row| row.waiting)
        .share(("by_library", "by library functions"), |row| {
            (row.by_library, row.accesses)
        })
        .share(("with_line", "with a line"), |row| (row.with_line, row.accesses))
        .share(("with_variable_or_field", "with a variable or field"), |row| {
            (row.with_variable_or_field, row.accesses)
        })
        .share(("with_variable", "with a variable"), |row| {
            (row.with_variable, row.accesses)
        })
        .share(("with_field", "with a field"), |row| {
            (row.with_field, row.accesses)
        })
        .share(("with_type", "with a type"), |row| (row.with_type, row.accesses))
        .count(("to_members", "to members of structures"), |row| row.to_members)
        .share(("members_with_field", "of members, with a field"), |row| {
            (row.with_field, row.to_members)
        })
        .as_record()
        .build()
}

impl Attribution {
    fn add(&mut self, program: &Program, site: &Site, counters: &SiteCounters) {
        let known = |id| !program.string(id).is_empty();
        let (variable, field) = (known(site.variable), known(site.field));
        let add_if = |sum: &mut u64, condition: bool| *sum += if condition { counters.accesses } else { 0 };
        self.accesses += counters.accesses;
        self.bytes = self.bytes.saturating_add(counters.bytes);
        add_if(&mut self.with_line, program.location(site.location).line > 0);
        add_if(&mut self.waiting, site.waits);
        add_if(&mut self.by_library, site.kind.is_by_library());
        add_if(&mut self.with_variable, variable);
        add_if(&mut self.with_field, field);
        add_if(&mut self.with_variable_or_field, variable || field);
        add_if(
            &mut self.with_type,
            known(site.object_type) || known(site.value_type),
        );
        add_if(&mut self.to_members, may_be_to_member(program, site));
    }
}

/// Whether the site accesses a member of a structure, or may do so because its type is unknown.
fn may_be_to_member(program: &Program, site: &Site) -> bool {
    let known = |id| !program.string(id).is_empty();
    let untyped = !known(site.object_type) && !known(site.value_type);
    let made = site.variable_kind == VariableKind::CompilerMade;
    let in_structure = (known(site.object_type) || untyped) && !moves_object(site.kind) && !made;
    known(site.field) || in_structure
}

/// Copies, fills and library functions without a field take a whole object, or as much of it as only the run knows.
fn moves_object(kind: AccessKind) -> bool {
    kind.is_by_library()
        || matches!(
            kind,
            AccessKind::CopyRead | AccessKind::CopyWrite | AccessKind::Fill
        )
}
