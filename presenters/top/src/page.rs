//! What was seen as a page for the browser: the series as a plot and, of a program that was started here, its report.

use std::collections::{HashMap, HashSet};

use trackway_analysis::regions::live::{series, series_of_regions, Bins, RegionSample, Sample};
use trackway_answers::failure::Failure;
use trackway_answers::sources::SourceArguments;
use trackway_report::{counted, grouped, percent, Report, Table, TableBuilder};
use trackway_trace::Trace;
use trackway_view::{add_counted_run, empty_page, part, program_name, Target};

/// Rows of the series, of regions and threads. More can't be seen, and the page has to open at once.
const MOST_ROWS: usize = 12_000;

/// A page that is to be written at the end.
pub struct PageFile {
    target: Target,
    bins: Bins,
    sources: SourceArguments,
}

/// What was watched.
#[derive(Debug, Default, Clone)]
pub struct Watched {
    /// The program and its arguments, or the process.
    pub title: String,
    /// CLOCK_MONOTONIC nanoseconds.
    pub begin_ns: u64,
    pub with_bytes: bool,
    pub counts_all: bool,
}

impl PageFile {
    /// Fails if the page could not be written.
    pub fn new(target: Target, sources: SourceArguments) -> Result<Self, Failure> {
        target.check()?;
        Ok(PageFile {
            target,
            bins: Bins::new(MOST_ROWS),
            sources,
        })
    }

    /// `is_rest` marks what came after the last whole interval.
    pub fn add(&mut self, sample: &Sample, is_rest: bool) {
        match is_rest {
            true => self.bins.add_rest(sample),
            false => self.bins.add(sample),
        }
    }

    /// Writes it. `trace`: what the program counted in all, if that is known.
    pub fn write(self, watched: &Watched, trace: Option<&Trace>, quiet: bool) -> Result<(), Failure> {
        let title = trace.map_or_else(|| watched.title.clone(), program_name);
        let mut page = empty_page(title);
        let report = report(&self.bins, watched);
        page.parts.push(part("series", "Regions over time", report));
        if let Some(trace) = trace {
            add_counted_run(&mut page, trace, self.sources.root());
        }
        self.target.write(&page.to_html(), quiet)
    }
}

fn report(bins: &Bins, watched: &Watched) -> Report {
    let shown = shown_regions(bins);
    let samples: Vec<Sample> = bins.bins().iter().map(|bin| only(bin, &shown)).collect();
    let (begin_ns, with_bytes) = (watched.begin_ns, watched.with_bytes);
    Report {
        answer: answer(bins, watched, shown.len()),
        warnings: Vec::new(),
        tables: vec![
            series_of_regions(&samples, begin_ns, with_bytes),
            series(&samples, begin_ns, with_bytes),
            facts(bins, shown.len()),
        ],
    }
}

/// All regions that were seen; the one with the most time of its own comes first.
fn ranked(bins: &Bins) -> &[RegionSample] {
    bins.bins().last().map_or(&[], |last| &last.regions)
}

/// The first regions, as many as there is room for with all their threads; one in any case.
fn shown_regions(bins: &Bins) -> HashSet<&str> {
    let mut rows_of: HashMap<&str, usize> = HashMap::new();
    for region in bins.bins().iter().flat_map(|bin| &bin.regions) {
        *rows_of.entry(&region.name).or_default() += 1 + region.threads.len();
    }
    let mut rows = 0;
    let fits = |region: &&RegionSample| {
        let is_first = rows == 0;
        rows += rows_of.get(region.name.as_str()).copied().unwrap_or(0);
        is_first || rows <= MOST_ROWS
    };
    let fitting = ranked(bins).iter().take_while(fits);
    fitting.map(|region| region.name.as_str()).collect()
}

fn only(bin: &Sample, shown: &HashSet<&str>) -> Sample {
    let regions = bin.regions.iter();
    let kept = regions.filter(|region| shown.contains(region.name.as_str()));
    Sample {
        regions: kept.cloned().collect(),
        ..*bin
    }
}

