//! The cache model once more, written from its definitions in `docs/verbs/cache-model.md` for clarity, not for speed.
//! Sets are lists, times give the order of use, and nothing is left out because it changes nothing.

mod cache;
mod classes;
mod tlb;

use std::collections::HashMap;

use cache::{NaiveCache, Slot};
use classes::NaiveClasses;
use tlb::NaiveTlb;
use trackway_analysis::cache::{Access, Caches, Inclusion, Outcome, Prefetcher, Totals, WritePolicy};

pub struct Naive {
    caches: Caches,
    /// Levels by core and number; shared levels stand at core 0.
    levels: HashMap<(usize, usize), Level>,
    tlbs: HashMap<usize, NaiveTlb>,
    cores: usize,
    pub totals: Totals,
}

struct Level {
    cache: NaiveCache,
    classes: NaiveClasses,
    /// The line before and the distance to it, by site.
    strides: HashMap<usize, (u64, Option<i128>)>,
    /// Lines that the prefetcher of streams was asked for.
    asked: Vec<u64>,
}

/// What is known while a line is asked for.
struct Request<'o> {
    core: usize,
    /// None for what prefetchers ask for.
    outcome: Option<&'o mut Outcome>,
    held_by_others: bool,
    /// Levels that missed, or found a line that was prefetched, and in which order.
    seen_by_prefetchers: Vec<usize>,
}

impl Naive {
    pub fn new(caches: &Caches) -> Naive {
        Naive {
            caches: caches.clone(),
            levels: HashMap::new(),
            tlbs: HashMap::new(),
            cores: 0,
            totals: Totals::default(),
        }
    }

    pub fn access(&mut self, access: &Access, outcome: &mut Outcome) {
        self.cores = self.cores.max(access.core + 1);
        if access.length == 0 {
            return;
        }
        let last = access.address.saturating_add(access.length - 1);
        let caches = self.caches.clone();
        let tlb = self
            .tlbs
            .entry(access.core)
            .or_insert_with(|| NaiveTlb::new(&caches));
        tlb.access(access.address, last, &mut self.totals.tlbs, outcome);
        let line_bytes = self.line_bytes(0);
        for line in access.address / line_bytes..=last / line_bytes {
            let bytes = (access.address..=last).clone();
            let start = (*bytes.start()).max(line * line_bytes);
            let end = (*bytes.end()).min(line * line_bytes + (line_bytes - 1));
            self.touch(access, line * line_bytes, end - start + 1, outcome);
        }
    }

    fn touch(&mut self, access: &Access, address: u64, bytes: u64, outcome: &mut Outcome) {
        let mut request = Request {
            core: access.core,
            outcome: Some(outcome),
            held_by_others: false,
            seen_by_prefetchers: Vec::new(),
        };
        if access.is_write {
            self.invalidate_others(&mut request, address);
            self.write(&mut request, 0, address, bytes);
        } else {
            let dirty = self.read(&mut request, 0, address);
            assert!(!dirty);
        }
        let mut levels = request.seen_by_prefetchers;
        levels.sort_unstable();
        levels.dedup();
        for level in levels {
            self.prefetch(access.core, access.site, level, address);
        }
    }

    /// Asks a level for a line. Returns whether it comes with changes that are nowhere else.
    fn read(&mut self, request: &mut Request, level: usize, address: u64) -> bool {
        if level == self.private() && request.outcome.is_none() | !request.held_by_others {
            self.share(request, address);
        }
        if level == self.caches.levels().len() {
            self.read_from_outside(request);
            return false;
        }
        let exclusive = self.is_exclusive(level);
        if self.look_up(request, level, address) {
            if !exclusive {
                return false;
            }
            let line = address / self.line_bytes(level);
            let slot = self.level(request.core, level).cache.remove(line).unwrap();
            return slot.dirty;
        }
        let dirty = self.read(request, level + 1, address);
        if exclusive {
            return dirty;
        }
        self.insert(request.core, level, address, dirty, false);
        false
    }

    fn read_from_outside(&mut self, request: &Request) {
        match request.held_by_others {
            true => self.totals.traffic.transfers += 1,
            false => {
                let last = self.caches.levels().len() - 1;
                self.totals.traffic.bytes_read += self.line_bytes(last);
            }
        }
    }

    fn write(&mut self, request: &mut Request, level: usize, address: u64, bytes: u64) {
        let Some(&model) = self.caches.levels().get(level) else {
            self.totals.traffic.bytes_written += bytes;
            return;
        };
        let mut has = self.look_up(request, level, address);
        if !has && model.write_allocate && model.inclusion != Inclusion::Exclusive {
            let dirty = self.read(request, level + 1, address);
            self.insert(request.core, level, address, dirty, false);
            has = true;
        }
        if has && model.write == WritePolicy::Back {
            let line = address / self.line_bytes(level);
            self.level(request.core, level).cache.find(line).unwrap().dirty = true;
        } else {
            self.write(request, level + 1, address, bytes);
        }
    }

