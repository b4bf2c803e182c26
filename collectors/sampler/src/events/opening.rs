//! Opening events.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use perf_event_open_sys::{self as sys, bindings as perf};
use trackway_perf_records::{SampleLayout, PERF_MASK};

use super::attributes::{EventPlan, Source};
use super::processors;
use super::ring::Ring;
use crate::SamplerError;

/// Bytes of a processor's buffer: enough for a quarter of a second at 5000 samples a second.
const RING_SIZE: usize = 256 * 1024;
const SMALLEST_RING: usize = 16 * 1024;

/// How often samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Samples for each second of a thread's running.
    pub hz: u64,
}

/// The process whose instructions are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A process that is about to execute the program.
    Starting(u32),
    /// All threads of a process that runs already.
    Running(u32),
}

/// The open events and their buffers, one for each processor.
pub struct Events {
    pub rings: Vec<Ring>,
    /// Layout of all events' samples.
    pub layout: SampleLayout,
    /// Index of the plan, by the events' ids.
    ids: Vec<(u64, u32)>,
    /// Events whose records go to another one's buffer.
    others: Vec<OwnedFd>,
}

/// What all events of a recording have in common.
struct Opening<'p> {
    plans: &'p [EventPlan],
    rate: Rate,
    target: Target,
}

impl Events {
    /// Opens the events on all processors.
    pub fn open(plans: &[EventPlan], rate: Rate, target: Target) -> Result<Self, SamplerError> {
        let mut events = Events {
            rings: Vec::new(),
            layout: layout(plans),
            ids: Vec::new(),
            others: Vec::new(),
        };
        let opening = Opening { plans, rate, target };
        let threads = threads_of(target)?;
        for processor in processors::online() {
            let mut buffer = None;
            for &thread in &threads {
                match events.open_for(&opening, thread, processor, buffer) {
                    Ok(opened) => buffer = opened,
                    // A thread may end after it was listed.
                    Err(error) if error.is_of_ended_thread() => (),
                    Err(error) => return Err(error),
                }
            }
        }
        match (target, events.rings.is_empty()) {
            (Target::Running(pid) | Target::Starting(pid), true) => Err(SamplerError::NoProcess {
                pid,
                source: io::Error::from_raw_os_error(libc::ESRCH),
            }),
            _ => Ok(events),
        }
    }

    /// Opens all events of a thread on a processor. Their records go to the buffer of that event; if there is none yet,
    /// to one of their own, whose event is returned.
    fn open_for(
        &mut self,
        opening: &Opening,
        thread: u32,
        processor: u32,
        mut buffer: Option<RawFd>,
    ) -> Result<Option<RawFd>, SamplerError> {
        for (number, plan) in (0..).zip(opening.plans) {
            let mut attributes = opening.attributes(plan, number == 0, &self.layout);
            let leader = match plan.leader {
                Some(config) => {
                    let mut leading = leading(&attributes, config);
                    Some(open(&mut leading, thread, processor, None, &plan.name)?)
                }
                None => None,
            };
            let event = open(&mut attributes, thread, processor, leader.as_ref(), &plan.name)?;
            self.ids.push((id_of(&event, &plan.name)?, number));
            if let Target::Running(_) = opening.target {
                let all = leader.iter().chain([&event]);
                for event in all {
                    enable(event).map_err(|source| SamplerError::opening(&plan.name, source))?;
                }
            }
            self.others.extend(leader);
            match buffer {
                Some(buffer) => {
                    direct(&event, buffer).map_err(|source| SamplerError::Buffer { source })?;
                    self.others.push(event);
                }
                None => {
                    buffer = Some(event.as_raw_fd());
                    self.rings.push(map(event)?);
                }
            }
        }
        Ok(buffer)
    }

    /// Index of the plan by which a sample of this identity was taken.
    pub fn plan_of(&self, id: u64) -> u32 {
        let found = self.ids.iter().find(|(event, _)| *event == id);
        found.map_or(0, |(_, number)| *number)
    }
}

impl Opening<'_> {
    /// The attributes of the plan's event. On each processor, the first event also reports mappings and processes.
    fn attributes(&self, plan: &EventPlan, is_first: bool, layout: &SampleLayout) -> perf::perf_event_attr {
        let mut attributes = attributes(plan, self.rate, layout);
        attributes.set_disabled(1);
        attributes.set_inherit(1);
        attributes.set_enable_on_exec(u64::from(matches!(self.target, Target::Starting(_))));
        if is_first {
            attributes.set_mmap(1);
            attributes.set_mmap2(1);
            attributes.set_mmap_data(1);
            attributes.set_comm(1);
            attributes.set_comm_exec(1);
            attributes.set_task(1);
        }
        attributes
    }
}

/// The event that must lead a group is only counted.
fn leading(attributes: &perf::perf_event_attr, config: u64) -> perf::perf_event_attr {
    let mut leading = *attributes;
    leading.config = config;
    leading.__bindgen_anon_1.sample_period = 0;
    leading.set_freq(0);
    leading.set_precise_ip(0);
    leading
}

/// What samples hold: of the clock, the registers; of the processor's events, what they say of the access.
fn layout(plans: &[EventPlan]) -> SampleLayout {
    let common = perf::PERF_SAMPLE_IDENTIFIER
        | perf::PERF_SAMPLE_IP
        | perf::PERF_SAMPLE_TID
        | perf::PERF_SAMPLE_TIME
        | perf::PERF_SAMPLE_CPU
        | perf::PERF_SAMPLE_PERIOD;
    let access = perf::PERF_SAMPLE_ADDR | perf::PERF_SAMPLE_WEIGHT | perf::PERF_SAMPLE_DATA_SRC;
    let registers = perf::PERF_SAMPLE_REGS_USER;
    let sample_type = match plans.iter().all(|plan| plan.source.is_of_threads()) {
        true => common | registers,
        false => common | registers | access,
    };
    SampleLayout {
        sample_type: u64::from(sample_type),
        user_registers: PERF_MASK,
        identifies_all: true,
        ..SampleLayout::default()
    }
}

