//! Measures how fast threads run, within a budget.

use std::rc::Rc;

use trackway_perf_records::PerfSample;

use super::loop_times::Place;
use super::{Look, Position, Speeds, Way};
use crate::code::Function;
use crate::overhead::{cpu_time, Budget};
use crate::registers::STACK_POINTER;
use crate::threads::Stopped;
use crate::window::{Memory, ProcessMemory, StackMemory};

/// Says how fast threads run, and measures loops whose speed isn't known while there is time for it.
pub struct SpeedMeter {
    speeds: Speeds,
    budget: Budget,
    /// Memory of stopped threads.
    memory: Memory<ProcessMemory>,
    /// Stacks of threads that run on.
    stack: Memory<StackMemory>,
}

impl SpeedMeter {
    pub fn new(budget: Budget, pid: u32) -> Self {
        SpeedMeter {
            speeds: Speeds::default(),
            budget,
            memory: Memory::new(ProcessMemory::stopped(pid)),
            stack: Memory::default(),
        }
    }

    /// The program ran for so long.
    pub fn earn(&mut self, ran_ns: u64) {
        self.budget.earn(ran_ns);
    }

    /// Samples, and where they were taken.
    pub fn note(&mut self, samples: &[&PerfSample], places: &[Place]) {
        for (sample, place) in samples.iter().zip(places) {
            self.speeds.note(sample, *place);
        }
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.speeds.forget(pid);
    }

    /// Instructions in a millisecond of a stopped thread, which is let go as soon as possible.
    pub fn of_stopped(
        &mut self,
        position: &Position,
        way: &Way,
        stopped: Stopped,
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let known = self.speeds.by_known_loop(position, way, &mut function_at);
        if known.is_some() || !self.budget.allows() {
            return known;
        }
        let began = cpu_time();
        let memory = &mut self.memory;
        memory.begin(ProcessMemory::stopped(position.place.pid));
        let speed = self
            .speeds
            .by_execution(position, Look::Short, memory, &mut function_at);
        self.budget.spend(cpu_time() - began);
        drop(stopped);
        speed.or_else(|| self.by_registers(position, function_at))
    }

    /// The same for a thread that ran on since: only its stack is read.
    pub fn of_running(
        &mut self,
        position: &Position,
        way: &Way,
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let known = self.speeds.by_known_loop(position, way, &mut function_at);
        if known.is_some() || !self.budget.allows() {
            return known;
        }
        self.by_registers(position, function_at)
    }

    fn by_registers(
        &mut self,
        position: &Position,
        function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let began = cpu_time();
        let stack_pointer = position.registers.general[STACK_POINTER];
        self.stack
            .begin(StackMemory::of(position.place.pid, stack_pointer));
        let speed = self
            .speeds
            .by_execution(position, Look::Long, &mut self.stack, function_at);
        self.budget.spend(cpu_time() - began);
        speed
    }
}
