//! Successive cache levels, for one core or several.

use super::classes::Classifier;
use super::entry::{DIRTY, OWNED, PREFETCHED};
use super::plain::residues;
use super::regions::Regions;
use super::stays::Stays;
use super::store::LineStore;
use super::streams::Streams;
use super::strides::Strides;
use super::tlb::Tlb;
use super::{Caches, Inclusion, Outcome, Prefetch, Simulation, Totals, WritePolicy, MAX_LEVELS};

/// No line has this number.
const NO_LINE: u64 = u64::MAX;

/// The caches of some cores, empty at first. `docs/verbs/cache-model.md` defines what happens in them.
#[derive(Debug, Clone)]
pub(crate) struct Hierarchy<S> {
    pub(super) rules: Rules,
    pub(super) cores: Vec<Core<S>>,
    /// The levels after the private ones.
    pub(super) shared: Vec<Cache<S>>,
    pub(super) totals: Totals,
    /// See [`Simulation::changes`].
    pub(super) changes: u64,
    /// How long lines stay in the last level, if others use it, too.
    pub(super) stays: Option<Box<Stays>>,
    caches: Caches,
}

/// How the levels work.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub levels: usize,
    /// Number of levels that each core has for itself.
    pub private: usize,
    /// Whether cores may have copies of lines that others write to.
    pub coherent: bool,
    /// Logarithm of the bytes of a first-level line.
    pub first_shift: u32,
    /// Lines of the first level on a page.
    pub page_lines: u64,
    fill_is_use: bool,
    lines_stay: bool,
    /// Whether the first level is write-back.
    keeps_stores: bool,
    has_tlbs: bool,
    of_level: [LevelRules; MAX_LEVELS],
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LevelRules {
    /// Logarithm of this level's line in lines of the first one.
    pub shift: u32,
    pub line_bytes: u64,
    pub write_through: bool,
    pub write_allocate: bool,
    pub inclusion: Inclusion,
    pub prefetch: Prefetch,
}

impl Rules {
    pub fn level(&self, level: usize) -> &LevelRules {
        &self.of_level[level % MAX_LEVELS]
    }

    pub fn is_exclusive(&self, level: usize) -> bool {
        self.level(level).inclusion == Inclusion::Exclusive
    }
}

/// What belongs to one core.
#[derive(Debug, Clone)]
pub(super) struct Core<S> {
    pub first: Cache<S>,
    /// The further private levels.
    pub outer: Vec<Cache<S>>,
    pub tlb: Tlb,
    latest: Latest,
}

impl<S> Core<S> {
    /// To be called when a line has left the first level, or is no longer owned.
    pub fn forget(&mut self, line: u64) {
        let latest = self.latest.of(line);
        *latest = latest.map(|latest| if latest == line { NO_LINE } else { latest });
    }
}

/// Lines that a load, or a store, may touch again without changing anything: of each residue of lines, the latest one.
#[derive(Debug, Clone)]
struct Latest(Vec<[u64; 2]>);

impl Latest {
    /// A line of another set leaves the order of use of its own set alone. But a TLB, classes and what only holds for
    /// the very last line know of all lines: then there is one residue.
    fn new(caches: &Caches) -> Latest {
        let residues = match lines_stay(caches) && caches.tlbs().is_empty() && !caches.classes() {
            true => residues(caches.levels()[0].geometry.sets()),
            false => 1,
        };
        Latest(vec![[NO_LINE; 2]; residues])
    }

    #[inline(always)]
    fn of(&mut self, line: u64) -> &mut [u64; 2] {
        let residue = line as usize & (self.0.len() - 1);
        &mut self.0[residue]
    }
}

/// Whether a line is in the first level, and the one used last in its set, after each access to it.
fn lines_stay(caches: &Caches) -> bool {
    let first = caches.levels()[0];
    first.policy.fill_is_use() && first.write_allocate && !caches.prefetches() && !caches.includes()
}

/// One cache.
#[derive(Debug, Clone)]
pub(super) struct Cache<S> {
    pub lines: S,
    /// Logarithm of a line in lines of the first level.
    pub shift: u32,
    pub classes: Option<Box<Classifier>>,
    pub strides: Strides,
    pub streams: Streams,
    /// Only of the first level, if it asks for lines around a miss.
    pub regions: Option<Box<Regions>>,
}

