//! Totals of the calls of allocators, by call site.

use std::collections::HashMap;

use indexmap::IndexMap;
use trackway_trace::allocations::{
    AllocatingProcess, AllocationAction, AllocationEvent, AllocationEvents, StackEnd, StackId,
};
use trackway_trace::{Slice, Trace, TraceError};

use super::blocks::Block;
use super::call_sites::{CallSites, Frame};
use super::replay::{Contradiction, Replay, ReplayStep};

/// What one call site allocated.
#[derive(Clone, Debug, Default)]
pub struct SiteTotals {
    pub allocations: u64,
    pub bytes: u64,
    pub live_bytes: u64,
    /// Most bytes of the call site that were live at a time.
    pub peak_bytes: u64,
    /// Bytes of the call site that were live when most was live of all sites.
    pub bytes_at_peak: u64,
    /// Number of the peak of all sites to which `bytes_at_peak` refers.
    peak: u64,
    pub freed: u64,
    /// Sum of the lifetimes of the freed blocks.
    pub lifetimes_ns: u128,
    pub leaked: u64,
    pub leaked_bytes: u64,
    /// Allocations whose stacks lack frames that were asked for.
    pub cut_stacks: u64,
}

/// Totals of a trace's calls of allocators.
#[derive(Debug, Default)]
pub struct Allocations {
    /// Call sites by their innermost frames.
    pub sites: IndexMap<Vec<Frame>, SiteTotals>,
    pub events: u64,
    pub allocations: u64,
    pub bytes: u64,
    pub frees: u64,
    pub reallocations: u64,
    pub live_bytes: u64,
    pub peak_bytes: u64,
    /// Time of the peak, in nanoseconds of the trace's clock.
    pub peak_ns: u64,
    peaks: u64,
    pub mappings: u64,
    pub mapped_bytes: u64,
    pub cut_stacks: u64,
    /// Places where events are missing.
    pub gaps: u64,
    pub contradictions: u64,
    pub first_contradiction: Option<Contradiction>,
    pub damage: Vec<TraceError>,
    /// Only allocations of a slice were counted.
    pub is_of_slice: bool,
    /// Bytes of other blocks that were live at the peak.
    pub outside_bytes: u64,
    outside_live_bytes: u64,
}

struct Summing<'t> {
    /// What is counted; none: everything.
    slice: Option<CallSlice<'t>>,
    events: AllocationEvents<'t>,
    sites: CallSites,
    frames: usize,
    pids: HashMap<u32, u32>,
    /// Index among the sites, by process and stack.
    known: HashMap<(u32, StackId), usize>,
    totals: Allocations,
}

/// The calls that are inside of a slice.
struct CallSlice<'t> {
    slice: Option<&'t Slice>,
    is_function: Option<&'t dyn Fn(&str) -> bool>,
    /// Whether the call is by such a function, by process and stack.
    known: HashMap<(u32, StackId), bool>,
}

impl Allocations {
    /// Goes over all calls of the trace. Call sites are told apart by their innermost `frames` frames.
    pub fn of(trace: &Trace, frames: usize) -> Allocations {
        Allocations::summed(trace, frames, None)
    }

    /// The same for the blocks that were allocated within the trace's slice, by functions with such names if they are to
    /// be chosen. Releases of them before the slice's end count, by any thread.
    pub fn of_slice(trace: &Trace, frames: usize, is_function: Option<&dyn Fn(&str) -> bool>) -> Allocations {
        let is_all = trace.slice().is_none() && is_function.is_none();
        let slice = CallSlice {
            slice: trace.slice(),
            is_function,
            known: HashMap::new(),
        };
        Allocations::summed(trace, frames, (!is_all).then_some(slice))
    }

    fn summed<'t>(trace: &'t Trace, frames: usize, slice: Option<CallSlice<'t>>) -> Allocations {
        let (sites, damage) = CallSites::new(trace);
        let processes = trace.allocating_processes();
        let pid = |process: &AllocatingProcess| (process.number, process.pid);
        let summing = Summing {
            events: AllocationEvents::new(trace),
            sites,
            frames,
            pids: processes.iter().map(pid).collect(),
            known: HashMap::new(),
            totals: Allocations {
                damage,
                is_of_slice: slice.is_some(),
                ..Allocations::default()
            },
            slice,
        };
        summing.run(Replay::new(&processes))
    }
}

