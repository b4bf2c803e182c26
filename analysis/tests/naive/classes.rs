//! The classes of misses.

use std::collections::HashSet;

use trackway_analysis::cache::{CacheGeometry, MissClass};

pub struct NaiveClasses {
    capacity: usize,
    asked_for: HashSet<u64>,
    lost: HashSet<u64>,
    /// A fully associative cache: from the least to the most recently used line.
    used: Vec<u64>,
}

impl NaiveClasses {
    pub fn new(geometry: CacheGeometry) -> NaiveClasses {
        NaiveClasses {
            capacity: (geometry.size_bytes / u64::from(geometry.line_bytes)) as usize,
            asked_for: HashSet::new(),
            lost: HashSet::new(),
            used: Vec::new(),
        }
    }

    pub fn lose(&mut self, line: u64) {
        self.lost.insert(line);
    }

    /// The class, should it be a miss.
    pub fn see(&mut self, line: u64, _: bool) -> MissClass {
        let conflict = self.used.contains(&line);
        self.used.retain(|&other| other != line);
        self.used.push(line);
        if self.used.len() > self.capacity {
            self.used.remove(0);
        }
        let lost = self.lost.remove(&line);
        if self.asked_for.insert(line) {
            MissClass::Compulsory
        } else if lost {
            MissClass::Coherence
        } else if conflict {
            MissClass::Conflict
        } else {
            MissClass::Capacity
        }
    }
}
