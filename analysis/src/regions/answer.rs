//! The finding in a sentence.

use trackway_report::{grouped, percent};

use super::tables::megabytes_per_second;
use super::Regions;

/// Such as "solve takes 81.3 % of the time in regions: 3,420 MB/s read, 1,200 MB/s written (raw)"
pub fn answer(regions: &Regions) -> String {
    let Some(first) = regions.regions.first() else {
        return "Nothing was counted.".into();
    };
    let totals = first.totals();
    let times = regions.regions.iter().map(|region| region.totals().own_time_ns);
    let all = times.fold(0, u64::saturating_add);
    let rate = |bytes| megabytes_per_second(bytes, totals.own_counted_time_ns);
    let counted = &totals.counted_accesses;
    let Some((read, written)) = rate(counted.bytes_read).zip(rate(counted.bytes_written)) else {
        return format!("The time of {} is not known.", first.name);
    };
    let share = match all {
        0 => String::new(),
        all => percent(totals.own_time_ns as f64 / all as f64),
    };
    let place = match regions.regions.len() {
        1 => first.name.clone(),
        _ => format!("{} takes {share} of the time in regions", first.name),
    };
    let [read, written] = [read, written].map(|rate| grouped(rate.round() as u64));
    format!("{place}: {read} MB/s read, {written} MB/s written (raw)")
}
