//! Appends the lists of a table to those of the program: functions, sites, allocation sites and blocks.
//!
//! `string`, `location` and `function` say what the table's numbers are in the program.

use std::collections::HashSet;

use crate::table::{Operation, Segment, Table, TableBlock};
use crate::{
    AllocationSite, BlockAccess, CodeBlock, Function, FunctionId, LocationId, Program, Site, SiteId,
    SiteWork, StringId,
};

pub(super) fn merge_functions(
    program: &mut Program,
    table: &Table,
    source_file: StringId,
    (string, location): (impl Fn(u32) -> StringId, impl Fn(u32) -> LocationId),
) {
    let functions = table.functions.iter().map(|entry| Function {
        linkage_name: string(entry.linkage_name),
        name: string(entry.name),
        source_file,
        location: location(entry.location),
        has_plain_copy: entry.has_plain_copy,
        coverage: entry.coverage,
    });
    program.functions.extend(functions);
}

pub(super) fn merge_sites(
    program: &mut Program,
    table: &Table,
    function: impl Fn(u32) -> FunctionId,
    (string, location): (impl Fn(u32) -> StringId, impl Fn(u32) -> LocationId),
) {
    let waiting = match table.machine_code {
        None => waiting_sites(&table.segments),
        Some(_) => HashSet::new(),
    };
    let sites = table.sites.iter().zip(0..).map(|(site, index)| Site {
        waits: site.kind.reads() && waiting.contains(&index),
        function: function(site.function),
        ordinal: site.ordinal,
        part: site.part,
        kind: site.kind,
        size: site.size,
        location: location(site.location),
        variable: string(site.variable),
        variable_kind: site.variable_kind,
        object_type: string(site.object_type),
        field: string(site.field),
        value_type: string(site.value_type),
    });
    program.sites.extend(sites);
}

/// To be called after the table's sites were merged.
pub(super) fn merge_work(program: &mut Program, table: &Table, first_site: u32) {
    let work = table.work.iter().flatten().map(|work| {
        let loads = work.loads.iter().map(|load| SiteId(first_site + load));
        Some(SiteWork {
            instructions: work.instructions,
            waits: work.waits,
            loads: loads.collect(),
            from_elsewhere: work.from_elsewhere,
        })
    });
    program.work.extend(work);
    program.work.resize(program.sites.len(), None);
}

/// Sites that loops access again and again, at one address, without doing anything else.
fn waiting_sites(segments: &[Segment]) -> HashSet<u32> {
    let operations = segments.iter().flat_map(|segment| &segment.operations);
    let only_access = operations.filter_map(|operation| match operation {
        Operation::Loop { body, .. } => match body[..] {
            [Operation::Access { site, .. }] => Some(site),
            _ => None,
        },
        _ => None,
    });
    only_access.collect()
}

pub(super) fn merge_allocation_sites(
    program: &mut Program,
    table: &Table,
    function: impl Fn(u32) -> FunctionId,
    (string, location): (impl Fn(u32) -> StringId, impl Fn(u32) -> LocationId),
) {
    let sites = table.allocation_sites.iter().map(|site| AllocationSite {
        function: function(site.function),
        ordinal: site.ordinal,
        operation: site.operation,
        location: location(site.location),
        allocator: string(site.allocator),
        element_type: string(site.element_type),
        element_size: site.element_size,
        variable: string(site.variable),
    });
    program.allocation_sites.extend(sites);
}

/// `first_site`: the program's number of the table's first site.
pub(super) fn merge_blocks(
    program: &mut Program,
    blocks: Vec<TableBlock>,
    (function, first_site): (impl Fn(u32) -> FunctionId, u32),
    (string, location): (impl Fn(u32) -> StringId, impl Fn(u32) -> LocationId),
) {
    let blocks = blocks.into_iter().map(|block| {
        let accesses = block.accesses.into_iter().map(|access| BlockAccess {
            site: SiteId(first_site + access.site),
            amount: access.amount,
        });
        CodeBlock {
            function: function(block.function),
            location: location(block.location),
            executions: block.executions,
            mix: block.mix,
            accesses: accesses.collect(),
            calls: block.calls.into_iter().map(&string).collect(),
        }
    });
    program.blocks.extend(blocks);
}

pub(super) fn merge_regions(program: &mut Program, regions: &[u32], string: impl Fn(u32) -> StringId) {
    for name in regions.iter().map(|name| string(*name)) {
        if !program.regions.contains(&name) {
            program.regions.push(name);
        }
    }
}