    /// Uses the line if it is there; counts for accesses of the program.
    fn look_up(&mut self, request: &mut Request, level: usize, address: u64) -> bool {
        let line = address / self.line_bytes(level);
        let is_demand = request.outcome.is_some();
        let totals = &mut self.totals.levels[level];
        totals.lookups += u64::from(is_demand && level > 0);
        let at = level_at(&mut self.levels, &self.caches, request.core, level);
        let found = at.cache.use_line(line);
        let hit = found.is_some();
        if let (Some(slot), true) = (found, is_demand) {
            if std::mem::take(&mut slot.prefetched) {
                totals.useful_prefetches += 1;
                request.seen_by_prefetchers.push(level);
            }
        }
        if let Some(outcome) = &mut request.outcome {
            let class = at.classes.see(line, hit);
            if !hit {
                totals.misses += 1;
                outcome.misses[level] += 1;
                if self.caches.classes() {
                    outcome.classes[level][class as usize] += 1;
                }
                request.seen_by_prefetchers.push(level);
            }
        }
        hit
    }

    fn insert(&mut self, core: usize, level: usize, address: u64, dirty: bool, prefetched: bool) {
        let line = address / self.line_bytes(level);
        let slot = Slot::new(line, dirty, prefetched);
        if let Some(evicted) = self.level(core, level).cache.insert(slot) {
            self.evict(core, level, evicted);
        }
    }

    fn evict(&mut self, core: usize, level: usize, mut evicted: Slot) {
        let address = evicted.line * self.line_bytes(level);
        self.totals.levels[level].useless_prefetches += u64::from(evicted.prefetched);
        if self.caches.levels()[level].inclusion == Inclusion::Inclusive {
            for (core, inner) in self.before(core, level) {
                if let Some(copy) = self.drop_line(core, inner, address) {
                    self.totals.levels[inner].back_invalidations += 1;
                    evicted.dirty |= copy.dirty;
                }
            }
        }
        if evicted.dirty {
            self.totals.levels[level].write_backs += 1;
        }
        if level + 1 < self.caches.levels().len() && self.is_exclusive(level + 1) {
            self.pass_to_exclusive(core, level + 1, address, evicted);
        } else if evicted.dirty {
            self.write_back(core, level + 1, address, self.line_bytes(level));
        }
    }

    fn pass_to_exclusive(&mut self, core: usize, level: usize, address: u64, evicted: Slot) {
        let through = self.caches.levels()[level].write == WritePolicy::Through;
        let keeps = evicted.dirty && !through;
        match self.level(core, level).cache.find(evicted.line) {
            Some(slot) => slot.dirty |= keeps,
            None => self.insert(core, level, address, keeps, false),
        }
        if evicted.dirty && through {
            self.write_back(core, level + 1, address, self.line_bytes(level));
        }
    }

    /// Changes go to the next level that has the line and keeps what is written.
    fn write_back(&mut self, core: usize, from: usize, address: u64, bytes: u64) {
        for level in from..self.caches.levels().len() {
            let keeps = self.caches.levels()[level].write == WritePolicy::Back;
            let line = address / self.line_bytes(level);
            if let (Some(slot), true) = (self.level(core, level).cache.find(line), keeps) {
                slot.dirty = true;
                return;
            }
        }
        self.totals.traffic.bytes_written += bytes;
    }

    /// The levels before this one that are connected to it.
    fn before(&self, core: usize, level: usize) -> Vec<(usize, usize)> {
        let mut levels = Vec::new();
        for inner in 0..level {
            if inner >= self.private() {
                levels.push((0, inner));
            } else if level < self.private() {
                levels.push((core, inner));
            } else {
                levels.extend((0..self.cores).map(|core| (core, inner)));
            }
        }
        levels
    }

    fn drop_line(&mut self, core: usize, level: usize, address: u64) -> Option<Slot> {
        let line = address / self.line_bytes(level);
        let slot = self.level(core, level).cache.remove(line)?;
        self.totals.levels[level].useless_prefetches += u64::from(slot.prefetched);
        Some(slot)
    }

    fn others(&self, core: usize) -> impl Iterator<Item = usize> {
        (0..self.cores).filter(move |&other| other != core)
    }

    fn invalidate_others(&mut self, request: &mut Request, address: u64) {
        for other in self.others(request.core) {
            let mut copies = Vec::new();
            for level in 0..self.private() {
                if let Some(copy) = self.drop_line(other, level, address) {
                    let line = copy.line;
                    self.level(other, level).classes.lose(line);
                    copies.push(copy);
                }
            }
            if !copies.is_empty() {
                request.held_by_others = true;
                self.totals.traffic.invalidations += 1;
                if let Some(outcome) = &mut request.outcome {
                    outcome.invalidations += 1;
                }
            }
            if copies.iter().any(|copy| copy.dirty) {
                self.intervene(other, address);
            }
        }
    }

