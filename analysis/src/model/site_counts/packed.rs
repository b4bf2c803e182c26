//! Counts of accesses and misses on their way to another process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trackway_trace::{Program, SiteId};

use super::counters::stores;
use super::shard::MissesShard;
use super::SiteCounters;
use crate::engine::partial::{Division, LineDivision, PartialError, Ranges};
use crate::model::cache::{Caches, Totals};
use crate::WorkPart;

/// What a [`MissesShard`] has counted. A range of chunks executes only some of a program's sites, so only those are
/// here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedMisses {
    /// Ascending.
    sites: Vec<(u32, SiteCounters)>,
    threads: BTreeMap<u32, SiteCounters>,
    totals: Totals,
}

impl PackedMisses {
    pub(crate) fn of(shard: &MissesShard) -> PackedMisses {
        let counters = shard.counters().into_iter().zip(0u32..);
        let counted = counters.filter(|(counters, _)| *counters != SiteCounters::default());
        PackedMisses {
            sites: counted.map(|(counters, site)| (site, counters)).collect(),
            threads: shard.threads().clone(),
            totals: shard.totals(),
        }
    }

    pub(crate) fn into_shard(self, program: &Program) -> Result<MissesShard, PartialError> {
        let mut shard = MissesShard::new(&Caches::none(), WorkPart::WHOLE);
        shard.take_sites(program.sites.iter().map(|site| stores(site.kind)));
        for (site, counters) in &self.sites {
            if SiteId(*site).index() >= program.sites.len() {
                return Err(PartialError::DoesNotFit {
                    what: "it counts accesses of sites that the program doesn't have",
                });
            }
            shard.add_site(SiteId(*site), counters);
        }
        shard.add_rest(self.threads, self.totals);
        Ok(shard)
    }
}

/// How the simulation of these caches, and the counting beside it, can be divided.
pub(crate) fn division(caches: &Caches, lead_in: u64) -> Division {
    let most_parts = caches.most_line_parts();
    let lines = (most_parts > 1).then_some(LineDivision {
        shift: caches.part_shift(),
        most_parts,
        times: false,
    });
    let counts_alone = caches.levels().is_empty();
    Division {
        ranges: (counts_alone || lines.is_some()).then_some(Ranges { lead_in }),
        lines,
    }
}
