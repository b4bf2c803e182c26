//! Choosing how to sample, and opening the events.

use std::io;
use std::path::Path;

use trackway_trace::{SampledEvent, SamplingInfo};

use super::sampler::Sampler;
use crate::attribution::skid;
use crate::events::attributes::{self, EventPlan, Source};
use crate::events::{Events, Rate, Target};
use crate::SamplerError;

/// Samples for each second of a thread's running, if nothing else is asked for.
pub const USUAL_RATE: u64 = 1000;
/// Instructions of a window, if nothing else is asked for.
pub const USUAL_WINDOW: u32 = 256;
/// Rates between which a requested overhead is met.
const RATES: std::ops::RangeInclusive<u64> = 20..=20_000;
/// At a requested rate, windows take one in so many parts of the time that the samples take.
const WINDOWS_PART: u64 = 4;
const TRACING: &str = "/sys/kernel/tracing";
const DEVICES: &str = "/sys/bus/event_source/devices";

/// How to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerOptions {
    pub pace: Pace,
    pub source: Choice,
    /// Instructions of a window at most; 0: no windows.
    pub window_instructions: u32,
}

/// What is to take samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The processor's events, else the kernel's clock, else its tick.
    #[default]
    Best,
    Clock,
    Tick,
}

/// How many samples to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Samples for each second of a thread's running.
    Hz(u64),
    /// As many samples as take so many millionths of the program's time, windows included.
    Overhead(u64),
}

/// A sampler that knows the machine, and no program yet.
pub struct PreparedSampler {
    plans: Vec<EventPlan>,
    rate: Rate,
    windows_share: u64,
    info: SamplingInfo,
}

impl PreparedSampler {
    /// Chooses what takes samples on this machine, and measures how the clock's samples lie.
    ///
    /// # Errors
    /// If the kernel doesn't let this user sample.
    pub fn new(options: &SamplerOptions) -> Result<Self, SamplerError> {
        // A rate that is asked for is taken, whatever it costs.
        let calibration = skid::calibrate(matches!(options.pace, Pace::Overhead(_)));
        let Some(plans) = plans(options.source, calibration.is_ok()) else {
            return Err(calibration.err().unwrap_or_else(no_tick));
        };
        let (skid, cost) = match calibration {
            Ok(calibration) => (Some(calibration.skid), calibration.sample_cost),
            Err(_) => (None, None),
        };
        let cost_ns = cost.unwrap_or(skid::UNKNOWN_COST).as_nanos() as u64;
        let (rate, windows_share) = match options.pace {
            Pace::Hz(hz) => (Rate { hz }, windows_share(hz)),
            Pace::Overhead(millionths) => (rate_for(millionths, cost_ns), millionths / 2),
        };
        let mut info = SamplingInfo {
            window_instructions: options.window_instructions,
            skid,
            ..SamplingInfo::default()
        };
        match options.pace {
            Pace::Hz(hz) => info.rate_hz = hz,
            Pace::Overhead(millionths) => info.overhead_millionths = millionths,
        }
        if plans[0].source == Source::Tick {
            info.rate_hz = 1_000_000_000 / attributes::tick_period_ns();
            info.overhead_millionths = 0;
        }
        Ok(PreparedSampler {
            plans,
            rate,
            windows_share,
            info,
        })
    }

    /// What takes samples here, as traces name it.
    pub fn source(&self) -> &'static str {
        self.plans[0].source.name()
    }

    /// Opens the events of a process. Where the processor's own can't be had, the clock takes their place, and `notify`
    /// is told.
    ///
    /// # Errors
    /// If the kernel refuses, or if there is no such process.
    pub fn open(mut self, target: Target, notify: impl Fn(&str)) -> Result<OpenSampler, SamplerError> {
        let events = match Events::open(&self.plans, self.rate, target) {
            Err(error) if self.plans[0].source != Source::Clock => {
                notify(&format!("{error}; the kernel's clock samples instead"));
                self.plans = vec![attributes::clock()];
                Events::open(&self.plans, self.rate, target)?
            }
            opened => opened?,
        };
        if self.plans[0].source == Source::Tick {
            notify(&format!(
                "the kernel's tick samples, {} times a second, whatever rate was asked for",
                self.info.rate_hz
            ));
        }
        self.info.events = self.plans.iter().map(described).collect();
        Ok(OpenSampler {
            prepared: self,
            events,
            target,
        })
    }
}

