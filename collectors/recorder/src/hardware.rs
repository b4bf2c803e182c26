//! Hardware events that can be counted around regions of interest, and which of them this machine has.

use std::fs;
use std::io::{self, Read};
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::abi;

/// Most events that can be counted in one recording.
pub const MOST_HARDWARE_EVENTS: usize = abi::HARDWARE_EVENTS;

/// A `type` of `struct perf_event_attr`.
const SOFTWARE: u32 = 1;
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// An event that the kernel or the processor counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardwareEvent {
    pub name: &'static str,
    /// `type` of `struct perf_event_attr`.
    kind: u32,
    config: u64,
    /// Whether it happens in the kernel only. Else what happens there isn't counted.
    in_kernel: bool,
}

const fn hardware(name: &'static str, config: u64) -> HardwareEvent {
    const TYPE: u32 = 0;
    HardwareEvent {
        name,
        kind: TYPE,
        config,
        in_kernel: false,
    }
}

const fn software(name: &'static str, config: u64) -> HardwareEvent {
    HardwareEvent {
        name,
        kind: SOFTWARE,
        config,
        in_kernel: false,
    }
}

/// Reads that miss the cache of level 1.
const L1D_MISSES: HardwareEvent = {
    const TYPE_CACHE: u32 = 3;
    const LEVEL_1_DATA: u64 = 0;
    const READ: u64 = 0;
    const MISS: u64 = 1;
    HardwareEvent {
        name: "l1d-misses",
        kind: TYPE_CACHE,
        config: LEVEL_1_DATA | READ << 8 | MISS << 16,
        in_kernel: false,
    }
};

/// All that have a name, the usual ones first. Numbers are those of linux/perf_event.h.
pub const HARDWARE_EVENTS: [HardwareEvent; 8] = [
    hardware("cycles", 0),
    hardware("instructions", 1),
    L1D_MISSES,
    hardware("llc-misses", 3),
    hardware("branch-misses", 5),
    software("page-faults", 2),
    HardwareEvent {
        in_kernel: true,
        ..software("context-switches", 3)
    },
    software("task-clock", 1),
];

/// What can't be counted, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    pub event: HardwareEvent,
    /// A text for the user, such as "this machine, or the virtual machine's host, offers no such counter".
    pub reason: String,
}

impl HardwareEvent {
    /// The event of that name.
    pub fn named(name: &str) -> Option<HardwareEvent> {
        HARDWARE_EVENTS.into_iter().find(|event| event.name == name)
    }

    /// Whether the kernel counts it, not the processor.
    fn is_kernels(self) -> bool {
        self.kind == SOFTWARE
    }

    pub(crate) fn for_ring(self) -> abi::HardwareEvent {
        abi::HardwareEvent {
            config: self.config,
            kind: self.kind,
            in_kernel: self.in_kernel.into(),
        }
    }
}

/// The events that can be counted here at the same time, and the others.
pub fn available_events(wanted: &[HardwareEvent]) -> (Vec<HardwareEvent>, Vec<Unavailable>) {
    let (mut available, mut others) = (Vec::new(), Vec::new());
    for &event in wanted {
        let mut group = beside(event, &available);
        let is_alone = group.is_empty();
        group.push(event);
        match try_group(&group) {
            Ok(()) => available.push(event),
            Err(error) => others.push(Unavailable {
                event,
                reason: reason(&error, event, is_alone),
            }),
        }
    }
    (available, others)
}

/// The group in which the event is counted: the processor's events form one, and each of the kernel's is alone.
fn beside(event: HardwareEvent, others: &[HardwareEvent]) -> Vec<HardwareEvent> {
    let others = others
        .iter()
        .filter(|other| !other.is_kernels() && !event.is_kernels());
    others.copied().collect()
}

/// Counts the events of the calling thread for a moment, as the runtime will.
fn try_group(events: &[HardwareEvent]) -> io::Result<()> {
    let mut group: Vec<OwnedFd> = Vec::new();
    for event in events {
        group.push(open(*event, group.first())?);
    }
    let Some(first) = group.first() else {
        return Ok(());
    };
    let mut sums = [0; (1 + abi::HARDWARE_EVENTS) * size_of::<u64>()];
    match fs::File::from(first.try_clone()?).read(&mut sums)? {
        0 => Err(io::Error::from_raw_os_error(libc::EBUSY)),
        _ => Ok(()),
    }
}

/// `struct perf_event_attr` as in its first version, which every kernel knows.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

