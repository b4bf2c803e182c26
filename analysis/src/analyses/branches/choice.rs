//! Predictors by name and size.

use std::str::FromStr;

use super::{Bimodal, Gshare, Llbp, LlbpConfig, Perceptron, Predictor, Tage, TageConfig, TageScL};
use crate::model::cache::parse_size;

/// A predictor that can be made again and again, one for each thread: `gshare`, or with a size `gshare=64K`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredictorChoice {
    kind: Kind,
    /// How often its tables are doubled compared with the default; negative if they are smaller.
    doublings: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bimodal,
    Gshare,
    Perceptron,
    Tage,
    TageScL,
    Llbp,
    Unlimited,
}

/// Name, kind, and the size in KiB that stands for the default one; none if it has no bounds.
const KINDS: [(&str, Kind, Option<u64>); 7] = [
    ("bimodal", Kind::Bimodal, Some(4)),
    ("gshare", Kind::Gshare, Some(32)),
    ("perceptron", Kind::Perceptron, Some(32)),
    ("tage", Kind::Tage, Some(64)),
    ("tage-sc-l", Kind::TageScL, Some(64)),
    ("llbp", Kind::Llbp, Some(512)),
    ("unlimited", Kind::Unlimited, None),
];

/// KiB. Tables of the smallest have a few entries at least; the largest fit into memory beside each other.
const SIZES_KIB: std::ops::RangeInclusive<u64> = 1..=16 * 1024;

impl PredictorChoice {
    /// All of them in their default sizes.
    pub fn standard() -> Vec<PredictorChoice> {
        let choice = |(_, kind, _)| PredictorChoice { kind, doublings: 0 };
        KINDS.map(choice).to_vec()
    }

    /// A fresh one.
    pub fn make(self) -> Box<dyn Predictor + Send> {
        match self.kind {
            Kind::Bimodal => Box::new(Bimodal::new(self.grown(14))),
            Kind::Gshare => Box::new(Gshare::new(self.grown(17), self.grown(17))),
            Kind::Perceptron => Box::new(Perceptron::new(1 << self.grown(10), 31)),
            Kind::Tage => Box::new(Tage::new(&self.tage())),
            Kind::TageScL => Box::new(TageScL::new(&self.tage())),
            Kind::Llbp => Box::new(Llbp::new(&self.llbp())),
            Kind::Unlimited => Box::new(TageScL::unlimited(&TageConfig::default())),
        }
    }

    /// Logarithm of a number of entries.
    fn grown(self, default: u32) -> u32 {
        default.saturating_add_signed(self.doublings)
    }

    fn tage(self) -> TageConfig {
        TageConfig::geometric(self.grown(11), 15, 6, 3000)
    }

    /// The large structure grows, and what is before it stays.
    fn llbp(self) -> LlbpConfig {
        let default = LlbpConfig::default();
        LlbpConfig {
            context_bits: self.grown(default.context_bits),
            log2_sets: self.grown(default.log2_sets),
            ..default
        }
    }
}

impl FromStr for PredictorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, size) = match text.split_once('=') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let known = KINDS.iter().find(|(known, _, _)| *known == name);
        let Some((_, kind, default_kib)) = known else {
            let names = KINDS.map(|(name, _, _)| name);
            return Err(format!("expected one of {}", names.join(", ")));
        };
        let doublings = match (size, default_kib) {
            (None, _) => 0,
            (Some(_), None) => return Err(format!("{name} has no size")),
            (Some(size), Some(default_kib)) => doublings(size, *default_kib)?,
        };
        Ok(PredictorChoice {
            kind: *kind,
            doublings,
        })
    }
}

fn doublings(size: &str, default_kib: u64) -> Result<i32, String> {
    let kib = parse_size(size)
        .filter(|bytes| bytes.is_power_of_two())
        .map(|bytes| bytes >> 10)
        .filter(|kib| SIZES_KIB.contains(kib))
        .ok_or("expected a size that is a power of two from 1K to 16M, such as 64K")?;
    Ok(kib.ilog2() as i32 - default_kib.ilog2() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::branches::made_up::{mispredictions, random_branches};

    fn kib(text: &str) -> Option<f64> {
        let choice: PredictorChoice = text.parse().unwrap();
        choice.make().storage_bits().map(|bits| bits as f64 / 8192.0)
    }

    #[test]
    fn sizes_are_about_those_asked_for() {
        for name in ["bimodal", "gshare", "perceptron", "tage", "tage-sc-l", "llbp"] {
            for size in [64.0, 512.0, 4096.0] {
                // The part of LLBP before the large structure doesn't shrink. The parts of TAGE beside its tables don't
                // grow.
                let got = kib(&format!("{name}={size}K")).unwrap();
                assert!(
                    got > 0.8 * size && got < 1.2 * size + 70.0,
                    "{name} {size}: {got}"
                );
            }
        }
        assert_eq!(kib("unlimited"), None);
    }

    #[test]
    fn the_smallest_and_the_largest_work() {
        let stream = random_branches(200, 20, 20);
        for name in ["bimodal", "gshare", "perceptron", "tage", "tage-sc-l", "llbp"] {
            for size in ["1K", "16M"] {
                let choice: PredictorChoice = format!("{name}={size}").parse().unwrap();
                assert!(mispredictions(choice.make().as_mut(), &stream) <= 200);
            }
        }
    }

    #[test]
    fn standard_ones_are_the_default_ones() {
        let chosen = PredictorChoice::standard().into_iter().map(PredictorChoice::make);
        let bits = |predictors: Vec<Box<dyn Predictor + Send>>| -> Vec<(String, Option<u64>)> {
            let all = predictors.iter();
            all.map(|one| (one.name().to_owned(), one.storage_bits()))
                .collect()
        };
        assert_eq!(
            bits(chosen.collect()),
            bits(crate::analyses::branches::standard_predictors())
        );
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "tag",
            "gshare=3K",
            "gshare=",
            "llbp=1G",
            "gshare=512",
            "unlimited=1M",
            "bimodal=0",
            "",
        ] {
            assert!(text.parse::<PredictorChoice>().is_err(), "{text}");
        }
    }
}
