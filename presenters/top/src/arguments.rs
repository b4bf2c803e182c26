//! The command line of `trackway top`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trackway_answers::sources::SourceArguments;
use trackway_recording::{parse_buffer_size, SamplingArguments};

/// Watch what a program that counts does in its regions of interest, while it runs
///
/// Of a program that was built with `trackway cc --count`: starts it, or looks at one that runs under `trackway record`,
/// by the number of any of its processes or of the recorder. Shows how often each region is entered, its share of the
/// time, what is read and written per second, how evenly the threads share in it, and how that went on. The program's
/// counters are read where they are; it is neither stopped nor told. On a terminal the view takes the window, and what
/// the program prints comes at its end; elsewhere there is a table for each interval, on standard error beside a program
/// that is started. Ctrl-C ends the program if it was started here, else only the view. Ends with the status of the
/// program that it started, as `trackway record` does.
#[derive(Debug, Args)]
#[command(
    override_usage = "trackway top [OPTIONS] PID\n       trackway top [OPTIONS] -- PROGRAM [ARGUMENTS]",
    after_help = "Examples:\n  trackway top -- ./prog input.txt\n  \
                  trackway top --interval 1s --csv series.csv -o prog.trackway -- ./prog\n  \
                  trackway top --hardware -o prog.trackway -- ./prog\n  \
                  trackway top --page prog.html -- ./prog input.txt\n  \
                  trackway top 4711\n  \
                  trackway top --once 4711"
)]
pub struct TopArguments {
    /// A process that runs under `trackway record`, or its recorder
    #[arg(
        value_name = "PID",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub pid: Option<u32>,
    #[command(flatten)]
    pub view: ViewArguments,
    /// Also write the trace [default: none]
    #[arg(short, long, value_name = "FILE", conflicts_with = "pid")]
    pub output: Option<PathBuf>,
    /// Bytes of a buffer, such as 256K: a multiple of 4K, at least 16K; all counters must fit into one
    #[arg(long, value_name = "SIZE", value_parser = parse_buffer_size, conflicts_with = "pid")]
    pub buffer_size: Option<u32>,
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Args)]
pub struct ViewArguments {
    /// How often the counters are read, such as 200ms or 2s; at least 10ms
    #[arg(long, value_name = "TIME", value_parser = parse_interval, default_value = "500ms")]
    pub interval: Duration,
    /// Print what came in the first interval, and no more
    #[arg(long)]
    pub once: bool,
    /// Also write a row for each interval, region and thread to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The same as Parquet, at the end
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Also write a page for the browser at the end: how the regions went on, as a plot, and of a program that is
    /// started here, what it counted in all
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Replace existing files
    #[arg(short, long)]
    pub force: bool,
    /// No view and no summary
    #[arg(short, long)]
    pub quiet: bool,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match interval >= Duration::from_millis(10) {
        true => Ok(interval),
        false => Err("must be at least 10ms".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn parse(line: &str) -> Result<TopArguments, clap::Error> {
        let words = ["top"].into_iter().chain(line.split_whitespace());
        let matches = TopArguments::augment_args(Command::new("top")).try_get_matches_from(words)?;
        TopArguments::from_arg_matches(&matches)
    }

    #[test]
    fn it_takes_a_process_or_a_program() {
        let process = parse("--interval 1s 4711").unwrap();
        assert_eq!(
            (process.pid, process.view.interval),
            (Some(4711), Duration::from_secs(1))
        );
        let program = parse("-o t -- prog --once 5").unwrap();
        assert_eq!(
            (program.pid, program.command.len(), program.view.once),
            (None, 3, false)
        );
        for wrong in ["", "4711 -- prog", "-o t 4711", "--interval 1ms 4711", "prog"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
