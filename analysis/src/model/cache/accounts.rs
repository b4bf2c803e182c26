//! Misses on the account of owners that the caller chooses.

use trackway_trace::Lane;

use super::simulator::Form;
use super::{Access, Caches, LineChanges, Outcome, Simulator};

/// Misses of an owner in a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Missed {
    pub owner: u32,
    pub level: usize,
    pub lines: u64,
}

/// Caches that report whose accesses missed, when they settle at the latest. Plain levels take many accesses together,
/// which takes about half the time. Owners are numbers below 2^31.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    simulator: Simulator,
    changes: LineChanges,
}

impl Accounts {
    /// None if there is no level to simulate.
    pub fn new(caches: &Caches) -> Option<Accounts> {
        let (simulator, changes) = Simulator::new(caches).zip(caches.line_changes())?;
        Some(Accounts { simulator, changes })
    }

    /// The core on which a thread runs; see [`Simulator::core_of`].
    pub fn core_of(&mut self, thread: u32) -> usize {
        self.simulator.core_of(thread)
    }

    /// Runs an access through the caches.
    #[inline(always)]
    pub fn take(&mut self, owner: u32, access: &Access, mut tell: impl FnMut(Missed)) {
        if let Form::Plain(levels) = &mut self.simulator.form {
            let Access {
                address,
                length,
                is_write,
                ..
            } = *access;
            levels.use_bytes(owner, address, length, is_write, one_line(&mut tell));
        } else {
            self.take_at_once(owner, access, &mut tell);
        }
    }

    #[inline(never)]
    fn take_at_once(&mut self, owner: u32, access: &Access, tell: &mut impl FnMut(Missed)) {
        let mut outcome = Outcome::default();
        self.simulator.access(access, &mut outcome);
        for (level, lines) in outcome.misses.into_iter().enumerate() {
            if lines > 0 {
                tell(Missed { owner, level, lines });
            }
        }
    }

    /// Runs those iterations of a run through the caches that change something in them. `of_lane` gives the owner of
    /// the lane with that number, and whether it writes.
    pub fn take_run(
        &mut self,
        core: usize,
        (lanes, count): (&[Lane], u64),
        of_lane: impl Fn(usize) -> (u32, bool),
        mut tell: impl FnMut(Missed),
    ) {
        self.changes.begin(lanes, count);
        while let Some(iteration) = self.changes.next_iteration() {
            let before = self.simulator.changes();
            for (number, lane) in lanes.iter().enumerate() {
                let (owner, is_write) = of_lane(number);
                let access = Access {
                    core,
                    site: lane.site.index(),
                    address: lane.address_in(iteration),
                    length: lane.size.into(),
                    is_write,
                };
                self.take(owner, &access, &mut tell);
            }
            let changed = self.simulator.changes() != before;
            self.changes.simulated(lanes, changed);
        }
    }

    /// Reports all misses that were not reported yet.
    pub fn settle(&mut self, mut tell: impl FnMut(Missed)) {
        if let Form::Plain(levels) = &mut self.simulator.form {
            levels.settle(one_line(&mut tell));
        }
    }
}

fn one_line(tell: &mut impl FnMut(Missed)) -> impl FnMut(u32, usize) + '_ {
    |owner, level| {
        tell(Missed {
            owner,
            level,
            lines: 1,
        })
    }
}
