//! Arm's Statistical Profiling Extension: one device for each kind of core, `arm_spe_0` and so on.

use std::fs;
use std::path::{Path, PathBuf};

use super::{format_bits, number, EventPlan, Register, Source};
use crate::processors::parse_ranges;

/// What is asked of each device, where its folder of formats names it. Times, so that operations can be put in their
/// order; an interval that varies, so that loops don't meet it; loads and stores alone.
const ASKED: [&str; 4] = ["ts_enable", "jitter", "load_filter", "store_filter"];

/// Of all devices, in the order of their names.
pub fn plans(devices: &Path) -> Vec<EventPlan> {
    let entries = fs::read_dir(devices).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders.iter().filter_map(|folder| plan(folder)).collect()
}

fn plan(folder: &Path) -> Option<EventPlan> {
    let name = folder.file_name()?.to_str()?;
    if !name.starts_with("arm_spe_") {
        return None;
    }
    let kind = number(&folder.join("type"))?;
    let mut configurations = [0; 3];
    for asked in ASKED {
        if let Some((register, bits)) = format_bits(folder, asked).map(|place| place.put(1)) {
            configurations[register as usize] |= bits;
        }
    }
    let processors = fs::read_to_string(folder.join("cpumask")).ok();
    Some(EventPlan {
        name: name.to_owned(),
        source: Source::Spe,
        weight_unit: "operations",
        kind,
        config: configurations[Register::Config as usize],
        config1: configurations[Register::Config1 as usize],
        config2: configurations[Register::Config2 as usize],
        precise: 0,
        excludes_kernel: true,
        leader: None,
        processors: processors.map(|text| parse_ranges(text.trim())),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{by_processor, tests::devices};
    use super::*;

    /// As Linux 6.1 has them.
    const FORMATS: [(&str, &str); 8] = [
        ("ts_enable", "config:0"),
        ("pa_enable", "config:1"),
        ("pct_enable", "config:2"),
        ("jitter", "config:16"),
        ("branch_filter", "config:32"),
        ("load_filter", "config:33"),
        ("store_filter", "config:34"),
        ("min_latency", "config2:0-11"),
    ];

    fn device(number: u32, processors: &str) -> Vec<(String, String)> {
        let folder = format!("arm_spe_{number}");
        let formats = FORMATS
            .iter()
            .map(|(name, bits)| (format!("{folder}/format/{name}"), (*bits).to_owned()));
        let files = [
            (format!("{folder}/type"), (10 + number).to_string()),
            (format!("{folder}/cpumask"), processors.to_owned()),
        ];
        formats.chain(files).collect()
    }

    fn plans_of(files: &[(String, String)]) -> Vec<EventPlan> {
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        by_processor("aarch64", devices(&files).path())
    }

    #[test]
    fn each_kind_of_core_is_asked_for_loads_and_stores_with_times() {
        let files = [device(0, "0-3,8"), device(1, "4-7")].concat();
        let plans = plans_of(&files);
        let [first, second] = &plans[..] else {
            panic!("two devices: {plans:?}");
        };
        assert_eq!(
            (first.name.as_str(), first.kind, first.source),
            ("arm_spe_0", 10, Source::Spe)
        );
        assert_eq!(first.config, 1 | 1 << 16 | 1 << 33 | 1 << 34);
        assert_eq!((first.config1, first.config2), (0, 0));
        assert_eq!(first.processors, Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(
            (second.kind, second.processors.clone()),
            (11, Some(vec![4, 5, 6, 7]))
        );
        assert!(first.excludes_kernel);
    }

    #[test]
    fn other_devices_are_none() {
        let files = [("armv8_pmuv3_0/type".to_owned(), "8".to_owned())];
        assert_eq!(plans_of(&files), []);
        assert_eq!(by_processor("aarch64", Path::new("/nonexistent")), []);
    }
}
