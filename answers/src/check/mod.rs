//! `trackway check`.

mod budget;
mod folder;
mod github;
mod proposal;
mod values;
mod verdict;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_analysis::site_counts::Grouping;
use trackway_report::{counted, Report, TextStyle};
use trackway_trace::{Existing, Trace};

use crate::comparable::{AnalysisName, Settings};
use crate::failure::Failure;
use crate::input::Input;
use crate::model::{parse_line_size, ModelArguments};
use crate::next_step::NextStep;
use crate::output::{self, OutputArguments};
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::shell_word::quoted;
use crate::slice::{SliceArguments, SliceRequest};
use budget::BudgetFile;
use github::Annotation;
use proposal::Basis;
use verdict::Verdict;

/// The exit status if all budgets hold.
const HOLDS: u8 = 0;
/// The exit status if a budget is broken.
const BROKEN: u8 = 3;

/// Check a trace against budgets
///
/// Prints each budget with its value and whether it holds. A budget limits one number (misses of a level, accesses,
/// bytes, hand-overs between threads) of a field, variable, type, function, file or the whole program: absolutely, as a
/// share of the program, or relative to a baseline. A budget that names nothing in the trace is an error. Options of
/// slices choose the same part of the trace, or of each trace of a folder, and of the baseline.
/// docs/verbs/check.md describes the file.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("For how many fields --write-budget writes budgets of their own; 0 for all")),
    mut_arg("csv", |csv| csv.help("Print the budgets as CSV")),
    after_help = "Exit status: 0 if all budgets hold, 3 if one is broken, 2 on a wrong command line or an error. Of a folder, 2 if a \
                  trace can't be checked, else 3 if a budget of any is broken.\n\n\
                        Examples:\n  trackway check prog.trackway --write-budget budget.toml --margin 0.05\n  \
                        trackway check prog.trackway --budget budget.toml\n  \
                        trackway check runs/ --budget budget.toml\n  \
                        trackway check prog.trackway --budget budget.toml --baseline main.json\n  \
                        trackway check prog.trackway --budget budget.toml --from 2s\n  \
                        trackway check prog.trackway --budget budget.toml --github\n\n\
                        A budget file:\n  [[budget]]\n  field = \"arc.ident\"\n  measure = \"l2_misses\"\n  max = 30_000_000"
)]
pub struct CheckArguments {
    /// The trace, a report that --json has saved with --top 0, or a folder of traces or a place in an object store (s3://...), each trace of which is checked
    pub trace: PathBuf,
    /// The budgets, in TOML
    #[arg(short, long, value_name = "FILE")]
    pub budget: Option<PathBuf>,
    /// The trace or saved report to which max-ratio refers [default: that which the file names]
    #[arg(long, value_name = "FILE", requires = "budget")]
    pub baseline: Option<PathBuf>,
    /// Write a budget file from what the trace has now
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    pub write_budget: Option<PathBuf>,
    /// How much more than now --write-budget allows: 0.1 is 10 %
    #[arg(long, value_name = "PART", default_value_t = 0.1, value_parser = parse_margin)]
    pub margin: f64,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Write as a GitHub workflow reads it: an annotation for each broken budget, at the line with most of its number, and
    /// the summary into $GITHUB_STEP_SUMMARY
    #[arg(long, conflicts_with_all = ["json", "csv", "write_budget"])]
    pub github: bool,
    /// Replace an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Caches to simulate, as in `trackway report` [default: those of the budget file, or of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    /// Bytes of a cache line for hand-overs [default: as in the budget file, or of the machine that recorded]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
}

fn parse_margin(text: &str) -> Result<f64, String> {
    let margin = text
        .parse::<f64>()
        .ok()
        .filter(|margin| (0.0..=1000.0).contains(margin));
    margin.ok_or_else(|| "expected a part such as 0.1, which is 10 %".into())
}

impl CheckArguments {
    fn budget_file(&self) -> Result<&Path, Failure> {
        let path = self.budget.as_deref();
        path.ok_or_else(|| {
            let trace = quoted(&self.trace.to_string_lossy());
            Failure::new(format!(
                "name a file of budgets with --budget; this writes one: trackway check --write-budget budget.toml {trace}"
            ))
        })
    }
}

