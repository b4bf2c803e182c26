//! Takes samples from the kernel and makes them those of a trace.

use trackway_perf_records::{parse, AddressSpaces, PerfSample, Record};
use trackway_trace::{AddressClass, DataSource, Direction, MappingEvent, Sample, Samples, SamplingInfo};

use super::window_maker::WindowMaker;
use crate::attribution::{self, Attribution};
use crate::code::{Function, SeenBlock, SeenCode};
use crate::events::attributes::{tick_period_ns, EventPlan, Source};
use crate::events::{Events, Target};
use crate::registers::Registers;
use crate::window::Window;
use crate::SamplerError;

/// Samples a program.
pub struct Sampler {
    events: Events,
    plans: Vec<EventPlan>,
    info: SamplingInfo,
    /// Whether time goes to the instruction before the one at which a thread is seen.
    is_successor: bool,
    spaces: AddressSpaces,
    code: SeenCode,
    windows: WindowMaker,
    /// Records of one drain.
    records: Vec<Record>,
}

impl Sampler {
    /// `windows_share`: of the program's time, millionths.
    pub(crate) fn new(
        events: Events,
        plans: Vec<EventPlan>,
        info: SamplingInfo,
        windows_share: u64,
        target: Target,
    ) -> Self {
        let weighs_time = plans[0].source.is_of_threads();
        let windows = WindowMaker::new(info.window_instructions, windows_share, weighs_time, target);
        Sampler {
            events,
            plans,
            is_successor: info.skid.as_ref().is_none_or(|skid| skid.is_to_successor()),
            info,
            spaces: AddressSpaces::default(),
            code: SeenCode::default(),
            windows,
            records: Vec::new(),
        }
    }

    /// Takes what a process that runs already has mapped.
    pub(crate) fn read_running(&mut self, pid: u32, since_ns: u64) -> Result<(), SamplerError> {
        let read = self.code.cache.map_running(pid, since_ns, &mut self.spaces);
        read.map_err(|source| SamplerError::NoProcess { pid, source })
    }

    /// How samples are taken, for the start chunk.
    pub fn info(&self) -> &SamplingInfo {
        &self.info
    }

    /// Takes what the kernel has. `offset_ns` added to CLOCK_MONOTONIC gives the trace's time. Samples whose time isn't
    /// wanted are left out.
    pub fn drain(&mut self, offset_ns: i64, is_wanted: &dyn Fn(u64) -> bool) -> Samples {
        let mut records = std::mem::take(&mut self.records);
        let layout = self.events.layout;
        for ring in &mut self.events.rings {
            ring.drain(|bytes| records.extend(parse(bytes, &layout)));
        }
        for record in &mut records {
            shift(record, offset_ns);
        }
        records.retain(|record| sample_of(record).is_none_or(|sample| is_wanted(sample.time_ns)));
        self.see_by_tick(&mut records);
        // What was mapped is known before samples of it, whichever processor's buffer had them.
        records.sort_by_key(time_of);
        // The thread moves on: the sooner windows are made, the likelier it is still there. Only new code must be known before.
        let is_code_known = !records.iter().any(changes_code);
        let mut windows = is_code_known.then(|| self.make_windows(&records));
        let mut samples = Samples::default();
        for record in &records {
            self.take(record, &mut samples);
        }
        let windows = windows.take().unwrap_or_else(|| self.make_windows(&records));
        self.attach(&mut samples, windows);
        records.clear();
        self.records = records;
        samples
    }

    fn take(&mut self, record: &Record, samples: &mut Samples) {
        if changes_code(record) {
            self.code.forget_recent();
        }
        match record {
            Record::Sample(sample) => {
                let attributed = self.attribute(sample);
                self.code.name([sample.instruction, attributed.instruction]);
                samples.samples.push(self.sample(sample, attributed));
            }
            Record::Mapped(mapped) => self.code.cache.map(mapped.clone(), &mut self.spaces),
            Record::Forked { pid, parent, time_ns } => self.spaces.fork(*pid, *parent, *time_ns),
            Record::Executed { pid, name, time_ns } => {
                self.windows.forget(*pid);
                self.spaces.execute(*pid, name.clone(), *time_ns);
            }
            Record::Lost { count } => samples.lost += *count,
            Record::Other => {}
        }
    }

