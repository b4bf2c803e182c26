//! Samples as tables.

use trackway_report::{Table, TableBuilder};

use super::{Activity, RegionSample, Sample, ThreadSample};

struct ThreadRow<'s> {
    sample: &'s Sample,
    region: &'s str,
    thread: &'s ThreadSample,
}

struct RegionRow<'s> {
    sample: &'s Sample,
    region: &'s RegionSample,
}

/// A row for each sample, region and thread. Times count from `begin_ns`. Bytes are left out if no tables say what the
/// counters stand for.
pub fn series(samples: &[Sample], begin_ns: u64, with_bytes: bool) -> Table {
    let rows: Vec<ThreadRow> = samples.iter().flat_map(threads_of).collect();
    let builder = TableBuilder::new("regions_over_time", "Regions over time, by thread", &rows);
    let builder = with_times(builder, begin_ns, |row| row.sample)
        .text("region", |row| row.region)
        .number("process", |row| row.thread.pid)
        .number("thread", |row| row.thread.thread)
        .number("stream", |row| row.thread.stream);
    with_activity(builder, with_bytes, |row| (row.sample, row.thread.activity)).build()
}

/// A row for each sample and region: the sums of its threads, and how even they are if there are several.
pub fn series_of_regions(samples: &[Sample], begin_ns: u64, with_bytes: bool) -> Table {
    let rows: Vec<RegionRow> = samples.iter().flat_map(regions_of).collect();
    let imbalance = |row: &RegionRow, number: fn(&Activity) -> u64| {
        let shared = Some(row.region).filter(|region| region.threads.len() > 1);
        shared.and_then(|region| region.imbalance(number))
    };
    let builder = TableBuilder::new("region_sums_over_time", "Regions over time, all threads", &rows);
    let builder = with_times(builder, begin_ns, |row| row.sample)
        .text("region", |row| &row.region.name)
        .count("threads", |row| row.region.threads.len());
    with_activity(builder, with_bytes, |row| (row.sample, row.region.all))
        .ratio(("bytes_imbalance", "max/mean bytes"), |row| {
            imbalance(row, Activity::bytes).filter(|_| with_bytes)
        })
        .ratio(("time_imbalance", "max/mean time"), |row| {
            imbalance(row, |activity| activity.time_ns)
        })
        .build()
}

fn with_times<'a, 's, R>(
    builder: TableBuilder<'a, R>,
    begin_ns: u64,
    sample: impl Fn(&R) -> &'s Sample + Copy,
) -> TableBuilder<'a, R> {
    let seconds = |ns: u64| Some(ns as f64 / 1e9);
    builder
        .rate(("time_s", "time (s)"), |row| {
            seconds(sample(row).end_ns.saturating_sub(begin_ns))
        })
        .rate(("interval_s", "interval (s)"), |row| {
            seconds(sample(row).duration_ns())
        })
}

fn with_activity<'a, 's, R>(
    builder: TableBuilder<'a, R>,
    with_bytes: bool,
    of: impl Fn(&R) -> (&'s Sample, Activity) + Copy,
) -> TableBuilder<'a, R> {
    let activity = |row: &R| of(row).1;
    let bytes = |bytes: u64| with_bytes.then_some(bytes);
    let megabytes = |row: &R, bytes: fn(&Activity) -> u64| {
        let (sample, activity) = of(row);
        let rate = sample.per_second(bytes(&activity)).filter(|_| with_bytes);
        rate.map(|bytes| bytes / 1e6)
    };
    builder
        .count("entries", |row| activity(row).entries)
        .count(("time_ns", "time (ns)"), |row| activity(row).time_ns)
        .count(("own_time_ns", "own time (ns)"), |row| activity(row).own_time_ns)
        .bytes("bytes_read", |row| bytes(activity(row).bytes_read))
        .bytes("bytes_written", |row| bytes(activity(row).bytes_written))
        .rate(("entries_per_s", "entries/s"), |row| {
            let (sample, activity) = of(row);
            sample.per_second(activity.entries)
        })
        .share(("time_share", "of the threads' time"), |row| {
            let (sample, activity) = of(row);
            sample.time_share(&activity)
        })
        .rate(("read_mb_per_s", "MB/s read"), |row| {
            megabytes(row, |activity| activity.bytes_read)
        })
        .rate(("write_mb_per_s", "MB/s written"), |row| {
            megabytes(row, |activity| activity.bytes_written)
        })
}

fn regions_of(sample: &Sample) -> impl Iterator<Item = RegionRow<'_>> {
    let regions = sample.regions.iter();
    regions.map(move |region| RegionRow { sample, region })
}

fn threads_of(sample: &Sample) -> impl Iterator<Item = ThreadRow<'_>> {
    regions_of(sample).flat_map(|RegionRow { sample, region }| {
        region.threads.iter().map(move |thread| ThreadRow {
            sample,
            region: &region.name,
            thread,
        })
    })
}
