//! Chooses bursts at random from a trace of a whole run, again and again, and says how near the shares of `trackway report`
//! come to those of the whole trace, and how often their intervals hold them.
//!
//!     cargo run --release -p trackway-analysis --example burst_coverage -- TRACE CHUNKS EVERY CHOICES [WHAT [CACHES]]
//!
//! A burst is CHUNKS chunks of records that follow each other, at a random place in each EVERY of them. So the share of
//! records is that of the trace, and the whole trace's shares are what the bursts estimate. WHAT is `all`
//! or `last`: accesses and misses of the first and the last cache, or only of the last. The last line is JSON. Each processor
//! takes a choice at a time; what is chosen doesn't depend on that.

use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::Misses;
use trackway_analysis::run;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_report::Value;
use trackway_trace::{
    encode_marks, ChunkFields, ChunkHeader, ChunkKind, ChunkRef, Codec, EndInfo, MarkInfo, MarkKind, Trace,
    TraceWriter,
};

/// Fields with less of the misses are left out: their share is within a point of nothing anyway.
const LEAST_SHARE: f64 = 0.01;

/// A field's share, and the interval that bursts give it.
struct Share {
    field: String,
    share: f64,
    interval: Option<(f64, f64)>,
}

struct Outcome {
    /// Fields and choices whose interval has the whole trace's share, and all of them.
    covered: (u64, u64),
    /// The greatest difference of a field's share in each choice, in points.
    points: Vec<f64>,
    /// The sum of the intervals' widths, in points.
    widths: f64,
    /// The mean difference of the field with the greatest share, in points: the bias.
    bias: f64,
    bursts: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, chunks, every, choices, others @ ..] = &arguments[..] else {
        return Err("usage: burst_coverage TRACE CHUNKS EVERY CHOICES [all|last [CACHES]]".into());
    };
    let caches: Caches = match others {
        [_, caches] => caches.parse()?,
        _ => Caches::default(),
    };
    let last = Measure::default_for(&caches);
    let measures = match others.first().map(String::as_str) {
        None | Some("all") => vec![Measure::Accesses, Measure::Misses(0), last],
        Some("last") => vec![last],
        Some(other) => return Err(format!("{other}: expected all or last").into()),
    };
    let trace = Trace::open(Path::new(path))?;
    let scratch = tempfile::tempdir()?;
    let (chunks, every): (usize, usize) = (chunks.parse()?, every.parse()?);
    let chooser = Chooser::new(&trace, chunks, every)?;
    let choices: usize = choices.parse()?;
    let mut outcomes = Vec::new();
    for measure in measures {
        let whole = shares(&trace, &caches, measure)?;
        let mut outcome = Outcome {
            covered: (0, 0),
            points: Vec::new(),
            widths: 0.0,
            bias: 0.0,
            bursts: chooser.periods(),
        };
        for found in chosen(&chooser, choices, scratch.path(), &caches, measure)? {
            outcome.compare(&whole, &found);
        }
        outcome.bias /= choices as f64;
        outcomes.push(outcome.json(measure));
    }
    println!("[{}]", outcomes.join(", "));
    Ok(())
}

/// The shares of each choice.
fn chosen(
    chooser: &Chooser,
    choices: usize,
    scratch: &Path,
    caches: &Caches,
    measure: Measure,
) -> Result<Vec<Shares>, Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = |thread: usize| {
        let path = scratch.join(thread.to_string());
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= choices {
                break;
            }
            let bursts = chooser.choose(number, &path);
            let shares = bursts.and_then(|bursts| shares(&bursts, caches, measure));
            let shares = shares.map_err(|error| error.to_string());
            found.lock().expect("no thread panics").push((number, shares));
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..std::thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
    let mut found = found.into_inner().expect("no thread panics");
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, shares)| Ok(shares?)).collect()
}

/// The fields' shares, and how large that of a field without a row may be.
struct Shares {
    fields: Vec<Share>,
    unseen: Option<f64>,
}

fn shares(trace: &Trace, caches: &Caches, measure: Measure) -> Result<Shares, Box<dyn Error>> {
    let misses =
        Misses::new(caches.clone(), vec![Grouping::Field], measure, usize::MAX).with_bursts_of(trace);
    let (findings, _) = run(&misses, trace, NonZeroUsize::MIN, &|_, _| ());
    let table = findings.tables.iter().find(|table| table.name() == "fields");
    let table = table.ok_or("the trace has no accesses")?;
    let number = |name: &str, row: usize| match table.column(name)?.value(row) {
        Value::Real(number) => Some(number),
        _ => None,
    };
    let shares = (0..table.row_count()).map(|row| Share {
        field: table.text("field", row).unwrap_or_default().to_owned(),
        share: number("share", row).unwrap_or(0.0),
        interval: number("share_low", row).zip(number("share_high", row)),
    });
    let bursts = findings.tables.iter().find(|table| table.name() == "bursts");
    let unseen = bursts.and_then(|table| match table.column("unseen_high")?.value(0) {
        Value::Real(share) => Some(share),
        _ => None,
    });
    Ok(Shares {
        fields: shares.collect(),
        unseen,
    })
}

