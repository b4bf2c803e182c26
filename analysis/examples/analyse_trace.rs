//! Prints how many accesses a second one core takes through the analysis of `trackway report`, including decoding. It
//! simulates the given caches, or those of a common server.
//!
//!     cargo run --release -p trackway-analysis --example analyse_trace -- TRACE [CACHES | none]

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::Misses;
use trackway_analysis::run;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_trace::Trace;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: analyse_trace TRACE [CACHES | none]")?;
    let caches = match std::env::args().nth(2) {
        Some(caches) => caches.parse()?,
        None => Caches::default(),
    };
    let trace = Trace::open(Path::new(&path))?;
    let rank_by = Measure::default_for(&caches);
    let misses = Misses::new(caches, vec![Grouping::Field], rank_by, 10);
    let start = cpu_seconds()?;
    let (findings, summary) = run(&misses, &trace, NonZeroUsize::MIN, &|_, _| ());
    let seconds = cpu_seconds()? - start;
    let millions = summary.accesses as f64 / 1e6;
    println!("{:.1} M accesses/s", millions / seconds);
    println!("{}", findings.answer.unwrap_or_default());
    Ok(())
}

/// Time that this thread has run.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or(&text).parse::<f64>()? / 1e9)
}