    /// Other cores write back their changes and keep the line.
    fn share(&mut self, request: &mut Request, address: u64) {
        for other in self.others(request.core) {
            let mut dirty = false;
            for level in 0..self.private() {
                let line = address / self.line_bytes(level);
                if let Some(slot) = self.level(other, level).cache.find(line) {
                    dirty |= std::mem::take(&mut slot.dirty);
                    request.held_by_others = true;
                }
            }
            if dirty {
                self.intervene(other, address);
            }
        }
    }

    fn intervene(&mut self, core: usize, address: u64) {
        self.totals.traffic.interventions += 1;
        self.write_back(core, self.private(), address, self.line_bytes(0));
    }

    fn prefetch(&mut self, core: usize, site: usize, level: usize, address: u64) {
        let prefetch = self.caches.levels()[level].prefetch;
        let line = address / self.line_bytes(0);
        let distance = match prefetch.kind {
            Prefetcher::None => None,
            Prefetcher::NextLine => Some(1),
            Prefetcher::Stride | Prefetcher::FarStride => self.stride(core, site, level, line),
            Prefetcher::Stream => self.stream(core, level, line),
        };
        let page = |line: i128| line * i128::from(self.line_bytes(0)) / i128::from(self.caches.page_bytes());
        let Some(distance) = distance else { return };
        let mut targets = Vec::new();
        for step in 1..=i128::from(prefetch.degree) {
            let target = i128::from(line) + step * distance;
            let elsewhere = prefetch.kind != Prefetcher::FarStride && page(target) != page(line.into());
            if target < 0 || target > i128::from(u64::MAX / self.line_bytes(0)) || elsewhere {
                break;
            }
            targets.push(target as u64 * self.line_bytes(0));
        }
        targets
            .into_iter()
            .for_each(|target| self.bring_in(core, level, target));
    }

    fn stride(&mut self, core: usize, site: usize, level: usize, line: u64) -> Option<i128> {
        let strides = &mut self.level(core, level).strides;
        let before = strides.get(&site).copied();
        let distance = before.map(|(before, _)| i128::from(line) - i128::from(before));
        strides.insert(site, (line, distance));
        let steady = distance == before?.1 && distance != Some(0);
        distance.filter(|_| steady)
    }

    /// The direction of the last two steps within the page, if it is one of the 32 that were asked for last.
    fn stream(&mut self, core: usize, level: usize, line: u64) -> Option<i128> {
        let page_lines = self.caches.page_bytes() / self.line_bytes(0);
        let asked = &mut self.level(core, level).asked;
        let mut pages = Vec::new();
        for asked in asked.iter().rev() {
            if pages.len() < 32 && !pages.contains(&(asked / page_lines)) {
                pages.push(asked / page_lines);
            }
        }
        // A page that was left out in between begins anew.
        if !pages.contains(&(line / page_lines)) {
            asked.retain(|asked| asked / page_lines != line / page_lines);
        }
        asked.push(line);
        let own = asked
            .iter()
            .filter(|asked| **asked / page_lines == line / page_lines);
        let mut steps: Vec<i128> = Vec::new();
        let own: Vec<i128> = own.map(|line| i128::from(*line)).collect();
        for pair in own.windows(2) {
            steps.push((pair[1] - pair[0]).signum());
        }
        let last = steps.pop().filter(|step| *step != 0)?;
        let before = steps.into_iter().rev().find(|step| *step != 0)?;
        (last == before).then_some(last)
    }

    fn bring_in(&mut self, core: usize, level: usize, address: u64) {
        let mut places = self.before(core, level);
        places.push((core, level));
        for (core, level) in places {
            let line = address / self.line_bytes(level);
            if self.level(core, level).cache.find(line).is_some() {
                return;
            }
        }
        let mut request = Request {
            core,
            outcome: None,
            held_by_others: false,
            seen_by_prefetchers: Vec::new(),
        };
        self.totals.levels[level].prefetches += 1;
        let dirty = self.read(&mut request, level + 1, address);
        self.insert(core, level, address, dirty, true);
    }

    fn private(&self) -> usize {
        self.caches.private_levels()
    }

    fn line_bytes(&self, level: usize) -> u64 {
        self.caches.levels()[level].geometry.line_bytes.into()
    }

    fn is_exclusive(&self, level: usize) -> bool {
        self.caches.levels()[level].inclusion == Inclusion::Exclusive
    }

    fn level(&mut self, core: usize, level: usize) -> &mut Level {
        level_at(&mut self.levels, &self.caches, core, level)
    }
}

fn level_at<'l>(
    levels: &'l mut HashMap<(usize, usize), Level>,
    caches: &Caches,
    core: usize,
    level: usize,
) -> &'l mut Level {
    let core = if level < caches.private_levels() { core } else { 0 };
    let model = caches.levels()[level];
    levels.entry((core, level)).or_insert_with(|| Level {
        cache: NaiveCache::new(model.geometry, model.policy),
        classes: NaiveClasses::new(model.geometry),
        strides: HashMap::new(),
        asked: Vec::new(),
    })
}