/// Which region took most of the time, and what readers have to know of the numbers.
fn answer(bins: &Bins, watched: &Watched, shown: usize) -> String {
    let regions = ranked(bins);
    let Some(first) = regions.first() else {
        return "Nothing was counted.".into();
    };
    let seconds = whole_ns(bins) as f64 / 1e9;
    let times = regions.iter().map(|region| region.total.own_time_ns);
    let mut sentences = vec![match times.fold(0, u64::saturating_add) {
        0 => format!("In {seconds:.1} s, no time was spent in regions."),
        all => {
            let share = percent(first.total.own_time_ns as f64 / all as f64);
            format!(
                "In {seconds:.1} s, {} took {share} of the time in regions.",
                first.name
            )
        }
    }];
    if bins.samples_per_bin() > 1 {
        sentences.push(format!(
            "{} samples were merged to {} bins of {} each: a bin has their sums, and their means over time.",
            grouped(bins.samples() as u64),
            grouped(bins.bins().len() as u64),
            grouped(bins.samples_per_bin() as u64)
        ));
    }
    if shown < regions.len() {
        sentences.push(format!(
            "Of {}, the {shown} with the most time of their own are shown over time.",
            counted(regions.len() as u64, "region")
        ));
    }
    if !watched.counts_all {
        sentences.push("Entries that were not counted are estimated.".into());
    }
    if !watched.with_bytes {
        sentences.push(
            "Bytes are not known: the recorder writes no file, and only that has the program's tables."
                .into(),
        );
    }
    sentences.join(" ")
}

fn whole_ns(bins: &Bins) -> u64 {
    bins.bins().iter().map(Sample::duration_ns).sum()
}

/// What the plot is made of.
fn facts(bins: &Bins, shown: usize) -> Table {
    TableBuilder::new("samples", "Samples", &[()])
        .count("samples", |()| bins.samples())
        .count("bins", |()| bins.bins().len())
        .count("samples_per_bin", |()| bins.samples_per_bin())
        .count(("time_ns", "time (ns)"), |()| whole_ns(bins))
        .count("regions", |()| ranked(bins).len())
        .count(("shown_regions", "of them shown over time"), |()| shown)
        .as_record()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_analysis::regions::live::{Activity, ThreadSample};

    const SECOND: u64 = 1_000_000_000;

    fn sample(second: u64, regions: usize, threads: u32) -> Sample {
        let activity = Activity {
            entries: 1,
            time_ns: SECOND,
            own_time_ns: SECOND,
            bytes_read: 4_000_000,
            bytes_written: 0,
        };
        let thread = |stream| ThreadSample {
            stream,
            activity,
            ..ThreadSample::default()
        };
        let region = |number| RegionSample {
            name: format!("region {number}"),
            all: activity,
            total: activity,
            threads: (0..threads).map(thread).collect(),
        };
        Sample {
            begin_ns: second * SECOND,
            end_ns: (second + 1) * SECOND,
            threads_time_ns: SECOND,
            regions: (0..regions).map(region).collect(),
        }
    }

    fn report_on(seconds: u64, regions: usize, threads: u32) -> Report {
        let mut bins = Bins::new(MOST_ROWS);
        (0..seconds).for_each(|second| bins.add(&sample(second, regions, threads)));
        let watched = Watched {
            with_bytes: true,
            counts_all: true,
            ..Watched::default()
        };
        report(&bins, &watched)
    }

    #[test]
    fn short_runs_are_shown_as_they_were_seen() {
        let report = report_on(3, 2, 4);
        assert_eq!(
            report.answer,
            "In 3.0 s, region 0 took 50.0 % of the time in regions."
        );
        let rows: Vec<usize> = report.tables.iter().map(Table::row_count).collect();
        assert_eq!(rows, [6, 24, 1]);
    }

    #[test]
    fn long_runs_say_that_samples_were_merged() {
        let report = report_on(10_000, 1, 2);
        assert!(
            report
                .answer
                .contains("10,000 samples were merged to 2,500 bins of 4 each"),
            "{}",
            report.answer
        );
        assert_eq!(report.tables[0].row_count(), 2500);
    }

    #[test]
    fn many_regions_and_threads_are_bounded() {
        let report = report_on(100, 300, 64);
        assert!(report.tables[1].row_count() <= MOST_ROWS);
        assert!(
            report.answer.contains("Of 300 regions, the "),
            "{}",
            report.answer
        );
    }

    #[test]
    fn nothing_is_no_region() {
        for seconds in [0, 2] {
            let report = report_on(seconds, 0, 0);
            assert_eq!(report.answer, "Nothing was counted.");
            assert_eq!(report.tables[0].row_count(), 0);
        }
    }
}