impl Question for CheckArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        let path = self.budget_file()?;
        let file = BudgetFile::read(path)?;
        require_accesses(trace)?;
        Ok(checked(self, path, &file, &Input::Trace(trace))?.report())
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

pub fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.write_budget {
        return write_budget(arguments, path);
    }
    if arguments.github {
        return run_for_github(arguments);
    }
    let outcome = check(arguments)?;
    let (report, output) = (&outcome.report, &arguments.output);
    match outcome.status {
        HOLDS => output.print(report, report.tables.first())?,
        _ => {
            let next = NextStep::ask("report", &arguments.trace, "");
            output.print_and_lead_on(report, report.tables.first(), &next)?
        }
    };
    Ok(ExitCode::from(outcome.status))
}

/// A check that fails is annotated, too.
fn run_for_github(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let checked = check(arguments);
    if let Err(failure) = &checked {
        let annotation = Annotation::without_place(true, failure.to_string());
        output::print(&github::commands(&[annotation]))?;
    }
    let outcome = checked?;
    let style = arguments.output.style(TextStyle::PLAIN);
    let text = github::text(&outcome.report, &outcome.annotations, &style);
    arguments.output.print_text(&outcome.report, &text)?;
    github::write_summary(&outcome.report)?;
    Ok(ExitCode::from(outcome.status))
}

/// What a check found, and the exit status that says it.
pub struct Outcome {
    pub report: Report,
    status: u8,
    /// Broken budgets and warnings.
    annotations: Vec<Annotation>,
}

/// Checks the trace or saved report that the arguments name, or each trace of a folder.
///
/// # Errors
/// If a file can't be read, or a budget names what isn't in the trace. Of a folder's traces the report says so instead.
pub fn check(arguments: &CheckArguments) -> Result<Outcome, Failure> {
    let path = arguments.budget_file()?;
    let file = BudgetFile::read(path)?;
    if arguments.trace.is_dir() {
        return folder::check(arguments, path, &file);
    }
    let input = Input::open_accesses(&arguments.trace, &arguments.slice.request())?;
    let checked = checked(arguments, path, &file, &input)?;
    Ok(Outcome {
        report: checked.report(),
        status: if checked.broken() == 0 { HOLDS } else { BROKEN },
        annotations: checked.annotations(""),
    })
}

/// The result of the budgets for a trace.
struct Checked {
    verdicts: Vec<Verdict>,
    reports: Vec<Report>,
    /// The folder in which the program ran; none of a saved report.
    working_directory: Option<PathBuf>,
}

impl Checked {
    /// `about` stands before each message.
    fn annotations(&self, about: &str) -> Vec<Annotation> {
        let broken = self.verdicts.iter().filter(|verdict| !verdict.holds());
        let broken = broken.map(|verdict| Annotation {
            place: verdict.place().cloned(),
            working_directory: self.working_directory.clone().unwrap_or_default(),
            ..Annotation::without_place(true, format!("{about}{}", verdict.sentence()))
        });
        let warnings = self
            .reports
            .first()
            .into_iter()
            .flat_map(|report| &report.warnings);
        let warnings = warnings.map(|warning| Annotation::without_place(false, format!("{about}{warning}")));
        broken.chain(warnings).collect()
    }

    /// How many budgets are broken.
    fn broken(&self) -> usize {
        self.verdicts.iter().filter(|verdict| !verdict.holds()).count()
    }

    /// The budgets, and what their numbers rest on.
    fn report(&self) -> Report {
        let budgets = counted(self.verdicts.len() as u64, "budget");
        let measured = self.reports.first();
        let basis = ["caches", "attribution", "trace"];
        let tables = measured.into_iter().flat_map(|report| &report.tables);
        let tables = tables.filter(|table| basis.contains(&table.name())).cloned();
        Report {
            answer: match self.broken() {
                0 => format!("All of {budgets} hold"),
                broken => format!("{broken} of {budgets} broken"),
            },
            warnings: measured.map_or(Vec::new(), |report| report.warnings.clone()),
            tables: std::iter::once(verdict::table(&self.verdicts))
                .chain(tables)
                .collect(),
        }
    }
}

