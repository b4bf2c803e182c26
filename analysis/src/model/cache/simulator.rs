//! The simulation for any caches.

use super::hierarchy::Hierarchy;
use super::plain::PlainLevels;
use super::replacement::Lru;
use super::store::{AnySets, Sets};
use super::{Caches, Outcome, Policy, Totals};

/// One access to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The core, as [`Simulator::core_of`] gives it.
    pub core: usize,
    /// A number for the instruction.
    pub site: usize,
    pub address: u64,
    pub length: u64,
    pub is_write: bool,
}

/// What each form of the simulation can do.
pub(crate) trait Simulation {
    /// Grows with every change that accesses make but for the order of use and the dirtiness of first-level lines.
    fn changes(&self) -> u64;

    /// Totals of all accesses so far.
    fn totals(&self) -> Totals;

    /// See [`Simulator::set_time`].
    fn set_time(&mut self, now_ns: f64);

    /// Whether a level is shared between cores.
    fn is_shared(&self) -> bool;

    /// The core on which a thread runs. If no level is shared, there is one: each thread needs caches of its own.
    fn core_of(&mut self, thread: u32) -> usize;

    /// Runs an access of `length` bytes of a core through the caches. An access of length 0 touches nothing. An access
    /// beyond the end of the address space ends there.
    fn access(
        &mut self,
        core: usize,
        site: usize,
        address: u64,
        length: u64,
        is_write: bool,
        outcome: &mut Outcome,
    );
}

/// Caches of threads. The same simulation in three forms, so that what isn't asked for costs nothing.
#[derive(Debug, Clone)]
pub struct Simulator {
    pub(crate) form: Form,
}

#[derive(Debug, Clone)]
pub(crate) enum Form {
    Plain(Box<PlainLevels>),
    Lru(Box<Hierarchy<Sets<Lru>>>),
    Any(Box<Hierarchy<AnySets>>),
}

/// Does the same with any form.
macro_rules! with_form {
    ($simulator:expr, $hierarchy:ident => $action:expr) => {
        match &mut $simulator.form {
            $crate::model::cache::Form::Plain(form) => {
                let $hierarchy = &mut **form;
                $action
            }
            $crate::model::cache::Form::Lru(form) => {
                let $hierarchy = &mut **form;
                $action
            }
            $crate::model::cache::Form::Any(form) => {
                let $hierarchy = &mut **form;
                $action
            }
        }
    };
}
pub(crate) use with_form;

impl Simulator {
    /// None if there is no level to simulate.
    pub fn new(caches: &Caches) -> Option<Simulator> {
        let mut levels = caches.levels().iter();
        let form = match () {
            () if caches.levels().is_empty() => return None,
            () if caches.is_plain() => Form::Plain(Box::new(PlainLevels::new(caches))),
            () if levels.all(|level| level.policy == Policy::Lru) => {
                Form::Lru(Box::new(Hierarchy::new(caches)))
            }
            () => Form::Any(Box::new(Hierarchy::new(caches))),
        };
        Some(Simulator { form })
    }

    /// The core on which a thread runs. If no level is shared, there is one: each thread needs a simulator of its own.
    pub fn core_of(&mut self, thread: u32) -> usize {
        with_form!(self, hierarchy => hierarchy.core_of(thread))
    }

    /// When the next accesses are. Only [`Caches::with_stays`] asks for it.
    #[inline(always)]
    pub fn set_time(&mut self, now_ns: f64) {
        with_form!(self, hierarchy => hierarchy.set_time(now_ns));
    }

    /// Runs an access through the caches, and adds what it missed to `outcome`.
    pub fn access(&mut self, access: &Access, outcome: &mut Outcome) {
        let Access {
            core,
            site,
            address,
            length,
            is_write,
        } = *access;
        with_form!(self, hierarchy => hierarchy.access(core, site, address, length, is_write, outcome));
    }

