//! Which processor this is, and what is known of its model.

use std::fs;
use std::path::Path;

use rustix::thread::{sched_getaffinity, CpuSet};

use crate::costs::DEFAULT_WINDOW;

const CPUINFO: &str = "/proc/cpuinfo";
const PROCESSORS: &str = "/sys/devices/system/cpu";
const ARM: u32 = 0x41;

/// A data or unified cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cache {
    pub level: u32,
    pub size_bytes: u64,
}

/// The name of this machine's processor: the system's `model name`, and on Arm, which has none, that of the core.
pub fn processor_name() -> String {
    name_in(&cpuinfo())
}

/// Instructions in flight of this machine's processor.
pub(crate) fn window() -> u32 {
    window_in(&cpuinfo())
}

/// The processor that is measured: the first one that this process may use.
pub(crate) fn home() -> usize {
    let allowed = sched_getaffinity(None).ok();
    let first = allowed.and_then(|set| (0..CpuSet::MAX_CPU).find(|processor| set.is_set(*processor)));
    first.unwrap_or(0)
}

fn cpuinfo() -> String {
    fs::read_to_string(CPUINFO).unwrap_or_default()
}

/// The first value with that name.
fn value<'t>(cpuinfo: &'t str, name: &str) -> Option<&'t str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn number(cpuinfo: &str, name: &str) -> Option<u32> {
    let text = value(cpuinfo, name)?;
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn name_in(cpuinfo: &str) -> String {
    if let Some(name) = value(cpuinfo, "model name").filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    let core = number(cpuinfo, "CPU implementer").zip(number(cpuinfo, "CPU part"));
    match core {
        Some((ARM, part)) => match arm_core(part) {
            Some((name, _)) => format!("Arm {name}"),
            None => format!("Arm part {part:#x}"),
        },
        Some((implementer, part)) => format!("{} {implementer:#x} part {part:#x}", std::env::consts::ARCH),
        None => std::env::consts::ARCH.to_owned(),
    }
}

/// Name and reorder buffer, by the part number of the core's Technical Reference Manual. The buffers are estimates: those of
/// Arm's presentations of the cores at Hot Chips and in "Arm Neoverse Platforms", which couldn't be read again.
fn arm_core(part: u32) -> Option<(&'static str, u32)> {
    Some(match part {
        0xd0c => ("Neoverse N1", 128),
        0xd40 => ("Neoverse V1", 256),
        0xd49 => ("Neoverse N2", 160),
        0xd4f => ("Neoverse V2", 320),
        _ => return None,
    })
}

fn window_in(cpuinfo: &str) -> u32 {
    known_window(cpuinfo).unwrap_or(DEFAULT_WINDOW)
}

/// Reorder buffers by CPUID's family and model. They are estimates: those of Intel's "64 and IA-32 Architectures Optimization Reference Manual"; AMD's
/// Software Optimization Guides for families 17h, 19h and 1Ah, which couldn't be read again.
fn known_window(cpuinfo: &str) -> Option<u32> {
    if number(cpuinfo, "CPU implementer") == Some(ARM) {
        return Some(arm_core(number(cpuinfo, "CPU part")?)?.1);
    }
    let (family, model) = (number(cpuinfo, "cpu family")?, number(cpuinfo, "model")?);
    match (value(cpuinfo, "vendor_id")?, family, model) {
        ("AuthenticAMD", 0x17, 0x00..=0x2f) => Some(192),
        ("AuthenticAMD", 0x17, _) => Some(224),
        ("AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => Some(320),
        ("AuthenticAMD", 0x19, _) => Some(256),
        ("AuthenticAMD", 0x1a, _) => Some(448),
        // Skylake and Cascade Lake, Kaby Lake, Coffee Lake, Comet Lake.
        ("GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6) => Some(224),
        // Ice Lake, Tiger Lake, Rocket Lake.
        ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => Some(352),
        // Alder Lake, Raptor Lake, Sapphire Rapids, Emerald Rapids, Granite Rapids.
        ("GenuineIntel", 6, 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0x8f | 0xcf | 0xad) => Some(512),
        // Haswell and Broadwell.
        ("GenuineIntel", 6, 0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56) => Some(192),
        _ => None,
    }
}

/// The data and unified caches that this processor sees, L1 first.
pub(crate) fn caches(processor: usize) -> Vec<Cache> {
    caches_in(&Path::new(PROCESSORS).join(format!("cpu{processor}/cache")))
}

fn caches_in(folder: &Path) -> Vec<Cache> {
    let mut caches: Vec<Cache> = (0..16)
        .filter_map(|index| cache(&folder.join(format!("index{index}"))))
        .collect();
    caches.sort_by_key(|cache| (cache.level, cache.size_bytes));
    // What isn't larger than the level before can't be told from it.
    caches.dedup_by(|next, before| next.size_bytes <= before.size_bytes);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let text = |name| Some(fs::read_to_string(folder.join(name)).ok()?.trim().to_owned());
    if text("type")? == "Instruction" {
        return None;
    }
    Some(Cache {
        level: text("level")?.parse().ok()?,
        size_bytes: size_bytes(&text("size")?).filter(|size| *size > 0)?,
    })
}

/// `48K` or `32M` in bytes.
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The processors that run on the same core as this one, itself included; a list like `0-3,8`.
pub(crate) fn siblings(processor: usize) -> Vec<usize> {
    let path = format!("{PROCESSORS}/cpu{processor}/topology/thread_siblings_list");
    let list = fs::read_to_string(path).unwrap_or_default();
    let mut siblings = vec![processor];
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            siblings.extend(first..=last.min(first.saturating_add(64)));
        }
    }
    siblings
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENOA: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
                         model name\t: AMD EPYC\n";
    const GRAVITON2: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    #[test]
    fn processors_have_names_and_windows() {
        assert_eq!((name_in(GENOA).as_str(), window_in(GENOA)), ("AMD EPYC", 320));
        assert_eq!(
            (name_in(GRAVITON2).as_str(), window_in(GRAVITON2)),
            ("Arm Neoverse N1", 128)
        );
        let unknown = "CPU implementer\t: 0x41\nCPU part\t: 0xfff\n";
        assert_eq!(
            (name_in(unknown).as_str(), window_in(unknown)),
            ("Arm part 0xfff", DEFAULT_WINDOW)
        );
        assert_eq!(
            (name_in("").as_str(), window_in("")),
            (std::env::consts::ARCH, DEFAULT_WINDOW)
        );
    }

    #[test]
    fn data_caches_are_found_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        for (index, kind, level, size) in [
            (0, "Unified", "2", "2048K"),
            (1, "Instruction", "1", "32K"),
            (2, "Data", "1", "48K"),
            (3, "Unified", "3", "0K"),
        ] {
            let cache = folder.path().join(format!("index{index}"));
            fs::create_dir(&cache).unwrap();
            for (name, value) in [("type", kind), ("level", level), ("size", size)] {
                fs::write(cache.join(name), format!("{value}\n")).unwrap();
            }
        }
        let cache = |level, size_bytes| Cache { level, size_bytes };
        assert_eq!(caches_in(folder.path()), [cache(1, 48 << 10), cache(2, 2 << 20)]);
    }

    #[test]
    fn sizes_carry_a_unit() {
        assert_eq!(size_bytes("260M"), Some(260 << 20));
        assert_eq!(size_bytes("64"), Some(64));
        for text in ["K", "", "4KM", "-1K", "99999999999999999999G"] {
            assert_eq!(size_bytes(text), None, "{text}");
        }
    }
}
