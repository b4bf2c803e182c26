//! The simulation of one part of a trace, and its results.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use trackway_trace::{Batch, Lane, LongBlock, Piece, SiteId};

use super::bursts::{BurstCounts, Bursts, Estimates};
use super::columns::Sites;
use super::part::LinePart;
use super::plain::PlainSimulation;
use super::{Measure, SiteCounters};
use crate::model::cache::{with_form, Caches, Form, LineChanges, Simulation, Simulator, Totals};
use crate::model::time::{Machine, TimedSites, Timing};
use crate::WorkPart;

/// Addresses of programs have no more.
const ADDRESS_BITS: u32 = 47;

/// Caches, and the counters of what was done in them.
pub struct MissesShard {
    /// None if only accesses are counted.
    simulation: Option<(Simulator, LineChanges)>,
    part: LinePart,
    /// Whether accesses and bytes are counted here, which must be done once.
    counts: bool,
    sites: Sites,
    /// Counts of each thread's accesses, by the number of its stream.
    threads: BTreeMap<u32, SiteCounters>,
    /// Totals of the shards that were merged into this one.
    merged: Totals,
    /// None if time is not estimated.
    timing: Option<Timing>,
    /// Counts apart by groups of bursts; none if it wasn't recorded in bursts.
    bursts: Option<BurstCounts>,
}

impl MissesShard {
    pub(crate) fn new(caches: &Caches, part: WorkPart) -> MissesShard {
        MissesShard {
            simulation: Simulator::new(&caches.part_of(part.count)).zip(caches.line_changes()),
            part: LinePart::new(caches, part),
            counts: part.is_first(),
            sites: Sites::default(),
            threads: BTreeMap::new(),
            merged: Totals::default(),
            timing: None,
            bursts: None,
        }
    }

    /// Also counts apart what the bursts of the trace have of a measure.
    pub(crate) fn with_bursts(
        self,
        bursts: Option<&Arc<Bursts>>,
        measure: Measure,
        caches: &Caches,
    ) -> MissesShard {
        MissesShard {
            // The bursts' own counts know no cycles.
            bursts: bursts
                .filter(|_| measure != Measure::Cycles)
                .map(|bursts| BurstCounts::new(Arc::clone(bursts), measure, caches)),
            ..self
        }
    }

    /// Also estimates how long accesses take on that machine. One of the parts must, which then takes all accesses.
    pub(crate) fn with_time(self, machine: Option<&Arc<Machine>>) -> MissesShard {
        let timing = machine
            .filter(|_| self.counts)
            .map(|machine| Timing::new(Arc::clone(machine)));
        MissesShard { timing, ..self }
    }

    /// Simulates one of several parts, and counts neither accesses nor bytes.
    pub(crate) fn of_lines(caches: &Caches, part: WorkPart) -> MissesShard {
        MissesShard {
            counts: false,
            ..MissesShard::new(caches, part)
        }
    }

    /// Learns for each site of the program whether it stores. Sites that the shard knows come first.
    pub(crate) fn take_sites(&mut self, stores: impl Iterator<Item = bool>) {
        self.sites.take(stores);
    }

    /// Learns what time needs to know of the sites. Sites that the shard knows come first.
    pub(crate) fn take_timed_sites(&mut self, sites: impl FnOnce() -> Arc<TimedSites>) {
        if let Some(timing) = &mut self.timing {
            timing.take_sites(sites());
        }
    }

    pub(crate) fn take(&mut self, batch: &Batch) {
        let before = self.simulated();
        self.simulate(batch);
        let come_to = self.simulated() - before;
        if let Some(bursts) = &mut self.bursts {
            bursts.note(batch, &self.sites, self.part, &come_to);
        }
        let cycles = self.timing.as_mut().map_or(0, |timing| timing.take(batch));
        let thread = self.threads.entry(batch.stream).or_default();
        thread.cycles = thread.cycles.saturating_add(cycles);
        if self.counts {
            thread.accesses = thread.accesses.saturating_add(batch.access_count());
            thread.bytes = thread.bytes.saturating_add(bytes_of(batch));
        }
        for (misses, level) in thread.outcome.misses.iter_mut().zip(come_to.levels) {
            *misses += level.misses;
        }
        thread.outcome.invalidations += come_to.traffic.invalidations;
        for (misses, level) in thread.outcome.tlb_misses.iter_mut().zip(come_to.tlbs) {
            *misses += level.misses;
        }
    }

