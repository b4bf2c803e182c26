//! Samples as a table.

use trackway_report::{Table, TableBuilder, Unit};

use super::{Sample, ThreadSample};

struct Row<'s> {
    sample: &'s Sample,
    region: &'s str,
    thread: &'s ThreadSample,
}

/// A row for each sample, region and thread. Times are since `begin_ns`; bytes are left out where no tables say what the
/// counters stand for.
pub fn series(samples: &[Sample], begin_ns: u64, with_bytes: bool) -> Table {
    let rows: Vec<Row> = samples.iter().flat_map(rows_of).collect();
    let seconds = |ns: u64| Some(ns as f64 / 1e9);
    let bytes = |bytes: u64| with_bytes.then_some(bytes);
    let megabytes = |row: &Row, bytes: u64| {
        let rate = row.sample.per_second(bytes).filter(|_| with_bytes);
        rate.map(|bytes| bytes / 1e6)
    };
    TableBuilder::new("regions_over_time", "Regions over time", &rows)
        .optional_real("time_s", "time (s)", Unit::Rate, |row| {
            seconds(row.sample.end_ns.saturating_sub(begin_ns))
        })
        .optional_real("interval_s", "interval (s)", Unit::Rate, |row| {
            seconds(row.sample.duration_ns())
        })
        .text("region", "region", |row| row.region)
        .integer("process", "process", Unit::Number, |row| row.thread.pid.into())
        .integer("thread", "thread", Unit::Number, |row| row.thread.thread.into())
        .integer("stream", "stream", Unit::Number, |row| row.thread.stream.into())
        .integer("entries", "entries", Unit::Count, |row| {
            row.thread.activity.entries
        })
        .integer("time_ns", "time (ns)", Unit::Count, |row| {
            row.thread.activity.time_ns
        })
        .integer("own_time_ns", "own time (ns)", Unit::Count, |row| {
            row.thread.activity.own_time_ns
        })
        .optional_integer("bytes_read", "bytes read", Unit::Bytes, |row| {
            bytes(row.thread.activity.bytes_read)
        })
        .optional_integer("bytes_written", "bytes written", Unit::Bytes, |row| {
            bytes(row.thread.activity.bytes_written)
        })
        .optional_real("entries_per_s", "entries/s", Unit::Rate, |row| {
            row.sample.per_second(row.thread.activity.entries)
        })
        .optional_real("time_share", "of the threads' time", Unit::Share, |row| {
            row.sample.time_share(&row.thread.activity)
        })
        .optional_real("read_mb_per_s", "MB/s read", Unit::Rate, |row| {
            megabytes(row, row.thread.activity.bytes_read)
        })
        .optional_real("write_mb_per_s", "MB/s written", Unit::Rate, |row| {
            megabytes(row, row.thread.activity.bytes_written)
        })
        .build()
}

fn rows_of(sample: &Sample) -> impl Iterator<Item = Row<'_>> {
    sample.regions.iter().flat_map(move |region| {
        region.threads.iter().map(move |thread| Row {
            sample,
            region: &region.name,
            thread,
        })
    })
}
