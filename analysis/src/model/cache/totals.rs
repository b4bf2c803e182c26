//! Totals of simulated accesses.

use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

use super::{MAX_LEVELS, MAX_TLB_LEVELS};

/// Why a line was missed (Hill's three classes, and one for lines that other threads took away).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissClass {
    /// The level has never been asked for the line before.
    Compulsory,
    /// A fully associative LRU cache of the same size would have missed, too.
    Capacity,
    /// It would have hit.
    Conflict,
    /// Another core had written to the line, which therefore had left this level.
    Coherence,
}

pub const MISS_CLASSES: usize = 4;

/// Counts of the accesses of a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Lines missed in each level.
    pub misses: [u64; MAX_LEVELS],
    /// Pages missed in each level of the TLB.
    pub tlb_misses: [u64; MAX_TLB_LEVELS],
    /// Copies of lines that other cores lost to writes.
    pub invalidations: u64,
    /// The misses of each level by [`MissClass`], if that was asked for.
    pub classes: [[u64; MISS_CLASSES]; MAX_LEVELS],
}

impl AddAssign<&Outcome> for Outcome {
    fn add_assign(&mut self, other: &Outcome) {
        add(&mut self.misses, &other.misses);
        add(&mut self.tlb_misses, &other.tlb_misses);
        self.invalidations += other.invalidations;
        for (classes, more) in self.classes.iter_mut().zip(&other.classes) {
            add(classes, more);
        }
    }
}

fn add<const N: usize>(sums: &mut [u64; N], more: &[u64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

macro_rules! counts {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: u64,)*
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                $(self.$field += other.$field;)*
            }
        }

        impl Sub for $name {
            type Output = $name;

            fn sub(self, other: $name) -> $name {
                $name { $($field: self.$field - other.$field,)* }
            }
        }
    };
}

counts! {
    /// Totals of a cache level, over all cores.
    LevelTotals {
        /// Lines that accesses looked up. Not counted for the first level: those are its accesses.
        lookups,
        misses,
        /// Dirty lines that left the level for the next one or for memory.
        write_backs,
        /// Lines that the level's prefetcher brought in.
        prefetches,
        /// Prefetched lines that were asked for.
        useful_prefetches,
        /// Prefetched lines that left without having been asked for.
        useless_prefetches,
        /// Lines that left because an inclusive outer level lost them.
        back_invalidations,
    }
}

counts! {
    /// Totals of a TLB level.
    TlbTotals {
        /// Not counted for the first level.
        lookups,
        misses,
    }
}

counts! {
    /// What passes between the caches and memory, and between cores.
    Traffic {
        bytes_read,
        bytes_written,
        /// Copies of lines that cores lost because another one wrote.
        invalidations,
        /// Lines that a core held dirty and wrote back because another one asked for them.
        interventions,
        /// Lines that were only in another core's cache, which supplied them.
        transfers,
    }
}

/// Totals of all accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub levels: [LevelTotals; MAX_LEVELS],
    pub tlbs: [TlbTotals; MAX_TLB_LEVELS],
    pub traffic: Traffic,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        for (level, more) in self.levels.iter_mut().zip(other.levels) {
            *level += more;
        }
        for (tlb, more) in self.tlbs.iter_mut().zip(other.tlbs) {
            *tlb += more;
        }
        self.traffic += other.traffic;
    }
}

impl Sub for Totals {
    type Output = Totals;

    fn sub(mut self, other: Totals) -> Totals {
        for (level, less) in self.levels.iter_mut().zip(other.levels) {
            *level = *level - less;
        }
        for (tlb, less) in self.tlbs.iter_mut().zip(other.tlbs) {
            *tlb = *tlb - less;
        }
        self.traffic = self.traffic - other.traffic;
        self
    }
}
