//! Takes samples from the kernel and makes them those of a trace.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

use trackway_trace::{
    AddressClass, DataSource, Direction, MappingEvent, Sample, Samples, SamplingInfo, WindowEnd,
};

use crate::address_spaces::AddressSpaces;
use crate::attributes::{EventPlan, Source};
use crate::attribution::{self, Attribution};
use crate::budget::Budget;
use crate::code::{CodeCache, Function};
use crate::events::Events;
use crate::record::{self, PerfSample, Record};
use crate::window::{look_ahead, Memory, ProcessMemory, Window};
use crate::SamplerError;

/// Samples that are older than the latest one by more have no window: memory changes.
const FRESH_NS: u64 = 200_000;

/// Samples a program.
pub struct Sampler {
    events: Events,
    plans: Vec<EventPlan>,
    info: SamplingInfo,
    /// Whether time goes to the instruction before the one at which a thread is seen.
    is_successor: bool,
    spaces: AddressSpaces,
    cache: CodeCache,
    memory: Memory<ProcessMemory>,
    budget: Budget,
    seen: SeenCode,
    /// Addresses of instructions that samples and windows named, in any process.
    named: HashSet<u64>,
    /// Of one drain.
    records: Vec<Record>,
    /// Time and period of the latest sample.
    last_sample: Option<(u64, u64)>,
}

/// The functions that samples and windows named, by object and begin.
type SeenCode = HashMap<(String, u64, u64), Rc<Function>>;

/// A basic block of an object: its instructions' offsets from the load address.
pub struct SeenBlock {
    pub path: String,
    pub offsets: Vec<u64>,
}

impl Sampler {
    /// `windows_share`: of the program's time, millionths.
    pub(crate) fn new(
        events: Events,
        plans: Vec<EventPlan>,
        info: SamplingInfo,
        windows_share: u64,
        pid: u32,
    ) -> Self {
        Sampler {
            events,
            plans,
            is_successor: info.skid.as_ref().is_none_or(|skid| skid.is_to_successor()),
            info,
            spaces: AddressSpaces::default(),
            cache: CodeCache::default(),
            memory: Memory::new(ProcessMemory { pid }),
            budget: Budget::new(windows_share),
            seen: SeenCode::new(),
            named: HashSet::new(),
            records: Vec::new(),
            last_sample: None,
        }
    }

    /// Takes what a process that runs already has mapped.
    pub(crate) fn read_running(&mut self, pid: u32, now_ns: u64) -> Result<(), SamplerError> {
        let read = self.spaces.read_running(pid, now_ns, &mut self.cache);
        read.map_err(|source| SamplerError::NoProcess { pid, source })
    }

    /// How samples are taken, for the start chunk.
    pub fn info(&self) -> &SamplingInfo {
        &self.info
    }

    /// Takes what the kernel has. `offset_ns` added to CLOCK_MONOTONIC gives the trace's time.
    pub fn drain(&mut self, offset_ns: i64) -> Samples {
        let mut records = std::mem::take(&mut self.records);
        let layout = self.events.layout;
        for ring in &mut self.events.rings {
            ring.drain(|bytes| records.extend(record::parse(bytes, &layout)));
        }
        for record in &mut records {
            shift(record, offset_ns);
        }
        // What was mapped is known before samples of it, whichever processor's buffer had them.
        records.sort_by_key(time_of);
        let mut samples = Samples::default();
        let mut taken: Vec<Box<PerfSample>> = Vec::new();
        for record in records.drain(..) {
            match record {
                Record::Sample(sample) => {
                    let attributed = self.attribute(&sample);
                    self.named.extend([sample.instruction, attributed.instruction]);
                    samples.samples.push(self.sample(&sample, attributed));
                    taken.push(sample);
                }
                Record::Mapped(mapped) => self.spaces.map(mapped, &mut self.cache),
                Record::Forked { pid, parent, time_ns } => self.spaces.fork(pid, parent, time_ns),
                Record::Executed { pid, name, time_ns } => self.spaces.execute(pid, name, time_ns),
                Record::Lost { count } => samples.lost += count,
                Record::Other => {}
            }
        }
        self.records = records;
        if let Some(latest) = taken.last() {
            self.last_sample = Some((latest.time_ns, latest.period));
        }
        self.look_ahead(&taken, &mut samples);
        samples
    }

    /// When the next sample comes after that time, in the trace's time, if the thread that was sampled last runs on.
    /// None if that can't be told.
    pub fn next_sample_ns(&self, after_ns: u64) -> Option<u64> {
        let is_clock = self.plans[0].source == Source::Clock;
        let (last_ns, period_ns) = self.last_sample.filter(|_| is_clock)?;
        let periods = after_ns.saturating_sub(last_ns).div_ceil(period_ns.max(1));
        last_ns.checked_add(periods.checked_mul(period_ns)?)
    }

