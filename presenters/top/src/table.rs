//! A sample as a table for people: each region, and beneath it its threads.

use std::borrow::Cow;

use trackway_analysis::regions::live::{Activity, RegionSample, Sample};
use trackway_report::{Table, TableBuilder};

use crate::history::Histories;

pub struct Shown<'s> {
    pub sample: &'s Sample,
    pub histories: &'s Histories,
    pub title: String,
    /// Whether bytes are known.
    pub with_bytes: bool,
}

/// A region, or one of its threads.
struct Row<'s> {
    name: Cow<'s, str>,
    activity: &'s Activity,
    /// The region in all threads; none in a row of one thread.
    whole: Option<&'s RegionSample>,
}

/// Makes a table in which at most so many rows are for threads.
pub fn table(shown: &Shown, thread_rows: usize) -> Table {
    let rows = rows(shown.sample, thread_rows);
    let sample = shown.sample;
    let of_bytes = |bytes: u64| {
        sample
            .per_second(bytes)
            .filter(|_| shown.with_bytes)
            .map(|rate| rate / 1e6)
    };
    let imbalance = |row: &Row, number: fn(&Activity) -> u64| {
        let region = row.whole.filter(|region| region.threads.len() > 1)?;
        region.imbalance(number)
    };
    let builder = TableBuilder::new("regions_now", &shown.title, &rows)
        .text("region", |row| row.name.clone())
        .count("threads", |row| {
            row.whole.map(|region| region.threads.len() as u64)
        })
        .count(("entries_per_s", "entries/s"), |row| {
            sample
                .per_second(row.activity.entries)
                .map(|rate| rate.round() as u64)
        })
        .share(("time_share", "time"), |row| sample.time_share(row.activity))
        .rate(("read_mb_per_s", "MB/s read"), |row| {
            of_bytes(row.activity.bytes_read)
        })
        .rate(("write_mb_per_s", "MB/s written"), |row| {
            of_bytes(row.activity.bytes_written)
        })
        .ratio(("bytes_imbalance", "max/mean bytes"), |row| {
            imbalance(row, Activity::bytes).filter(|_| shown.with_bytes)
        })
        .ratio(("time_imbalance", "max/mean time"), |row| {
            imbalance(row, |activity| activity.time_ns)
        });
    builder
        .text("history", |row| match row.whole {
            Some(region) => shown.histories.bars(&region.name),
            None => String::new(),
        })
        .build()
}

fn rows(sample: &Sample, mut thread_rows: usize) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for region in &sample.regions {
        let threads = region.threads.len();
        rows.push(Row {
            name: Cow::Borrowed(&region.name),
            activity: &region.all,
            whole: Some(region),
        });
        // A region with one thread needs no row for it.
        let shown = if threads > 1 { threads.min(thread_rows) } else { 0 };
        thread_rows -= shown;
        rows.extend(region.threads.iter().take(shown).map(|thread| Row {
            name: Cow::Owned(format!("- {}", thread.thread)),
            activity: &thread.activity,
            whole: None,
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_analysis::regions::live::ThreadSample;
    use trackway_report::TextStyle;

    fn thread(thread: u32, bytes_read: u64) -> ThreadSample {
        ThreadSample {
            thread,
            activity: Activity {
                entries: 5,
                time_ns: 400_000_000,
                own_time_ns: 250_000_000,
                bytes_read,
                bytes_written: 0,
            },
            ..ThreadSample::default()
        }
    }

    fn sample() -> Sample {
        let threads = vec![thread(41, 30_000_000), thread(42, 10_000_000)];
        let mut all = Activity::default();
        threads.iter().for_each(|thread| all.add(thread.activity));
        Sample {
            begin_ns: 1_000_000_000,
            end_ns: 1_500_000_000,
            threads_time_ns: 1_000_000_000,
            regions: vec![RegionSample {
                name: "solve".into(),
                all,
                total: all,
                threads,
            }],
        }
    }

    fn lines(thread_rows: usize, with_bytes: bool) -> Vec<String> {
        let shown = Shown {
            sample: &sample(),
            histories: &Histories::default(),
            title: "1.5 s".into(),
            with_bytes,
        };
        let text = TextStyle::PLAIN.table(&table(&shown, thread_rows));
        let words = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        words.collect()
    }

    #[test]
    fn threads_stand_beneath_their_region() {
        let lines = lines(9, true);
        assert_eq!(lines[0], "1.5 s");
        let rows = &lines[lines.len() - 3..];
        assert_eq!(rows[0], "solve 2 20 50.0 % 80.0 0.0 x1.50 x1");
        assert_eq!(rows[1], "- 41 - 10 25.0 % 60.0 0.0 - -");
        assert_eq!(rows[2], "- 42 - 10 25.0 % 20.0 0.0 - -");
    }

    #[test]
    fn bytes_that_are_not_known_are_not_shown() {
        let lines = lines(0, false);
        assert_eq!(lines.last().unwrap(), "solve 2 20 50.0 % - - - x1");
    }
}
