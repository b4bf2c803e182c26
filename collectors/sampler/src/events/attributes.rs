//! What to ask the kernel for: which events sample accesses on a machine, by its processor and what sysfs says.

mod tick;

pub use tick::{tick, tick_period_ns};

use std::fs;
use std::path::Path;
use trackway_trace::named_enum;

named_enum! {
    /// What takes samples.
    Source {
        /// The kernel's clock: says where a thread is, by the instruction pointer and the registers.
        Clock = "clock",
        /// AMD's instruction-based sampling.
        Ibs = "ibs",
        /// Intel's precise events of loads and stores.
        Pebs = "pebs",
        /// POWER's random sampling.
        Power = "power",
        /// The interrupt of the kernel's own timer, where its clock can't be had: a tracepoint.
        Tick = "tick",
    }
}

/// An event to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPlan {
    pub name: String,
    pub source: Source,
    /// Unit of the samples' weights.
    pub weight_unit: &'static str,
    /// `type`, `config`, `config1` and `config2` of `struct perf_event_attr`.
    pub kind: u32,
    pub config: u64,
    pub config1: u64,
    pub config2: u64,
    /// `precise_ip`.
    pub precise: u8,
    /// Whether the kernel can leave out what happens in it.
    pub excludes_kernel: bool,
    /// An event that must lead the group, by its `config`: some processors need one beside loads.
    pub leader: Option<u64>,
}

/// `type` of software events, and `config` of the clock of a thread.
const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;
/// Loads that take fewer cycles aren't sampled by processors that have such a limit.
const LEAST_LATENCY: u64 = 3;

/// The clock, which every machine has.
pub fn clock() -> EventPlan {
    EventPlan {
        name: "task-clock".into(),
        source: Source::Clock,
        weight_unit: "ns",
        kind: SOFTWARE,
        config: TASK_CLOCK,
        config1: 0,
        config2: 0,
        precise: 0,
        excludes_kernel: true,
        leader: None,
    }
}

/// The processor's own events that sample accesses, by its vendor (`vendor_id` of /proc/cpuinfo, or the architecture)
/// and the folder `/sys/bus/event_source/devices`. Empty if it has none.
pub fn by_processor(vendor: &str, devices: &Path) -> Vec<EventPlan> {
    match vendor {
        "AuthenticAMD" | "HygonGenuine" => ibs(devices).into_iter().collect(),
        "GenuineIntel" => ["cpu", "cpu_core", "cpu_atom"]
            .into_iter()
            .flat_map(|device| accesses(devices, device, Source::Pebs))
            .collect(),
        "powerpc64" => accesses(devices, "cpu", Source::Power),
        _ => Vec::new(),
    }
}

/// Samples operations at random; those that access memory name their accesses.
fn ibs(devices: &Path) -> Option<EventPlan> {
    let device = devices.join("ibs_op");
    let kind = number(&device.join("type"))?;
    // Operations are counted instead of cycles, so that all are equally likely.
    let config = format_bits(&device, "cnt_ctl").map_or(0, |place| place.put(1).1);
    // Newer kernels can drop what happens within them.
    let filter = format_bits(&device, "swfilt").map(|place| place.put(1));
    let of = |register: Register| match filter {
        Some((filtered, bits)) if filtered == register => bits,
        _ => 0,
    };
    let counts_operations = config != 0;
    Some(EventPlan {
        name: "ibs_op".into(),
        source: Source::Ibs,
        weight_unit: if counts_operations { "operations" } else { "cycles" },
        kind,
        config: config | of(Register::Config),
        config1: of(Register::Config1),
        config2: of(Register::Config2),
        precise: 0,
        excludes_kernel: filter.is_some(),
        leader: None,
    })
}

/// Loads and stores, as the kernel's folder of events describes them.
fn accesses(devices: &Path, device: &str, source: Source) -> Vec<EventPlan> {
    let folder = devices.join(device);
    let events = [("mem-loads", "loads"), ("mem-stores", "stores")];
    events
        .into_iter()
        .filter_map(|(event, unit)| access(&folder, device, event, unit, source))
        .collect()
}

fn access(folder: &Path, device: &str, event: &str, unit: &'static str, source: Source) -> Option<EventPlan> {
    let kind = number(&folder.join("type"))?;
    let [config, config1, config2] = described(folder, event)?;
    let leader = described(folder, &format!("{event}-aux")).map(|[config, ..]| config);
    let prefix = if device == "cpu" {
        String::new()
    } else {
        format!("{device}/")
    };
    Some(EventPlan {
        name: format!("{prefix}{event}"),
        source,
        weight_unit: unit,
        kind,
        config,
        config1,
        config2,
        precise: if source == Source::Pebs { 2 } else { 0 },
        excludes_kernel: true,
        leader,
    })
}

/// The three configurations that a description such as `event=0xcd,umask=0x1,ldlat=3` comes to.
fn described(folder: &Path, event: &str) -> Option<[u64; 3]> {
    let text = fs::read_to_string(folder.join("events").join(event)).ok()?;
    let mut configurations = [0; 3];
    for term in text.trim().split(',') {
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let value = match name {
            "ldlat" => LEAST_LATENCY,
            _ => parse_number(value)?,
        };
        let (register, bits) = format_bits(folder, name)?.put(value);
        configurations[register as usize] |= bits;
    }
    Some(configurations)
}

/// A member of the event's attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Config = 0,
    Config1 = 1,
    Config2 = 2,
}

