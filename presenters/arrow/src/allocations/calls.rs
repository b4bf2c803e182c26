//! Calls of allocators by their own account.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_analysis::allocations::CallSites;
use trackway_analysis::UNKNOWN;
use trackway_trace::allocations::{AllocationEvent, AllocationEvents, StackId};
use trackway_trace::{Slice, Trace, TraceError};

use super::rows::{AllocationRow, CallPlace};

/// The calls of all streams in the order of time, with the places of their callers.
pub struct Calls<'t> {
    slice: Option<&'t Slice>,
    events: AllocationEvents<'t>,
    sites: CallSites,
    pids: HashMap<u32, u32>,
    /// Places by process and stack; their names don't change.
    places: HashMap<(u32, StackId), Arc<CallPlace>>,
    /// What could not be read of the names.
    pub damage: Vec<TraceError>,
}

impl<'t> Calls<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let (sites, damage) = CallSites::new(trace);
        let processes = trace.processes().iter();
        Calls {
            slice: trace.slice(),
            events: AllocationEvents::new(trace),
            sites,
            pids: processes
                .map(|(number, process)| (*number, process.pid))
                .collect(),
            places: HashMap::new(),
            damage,
        }
    }

    pub fn next_row(&mut self) -> Result<Option<AllocationRow>, TraceError> {
        let event = loop {
            match self.events.next_event()? {
                Some(event) if self.slice.is_none_or(|slice| slice.keeps_call(&event)) => break event,
                Some(_) => {}
                None => return Ok(None),
            }
        };
        let place = self.place(&event);
        let parts = event.what.parts();
        Ok(Some(AllocationRow {
            process: event.process,
            thread: event.stream,
            time_ns: Some(event.time_ns),
            by: event.by.name().into(),
            place,
            kind: parts.kind,
            address: parts.address,
            old_address: parts.old_address,
            size: parts.size,
            ..AllocationRow::default()
        }))
    }

    fn place(&mut self, event: &AllocationEvent) -> Arc<CallPlace> {
        let pid = self.pids.get(&event.process).copied().unwrap_or(0);
        let key = (event.process, event.stack);
        if let Some(place) = self.places.get(&key) {
            return place.clone();
        }
        let stacks = self.events.stacks();
        let frames = self.sites.frames(stacks, event.stack, pid, event.time_ns, 1);
        let place = frames.first().map_or_else(CallPlace::default, |frame| CallPlace {
            function: Some(&frame.function)
                .filter(|name| *name != UNKNOWN)
                .cloned()
                .unwrap_or_default(),
            file: frame.file.clone(),
            line: u32::try_from(frame.line).ok().filter(|line| *line > 0),
            ..CallPlace::default()
        });
        self.places.entry(key).or_insert_with(|| Arc::new(place)).clone()
    }
}
