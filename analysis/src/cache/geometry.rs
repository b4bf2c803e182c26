//! Sizes and shapes of the caches to simulate.

use std::fmt;
use std::str::FromStr;

use trackway_trace::CacheInfo;

use super::LineChanges;

/// More levels than any machine has.
pub const MAX_LEVELS: usize = 4;
/// A search through more ways than this would take longer than everything else.
const MAX_WAYS: u64 = 4096;
const MAX_SIZE_BYTES: u64 = 1 << 36;

/// One level of cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheGeometry {
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// A power of two.
    pub line_bytes: u32,
}

/// The levels, from the one next to the processor outwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caches {
    levels: Vec<CacheGeometry>,
}

/// Why caches can't be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CachesError {
    #[error(
        "`{text}`: expected L1=SIZE,WAYS,LINE:L2=SIZE,WAYS,LINE..., for example L1=32K,8,64:L2=1M,16,64; or none"
    )]
    Syntax { text: String },
    #[error("the caches must be L1, L2, ... in this order, at most {MAX_LEVELS}")]
    Levels,
    #[error("L{level}: {what}")]
    Shape { level: usize, what: String },
}

impl CacheGeometry {
    /// Number of sets.
    pub fn sets(&self) -> u64 {
        self.size_bytes / (u64::from(self.ways) * u64::from(self.line_bytes))
    }

    fn check(&self) -> Result<(), String> {
        if !self.line_bytes.is_power_of_two() || self.line_bytes < 4 {
            return Err(format!(
                "a line of {} bytes: must be a power of two of at least 4",
                self.line_bytes
            ));
        }
        if self.ways == 0 || u64::from(self.ways) > MAX_WAYS {
            return Err(format!("{} ways: must be 1 to {MAX_WAYS}", self.ways));
        }
        let set_bytes = u64::from(self.ways) * u64::from(self.line_bytes);
        if self.size_bytes == 0 || !self.size_bytes.is_multiple_of(set_bytes) {
            return Err(format!(
                "{} bytes are no multiple of ways x line = {set_bytes} bytes",
                self.size_bytes
            ));
        }
        if self.size_bytes > MAX_SIZE_BYTES {
            return Err("more than 64 GiB".into());
        }
        Ok(())
    }
}

impl Caches {
    pub fn new(levels: Vec<CacheGeometry>) -> Result<Caches, CachesError> {
        if levels.is_empty() || levels.len() > MAX_LEVELS {
            return Err(CachesError::Levels);
        }
        for (index, geometry) in levels.iter().enumerate() {
            let level = index + 1;
            geometry
                .check()
                .map_err(|what| CachesError::Shape { level, what })?;
            if index > 0 && geometry.line_bytes < levels[index - 1].line_bytes {
                let what = "its line must not be shorter than that of the level before".into();
                return Err(CachesError::Shape { level, what });
            }
        }
        Ok(Caches { levels })
    }

    /// The caches of the machine on which a trace was recorded.
    pub fn of_machine(infos: &[CacheInfo]) -> Result<Caches, CachesError> {
        let mut infos: Vec<&CacheInfo> = infos.iter().collect();
        infos.sort_by_key(|info| info.level);
        infos.dedup_by_key(|info| info.level);
        Caches::new(infos.into_iter().map(geometry_of).collect())
    }

    /// No caches: nothing is simulated, only counted.
    pub fn none() -> Caches {
        Caches { levels: Vec::new() }
    }

    /// What tells the iterations of a run that change something in the first level; none if there is no level.
    pub fn line_changes(&self) -> Option<LineChanges> {
        let first = self.levels.first()?;
        Some(LineChanges::new(first.line_bytes, first.ways))
    }

    pub fn levels(&self) -> &[CacheGeometry] {
        &self.levels
    }
}

impl Default for Caches {
    /// A common server core: 32 KiB with 8 ways, 1 MiB with 16, 32 MiB with 16; lines of 64 bytes.
    fn default() -> Self {
        let level = |size_bytes, ways| CacheGeometry {
            size_bytes,
            ways,
            line_bytes: 64,
        };
        Caches {
            levels: vec![level(32 << 10, 8), level(1 << 20, 16), level(32 << 20, 16)],
        }
    }
}

