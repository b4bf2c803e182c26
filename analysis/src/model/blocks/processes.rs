//! The memory of all processes, and their threads.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{Batch, Program, Trace, VariableKind};

use super::{Heap, Inherit, Places, Statics, Thread};

/// Follows all processes of a trace.
#[derive(Debug, Clone)]
pub struct Processes<D> {
    statics: Arc<Statics>,
    /// The process from which each process was forked.
    parents: HashMap<u32, u32>,
    places: HashMap<u32, Places<D>>,
    threads: HashMap<u32, Thread>,
    /// An address in each stream's stack, as far as the trace says.
    stacks: HashMap<u32, u64>,
    sites: usize,
}

impl<D: Inherit> Processes<D> {
    pub fn new(trace: &Trace) -> Self {
        let infos = trace.processes().iter();
        Processes {
            statics: Arc::new(Statics::new(trace.program())),
            parents: infos
                .filter_map(|(process, info)| Some((*process, info.parent?)))
                .collect(),
            places: HashMap::new(),
            threads: HashMap::new(),
            stacks: trace.stacks().clone(),
            sites: trace.program().sites.len(),
        }
    }

    /// The memory of the batch's process, and the batch's thread.
    pub fn of(&mut self, batch: &Batch) -> (&mut Places<D>, &mut Thread) {
        if !self.places.contains_key(&batch.process) {
            let parent = self
                .parents
                .get(&batch.process)
                .and_then(|parent| self.places.get(parent));
            let places = match parent {
                Some(parent) => parent.forked(),
                None => Places::new(self.statics.clone()),
            };
            self.places.insert(batch.process, places);
        }
        let new_places = || Places::new(self.statics.clone());
        let places = self.places.entry(batch.process).or_insert_with(new_places);
        let thread = self.threads.entry(batch.stream);
        let thread = thread.or_insert_with(|| {
            let mut thread = Thread::new(self.sites);
            if let Some(&address) = self.stacks.get(&batch.stream) {
                thread.take_known_stack(places, address, batch.stream);
            }
            thread
        });
        (places, thread)
    }

    pub fn heaps(&self) -> impl Iterator<Item = &Heap<D>> {
        self.places.values().map(|places| &places.heap)
    }
}

/// Whether each site accesses memory by way of a local variable or a parameter.
pub fn local_sites(program: &Program) -> Vec<bool> {
    let kinds = program.sites.iter().map(|site| site.variable_kind);
    kinds
        .map(|kind| matches!(kind, VariableKind::Local | VariableKind::Parameter))
        .collect()
}
