//! What `record --stats` says of a recording.

use std::time::Duration;

use trackway_recorder::{Output, RecordOptions, RecordSummary, RecorderWork};
use trackway_report::{grouped, percent};

/// The program's threads waited for the recorder if they did so for this part of the run.
const WAITING: f64 = 0.05;

/// Lines of what the recorder did, and in the last one what bounded the run.
pub fn describe(summary: &RecordSummary, work: &RecorderWork, options: &RecordOptions) -> String {
    let steps = [
        ("moving out of the ring", work.moving),
        ("splitting", work.encoding.splitting),
        ("compressing", work.encoding.compressing),
        ("checksums", work.encoding.checksums),
        ("writing", work.writing),
    ];
    let known: Duration = steps.iter().map(|(_, time)| *time).sum();
    let rest = (summary.recorder_cpu_seconds - known.as_secs_f64()).max(0.0);
    let mut lines = vec![
        "statistics:".to_owned(),
        line("bytes of records", &grouped(summary.raw_bytes)),
        line("bytes of the trace", &stored(summary)),
        line("run", &seconds(summary.wall_seconds)),
        line("waits for free buffers", &seconds(work.waiting.as_secs_f64())),
        line("recorder's CPU time", &seconds(summary.recorder_cpu_seconds)),
    ];
    let steps = steps.map(|(step, time)| (step, time.as_secs_f64()));
    for (step, time) in steps.into_iter().chain([("the rest", rest)]) {
        lines.push(line(&format!("  {step}"), &seconds(time)));
    }
    let chunks = [
        ("plain", work.chunks.plain),
        ("compressed", work.chunks.compressed),
        ("split", work.chunks.split),
        ("split, compressed", work.chunks.split_and_compressed),
    ];
    let total: u64 = chunks.iter().map(|(_, count)| count).sum();
    lines.push(line("chunks of records", &grouped(total)));
    for (way, count) in chunks {
        lines.push(line(&format!("  {way}"), &grouped(count)));
    }
    lines.push(line("bounded by", bound(summary, work, options)));
    lines.join("\n")
}

fn line(name: &str, value: &str) -> String {
    format!("  {name:26} {value}")
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

fn stored(summary: &RecordSummary) -> String {
    let bytes = grouped(summary.stored_bytes);
    match summary.raw_bytes {
        0 => bytes,
        records => {
            let share = summary.stored_bytes as f64 / records as f64;
            format!("{bytes}, {} of the records", percent(share))
        }
    }
}

fn bound(summary: &RecordSummary, work: &RecorderWork, options: &RecordOptions) -> &'static str {
    let encoding = work.encoding.splitting + work.encoding.compressing + work.encoding.checksums;
    if work.waiting.as_secs_f64() < WAITING * summary.wall_seconds {
        "the program itself"
    } else if options.output == Output::Discard {
        "the recorder's emptying of buffers"
    } else if work.writing_wall > work.moving + encoding {
        "writing to the target"
    } else {
        "the recorder's encoding"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclusion::tests::summary;

    fn bound_of(waiting: u64, encoding: u64, writing: u64) -> &'static str {
        let mut work = RecorderWork {
            waiting: Duration::from_millis(waiting),
            writing_wall: Duration::from_millis(writing),
            ..RecorderWork::default()
        };
        work.encoding.splitting = Duration::from_millis(encoding);
        let summary = RecordSummary {
            wall_seconds: 1.0,
            ..summary()
        };
        let path = "t".into();
        let options = RecordOptions::new("p", Output::File { path, force: false });
        bound(&summary, &work, &options)
    }

    #[test]
    fn the_bound_is_what_the_program_waits_for() {
        assert_eq!(bound_of(20, 900, 90), "the program itself");
        assert_eq!(bound_of(500, 900, 90), "the recorder's encoding");
        assert_eq!(bound_of(500, 90, 900), "writing to the target");
    }

    #[test]
    fn what_is_not_measured_is_the_rest() {
        let mut summary = summary();
        (
            summary.recorder_cpu_seconds,
            summary.raw_bytes,
            summary.stored_bytes,
        ) = (1.5, 2000, 1000);
        let work = RecorderWork {
            moving: Duration::from_millis(500),
            ..RecorderWork::default()
        };
        let text = describe(&summary, &work, &RecordOptions::new("p", Output::Discard));
        assert!(text.contains("  moving out of the ring   0.500 s\n"), "{text}");
        assert!(text.contains("  the rest                 1.000 s\n"), "{text}");
        assert!(text.contains("1,000, 50.0 % of the records\n"), "{text}");
    }
}
