//! Measures where the clock's samples are seen, and what one costs, in a loop in which one load takes nearly all time.

use std::time::{Duration, Instant};

use perf_event_open_sys::bindings as perf;
use trackway_perf_records::{parse, Record, SampleLayout, PERF_MASK};
use trackway_trace::Skid;

use crate::events::ring::Ring;
use crate::events::{attributes, opening, Rate};
use crate::SamplerError;

/// Bytes that are chased through: more than the caches of one core, so that a load takes many cycles.
const CHASED: usize = 8 << 20;
const LINE: usize = 64;
const MEASURED: Duration = Duration::from_millis(20);
const RATE: Rate = Rate { hz: 5000 };

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    pub skid: Skid,
    /// What a sample takes from the program; none if that wasn't measured.
    pub sample_cost: Option<Duration>,
}

/// Bounds of a sample's cost, whatever was measured on a busy machine.
const COSTS: (Duration, Duration) = (Duration::from_micros(1), Duration::from_micros(60));

/// What a sample is taken to cost if that can't be measured.
pub const UNKNOWN_COST: Duration = Duration::from_micros(15);

/// Samples the calling thread while it chases pointers. To measure the cost of a sample, too, takes twice the time.
pub fn calibrate(measures_cost: bool) -> Result<Calibration, SamplerError> {
    let chain = Chain::new();
    let mut place = chain.begin();
    let speed = |place: &mut *const u8, steps: u64| {
        let began = Instant::now();
        let around = chase(place, steps);
        (began.elapsed(), around)
    };
    let (warm, _) = speed(&mut place, 20_000);
    let each = (warm.as_nanos() as u64 / 20_000).max(1);
    let steps = MEASURED.as_nanos() as u64 / each;
    // The same work without samples, half before and half after.
    let half = |place: &mut *const u8| measures_cost.then(|| speed(place, steps / 2).0);
    let before = half(&mut place);
    let mut ring = sampled_thread()?;
    let (sampled, around) = speed(&mut place, steps);
    let (mut skid, mut samples) = (Skid::default(), 0);
    ring.drain(|bytes| {
        if let Some(Record::Sample(sample)) = parse(bytes, &layout()) {
            samples += 1;
            note(&mut skid, &around, sample.instruction);
        }
    });
    drop(ring);
    let unsampled = before.zip(half(&mut place)).map(|(before, after)| before + after);
    let cost_over = |unsampled| {
        let excess: Duration = sampled.saturating_sub(unsampled);
        let cost = excess.checked_div(samples).unwrap_or(COSTS.1);
        cost.clamp(COSTS.0, COSTS.1)
    };
    Ok(Calibration {
        skid,
        sample_cost: unsampled.map(cost_over),
    })
}

fn note(skid: &mut Skid, around: &LoopAddresses, instruction: u64) {
    if instruction == around.load {
        skid.at_load += 1;
    } else if instruction == around.behind {
        skid.behind_load += 1;
    } else if !(around.load..around.end).contains(&instruction) {
        return;
    }
    skid.samples += 1;
}

fn layout() -> SampleLayout {
    SampleLayout {
        sample_type: u64::from(perf::PERF_SAMPLE_IP | perf::PERF_SAMPLE_REGS_USER),
        user_registers: PERF_MASK,
        ..SampleLayout::default()
    }
}

/// A buffer of samples of the calling thread.
fn sampled_thread() -> Result<Ring, SamplerError> {
    const ANY_PROCESSOR: u32 = u32::MAX;
    let plan = attributes::clock();
    let mut attributes = opening::attributes(&plan, RATE, &layout());
    attributes.set_sample_id_all(0);
    let event = opening::open(&mut attributes, 0, ANY_PROCESSOR, None, &plan.name)?;
    opening::map(event)
}

/// Lines in a random order, each with the address of the next.
struct Chain(Vec<u8>);

impl Chain {
    fn new() -> Self {
        let mut memory = vec![0u8; CHASED + LINE];
        let base = memory.as_ptr() as usize;
        let first = base.next_multiple_of(LINE) - base;
        let lines = CHASED / LINE;
        let mut order: Vec<usize> = (0..lines).collect();
        // Any order will do that no prefetcher knows: xorshift, shuffled by Sattolo's method, is one cycle of all.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for last in (1..lines).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            order.swap(last, (state % last as u64) as usize);
        }
        for (line, next) in order.into_iter().enumerate() {
            let (at, target) = (first + line * LINE, base + first + next * LINE);
            memory[at..at + 8].copy_from_slice(&(target as u64).to_ne_bytes());
        }
        Chain(memory)
    }

    fn begin(&self) -> *const u8 {
        let base = self.0.as_ptr();
        // SAFETY: the first aligned line is within the memory, which is a line longer than the chain.
        unsafe { base.add((base as usize).next_multiple_of(LINE) - base as usize) }
    }
}

/// Where the loop's instructions are.
struct LoopAddresses {
    load: u64,
    behind: u64,
    end: u64,
}

/// Follows so many pointers.
#[cfg(target_arch = "x86_64")]
fn chase(place: &mut *const u8, steps: u64) -> LoopAddresses {
    let (load, behind, end): (u64, u64, u64);
    // SAFETY: each pointer of the chain leads to another one of it.
    unsafe {
        std::arch::asm!(
            "lea {load}, [rip + 2f]",
            "lea {behind}, [rip + 3f]",
            "lea {end}, [rip + 4f]",
            "2: mov {pointer}, [{pointer}]",
            "3: sub {steps}, 1",
            "jne 2b",
            "4:",
            load = out(reg) load,
            behind = out(reg) behind,
            end = out(reg) end,
            pointer = inout(reg) *place,
            steps = inout(reg) steps.max(1) => _,
            options(nostack, readonly),
        );
    }
    LoopAddresses { load, behind, end }
}

/// Follows so many pointers.
#[cfg(target_arch = "aarch64")]
fn chase(place: &mut *const u8, steps: u64) -> LoopAddresses {
    let (load, behind, end): (u64, u64, u64);
    // SAFETY: each pointer of the chain leads to another one of it.
    unsafe {
        std::arch::asm!(
            "adr {load}, 2f",
            "adr {behind}, 3f",
            "adr {end}, 4f",
            "2: ldr {pointer}, [{pointer}]",
            "3: subs {steps}, {steps}, #1",
            "b.ne 2b",
            "4:",
            load = out(reg) load,
            behind = out(reg) behind,
            end = out(reg) end,
            pointer = inout(reg) *place,
            steps = inout(reg) steps.max(1) => _,
            options(nostack, readonly),
        );
    }
    LoopAddresses { load, behind, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_cycle() {
        let chain = Chain::new();
        let begin = chain.begin();
        let mut place = begin;
        chase(&mut place, (CHASED / LINE) as u64 - 1);
        assert_ne!(place, begin);
        chase(&mut place, 1);
        assert_eq!(place, begin);
    }

    #[test]
    fn samples_of_the_loop_are_told_apart() {
        let around = LoopAddresses {
            load: 100,
            behind: 103,
            end: 109,
        };
        let mut skid = Skid::default();
        for address in [100, 103, 103, 107, 109, 5] {
            note(&mut skid, &around, address);
        }
        assert_eq!((skid.samples, skid.at_load, skid.behind_load), (4, 1, 2));
        assert!(skid.is_to_successor());
    }
}
