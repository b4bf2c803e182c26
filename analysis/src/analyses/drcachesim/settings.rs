//! What is simulated: `cores=4:L1I=32K,8:L1D=32K,8:LL=8M,16:line=64:prefetch=next-line`.

use std::str::FromStr;

use crate::model::cache::parse_size;

/// More than any machine has, so that memory stays small.
const MOST_CORES: u32 = 4096;
const MOST_LINES: u64 = 1 << 26;

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    pub ways: u32,
}

/// Settings of a simulation; the defaults are those of drcachesim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub cores: u32,
    pub line_bytes: u64,
    pub instructions: Size,
    pub data: Size,
    pub last: Size,
    /// Whether a miss of the data cache brings in the next line, too.
    pub prefetches: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let first = Size {
            bytes: 32 << 10,
            ways: 8,
        };
        Settings {
            cores: 4,
            line_bytes: 64,
            instructions: first,
            data: first,
            last: Size {
                bytes: 8 << 20,
                ways: 16,
            },
            prefetches: true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{part:?}: {what}; expected parts of cores=4:L1I=32K,8:L1D=32K,8:LL=8M,16:line=64:prefetch=next-line (or none), \
     with sizes that make a power of two of sets"
)]
pub struct SettingsError {
    part: String,
    what: &'static str,
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// What isn't said is as by default.
    fn from_str(text: &str) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        for part in text.split(':').filter(|part| !part.is_empty()) {
            settings.take(part).map_err(|what| SettingsError {
                part: part.to_owned(),
                what,
            })?;
        }
        settings.check().map_err(|what| SettingsError {
            part: text.to_owned(),
            what,
        })?;
        Ok(settings)
    }
}

impl Settings {
    fn take(&mut self, part: &str) -> Result<(), &'static str> {
        let (name, value) = part.split_once('=').ok_or("no value")?;
        match name {
            "cores" => self.cores = value.parse().map_err(|_| "no number")?,
            "line" => self.line_bytes = parse_size(value).ok_or("no size")?,
            "L1I" => self.instructions = Size::parse(value)?,
            "L1D" => self.data = Size::parse(value)?,
            "LL" => self.last = Size::parse(value)?,
            "prefetch" => {
                self.prefetches = match value {
                    "next-line" => true,
                    "none" => false,
                    _ => return Err("no such prefetcher"),
                }
            }
            _ => return Err("no such setting"),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        if !(1..=MOST_CORES).contains(&self.cores) {
            return Err("so many cores can't be simulated");
        }
        if !self.line_bytes.is_power_of_two() || self.line_bytes < 4 {
            return Err("no size of a line");
        }
        let mut caches = [self.instructions, self.data, self.last].into_iter();
        caches.try_for_each(|size| size.check(self.line_bytes))
    }
}

impl Size {
    fn parse(text: &str) -> Result<Size, &'static str> {
        let (bytes, ways) = text.split_once(',').ok_or("no ways")?;
        Ok(Size {
            bytes: parse_size(bytes).ok_or("no size")?,
            ways: ways.parse().map_err(|_| "no number of ways")?,
        })
    }

    fn check(self, line_bytes: u64) -> Result<(), &'static str> {
        let set = u64::from(self.ways)
            .checked_mul(line_bytes)
            .filter(|set| *set > 0);
        let set = set.ok_or("no ways")?;
        if self.bytes / line_bytes > MOST_LINES {
            return Err("too large a cache");
        }
        match self.bytes.is_multiple_of(set) && (self.bytes / set).is_power_of_two() {
            true => Ok(()),
            false => Err("no cache has this size"),
        }
    }

    pub fn sets(self, line_bytes: u64) -> u64 {
        self.bytes / line_bytes / u64::from(self.ways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_as_by_default() {
        assert_eq!("".parse(), Ok(Settings::default()));
        let settings: Settings = "cores=2:L1D=16K,4:prefetch=none".parse().unwrap();
        let expected = Settings {
            cores: 2,
            data: Size {
                bytes: 16 << 10,
                ways: 4,
            },
            prefetches: false,
            ..Settings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn impossible_caches_are_refused() {
        for wrong in [
            "cores=0",
            "L1I=48K,8",
            "L1D=0,8",
            "L1D=32K,0",
            "LL=8M",
            "line=48",
            "LL=9999G,16",
            "x=1",
            "x",
        ] {
            assert!(wrong.parse::<Settings>().is_err(), "{wrong}");
        }
    }
}
