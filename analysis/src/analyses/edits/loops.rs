//! Nests of loops in another order: the loops interchanged, or in blocks.

mod collect;
mod dependences;
mod nest;
mod plan;
mod survey;

use std::collections::BTreeSet;

use trackway_trace::{Batch, Piece, Program, SiteId};

use self::collect::Collector;
use self::nest::Nest;
use self::plan::Plan;
use super::simulate::Output;
use super::{Edit, Kind, Rewrite, Subject, LEAST_PART};
use crate::model::site_counts::group;
use crate::model::Names;

/// Bytes of a line: who moves by as much needs another one each time.
const LINE_BYTES: u64 = 64;

/// Nests that may be walked in a better order. Only runs tell nests, and so only traces of one thread.
pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    if subject.trace.streams().len() > 1 {
        return Vec::new();
    }
    let program = subject.trace.program();
    let found = survey::nests(subject);
    let mut edits: Vec<(f64, Edit)> = Vec::new();
    for (sites, nest) in found {
        let part = subject.part_of_time(&sites);
        let Some(plan) = Plan::of(&nest).filter(|_| part >= LEAST_PART) else {
            continue;
        };
        edits.push((part, edit(program, sites, &nest, &plan)));
    }
    edits.sort_by(|first, second| second.0.total_cmp(&first.0));
    edits.into_iter().map(|(_, edit)| edit).collect()
}

fn edit(program: &Program, sites: Vec<SiteId>, nest: &Nest, plan: &Plan) -> Edit {
    let names = Names::new(program);
    let name = |site: SiteId| group::field_name(&names, group::field_key(program, program.site(site)));
    let far: Vec<_> = nest.far().collect();
    let moved: BTreeSet<String> = far.iter().map(|access| name(access.site)).collect();
    let moved = Vec::from_iter(moved).join(", ");
    let stride = far.first().map_or(0, |access| access.strides[0].unsigned_abs());
    let new = match plan.tile {
        Some(tile) => format!("blocks of {tile} by {tile} iterations use each line while it is near"),
        None => format!(
            "with the loop of {} iterations innermost, it moves by {} bytes or less",
            nest.counts[plan.innermost()],
            nest.longest_step(plan.innermost())
        ),
    };
    Edit {
        kind: match plan.tile {
            Some(_) => Kind::Blocking,
            None => Kind::Interchange,
        },
        of: format!("loops over {moved}"),
        reason: format!(
            "the innermost loop moves {} bytes each time; {new}. In the trace, no write changes places with another access to the same bytes",
            trackway_report::grouped(stride)
        ),
        location: far.first().map(|access| program.site(access.site).location),
        definition: Vec::new(),
        rewriting: Box::new(move || Box::new(Reordered::new(sites.clone()))),
    }
}

/// Walks the nests of one innermost loop in another order.
struct Reordered {
    /// The sites of the innermost loop.
    sites: Vec<SiteId>,
    collector: Collector,
}

impl Reordered {
    fn new(sites: Vec<SiteId>) -> Reordered {
        Reordered {
            sites,
            collector: Collector::default(),
        }
    }
}

fn emit(nests: Vec<Nest>, to: &mut Output) {
    for nest in nests {
        match Plan::of(&nest) {
            Some(plan) => plan.walk(&nest, to),
            None => Plan::as_it_is(&nest).walk(&nest, to),
        }
    }
}

impl Rewrite for Reordered {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        let access = (batch.site[index], batch.address[index], batch.length(index));
                        if let Some((nests, before)) = self.collector.access(access) {
                            emit(nests, to);
                            before
                                .into_iter()
                                .for_each(|(site, address, length)| to.access(site, address, length));
                        }
                    }
                }
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    if !lanes.iter().map(|lane| lane.site).eq(self.sites.iter().copied()) {
                        let (nests, before) = self.collector.end();
                        emit(nests, to);
                        before
                            .into_iter()
                            .for_each(|(site, address, length)| to.access(site, address, length));
                        to.run(lanes, run.count);
                        continue;
                    }
                    emit(self.collector.run(lanes, run.count), to);
                }
            }
        }
    }

    fn end(&mut self, to: &mut Output) {
        let (nests, before) = self.collector.end();
        emit(nests, to);
        before
            .into_iter()
            .for_each(|(site, address, length)| to.access(site, address, length));
    }
}
