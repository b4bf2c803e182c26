//! Caches on a line: `L1=32K,8,64:L2=1M,16,64,plru:L3=32M,16,64,shared:TLB1=64,4:page=2M`.

use std::fmt;
use std::str::FromStr;

use super::geometry::{parse_size, short_size};
use super::{
    CacheGeometry, CacheLevel, Caches, CachesError, Inclusion, Policy, Prefetch, Prefetcher, TlbLevel,
    WritePolicy, DEFAULT_CORES, DEFAULT_PAGE_BYTES,
};

const WORDS: &str =
    "expected lru, plru, srrip, drrip, random, write-through, no-write-allocate, inclusive, exclusive, \
                     shared, next-line=N or stride=N";
const PARTS: &str = "expected L1=..., TLB1=ENTRIES,WAYS, page=SIZE, cores=N or classes";

const POLICIES: [(&str, Policy); 5] = [
    ("lru", Policy::Lru),
    ("plru", Policy::Plru),
    ("srrip", Policy::Srrip),
    ("drrip", Policy::Drrip),
    ("random", Policy::Random),
];

const PREFETCHERS: [(&str, Prefetcher); 4] = [
    ("next-line", Prefetcher::NextLine),
    ("stride", Prefetcher::Stride),
    ("far-stride", Prefetcher::FarStride),
    ("stream", Prefetcher::Stream),
];

impl FromStr for Caches {
    type Err = CachesError;

    /// Sizes are in bytes or with K, M or G. `none` is no cache.
    fn from_str(text: &str) -> Result<Caches, CachesError> {
        if text == "none" {
            return Ok(Caches::none());
        }
        let mut parts = Parts::default();
        for part in text.split(':') {
            parts.take(text, part)?;
        }
        let caches = Caches::new(parts.levels)?.with_classes(parts.classes);
        caches
            .with_tlbs(parts.tlbs, parts.page_bytes.unwrap_or(DEFAULT_PAGE_BYTES))?
            .with_cores(parts.cores.unwrap_or(DEFAULT_CORES))
    }
}

#[derive(Default)]
struct Parts {
    levels: Vec<CacheLevel>,
    tlbs: Vec<TlbLevel>,
    page_bytes: Option<u64>,
    cores: Option<u32>,
    classes: bool,
}

impl Parts {
    fn take(&mut self, text: &str, part: &str) -> Result<(), CachesError> {
        let syntax = || CachesError::Syntax {
            text: text.to_owned(),
        };
        if part == "classes" {
            self.classes = true;
            return Ok(());
        }
        let (name, value) = part.split_once('=').ok_or_else(syntax)?;
        match name {
            "page" => self.page_bytes = Some(parse_size(value).ok_or_else(syntax)?),
            "cores" => self.cores = Some(value.parse().map_err(|_| syntax())?),
            _ if name.starts_with("TLB") => {
                let levels = self.tlbs.len();
                check_order(name, "TLB", levels)?;
                self.tlbs.push(parse_tlb(value).ok_or_else(syntax)?);
            }
            _ if name.starts_with('L') => {
                check_order(name, "L", self.levels.len())?;
                self.levels.push(parse_level(text, value)?);
            }
            _ => return Err(unknown(name, PARTS)),
        }
        Ok(())
    }
}

fn check_order(name: &str, prefix: &str, before: usize) -> Result<(), CachesError> {
    match name == format!("{prefix}{}", before + 1) {
        true => Ok(()),
        false => Err(CachesError::Levels),
    }
}

fn unknown(word: &str, expected: &str) -> CachesError {
    CachesError::Word {
        word: word.to_owned(),
        expected: expected.to_owned(),
    }
}

fn parse_tlb(text: &str) -> Option<TlbLevel> {
    let (entries, ways) = text.split_once(',')?;
    Some(TlbLevel {
        entries: entries.parse().ok()?,
        ways: ways.parse().ok()?,
    })
}

fn parse_level(text: &str, shape: &str) -> Result<CacheLevel, CachesError> {
    let mut words = shape.split(',');
    let geometry = parse_geometry(&mut words).ok_or_else(|| CachesError::Syntax {
        text: text.to_owned(),
    })?;
    let mut level = CacheLevel::new(geometry);
    for word in words {
        apply(&mut level, word)?;
    }
    Ok(level)
}

fn parse_geometry<'t>(numbers: &mut impl Iterator<Item = &'t str>) -> Option<CacheGeometry> {
    let size_bytes = parse_size(numbers.next()?)?;
    let ways = numbers.next()?.parse().ok()?;
    let line_bytes = numbers.next()?.parse().ok()?;
    Some(CacheGeometry {
        size_bytes,
        ways,
        line_bytes,
    })
}

fn apply(level: &mut CacheLevel, word: &str) -> Result<(), CachesError> {
    match word {
        "write-through" => level.write = WritePolicy::Through,
        "no-write-allocate" => level.write_allocate = false,
        "inclusive" => level.inclusion = Inclusion::Inclusive,
        "exclusive" => level.inclusion = Inclusion::Exclusive,
        "shared" => level.shared = true,
        _ => match (find(&POLICIES, word), parse_prefetch(word)) {
            (Some(policy), _) => level.policy = policy,
            (None, Some(prefetch)) => level.prefetch = prefetch,
            (None, None) => return Err(unknown(word, WORDS)),
        },
    }
    Ok(())
}