    /// What processes have mapped since the last call.
    pub fn take_mappings(&mut self) -> Vec<MappingEvent> {
        self.spaces.take_changes()
    }

    /// How many windows there are not since a thread couldn't be stopped.
    pub fn refused_stops(&self) -> u64 {
        self.windows.refused_stops()
    }

    /// The blocks of code in which samples and windows named an instruction.
    pub fn seen_code(&self) -> Vec<SeenBlock> {
        self.code.blocks()
    }

    fn source_of(&self, sample: &PerfSample) -> (u32, Source) {
        let number = self.events.plan_of(sample.id);
        (number, self.plans[number as usize].source)
    }

    fn attribute(&mut self, sample: &PerfSample) -> Attribution {
        let function = self.code.function(&self.spaces, sample.pid, sample.instruction);
        match (self.source_of(sample).1, &sample.registers, function) {
            (source, Some(registers), Some(function)) if source.is_of_threads() => {
                let thread_pointer = self.windows.thread_pointer(sample.tid);
                let registers = Registers::from_sample(registers, thread_pointer);
                attribution::attribute(&function, &registers, self.is_successor)
            }
            (source, ..) if source.is_of_threads() => Attribution::default(),
            (_, _, function) => by_processor(function.as_deref(), sample),
        }
    }

    fn sample(&self, sample: &PerfSample, attributed: Attribution) -> Sample {
        Sample {
            time_ns: sample.time_ns,
            pid: sample.pid,
            tid: sample.tid,
            processor: sample.processor,
            event: self.source_of(sample).0,
            seen_at: sample.instruction,
            instruction: attributed.instruction,
            direction: attributed.direction,
            address: attributed.address,
            class: attributed.class,
            size_bytes: attributed.size_bytes,
            latency_cycles: sample.latency_cycles,
            data_source: DataSource(sample.data_source),
            physical_address: sample.physical_address,
            weight: sample.period,
            ..Sample::default()
        }
    }

    /// Makes the windows of the samples among the records, in their order.
    fn make_windows(&mut self, records: &[Record]) -> Vec<Option<Window>> {
        let taken: Vec<&PerfSample> = records.iter().filter_map(sample_of).collect();
        let ran_ns: u64 = match self.plans[0].source.is_of_threads() {
            true => taken.iter().map(|sample| sample.period).sum(),
            // The processor's events don't say how long they are apart.
            false => taken.len() as u64 * 1_000_000_000 / self.info.rate_hz.max(1),
        };
        self.windows.windows(&taken, ran_ns, &self.spaces, &mut self.code)
    }

    fn attach(&mut self, samples: &mut Samples, windows: Vec<Option<Window>>) {
        for (sample, window) in samples.samples.iter_mut().zip(windows) {
            let first = samples.window.len();
            if let Some(window) = window {
                complete(sample, &window);
                let instructions = window.accesses.iter().map(|access| access.instruction);
                self.code.name(instructions);
                samples.window.extend(window.accesses);
                sample.window_instructions = window.instructions;
                sample.window_end = window.end;
                sample.window_speed = window.speed;
                sample.window_weight = window.stands_for_ns;
            }
            sample.window = first..samples.window.len();
        }
    }

    /// Puts samples of the tick where they were taken; those of the kernel's own threads go.
    fn see_by_tick(&self, records: &mut Vec<Record>) {
        if self.plans[0].source == Source::Tick {
            records.retain_mut(|record| match record {
                Record::Sample(sample) => seen_by_tick(sample),
                _ => true,
            });
        }
    }
}

fn sample_of(record: &Record) -> Option<&PerfSample> {
    match record {
        Record::Sample(sample) => Some(sample),
        _ => None,
    }
}

/// Data that is mapped changes no code.
fn changes_code(record: &Record) -> bool {
    match record {
        Record::Mapped(mapped) => mapped.protection.executable,
        Record::Forked { .. } | Record::Executed { .. } => true,
        _ => false,
    }
}