fn geometry_of(info: &CacheInfo) -> CacheGeometry {
    let lines = info.size_bytes / u64::from(info.line_bytes.max(1));
    let ways = if info.ways == 0 {
        u32::try_from(lines).unwrap_or(u32::MAX)
    } else {
        info.ways
    };
    CacheGeometry {
        size_bytes: info.size_bytes,
        ways,
        line_bytes: info.line_bytes,
    }
}

impl FromStr for Caches {
    type Err = CachesError;

    /// `L1=32K,8,64:L2=1M,16,64`; sizes in bytes or with K, M or G. Or `none`.
    fn from_str(text: &str) -> Result<Caches, CachesError> {
        if text == "none" {
            return Ok(Caches::none());
        }
        let mut levels = Vec::new();
        for part in text.split(':') {
            let syntax = || CachesError::Syntax {
                text: text.to_owned(),
            };
            let (name, shape) = part.split_once('=').ok_or_else(syntax)?;
            if name != format!("L{}", levels.len() + 1) {
                return Err(CachesError::Levels);
            }
            levels.push(parse_shape(shape).ok_or_else(syntax)?);
        }
        Caches::new(levels)
    }
}

fn parse_shape(text: &str) -> Option<CacheGeometry> {
    let mut numbers = text.split(',');
    let size_bytes = parse_size(numbers.next()?)?;
    let ways = numbers.next()?.parse().ok()?;
    let line_bytes = numbers.next()?.parse().ok()?;
    let geometry = CacheGeometry {
        size_bytes,
        ways,
        line_bytes,
    };
    numbers.next().is_none().then_some(geometry)
}

/// A number of bytes, perhaps with K, M or G for the powers of 1024.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl fmt::Display for Caches {
    /// In the form that [`Caches::from_str`] reads.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if self.levels.is_empty() {
            return formatter.write_str("none");
        }
        for (index, geometry) in self.levels.iter().enumerate() {
            let separator = if index == 0 { "" } else { ":" };
            let CacheGeometry {
                size_bytes,
                ways,
                line_bytes,
            } = geometry;
            write!(
                formatter,
                "{separator}L{}={},{ways},{line_bytes}",
                index + 1,
                short_size(*size_bytes)
            )?;
        }
        Ok(())
    }
}

fn short_size(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let unit = units
        .iter()
        .find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    unit.map_or(bytes.to_string(), |(shift, name)| {
        format!("{}{name}", bytes >> shift)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_geometry_agree() {
        let text = "L1=48K,12,64:L2=2M,16,64:L3=12M,16,64";
        let caches: Caches = text.parse().unwrap();
        assert_eq!(caches.to_string(), text);
        let sets: Vec<u64> = caches.levels().iter().map(CacheGeometry::sets).collect();
        assert_eq!(sets, [64, 2048, 12288]);
        assert_eq!(
            "L1=512,2,64".parse::<Caches>().unwrap().to_string(),
            "L1=512,2,64"
        );
    }

    #[test]
    fn impossible_caches_are_refused() {
        for (text, part) in [
            ("", "expected"),
            ("L1=32K", "expected"),
            ("L1=32K,8,64,1", "expected"),
            ("L1=x,8,64", "expected"),
            ("L1=1KK,8,64", "expected"),
            ("L2=32K,8,64", "order"),
            ("L1=32K,0,64", "ways"),
            ("L1=32K,8,48", "power of two"),
            ("L1=1000,8,64", "multiple"),
            ("L1=0,8,64", "multiple"),
            ("L1=99999999999G,8,64", "expected"),
            ("L1=1024G,8,64", "64 GiB"),
            ("L1=32K,8,64:L2=1M,16,32", "shorter"),
            (
                "L1=1K,1,64:L2=1K,1,64:L3=1K,1,64:L4=1K,1,64:L5=1K,1,64",
                "at most 4",
            ),
        ] {
            let message = text.parse::<Caches>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn the_machines_caches_are_taken_in_order() {
        let info = |level, size_bytes, ways| CacheInfo {
            level,
            size_bytes,
            line_bytes: 64,
            ways,
            shared_by: 1,
        };
        let caches = Caches::of_machine(&[info(2, 1 << 20, 16), info(1, 1024, 0)]).unwrap();
        assert_eq!(caches.to_string(), "L1=1K,16,64:L2=1M,16,64");
        assert_eq!(Caches::of_machine(&[]), Err(CachesError::Levels));
    }
}