    fn simulate(&mut self, batch: &Batch) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.take_with_avx2(batch) };
        }
        self.take_inlined(batch);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn take_with_avx2(&mut self, batch: &Batch) {
        self.take_inlined(batch);
    }

    #[inline(always)]
    fn take_inlined(&mut self, batch: &Batch) {
        let Some((simulator, changes)) = &mut self.simulation else {
            return self.sites.count(batch);
        };
        if let Form::Plain(levels) = &mut simulator.form {
            let (sites, part) = (&mut self.sites, self.part);
            if self.counts && !part.is_whole() {
                sites.count(batch);
            }
            let mut simulation = PlainSimulation {
                levels,
                changes,
                sites,
                part,
            };
            return simulation.take(batch);
        }
        if self.part.is_whole() {
            with_form!(simulator, hierarchy => simulate(hierarchy, changes, &mut self.sites, batch));
        } else {
            let part = self.part;
            with_form!(simulator, hierarchy => simulate_part(hierarchy, part, changes, &mut self.sites, batch));
        }
    }

    /// What the bursts say of the whole run, if it was recorded in bursts.
    pub(crate) fn estimates(&self, caches: &Caches) -> Option<Estimates> {
        let bursts = self.bursts.as_ref()?;
        Some(bursts.clone().estimates(caches))
    }

    pub(crate) fn merge(&mut self, from: &MissesShard) {
        if let Some((bursts, others)) = self.bursts.as_mut().zip(from.bursts.as_ref()) {
            bursts.merge(others);
        }
        self.sites.merge(&from.sites);
        for (&thread, counters) in &from.threads {
            *self.threads.entry(thread).or_default() += counters;
        }
        self.merged += from.totals();
        match (&mut self.timing, &from.timing) {
            (Some(timing), Some(from)) => timing.merge(from),
            (timing @ None, Some(from)) => *timing = Some(from.summed()),
            (_, None) => (),
        }
    }

    /// Adds counts of a site's accesses from elsewhere.
    pub(super) fn add_site(&mut self, site: SiteId, counters: &SiteCounters) {
        self.sites.add_counters(site.index(), counters);
    }

    /// Adds all other counts from there.
    pub(super) fn add_rest(&mut self, threads: BTreeMap<u32, SiteCounters>, totals: Totals) {
        for (thread, counters) in &threads {
            *self.threads.entry(*thread).or_default() += counters;
        }
        self.merged += totals;
    }

    pub(crate) fn counters(&self) -> Vec<SiteCounters> {
        let mut counters = self.sites.counters();
        let cycles = self.timing.iter().flat_map(Timing::cycles);
        counters
            .iter_mut()
            .zip(cycles)
            .for_each(|(site, cycles)| site.cycles = cycles);
        counters
    }

    pub(crate) fn threads(&self) -> &BTreeMap<u32, SiteCounters> {
        &self.threads
    }

    /// Totals of this shard and of those that were merged into it.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.simulated();
        totals += self.merged;
        totals
    }

    fn simulated(&self) -> Totals {
        let simulator = self.simulation.as_ref().map(|(simulator, _)| simulator);
        simulator.map(Simulator::totals).unwrap_or_default()
    }
}

/// Processes have the same addresses for different memory: in shared caches, the upper bits keep them apart.
pub(crate) fn address_space(batch: &Batch, shared: bool) -> u64 {
    match shared {
        true => u64::from(batch.process) << ADDRESS_BITS,
        false => 0,
    }
}

fn bytes_of(batch: &Batch) -> u64 {
    let long = |block: &LongBlock| block.length.saturating_sub(u32::MAX.into());
    let in_columns = batch.size.iter().map(|&size| u64::from(size)).sum::<u64>();
    let beyond = batch.long_blocks.iter().map(long);
    let runs = batch.runs.iter().flat_map(|run| {
        let lanes = batch.lanes(run).iter();
        lanes.map(|lane| run.count.saturating_mul(lane.size.into()))
    });
    beyond.chain(runs).fold(in_columns, u64::saturating_add)
}

#[inline(always)]
fn simulate(hierarchy: &mut impl Simulation, changes: &mut LineChanges, sites: &mut Sites, batch: &Batch) {
    let core = hierarchy.core_of(batch.stream);
    let process = address_space(batch, hierarchy.is_shared());
    for piece in batch.pieces() {
        match piece {
            Piece::Accesses(range) => simulate_accesses(hierarchy, (core, process), sites, batch, range),
            Piece::Run(run) => {
                sites.count_run(batch.lanes(run), run.count);
                changes.begin(batch.lanes(run), run.count);
                simulate_run(hierarchy, core, changes, sites, batch.lanes(run));
            }
        }
    }
}

