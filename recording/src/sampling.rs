//! How much of a program is counted or sampled, by the arguments of `record` and `top`.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use trackway_answers::failure::Failure;
use trackway_recorder::{Pace, RecordOptions, SampleChoice, SamplerOptions, USUAL_RATE, USUAL_WINDOW};

use crate::counters;
use crate::hardware::{self, WantedEvents};

/// Maximum number of samples a second; more would take most of a program's time.
const MOST_HZ: u32 = 50_000;
/// Instructions of a window at most.
const LONGEST_WINDOW: i64 = 100_000;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sampling")]
pub struct SamplingArguments {
    /// Sample the instructions of the program, N times a second of each thread's running [default: 1000], and the
    /// memory that they access: nothing need be compiled. Of a program that counts (`trackway cc --count`), unless N is
    /// given as 1000Hz: count one entry of a region of interest in N, and time another one without counting; the first
    /// 64 entries in any case. 1/N says so of a program that counts, but is started by another one
    #[arg(long, value_name = "N", num_args = 0..=1)]
    pub sample: Option<Option<SampleRate>>,
    /// Sample, or of a program that counts, count and time, so much that this takes such a share of the time, such as
    /// 1%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub overhead: Option<u32>,
    /// Of a program that counts, also count hardware events around entries of regions, as many as take 1 % of the
    /// region's time, and the first 16 in any case. EVENTS are up to 4 of cycles, instructions, l1d-misses, llc-misses,
    /// branch-misses, page-faults, context-switches, task-clock [default: the first four]
    #[arg(long, value_name = "EVENTS", value_parser = hardware::parse, num_args = 0..=1, require_equals = true,
          default_missing_value = hardware::USUAL_EVENTS)]
    pub hardware: Option<WantedEvents>,
}

/// Where sampled programs come from, and how far each sample looks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sampling")]
pub struct SampledArguments {
    /// What takes the samples: `best` is the processor's own events, else the kernel's clock, else its tick
    #[arg(long, value_name = "SOURCE", value_enum, default_value_t = SampleSource::Best, requires = "sample")]
    pub sample_source: SampleSource,
    /// Instructions that are looked at for what they access, of threads that are stopped for a tenth of a millisecond; more
    /// than the body of a loop has. 0: none, and nothing is stopped
    #[arg(long, value_name = "N", default_value_t = USUAL_WINDOW, requires = "sample",
          value_parser = clap::value_parser!(u32).range(0..=LONGEST_WINDOW))]
    pub look_ahead: u32,
}

/// What takes samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum SampleSource {
    #[default]
    Best,
    Clock,
    Tick,
}

impl SampleSource {
    fn choice(self) -> SampleChoice {
        match self {
            SampleSource::Best => SampleChoice::Best,
            SampleSource::Clock => SampleChoice::Clock,
            SampleSource::Tick => SampleChoice::Tick,
        }
    }
}

/// A number, and whether it is a rate per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRate {
    number: u32,
    is_hz: bool,
    /// It says how many entries of regions to count, whatever the program is.
    is_of_entries: bool,
}

impl FromStr for SampleRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_suffix("Hz").or_else(|| text.strip_suffix("hz"));
        let one_in = text.strip_prefix("1/");
        let number = digits.or(one_in).unwrap_or(text).parse();
        match number {
            Ok(number @ 1..=1_000_000) => Ok(SampleRate {
                number,
                is_hz: digits.is_some(),
                is_of_entries: one_in.is_some(),
            }),
            _ => Err(format!(
                "{text}: expected a number from 1 to 1000000, or such as 1000Hz; a program stands after --: \
                 --sample -- {text}"
            )),
        }
    }
}

impl SamplingArguments {
    /// Applies the arguments to a program that counts. Finds the hardware events that exist, and warns of missing ones.
    pub fn apply_to_counting(&self, options: &mut RecordOptions) -> Result<(), Failure> {
        options.count_every = match self.sample {
            Some(Some(rate)) if !rate.is_hz => rate.number,
            None => 0,
            Some(_) => {
                return Err(Failure::new(
                    "--sample without a number, or with Hz, samples instructions: this is for programs that count",
                ))
            }
        };
        if self.sample.is_some() && self.overhead.is_some() {
            return Err(Failure::new(
                "--sample N and --overhead both say how much is counted: name one",
            ));
        }
        options.count_cost_millionths = self.overhead.unwrap_or(0);
        options.hardware = self
            .hardware
            .as_ref()
            .map(WantedEvents::available)
            .unwrap_or_default();
        Ok(())
    }

    /// Applies the arguments to any program.
    pub fn apply(&self, sampled: &SampledArguments, options: &mut RecordOptions) -> Result<(), Failure> {
        if !self.samples_instructions(&options.program) {
            return self.apply_to_counting(options);
        }
        if self.hardware.is_some() {
            return Err(Failure::new(
                "--hardware counts around regions: it is for programs that count",
            ));
        }
        if options.client.is_some() {
            return Err(Failure::new(
                "--binary records every access: leave out --sample, or --binary",
            ));
        }
        let pace = match (self.sample.flatten(), self.overhead) {
            (Some(_), Some(_)) => return Err(Failure::new(
                "--sample N and --overhead both say how much is sampled: name one (--sample --overhead 1%)",
            )),
            (Some(rate), None) if rate.number > MOST_HZ => {
                return Err(Failure::new(format!(
                    "--sample takes up to {MOST_HZ} samples a second"
                )))
            }
            (Some(rate), None) => Pace::Hz(rate.number.into()),
            (None, Some(millionths)) => Pace::Overhead(millionths.into()),
            (None, None) => Pace::Hz(USUAL_RATE),
        };
        options.sampling = Some(SamplerOptions {
            pace,
            source: sampled.sample_source.choice(),
            window_instructions: sampled.look_ahead,
        });
        Ok(())
    }

    fn samples_instructions(&self, program: &OsStr) -> bool {
        match self.sample {
            None => false,
            Some(Some(rate)) if !rate.is_hz => !rate.is_of_entries && !counters::counts(program),
            Some(_) => true,
        }
    }
}

/// Parses a share, as millionths.
fn parse_share(text: &str) -> Result<u32, String> {
    let expected = || format!("{text}: expected a share such as 1% or 0.5%, up to 100%");
    let percent: f64 = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(expected)?;
    match percent > 0.0 && percent <= 100.0 {
        true => Ok((percent * 1e4).ceil() as u32),
        false => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Option<(u32, bool)> {
        let rate: SampleRate = text.parse().ok()?;
        assert!(!(rate.is_hz && rate.is_of_entries));
        Some((rate.number, rate.is_hz))
    }

    #[test]
    fn one_entry_in_so_many_is_of_regions_whatever_the_program_is() {
        let sampling = |text: &str| SamplingArguments {
            sample: Some(Some(text.parse().unwrap())),
            overhead: None,
            hardware: None,
        };
        let program = OsStr::new("/bin/true");
        assert!(sampling("10").samples_instructions(program));
        assert!(!sampling("1/10").samples_instructions(program));
        assert_eq!(rate("1/10"), Some((10, false)));
        assert_eq!(rate("1/0"), None);
        assert_eq!(rate("1/10Hz"), None);
    }

    #[test]
    fn rates_are_numbers_with_or_without_a_unit() {
        assert_eq!(rate("8"), Some((8, false)));
        assert_eq!(rate("250Hz"), Some((250, true)));
        assert_eq!(rate("250hz"), Some((250, true)));
        for wrong in ["0", "-1", "Hz", "1000001", "1 kHz", ""] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