/// One access, or what a prefetcher asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    pub core: usize,
    pub site: usize,
    pub is_write: bool,
    /// Counted as a miss of the site, and may set off prefetchers.
    pub is_demand: bool,
    /// Whether other cores had copies of the line.
    pub held_by_others: bool,
    /// A bit for each level whose prefetcher has seen something new.
    pub triggers: u32,
}

impl<S: LineStore> Hierarchy<S> {
    /// `caches` must have at least one level.
    pub fn new(caches: &Caches) -> Self {
        let private = caches.private_levels();
        let shared = (private..caches.levels().len()).map(|level| Cache::new(caches, level));
        Hierarchy {
            rules: Rules::new(caches),
            cores: vec![Core::new(caches)],
            shared: shared.collect(),
            totals: Totals::default(),
            changes: 0,
            stays: caches.stay_ns().map(|ns| Box::new(Stays::new(ns))),
            caches: caches.clone(),
        }
    }

    #[inline(always)]
    fn read(&mut self, reference: &mut Reference, line: u64, outcome: &mut Outcome) {
        if !self.look_up(reference, 0, line, 0, outcome) {
            let flags = self.fetch(reference, 1, line, outcome);
            self.fill(reference.core, 0, line, flags);
        }
    }

    /// A store of `bytes` within a line: from level to level, until one keeps it.
    #[inline(always)]
    fn write(&mut self, reference: &mut Reference, line: u64, bytes: u64, outcome: &mut Outcome) {
        self.acquire(reference, line, outcome);
        for level in 0..self.rules.levels {
            if self.write_to(reference, level, line, outcome) {
                return;
            }
        }
        self.totals.traffic.bytes_written += bytes;
        self.changes += 1;
    }

    /// Returns whether the level keeps the store to itself.
    fn write_to(
        &mut self,
        reference: &mut Reference,
        level: usize,
        line: u64,
        outcome: &mut Outcome,
    ) -> bool {
        let rules = *self.rules.level(level);
        let dirty = if rules.write_through { 0 } else { DIRTY };
        if self.look_up(reference, level, line, dirty, outcome) {
            return !rules.write_through;
        }
        if !rules.write_allocate || rules.inclusion == Inclusion::Exclusive {
            return false;
        }
        let flags = self.fetch(reference, level + 1, line, outcome);
        self.fill(reference.core, level, line, flags | dirty);
        !rules.write_through
    }

    /// An access that repeats the last one's line mostly changes nothing.
    #[inline(always)]
    fn remember(&mut self, core: usize, line: u64, is_write: bool) {
        if self.rules.lines_stay {
            let written = self.rules.keeps_stores;
            let latest = self.cores[core].latest.of(line);
            let written = written && (is_write || latest[1] == line);
            *latest = [line, if written { line } else { NO_LINE }];
            return;
        }
        self.remember_what_stays(core, line);
    }

    fn remember_what_stays(&mut self, core: usize, line: u64) {
        let coherent = self.rules.coherent;
        let keeps_stores = self.rules.keeps_stores;
        let core = &mut self.cores[core];
        *core.latest.of(line) = [NO_LINE; 2];
        if !self.rules.fill_is_use {
            return;
        }
        let Some(&mut entry) = core.first.lines.peek(line) else {
            return;
        };
        if entry.has(PREFETCHED) {
            return;
        }
        let stays_written = keeps_stores && entry.has(DIRTY) && (!coherent || entry.has(OWNED));
        *core.latest.of(line) = [line, if stays_written { line } else { NO_LINE }];
    }

    /// The bytes of an access, `address` to `end`, that lie in a line.
    #[inline(always)]
    fn bytes_in(&self, line: u64, address: u64, end: u64) -> u64 {
        let start = line << self.rules.first_shift;
        let line_end = start | ((1 << self.rules.first_shift) - 1);
        end.min(line_end) - address.max(start) + 1
    }

    fn translate(&mut self, core: usize, address: u64, end: u64, outcome: &mut Outcome) {
        let tlb = &mut self.cores[core].tlb;
        if tlb.access(address, end, &mut self.totals.tlbs, outcome) {
            self.changes += 1;
        }
    }

    #[inline(always)]
    pub(super) fn cache(&mut self, core: usize, level: usize) -> &mut Cache<S> {
        let core = &mut self.cores[core];
        match level {
            0 => &mut core.first,
            level if level < self.rules.private => &mut core.outer[level - 1],
            level => &mut self.shared[level - self.rules.private],
        }
    }
}

