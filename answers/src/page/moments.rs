//! The parts of time that all parts of a page tell apart.

use std::sync::Arc;

use trackway_analysis::moments::{ChunkTimes, MomentBins};
use trackway_report::Report;

/// The bins of the places, which are as wide as their table needs them; none if that has none.
pub fn bins_of(places: &Report, times: &Arc<ChunkTimes>) -> Option<MomentBins> {
    let axis = places.tables.iter().find(|table| table.name() == "moment_axis")?;
    let width_ns = axis.integer("bin_ns", 0)?;
    Some(MomentBins::of_width(times, width_ns))
}
