//! `trackway record`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trackway_driver::Installation;
use trackway_recorder::{
    record, sample_process, AllocationTracer, Compression, Flight, Output, RecordOptions, Route, WhenFull,
    WindowOptions,
};
use trackway_recording::{buffer_size, conclude, counts, Telling};

use crate::arguments::{Codec, FlightArguments, OnFull, OnMax, RecordArguments, WindowArguments};
use crate::failure::Failure;
use crate::{live, output};

/// Bytes of encoded records that a recording keeps after its greatest size.
const USUAL_FLIGHT: u64 = 256 << 20;

/// Ends with the program's status. It reports a failed start itself, since the statuses differ.
pub fn run(arguments: RecordArguments) -> Result<ExitCode, Failure> {
    let live = arguments.live.clone();
    let telling = Telling {
        quiet: arguments.quiet,
        verbose: live.form.output.detail.verbose,
        is_analysed: live.live.is_some(),
        is_of_counts: false,
    };
    let options = options(arguments)?;
    let sampled = options.process.filter(|_| options.sampling.is_some());
    let recorded = match (live.live, sampled) {
        (None, Some(pid)) => sample_process(&options, pid),
        (Some(analysis), _) => live::record(&options, analysis, &live, telling.quiet)?,
        (None, None) => record(options.clone()),
    };
    Ok(conclude(recorded, &options, telling))
}

fn options(arguments: RecordArguments) -> Result<RecordOptions, Failure> {
    let mut words = arguments.command.into_iter();
    let running = arguments.pid.map(|pid| format!("pid-{pid}").into());
    let program = words
        .next()
        .or(running)
        .ok_or_else(|| Failure::new("name a program to record: trackway record PROGRAM ARGUMENTS"))?;
    let live = arguments.live.live.is_some();
    if !live && arguments.live.form.is_chosen() {
        return Err(Failure::new(
            "--by, --top, --sort, --cache, --json, --csv and --parquet belong to --live; without it, use `trackway report`",
        ));
    }
    let output = match (arguments.discard || live, arguments.to) {
        (true, _) => Output::Discard,
        (false, Some(address)) => Output::Collector(Route {
            address,
            reconnect_timeout: arguments.reconnect_timeout,
            window_bytes: arguments.window,
        }),
        (false, None) => Output::File {
            path: arguments.output.unwrap_or_else(|| default_output(&program)),
            force: arguments.force,
        },
    };
    let mut options = RecordOptions::new(program, output);
    options.arguments = words.collect();
    options.process = arguments.pid;
    if arguments.binary {
        options.client = Some(Installation::locate().binary_client()?);
    }
    if arguments.allocations {
        options.allocations = Some(AllocationTracer {
            library: Installation::locate().allocation_tracer()?,
            frames: arguments.frames,
        });
    }
    options.compression = match arguments.codec {
        _ if live => Compression::None, // it would be decompressed at once
        Codec::Auto => Compression::Auto,
        Codec::Columns => Compression::Columns,
        Codec::Lz4 => Compression::Lz4,
        Codec::Zstd => Compression::Zstd,
        Codec::None => Compression::None,
    };
    options.when_full = match arguments.on_full {
        OnFull::Wait => WhenFull::Wait,
        OnFull::Drop => WhenFull::Drop,
    };
    let chosen_size = arguments.buffer_size.or(arguments.windows.buffer_size());
    options.buffer_size = buffer_size(&options.program, chosen_size);
    arguments.sampling.apply(&arguments.sampled, &mut options)?;
    options.windows = arguments.windows.options();
    if has_windows_of_records(&options.windows) && options.sampling.is_none() && counts(&options.program) {
        return Err(Failure::new(
            "--max-size, --bursts, --only-region and --start-after with a number of accesses are for what is recorded or \
             sampled. Programs that count have --paused, --start-after with a time, --duration and `trackway control`; \
             or mark what is to be counted (docs/how-to/count-regions.md)",
        ));
    }
    let counts = options.count_every > 0 || options.count_cost_millionths > 0;
    if options.process.is_some() && options.sampling.is_none() && counts {
        return Err(Failure::new(
            "--pid: programs that count are recorded from their start only; add --sample to sample the process",
        ));
    }
    options.flight = flight(&arguments.flight, &arguments.windows)?;
    let is_not_counted = options.sampling.is_some() || arguments.discard || options.windows.bursts.is_some();
    if options.windows.start_after_accesses.is_some() && is_not_counted {
        return Err(Failure::new(
            "--start-after: with --sample, --bursts or --discard no accesses are counted: name a time, such as 5s",
        ));
    }
    if options.windows.counts_accesses() && (options.sampling.is_some() || arguments.discard) {
        return Err(Failure::new(
            "--bursts: with --sample or --discard no accesses are counted: name times, such as 10ms/1s",
        ));
    }
    if options.windows.start_after_accesses.is_some() && !options.windows.only_regions.is_empty() {
        return Err(Failure::new(
            "--start-after: regions can't open windows after so many accesses: name a time, such as 5s",
        ));
    }
    options.buffer_count = arguments.buffers;
    options.workers = arguments.workers.unwrap_or(options.workers);
    options.measures = arguments.stats;
    options.dump_oracle = arguments.oracle_dump;
    options.notify = |message| output::warn(message);
    if !arguments.quiet {
        options.progress = |message| output::say(message);
    }
    Ok(options)
}

