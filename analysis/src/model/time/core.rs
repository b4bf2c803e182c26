//! How far a core has come: instructions start in their order as far as the window reaches, loads wait for the values that
//! their addresses follow from, and instructions end in their order.

use std::collections::VecDeque;

use super::branches::Branches;
use super::costs::{Costs, NewPages, AHEAD, SERVING};
use super::detours::Detours;
use super::forwarding::Forwarding;

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
}

/// When something of which there can be few at once has time again. They are busy by their number in the mean (Little's
/// law), whenever each begins and ends.
#[derive(Debug, Clone, Copy, Default)]
struct Turns(f64);

/// Where a walk began, and the step that came before it began there again. Words; 0 is none.
#[derive(Debug, Clone, Copy, Default)]
struct Beginning {
    at: u64,
    before: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Core {
    /// Instructions so far.
    position: f64,
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
    /// Those over which lines come from each level.
    paths: [Turns; SERVING],
}

impl Core {
    pub fn new(sites: usize, types: usize) -> Core {
        Core {
            position: 0.0,
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

    /// When all instructions so far have ended.
    pub fn ended(&self) -> f64 {
        self.ended
    }

    /// Executes an access, and returns by how much later the program ends because of it and the instructions before it.
    #[inline(always)]
    pub fn access(&mut self, costs: &Costs, work: &Work, served: &Served, memory: usize) -> f64 {
        let own_ns = (work.instructions + work.waits) * costs.instruction_ns;
        if let Some(foreseen) = self.branches.surprise(work.site) {
            // What was begun after the branch was in vain.
            let known = self.entered.max(self.condition);
            let way = self.branches.way_from(foreseen);
            self.detours.begin(way, self.entered, known, self.position);
            self.full_until = self.full_until.max(known + costs.wrong_branch_ns);
        }
        self.enter(work.instructions, own_ns, costs.window);
        let detour = self
            .detours
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
        let in_vain = detour.and_then(|detour| {
            let ready = detour.now.max(from.in_vain);
            (ready < detour.until).then(|| self.serve(costs, served, detour.now, ready, memory))
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
    /// accessed by that pointer before.
    #[inline(always)]
    fn follows_from(&self, work: &Work, is_near: bool) -> Value {
        let loads = work.loads.iter().map(|&load| self.arrived[load as usize]);
        let pointer = work.pointer.filter(|_| !is_near);
        let pointer = pointer.map(|pointed_to| self.pointers[pointed_to as usize]);
        let last = |one: Value, other: Value| if other.position > one.position { other } else { one };
        loads.chain(pointer).fold(Value::default(), last)
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

impl Beginning {
    /// Whether a step at that word is the first of another walk, which waits for no step of the last one: searches begin where
    /// the first one did, and come from unlike ends. A ring is at its first word after the same step each time.
    #[inline(always)]
    fn begins_anew(&mut self, word: u64, before: u64) -> bool {
        if self.at == 0 {
            self.at = word;
        }
        if self.at != word {
            return false;
        }
        let anew = self.before != before;
        self.before = before;
        anew
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
mod tests {
    use super::*;

    const MEMORY: usize = 2;

    /// Round figures: an instruction takes 1 ns.
    fn costs() -> Costs {
        Costs {
            latency_ns: [4.0, 14.0, 100.0, 0.0, 0.0],
            line_ns: [1.0, 2.0, 5.0, 0.0, 0.0],
            translation_ns: [7.0, 30.0],
            small_fault_ns: 500.0,
            page_bytes: 4096,
            transfer_ns: 50.0,
            most_misses: 10.0,
            most_walks: 2.0,
            window: 100.0,
            ghz: 1.0,
            wrong_branch_ns: 15.0,
            instruction_ns: 1.0,
            forward_ns: 4.0,
        }
    }

    fn load(loads: &[u32], instructions: f64) -> Work<'_> {
        Work {
            site: 0,
            instructions,
            waits: 0.0,
            loads,
            is_walk: false,
            pointer: None,
            loads_pointer_to: None,
            kind: Kind::Load,
        }
    }

    fn from(level: usize) -> Served {
        let mut served = Served {
            level,
            ..Served::default()
        };
        served.lines[level] = u64::from(level > 0);
        served
    }

    fn time(count: usize, work: &Work, served: &Served) -> f64 {
        let (costs, mut core) = (costs(), Core::new(1, 1));
        let each = (0..count).map(|_| core.access(&costs, work, served, MEMORY));
        each.sum()
    }

    #[test]
    fn a_chain_of_misses_takes_the_latency_of_each() {
        let chain = time(1000, &load(&[0], 2.0), &from(MEMORY));
        assert!((chain / 1000.0 - 100.0).abs() < 1.0, "{chain}");
    }

    #[test]
    fn an_address_follows_from_the_load_that_came_last() {
        let (costs, mut core) = (costs(), Core::new(2, 1));
        let mut sum = 0.0;
        for _ in 0..1000 {
            // A look-up begins at a table that is near, and ends with a miss of its own.
            let near = Served { line: 1, ..from(0) };
            sum += core.access(&costs, &load(&[], 2.0), &near, MEMORY);
            let last = Work {
                site: 1,
                ..load(&[0, 1], 2.0)
            };
            sum += core.access(&costs, &last, &from(MEMORY), MEMORY);
        }
        assert!(sum / 1000.0 < 15.0, "{sum}");
    }

    #[test]
    fn a_branch_that_is_guessed_wrong_waits_for_its_condition() {
        let (costs, mut core) = (costs(), Core::new(4, 1));
        let mut sum = 0.0;
        let mut state = 88_172_645_463_325_252u64;
        for _ in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // The next one's address follows from what is read on the way, so that no detour asks for it.
            sum += core.access(&costs, &load(&[1, 2], 2.0), &from(MEMORY), MEMORY);
            let either = Work {
                site: 1 + (state >> 33) as usize % 2,
                ..load(&[0], 2.0)
            };
            sum += core.access(&costs, &either, &from(0), MEMORY);
        }
        // Every second time the way after the miss is another one than expected.
        assert!((105.0..130.0).contains(&(sum / 1000.0)), "{sum}");
    }

    #[test]
    fn what_follows_either_way_is_asked_for_in_vain_before_the_branch_is_known() {
        let (costs, mut core) = (costs(), Core::new(4, 1));
        let mut sum = 0.0;
        let mut state = 88_172_645_463_325_252u64;
        for line in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // A miss whose value decides whether there is a second access; the next miss doesn't follow from it.
            sum += core.access(&costs, &load(&[], 2.0), &Served { line, ..from(MEMORY) }, MEMORY);
            if state >> 33 & 1 == 0 {
                let second = Work {
                    site: 1,
                    ..load(&[], 2.0)
                };
                sum += core.access(&costs, &second, &from(0), MEMORY);
            }
        }
        // About a third of the branches are guessed wrong, of which half lead to the second access. Without what is
        // executed in vain, each would wait for a whole miss.
        assert!((10.0..20.0).contains(&(sum / 1000.0)), "{}", sum / 1000.0);
    }

    #[test]
    fn waits_take_time_and_no_room() {
        let misses = |waits| Work {
            waits,
            ..load(&[], 5.0)
        };
        // 20 misses are in the window, of which 10 can be at once.
        let without = time(1000, &misses(0.0), &from(MEMORY));
        assert!((without / 1000.0 - 10.0).abs() < 0.5, "{without}");
        let with = time(1000, &misses(4.0), &from(MEMORY));
        assert!((with / 1000.0 - 10.0).abs() < 0.5, "{with}");
        let longer = time(1000, &misses(15.0), &from(MEMORY));
        assert!((longer / 1000.0 - 20.0).abs() < 0.5, "{longer}");
    }

    #[test]
    fn few_page_tables_are_walked_at_once() {
        let walked = Served {
            translation_ns: 30.0,
            walks: true,
            ..from(1)
        };
        let all = time(1000, &load(&[], 2.0), &walked);
        assert!((all / 1000.0 - 15.0).abs() < 0.5, "{all}");
    }

    #[test]
    fn a_line_on_its_way_is_waited_for() {
        let (costs, mut core) = (costs(), Core::new(1, 1));
        let (first, again) = (from(MEMORY), from(0));
        let mut sum = 0.0;
        for line in 0..1000 {
            sum += core.access(&costs, &load(&[0], 1.0), &Served { line, ..first }, MEMORY);
            sum += core.access(&costs, &load(&[], 1.0), &Served { line, ..again }, MEMORY);
        }
        assert!((sum / 1000.0 - 100.0).abs() < 5.0, "{sum}");
    }

    #[test]
    fn independent_misses_overlap_as_far_as_there_are_buffers() {
        let independent = time(1000, &load(&[], 2.0), &from(MEMORY));
        assert!((independent / 1000.0 - 10.0).abs() < 0.5, "{independent}");
    }

    #[test]
    fn or_as_far_as_the_window_reaches() {
        // With 50 instructions from miss to miss, two are in the window.
        let sparse = time(1000, &load(&[], 50.0), &from(MEMORY));
        assert!((sparse / 1000.0 - 50.0).abs() < 3.0, "{sparse}");
        let sparser = time(1000, &load(&[], 100.0), &from(MEMORY));
        assert!((sparser / 1000.0 - 100.0).abs() < 3.0, "{sparser}");
    }

    #[test]
    fn hits_cost_what_is_executed() {
        let hits = time(1000, &load(&[], 3.0), &from(0));
        assert!((hits / 1000.0 - 3.0).abs() < 0.1, "{hits}");
        let chain = time(1000, &load(&[0], 3.0), &from(0));
        assert!((chain / 1000.0 - 4.0).abs() < 0.1, "{chain}");
    }

    #[test]
    fn stores_wait_elsewhere_until_there_are_too_many() {
        let store = Work {
            kind: Kind::Store,
            ..load(&[], 2.0)
        };
        let few = time(40, &store, &from(MEMORY));
        assert!((few - 80.0).abs() < 1.0, "{few}");
        let many = time(10_000, &store, &from(MEMORY));
        assert!((many / 10_000.0 - 10.0).abs() < 0.5, "{many}");
    }

    #[test]
    fn a_counter_in_memory_is_a_chain() {
        let step = |words: u64| {
            let (costs, mut core) = (costs(), Core::new(2, 1));
            let mut sum = 0.0;
            for round in 0..1000 {
                let word = Served {
                    word: 8 + round % words,
                    ..from(0)
                };
                sum += core.access(&costs, &load(&[], 1.0), &word, MEMORY);
                let store = Work {
                    site: 1,
                    kind: Kind::Store,
                    ..load(&[], 1.0)
                };
                sum += core.access(&costs, &store, &word, MEMORY);
            }
            sum / 1000.0
        };
        // An addition, and from the store to the load.
        assert!((step(1) - 5.0).abs() < 0.1, "{}", step(1));
        assert!((step(100) - 2.0).abs() < 0.1, "{}", step(100));
    }

    #[test]
    fn a_stored_value_needs_no_line() {
        let (costs, mut core) = (costs(), Core::new(2, 1));
        let far = Served {
            word: 8,
            line: 1,
            ..from(MEMORY)
        };
        let near = Served {
            level: 0,
            lines: [0; SERVING],
            ..far
        };
        let store = Work {
            kind: Kind::Store,
            ..load(&[], 1.0)
        };
        core.access(&costs, &store, &far, MEMORY);
        let again = core.access(&costs, &load(&[], 1.0), &near, MEMORY);
        assert!(again < 10.0, "{again}");
        // It is waited for if another core has taken the line since.
        let mut elsewhere = core.clone();
        let taken = Served {
            transfer: true,
            ..near
        };
        let waits = elsewhere.access(&costs, &load(&[], 1.0), &taken, MEMORY);
        assert!(waits > 40.0, "{waits}");
        // Another word of the line waits for it.
        let other = Served { word: 9, ..near };
        let waits = core.access(&costs, &load(&[], 1.0), &other, MEMORY);
        assert!(waits > 80.0, "{waits}");
    }

    #[test]
    fn a_search_that_begins_where_the_first_one_did_doesnt_wait_for_the_last_one() {
        let each = |word: fn(u64) -> u64| {
            let (costs, mut core) = (costs(), Core::new(1, 1));
            let walk = Work {
                is_walk: true,
                ..load(&[0], 2.0)
            };
            let step = |step| {
                let served = Served {
                    word: word(step),
                    ..from(MEMORY)
                };
                core.access(&costs, &walk, &served, MEMORY)
            };
            (0..1000).map(step).sum::<f64>() / 1000.0
        };
        // Four steps in a search; ten searches are in the window.
        let searches = each(|step| match step % 4 {
            0 => 1,
            _ => 2 + step,
        });
        assert!((9.0..15.0).contains(&searches), "{searches}");
        let ring = each(|step| 1 + step % 4);
        assert!((ring - 100.0).abs() < 2.0, "{ring}");
    }

    #[test]
    fn a_prefetch_holds_up_nothing_and_its_line_is_on_its_way() {
        let (costs, mut core) = (costs(), Core::new(1, 1));
        let prefetch = Work {
            kind: Kind::Prefetch,
            ..load(&[], 2.0)
        };
        let far = Served {
            line: 1,
            ..from(MEMORY)
        };
        let asked = core.access(&costs, &prefetch, &far, MEMORY);
        assert!((asked - 2.0).abs() < 0.1, "{asked}");
        let near = Served { line: 1, ..from(0) };
        let waited = core.access(&costs, &load(&[], 60.0), &near, MEMORY);
        assert!((waited - 100.0).abs() < 1.0, "{waited}");
    }

    #[test]
    fn memory_gives_lines_at_its_rate() {
        let mut ahead = from(1);
        ahead.prefetched[MEMORY] = 1;
        let stream = time(10_000, &load(&[], 2.0), &ahead);
        assert!((stream / 10_000.0 - 5.0).abs() < 0.1, "{stream}");
    }

    #[test]
    fn atomics_overlap_with_nothing() {
        let atomic = Work {
            kind: Kind::Atomic,
            ..load(&[], 2.0)
        };
        let contended = Served {
            transfer: true,
            ..from(1)
        };
        let all = time(1000, &atomic, &contended);
        assert!((49.0..53.0).contains(&(all / 1000.0)), "{all}");
    }
}
