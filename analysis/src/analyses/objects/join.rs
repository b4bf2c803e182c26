//! Brings samples and calls of allocators together by their times.

use std::collections::HashMap;

use indexmap::IndexMap;
use trackway_trace::allocations::{AllocatingProcess, AllocationEvent, AllocationEvents, StackId};
use trackway_trace::{
    Direction, MemoryLevel, Sample, Samples, SamplingInfo, Trace, TraceError, WindowAccess, WindowAddress,
};

use super::call_chain::named_call;
use super::estimate::{AllClusters, Weight};
use super::holdings::{Block, BlockKind, Change, Holdings};
use super::owner::Owner;
use super::places::{Accessed, Places};
use super::totals::{Objects, Spot};
use crate::analyses::allocations::CallSites;
use crate::analyses::samples::window_weights::WindowWeights;
use crate::model::moments::TimeBins;

/// Accesses of one instruction that lie at most this far apart are a stream.
const NEAR_BYTES: u64 = 64;

struct Join<'t> {
    trace: &'t Trace,
    events: AllocationEvents<'t>,
    holdings: Holdings,
    sites: CallSites,
    places: Places,
    processes: Vec<AllocatingProcess>,
    /// Index of the owner, by the process that made the call, and the stack.
    known: HashMap<(u32, StackId), usize>,
    changes: Vec<Change>,
    objects: Objects,
}

impl Objects {
    /// Joins all samples of the trace with what was live at their times; series have at most `slices` parts.
    pub fn of(trace: &Trace, slices: usize) -> Objects {
        let (samples, mut damage) = trace.samples();
        let (sites, more) = CallSites::new(trace);
        damage.extend(more);
        let processes = trace.allocating_processes();
        let mut join = Join {
            trace,
            events: AllocationEvents::new(trace),
            holdings: Holdings::new(&processes),
            sites,
            places: Places::default(),
            processes,
            known: HashMap::new(),
            changes: Vec::new(),
            objects: empty(trace, &samples, slices, damage),
        };
        join.run(&samples);
        join.objects
    }
}

fn empty(trace: &Trace, samples: &[Samples], slices: usize, damage: Vec<TraceError>) -> Objects {
    let times = || {
        samples
            .iter()
            .flat_map(|chunk| &chunk.samples)
            .map(|sample| sample.time_ns)
    };
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    Objects {
        owners: IndexMap::new(),
        weight: Weight::default(),
        windows: AllClusters::default(),
        window_weights: WindowWeights::of(samples),
        unknown_window_accesses: 0,
        classes: HashMap::new(),
        lost: samples.iter().map(|chunk| chunk.lost).sum(),
        left_out: 0,
        sampling: trace.meta().sampling.clone().unwrap_or_default(),
        unit: unit(trace.meta().sampling.as_ref()),
        bins: TimeBins::new(first, last, slices),
        spots: Vec::new(),
        knows_allocations: !trace.allocation_streams().is_empty(),
        damage,
        start_ns: match trace.meta().start_monotonic_ns {
            0 => first,
            start => start.min(first),
        },
    }
}

/// Time if there is an event that stands for it, else the unit of the first one.
fn unit(sampling: Option<&SamplingInfo>) -> String {
    let events = sampling.map_or(&[][..], |sampling| &sampling.events);
    let time = events.iter().find(|event| event.weight_unit == "ns");
    time.or(events.first())
        .map_or(String::new(), |event| event.weight_unit.clone())
}

