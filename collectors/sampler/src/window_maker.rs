//! Which samples get windows, and what these are made with.

use std::time::Instant;

use trackway_trace::WindowEnd;

use crate::address_spaces::AddressSpaces;
use crate::budget::Budget;
use crate::code::LiveCode;
use crate::record::PerfSample;
use crate::registers::{Registers, STACK_POINTER};
use crate::seen_code::SeenCode;
use crate::thread_pointers::ThreadPointers;
use crate::window::{look_ahead, Directions, Memory, NoMemory, ProcessMemory, Window};

/// Samples that are older than the latest one by more have no window: memory changes.
const FRESH_NS: u64 = 200_000;
/// Instructions behind a sample in which registers may say which way a jump goes.
const LEARNED: u32 = 12;
/// Samples of a drain of which that is asked.
const LEARNED_SAMPLES: usize = 4;

/// Makes windows within a share of the program's time.
pub struct WindowMaker {
    /// Instructions of a window at most; 0: there are none.
    limit: u32,
    budget: Budget,
    memory: Memory<ProcessMemory>,
    unread: Memory<NoMemory>,
    directions: Directions,
    live: LiveCode,
    threads: ThreadPointers,
}

impl WindowMaker {
    /// `share`: of the program's time, millionths.
    pub fn new(limit: u32, share: u64, pid: u32) -> Self {
        WindowMaker {
            limit,
            budget: Budget::new(share),
            memory: Memory::new(ProcessMemory { pid }),
            unread: Memory::new(NoMemory),
            directions: Directions::default(),
            live: LiveCode::default(),
            threads: ThreadPointers::default(),
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
    }

    /// Windows of the latest samples, in the order of the samples; the program ran for `ran_ns` since the last call.
    pub fn windows(
        &mut self,
        samples: &[&PerfSample],
        ran_ns: u64,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Vec<Option<Window>> {
        let mut windows: Vec<Option<Window>> = samples.iter().map(|_| None).collect();
        self.budget.earn(ran_ns);
        if self.limit == 0 {
            return windows;
        }
        self.live.forget();
        let latest_ns = samples.last().map_or(0, |sample| sample.time_ns);
        for (sample, window) in samples.iter().zip(&mut windows).rev() {
            if !self.budget.allows() || sample.time_ns + FRESH_NS < latest_ns {
                break;
            }
            let registers = self.prepare(sample);
            let (began, found) = (Instant::now(), code.finding);
            *window = registers.and_then(|registers| self.window(sample, &registers, spaces, code));
            // Code is found once, whoever asks first: that is no part of what windows cost.
            let finding = code.finding - found;
            self.budget.spend(began.elapsed().saturating_sub(finding));
        }
        self.learn(samples, spaces, code);
        windows
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
        sample: &PerfSample,
        registers: &Registers,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Option<Window> {
        let pid = sample.pid;
        let live = &mut self.live;
        self.memory.begin(ProcessMemory { pid });
        self.directions.begin(pid);
        let function_at = |address| {
            let found = code.function(spaces, pid, address);
            found.or_else(|| live.from(&mut ProcessMemory { pid }, pid, address))
        };
        let window = look_ahead(
            registers,
            self.limit,
            &mut self.memory,
            &mut self.directions,
            function_at,
        );
        (window.instructions > 0 || window.end != WindowEnd::Unreadable).then_some(window)
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
                |address| code.function(spaces, pid, address),
            );
        }
        let finding = code.finding - found;
        self.budget.spend(began.elapsed().saturating_sub(finding));
    }
}
