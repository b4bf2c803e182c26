//! How far a core has come: instructions start in their order as far as the window reaches, loads wait for the values that
//! their addresses follow from, and instructions end in their order.

use std::collections::VecDeque;

use super::blocks::AtHand;
use super::branches::Branches;
use super::costs::{Costs, NewPages, AHEAD, SERVING};
use super::detours::Detours;
use super::forwarding::Forwarding;
use super::walks::Beginning;

/// Stores that wait for their lines, at most; more hold up the program. Intel's Skylake has 56, AMD's Zen 3 64.
const STORES: usize = 56;

/// Differences below this come from rounding.
const EXACT_NS: f64 = 1e-6;

/// Lines on their way that are remembered, by their lowest bits: more than there can be misses.
const ON_THEIR_WAY: usize = 256;

/// What an access is, and what it waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<'w> {
    pub site: usize,
    /// Instructions since the last access.
    pub instructions: f64,
    /// Instructions that could be executed while its loop waits for values that it carries. They take no room in the window.
    pub waits: f64,
    /// Sites whose loads the address follows from.
    pub loads: &'w [u32],
    /// Whether its own loads are among them, perhaps through other sites: a walk, or a search.
    pub is_walk: bool,
    /// The type whose pointer gave the address, if it came from another function.
    pub pointer: Option<u32>,
    /// The type that the loaded pointer points to.
    pub loads_pointer_to: Option<u32>,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    /// It ends before anything after it begins.
    Atomic,
    /// It asks for a line, and waits for nothing but its address.
    Prefetch,
}

/// What came of an access in the caches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Served {
    /// The number of the first line.
    pub line: u64,
    /// The number of the first word of eight bytes.
    pub word: u64,
    /// The farthest level from which a line came; 0 for the first.
    pub level: usize,
    /// Lines that each level gave.
    pub lines: [u64; SERVING],
    /// Changed lines that went back to each level.
    pub written_back: [u64; SERVING],
    /// Lines that prefetchers asked each level for.
    pub prefetched: [u64; SERVING],
    pub translation_ns: f64,
    /// Whether page tables are walked.
    pub walks: bool,
    /// Pages that nobody accessed before.
    pub new_pages: NewPages,
    /// Whether another core had the line.
    pub transfer: bool,
}

/// A loaded value: where its load stands in the program's order, and when it arrived.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    /// The word that was loaded.
    word: u64,
    position: f64,
    arrived: f64,
    /// When it arrived for code that was executed in vain after a branch.
    in_vain: f64,
    /// Calls around the load.
    depth: u32,
}

/// What an address follows from that waits for no load.
const NOTHING: Value = Value {
    word: 0,
    position: 0.0,
    arrived: 0.0,
    in_vain: 0.0,
    depth: 0,
};

/// When something of which there can be few at once has time again. They are busy by their number in the mean (Little's
/// law), whenever each begins and ends.
#[derive(Debug, Clone, Copy, Default)]
struct Turns(f64);

#[derive(Debug, Clone)]
pub(super) struct Core {
    /// Instructions so far.
    position: f64,
    /// Calls that have begun and not ended.
    depth: u32,
    /// When the last instruction has entered the window.
    entered: f64,
    /// When all instructions so far have ended.
    ended: f64,
    /// Nothing enters before: the window was full until then.
    full_until: f64,
    /// Accesses in the window that held up its end: their positions, and when they ended.
    held_up: VecDeque<(f64, f64)>,
    branches: Branches,
    detours: Detours,
    /// When the last loaded value arrived: what a branch waits for.
    condition: f64,
    /// The value of each site's last load.
    arrived: Vec<Value>,
    /// Where the walk of each site began.
    beginnings: Vec<Beginning>,
    /// The last pointer to each type.
    pointers: Vec<Value>,
    misses: Turns,
    walks: Turns,
    /// When lines arrive that were missed: an access that finds them in the caches' model waits for them, too.
    on_their_way: Vec<(u64, f64)>,
    /// When each store that waits has its line; they write in their order.
    stores: VecDeque<f64>,
    forwarding: Forwarding,
    at_hand: AtHand,
    /// Calls of the allocator since the last access.
    allocator_ns: f64,
    /// Those over which lines come from each level.
    paths: [Turns; SERVING],
}

impl Core {
    pub fn new(sites: usize, types: usize) -> Core {
        Core {
            position: 0.0,
            depth: 0,
            entered: 0.0,
            ended: 0.0,
            full_until: 0.0,
            held_up: VecDeque::new(),
            branches: Branches::new(sites),
            detours: Detours::default(),
            condition: 0.0,
            arrived: vec![Value::default(); sites],
            beginnings: vec![Beginning::default(); sites],
            pointers: vec![Value::default(); types],
            misses: Turns::default(),
            walks: Turns::default(),
            on_their_way: vec![(0, 0.0); ON_THEIR_WAY],
            stores: VecDeque::new(),
            forwarding: Forwarding::default(),
            at_hand: AtHand::default(),
            allocator_ns: 0.0,
            paths: [Turns::default(); SERVING],
        }
    }