/// Where a value goes, by a description such as `config:0-7,21`.
struct FormatBits {
    register: Register,
    ranges: Vec<(u32, u32)>,
}

impl FormatBits {
    /// The value at its place: its lowest bits go to the first range.
    fn put(&self, value: u64) -> (Register, u64) {
        let (mut rest, mut bits) = (value, 0);
        for (first, last) in &self.ranges {
            let width = last - first + 1;
            let part = if width < 64 {
                rest & ((1 << width) - 1)
            } else {
                rest
            };
            bits |= part << first;
            rest = rest.checked_shr(width).unwrap_or(0);
        }
        (self.register, bits)
    }
}

fn format_bits(folder: &Path, name: &str) -> Option<FormatBits> {
    let text = fs::read_to_string(folder.join("format").join(name)).ok()?;
    let (register, ranges) = text.trim().split_once(':')?;
    let register = match register {
        "config" => Register::Config,
        "config1" => Register::Config1,
        "config2" => Register::Config2,
        _ => return None,
    };
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < u64::BITS).then_some((first, last))
    };
    let ranges: Option<Vec<(u32, u32)>> = ranges.split(',').map(range).collect();
    Some(FormatBits {
        register,
        ranges: ranges?,
    })
}

fn number(path: &Path) -> Option<u32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Source {
    /// Whether samples say where a thread is by its registers, and no more.
    pub fn is_of_threads(self) -> bool {
        matches!(self, Source::Clock | Source::Tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of devices with such files.
    pub fn devices(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        folder
    }

    #[test]
    fn intels_loads_have_a_latency_and_a_leader_where_one_is_needed() {
        let folder = devices(&[
            ("cpu/type", "4"),
            ("cpu/format/event", "config:0-7"),
            ("cpu/format/umask", "config:8-15"),
            ("cpu/format/ldlat", "config1:0-15"),
            ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
            ("cpu/events/mem-loads-aux", "event=0x03,umask=0x82"),
            ("cpu/events/mem-stores", "event=0xd0,umask=0x82"),
        ]);
        let plans = by_processor("GenuineIntel", folder.path());
        let [loads, stores] = &plans[..] else {
            panic!("loads and stores: {plans:?}");
        };
        assert_eq!(
            (loads.name.as_str(), loads.kind, loads.precise),
            ("mem-loads", 4, 2)
        );
        assert_eq!((loads.config, loads.config1), (0x1cd, 3));
        assert_eq!((loads.leader, loads.source), (Some(0x8203), Source::Pebs));
        assert_eq!(
            (stores.config, stores.leader, stores.weight_unit),
            (0x82d0, None, "stores")
        );
    }

    #[test]
    fn each_kind_of_core_has_its_events() {
        let folder = devices(&[
            ("cpu_core/type", "4"),
            ("cpu_core/format/event", "config:0-7"),
            ("cpu_core/events/mem-stores", "event=0xcd"),
            ("cpu_atom/type", "10"),
            ("cpu_atom/format/event", "config:0-7"),
            ("cpu_atom/events/mem-stores", "event=0xd0"),
        ]);
        let plans = by_processor("GenuineIntel", folder.path());
        let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
        assert_eq!(names, ["cpu_core/mem-stores", "cpu_atom/mem-stores"]);
        assert_eq!(plans[1].kind, 10);
    }

    #[test]
    fn amds_operations_are_counted_and_the_kernel_left_out_where_it_can_be() {
        let old = devices(&[("ibs_op/type", "11"), ("ibs_op/format/cnt_ctl", "config:19")]);
        let plans = by_processor("AuthenticAMD", old.path());
        assert_eq!((plans[0].kind, plans[0].config), (11, 1 << 19));
        assert_eq!(
            (plans[0].excludes_kernel, plans[0].weight_unit),
            (false, "operations")
        );
        let new = devices(&[
            ("ibs_op/type", "11"),
            ("ibs_op/format/cnt_ctl", "config:19"),
            ("ibs_op/format/swfilt", "config2:0"),
        ]);
        let plans = by_processor("AuthenticAMD", new.path());
        assert_eq!((plans[0].config2, plans[0].excludes_kernel), (1, true));
        let first = devices(&[("ibs_op/type", "9")]);
        assert_eq!(
            by_processor("AuthenticAMD", first.path())[0].weight_unit,
            "cycles"
        );
    }

    #[test]
    fn powers_events_are_those_of_sysfs() {
        let folder = devices(&[
            ("cpu/type", "4"),
            ("cpu/format/event", "config:0-59"),
            ("cpu/events/mem-loads", "event=0x34340401e0"),
        ]);
        let plans = by_processor("powerpc64", folder.path());
        assert_eq!((plans[0].config, plans[0].precise), (0x34_3404_01e0, 0));
    }

    #[test]
    fn machines_without_such_events_have_none() {
        let folder = devices(&[("software/type", "1")]);
        for vendor in ["GenuineIntel", "AuthenticAMD", "powerpc64", "unknown"] {
            assert_eq!(by_processor(vendor, folder.path()), [], "{vendor}");
        }
        let unreadable = devices(&[
            ("cpu/type", "4"),
            ("cpu/events/mem-loads", "event=0xcd,new_term=1"),
        ]);
        assert_eq!(by_processor("GenuineIntel", unreadable.path()), []);
    }

    #[test]
    fn values_are_spread_over_ranges() {
        let bits = FormatBits {
            register: Register::Config,
            ranges: vec![(0, 7), (32, 35)],
        };
        assert_eq!(bits.put(0x7cd), (Register::Config, 0x7_0000_00cd));
    }
}
