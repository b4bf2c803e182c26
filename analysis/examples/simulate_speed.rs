//! Prints how many million accesses a second one core simulates, without decoding, for several caches and patterns of
//! access. On a machine that does other work, only ratios within one run mean something.
//!
//!     cargo run --release -p trackway-analysis --example simulate_speed

use std::error::Error;

use trackway_analysis::cache::{Access, Outcome, Simulator};

const ACCESSES: usize = 1 << 20;
const ROUNDS: usize = 4;
const SITES: usize = 64;

const MODELS: [(&str, &str); 8] = [
    ("LRU", "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64"),
    (
        "TLBs",
        "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64:TLB1=64,4:TLB2=1536,12",
    ),
    ("exclusive L3", "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64,exclusive"),
    ("inclusive L3", "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64,inclusive"),
    (
        "PLRU, SRRIP",
        "L1=32K,8,64,plru:L2=1M,16,64,plru:L3=32M,16,64,srrip",
    ),
    (
        "write-through L1",
        "L1=32K,8,64,write-through:L2=1M,16,64:L3=32M,16,64",
    ),
    ("prefetching L2", "L1=32K,8,64:L2=1M,16,64,stride=2:L3=32M,16,64"),
    ("reasons", "L1=32K,8,64:L2=1M,16,64:L3=32M,16,64:classes"),
];

/// Addresses as programs make them, one store in four.
fn pattern(kind: &str) -> Vec<Access> {
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |count: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 20) % count
    };
    let address = |index: u64, chance: u64| match kind {
        "scan" => index * 8,
        "stack" => chance % 2048,
        "heap" if chance.is_multiple_of(8) => chance % (4 << 20),
        "heap" => chance % (16 << 10),
        _ => chance % (256 << 20),
    };
    let access = |index: usize| {
        let chance = below(1 << 40);
        Access {
            core: 0,
            site: index % SITES,
            address: (1 << 30) + address(index as u64, chance) / 8 * 8,
            length: 8,
            is_write: index % 4 == 3,
        }
    };
    (0..ACCESSES).map(access).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let patterns = ["scan", "stack", "heap", "chaos"];
    let accesses = patterns.map(pattern);
    print!("{:<18}", "M accesses/s");
    patterns.iter().for_each(|name| print!("{name:>8}"));
    println!();
    for (name, caches) in MODELS {
        print!("{name:<18}");
        for accesses in &accesses {
            print!("{:>8.1}", rate(caches, accesses)?);
        }
        println!();
    }
    Ok(())
}

fn rate(caches: &str, accesses: &[Access]) -> Result<f64, Box<dyn Error>> {
    let mut simulator = Simulator::new(&caches.parse()?).ok_or("no cache")?;
    let mut outcomes = [Outcome::default(); SITES];
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = cpu_seconds()?;
        simulator.access_all(accesses, &mut outcomes);
        fastest = fastest.min(cpu_seconds()? - start);
    }
    Ok(accesses.len() as f64 / fastest / 1e6)
}

/// Time that this thread has run.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: u64 = text.split_whitespace().next().ok_or("no time")?.parse()?;
    Ok(nanoseconds as f64 / 1e9)
}
