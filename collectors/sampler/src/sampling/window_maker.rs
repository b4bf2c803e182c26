//! Selects the samples that get windows, and makes the windows.

use std::collections::HashMap;
use std::time::Duration;

use trackway_perf_records::{AddressSpaces, PerfSample};
use trackway_trace::WindowEnd;

use crate::code::SeenCode;
use crate::events::Target;
use crate::overhead::{cpu_time, Budget};
use crate::registers::Registers;
use crate::speed::{LoopTimes, Place, Position, SpeedMeter, Way};
use crate::threads::{Stopper, ThreadPointers};
use crate::window::{look_ahead, Directions, LiveCode, Memory, ProcessMemory, Window};

/// Cost of a stop on the stopped thread's processor: an interrupt, and switching to another thread and back.
const STOP: Duration = Duration::from_micros(20);

/// One part in so many of the windows' budget is for measuring loops.
const LOOPS_PART: u64 = 4;

/// Makes windows within a share of the program's time.
pub struct WindowMaker {
    /// Instructions of a window at most; 0: there are none.
    limit: u32,
    budget: Budget,
    memory: Memory<ProcessMemory>,
    directions: Directions,
    live: LiveCode,
    threads: ThreadPointers,
    speeds: SpeedMeter,
    stopper: Stopper,
    times: LoopTimes,
    /// Whether samples stand for time.
    weighs_time: bool,
}

impl WindowMaker {
    /// `share`: of the program's time, millionths. `weighs_time`: whether the samples' periods are nanoseconds.
    pub fn new(limit: u32, share: u64, weighs_time: bool, target: Target) -> Self {
        let (pid, child) = match target {
            Target::Starting(pid) => (pid, Some(pid)),
            Target::Running(pid) => (pid, None),
        };
        WindowMaker {
            limit,
            budget: Budget::new(share - share / LOOPS_PART),
            memory: Memory::new(ProcessMemory::stopped(pid)),
            directions: Directions::default(),
            live: LiveCode::default(),
            threads: ThreadPointers::default(),
            speeds: SpeedMeter::new(Budget::new(share / LOOPS_PART), pid),
            stopper: Stopper::new(child),
            times: LoopTimes::default(),
            weighs_time,
        }
    }

    /// The base of FS in a thread, if a window has found it.
    pub fn thread_pointer(&self, tid: u32) -> Option<u64> {
        self.threads.of(tid)
    }

    /// How many windows weren't made because a thread couldn't be stopped.
    pub fn refused_stops(&self) -> u64 {
        self.stopper.refused
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.directions.forget(pid);
        self.threads.forget(pid);
        self.speeds.forget(pid);
        self.times.forget(pid);
    }

    /// Makes a window at the last sample, whose thread is stopped meanwhile. If memory doesn't matter, it also makes
    /// windows at samples in other loops. The program ran for `ran_ns` since the last call.
    pub fn windows(
        &mut self,
        samples: &[&PerfSample],
        ran_ns: u64,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Vec<Option<Window>> {
        let mut windows: Vec<Option<Window>> = samples.iter().map(|_| None).collect();
        self.budget.earn(ran_ns);
        self.speeds.earn(ran_ns);
        if self.limit == 0 {
            return windows;
        }
        self.live.forget();
        let places = samples.iter().map(|sample| self.times.add(sample, spaces, code));
        let mut places: Vec<Place> = places.collect();
        if self.weighs_time {
            self.speeds.note(samples, &places);
        }
        let last = samples.last().zip(places.last_mut()).zip(windows.last_mut());
        if let Some(((sample, place), window)) = last {
            if let Some((there, made)) = self.stopped_window(sample, spaces, code) {
                (*place, *window) = (there, Some(made));
            }
        }
        if self.weighs_time {
            self.cover_loops(samples, &places, &mut windows, spaces, code);
        }
        windows
    }

    /// The window of a sample's thread from its present place, and the loop of that place. None if there is no time for
    /// a window, or the thread doesn't run any more.
    fn stopped_window(
        &mut self,
        sample: &PerfSample,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Option<(Place, Window)> {
        if !self.budget.allows_usual() {
            return None;
        }
        let (pid, tid) = (sample.pid, sample.tid);
        let (began, found) = (cpu_time(), code.finding);
        let stopped = self.stopper.stop(pid, tid)?;
        let registers = stopped.registers()?;
        self.threads.note(pid, tid, registers.thread_pointer);
        let place = self.times.place(pid, registers.instruction, spaces, code);
        let memory = ProcessMemory::stopped(pid);
        let made = self.window(memory, &registers, Way::default(), spaces, code);
        let finding = code.finding - found;
        let taken = (cpu_time() - began).saturating_sub(finding);
        self.budget.spend_usual(taken + STOP);
        let (mut window, way) = made?;
        if self.weighs_time {
            let position = Position {
                thread: (pid, tid),
                time_ns: sample.time_ns,
                place,
                registers,
            };
            let function_at = |address| code.function(spaces, pid, address);
            let speed = self.speeds.of_stopped(&position, &way, stopped, function_at);
            window.speed = speed.unwrap_or(0);
        }
        Some((place, window))
    }

    /// Makes windows in loops that have none, and sets the time that each window represents.
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
            let (window, taken) = self.registers_window(samples[index], *place, spaces, code);
            self.budget.spend(taken);
            windows[index] = window;
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

    /// The window of a sample whose thread runs on, as far as it doesn't rest on memory, and what it takes.
    fn registers_window(
        &mut self,
        sample: &PerfSample,
        place: Place,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> (Option<Window>, Duration) {
        let thread_pointer = self.threads.of(sample.tid);
        let registers = sample.registers.as_ref();
        let registers = registers.map(|registers| Registers::from_sample(registers, thread_pointer));
        let (began, found) = (cpu_time(), code.finding);
        // The memory isn't that of the sample's time any more.
        let memory = ProcessMemory::late(place.pid);
        let way = Way::to_be_sure();
        let made = registers.and_then(|registers| self.window(memory, &registers, way, spaces, code));
        // Code is found once, for windows or for other uses: that is no part of what windows cost.
        let taken = (cpu_time() - began).saturating_sub(code.finding - found);
        let sure = made.filter(|(window, _)| window.is_way_sure);
        let window = sure.zip(registers).map(|((mut window, way), registers)| {
            let position = Position {
                thread: (sample.pid, sample.tid),
                time_ns: sample.time_ns,
                place,
                registers,
            };
            let function_at = |address| code.function(spaces, place.pid, address);
            window.speed = self.speeds.of_running(&position, &way, function_at).unwrap_or(0);
            window
        });
        (window, taken)
    }

    fn window(
        &mut self,
        memory: ProcessMemory,
        registers: &Registers,
        mut way: Way,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Option<(Window, Way)> {
        let live = &mut self.live;
        let pid = memory.pid;
        self.memory.begin(memory);
        self.directions.begin(pid);
        let function_at = |address| {
            let found = code.function(spaces, pid, address);
            found.or_else(|| live.from(&mut ProcessMemory::late(pid), pid, address))
        };
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
}