#[inline(always)]
fn simulate_accesses(
    hierarchy: &mut impl Simulation,
    (core, process): (usize, u64),
    sites: &mut Sites,
    batch: &Batch,
    range: Range<usize>,
) {
    let first = range.start;
    let columns = batch.site[range.clone()]
        .iter()
        .zip(&batch.address[range.clone()]);
    for (index, ((&id, &address), &size)) in columns.zip(&batch.size[range]).enumerate() {
        let length = match size {
            u32::MAX => batch.length(first + index),
            size => size.into(),
        };
        let site = id.index();
        let stores = sites.add(site, 1, length);
        let outcome = &mut sites.outcomes[site];
        hierarchy.access(core, site, address ^ process, length, stores, outcome);
    }
}

/// The same of the part's lines only, without counting accesses.
fn simulate_part(
    hierarchy: &mut impl Simulation,
    part: LinePart,
    changes: &mut LineChanges,
    sites: &mut Sites,
    batch: &Batch,
) {
    let core = hierarchy.core_of(batch.stream);
    let process = address_space(batch, hierarchy.is_shared());
    let simulate = |hierarchy: &mut _, sites: &mut Sites, site: usize, address: u64, length: u64| {
        let stores = sites.stores(site);
        if length == 0 {
            return;
        }
        for (address, length) in part.own(address, length) {
            let place = part.place(address ^ process);
            let outcome = &mut sites.outcomes[site];
            Simulation::access(hierarchy, core, site, place, length, stores, outcome);
        }
    };
    for piece in batch.pieces() {
        match piece {
            Piece::Accesses(range) => range.for_each(|index| {
                let (site, address) = (batch.site[index].index(), batch.address[index]);
                simulate(hierarchy, sites, site, address, batch.length(index));
            }),
            Piece::Run(run) => {
                let lanes = batch.lanes(run);
                changes.begin(lanes, run.count);
                while let Some(iteration) = changes.next_iteration() {
                    let before = hierarchy.changes();
                    for lane in lanes {
                        let (site, address) = (lane.site.index(), lane.address_in(iteration));
                        simulate(hierarchy, sites, site, address, lane.size.into());
                    }
                    changes.simulated(lanes, hierarchy.changes() != before);
                }
            }
        }
    }
}