fn open(event: HardwareEvent, group: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    const READ_GROUP: u64 = 1 << 3;
    const PINNED: u64 = 1 << 2;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    let flag = |condition, flag| if condition { flag } else { 0 };
    let attributes = Attributes {
        kind: event.kind,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        sample_period: 0,
        sample_type: 0,
        read_format: READ_GROUP,
        flags: flag(group.is_none(), PINNED) | flag(!event.in_kernel, EXCLUDE_KERNEL) | EXCLUDE_HYPERVISOR,
        wakeup_events: 0,
        breakpoint_type: 0,
        breakpoint_address: 0,
    };
    let group = group.map_or(-1, AsRawFd::as_raw_fd);
    let (this_thread, any_processor): (libc::pid_t, libc::c_int) = (0, -1);
    // SAFETY: the kernel reads the attributes, whose size they state, and returns a new descriptor.
    unsafe {
        let descriptor = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_processor,
            group,
            CLOSE_ON_EXEC,
        );
        match i32::try_from(descriptor) {
            Ok(descriptor) if descriptor >= 0 => Ok(OwnedFd::from_raw_fd(descriptor)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn reason(error: &io::Error, event: HardwareEvent, is_alone: bool) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            "this machine, or the virtual machine's host, offers no such counter".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            let setting = fs::read_to_string(PARANOID);
            forbidden(setting.ok().as_deref().map(str::trim), event)
        }
        Some(libc::ENOSYS) => {
            "this kernel, a container's seccomp filter or an emulator lets nobody count".into()
        }
        Some(libc::EINVAL) if !is_alone => "it can't be counted beside the others".into(),
        Some(libc::EBUSY) => "another program, such as the kernel's NMI watchdog, has the counters".into(),
        _ => error.to_string(),
    }
}

/// Why counting is forbidden, by the kernel's setting.
fn forbidden(setting: Option<&str>, event: HardwareEvent) -> String {
    let allowed = if event.in_kernel { 1 } else { 2 };
    match setting.map(str::parse::<i32>) {
        Some(Ok(level)) if level > allowed => format!(
            "{PARANOID} is {level}; {allowed} or less would allow it, and so would the capability CAP_PERFMON"
        ),
        Some(Ok(level)) => format!(
            "it is forbidden, though {PARANOID} is {level}; a container's seccomp filter or a security module may do \
             that"
        ),
        _ => "it is forbidden, as by a container's seccomp filter".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str) -> HardwareEvent {
        HardwareEvent::named(name).unwrap()
    }

    #[test]
    fn every_event_has_a_name_of_its_own() {
        for event in HARDWARE_EVENTS {
            assert_eq!(HardwareEvent::named(event.name), Some(event));
        }
        assert_eq!(HardwareEvent::named("Cycles"), None);
        assert_eq!(HardwareEvent::named(""), None);
    }

    #[test]
    fn events_of_the_processor_are_a_group() {
        let [cycles, faults, misses] = ["cycles", "page-faults", "llc-misses"].map(event);
        assert_eq!(beside(misses, &[cycles, faults]), [cycles]);
        assert_eq!(beside(faults, &[cycles]), []);
        assert_eq!(beside(cycles, &[faults]), []);
    }

    #[test]
    fn what_cannot_be_counted_is_told_apart() {
        let unknown = HardwareEvent {
            config: 1 << 40,
            ..event("page-faults")
        };
        let (available, others) = available_events(&[unknown]);
        assert_eq!((available.len(), others.len()), (0, 1));
        assert_eq!(others[0].event, unknown);
    }

    #[test]
    fn reasons_name_what_would_help() {
        let of = |number| reason(&io::Error::from_raw_os_error(number), event("cycles"), false);
        assert!(of(libc::ENOENT).contains("virtual machine"));
        assert!(of(libc::ENOSYS).contains("seccomp"));
        assert!(of(libc::EINVAL).contains("beside the others"));
        assert!(of(libc::EBUSY).contains("watchdog"));
        let cycles = forbidden(Some("3"), event("cycles"));
        assert!(
            cycles.contains("perf_event_paranoid is 3; 2 or less would allow it"),
            "{cycles}"
        );
        let switches = forbidden(Some("2"), event("context-switches"));
        assert!(switches.contains("is 2; 1 or less"), "{switches}");
        assert!(forbidden(Some("-1"), event("cycles")).contains("seccomp"));
        assert!(forbidden(None, event("cycles")).contains("seccomp"));
        assert!(forbidden(Some("?"), event("cycles")).contains("seccomp"));
    }
}