/// The attributes of an event that is always on.
pub fn attributes(plan: &EventPlan, rate: Rate, layout: &SampleLayout) -> perf::perf_event_attr {
    let mut attributes = perf::perf_event_attr::default();
    attributes.type_ = plan.kind;
    attributes.size = size_of::<perf::perf_event_attr>() as u32;
    attributes.config = plan.config;
    attributes.sample_type = layout.sample_type;
    attributes.sample_regs_user = layout.user_registers;
    attributes.clockid = libc::CLOCK_MONOTONIC;
    attributes.__bindgen_anon_3.config1 = plan.config1;
    attributes.__bindgen_anon_4.config2 = plan.config2;
    match plan.source {
        Source::Clock => attributes.__bindgen_anon_1.sample_period = period_ns(rate),
        Source::Tick => attributes.__bindgen_anon_1.sample_period = 1,
        _ => {
            attributes.set_freq(1);
            attributes.__bindgen_anon_1.sample_freq = rate.hz;
        }
    }
    attributes.set_precise_ip(plan.precise.into());
    attributes.set_exclude_kernel(plan.excludes_kernel.into());
    attributes.set_exclude_hv(1);
    attributes.set_use_clockid(1);
    attributes.set_sample_id_all(1);
    attributes
}

/// Time between two samples of the clock.
pub fn period_ns(rate: Rate) -> u64 {
    1_000_000_000 / rate.hz.max(1)
}

/// Opens an event of a thread (0: the calling one) on a processor, or on all if that is `u32::MAX`.
pub fn open(
    attributes: &mut perf::perf_event_attr,
    thread: u32,
    processor: u32,
    leader: Option<&OwnedFd>,
    name: &str,
) -> Result<OwnedFd, SamplerError> {
    let group = leader.map_or(-1, AsRawFd::as_raw_fd);
    let flags = libc::c_ulong::from(perf::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the kernel reads the attributes, whose size they state, and returns a new descriptor.
    unsafe {
        let descriptor =
            sys::perf_event_open(attributes, thread as libc::pid_t, processor as i32, group, flags);
        match descriptor {
            0.. => Ok(OwnedFd::from_raw_fd(descriptor)),
            _ => Err(SamplerError::opening(name, io::Error::last_os_error())),
        }
    }
}

/// A smaller buffer is better than none.
pub fn map(event: OwnedFd) -> Result<Ring, SamplerError> {
    let mut size = RING_SIZE;
    let mut event = event;
    loop {
        match Ring::map(event, size) {
            Ok(ring) => return Ok(ring),
            Err((returned, _)) if size > SMALLEST_RING => {
                event = returned;
                size /= 2;
            }
            Err((_, source)) => return Err(SamplerError::Buffer { source }),
        }
    }
}

fn id_of(event: &OwnedFd, name: &str) -> Result<u64, SamplerError> {
    let mut id = 0u64;
    // SAFETY: the kernel writes 8 bytes there.
    match unsafe { sys::ioctls::ID(event.as_raw_fd(), &mut id) } {
        -1 => Err(SamplerError::opening(name, io::Error::last_os_error())),
        _ => Ok(id),
    }
}

/// Lets the event's records go to another one's buffer.
fn direct(event: &OwnedFd, buffer: RawFd) -> io::Result<()> {
    // SAFETY: takes two descriptors that are open.
    match unsafe { sys::ioctls::SET_OUTPUT(event.as_raw_fd(), buffer) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn enable(event: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes a descriptor that is open.
    match unsafe { sys::ioctls::ENABLE(event.as_raw_fd(), 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn threads_of(target: Target) -> Result<Vec<u32>, SamplerError> {
    let pid = match target {
        Target::Starting(pid) => return Ok(vec![pid]),
        Target::Running(pid) => pid,
    };
    let entries = fs::read_dir(format!("/proc/{pid}/task"))
        .map_err(|source| SamplerError::NoProcess { pid, source })?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_a_period_and_other_events_a_frequency() {
        let plans = [crate::events::attributes::clock()];
        let layout = layout(&plans);
        let attributes = attributes(&plans[0], Rate { hz: 1000 }, &layout);
        // SAFETY: all members of the union are numbers of the same width.
        let period = unsafe { attributes.__bindgen_anon_1.sample_period };
        assert_eq!((period, attributes.freq()), (1_000_000, 0));
        assert_eq!((attributes.exclude_kernel(), attributes.use_clockid()), (1, 1));
        assert_eq!(attributes.sample_type & u64::from(perf::PERF_SAMPLE_ADDR), 0);
        let pebs = EventPlan {
            source: Source::Pebs,
            precise: 2,
            config1: 3,
            ..plans[0].clone()
        };
        let layout = super::layout(std::slice::from_ref(&pebs));
        let attributes = super::attributes(&pebs, Rate { hz: 1000 }, &layout);
        assert_eq!((attributes.freq(), attributes.precise_ip()), (1, 2));
        assert_ne!(attributes.sample_type & u64::from(perf::PERF_SAMPLE_DATA_SRC), 0);
        // SAFETY: as above.
        assert_eq!(unsafe { attributes.__bindgen_anon_3.config1 }, 3);
    }
}
