//! Tables of samples.

use trackway_report::{counted, percent, Table, TableBuilder};
use trackway_trace::{AddressClass, MemoryLevel, SamplingInfo, WindowEnd};

use super::interval::SampledShare;
use super::tally::{PlaceSums, Tally};
use super::window_weights::WindowWeights;
use super::{Function, InstructionPlace, Line, SampledProgram};
use crate::model::{named, UNKNOWN};
use crate::Findings;

/// A row: what it is of, its sums, and its shares.
struct Row<'p, K> {
    place: &'p K,
    sums: &'p PlaceSums,
    time: Option<SampledShare>,
    accesses: Option<SampledShare>,
}

pub fn findings(program: &SampledProgram, top: usize) -> Findings {
    let lines = rows(&program.lines);
    let instructions = rows(&program.instructions);
    let mut tables = vec![
        function_table(&rows(&program.functions), top),
        line_table(&lines, top),
        instruction_table(&instructions, top),
        class_table(program),
    ];
    tables.extend(level_table(program));
    tables.push(extent_table(program));
    Findings {
        answer: Some(answer(program, &lines)),
        tables,
    }
}

fn rows<K: std::hash::Hash + Eq + Clone + Ord>(tally: &Tally<K>) -> Vec<Row<'_, K>> {
    let row = |(place, sums)| Row {
        place,
        sums,
        time: tally.time_share(sums),
        accesses: tally.access_share(sums),
    };
    tally.ranked().into_iter().map(row).collect()
}

/// With fewer samples, the interval of a share is wider than half of the whole.
const LEAST_SAMPLES: u64 = 10;

/// The answer in place of shares that mean nothing, where there are hardly any samples.
pub(crate) fn too_few(samples: u64) -> Option<String> {
    (1..LEAST_SAMPLES).contains(&samples).then(|| {
        format!(
            "{} can't say where the time goes: sample for longer, or more often (`record --sample 5000hz`)",
            counted(samples, "sample")
        )
    })
}

/// The first rows; those that no sample fell into only if all rows are asked for.
fn top_rows<'r, 'p, K>(rows: &'r [Row<'p, K>], top: usize) -> &'r [Row<'p, K>] {
    let last = rows.iter().rposition(|row| row.sums.samples > 0);
    match top {
        usize::MAX => rows,
        _ => &rows[..last.map_or(0, |last| last + 1).min(top)],
    }
}

fn answer(program: &SampledProgram, lines: &[Row<Line>]) -> String {
    if let Some(too_few) = too_few(program.sampled.samples) {
        return too_few;
    }
    let Some((first, time)) = lines.first().and_then(|row| Some((row, row.time?))) else {
        return "nothing was sampled".into();
    };
    format!(
        "{}{} takes {} of the time ({} to {}), by {}",
        first.place.name(),
        match first.place.function.as_str() {
            "" => String::new(),
            function => format!(" in {function}"),
        },
        percent(time.share),
        percent(time.low),
        percent(time.high),
        counted(program.sampled.samples, "sample")
    )
}

impl Line {
    /// `file.c:12`, or else the object.
    fn name(&self) -> String {
        match (self.file.as_str(), self.object.as_str()) {
            ("", "") => UNKNOWN.into(),
            ("", object) => object.into(),
            (file, _) => format!("{file}:{}", self.line),
        }
    }
}

fn function_table(rows: &[Row<Function>], top: usize) -> Table {
    let shown = top_rows(rows, top);
    let builder = TableBuilder::new("sample_functions", "Functions by time", shown)
        .text("function", |row| named(&row.place.name).to_owned())
        .path("object", |row| named(&row.place.object).to_owned());
    shares(builder)
        .total_rows(rows.len())
        .ranked_by("samples")
        .build()
}

fn line_table(rows: &[Row<Line>], top: usize) -> Table {
    let shown = top_rows(rows, top);
    let builder = TableBuilder::new("sample_lines", "Lines by time", shown)
        .path("file", |row| match row.place.file.as_str() {
            "" => named(&row.place.object).to_owned(),
            file => file.to_owned(),
        })
        .number("line", |row| row.place.line)
        .text("function", |row| named(&row.place.function).to_owned());
    shares(builder)
        .total_rows(rows.len())
        .ranked_by("samples")
        .build()
}

