//! The finding in a sentence.

use trackway_report::{grouped, percent};

use super::accesses::Accesses;
use super::rates::RateBy;
use super::tally::Totals;
use super::Regions;

type Rate = fn(&Totals, fn(&Accesses) -> u64) -> Option<f64>;

/// Such as "solve takes 81.3 % of the time in regions: 3,420 MB/s read, 1,200 MB/s written (raw)"
pub fn answer(regions: &Regions) -> String {
    let Some(first) = regions.regions.first() else {
        return "Nothing was counted.".into();
    };
    let totals = first.totals();
    let times = regions.regions.iter().map(|region| region.totals().own_time_ns);
    let all = times.fold(0, u64::saturating_add);
    let (rates, remark) = match totals.speed.rates.by() {
        Some(RateBy::Timed) => (Totals::corrected_rate as Rate, ""),
        Some(RateBy::Calibrated) => (Totals::corrected_rate as Rate, " (calibrated)"),
        None => (Totals::raw_rate as Rate, " (raw)"),
    };
    let read = rates(&totals, |accesses| accesses.bytes_read);
    let written = rates(&totals, |accesses| accesses.bytes_written);
    let Some((read, written)) = read.zip(written) else {
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
    format!("{place}: {read} MB/s read, {written} MB/s written{remark}")
}