fn find<T: Copy>(names: &[(&str, T)], word: &str) -> Option<T> {
    names
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}

fn parse_prefetch(word: &str) -> Option<Prefetch> {
    let (name, degree) = word.split_once('=').unwrap_or((word, "1"));
    Some(Prefetch {
        kind: find(&PREFETCHERS, name)?,
        degree: degree.parse().ok()?,
    })
}

impl fmt::Display for Caches {
    /// Writes the form that [`Caches::from_str`] reads.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if self.levels().is_empty() {
            return formatter.write_str("none");
        }
        let mut parts = Vec::new();
        for (index, level) in self.levels().iter().enumerate() {
            parts.push(format!("L{}={level}", index + 1));
        }
        for (index, tlb) in self.tlbs().iter().enumerate() {
            parts.push(format!("TLB{}={},{}", index + 1, tlb.entries, tlb.ways));
        }
        if self.page_bytes() != DEFAULT_PAGE_BYTES {
            parts.push(format!("page={}", short_size(self.page_bytes())));
        }
        if self.cores() != DEFAULT_CORES {
            parts.push(format!("cores={}", self.cores()));
        }
        if self.classes() {
            parts.push("classes".into());
        }
        formatter.write_str(&parts.join(":"))
    }
}

impl fmt::Display for CacheLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let CacheGeometry {
            size_bytes,
            ways,
            line_bytes,
        } = self.geometry;
        write!(formatter, "{},{ways},{line_bytes}", short_size(size_bytes))?;
        self.words()
            .iter()
            .try_for_each(|word| write!(formatter, ",{word}"))
    }
}

impl CacheLevel {
    /// What differs from a plain level.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (name, policy) in POLICIES {
            if self.policy == policy && policy != Policy::Lru {
                words.push(name.to_owned());
            }
        }
        for (is_so, word) in [
            (self.write == WritePolicy::Through, "write-through"),
            (!self.write_allocate, "no-write-allocate"),
            (self.inclusion == Inclusion::Inclusive, "inclusive"),
            (self.inclusion == Inclusion::Exclusive, "exclusive"),
            (self.shared, "shared"),
        ] {
            words.extend(is_so.then(|| word.to_owned()));
        }
        for (name, kind) in PREFETCHERS {
            if self.prefetch.kind == kind {
                words.push(format!("{name}={}", self.prefetch.degree));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_geometry_agree() {
        let text = "L1=48K,12,64:L2=2M,16,64:L3=12M,16,64";
        let caches: Caches = text.parse().unwrap();
        assert_eq!(caches.to_string(), text);
        let sets: Vec<u64> = caches
            .levels()
            .iter()
            .map(|level| level.geometry.sets())
            .collect();
        assert_eq!(sets, [64, 2048, 12288]);
        for text in [
            "L1=512,2,64",
            "none",
            "L1=32K,8,64,plru,write-through,no-write-allocate,stride=2:L2=1M,16,64,srrip,inclusive:L3=8M,16,64,exclusive,shared",
            "L1=32K,8,64,random:L2=1M,16,64,drrip,next-line=1:TLB1=64,4:TLB2=1536,12:page=2M:cores=4:classes",
        ] {
            assert_eq!(text.parse::<Caches>().unwrap().to_string(), text);
        }
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
            ("L1=32K,8,8", "at least 16"),
            ("L1=1000,8,64", "multiple"),
            ("L1=0,8,64", "multiple"),
            ("L1=99999999999G,8,64", "expected"),
            ("L1=1024G,8,64", "64 GiB"),
            ("L1=32K,8,64:L2=1M,16,32", "shorter"),
            (
                "L1=1K,1,64:L2=1K,1,64:L3=1K,1,64:L4=1K,1,64:L5=1K,1,64",
                "at most 4",
            ),
            ("L1=48K,12,64,plru", "plru needs"),
            ("L1=1K,1,64,inclusive", "no level before"),
            ("L1=1K,1,64,shared", "core's own"),
            ("L1=1K,1,64:L2=1K,1,64,shared:L3=1K,1,64", "must be shared"),
            ("L1=1K,1,64:L2=1K,1,128,shared", "lines of one size"),
            ("L1=1K,1,64:L2=1K,1,64,exclusive,stride", "nothing is prefetched"),
            ("L1=1K,1,64,next-line=99", "lines ahead"),
            ("L1=1K,1,64:TLB2=64,4", "order"),
            ("L1=1K,1,64:TLB1=64,5", "multiple of the ways"),
            ("L1=1K,1,64:page=3K", "power of two"),
            ("L1=1K,1,64:page=32", "from a line"),
            ("L1=1K,1,64:cores=0", "cores"),
            ("L1=1K,1,64:TLB1=4,4:TLB2=4,4:TLB3=4,4", "at most TLB1 to TLB2"),
            ("L1=1K,1,64:x=1", "expected L1"),
        ] {
            let message = text.parse::<Caches>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
