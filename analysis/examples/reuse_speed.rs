//! Prints how many million accesses a second one core takes through exact and sampled reuse distances, including
//! decoding.
//!
//!     cargo run --release -p trackway-analysis --example reuse_speed -- TRACE...

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use trackway_analysis::blocks::Origins;
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::run;
use trackway_trace::Trace;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:>8} {:>12} {:>12}  trace",
        "exact", "allocations", "1 % sampled"
    );
    for path in std::env::args().skip(1) {
        let trace = Trace::open(Path::new(&path))?;
        let sites = [ReuseGrouping::Field, ReuseGrouping::Variable];
        let all = [sites[0], sites[1], ReuseGrouping::Allocation];
        let exact = rate(&trace, None, &sites)?;
        let with_allocations = rate(&trace, None, &all)?;
        let sampled = rate(&trace, Some(Sampling::Rate(0.01)), &sites)?;
        println!("{exact:>8.1} {with_allocations:>12.1} {sampled:>12.1}  {path} (M accesses/s/core)");
    }
    Ok(())
}

fn rate(
    trace: &Trace,
    sampling: Option<Sampling>,
    groupings: &[ReuseGrouping],
) -> Result<f64, Box<dyn Error>> {
    let reuse = Reuse {
        line_bytes: 64,
        merged: false,
        sampling,
        groupings: groupings.to_vec(),
        origins: Arc::new(Origins::none(trace.program())),
        top: 10,
        fine: false,
        moments: None,
    };
    let start = cpu_seconds()?;
    let (_, summary) = run(&reuse, trace, NonZeroUsize::MIN, &|_, _| ());
    Ok(summary.accesses as f64 / 1e6 / (cpu_seconds()? - start))
}

/// Time that this thread has run.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or(&text).parse::<f64>()? / 1e9)
}
