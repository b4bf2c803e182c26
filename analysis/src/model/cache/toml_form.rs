//! Caches described by a TOML document, and the ready-made ones.

use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::geometry::parse_size;
use super::{
    CacheGeometry, CacheLevel, Caches, CachesError, Inclusion, Policy, Prefetch, Prefetcher, TlbLevel,
    WritePolicy, DEFAULT_CORES, DEFAULT_PAGE_BYTES,
};

/// Machines with published caches.
const PRESETS: [(&str, &str); 4] = [
    ("skylake-server", include_str!("presets/skylake-server.toml")),
    ("skylake-client", include_str!("presets/skylake-client.toml")),
    ("zen3", include_str!("presets/zen3.toml")),
    ("neoverse-n1", include_str!("presets/neoverse-n1.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    cache: Vec<CacheTable>,
    #[serde(default)]
    tlb: Vec<TlbTable>,
    page: Option<Size>,
    cores: Option<u32>,
    #[serde(default)]
    classes: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CacheTable {
    size: Size,
    ways: u32,
    line: u32,
    #[serde(default)]
    policy: Policy,
    #[serde(default)]
    write: WritePolicy,
    write_allocate: Option<bool>,
    #[serde(default)]
    inclusion: Inclusion,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    prefetch: Prefetcher,
    degree: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlbTable {
    entries: u32,
    ways: u32,
}

/// A number of bytes, or a text such as `32K`.
struct Size(u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        let size = match Form::deserialize(deserializer)? {
            Form::Number(number) => Some(number),
            Form::Text(text) => parse_size(&text),
        };
        size.map(Size)
            .ok_or_else(|| D::Error::custom("expected a number of bytes, such as 65536 or \"64K\""))
    }
}

impl CacheTable {
    fn level(&self) -> CacheLevel {
        CacheLevel {
            geometry: CacheGeometry {
                size_bytes: self.size.0,
                ways: self.ways,
                line_bytes: self.line,
            },
            policy: self.policy,
            write: self.write,
            write_allocate: self.write_allocate.unwrap_or(true),
            inclusion: self.inclusion,
            shared: self.shared,
            prefetch: match self.prefetch {
                Prefetcher::None => Prefetch::default(),
                kind => Prefetch {
                    kind,
                    degree: self.degree.unwrap_or(1),
                },
            },
        }
    }
}

impl Caches {
    /// `preset:NAME`, the path of a file that ends in `.toml`, or the short form that `from_str` reads.
    pub fn described_by(text: &str) -> Result<Caches, CachesError> {
        if let Some(name) = text.strip_prefix("preset:") {
            return Caches::preset(name);
        }
        if !text.ends_with(".toml") {
            return text.parse();
        }
        let failure = |what: String| CachesError::File {
            path: text.to_owned(),
            what,
        };
        let document =
            std::fs::read_to_string(Path::new(text)).map_err(|error| failure(error.to_string()))?;
        Caches::from_toml(&document).map_err(|error| failure(error.to_string()))
    }

    /// The caches of a known machine.
    pub fn preset(name: &str) -> Result<Caches, CachesError> {
        let found = PRESETS.iter().find(|(preset, _)| *preset == name);
        let (_, document) = found.ok_or_else(|| CachesError::Word {
            word: name.to_owned(),
            expected: format!("expected {}", PRESETS.map(|(name, _)| name).join(", ")),
        })?;
        Caches::from_toml(document)
    }

    /// A document with a table `cache` for each level, from the first, and a table `tlb` for each level of the TLB.
    pub fn from_toml(document: &str) -> Result<Caches, CachesError> {
        let document: Document = toml::from_str(document)
            .map_err(|error| CachesError::Setting(error.to_string().trim_end().to_owned()))?;
        let tlbs = document.tlb.iter().map(|tlb| TlbLevel {
            entries: tlb.entries,
            ways: tlb.ways,
        });
        Caches::new(document.cache.iter().map(CacheTable::level).collect())?
            .with_classes(document.classes)
            .with_tlbs(
                tlbs.collect(),
                document.page.map_or(DEFAULT_PAGE_BYTES, |size| size.0),
            )?
            .with_cores(document.cores.unwrap_or(DEFAULT_CORES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_can_be_simulated() {
        let zen3 = "L1=32K,8,64:L2=512K,8,64,inclusive:L3=32M,16,64,exclusive,shared:TLB1=64,64:TLB2=2048,8";
        assert_eq!(Caches::described_by("preset:zen3").unwrap().to_string(), zen3);
        for (name, _) in PRESETS {
            assert!(Caches::preset(name).unwrap().any_shared(), "{name}");
        }
        let message = Caches::described_by("preset:z80").unwrap_err().to_string();
        assert!(message.contains("zen3"), "{message}");
    }

    #[test]
    fn all_settings_have_a_name() {
        let document = r#"
            page = "2M"
            cores = 4
            classes = true
            [[cache]]
            size = 32768
            ways = 8
            line = 64
            policy = "plru"
            write = "through"
            write-allocate = false
            prefetch = "stride"
            degree = 2
            [[cache]]
            size = "1M"
            ways = 16
            line = 64
            policy = "srrip"
            inclusion = "inclusive"
            shared = true
            prefetch = "next-line"
            [[tlb]]
            entries = 64
            ways = 4
        "#;
        let short = "L1=32K,8,64,plru,write-through,no-write-allocate,stride=2:\
                     L2=1M,16,64,srrip,inclusive,shared,next-line=1:TLB1=64,4:page=2M:cores=4:classes";
        assert_eq!(Caches::from_toml(document), short.parse());
    }

    #[test]
    fn mistakes_are_named() {
        let level = "[[cache]]\nsize = \"1K\"\nways = 1\nline = 64\n";
        for (document, part) in [
            ("", "missing field `cache`"),
            ("[[cache]]\nsize = \"1K\"\n", "missing field `ways`"),
            (&format!("{level}sise = 4"), "unknown field `sise`"),
            (&format!("{level}policy = \"mru\""), "unknown variant `mru`"),
            (&format!("page = \"4X\"\n{level}"), "number of bytes"),
            (&format!("{level}inclusion = \"exclusive\""), "no level before"),
        ] {
            let message = Caches::from_toml(document).unwrap_err().to_string();
            assert!(message.contains(part), "{document}: {message}");
        }
        let missing = Caches::described_by("/no/such/file.toml")
            .unwrap_err()
            .to_string();
        assert!(missing.starts_with("/no/such/file.toml: "), "{missing}");
    }
}
