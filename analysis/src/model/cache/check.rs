//! Which caches can be simulated.

use super::description::{MAX_LEVELS, MAX_TLB_LEVELS};
use super::{CacheLevel, Caches, Inclusion, Policy, TlbLevel};

/// A tree's bits stand in one word.
const MAX_TREE_WAYS: u32 = 64;
const MAX_PREFETCH_DEGREE: u32 = 32;
/// The cores are bits of one word in some of the work.
const MAX_CORES: u32 = 4096;
const MAX_PAGE_BYTES: u64 = 1 << 30;

/// Why caches can't be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CachesError {
    #[error(
        "`{text}`: expected L1=SIZE,WAYS,LINE:L2=SIZE,WAYS,LINE..., for example L1=32K,8,64:L2=1M,16,64; \
         preset:NAME; a FILE.toml; or none"
    )]
    Syntax { text: String },
    #[error("`{word}`: {expected}")]
    Word { word: String, expected: String },
    #[error("the caches must be L1, L2, ... in this order, at most {MAX_LEVELS}")]
    Levels,
    #[error("L{level}: {what}")]
    Shape { level: usize, what: String },
    #[error("TLB{level}: {what}")]
    Tlb { level: usize, what: String },
    #[error("{0}")]
    Setting(String),
    #[error("{path}: {what}")]
    File { path: String, what: String },
}

impl Caches {
    /// Whether these caches can be simulated.
    pub(super) fn check(&self) -> Result<(), CachesError> {
        if self.levels().len() > MAX_LEVELS {
            return Err(CachesError::Levels);
        }
        for (index, level) in self.levels().iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &self.levels()[before]);
            let shape = |what| CachesError::Shape {
                level: index + 1,
                what,
            };
            check_level(level, before).map_err(shape)?;
            if self.mixes_lines() && needs_equal_lines(level) {
                let what = "levels that are inclusive, exclusive, shared or prefetching must all have lines of one size";
                return Err(shape(what.into()));
            }
        }
        self.check_tlbs()?;
        match self.cores() {
            1..=MAX_CORES => Ok(()),
            cores => Err(CachesError::Setting(format!(
                "{cores} cores: must be 1 to {MAX_CORES}"
            ))),
        }
    }

    fn mixes_lines(&self) -> bool {
        let lines = |level: &CacheLevel| level.geometry.line_bytes;
        self.levels()
            .windows(2)
            .any(|pair| lines(&pair[0]) != lines(&pair[1]))
    }

    fn check_tlbs(&self) -> Result<(), CachesError> {
        let page = self.page_bytes();
        let longest = self.levels().iter().map(|level| level.geometry.line_bytes).max();
        if !page.is_power_of_two() || page > MAX_PAGE_BYTES || page < longest.unwrap_or(1).into() {
            let what = format!("a page of {page} bytes: must be a power of two, from a line to 1 GiB");
            return Err(CachesError::Setting(what));
        }
        if self.tlbs().len() > MAX_TLB_LEVELS {
            let what = format!("at most TLB1 to TLB{MAX_TLB_LEVELS}");
            return Err(CachesError::Setting(what));
        }
        for (index, tlb) in self.tlbs().iter().enumerate() {
            check_tlb(tlb).map_err(|what| CachesError::Tlb {
                level: index + 1,
                what,
            })?;
        }
        Ok(())
    }
}

fn check_tlb(tlb: &TlbLevel) -> Result<(), String> {
    let divides = tlb.ways > 0 && tlb.entries.is_multiple_of(tlb.ways);
    match tlb.entries {
        1..=65536 if divides => Ok(()),
        entries => Err(format!(
            "{entries} entries in {} ways: must be 1 to 65536, a multiple of the ways",
            tlb.ways
        )),
    }
}

fn needs_equal_lines(level: &CacheLevel) -> bool {
    level.shared || level.inclusion != Inclusion::NonInclusive || level.prefetch.is_on()
}

fn check_level(level: &CacheLevel, before: Option<&CacheLevel>) -> Result<(), String> {
    level.geometry.check()?;
    check_relation(level, before)?;
    let ways = level.geometry.ways;
    if level.policy == Policy::Plru && (!ways.is_power_of_two() || ways > MAX_TREE_WAYS) {
        return Err(format!(
            "{ways} ways: plru needs a power of two of at most {MAX_TREE_WAYS}"
        ));
    }
    let prefetches = level.prefetch.is_on();
    if prefetches && !(1..=MAX_PREFETCH_DEGREE).contains(&level.prefetch.degree) {
        return Err(format!(
            "a prefetcher {} lines ahead: must be 1 to {MAX_PREFETCH_DEGREE}",
            level.prefetch.degree
        ));
    }
    if prefetches && level.inclusion == Inclusion::Exclusive {
        return Err(
            "an exclusive level is filled by what the level before evicts; nothing is prefetched into it"
                .into(),
        );
    }
    Ok(())
}

fn check_relation(level: &CacheLevel, before: Option<&CacheLevel>) -> Result<(), String> {
    let Some(before) = before else {
        return match level.inclusion {
            _ if level.shared => Err("the first level is a core's own; only later ones can be shared".into()),
            Inclusion::NonInclusive => Ok(()),
            _ => Err("no level before it that it could include or exclude".into()),
        };
    };
    if level.geometry.line_bytes < before.geometry.line_bytes {
        return Err("its line must not be shorter than that of the level before".into());
    }
    if before.shared && !level.shared {
        return Err("a level behind a shared one must be shared".into());
    }
    Ok(())
}