/// Simulates those iterations of a run that change something in the caches.
#[inline(always)]
fn simulate_run(
    hierarchy: &mut impl Simulation,
    core: usize,
    changes: &mut LineChanges,
    sites: &mut Sites,
    lanes: &[Lane],
) {
    while let Some(iteration) = changes.next_iteration() {
        let before = hierarchy.changes();
        for lane in lanes {
            let address = lane.address_in(iteration);
            let site = lane.site.index();
            let stores = sites.stores(site);
            let outcome = &mut sites.outcomes[site];
            hierarchy.access(core, site, address, lane.size.into(), stores, outcome);
        }
        changes.simulated(lanes, hierarchy.changes() != before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cache::{Access, Outcome};
    use proptest::prelude::*;

    fn geometry(level: usize, line: u32) -> impl Strategy<Value = String> {
        (1u32..9, 1u32..5)
            .prop_map(move |(sets, ways)| format!("L{level}={},{ways},{line}", sets * ways * line))
    }

    fn words() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            3 => Just(""),
            1 => Just(",srrip"),
            1 => Just(",random"),
            1 => Just(",write-through"),
            1 => Just(",next-line=1"),
            1 => Just(",stride=2"),
            1 => Just(",no-write-allocate"),
        ]
    }

    fn rest() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            2 => Just(""),
            1 => Just(":classes"),
            1 => Just(":TLB1=2,1:page=256"),
        ]
    }

    fn caches() -> impl Strategy<Value = Caches> {
        let inclusion = prop_oneof![2 => Just(""), 1 => Just(",inclusive"), 1 => Just(",exclusive")];
        (geometry(1, 16), words(), geometry(2, 16), inclusion, rest()).prop_map(
            |(l1, words, l2, inclusion, rest)| format!("{l1}{words}:{l2}{inclusion}{rest}").parse().unwrap(),
        )
    }

    fn lane() -> impl Strategy<Value = Lane> {
        let stride = prop_oneof![-20i64..20, -300i64..300];
        (0u32..3, 0u64..4000, stride, 0u32..40).prop_map(|(site, address, stride, size)| Lane {
            site: SiteId(site),
            size,
            address: address.wrapping_add(1 << 20),
            stride: stride as u64,
        })
    }

    /// Simulates each access of a run in turn.
    fn simulate_each(simulator: &mut Simulator, lanes: &[Lane], count: u64, outcomes: &mut [Outcome]) {
        for iteration in 0..count {
            for lane in lanes {
                let access = Access {
                    core: 0,
                    site: lane.site.index(),
                    address: lane.address_in(iteration),
                    length: lane.size.into(),
                    is_write: STORES[lane.site.index()],
                };
                simulator.access(&access, &mut outcomes[lane.site.index()]);
            }
        }
    }

    const STORES: [bool; 3] = [false, true, false];

    proptest! {
        #[test]
        fn runs_leave_the_caches_as_their_accesses_would(
            caches in caches(),
            runs in proptest::collection::vec((proptest::collection::vec(lane(), 0..5), 1u64..60), 1..6),
        ) {
            let mut shard = MissesShard::new(&caches, WorkPart::WHOLE);
            shard.take_sites(STORES.into_iter());
            let (mut whole, mut expected) = (Simulator::new(&caches).unwrap(), [Outcome::default(); 3]);
            for (lanes, count) in &runs {
                simulate_each(&mut whole, lanes, *count, &mut expected);
                let (simulator, changes) = shard.simulation.as_mut().unwrap();
                changes.begin(lanes, *count);
                match &mut simulator.form {
                    Form::Plain(levels) => {
                        let (sites, part) = (&mut shard.sites, shard.part);
                        let mut simulation = PlainSimulation { levels, changes, sites, part };
                        simulation.take_run(lanes);
                        simulation.settle();
                    }
                    Form::Lru(levels) => simulate_run(&mut **levels, 0, changes, &mut shard.sites, lanes),
                    Form::Any(levels) => simulate_run(&mut **levels, 0, changes, &mut shard.sites, lanes),
                }
                prop_assert_eq!(&shard.sites.outcomes[..], &expected[..]);
                prop_assert_eq!(shard.totals(), whole.totals());
            }
        }
    }

    /// A batch of one stream, from the site, address and size of each access.
    fn batch() -> impl Strategy<Value = Batch> {
        let access = (0u32..3, 0u64..40_000, 0u32..200);
        (0u32..4, proptest::collection::vec(access, 1..60)).prop_map(|(stream, accesses)| {
            let mut batch = Batch::default();
            batch.site = accesses.iter().map(|access| SiteId(access.0)).collect();
            batch.address = accesses.iter().map(|access| access.1).collect();
            batch.size = accesses.iter().map(|access| access.2).collect();
            (batch.stream, batch.process) = (stream, stream / 2);
            batch
        })
    }

    fn lru_caches() -> impl Strategy<Value = Caches> {
        let words = |words: &'static [&'static str]| proptest::sample::select(words);
        let first = words(&["", ",write-through", ",no-write-allocate"]);
        let second = words(&[
            "",
            ",inclusive",
            ",exclusive",
            ",shared",
            ",shared,inclusive",
            ",shared,exclusive",
        ]);
        let geometry = |level, line: u32| {
            (0u32..6, 1u32..4)
                .prop_map(move |(sets, ways)| format!("L{level}={},{ways},{line}", (line * ways) << sets))
        };
        (geometry(1, 32), first, geometry(2, 64), second).prop_map(|(l1, first, l2, second)| {
            let lines = if !second.is_empty() {
                l2.replace(",64", ",32")
            } else {
                l2
            };
            format!("{l1}{first}:{lines}{second}").parse().unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn parts_of_lines_come_to_the_whole(
            caches in lru_caches(),
            batches in proptest::collection::vec(batch(), 1..8),
            most in 1u32..4,
        ) {
            let count = caches.most_line_parts().min(1 << most);
            prop_assume!(count > 1);
            let start = |mut shard: MissesShard| {
                shard.take_sites(STORES.into_iter());
                batches.iter().for_each(|batch| shard.take(batch));
                shard
            };
            let whole = start(MissesShard::new(&caches, WorkPart::WHOLE));
            let mut all = start(MissesShard::new(&Caches::none(), WorkPart::WHOLE));
            for number in 0..count {
                all.merge(&start(MissesShard::of_lines(&caches, WorkPart { number, count })));
            }
            prop_assert_eq!(all.counters(), whole.counters());
            prop_assert_eq!(all.threads(), whole.threads());
            prop_assert_eq!(all.totals(), whole.totals());
        }
    }
}
