//! What bursts say of rows that aren't there.

use trackway_report::{Table, TableBuilder};

use crate::model::site_counts::{Estimates, Measure};

/// One row for the whole program.
pub(super) fn table(estimates: &Estimates, measure: Measure) -> Table {
    TableBuilder::new("bursts", format!("What no burst met, by {measure}"), &[()])
        .count(("parts", "bursts, or parts of several"), |()| estimates.parts())
        .share(("unseen_high", "share of what has no row, at most"), |()| {
            estimates.unseen()
        })
        .as_record()
        .build()
}