    /// See [`Simulation::changes`].
    pub(crate) fn changes(&self) -> u64 {
        match &self.form {
            Form::Plain(hierarchy) => hierarchy.changes(),
            Form::Lru(hierarchy) => hierarchy.changes(),
            Form::Any(hierarchy) => hierarchy.changes(),
        }
    }

    /// Totals of all accesses so far.
    pub fn totals(&self) -> Totals {
        match &self.form {
            Form::Plain(hierarchy) => hierarchy.totals(),
            Form::Lru(hierarchy) => hierarchy.totals(),
            Form::Any(hierarchy) => hierarchy.totals(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cache::MAX_LEVELS;

    fn misses(caches: &str, accesses: &[(u64, u64)]) -> [u64; MAX_LEVELS] {
        let mut simulator = Simulator::new(&caches.parse().unwrap()).unwrap();
        let mut outcome = Outcome::default();
        for &(address, length) in accesses {
            let access = Access {
                core: 0,
                site: 0,
                address,
                length,
                is_write: false,
            };
            simulator.access(&access, &mut outcome);
        }
        outcome.misses
    }

    #[test]
    fn a_scan_misses_once_per_line() {
        let scan: Vec<(u64, u64)> = (0..1024).map(|index| (index * 4, 4)).collect();
        assert_eq!(misses("L1=32K,8,64:L2=1M,16,128", &scan), [64, 32, 0, 0]);
    }

    #[test]
    fn a_second_scan_hits_where_it_fits() {
        let twice: Vec<(u64, u64)> = (0..2).flat_map(|_| (0..16).map(|line| (line * 64, 8))).collect();
        // 16 lines: too many for 8 of L1 in LRU order, few enough for 32 of L2.
        assert_eq!(misses("L1=512,8,64:L2=2K,8,64", &twice), [32, 16, 0, 0]);
        assert_eq!(misses("L1=1K,8,64", &twice), [16, 0, 0, 0]);
    }

    /// 64 lines, twice: the second time after so many nanoseconds, of which lines stay 1000 in the mean.
    fn misses_after(between_ns: f64) -> [u64; MAX_LEVELS] {
        let caches: Caches = "L1=512,8,64:L2=64K,8,64".parse().unwrap();
        let mut simulator = Simulator::new(&caches.with_stays(Some(1000))).unwrap();
        let mut outcome = Outcome::default();
        for time_ns in [0.0, between_ns] {
            simulator.set_time(time_ns);
            for line in 0..64 {
                let access = Access {
                    core: 0,
                    site: 0,
                    address: line * 64,
                    length: 8,
                    is_write: true,
                };
                simulator.access(&access, &mut outcome);
            }
        }
        // Each line that others replaced was written back, and nothing else left the last level.
        assert_eq!(
            simulator.totals().traffic.bytes_written,
            (outcome.misses[1] - 64) * 64
        );
        outcome.misses
    }

    #[test]
    fn others_replace_lines_of_the_last_level_in_time() {
        assert_eq!(misses_after(0.0), [128, 64, 0, 0]);
        assert_eq!(misses_after(1e6), [128, 128, 0, 0]);
        let [first, some, ..] = misses_after(693.0);
        assert_eq!(first, 128);
        assert!((85..=107).contains(&some), "{some}");
    }

    #[test]
    fn an_access_across_a_border_touches_both_lines() {
        assert_eq!(misses("L1=32K,8,64", &[(60, 8), (0, 1), (64, 1)]), [2, 0, 0, 0]);
        assert_eq!(misses("L1=32K,8,64", &[(0, 64), (64, 65)]), [3, 0, 0, 0]);
    }

    #[test]
    fn the_ends_of_the_address_space_are_safe() {
        let ends = [(0, 0), (u64::MAX, 0), (u64::MAX, 8), (u64::MAX - 7, 8)];
        for words in ["", ",stride=4", ",plru,next-line=2"] {
            let caches = format!("L1=32K,8,16{words}:TLB1=64,4");
            assert_eq!(misses(&caches, &ends), [1, 0, 0, 0], "{caches}");
        }
    }
}
