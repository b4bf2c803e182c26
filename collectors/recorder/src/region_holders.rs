//! Releases the regions in which processes were that are gone: killed, by `_exit`, or since they execute another program.

use crate::process_handle::{has_ended, open_process};
use crate::ring::{RegionHolder, Ring};

/// What the last look found.
#[derive(Default)]
pub struct RegionHolders {
    known: Vec<RegionHolder>,
    were_locked: bool,
}

impl RegionHolders {
    /// Looks at all processes that are in regions.
    pub fn poll(&mut self, ring: &Ring) {
        let holders = ring.region_holders();
        let is_gone = |holder: &&RegionHolder| self.is_gone(ring, holder);
        let gone: Vec<RegionHolder> = holders.iter().filter(is_gone).copied().collect();
        // To close a window takes some microseconds. Who has the lock after this long was killed with it.
        let is_locked = ring.regions_are_locked();
        let is_stuck = is_locked && self.were_locked;
        if is_stuck || !(gone.is_empty() || is_locked) {
            ring.release_regions(&gone);
        }
        self.were_locked = is_locked;
        self.known = holders;
    }

    /// Whether the process executes another program is asked only where nothing has changed since the last look, for it
    /// costs the program a lock.
    fn is_gone(&self, ring: &Ring, holder: &RegionHolder) -> bool {
        let pid = holder.pid();
        match open_process(pid) {
            Some(process) if !has_ended(&process) => self.known.contains(holder) && !ring.is_mapped_in(pid),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::options::{Output, RecordOptions};
    use crate::ring::Cause;

    const NOBODY: u32 = i32::MAX as u32 - 1;

    fn ring() -> Ring {
        let mut options = RecordOptions::new("p", Output::Discard);
        options.windows.only_regions = vec!["own".to_owned()];
        let ring = Ring::create(&options).unwrap();
        assert!(ring.begin_window(Cause::Region));
        ring
    }

    fn child() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn the_last_process_closes_the_window_by_its_end() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        ring.hold_regions(0, std::process::id(), 2);
        ring.hold_regions(7, NOBODY, 3);
        let mut holders = RegionHolders::default();
        holders.poll(&ring);
        assert_eq!(ring.region_holders().len(), 1);
        assert!(ring.open_window().is_some(), "this process is in a region still");
        ring.hold_regions(0, NOBODY, 1);
        holders.poll(&ring);
        assert!(ring.region_holders().is_empty() && ring.open_window().is_none());
        assert!(!ring.regions_are_locked());
    }

    #[test]
    fn another_program_in_the_process_is_in_no_region() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        let mut child = child();
        ring.hold_regions(3, child.id(), 1);
        let mut holders = RegionHolders::default();
        holders.poll(&ring);
        assert!(ring.open_window().is_some(), "at first it may have come just now");
        holders.poll(&ring);
        assert!(ring.open_window().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_killed_with_the_lock_stops_nobody() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        ring.hold_regions(0, NOBODY, 1);
        ring.lock_regions();
        let mut holders = RegionHolders::default();
        holders.poll(&ring);
        assert!(
            ring.open_window().is_some(),
            "another one may be about to close it"
        );
        holders.poll(&ring);
        assert!(ring.open_window().is_none() && !ring.regions_are_locked());
    }

    #[test]
    fn what_others_opened_after_the_regions_stays_open() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        ring.hold_regions(0, NOBODY, 1);
        ring.forget_regions();
        RegionHolders::default().poll(&ring);
        assert!(ring.region_holders().is_empty() && ring.open_window().is_some());
    }
}