impl<S: LineStore> Simulation for Hierarchy<S> {
    #[inline(always)]
    fn changes(&self) -> u64 {
        self.changes
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    #[inline(always)]
    fn set_time(&mut self, now_ns: f64) {
        if let Some(stays) = &mut self.stays {
            stays.set_time(now_ns);
        }
    }

    fn is_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    fn core_of(&mut self, thread: u32) -> usize {
        if self.shared.is_empty() {
            return 0;
        }
        let core = (thread % self.caches.cores()) as usize;
        while self.cores.len() <= core {
            self.cores.push(Core::new(&self.caches));
        }
        self.rules.coherent = self.cores.len() > 1;
        core
    }

    #[inline(always)]
    fn access(
        &mut self,
        core: usize,
        site: usize,
        address: u64,
        length: u64,
        is_write: bool,
        outcome: &mut Outcome,
    ) {
        let end = address.saturating_add(length.wrapping_sub(1));
        let (first, last) = (address >> self.rules.first_shift, end >> self.rules.first_shift);
        let latest = self.cores[core].latest.of(first)[usize::from(is_write)];
        if first == last && first == latest && length > 0 {
            return;
        }
        if length == 0 {
            return;
        }
        if self.rules.has_tlbs {
            self.translate(core, address, end, outcome);
        }
        for line in first..=last {
            let mut reference = Reference {
                core,
                site,
                is_write,
                is_demand: true,
                held_by_others: false,
                triggers: 0,
            };
            match is_write {
                true => {
                    let bytes = self.bytes_in(line, address, end);
                    self.write(&mut reference, line, bytes, outcome);
                }
                false => self.read(&mut reference, line, outcome),
            }
            if reference.triggers != 0 {
                self.run_prefetchers(&reference, line, outcome);
            }
            // What a prefetcher brings into the first level counts as used later than the line itself.
            let is_latest = reference.triggers & 1 == 0;
            self.remember(core, if is_latest { line } else { NO_LINE }, is_write);
        }
    }
}

impl<S: LineStore> Core<S> {
    fn new(caches: &Caches) -> Self {
        Core {
            first: Cache::new(caches, 0),
            outer: (1..caches.private_levels())
                .map(|level| Cache::new(caches, level))
                .collect(),
            tlb: Tlb::new(caches),
            latest: Latest::new(caches),
        }
    }
}

impl<S: LineStore> Cache<S> {
    fn new(caches: &Caches, level: usize) -> Self {
        let model = caches.levels()[level];
        let mut lines = S::new(model.geometry, model.policy);
        if caches.scatters_pages() {
            lines.scatter_pages(caches.page_bytes() / u64::from(model.geometry.line_bytes));
        }
        Cache {
            lines,
            shift: shift(caches, level),
            classes: caches
                .classes()
                .then(|| Box::new(Classifier::new(model.geometry.lines(), caches.prefetches()))),
            strides: Strides::default(),
            streams: Streams::default(),
            regions: (level == 0 && caches.regions()).then(Box::default),
        }
    }
}

fn shift(caches: &Caches, level: usize) -> u32 {
    let line = |level: usize| caches.levels()[level].geometry.line_bytes;
    line(level).trailing_zeros() - line(0).trailing_zeros()
}

impl Rules {
    fn new(caches: &Caches) -> Rules {
        let mut of_level = [LevelRules::default(); MAX_LEVELS];
        for (index, (rules, level)) in of_level.iter_mut().zip(caches.levels()).enumerate() {
            *rules = LevelRules {
                shift: shift(caches, index),
                line_bytes: level.geometry.line_bytes.into(),
                write_through: level.write == WritePolicy::Through,
                write_allocate: level.write_allocate,
                inclusion: level.inclusion,
                prefetch: level.prefetch,
            };
        }
        let first = caches.levels()[0];
        let line_bytes = u64::from(first.geometry.line_bytes);
        Rules {
            levels: caches.levels().len(),
            private: caches.private_levels(),
            coherent: false,
            first_shift: line_bytes.trailing_zeros(),
            page_lines: caches.page_bytes() / line_bytes,
            fill_is_use: first.policy.fill_is_use(),
            lines_stay: lines_stay(caches),
            keeps_stores: first.write == WritePolicy::Back,
            has_tlbs: !caches.tlbs().is_empty(),
            of_level,
        }
    }
}
