//! The interrupt of a processor's timer as a tracepoint: the last resort.

use std::path::Path;

use super::{number, EventPlan, Source};

/// `type` of tracepoints.
const TRACEPOINT: u32 = 2;
const ENTRY: &str = "events/irq_vectors/local_timer_entry/id";

/// The tracepoint, by the folder of tracefs. None where the kernel has none, or doesn't let this user read which it is.
pub fn tick(tracing: &Path) -> Option<EventPlan> {
    let config = number(&tracing.join(ENTRY))?;
    Some(EventPlan {
        name: "irq_vectors:local_timer_entry".into(),
        source: Source::Tick,
        weight_unit: "ns",
        kind: TRACEPOINT,
        config: config.into(),
        config1: 0,
        config2: 0,
        precise: 0,
        // The tracepoint itself is in the kernel.
        excludes_kernel: false,
        leader: None,
    })
}

/// Time between two ticks, which is the resolution of the kernel's coarse clock.
pub fn tick_period_ns() -> u64 {
    let mut resolution = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes the structure.
    let status = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut resolution) };
    match (status, u64::try_from(resolution.tv_nsec)) {
        (0, Ok(period_ns @ 1..)) => period_ns,
        _ => 10_000_000, // the slowest tick that kernels are built with
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::devices;
    use super::*;

    #[test]
    fn the_tracepoint_is_known_by_its_number() {
        let folder = devices(&[(ENTRY, "165")]);
        let plan = tick(folder.path()).unwrap();
        assert_eq!(
            (plan.kind, plan.config, plan.source),
            (TRACEPOINT, 165, Source::Tick)
        );
        assert!(!plan.excludes_kernel);
        assert_eq!(tick(Path::new("/nonexistent")), None);
    }

    #[test]
    fn ticks_are_milliseconds_apart() {
        assert!((900_000..=10_000_000).contains(&tick_period_ns()));
    }
}
