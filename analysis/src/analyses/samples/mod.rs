//! Where a sampled program spends its time and makes its accesses.
//!
//! Samples fall in proportion to time; the windows after them show accesses. `docs/verbs/samples.md` defines both
//! shares and their limits.

pub(crate) mod interval;
pub(crate) mod tables;
mod tally;
pub(crate) mod window_weights;

use std::collections::HashMap;

use trackway_trace::{
    CodePlace, CodePlaces, MemoryLevel, Sample, Samples, SamplingInfo, Trace, TraceError, WindowEnd,
};

use crate::model::demangle;
use crate::Findings;
use tally::Tally;
use window_weights::WindowWeights;

/// Names of the tables, in their order.
pub const TABLES: [&str; 6] = [
    "sample_functions",
    "sample_lines",
    "sample_instructions",
    "sample_classes",
    "sample_levels",
    "sampling",
];

/// A line of source code; without debugging information, a function or an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Line {
    file: String,
    line: u32,
    function: String,
    object: String,
}

/// A function of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Function {
    name: String,
    object: String,
}

impl Function {
    fn of(line: &Line) -> Function {
        Function {
            name: line.function.clone(),
            object: line.object.clone(),
        }
    }
}

/// An instruction of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct InstructionPlace {
    object: String,
    offset: u64,
    line: Line,
}

/// What was sampled in a trace.
#[derive(Debug)]
pub struct SampledProgram {
    info: SamplingInfo,
    functions: Tally<Function>,
    lines: Tally<Line>,
    instructions: Tally<InstructionPlace>,
    sampled: Extent,
    weights: WindowWeights,
    damage: Vec<TraceError>,
}

/// How much was sampled.
#[derive(Debug, Default)]
struct Extent {
    samples: u64,
    lost: u64,
    weight: u64,
    processes: u64,
    threads: u64,
    /// Samples whose instruction is unknown: their time goes to the line at which they were seen.
    unattributed: u64,
    window_instructions: u64,
    /// Windows by [`WindowEnd`].
    ends: [u64; 5],
    /// Samples and cycles by where the data came from.
    levels: HashMap<MemoryLevel, (u64, u64)>,
}

impl SampledProgram {
    /// Sums up the samples of a trace.
    pub fn read(trace: &Trace) -> SampledProgram {
        let (places, mut damage) = trace.code_places();
        let (chunks, unread) = trace.samples();
        damage.extend(unread);
        let mut program = SampledProgram {
            info: trace.meta().sampling.clone().unwrap_or_default(),
            functions: Tally::default(),
            lines: Tally::default(),
            instructions: Tally::default(),
            sampled: Extent::of(&chunks),
            weights: WindowWeights::of(&chunks),
            damage,
        };
        let mut lookup = Lookup {
            places: &places,
            known: HashMap::new(),
        };
        for chunk in &chunks {
            for sample in &chunk.samples {
                program.add(chunk, sample, &mut lookup);
            }
        }
        program
    }

    /// What could not be read.
    pub fn damage(&self) -> &[TraceError] {
        &self.damage
    }

    /// Samples that were read.
    pub fn samples(&self) -> u64 {
        self.sampled.samples
    }

    /// All tables, of at most `top` rows each.
    pub fn findings(&self, top: usize) -> Findings {
        tables::findings(self, top)
    }

    /// What numbers of samples can't be trusted with, for people.
    pub fn notes(&self) -> Vec<String> {
        tables::notes(self)
    }

    fn add(&mut self, chunk: &Samples, sample: &Sample, lookup: &mut Lookup) {
        let place = lookup.place(sample, sample.time_goes_to());
        self.functions.add_sample(Function::of(&place.line), sample);
        self.lines.add_sample(place.line.clone(), sample);
        self.instructions.add_sample(place, sample);
        if sample.window_end == WindowEnd::None {
            return;
        }
        let accesses = chunk.window_of(sample);
        let places: Vec<InstructionPlace> = accesses
            .iter()
            .map(|access| lookup.place(sample, access.instruction))
            .collect();
        let lines: Vec<Line> = places.iter().map(|place| place.line.clone()).collect();
        let weight = self.weights.weight(sample);
        let functions: Vec<Function> = lines.iter().map(Function::of).collect();
        self.functions.add_window(&functions, accesses, weight);
        self.lines.add_window(&lines, accesses, weight);
        self.instructions.add_window(&places, accesses, weight);
    }
}

impl Extent {
    fn of(chunks: &[Samples]) -> Self {
        let mut extent = Extent {
            lost: chunks.iter().map(|chunk| chunk.lost).sum(),
            ..Extent::default()
        };
        let mut threads = std::collections::HashSet::new();
        let mut processes = std::collections::HashSet::new();
        for sample in chunks.iter().flat_map(|chunk| &chunk.samples) {
            extent.samples += 1;
            extent.weight += sample.weight;
            extent.unattributed += u64::from(sample.instruction == 0);
            extent.window_instructions += u64::from(sample.window_instructions);
            extent.ends[sample.window_end as usize] += 1;
            if sample.data_source.is_known() {
                let level = extent.levels.entry(sample.data_source.level()).or_default();
                level.0 += 1;
                level.1 += sample.latency_cycles;
            }
            threads.insert(sample.tid);
            processes.insert(sample.pid);
        }
        extent.threads = threads.len() as u64;
        extent.processes = processes.len() as u64;
        extent
    }
}

/// Places of addresses. A process's code rarely changes, so a place that was found for an address counts for the
/// mapping that holds it.
struct Lookup<'p> {
    places: &'p CodePlaces,
    known: HashMap<(&'p str, u64), InstructionPlace>,
}

impl Lookup<'_> {
    fn place(&mut self, sample: &Sample, address: u64) -> InstructionPlace {
        let place = self.places.of_sample(sample, address);
        let key = (place.object, place.offset);
        self.known
            .entry(key)
            .or_insert_with(|| InstructionPlace::of(&place))
            .clone()
    }
}

impl InstructionPlace {
    fn of(place: &CodePlace) -> Self {
        let function = demangle(place.function).unwrap_or_else(|| place.function.to_owned());
        InstructionPlace {
            object: place.object.to_owned(),
            offset: place.offset,
            line: Line {
                file: place.file.to_owned(),
                line: place.line,
                function,
                object: place.object.to_owned(),
            },
        }
    }
}