impl Outcome {
    fn compare(&mut self, whole: &Shares, bursts: &Shares) {
        let mut worst: f64 = 0.0;
        for (rank, truth) in whole
            .fields
            .iter()
            .enumerate()
            .filter(|(_, truth)| truth.share >= LEAST_SHARE)
        {
            let found = bursts.fields.iter().find(|found| found.field == truth.field);
            let share = found.map_or(0.0, |found| found.share);
            worst = worst.max(100.0 * (share - truth.share).abs());
            if rank == 0 {
                self.bias += 100.0 * (share - truth.share);
            }
            let interval = match found {
                Some(found) => found.interval,
                None => bursts.unseen.map(|most| (0.0, most)),
            };
            let holds = interval.is_some_and(|(low, high)| (low..=high).contains(&truth.share));
            self.widths += 100.0 * interval.map_or(0.0, |(low, high)| high - low);
            self.covered.0 += u64::from(holds);
            self.covered.1 += 1;
        }
        self.points.push(worst);
    }

    fn json(mut self, measure: Measure) -> String {
        self.points.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| self.points[((self.points.len() - 1) as f64 * part) as usize];
        format!(
            r#"{{"measure": "{}", "bursts": {}, "covered": {:.4}, "width": {:.2}, "points_median": {:.3}, "points_95": {:.3}, "bias": {:.3}}}"#,
            measure.column(),
            self.bursts,
            self.covered.0 as f64 / self.covered.1.max(1) as f64,
            self.widths / self.covered.1.max(1) as f64,
            at(0.5),
            at(0.95),
            self.bias
        )
    }
}

/// Writes traces of bursts.
struct Chooser<'t> {
    trace: &'t Trace,
    /// Those of records, by the time when they were begun.
    records: Vec<ChunkRef>,
    chunks: usize,
    every: usize,
}

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

impl<'t> Chooser<'t> {
    fn new(trace: &'t Trace, chunks: usize, every: usize) -> Result<Self, Box<dyn Error>> {
        let mut records: Vec<ChunkRef> = trace.chunks_of(ChunkKind::Records).copied().collect();
        records.sort_by_key(|chunk| chunk.header.first_ns);
        if chunks == 0 || every < chunks || records.len() < 10 * every {
            return Err(format!("{} chunks of records are too few for ten bursts", records.len()).into());
        }
        Ok(Chooser {
            trace,
            records,
            chunks,
            every,
        })
    }

    fn periods(&self) -> usize {
        self.records.len() / self.every
    }

    fn choose(&self, number: usize, path: &Path) -> Result<Trace, Box<dyn Error>> {
        let seed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = Random(88_172_645_463_325_252 ^ seed);
        let bursts: Vec<Range<usize>> = (0..self.periods())
            .map(|period| {
                let first = period * self.every + random.below(self.every - self.chunks + 1);
                first..first + self.chunks
            })
            .collect();
        let mut writer = TraceWriter::create(path, true, Codec::None)?;
        let mut payload = Vec::new();
        let mut copy = |chunk: &ChunkRef, sequence: u64| -> Result<(), Box<dyn Error>> {
            self.trace.read_payload(chunk, &mut payload)?;
            Ok(writer.write_chunk(&fields_of(&chunk.header, sequence), &payload)?)
        };
        for kind in [ChunkKind::Start, ChunkKind::Module, ChunkKind::Process] {
            for chunk in self.trace.chunks_of(kind) {
                copy(chunk, chunk.header.sequence)?;
            }
        }
        let mut next = std::collections::HashMap::new();
        for chunk in bursts.iter().flat_map(|burst| &self.records[burst.clone()]) {
            let sequence = next.entry(chunk.header.stream).or_insert(0);
            copy(chunk, *sequence)?;
            *sequence += 1;
        }
        writer.write_chunk(
            &ChunkFields::new(ChunkKind::Marks),
            &encode_marks(&self.marks(&bursts)),
        )?;
        writer.finish(&EndInfo::default())?;
        Ok(Trace::open(path)?)
    }

    fn marks(&self, bursts: &[Range<usize>]) -> Vec<MarkInfo> {
        let mark = |kind, number: usize, ns| MarkInfo {
            ns,
            kind,
            window: Some(number as u64 + 1),
            cause: "burst".into(),
            ..MarkInfo::default()
        };
        let of = |(number, burst): (usize, &Range<usize>)| {
            let chunks = &self.records[burst.clone()];
            let end_ns = chunks.iter().map(|chunk| chunk.header.last_ns).max();
            [
                mark(MarkKind::Opens, number, chunks[0].header.first_ns),
                mark(MarkKind::Closes, number, end_ns.unwrap_or(0)),
            ]
        };
        bursts.iter().enumerate().flat_map(of).collect()
    }
}

fn fields_of(header: &ChunkHeader, sequence: u64) -> ChunkFields {
    ChunkFields {
        kind: header.kind,
        flags: header.flags,
        process: header.process,
        stream: header.stream,
        sequence,
        first_ns: header.first_ns,
        last_ns: header.last_ns,
    }
}