impl Summing<'_> {
    fn run(mut self, mut replay: Replay) -> Allocations {
        loop {
            match self.events.next_event() {
                Ok(Some(event)) if self.is_over(&event) => break,
                Ok(Some(event)) => {
                    let is_inside = self.is_inside(&event);
                    if is_inside {
                        self.note(&event);
                    }
                    let step = replay.step_of(&event, is_inside);
                    self.take(&event, step, is_inside);
                }
                Ok(None) => break,
                Err(error) => self.totals.damage.push(error),
            }
        }
        for fate in replay.live().filter(|fate| fate.block.is_counted) {
            if let Some(site) = self.known_site(fate.process, fate.block.stack) {
                site.leaked += 1;
                site.leaked_bytes = site.leaked_bytes.saturating_add(fate.block.size_bytes);
            }
        }
        let peaks = self.totals.peaks;
        self.totals
            .sites
            .values_mut()
            .for_each(|site| site.see_peak(peaks));
        self.totals
    }

    /// Whether the slice ends before the event; events come in the order of time.
    fn is_over(&self, event: &AllocationEvent) -> bool {
        let slice = self.slice.as_ref().and_then(|slice| slice.slice);
        slice.is_some_and(|slice| event.time_ns >= slice.end_ns())
    }

    fn is_inside(&mut self, event: &AllocationEvent) -> bool {
        let Some(inside) = &mut self.slice else {
            return true;
        };
        let is_in_slice = inside.slice.is_none_or(|slice| slice.keeps_call(event));
        let (true, Some(is_function)) = (is_in_slice, inside.is_function) else {
            return is_in_slice;
        };
        let pid = self.pids.get(&event.process).copied().unwrap_or(0);
        let (stacks, sites) = (self.events.stacks(), &mut self.sites);
        let known = inside.known.entry((event.process, event.stack));
        *known.or_insert_with(|| {
            let caller = stacks.get(event.stack).frames.first();
            caller.is_some_and(|caller| {
                let frames = sites.frame(pid, event.time_ns, *caller);
                frames.iter().any(|frame| is_function(&frame.function))
            })
        })
    }

    fn note(&mut self, event: &AllocationEvent) {
        let totals = &mut self.totals;
        match event.what {
            AllocationAction::Missing { .. } => return totals.gaps += 1,
            AllocationAction::Forked { .. } => return,
            AllocationAction::Mapped { length, .. } => {
                totals.mappings += 1;
                totals.mapped_bytes = totals.mapped_bytes.saturating_add(length);
            }
            _ => {}
        }
        totals.events += 1;
    }

    fn take(&mut self, event: &AllocationEvent, step: ReplayStep, is_inside: bool) {
        match step {
            ReplayStep::Nothing => {}
            ReplayStep::Allocated(block) => self.allocated(event, &block),
            ReplayStep::Freed(block) => {
                self.totals.frees += u64::from(block.is_counted);
                self.freed(event, &block);
            }
            ReplayStep::Reallocated { old, new } => {
                self.totals.reallocations += u64::from(old.is_counted);
                self.freed(event, &old);
                self.allocated(event, &new);
            }
            ReplayStep::Contradiction(contradiction) if is_inside => {
                self.totals.contradictions += 1;
                self.totals.first_contradiction.get_or_insert(contradiction);
            }
            ReplayStep::Contradiction(_) => {}
        }
    }

    fn allocated(&mut self, event: &AllocationEvent, block: &Block) {
        if !block.is_counted {
            let live_bytes = &mut self.totals.outside_live_bytes;
            *live_bytes = live_bytes.saturating_add(block.size_bytes);
            return;
        }
        let end = self.events.stacks().get(event.stack).end;
        let is_cut = !matches!(end, StackEnd::Outermost | StackEnd::Limit) || event.stack == StackId(0);
        let (size, peaks) = (block.size_bytes, self.totals.peaks);
        let site = self.site(event);
        site.see_peak(peaks);
        site.allocations += 1;
        site.bytes = site.bytes.saturating_add(size);
        site.live_bytes = site.live_bytes.saturating_add(size);
        site.peak_bytes = site.peak_bytes.max(site.live_bytes);
        site.cut_stacks += u64::from(is_cut);
        let totals = &mut self.totals;
        totals.allocations += 1;
        totals.bytes = totals.bytes.saturating_add(size);
        totals.live_bytes = totals.live_bytes.saturating_add(size);
        totals.cut_stacks += u64::from(is_cut);
        if totals.live_bytes > totals.peak_bytes {
            totals.peak_bytes = totals.live_bytes;
            totals.peak_ns = event.time_ns;
            totals.outside_bytes = totals.outside_live_bytes;
            totals.peaks += 1;
        }
    }

    /// What a process has from its parent was counted there.
    fn freed(&mut self, event: &AllocationEvent, block: &Block) {
        if block.is_inherited {
            return;
        }
        if !block.is_counted {
            let live_bytes = &mut self.totals.outside_live_bytes;
            *live_bytes = live_bytes.saturating_sub(block.size_bytes);
            return;
        }
        let peaks = self.totals.peaks;
        if let Some(site) = self.known_site(event.process, block.stack) {
            site.see_peak(peaks);
            site.freed += 1;
            site.lifetimes_ns += u128::from(event.time_ns.saturating_sub(block.allocated_ns));
            site.live_bytes = site.live_bytes.saturating_sub(block.size_bytes);
        }
        self.totals.live_bytes = self.totals.live_bytes.saturating_sub(block.size_bytes);
    }

    fn known_site(&mut self, process: u32, stack: StackId) -> Option<&mut SiteTotals> {
        let index = *self.known.get(&(process, stack))?;
        Some(&mut self.totals.sites[index])
    }

    fn site(&mut self, event: &AllocationEvent) -> &mut SiteTotals {
        let key = (event.process, event.stack);
        let index = match self.known.get(&key) {
            Some(index) => *index,
            None => {
                let pid = self.pids.get(&event.process).copied().unwrap_or(0);
                let stacks = self.events.stacks();
                let frames = self
                    .sites
                    .frames(stacks, event.stack, pid, event.time_ns, self.frames);
                let entry = self.totals.sites.entry(frames);
                let index = entry.index();
                entry.or_default();
                self.known.insert(key, index);
                index
            }
        };
        &mut self.totals.sites[index]
    }
}

impl SiteTotals {
    /// To be called before a change. The live bytes were the same at all peaks since the last change.
    fn see_peak(&mut self, peaks: u64) {
        if self.peak < peaks {
            self.bytes_at_peak = self.live_bytes;
            self.peak = peaks;
        }
    }
}