impl Join<'_> {
    /// A sample and an event at one time: the event comes first, since memory is obtained before its event.
    fn run(&mut self, samples: &[Samples]) {
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        for (chunk, content) in samples.iter().enumerate() {
            let places = content.samples.iter().enumerate();
            order.extend(places.map(|(index, sample)| (sample.time_ns, chunk, index)));
        }
        order.sort_unstable();
        let mut next = self.next_event();
        for (time_ns, chunk, index) in order {
            while let Some(event) = next.filter(|event| event.time_ns <= time_ns) {
                self.apply(&event);
                next = self.next_event();
            }
            let sample = &samples[chunk].samples[index];
            self.take(sample, samples[chunk].window_of(sample));
        }
        while let Some(event) = next {
            self.apply(&event);
            next = self.next_event();
        }
    }

    fn next_event(&mut self) -> Option<AllocationEvent> {
        loop {
            match self.events.next_event() {
                Ok(event) => return event,
                Err(error) => self.objects.damage.push(error),
            }
        }
    }

    fn apply(&mut self, event: &AllocationEvent) {
        let mut changes = std::mem::take(&mut self.changes);
        self.holdings.apply(event, &mut changes);
        for change in changes.drain(..) {
            match change {
                Change::Obtained(block) => {
                    let owner = self.owner_of(&block);
                    self.objects.owners[owner].obtained(block.bytes);
                }
                Change::Released(block) => {
                    let owner = self.owner_of(&block);
                    self.objects.owners[owner].released(block.bytes);
                }
            }
        }
        self.changes = changes;
    }

    /// The index of the call that gave the block.
    fn owner_of(&mut self, block: &Block) -> usize {
        let key = (block.process, block.stack);
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let pid = self.pid_of(block.process);
        let stack = self.events.stacks().get(block.stack).clone();
        let named = named_call(&mut self.sites, &stack, pid, block.obtained_ns);
        let index = self.index_of(Owner::CallSite(named.frame));
        if !named.chain.is_empty() && block.kind == BlockKind::Heap {
            self.objects.owners[index].chains.insert(named.chain);
        }
        self.known.insert(key, index);
        index
    }

    fn pid_of(&self, process: u32) -> u32 {
        let known = self.processes.iter().find(|known| known.number == process);
        known.map_or(0, |known| known.pid)
    }

    fn index_of(&mut self, owner: Owner) -> usize {
        let entry = self.objects.owners.entry(owner);
        let index = entry.index();
        entry.or_default();
        index
    }

    /// The program that the process ran then: after exec there is another one.
    fn process_at(&self, pid: u32, time_ns: u64) -> Option<u32> {
        let mut of_pid = self.processes.iter().filter(|process| process.pid == pid);
        let first = of_pid.clone().next()?;
        let latest = of_pid.rfind(|process| process.began_ns <= time_ns);
        Some(latest.unwrap_or(first).number)
    }

    fn take(&mut self, sample: &Sample, window: &[WindowAccess]) {
        if self.has_other_unit(sample) {
            self.objects.left_out += 1;
            return;
        }
        self.objects.weight.add(sample.weight);
        self.objects
            .classes
            .entry(sample.class)
            .or_default()
            .add(sample.weight);
        let process = self.process_at(sample.pid, sample.time_ns);
        let index = match (sample.address, sample.direction) {
            (Some(address), _) => self.take_access(sample, process, address),
            (None, Direction::None) => self.index_of(Owner::NoAccess),
            (None, _) => self.index_of(Owner::NoAddress),
        };
        self.objects.spots.push(Spot {
            owner: index as u32,
            pid: sample.pid,
            tid: sample.tid,
            address: sample.address,
            time_ns: sample.time_ns,
            stores: !sample.direction.loads() && sample.direction.stores(),
            weight: sample.weight,
        });
        let bin = self.objects.bins.of(sample.time_ns);
        let tenth = tenth_of(&self.objects.bins, sample.time_ns);
        let bins = self.objects.bins.count();
        let totals = &mut self.objects.owners[index];
        totals.weight.add(sample.weight);
        totals.seen_at(sample.time_ns);
        totals.series.resize(bins, 0);
        if let Some(tenth) = tenth {
            totals.tenths[tenth] = totals.tenths[tenth].saturating_add(sample.weight);
        }
        if let Some(bin) = bin {
            totals.series[bin] = totals.series[bin].saturating_add(sample.weight);
        }
        if is_beyond_caches(sample) {
            totals.weight_beyond_caches = totals.weight_beyond_caches.saturating_add(sample.weight);
        }
        totals.loads += u64::from(sample.direction.loads());
        totals.stores += u64::from(sample.direction.stores());
        self.take_window(sample, process, window);
    }

    fn has_other_unit(&self, sample: &Sample) -> bool {
        let events = self
            .trace
            .meta()
            .sampling
            .as_ref()
            .map(|sampling| &sampling.events);
        let event = events.and_then(|events| events.get(sample.event as usize));
        event.is_some_and(|event| event.weight_unit != self.objects.unit)
    }

    fn take_access(&mut self, sample: &Sample, process: Option<u32>, address: u64) -> usize {
        let accessed = Accessed {
            time_ns: sample.time_ns,
            pid: sample.pid,
            tid: sample.tid,
            instruction: sample.instruction,
            address,
            stores: !sample.direction.loads() && sample.direction.stores(),
        };
        let index = self.owner_at(process, &accessed);
        let data_type = self.places.operand(&accessed, &self.sites).data_type.clone();
        self.objects.owners[index].count_type(&data_type);
        index
    }

    /// The index of the owner of an accessed address.
    fn owner_at(&mut self, process: Option<u32>, accessed: &Accessed) -> usize {
        let block = process.and_then(|process| self.holdings.find(process, accessed.address));
        match block {
            Some((_, block)) if block.kind != BlockKind::File => self.owner_of(&block),
            _ => {
                let owner = match (self.places.owner(accessed, &self.sites), block) {
                    // If no mapping tells a file's name, the call that mapped the file still identifies it.
                    (Owner::Unmapped | Owner::Anonymous, Some((_, block))) => return self.owner_of(&block),
                    (owner, _) => owner,
                };
                self.index_of(owner)
            }
        }
    }

    /// The memory is that of the sample's time.
    fn take_window(&mut self, sample: &Sample, process: Option<u32>, window: &[WindowAccess]) {
        let mut of_owner: HashMap<usize, u64> = HashMap::new();
        let mut latest: HashMap<u64, (usize, u64)> = HashMap::new();
        let mut known = 0;
        for access in window {
            if access.known_by == WindowAddress::Unknown {
                self.objects.unknown_window_accesses += 1;
                continue;
            }
            known += 1;
            let accessed = Accessed {
                time_ns: sample.time_ns,
                pid: sample.pid,
                tid: sample.tid,
                instruction: access.instruction,
                address: access.address,
                stores: access.is_store,
            };
            let index = self.owner_at(process, &accessed);
            *of_owner.entry(index).or_default() += 1;
            let totals = &mut self.objects.owners[index];
            totals.window_loads += u64::from(!access.is_store);
            totals.window_stores += u64::from(access.is_store);
            totals.window_sure += u64::from(access.known_by == WindowAddress::Registers);
            if let Some((owner, before)) = latest.insert(access.instruction, (index, access.address)) {
                let is_near = before.abs_diff(access.address) <= NEAR_BYTES;
                totals.window_pairs += u64::from(owner == index);
                totals.window_near_pairs += u64::from(owner == index && is_near);
            }
        }
        if known == 0 {
            return;
        }
        let weight = self.objects.window_weights.weight(sample);
        self.objects.windows.add(known, weight);
        for (index, part) in of_owner {
            self.objects.owners[index].clusters.add(part, known, weight);
        }
    }
}

fn tenth_of(bins: &TimeBins, time_ns: u64) -> Option<usize> {
    let span = u128::from(bins.last_ns - bins.first_ns) + 1;
    let passed = time_ns.checked_sub(bins.first_ns)?;
    let tenth = u128::from(passed) * 10 / span;
    usize::try_from(tenth).ok().filter(|tenth| *tenth < 10)
}

/// Whether another kind of memory would have answered slower or faster: no cache is known to have answered. An access
/// that waits for a line on its way (in a fill buffer) waits for memory.
fn is_beyond_caches(sample: &Sample) -> bool {
    !matches!(
        sample.data_source.level(),
        MemoryLevel::L1 | MemoryLevel::L2 | MemoryLevel::L3 | MemoryLevel::L4
    )
}