/// A sampler whose events are open; other threads may take it.
pub struct OpenSampler {
    prepared: PreparedSampler,
    events: Events,
    target: Target,
}

impl OpenSampler {
    /// Begins to take samples. What a process that runs already has mapped counts since
    /// `since_ns`, a time before its events were opened: earlier samples would lie where nothing is mapped.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn begin(self, since_ns: u64) -> Result<Sampler, SamplerError> {
        let PreparedSampler {
            plans,
            windows_share,
            info,
            ..
        } = self.prepared;
        let (pid, runs) = match self.target {
            Target::Starting(pid) => (pid, false),
            Target::Running(pid) => (pid, true),
        };
        let mut sampler = Sampler::new(self.events, plans, info, windows_share, self.target);
        if runs {
            sampler.read_running(pid, since_ns)?;
        }
        Ok(sampler)
    }
}

/// What takes samples; none if nothing can.
fn plans(choice: Choice, has_clock: bool) -> Option<Vec<EventPlan>> {
    let by_processor = match choice {
        Choice::Best => attributes::by_processor(&processor_vendor(), Path::new(DEVICES)),
        Choice::Clock | Choice::Tick => Vec::new(),
    };
    match choice {
        Choice::Best if !by_processor.is_empty() => Some(by_processor),
        Choice::Best | Choice::Clock if has_clock => Some(vec![attributes::clock()]),
        Choice::Clock => None,
        Choice::Best | Choice::Tick => attributes::tick(Path::new(TRACING)).map(|plan| vec![plan]),
    }
}

/// The error if the tracepoint can't be read: only some users may see it.
fn no_tick() -> SamplerError {
    let missing = io::Error::new(
        io::ErrorKind::NotFound,
        format!("{TRACING} has no irq_vectors/local_timer_entry that this user may read"),
    );
    SamplerError::opening("the tick", missing)
}

/// What windows may take of the program's time, millionths: a part of what its samples usually take.
fn windows_share(hz: u64) -> u64 {
    let samples = hz.saturating_mul(skid::UNKNOWN_COST.as_nanos() as u64) / 1000;
    samples / WINDOWS_PART
}

/// Half of what sampling may take goes to the samples, the other half to windows.
fn rate_for(overhead_millionths: u64, cost_ns: u64) -> Rate {
    let hz = overhead_millionths * 1000 / 2 / cost_ns.max(1);
    Rate {
        hz: hz.clamp(*RATES.start(), *RATES.end()),
    }
}

fn described(plan: &EventPlan) -> SampledEvent {
    SampledEvent {
        name: plan.name.clone(),
        source: plan.source.name().to_owned(),
        weight_unit: plan.weight_unit.to_owned(),
    }
}

/// The processor's name for its vendor, or its architecture.
fn processor_vendor() -> String {
    if std::env::consts::ARCH != "x86_64" {
        return std::env::consts::ARCH.to_owned();
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("vendor_id"));
    line.and_then(|line| line.split_once(':'))
        .map_or(String::new(), |(_, vendor)| vendor.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_take_a_quarter_of_what_samples_take() {
        assert_eq!([250, 1000, 5000].map(windows_share), [937, 3750, 18_750]);
    }

    #[test]
    fn an_overhead_is_shared_by_samples_and_windows() {
        assert_eq!(rate_for(10_000, 10_000).hz, 500);
        assert_eq!(rate_for(1, 10_000).hz, *RATES.start());
        assert_eq!(rate_for(1_000_000, 1000).hz, *RATES.end());
    }
}