fn instruction_table(rows: &[Row<InstructionPlace>], top: usize) -> Table {
    let shown = top_rows(rows, top);
    let builder = TableBuilder::new("sample_instructions", "Instructions by time", shown)
        .path("object", |row| named(&row.place.object).to_owned())
        .text("offset", |row| format!("{:#x}", row.place.offset))
        .text("function", |row| named(&row.place.line.function).to_owned())
        .path("file", |row| row.place.line.file.clone())
        .number("line", |row| row.place.line.line);
    shares(builder)
        .total_rows(rows.len())
        .ranked_by("samples")
        .build()
}

/// The columns that all places have.
fn shares<'r, K>(builder: TableBuilder<'r, Row<'r, K>>) -> TableBuilder<'r, Row<'r, K>> {
    builder
        .count("samples", |row| row.sums.samples)
        .share(("time_share", "of the time"), |row| Some(row.time?.share))
        .share(("time_low", "at least"), |row| Some(row.time?.low))
        .share(("time_high", "at most"), |row| Some(row.time?.high))
        .count(("window_accesses", "accesses seen"), |row| row.sums.accesses)
        .share(("access_share", "of the accesses"), |row| {
            Some(row.accesses?.share)
        })
        .share(("access_low", "at least"), |row| Some(row.accesses?.low))
        .share(("access_high", "at most"), |row| Some(row.accesses?.high))
        .share("stores", |row| (row.sums.stored, row.sums.accesses))
        .share("of_the_moment", |row| row.sums.of_the_moment())
        .share(("addressed", "with address"), |row| row.sums.addressed())
        .text(("class", "address known"), |row| row.sums.usual_class().name())
        .rate(("latency_cycles", "cycles"), |row| {
            (row.sums.latency_cycles as f64, row.sums.with_latency)
        })
        .text(("level", "mostly from"), |row| usual_level(row.sums))
}

fn usual_level(sums: &PlaceSums) -> &'static str {
    let most = sums
        .levels
        .iter()
        .max_by_key(|(level, count)| (**count, std::cmp::Reverse(**level)));
    most.map_or("", |(level, _)| level.name())
}

/// How addresses of samples are known.
fn class_table(program: &SampledProgram) -> Table {
    let mut classes = [0; 5];
    for sums in program.lines.places.values() {
        for (all, one) in classes.iter_mut().zip(sums.classes) {
            *all += one;
        }
    }
    let known = AddressClass::KNOWN.into_iter().chain([AddressClass::None]);
    let rows: Vec<(AddressClass, u64)> = known.map(|class| (class, classes[class as usize])).collect();
    TableBuilder::new("sample_classes", "How data addresses are known", &rows)
        .text("class", |(class, _)| class.name())
        .count("samples", |(_, count)| *count)
        .share("share", |(_, count)| (*count, program.sampled.samples))
        .build()
}

/// Where data came from; none where no processor said.
fn level_table(program: &SampledProgram) -> Option<Table> {
    let mut rows: Vec<(MemoryLevel, u64, u64)> = program
        .sampled
        .levels
        .iter()
        .map(|(level, (count, cycles))| (*level, *count, *cycles))
        .collect();
    rows.sort_unstable();
    let total: u64 = rows.iter().map(|(_, count, _)| count).sum();
    (!rows.is_empty()).then(|| {
        TableBuilder::new("sample_levels", "Where the data came from", &rows)
            .text("level", |(level, ..)| level.name())
            .count("samples", |(_, count, _)| *count)
            .share("share", |(_, count, _)| (*count, total))
            .rate(("latency_cycles", "cycles"), |(_, count, cycles)| {
                (*cycles as f64, *count)
            })
            .build()
    })
}