    /// For further sites and types of pointers.
    pub fn make_room(&mut self, sites: usize, types: usize) {
        self.branches.make_room(sites);
        self.arrived
            .resize(sites.max(self.arrived.len()), Value::default());
        self.beginnings
            .resize(sites.max(self.beginnings.len()), Beginning::default());
        self.pointers
            .resize(types.max(self.pointers.len()), Value::default());
    }

    /// A function is entered, from which [`Core::return_from_call`] returns.
    pub fn call(&mut self) {
        self.depth = self.depth.saturating_add(1);
    }

    pub fn return_from_call(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A block is allocated. The next access has what the allocator takes for it.
    pub fn allocate(&mut self, address: u64, costs: &Costs) {
        let is_new = !self.at_hand.take(address);
        self.allocator_ns += costs.allocation_ns[usize::from(is_new)];
    }

    pub fn give_back(&mut self, address: u64, costs: &Costs) {
        self.at_hand.give_back(address);
        self.allocator_ns += costs.allocation_ns[0];
    }

    /// When all instructions so far have ended.
    pub fn ended(&self) -> f64 {
        self.ended
    }

    /// Executes an access, and returns by how much later the program ends because of it and the instructions before it.
    #[inline(always)]
    pub fn access(&mut self, costs: &Costs, work: &Work, served: &Served, memory: usize) -> f64 {
        // Most of that time, the allocator's instructions wait for each other. So it takes no room in the window.
        let allocator_ns = std::mem::take(&mut self.allocator_ns);
        let own_ns = (work.instructions + work.waits) * costs.instruction_ns + allocator_ns;
        if let Some(foreseen) = self.branches.surprise(work.site) {
            // What was begun after the branch was in vain.
            let known = self.entered.max(self.condition);
            let way = self.branches.way_from(foreseen);
            self.detours.begin(way, self.entered, known, self.position);
            self.full_until = self.full_until.max(known + costs.wrong_branch_ns);
        }
        self.enter(work.instructions, own_ns, costs.window);
        self.detours
            .follow(work.site as u32, own_ns, self.position, costs.window);
        let started = self.ended;
        if served.new_pages.count() > 0 {
            self.stop_for(served.new_pages.fault_ns(costs, memory));
        }
        let from = self.follows_from(work, served.level == 0);
        let from = match work.is_walk && self.beginnings[work.site].begins_anew(served.word, from.word) {
            true => Value::default(),
            false => from,
        };
        let ready = self.entered.max(from.arrived);
        let in_vain = self.detours.enters(from.in_vain).map(|now| {
            let ready = now.max(from.in_vain);
            self.serve(costs, served, now, ready, memory)
        });
        let done = match in_vain {
            // Once more, with the line that was asked for.
            Some(arrives) => arrives.max(ready + costs.latency_ns[0]),
            None => self.serve(costs, served, self.entered, ready, memory),
        };
        // A line that went elsewhere since has what was stored.
        let is_there = served.level == 0 && !served.transfer;
        let done = match work.kind {
            Kind::Load => self.forwarding.load(served.word, ready, done, is_there),
            _ => done,
        };
        let before = self.ended;
        self.ended = match work.kind {
            Kind::Store => {
                let written = self.store(done);
                let cycle_ns = 1.0 / costs.ghz;
                let entered = self.entered;
                self.forwarding
                    .store(served.word, entered, written, cycle_ns, costs.forward_ns);
                (before + own_ns).max(self.entered)
            }
            Kind::Load => (before + own_ns).max(done),
            Kind::Prefetch => (before + own_ns).max(self.entered),
            Kind::Atomic => {
                self.full_until = self.full_until.max(done);
                (before + own_ns).max(done)
            }
        };
        if matches!(work.kind, Kind::Load | Kind::Atomic) {
            let value = Value {
                word: served.word,
                position: self.position,
                arrived: done,
                in_vain: in_vain.unwrap_or(done),
                depth: self.depth,
            };
            self.arrived[work.site] = value;
            self.condition = done;
            if let Some(pointed_to) = work.loads_pointer_to {
                self.pointers[pointed_to as usize] = value;
            }
        }
        if self.ended > before + own_ns + EXACT_NS {
            self.held_up.push_back((self.position, self.ended));
        }
        self.ended - started
    }

    /// The system takes the processor: all that was begun ends before.
    fn stop_for(&mut self, ns: f64) {
        self.ended = self.ended.max(self.entered) + ns;
        self.full_until = self.full_until.max(self.ended);
        self.entered = self.entered.max(self.full_until);
    }

    /// Executes instructions that find all they need in the first level. Returns how long they take.
    pub fn run_on(&mut self, instructions: f64, waits: f64, costs: &Costs) -> f64 {
        let own_ns = (instructions + waits) * costs.instruction_ns;
        self.enter(instructions, own_ns, costs.window);
        let before = self.ended;
        self.ended = (before + own_ns).max(self.entered);
        self.ended - before
    }

    #[inline(always)]
    fn enter(&mut self, instructions: f64, own_ns: f64, window: f64) {
        self.position += instructions;
        while let Some(&(position, ended)) = self.held_up.front() {
            if position + window > self.position {
                break;
            }
            self.full_until = self.full_until.max(ended);
            self.held_up.pop_front();
        }
        self.entered = (self.entered + own_ns).max(self.full_until);
    }

    /// The value that the address follows from: of several loads the last one, for the others are those of other ways to the
    /// access, or came long before. A pointer from another function is waited for where its line is: what is near was
    /// accessed by that pointer before. What was loaded in a deeper call belongs to an activation that has ended: the own address
    /// was known before that call.
    #[inline(always)]
    fn follows_from(&self, work: &Work, is_near: bool) -> Value {
        let mut last = &NOTHING;
        let loads = work.loads.iter().map(|&load| &self.arrived[load as usize]);
        let loads = loads.filter(|value| value.depth <= self.depth);
        let pointer = work.pointer.filter(|_| !is_near);
        let pointer = pointer.map(|pointed_to| &self.pointers[pointed_to as usize]);
        for value in loads.chain(pointer) {
            if value.position > last.position {
                last = value;
            }
        }
        *last
    }

    #[inline(always)]
    fn serve(&mut self, costs: &Costs, served: &Served, now: f64, ready: f64, memory: usize) -> f64 {
        let is_near = served.level == 0 && served.prefetched == [0; SERVING] && !served.transfer;
        if is_near && served.translation_ns == 0.0 {
            let (line, arrives) = self.on_their_way[served.line as usize % ON_THEIR_WAY];
            let arrives = if line == served.line { arrives } else { 0.0 };
            return (ready + costs.latency_ns[0]).max(arrives);
        }
        let mut begin = ready;
        if served.walks {
            let turn = self.walks.take(now, served.translation_ns, costs.most_walks);
            begin = begin.max(turn);
        }
        self.serve_far(costs, served, now, begin + served.translation_ns, memory)
    }

    fn serve_far(&mut self, costs: &Costs, served: &Served, now: f64, ready: f64, memory: usize) -> f64 {
        let misses = served.level > 0 || served.transfer;
        let latency = match served.transfer {
            true => costs.transfer_ns.max(costs.latency_ns[served.level]),
            false => costs.latency_ns[served.level],
        };
        let mut begun = ready;
        if misses {
            begun = begun.max(self.misses.take(now, latency, costs.most_misses));
        }
        for level in 1..=memory {
            if served.lines[level] > 0 {
                begun = begun.max(self.path(level, costs, now, served.lines[level]));
            }
            self.path(level, costs, now, served.written_back[level]);
        }
        let mut done = begun + latency;
        for level in 1..=memory {
            if served.prefetched[level] > 0 {
                self.path(level, costs, now, served.prefetched[level]);
                done = done.max(self.paths[level].0 - AHEAD * costs.line_ns[level]);
            }
        }
        if misses {
            self.on_their_way[served.line as usize % ON_THEIR_WAY] = (served.line, done);
        }
        done
    }

    /// Sends lines over the path from a level from `now` on, and returns when they can begin.
    fn path(&mut self, level: usize, costs: &Costs, now: f64, lines: u64) -> f64 {
        self.paths[level].take(now, lines as f64 * costs.line_ns[level], 1.0)
    }

    /// A store leaves the window at once, and waits elsewhere for its line and its turn.
    /// Returns when it has written.
    fn store(&mut self, done: f64) -> f64 {
        let turn = self.stores.back().copied().unwrap_or_default();
        let written = done.max(turn);
        self.stores.push_back(written);
        if self.stores.len() > STORES {
            let oldest = self.stores.pop_front().unwrap_or_default();
            self.full_until = self.full_until.max(oldest);
        }
        written
    }
}

impl Turns {
    /// Takes a turn of `ns`, of which `most` can be at once, and returns when it can begin. Turns are given in program
    /// order, from `now` on: what waits for an address takes its turn all the same.
    fn take(&mut self, now: f64, ns: f64, most: f64) -> f64 {
        let begin = self.0.max(now);
        self.0 = begin + ns / most;
        begin
    }
}

#[cfg(test)]
pub(super) mod tests;
