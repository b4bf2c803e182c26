//! Kinds of memory.

use crate::model::cache::parse_size;

/// A kind of memory, as far as placement needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    pub name: String,
    /// Bytes for the program; none if unlimited.
    pub capacity_bytes: Option<u64>,
    /// Latency of one dependent load that no cache answers.
    pub latency_ns: f64,
    /// Bandwidth of streams that keep the memory busy.
    pub read_bytes_per_s: f64,
    pub write_bytes_per_s: f64,
}

/// Name, ns, GB/s of reads and of writes: orders of magnitude of one socket or device, to be replaced by measured ones.
const PRESETS: [(&str, f64, f64, f64); 4] = [
    ("dram", 90.0, 100.0, 80.0),
    ("hbm", 120.0, 400.0, 350.0),
    ("cxl", 250.0, 30.0, 25.0),
    ("nvme", 80_000.0, 3.0, 2.0),
];

/// Reads `dram`, `dram:capacity=16G` or `optane:capacity=512G,latency=300ns,read=30G,write=10G`. Values that are
/// missing are those of the preset of that name.
///
/// # Errors
/// Says what is wrong, and what is expected.
pub fn parse_tier(text: &str) -> Result<Tier, String> {
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(format!("{name:?}: a tier's name is of letters, digits, - and _"));
    }
    let preset = PRESETS.into_iter().find(|(preset, ..)| *preset == name);
    let mut tier = Partial {
        capacity: None,
        latency: preset.map(|(_, latency, ..)| latency),
        read: preset.map(|(_, _, read, _)| read * 1e9),
        write: preset.map(|(.., write)| write * 1e9),
    };
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        tier.set(setting)?;
    }
    tier.whole(name)
}

struct Partial {
    capacity: Option<u64>,
    latency: Option<f64>,
    read: Option<f64>,
    write: Option<f64>,
}

impl Partial {
    fn set(&mut self, setting: &str) -> Result<(), String> {
        let expected =
            "expected capacity=SIZE, latency=NANOSECONDS, read=BYTES or write=BYTES (for each second)";
        let (key, value) = setting.split_once('=').ok_or(format!("{setting}: {expected}"))?;
        let size = || {
            parse_size(value)
                .filter(|size| *size > 0)
                .ok_or(format!("{setting}: expected a size such as 16G"))
        };
        match key {
            "capacity" => self.capacity = Some(size()?),
            "read" => self.read = Some(size()? as f64),
            "write" => self.write = Some(size()? as f64),
            "latency" => {
                let number = value.trim_end_matches("ns").parse().ok();
                let number = number.filter(|number: &f64| number.is_finite() && *number > 0.0);
                self.latency = Some(number.ok_or(format!("{setting}: expected nanoseconds, such as 250ns"))?);
            }
            _ => return Err(format!("{key}: {expected}")),
        }
        Ok(())
    }

    fn whole(self, name: &str) -> Result<Tier, String> {
        let missing =
            |what: &str| format!("{name}: is no preset (dram, hbm, cxl, nvme), so that it needs {what}=");
        Ok(Tier {
            name: name.to_owned(),
            capacity_bytes: self.capacity,
            latency_ns: self.latency.ok_or_else(|| missing("latency"))?,
            read_bytes_per_s: self.read.ok_or_else(|| missing("read"))?,
            write_bytes_per_s: self.write.ok_or_else(|| missing("write"))?,
        })
    }
}

impl Tier {
    /// The factor by which accesses take longer here than in `other`. The share `streaming` of them is bound by
    /// bandwidth, the rest by latency; the share `stores` of them writes.
    pub fn slowdown(&self, other: &Tier, streaming: f64, stores: f64) -> f64 {
        let seconds = |tier: &Tier| (1.0 - stores) / tier.read_bytes_per_s + stores / tier.write_bytes_per_s;
        let by_bandwidth = seconds(self) / seconds(other);
        let by_latency = self.latency_ns / other.latency_ns;
        streaming * by_bandwidth + (1.0 - streaming) * by_latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_presets_or_what_is_given() {
        let dram = parse_tier("dram:capacity=16G").unwrap();
        assert_eq!((dram.capacity_bytes, dram.latency_ns), (Some(16 << 30), 90.0));
        let own = parse_tier("far:latency=300ns,read=1G,write=512M,capacity=1K").unwrap();
        assert_eq!(own.write_bytes_per_s, f64::from(512 << 20));
        assert_eq!(parse_tier("cxl:latency=400").unwrap().latency_ns, 400.0);
        for (wrong, part) in [
            ("far", "needs latency="),
            ("far:latency=1,read=1G", "needs write="),
            ("dram:capacity=much", "a size"),
            ("dram:latency=-1", "nanoseconds"),
            ("dram:colour=red", "expected capacity="),
            ("a b", "letters"),
        ] {
            let error = parse_tier(wrong).unwrap_err();
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }

    #[test]
    fn slowdowns_lie_between_latency_and_bandwidth() {
        let near = parse_tier("near:latency=100,read=100,write=50").unwrap();
        let far = parse_tier("far:latency=300,read=10,write=10").unwrap();
        assert_eq!(far.slowdown(&near, 0.0, 0.5), 3.0);
        assert_eq!(far.slowdown(&near, 1.0, 0.0), 10.0);
        assert_eq!(far.slowdown(&near, 1.0, 1.0), 5.0);
        assert_eq!(far.slowdown(&near, 0.5, 0.0), 6.5);
        assert_eq!(near.slowdown(&near, 0.3, 0.3), 1.0);
    }
}