fn extent_table(program: &SampledProgram) -> Table {
    let (info, extent) = (&program.info, &program.sampled);
    let names = |text: fn(&trackway_trace::SampledEvent) -> &str| {
        let texts: Vec<&str> = info.events.iter().map(text).collect();
        texts.join(", ")
    };
    let skid = info.skid.clone().unwrap_or_default();
    let mut builder = TableBuilder::new("sampling", "Sampling", &[()])
        .text("source", |()| names(|event| &event.source))
        .text("events", |()| names(|event| &event.name))
        .text(("weight_unit", "unit of weights"), |()| {
            names(|event| &event.weight_unit)
        })
        .count(("rate_hz", "samples a second asked for"), |()| info.rate_hz)
        .count("samples", |()| extent.samples)
        .count(("lost", "lost samples"), |()| extent.lost)
        .count(("weight", "weight of all samples"), |()| extent.weight)
        .count("processes", |()| extent.processes)
        .count("threads", |()| extent.threads)
        .count(("unattributed", "samples of an unknown instruction"), |()| {
            extent.unattributed
        })
        .count(("skid_samples", "samples of the calibration"), |()| skid.samples)
        .share(("skid_behind_load", "of them behind the load"), |()| {
            (skid.behind_load, skid.samples)
        })
        .count("windows", |()| program.weights.windows)
        .share(("paced", "of known speed"), |()| {
            (program.weights.paced, program.weights.windows)
        })
        .share(("stood_for", "of the weight stood for by windows"), |()| {
            (program.weights.stands_for, extent.weight)
        })
        .count(("window_instructions", "instructions of windows"), |()| {
            extent.window_instructions
        });
    for end in [
        WindowEnd::Full,
        WindowEnd::SystemCall,
        WindowEnd::Unknown,
        WindowEnd::Unreadable,
    ] {
        let name = format!("ended_{}", end.name().replace(' ', "_"));
        let title = format!("windows that ended: {}", end.name());
        builder = builder.count((name, title), |()| extent.ends[end as usize]);
    }
    builder.as_record().build()
}

/// What is missing, and what each source is biased towards.
pub fn notes(program: &SampledProgram) -> Vec<String> {
    let mut notes = Vec::new();
    if program.sampled.lost > 0 {
        notes.push(format!(
            "{} were lost: what ran while the machine was busy counts too little",
            counted(program.sampled.lost, "sample")
        ));
    }
    notes.extend(bias(&program.info, &program.weights));
    notes
}

/// What each source is biased towards.
pub(crate) fn bias(info: &SamplingInfo, windows: &WindowWeights) -> Vec<String> {
    let mut notes = Vec::new();
    let has = |source: &str| info.events.iter().any(|event| event.source == source);
    if has("clock") {
        notes.push(
            "samples of the clock fall in proportion to time in user code; time in the kernel isn't sampled, and of \
             instructions that are done together one has the time of all"
                .into(),
        );
    }
    if windows.windows > windows.paced && ["clock", "tick"].into_iter().any(has) {
        let unknown = (windows.windows - windows.paced) as f64 / windows.windows as f64;
        notes.push(format!(
            "shares of accesses come from the instructions that follow samples; of {} of these windows it isn't known \
             how fast the program ran there: where they differ in accesses a second, those with more count too little",
            percent(unknown)
        ));
    }
    if has("tick") {
        notes.push(
            "the kernel's tick samples, a few hundred times a second: what runs in step with it is over- or \
             underrated, time in the kernel counts for the instruction from which it was entered, and interrupts of \
             other timers count as ticks"
                .into(),
        );
    }
    if has("pebs") {
        notes.push(
            "loads and stores are sampled, other instructions are not: time is that of accesses".into(),
        );
    }
    if has("ibs") {
        notes.push("operations are sampled as they are executed, not as they take time".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_samples_say_nothing_of_shares() {
        let answers = [0, 1, LEAST_SAMPLES - 1, LEAST_SAMPLES].map(too_few);
        assert_eq!(
            answers.each_ref().map(Option::is_some),
            [false, true, true, false]
        );
        let answer = answers[1].as_deref().unwrap();
        assert!(
            answer.starts_with("1 sample can't say where the time goes"),
            "{answer}"
        );
    }
}
