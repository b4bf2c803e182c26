//! Allocations that the program recorded among its accesses.

use std::sync::Arc;

use trackway_analysis::moments::Span;
use trackway_analysis::Names;
use trackway_trace::{AllocationSite, AllocationSiteId, Batch, Decoder, Event, Slice, Trace, TraceError};

use super::rows::{AllocationRow, CallPlace};
use crate::TraceTables;

/// What is known of each allocation site: the allocator's name and the place of the call.
pub type Sites = Vec<(Arc<str>, Arc<CallPlace>)>;

pub fn sites(trace: &Trace) -> Sites {
    let program = trace.program();
    let names = Names::new(program);
    let place = |site: &AllocationSite| {
        let location = program.location(site.location);
        CallPlace {
            function: names.function(program.function(site.function).linkage_name),
            file: program.string(location.file).to_owned(),
            line: Some(location.line).filter(|line| *line > 0),
            variable: program.string(site.variable).to_owned(),
            element_type: program.string(site.element_type).to_owned(),
        }
    };
    let sites = program.allocation_sites.iter();
    sites
        .map(|site| (program.string(site.allocator).into(), Arc::new(place(site))))
        .collect()
}

/// The events of a chunk of records.
pub fn of_chunk(
    tables: &TraceTables,
    sites: &Sites,
    (stream, index): (u32, usize),
    rows: &mut Vec<AllocationRow>,
) -> Result<(), TraceError> {
    let trace = tables.trace();
    let Some(stream) = trace.stream(stream) else {
        return Ok(());
    };
    let mut decoder = Decoder::new(trace).with_runs();
    let span = tables.counted_span(&mut decoder, stream, index);
    let mut before = 0u64;
    let mut batches = decoder.decode(&stream.chunks[index])?;
    while let Some(batch) = batches.next_batch()? {
        of_batch(trace.slice(), batch, &span, before, sites, rows);
        before = before.saturating_add(batch.access_count());
    }
    Ok(())
}

fn of_batch(
    slice: Option<&Slice>,
    batch: &Batch,
    span: &Span,
    before: u64,
    sites: &Sites,
    rows: &mut Vec<AllocationRow>,
) {
    if batch.events.is_empty() {
        return;
    }
    let mut position = before;
    for item in batch.items() {
        let event = match item {
            trackway_trace::BatchItem::Accesses(piece) => {
                position = position.saturating_add(piece.access_count());
                continue;
            }
            trackway_trace::BatchItem::Event(event) => event,
        };
        if let Some(row) = of_event(&event, sites).filter(|row| is_inside(slice, row)) {
            rows.push(AllocationRow {
                process: batch.process,
                thread: batch.stream,
                time_ns: Some(span.time_of(position)),
                ..row
            });
        }
    }
}

/// Events outside of the slice's times and threads aren't decoded.
fn is_inside(slice: Option<&Slice>, row: &AllocationRow) -> bool {
    let site = row.allocation_site.map(AllocationSiteId);
    slice
        .zip(site)
        .is_none_or(|(slice, site)| slice.keeps_allocation_site(site))
}

fn of_event(event: &Event, sites: &Sites) -> Option<AllocationRow> {
    let at = |site: AllocationSiteId, kind| {
        let (by, place) = sites.get(site.index()).cloned().unwrap_or_default();
        AllocationRow {
            kind,
            by,
            place,
            allocation_site: Some(site.0),
            ..AllocationRow::default()
        }
    };
    Some(match *event {
        Event::Allocate {
            site,
            address,
            element_size,
            count,
        } => AllocationRow {
            address: Some(address),
            size: Some(element_size.saturating_mul(count)),
            ..at(site, "allocated")
        },
        Event::Free { site, address } => AllocationRow {
            address: Some(address),
            ..at(site, "freed")
        },
        Event::Reallocate {
            site,
            old_address,
            new_address,
            element_size,
            count,
        } => AllocationRow {
            address: Some(new_address),
            old_address: Some(old_address),
            size: Some(element_size.saturating_mul(count)),
            ..at(site, "reallocated")
        },
        _ => return None,
    })
}
