//! An analysis of your own, outside Trackway: fields of structs that a program writes and never reads.
//!
//!     cargo run --release --manifest-path examples/never_read/Cargo.toml -- TRACE

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;

use trackway_analysis::{run, Analysis, Findings, Names, Order};
use trackway_report::{to_csv, TableBuilder};
use trackway_trace::{Batch, Piece, Trace};

struct NeverRead {
    sites: usize,
}

impl Analysis for NeverRead {
    /// Accesses by site.
    type Shard = Vec<u64>;

    fn order(&self) -> Order {
        Order::Any
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> Vec<u64> {
        vec![0; self.sites]
    }

    fn take_batch(&self, shard: &mut Vec<u64>, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for site in &batch.site[range] {
                        shard[site.index()] += 1;
                    }
                }
                Piece::Run(run) => {
                    for lane in batch.lanes(run) {
                        shard[lane.site.index()] += run.count;
                    }
                }
            }
        }
    }

    fn merge(&self, into: &mut Vec<u64>, from: Vec<u64>) {
        for (count, more) in into.iter_mut().zip(from) {
            *count += more;
        }
    }

    fn finish(&self, shard: Vec<u64>, trace: &Trace) -> Findings {
        let program = trace.program();
        let names = Names::new(program);
        let mut fields: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (site, count) in program.sites.iter().zip(shard) {
            if count == 0 || program.string(site.field).is_empty() {
                continue;
            }
            let (reads, writes) = fields
                .entry(names.field(site.object_type, site.field))
                .or_default();
            *if site.kind.writes() { writes } else { reads } += count;
        }
        let unread: Vec<_> = fields.into_iter().filter(|(_, (reads, _))| *reads == 0).collect();
        let table = TableBuilder::new("never_read", "Fields that are written and never read", &unread)
            .text("field", |row| row.0.clone())
            .count("writes", |row| row.1 .1);
        Findings {
            answer: Some(format!("{} fields are never read", unread.len())),
            tables: vec![table.build()],
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: never_read TRACE");
        return Ok(ExitCode::from(2));
    };
    let trace = Trace::open(Path::new(&path))?;
    let analysis = NeverRead {
        sites: trace.program().sites.len(),
    };
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (findings, summary) = run(&analysis, &trace, threads, &|_, _| ());
    println!("{}", findings.answer.unwrap_or_default());
    findings
        .tables
        .iter()
        .for_each(|table| print!("{}", to_csv(table)));
    for damage in &summary.damage {
        eprintln!("left out: {damage}");
    }
    Ok(ExitCode::SUCCESS)
}
