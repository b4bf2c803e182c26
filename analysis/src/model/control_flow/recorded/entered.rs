//! Which functions were entered.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use trackway_trace::flow::ExecutedRecords;
use trackway_trace::{ChunkRef, Stream, StringId, Trace, TraceError};

use crate::{share_out, Observer};

/// Names whose functions were entered by a record. Damaged chunks are left out.
pub(super) fn functions(
    trace: &Trace,
    names: &HashSet<StringId>,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> HashSet<StringId> {
    let functions = trace.program().functions.iter();
    let wanted: Vec<bool> = functions
        .map(|function| names.contains(&function.linkage_name))
        .collect();
    if !wanted.contains(&true) {
        return HashSet::new();
    }
    let chunks: Vec<&ChunkRef> = trace
        .streams()
        .iter()
        .flat_map(Stream::chunks_from_start)
        .collect();
    let entered = Mutex::new(vec![false; wanted.len()]);
    share_out(&chunks, threads, |chunks| {
        let mut found = wanted.iter().map(|_| false).collect::<Vec<_>>();
        for chunk in chunks.take_while(|_| !observer.is_stopped()) {
            // What was read before the damage counts.
            let _: Result<(), TraceError> = of_chunk(trace, chunk, &mut found);
            observer.advance(0, chunk.header.raw_length.into());
        }
        let mut entered = entered.lock().unwrap_or_else(PoisonError::into_inner);
        entered
            .iter_mut()
            .zip(found)
            .for_each(|(all, found)| *all |= found);
    });
    let entered = entered.into_inner().unwrap_or_else(PoisonError::into_inner);
    let functions = trace.program().functions.iter().zip(entered);
    functions
        .filter(|(function, entered)| *entered && names.contains(&function.linkage_name))
        .map(|(function, _)| function.linkage_name)
        .collect()
}

fn of_chunk(trace: &Trace, chunk: &ChunkRef, found: &mut [bool]) -> Result<(), TraceError> {
    let mut records = ExecutedRecords::of_chunk(trace, chunk)?;
    while let Some((function, enters)) = records.next_function()? {
        found[function.index()] |= enters;
    }
    Ok(())
}