    /// What processes have mapped since the last call.
    pub fn take_mappings(&mut self) -> Vec<MappingEvent> {
        self.spaces.take_changes()
    }

    /// The blocks of code in which samples and windows named an instruction.
    pub fn seen_code(&self) -> Vec<SeenBlock> {
        let mut blocks = Vec::new();
        for ((path, load_address, _), function) in &self.seen {
            for block in function.blocks() {
                let steps = &function.steps()[block];
                if !steps.iter().any(|step| self.named.contains(&step.address())) {
                    continue;
                }
                blocks.push(SeenBlock {
                    path: path.clone(),
                    offsets: steps
                        .iter()
                        .map(|step| step.address().wrapping_sub(*load_address))
                        .collect(),
                });
            }
        }
        blocks
    }

    fn source_of(&self, sample: &PerfSample) -> (u32, Source) {
        let number = self.events.plan_of(sample.id);
        (number, self.plans[number as usize].source)
    }

    fn attribute(&mut self, sample: &PerfSample) -> Attribution {
        let Some(function) = self.function(sample.pid, sample.instruction) else {
            return Attribution::default();
        };
        match (self.source_of(sample).1, &sample.registers) {
            (Source::Clock, Some(registers)) => {
                attribution::attribute(&function, registers, self.is_successor)
            }
            (Source::Clock, None) => Attribution::default(),
            _ => by_processor(&function, sample),
        }
    }

    /// The function at that address of the process; it is then code that was seen.
    fn function(&mut self, pid: u32, address: u64) -> Option<Rc<Function>> {
        let function = self.spaces.function(pid, address, &mut self.cache)?;
        let mapping = self.spaces.mapping(pid, address)?;
        let begin = function.steps().first()?.address();
        self.seen
            .entry((mapping.path.clone(), mapping.load_address, begin))
            .or_insert_with(|| Rc::clone(&function));
        Some(function)
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

    /// Gives windows to the latest samples, whose memory is most likely what it was.
    fn look_ahead(&mut self, taken: &[Box<PerfSample>], samples: &mut Samples) {
        let weights = samples.samples.iter().map(|sample| sample.weight);
        let ran_ns: u64 = match self.plans[0].source {
            Source::Clock => weights.sum(),
            // The processor's events don't say how long they are apart.
            _ => samples.samples.len() as u64 * 1_000_000_000 / self.info.rate_hz.max(1),
        };
        self.budget.earn(ran_ns);
        if self.info.window_instructions == 0 {
            return;
        }
        let mut windows: Vec<Option<Window>> = taken.iter().map(|_| None).collect();
        let latest_ns = taken.last().map_or(0, |sample| sample.time_ns);
        for (sample, window) in taken.iter().zip(&mut windows).rev() {
            if !self.budget.allows() || sample.time_ns + FRESH_NS < latest_ns {
                break;
            }
            let began = Instant::now();
            *window = self.window(sample);
            self.budget.spend(began.elapsed());
        }
        for (sample, window) in samples.samples.iter_mut().zip(windows) {
            let first = samples.window.len();
            if let Some(window) = window {
                complete(sample, &window);
                self.named
                    .extend(window.accesses.iter().map(|access| access.instruction));
                samples.window.extend(window.accesses);
                sample.window_instructions = window.instructions;
                sample.window_end = window.end;
            }
            sample.window = first..samples.window.len();
        }
    }

    fn window(&mut self, sample: &PerfSample) -> Option<Window> {
        let registers = sample.registers.as_ref()?;
        let pid = sample.pid;
        self.memory.begin(ProcessMemory { pid });
        let (spaces, cache, seen) = (&self.spaces, &mut self.cache, &mut self.seen);
        let window = look_ahead(
            registers,
            self.info.window_instructions,
            &mut self.memory,
            |address| {
                let mapping = spaces.mapping(pid, address)?;
                let function = cache.function(mapping, address)?;
                let begin = function.steps().first()?.address();
                let key = (mapping.path.clone(), mapping.load_address, begin);
                seen.entry(key).or_insert_with(|| Rc::clone(&function));
                Some(function)
            },
        );
        (window.instructions > 0 || window.end != WindowEnd::Unreadable).then_some(window)
    }
}

/// The processor names the instruction and, of an access, the address.
fn by_processor(function: &Function, sample: &PerfSample) -> Attribution {
    let step = function
        .index_at(sample.instruction)
        .map(|index| &function.steps()[index]);
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
    use super::*;

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
        let attributed = by_processor(&function, &sample);
        assert_eq!(
            (attributed.address, attributed.class),
            (Some(0x5000), AddressClass::Exact)
        );
        assert_eq!(
            (attributed.direction, attributed.size_bytes),
            (Direction::Load, 8)
        );
        let nothing = by_processor(&function, &PerfSample { address: 0, ..sample });
        assert_eq!(nothing.class, AddressClass::None);
    }
}
