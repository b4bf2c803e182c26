//! Nests of loops in another order: the loops interchanged, or in blocks.

mod collect;
mod dependences;
mod nest;
mod plan;
mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trackway_trace::{Batch, Piece, Program, SiteId, StringId};

use self::collect::Collector;
use self::nest::Nest;
use self::plan::{Change, Plan};
use self::survey::FoundLoop;
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
    // A compiler may have made several loops of one in the source.
    let mut by_place: BTreeMap<(Change, StringId, u32), Vec<FoundLoop>> = BTreeMap::new();
    for found in survey::nests(subject) {
        let Some(far) = found.nest.far().next() else {
            continue;
        };
        let (file, line) = group::line_key(program, program.site(far.site));
        for change in found.changes.clone() {
            let loops = by_place.entry((change, file, line)).or_default();
            loops.push(found.clone());
        }
    }
    let mut edits = Vec::new();
    for ((change, ..), loops) in by_place {
        let sites: Vec<SiteId> = loops.iter().flat_map(|found| found.sites.clone()).collect();
        let part = subject.part_of_time(&sites);
        if part >= LEAST_PART {
            edits.extend(edit(program, change, loops, part));
        }
    }
    edits
}

fn edit(program: &Program, change: Change, loops: Vec<FoundLoop>, part: f64) -> Option<Edit> {
    let iterations = |found: &&FoundLoop| found.nest.iterations();
    let nest = &loops.iter().max_by_key(iterations)?.nest;
    let plan = Plan::of(nest, change)?;
    let names = Names::new(program);
    let name = |site: SiteId| group::field_name(&names, group::field_key(program, program.site(site)));
    let far: Vec<_> = nest.far().collect();
    let moved: BTreeSet<String> = far.iter().map(|access| name(access.site)).collect();
    let moved = Vec::from_iter(moved).join(", ");
    let stride = far.first().map_or(0, |access| access.strides[0].unsigned_abs());
    let location = far.first().map(|access| program.site(access.site).location);
    let new = match plan.tile {
        Some([along, down]) => {
            format!("blocks of {down} by {along} iterations use each line while it is near")
        }
        None => format!(
            "with the loop of {} iterations innermost, it moves by {} bytes at most",
            nest.counts[plan.innermost()],
            trackway_report::grouped(nest.longest_step(plan.innermost()))
        ),
    };
    let sites: Arc<BTreeSet<Vec<SiteId>>> = Arc::new(loops.iter().map(|found| found.sites.clone()).collect());
    Some(    Edit {
        kind: match change {
            Change::Interchange => Kind::Interchange,
            Change::Blocks => Kind::Blocking,
        },
        of: format!("loops over {moved}"),
        reason: format!(
            "the innermost loop moves {} bytes each time; {new}. In the trace, no write changes places with another access to the same bytes",
            trackway_report::grouped(stride)
        ),
        location,
        definition: Vec::new(),
        part,
        rewriting: Box::new(move || {
            Box::new(Reordered {
                change,
                sites: Arc::clone(&sites),
                open: Vec::new(),
                collector: Collector::default(),
            })
        }),
    })
}

/// Walks the nests of some innermost loops in another order.
struct Reordered {
    change: Change,
    /// The sites of each innermost loop.
    sites: Arc<BTreeSet<Vec<SiteId>>>,
    /// The loop whose nest is being collected.
    open: Vec<SiteId>,
    collector: Collector,
}

impl Reordered {
    fn emit(&self, nests: Vec<Nest>, to: &mut Output) {
        for nest in nests {
            let plan = Plan::of(&nest, self.change).unwrap_or(Plan::AS_IT_IS);
            plan.walk(&nest, to);
        }
    }

    /// Lets go of what was collected.
    fn close(&mut self, to: &mut Output) {
        let (nests, before) = self.collector.end();
        self.emit(nests, to);
        for (site, address, length) in before {
            to.access(site, address, length);
        }
        self.open.clear();
    }
}

impl Rewrite for Reordered {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        for item in batch.all_items_of_slice() {
            let Some(piece) = to.accesses_of(item) else {
                continue;
            };
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        let access = (batch.site[index], batch.address[index], batch.length(index));
                        if let Some((nests, before)) = self.collector.access(access) {
                            self.emit(nests, to);
                            for (site, address, length) in before {
                                to.access(site, address, length);
                            }
                        }
                    }
                }
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    if !lanes.iter().map(|lane| lane.site).eq(self.open.iter().copied()) {
                        self.close(to);
                        let sites: Vec<SiteId> = lanes.iter().map(|lane| lane.site).collect();
                        if !self.sites.contains(&sites) {
                            to.run(lanes, run.count);
                            continue;
                        }
                        self.open = sites;
                    }
                    let nests = self.collector.run(lanes, run.count);
                    self.emit(nests, to);
                }
            }
        }
    }

    fn end(&mut self, to: &mut Output) {
        self.close(to);
    }
}
