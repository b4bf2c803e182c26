//! Makes samples from what a ring holds, and from what its recorder has taken from it.

use std::collections::HashMap;

use trackway_analysis::regions::live::{LiveRegions, Sample, SeenNode};
use trackway_recorder::{now_ns, RingView, RunningNode};
use trackway_trace::{ChunkHeader, ChunkKind, Clock, GrowingTrace, ProcessEvent, Trace, TraceError};

pub struct Watcher {
    /// The recorder's chunks so far: the tables of modules.
    growing: GrowingTrace,
    live: LiveRegions,
    clock: Clock,
    images: Images,
    pub begin_ns: u64,
}

/// How many counters the nodes of an image have, by the modules that are known.
#[derive(Default)]
struct Images {
    counters: HashMap<u32, usize>,
    modules: usize,
}

impl Watcher {
    /// `clock` is that of the recording.
    pub fn new(growing: GrowingTrace, clock: Clock) -> Self {
        let begin_ns = now_ns(&clock);
        Watcher {
            growing,
            live: LiveRegions::new(begin_ns),
            clock,
            images: Images::default(),
            begin_ns,
        }
    }

    /// Takes the recorder's next chunk. It has the final counts of a thread.
    pub fn take(&mut self, header: &ChunkHeader, chunk: Vec<u8>) -> Result<(), TraceError> {
        self.growing.push(header, &chunk);
        if header.kind != ChunkKind::Counts {
            return Ok(());
        }
        let counts = self.growing.read_counts(header, chunk)?;
        let trace = self.growing.trace();
        let seen = SeenNode {
            stream: header.stream,
            process: header.process,
            pid: pid_of(trace, header.process),
            first_ns: header.first_ns,
            seen_ns: header.last_ns,
            is_final: true,
            counts: &counts,
        };
        self.live.see(&seen, trace, &self.clock);
        Ok(())
    }

    /// Reads the counters of running threads.
    pub fn look(&mut self, ring: &RingView) {
        let trace = self.growing.trace();
        self.images.learn(trace);
        let counters = |image| self.images.counters.get(&image).copied().unwrap_or(0);
        let live = &mut self.live;
        ring.read(&self.clock, counters, |node: &RunningNode| {
            let seen = SeenNode {
                stream: node.stream,
                process: process_of(trace, node.pid, node.parent_pid),
                pid: node.pid,
                first_ns: node.first_ns,
                seen_ns: node.seen_ns,
                is_final: false,
                counts: &node.counts,
            };
            live.see(&seen, trace, &self.clock);
        });
    }

    /// What came since the last one.
    pub fn sample(&mut self) -> Sample {
        self.live.sample(now_ns(&self.clock))
    }

    /// What came until the last sample.
    pub fn whole(&self) -> Sample {
        self.live.whole(self.begin_ns)
    }
}

impl Images {
    fn learn(&mut self, trace: &Trace) {
        let modules = &trace.program().modules;
        for module in modules.get(self.modules..).unwrap_or_default() {
            if let Some((counters, range)) = module.counters.zip(module.counter_range()) {
                let count = self.counters.entry(counters.image).or_default();
                *count = (*count).max(range.end as usize);
            }
        }
        self.modules = modules.len();
    }
}

/// The latest process of that number, or that from which it was forked if the trace doesn't know it yet.
fn process_of(trace: &Trace, pid: u32, parent_pid: u32) -> u32 {
    let latest = |pid| {
        let mut begun = trace.processes().iter().rev();
        begun.find(|(_, info)| info.pid == pid && info.event == ProcessEvent::Start)
    };
    latest(pid)
        .or_else(|| latest(parent_pid))
        .map_or(0, |(number, _)| *number)
}

fn pid_of(trace: &Trace, process: u32) -> u32 {
    let mut processes = trace.processes().iter();
    processes
        .find(|(number, _)| *number == process)
        .map_or(0, |(_, info)| info.pid)
}
