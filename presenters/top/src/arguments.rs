//! The command line of `trackway top`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trackway_answers::failure::Failure;
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
    override_usage = "trackway top [OPTIONS] PID\n       trackway top [OPTIONS] PROGRAM [ARGUMENTS]",
    after_help = "Examples:\n  trackway top ./prog input.txt\n  \
                  trackway top --interval 1s --csv series.csv -o prog.trackway ./prog\n  \
                  trackway top --hardware -o prog.trackway ./prog\n  \
                  trackway top --page prog.html ./prog input.txt\n  \
                  trackway top 4711\n  \
                  trackway top --once 4711"
)]
pub struct TopArguments {
    #[command(flatten)]
    pub view: ViewArguments,
    /// Also write the trace [default: none]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Bytes of a buffer, such as 256K: a multiple of 4K, at least 16K; all counters must fit into one
    #[arg(long, value_name = "SIZE", value_parser = parse_buffer_size)]
    pub buffer_size: Option<u32>,
    #[command(flatten)]
    pub sampling: SamplingArguments,
    /// The program and its arguments; or the number of a process that runs under `trackway record`, or of its recorder
    #[arg(trailing_var_arg = true, required = true, value_name = "PID|PROGRAM")]
    pub command: Vec<OsString>,
}

impl TopArguments {
    /// The number of a process, if that stands in place of a program.
    pub fn process(&self) -> Option<u32> {
        match self.command.as_slice() {
            [word] => word.to_str()?.parse().ok(),
            _ => None,
        }
    }

    /// # Errors
    /// If an option was given that only fits a program that is started.
    pub fn require_no_options_of_programs(&self) -> Result<(), Failure> {
        let option = match (&self.output, self.buffer_size) {
            (Some(_), _) => "--output",
            (None, Some(_)) => "--buffer-size",
            (None, None) => return Ok(()),
        };
        Err(Failure::new(format!(
            "{option}: the process is being recorded already; the option is for a program that is started here: trackway \
             top {option} ... ./prog"
        )))
    }
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
            (process.process(), process.view.interval),
            (Some(4711), Duration::from_secs(1))
        );
        for line in ["-o t -- prog --once 5", "-o t prog --once 5"] {
            let program = parse(line).unwrap();
            assert_eq!(
                (program.process(), program.command.len(), program.view.once),
                (None, 3, false),
                "{line}"
            );
            assert!(program.output.is_some());
        }
        for wrong in ["", "--interval 1ms 4711"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("-o t 4711")
            .unwrap()
            .require_no_options_of_programs()
            .is_err());
        assert!(process.require_no_options_of_programs().is_ok());
    }
}
