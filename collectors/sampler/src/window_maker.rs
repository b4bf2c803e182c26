//! Which samples get windows, and what these are made with.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use trackway_trace::WindowEnd;

use crate::address_spaces::AddressSpaces;
use crate::budget::Budget;
use crate::code::LiveCode;
use crate::loop_times::{LoopTimes, Place};
use crate::record::PerfSample;
use crate::registers::{Registers, STACK_POINTER};
use crate::seen_code::SeenCode;
use crate::speed::{Speeds, Way};
use crate::thread_pointers::ThreadPointers;
use crate::window::{look_ahead, Directions, Memory, NoMemory, ProcessMemory, Unobserved, Window};

/// Samples that are older than the latest one by more have no window: memory changes.
const FRESH_NS: u64 = 200_000;
/// Instructions behind a sample in which registers may say which way a jump goes.
const LEARNED: u32 = 12;
/// Samples of a drain of which that is asked.
const LEARNED_SAMPLES: usize = 4;

/// Of what windows may take, one part in so many is for measuring loops.
const LOOPS_PART: u64 = 4;

/// Makes windows within a share of the program's time.
pub struct WindowMaker {
    /// Instructions of a window at most; 0: there are none.
    limit: u32,
    budget: Budget,
    loops_budget: Budget,
    memory: Memory<ProcessMemory>,
    unread: Memory<NoMemory>,
    directions: Directions,
    live: LiveCode,
    threads: ThreadPointers,
    speeds: Speeds,
    times: LoopTimes,
    /// Whether samples stand for time.
    weighs_time: bool,
}

impl WindowMaker {
    /// `share`: of the program's time, millionths. `weighs_time`: whether the samples' periods are nanoseconds.
    pub fn new(limit: u32, share: u64, weighs_time: bool, pid: u32) -> Self {
        WindowMaker {
            limit,
            budget: Budget::new(share - share / LOOPS_PART),
            loops_budget: Budget::new(share / LOOPS_PART),
            memory: Memory::new(ProcessMemory { pid }),
            unread: Memory::new(NoMemory),
            directions: Directions::default(),
            live: LiveCode::default(),
            threads: ThreadPointers::default(),
            speeds: Speeds::default(),
            times: LoopTimes::default(),
            weighs_time,
        }
    }

    /// What FS is based on in a thread, if a window has found it.
    pub fn thread_pointer(&self, tid: u32) -> Option<u64> {
        self.threads.known(tid)
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.directions.forget(pid);
        self.threads.forget(pid);
        self.speeds.forget(pid);
        self.times.forget(pid);
    }