/// Whether the options ask for windows that programs that count don't have.
fn has_windows_of_records(windows: &WindowOptions) -> bool {
    windows.most_bytes.is_some()
        || windows.bursts.is_some()
        || windows.start_after_accesses.is_some()
        || !windows.only_regions.is_empty()
}

/// What `--flight`, or `--max-size` with `--on-max flight`, asks for.
fn flight(flight: &FlightArguments, windows: &WindowArguments) -> Result<Option<Flight>, Failure> {
    let asked = flight.options();
    match (windows.max_size, windows.on_max) {
        (Some(_), OnMax::Stop) if asked.is_some() => Err(Failure::new(
            "--flight keeps the newest accesses and --max-size the first ones: to have both, add --on-max flight",
        )),
        (Some(_), OnMax::Flight) => Ok(Some(asked.unwrap_or(Flight {
            most_bytes: USUAL_FLIGHT,
            longest: None,
            slower_than: None,
        }))),
        _ => Ok(asked),
    }
}

/// `PROGRAM.trackway` in the present folder.
pub fn default_output(program: &OsString) -> PathBuf {
    let mut name = Path::new(program).file_name().unwrap_or(program).to_owned();
    name.push(".trackway");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{CommandLine, Verb};
    use clap::Parser;
    use std::time::Duration;
    use trackway_recorder::BurstMeasure;

    fn parse(line: &str) -> RecordOptions {
        let words = ["trackway", "record"].into_iter().chain(line.split_whitespace());
        match CommandLine::parse_from(words).verb {
            Verb::Record(arguments) => options(arguments).unwrap(),
            _ => panic!("not a record verb"),
        }
    }

    #[test]
    fn the_trace_is_named_after_the_program() {
        let options = parse("-- ../bin/prog -o x");
        let expected = Output::File {
            path: "prog.trackway".into(),
            force: false,
        };
        assert_eq!(options.output, expected);
        assert_eq!(options.arguments, ["-o", "x"]);
    }

    #[test]
    fn options_reach_the_recorder() {
        let options =
            parse("-f -o t --codec zstd --buffer-size 1M --buffers 8 --on-full drop --oracle-dump -- p");
        assert_eq!(
            options.output,
            Output::File {
                path: "t".into(),
                force: true
            }
        );
        assert_eq!(
            (options.compression, options.when_full),
            (Compression::Zstd, WhenFull::Drop)
        );
        assert_eq!(
            (options.buffer_size, options.buffer_count, options.dump_oracle),
            (1 << 20, 8, true)
        );
        assert_eq!(parse("--discard -- p").output, Output::Discard);
    }

    #[test]
    fn a_collector_is_named_by_its_address() {
        let expected = Output::Collector(Route {
            address: "unix:/tmp/s".parse().unwrap(),
            reconnect_timeout: Duration::from_secs(90),
            window_bytes: 8 << 20,
        });
        assert_eq!(
            parse("--to unix:/tmp/s --reconnect-timeout 90s --window 8M -- p").output,
            expected
        );
    }

    #[test]
    fn a_live_analysis_stores_nothing() {
        let options = parse("--live misses --by line --codec zstd -- p");
        assert_eq!(
            (options.output, options.compression),
            (Output::Discard, Compression::None)
        );
    }

    #[test]
    fn recording_begins_after_a_time_or_after_so_many_accesses() {
        let windows = |start: &str| parse(&format!("--start-after {start} -- p")).windows;
        assert_eq!(windows("5s").start_after, Some(Duration::from_secs(5)));
        assert_eq!(windows("5s").start_after_accesses, None);
        let numbers = [
            ("7acc", 7),
            ("500Kacc", 500_000),
            ("10Macc", 10_000_000),
            ("2Gacc", 2_000_000_000),
        ];
        for (text, number) in numbers {
            assert_eq!(windows(text).start_after_accesses, Some(number));
            assert_eq!(windows(text).start_after, None);
        }
    }

    #[test]
    fn bursts_are_measured_by_time_or_by_accesses() {
        let bursts = |line: &str| parse(&format!("{line} -- p")).windows.bursts.unwrap();
        let by_time = BurstMeasure::Time {
            length: Duration::from_millis(10),
            every: Duration::from_secs(1),
        };
        let by_accesses = BurstMeasure::Accesses {
            length: 1_000_000,
            every: 2_000_000_000,
        };
        assert_eq!(bursts("--bursts 10ms/1s").measure, by_time);
        assert_eq!(bursts("--bursts 1Macc/2Gacc").measure, by_accesses);
        assert!(!bursts("--bursts 10ms/1s").are_even && bursts("--bursts 10ms/1s --even").are_even);
        assert_eq!(parse("--bursts 1Macc/2Gacc -- p").buffer_size, 32 << 10);
        assert_eq!(
            parse("--bursts 1Macc/2Gacc --buffer-size 64K -- p").buffer_size,
            64 << 10
        );
    }

    #[test]
    fn a_flight_recorder_follows_the_greatest_size() {
        let both = |line: &str| {
            let options = parse(line);
            (
                options.windows.most_bytes,
                options.flight.map(|flight| flight.most_bytes),
            )
        };
        assert_eq!(both("--max-size 1G -- p"), (Some(1 << 30), None));
        assert_eq!(
            both("--max-size 1G --on-max flight -- p"),
            (Some(1 << 30), Some(USUAL_FLIGHT))
        );
        assert_eq!(
            both("--max-size 1G --on-max flight --flight 8M -- p"),
            (Some(1 << 30), Some(8 << 20))
        );
    }

    #[test]
    fn forms_of_reports_belong_to_live_analyses() {
        let words = ["trackway", "record", "--top", "3", "--", "p"];
        let Verb::Record(arguments) = CommandLine::parse_from(words).verb else {
            panic!("not a record verb");
        };
        assert!(options(arguments).unwrap_err().to_string().contains("--live"));
    }

    #[test]
    fn defaults_are_those_of_the_recorder() {
        let (ours, theirs) = (parse("-- p"), RecordOptions::new("p", Output::Discard));
        let of = |options: &RecordOptions| {
            (
                options.buffer_size,
                options.buffer_count,
                options.workers,
                options.compression,
                options.when_full,
            )
        };
        assert_eq!(of(&ours), of(&theirs));
    }
}
