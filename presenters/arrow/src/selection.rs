//! What is wanted of a table.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

const EVERYTHING: RangeInclusive<u64> = 0..=u64::MAX;

/// Which columns and rows are wanted: rows that meet all restrictions. A restriction on a column that a table lacks has
/// no effect; an unknown value meets no restriction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Indices of columns in the table's schema, in the order in which they are wanted; none for all of them.
    pub columns: Option<Vec<usize>>,
    /// Numbers of streams.
    pub threads: Option<Vec<u32>>,
    /// Numbers of sites.
    pub sites: Option<Vec<u32>>,
    pub addresses: RangeInclusive<u64>,
    /// CLOCK_MONOTONIC nanoseconds.
    pub times_ns: RangeInclusive<u64>,
    /// Rows of each partition at most.
    pub limit: Option<u64>,
}

impl Default for Selection {
    /// Everything.
    fn default() -> Self {
        Selection {
            columns: None,
            threads: None,
            sites: None,
            addresses: EVERYTHING,
            times_ns: EVERYTHING,
            limit: None,
        }
    }
}

impl Selection {
    /// The chosen columns of a table that has so many.
    pub fn chosen(&self, count: usize) -> Vec<usize> {
        match &self.columns {
            Some(columns) => columns.clone(),
            None => (0..count).collect(),
        }
    }

    pub fn keeps_thread(&self, thread: Option<u32>) -> bool {
        keeps_number(self.threads.as_deref(), thread)
    }

    pub fn keeps_site(&self, site: Option<u32>) -> bool {
        keeps_number(self.sites.as_deref(), site)
    }

    pub fn keeps_address(&self, address: Option<u64>) -> bool {
        keeps_in(&self.addresses, address)
    }

    pub fn keeps_time(&self, time_ns: Option<u64>) -> bool {
        keeps_in(&self.times_ns, time_ns)
    }

    /// The limit as a number of rows in memory.
    pub(crate) fn most_rows(&self) -> usize {
        let limit = self.limit.unwrap_or(u64::MAX);
        usize::try_from(limit).unwrap_or(usize::MAX)
    }

    pub(crate) fn has_every_address(&self) -> bool {
        self.addresses == EVERYTHING
    }

    pub(crate) fn has_every_time(&self) -> bool {
        self.times_ns == EVERYTHING
    }
}

fn keeps_number(wanted: Option<&[u32]>, number: Option<u32>) -> bool {
    wanted.is_none_or(|wanted| number.is_some_and(|number| wanted.contains(&number)))
}

fn keeps_in(range: &RangeInclusive<u64>, number: Option<u64>) -> bool {
    *range == EVERYTHING || number.is_some_and(|number| range.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unknown_fits_no_restriction() {
        let everything = Selection::default();
        assert!(
            everything.keeps_thread(None) && everything.keeps_address(None) && everything.keeps_time(None)
        );
        let some = Selection {
            threads: Some(vec![3]),
            addresses: 16..=31,
            ..Selection::default()
        };
        assert!(some.keeps_thread(Some(3)) && some.keeps_address(Some(31)) && some.keeps_site(None));
        assert!(!some.keeps_thread(None) && !some.keeps_thread(Some(2)));
        assert!(!some.keeps_address(None) && !some.keeps_address(Some(32)));
    }
}
