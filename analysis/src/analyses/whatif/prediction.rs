//! The caches of a program whose structures are laid out anew.

use std::sync::Arc;

use trackway_trace::{Batch, Program};

use super::rewrite::{Rewriter, Rewritten, Targets};
use super::simulations::Simulations;
use super::survey::Purposes;
use crate::model::cache::Caches;
use crate::model::site_counts::stores;
use crate::model::site_counts::MissesShard;
use crate::model::time::{Machine, TimedSites};

/// Rewrites accesses, and simulates the rewritten ones.
pub(super) struct Prediction<'p> {
    rewriter: Rewriter<'p>,
    simulations: Simulations,
    /// The batch that was rewritten last, for its memory.
    rewritten: Batch,
    is_rewritten: bool,
}

impl<'p> Prediction<'p> {
    pub fn new(
        program: &Program,
        purposes: &'p Purposes,
        targets: &'p Targets,
        (caches, machine): (&Caches, Option<&Arc<Machine>>),
    ) -> Self {
        let mut simulations = Simulations::new(caches, machine);
        simulations.take_sites(sites_with_pointers(program), || {
            TimedSites::of(program).with_pointers()
        });
        Prediction {
            rewriter: Rewriter::new(program, purposes, targets),
            simulations,
            rewritten: Batch::default(),
            is_rewritten: !targets.is_empty(),
        }
    }

    pub fn take(&mut self, program: &Program, batch: &Batch) {
        if !self.is_rewritten {
            return self.simulations.take(batch);
        }
        let simulations = &mut self.simulations;
        let mut pass_on = |rewritten: &Batch| simulations.take(rewritten);
        self.rewriter
            .rewrite(program, batch, &mut self.rewritten, &mut pass_on);
    }

    /// If anything is rewritten, only one of both took the accesses of a process.
    pub fn merge(&mut self, from: Self) {
        self.simulations.merge(from.simulations);
        if from.rewriter.has_begun() {
            self.rewriter = from.rewriter;
        }
    }

    /// The caches, and what was rewritten of each structure.
    pub fn finish(self, program: &Program) -> (MissesShard, Vec<Rewritten>) {
        let caches = self.simulations.finish(sites_with_pointers(program));
        (caches, self.rewriter.done)
    }
}

/// Whether each site stores. The last two load and store pointers to split-off parts.
fn sites_with_pointers(program: &Program) -> Vec<bool> {
    let sites = program.sites.iter().map(|site| stores(site.kind));
    sites.chain([false, true]).collect()
}