/// The processor names the instruction and, of an access, the address; code that can't be decoded adds nothing.
fn by_processor(function: Option<&Function>, sample: &PerfSample) -> Attribution {
    let step = function.and_then(|function| Some(&function.steps()[function.index_at(sample.instruction)?]));
    let described = step.map(attribution::described).unwrap_or_default();
    let is_access = sample.address != 0;
    let source = DataSource(sample.data_source);
    let direction = match (source.loads(), source.stores()) {
        (Some(true), Some(true)) => Direction::Both,
        (Some(true), _) => Direction::Load,
        (_, Some(true)) => Direction::Store,
        _ => described.direction,
    };
    Attribution {
        instruction: sample.instruction,
        direction,
        address: is_access.then_some(sample.address),
        class: if is_access {
            AddressClass::Exact
        } else {
            AddressClass::None
        },
        size_bytes: described.size_bytes,
    }
}

/// The tracepoint is in the kernel; the thread is where its registers say, for the time of a tick. False if it has none.
fn seen_by_tick(sample: &mut PerfSample) -> bool {
    let Some(registers) = &sample.registers else {
        return false;
    };
    sample.instruction = registers.instruction;
    sample.period = tick_period_ns();
    true
}

/// Finds the address of the sample's access in its window, if it isn't known.
fn complete(sample: &mut Sample, window: &Window) {
    let mut attributed = Attribution {
        instruction: sample.instruction,
        direction: sample.direction,
        address: sample.address,
        class: sample.class,
        size_bytes: sample.size_bytes,
    };
    attribution::complete(&mut attributed, &window.accesses);
    sample.address = attributed.address;
    sample.class = attributed.class;
}

fn time_of(record: &Record) -> u64 {
    match record {
        Record::Sample(sample) => sample.time_ns,
        Record::Mapped(mapped) => mapped.time_ns,
        Record::Forked { time_ns, .. } | Record::Executed { time_ns, .. } => *time_ns,
        Record::Lost { .. } | Record::Other => 0,
    }
}

fn shift(record: &mut Record, offset_ns: i64) {
    let time = match record {
        Record::Sample(sample) => &mut sample.time_ns,
        Record::Mapped(mapped) => &mut mapped.time_ns,
        Record::Forked { time_ns, .. } | Record::Executed { time_ns, .. } => time_ns,
        Record::Lost { .. } | Record::Other => return,
    };
    *time = time.saturating_add_signed(offset_ns);
}

#[cfg(test)]
mod tests {
    use trackway_perf_records::SampledRegisters;

    use super::*;

    #[test]
    fn a_tick_sees_the_thread_where_its_registers_are() {
        let mut sample = PerfSample {
            instruction: 0xffff_8000_0000_0000,
            period: 1,
            ..PerfSample::default()
        };
        assert!(!seen_by_tick(&mut sample), "a thread of the kernel");
        sample.registers = Some(SampledRegisters {
            instruction: 0x1000,
            ..SampledRegisters::default()
        });
        assert!(seen_by_tick(&mut sample));
        assert_eq!((sample.instruction, sample.period), (0x1000, tick_period_ns()));
    }

    #[test]
    fn the_processors_word_counts() {
        let mut factory = iced_x86::InstructionInfoFactory::new();
        let function = Function::decode(&[0x48, 0x8b, 0x00], 0x1000, &mut factory); // mov rax, [rax]
        let sample = PerfSample {
            instruction: 0x1000,
            address: 0x5000,
            data_source: 2,
            ..PerfSample::default()
        };
        let attributed = by_processor(Some(&function), &sample);
        assert_eq!(
            (attributed.address, attributed.class),
            (Some(0x5000), AddressClass::Exact)
        );
        assert_eq!(
            (attributed.direction, attributed.size_bytes),
            (Direction::Load, 8)
        );
        let nothing = PerfSample {
            address: 0,
            ..sample.clone()
        };
        assert_eq!(by_processor(Some(&function), &nothing).class, AddressClass::None);
        // Code that can't be decoded adds nothing: it may be another processor's.
        let unread = by_processor(None, &sample);
        assert_eq!(
            (unread.instruction, unread.address, unread.direction),
            (0x1000, Some(0x5000), Direction::Load)
        );
    }
}
