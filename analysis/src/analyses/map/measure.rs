//! What a map shows.

use std::fmt;
use std::str::FromStr;

use crate::model::cache::Caches;
use crate::model::site_counts::Measure;

/// What is counted in each cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapMeasure {
    Accesses,
    Bytes,
    /// Misses of the level with that index or, if there is none, of the level by which reports rank.
    Misses(Option<usize>),
    /// Cycles that a core takes for the accesses, estimated.
    Cycles,
}

impl MapMeasure {
    /// Which measure of these caches it is; none if they have no such level.
    pub fn in_caches(self, caches: &Caches) -> Option<Measure> {
        let measure = match self {
            MapMeasure::Accesses => Measure::Accesses,
            MapMeasure::Bytes => Measure::Bytes,
            MapMeasure::Misses(None) => Measure::default_for(caches),
            MapMeasure::Misses(Some(level)) => Measure::Misses(level),
            MapMeasure::Cycles => Measure::Cycles,
        };
        let is_there = self.is_misses() == matches!(measure, Measure::Misses(_));
        (is_there && measure.exists_in(caches)).then_some(measure)
    }

    pub fn is_misses(self) -> bool {
        matches!(self, MapMeasure::Misses(_))
    }

    /// Whether caches are simulated for it.
    pub fn needs_caches(self) -> bool {
        matches!(self, MapMeasure::Misses(_) | MapMeasure::Cycles)
    }
}

impl fmt::Display for MapMeasure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            MapMeasure::Accesses => formatter.write_str("accesses"),
            MapMeasure::Bytes => formatter.write_str("bytes"),
            MapMeasure::Misses(None) => formatter.write_str("misses"),
            MapMeasure::Misses(Some(level)) => write!(formatter, "L{} misses", level + 1),
            MapMeasure::Cycles => formatter.write_str("cycles"),
        }
    }
}

impl FromStr for MapMeasure {
    type Err = String;

    /// `accesses`, `bytes`, `cycles`, `misses`, or a level: `L1`, `L2`, ...
    fn from_str(text: &str) -> Result<MapMeasure, String> {
        match (text, text.parse()) {
            ("misses", _) => Ok(MapMeasure::Misses(None)),
            (_, Ok(Measure::Accesses)) => Ok(MapMeasure::Accesses),
            (_, Ok(Measure::Bytes)) => Ok(MapMeasure::Bytes),
            (_, Ok(Measure::Misses(level))) => Ok(MapMeasure::Misses(Some(level))),
            (_, Ok(Measure::Cycles)) => Ok(MapMeasure::Cycles),
            (_, Err(_)) => Err("expected accesses, bytes, misses, cycles, L1, L2, L3 or L4".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_reports() {
        let caches: Caches = "L1=32K,8,64".parse().unwrap();
        let measure = |text: &str| text.parse::<MapMeasure>().unwrap().in_caches(&caches);
        assert_eq!(measure("accesses"), Some(Measure::Accesses));
        assert_eq!(measure("bytes"), Some(Measure::Bytes));
        assert_eq!(measure("misses"), Some(Measure::Misses(0)));
        assert_eq!(measure("L1"), Some(Measure::Misses(0)));
        assert_eq!(measure("cycles"), Some(Measure::Cycles));
        assert_eq!(measure("L2"), None);
        assert!("L0".parse::<MapMeasure>().is_err());
        assert_eq!(
            "misses".parse::<MapMeasure>().unwrap().in_caches(&Caches::none()),
            None
        );
    }
}