fn checked<T: Deref<Target = Trace>>(
    arguments: &CheckArguments,
    path: &Path,
    file: &BudgetFile,
    input: &Input<T>,
) -> Result<Checked, Failure> {
    let mut settings = settings(arguments, file, path, input.caches())?;
    if arguments.github {
        settings.by.push(Grouping::Site);
    }
    let shares = file
        .budgets
        .iter()
        .any(|budget| budget.measure.ends_with("hand_overs"));
    let reports = reports(input, &settings, shares)?;
    let baseline = match arguments.baseline.as_ref().or(file.baseline.as_ref()) {
        Some(baseline) if file.needs_baseline() => Some(self::reports(
            &Input::open_accesses(baseline, &arguments.slice.request())?,
            &settings,
            shares,
        )?),
        _ => None,
    };
    let mut verdicts = Vec::new();
    for (index, budget) in file.budgets.iter().enumerate() {
        let found = verdict::verdicts(budget, &reports, baseline.as_deref());
        let found = found.map_err(|error| Failure::about(path, format!("budget {}: {error}", index + 1)))?;
        verdicts.extend(found);
    }
    let working_directory = match input {
        Input::Trace(trace) => Some(trace.meta().working_directory.clone().into()),
        Input::Saved(_) => None,
    };
    Ok(Checked {
        verdicts,
        reports,
        working_directory,
    })
}

fn settings(
    arguments: &CheckArguments,
    file: &BudgetFile,
    path: &Path,
    of_machine: Option<Caches>,
) -> Result<Settings, Failure> {
    let of_file = match &file.cache {
        Some(text) => Some(Caches::described_by(text).map_err(|error| Failure::about(path, error))?),
        None => None,
    };
    Ok(Settings {
        by: file.groupings(),
        model: ModelArguments {
            cache: arguments.cache.clone().or(of_file).or(of_machine),
            sort: None,
        },
        line_bytes: arguments.line_size.or(file.line_size),
        reading: arguments.reading.clone(),
        ..Settings::default()
    })
}

/// What the report finds and, if that is asked for, what `sharing` finds.
fn reports<T: Deref<Target = Trace>>(
    input: &Input<T>,
    settings: &Settings,
    with_sharing: bool,
) -> Result<Vec<Report>, Failure> {
    let mut reports = vec![input.report(AnalysisName::Report, settings)?];
    if with_sharing && matches!(input, Input::Trace(_)) {
        reports.push(input.report(AnalysisName::Sharing, settings)?);
    }
    Ok(reports)
}

fn write_budget(arguments: &CheckArguments, path: &Path) -> Result<ExitCode, Failure> {
    if arguments.trace.is_dir() {
        return Err(Failure::about(
            &arguments.trace,
            "budgets are written from one trace: name it",
        ));
    }
    let slice = arguments.slice.request();
    let input = Input::open_accesses(&arguments.trace, &slice)?;
    let caches = arguments.cache.clone().or_else(|| input.caches());
    let settings = Settings {
        by: vec![Grouping::Field],
        model: ModelArguments {
            cache: caches.clone(),
            sort: None,
        },
        line_bytes: arguments.line_size,
        reading: arguments.reading.clone(),
        ..Settings::default()
    };
    let several_threads = matches!(&input, Input::Trace(trace) if trace.streams().len() > 1);
    let reports = reports(&input, &settings, several_threads)?;
    let basis = Basis {
        caches: caches.map(|caches| caches.to_string()),
        line_bytes: arguments.line_size,
        slice: slice.words(),
    };
    let text = proposal::proposal(&reports, &basis, arguments.margin, arguments.output.rows());
    let text = text.map_err(|error| Failure::about(&arguments.trace, error))?;
    output::write_file(path, text.as_bytes(), Existing::with_force(arguments.force))?;
    if !arguments.reading.quiet {
        let budgets = text.matches(proposal::BUDGET).count();
        output::say(format!(
            "{}: {}",
            path.display(),
            counted(budgets as u64, "budget")
        ));
        let options = format!("--budget {}{}", quoted(&path.to_string_lossy()), slice.words());
        output::say_next(NextStep::ask("check", &arguments.trace, &options));
    }
    Ok(ExitCode::SUCCESS)
}
