//! Which proposals are shown: each is simulated, and has to gain something.

use std::num::NonZeroUsize;
use std::sync::Arc;

use trackway_report::percent;
use trackway_trace::Trace;

use super::proposals::Proposal;
use crate::analyses::whatif::{try_each, NewLayout, Trial, ENOUGH};
use crate::engine::Observer;
use crate::model::cache::Caches;
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::structures::Structures;
use crate::model::time::{Machine, LEAST_WAITING};

/// A proposal has to save this part of the program's misses.
const LEAST_GAIN: f64 = 0.02;

/// What is known of the program as it is.
pub(super) struct Before<'b> {
    pub structures: &'b Structures,
    pub caches: &'b Caches,
    pub machine: Option<&'b Arc<Machine>>,
    pub line_bytes: u64,
    pub rank_by: Measure,
    /// Counters of the whole program.
    pub total: SiteCounters,
    /// Counters by structure.
    pub of_structures: Vec<SiteCounters>,
    /// The cycles that the accesses to each structure waited, if time counts.
    pub waited: Option<Vec<u64>>,
}

/// A proposal, and what the simulation says.
pub(super) struct Judged {
    pub proposal: Proposal,
    pub verdict: Verdict,
}

pub(super) enum Verdict {
    Gains(SiteCounters),
    /// Why it is not shown.
    Dropped(String),
}

impl Judged {
    /// The program's counters with the proposals, if that is better.
    pub fn after(&self) -> Option<&SiteCounters> {
        match &self.verdict {
            Verdict::Gains(after) => Some(after),
            Verdict::Dropped(_) => None,
        }
    }
}

impl Before<'_> {
    /// Simulates the proposals in two passes, all in one go. Those that save the most come first.
    pub fn judge(
        &self,
        proposals: Vec<Proposal>,
        trace: &Trace,
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Vec<Judged> {
        let mut layouts: Vec<NewLayout> = Vec::new();
        let mut planned: Vec<(Proposal, Result<usize, String>)> = Vec::new();
        for proposal in proposals {
            let layout = self.plan(&proposal);
            let number = layout.map(|layout| {
                let known = layouts.iter().position(|known| *known == layout);
                known.unwrap_or_else(|| {
                    layouts.push(layout);
                    layouts.len() - 1
                })
            });
            planned.push((proposal, number));
        }
        let trials = try_each(
            &layouts,
            self.structures,
            (self.caches, self.machine),
            trace,
            threads,
            observer,
        );
        let mut judged: Vec<Judged> = Vec::new();
        for (proposal, number) in planned {
            let verdict = match number {
                Ok(number) => self.verdict(&trials[number]),
                Err(why) => Verdict::Dropped(why),
            };
            judged.push(Judged { proposal, verdict });
        }
        let misses = |judged: &Judged| judged.after().map_or(u64::MAX, |after| self.rank_by.of(after));
        judged.sort_by_key(misses);
        judged
    }

    /// The layout to simulate, or why there is none.
    fn plan(&self, proposal: &Proposal) -> Result<NewLayout, String> {
        let own = self.rank_by.of(&self.of_structures[proposal.structure]);
        if !self.is_enough(own) {
            return Err(format!(
                "not simulated: the structure has less than {} of the {}",
                percent(LEAST_GAIN),
                self.rank_by
            ));
        }
        let all = self.total.cycles.max(1) as f64;
        let waited = self.waited.as_ref();
        let waited = waited.map_or(1.0, |waited| waited[proposal.structure] as f64 / all);
        if waited < LEAST_WAITING {
            return Err(format!(
                "not simulated: its accesses wait in {} of the time",
                percent(waited)
            ));
        }
        NewLayout::new(
            self.structures,
            proposal.structure,
            proposal.change.clone(),
            proposal.link,
            self.line_bytes,
        )
        .map_err(|error| error.to_string())
    }

    fn is_enough(&self, misses: u64) -> bool {
        misses > 0 && misses as f64 >= LEAST_GAIN * self.rank_by.of(&self.total) as f64
    }

    fn verdict(&self, trial: &Trial) -> Verdict {
        let (sum, done) = match trial {
            Trial::Simulated { after, done } => (after.as_ref(), done),
            Trial::Impossible(why) => return Verdict::Dropped(why.to_string()),
        };
        if !done.covers(ENOUGH) {
            let (part, all) = done.share();
            let share = percent(part as f64 / all.max(1) as f64);
            return Verdict::Dropped(format!("only {share} of the accesses to it could be rewritten"));
        }
        let (before, after) = (self.rank_by.of(&self.total), self.rank_by.of(sum));
        let part = |misses: u64| percent(misses as f64 / before.max(1) as f64);
        match before.checked_sub(after) {
            Some(saved) if self.is_enough(saved) => Verdict::Gains(*sum),
            Some(saved) => Verdict::Dropped(format!("saves {}", part(saved))),
            None => Verdict::Dropped(format!("costs {} more {}", part(after - before), self.rank_by)),
        }
    }

    /// What a proposal that saves misses makes worse by a thousandth or more.
    pub fn worse(&self, after: &SiteCounters) -> String {
        let levels = (0..self.caches.levels().len()).map(Measure::Misses);
        let measures = std::iter::once(Measure::Accesses).chain(levels);
        let mut words: Vec<String> = Vec::new();
        let mut compare = |name: String, before: u64, after: u64| {
            if after > before && (after - before) as f64 >= 0.001 * before as f64 {
                let more = (after - before) as f64 / before.max(1) as f64;
                words.push(format!("{name} +{}", percent(more)));
            }
        };
        for measure in measures {
            compare(measure.to_string(), measure.of(&self.total), measure.of(after));
        }
        for level in 0..self.caches.tlbs().len() {
            let of = |counters: &SiteCounters| counters.outcome.tlb_misses[level];
            compare(format!("TLB{} misses", level + 1), of(&self.total), of(after));
        }
        words.join(", ")
    }
}