    /// Windows of the latest samples, and of one in each other loop where memory doesn't matter, in the order of the
    /// samples; the program ran for `ran_ns` since the last call.
    pub fn windows(
        &mut self,
        samples: &[&PerfSample],
        ran_ns: u64,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Vec<Option<Window>> {
        let mut windows: Vec<Option<Window>> = samples.iter().map(|_| None).collect();
        self.budget.earn(ran_ns);
        self.loops_budget.earn(ran_ns);
        if self.limit == 0 {
            return windows;
        }
        self.live.forget();
        let places = samples.iter().map(|sample| self.times.add(sample, spaces, code));
        let places: Vec<Place> = places.collect();
        let latest_ns = samples.last().map_or(0, |sample| sample.time_ns);
        let is_fresh = |sample: &&PerfSample| sample.time_ns + FRESH_NS >= latest_ns;
        let fresh = samples.iter().rev().take_while(|sample| is_fresh(sample)).count();
        for (index, window) in windows.iter_mut().enumerate().rev().take(fresh) {
            if !self.budget.allows_usual() {
                break;
            }
            let (made, taken) = self.timed_window(&samples[..=index], places[index], spaces, code);
            self.budget.spend_usual(taken);
            *window = made;
        }
        if self.weighs_time {
            self.cover_loops(samples, &places, &mut windows, spaces, code);
            self.speeds.note(samples);
        }
        self.learn(samples, spaces, code);
        windows
    }

    /// Makes windows in loops that have none, and says for what time all stand.
    fn cover_loops(
        &mut self,
        samples: &[&PerfSample],
        places: &[Place],
        windows: &mut [Option<Window>],
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) {
        let made = places
            .iter()
            .zip(&*windows)
            .filter(|(_, window)| window.is_some());
        let mut covered: HashMap<Place, u64> = HashMap::new();
        made.for_each(|(place, _)| *covered.entry(*place).or_default() += 1);
        for (index, place) in places.iter().enumerate().rev() {
            let is_paid = match self.times.has_few(*place) {
                true => self.budget.allows(),
                false => self.budget.allows_usual(),
            };
            if !is_paid {
                continue;
            }
            if covered.contains_key(place) || !self.times.can_wait(*place) {
                continue;
            }
            // The memory isn't that of the sample's time any more.
            let (window, taken) = self.timed_window(&samples[..=index], *place, spaces, code);
            self.budget.spend(taken);
            windows[index] = window.filter(|window| window.is_way_sure);
            match windows[index] {
                Some(_) => *covered.entry(*place).or_default() += 1,
                None => self.times.note_failure(*place),
            }
        }
        let times: HashMap<Place, u64> = covered
            .into_iter()
            .map(|(place, count)| (place, self.times.take(place) / count))
            .collect();
        for (place, window) in places.iter().zip(windows) {
            if let Some(window) = window {
                window.stands_for_ns = times[place];
            }
        }
    }

    /// The window of the last one of the samples, and what it takes.
    fn timed_window(
        &mut self,
        samples: &[&PerfSample],
        place: Place,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> (Option<Window>, Duration) {
        let registers = samples.last().and_then(|sample| self.prepare(sample));
        let (began, found) = (Instant::now(), code.finding);
        let made = registers.and_then(|registers| self.window(place.pid, &registers, spaces, code));
        // Code is found once, whoever asks first: that is no part of what windows cost.
        let taken = began.elapsed().saturating_sub(code.finding - found);
        let window = made.map(|(mut window, way)| {
            if self.weighs_time {
                window.speed = self.speed(samples, place, &way, spaces, code).unwrap_or(0);
            }
            window
        });
        (window, taken)
    }

    /// The registers from which a window begins. The thread's control block is looked for once, which is no part of
    /// what windows cost.
    fn prepare(&mut self, sample: &PerfSample) -> Option<Registers> {
        let mut registers = sample.registers?;
        let pid = sample.pid;
        let stack = registers.general[STACK_POINTER];
        registers.thread_pointer = self
            .threads
            .of(&mut ProcessMemory { pid }, pid, sample.tid, stack);
        Some(registers)
    }

    fn window(
        &mut self,
        pid: u32,
        registers: &Registers,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Option<(Window, Way)> {
        let live = &mut self.live;
        self.memory.begin(ProcessMemory { pid });
        self.directions.begin(pid);
        let function_at = |address| {
            let found = code.function(spaces, pid, address);
            found.or_else(|| live.from(&mut ProcessMemory { pid }, pid, address))
        };
        let mut way = Way::default();
        let window = look_ahead(
            registers,
            self.limit,
            &mut self.memory,
            &mut self.directions,
            &mut way,
            function_at,
        );
        (window.instructions > 0 || window.end != WindowEnd::Unreadable).then_some((window, way))
    }

    /// How fast the thread of the last one of the samples runs in its loop.
    fn speed(
        &mut self,
        samples: &[&PerfSample],
        place: Place,
        way: &Way,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Option<u32> {
        let registers = samples.last()?.registers?;
        let progress = self.speeds.progress(samples);
        let known = self.speeds.by_known_loop(place.pid, &progress, way);
        if known.is_some() || !self.loops_budget.allows() {
            return known;
        }
        let (began, found) = (Instant::now(), code.finding);
        let function_at = |address| code.function(spaces, place.pid, address);
        let speed = self
            .speeds
            .by_execution(place, &registers, &progress, function_at);
        let finding = code.finding - found;
        self.loops_budget.spend(began.elapsed().saturating_sub(finding));
        speed
    }

    /// Notes which way the next jumps of the latest samples go, as far as registers alone say so: that takes little.
    fn learn(&mut self, samples: &[&PerfSample], spaces: &AddressSpaces, code: &mut SeenCode) {
        let (began, found) = (Instant::now(), code.finding);
        for sample in samples.iter().rev().skip(1).take(LEARNED_SAMPLES) {
            let Some(registers) = &sample.registers else {
                continue;
            };
            let pid = sample.pid;
            self.unread.begin(NoMemory);
            self.directions.begin(pid);
            look_ahead(
                registers,
                LEARNED,
                &mut self.unread,
                &mut self.directions,
                &mut Unobserved,
                |address| code.function(spaces, pid, address),
            );
        }
        let finding = code.finding - found;
        self.budget.spend(began.elapsed().saturating_sub(finding));
    }
}
