//! Budget files: what is allowed, in TOML.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trackway_analysis::site_counts::Grouping;

use crate::failure::Failure;
use crate::model::{is_line_size, LINE_SIZES};

/// A file of budgets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BudgetFile {
    /// Caches to simulate; if none, those of the machine that recorded.
    pub cache: Option<String>,
    /// Bytes of a line, for cache-line transfers.
    pub line_size: Option<u32>,
    /// A trace or saved report to which `max-ratio` refers; a relative path starts at the file's folder.
    pub baseline: Option<PathBuf>,
    #[serde(default, rename = "budget")]
    pub budgets: Vec<Budget>,
}

/// How much of one number one thing may have. All of its limits must hold.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Budget {
    pub field: Option<String>,
    pub variable: Option<String>,
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Function of the variable that `variable` names.
    pub function: Option<String>,
    pub file: Option<String>,
    /// A column of the tables, such as `l2_misses`, or `hand_overs` for those to read and to write.
    pub measure: String,
    /// Maximum that is allowed.
    pub max: Option<u64>,
    /// Maximum that is allowed, as a share of the whole program's number.
    pub max_share: Option<f64>,
    /// Maximum that is allowed, as a multiple of the baseline's number.
    pub max_ratio: Option<f64>,
}

/// What a budget is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Program,
    Rows {
        by: Grouping,
        name: String,
        /// Function to which a variable belongs.
        function: Option<String>,
    },
}

impl BudgetFile {
    pub fn read(path: &Path) -> Result<BudgetFile, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::about(path, error))?;
        let file = BudgetFile::parse(&text).map_err(|error| Failure::about(path, error.trim_end()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(BudgetFile {
            baseline: file.baseline.map(|baseline| folder.join(baseline)),
            ..file
        })
    }

    fn parse(text: &str) -> Result<BudgetFile, String> {
        let file: BudgetFile = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.budgets.is_empty() {
            return Err("no [[budget]]: a check of nothing would always pass".into());
        }
        if file.line_size.is_some_and(|size| !is_line_size(size)) {
            return Err(format!("line-size: {LINE_SIZES}"));
        }
        for (index, budget) in file.budgets.iter().enumerate() {
            let problem = budget.problem();
            problem.map_or(Ok(()), |what| Err(format!("budget {}: {what}", index + 1)))?;
        }
        Ok(file)
    }

    /// The tables that the budgets need.
    pub fn groupings(&self) -> Vec<Grouping> {
        let mut groupings = vec![Grouping::Field];
        for budget in &self.budgets {
            match budget.subject() {
                Ok(Subject::Rows { by, .. }) if !groupings.contains(&by) => groupings.push(by),
                _ => {}
            }
        }
        groupings
    }

    pub fn needs_baseline(&self) -> bool {
        self.budgets.iter().any(|budget| budget.max_ratio.is_some())
    }
}

impl Budget {
    fn problem(&self) -> Option<String> {
        let is_wrong = |limit: Option<f64>| limit.is_some_and(|limit| !limit.is_finite() || limit < 0.0);
        if let Err(problem) = self.subject() {
            return Some(problem);
        }
        if self.max.is_none() && self.max_share.is_none() && self.max_ratio.is_none() {
            return Some("no limit; set max, max-share or max-ratio".into());
        }
        if is_wrong(self.max_share) || is_wrong(self.max_ratio) {
            return Some("limits are numbers of at least 0".into());
        }
        None
    }

    pub fn subject(&self) -> Result<Subject, String> {
        let rows = |by, name: &str, function: Option<&String>| Subject::Rows {
            by,
            name: name.to_owned(),
            function: function.cloned(),
        };
        match (
            &self.field,
            &self.variable,
            &self.type_name,
            &self.function,
            &self.file,
        ) {
            (None, None, None, None, None) => Ok(Subject::Program),
            (Some(field), None, None, None, None) => Ok(rows(Grouping::Field, field, None)),
            (None, Some(variable), None, function, None) => {
                Ok(rows(Grouping::Variable, variable, function.as_ref()))
            }
            (None, None, Some(type_name), None, None) => Ok(rows(Grouping::Type, type_name, None)),
            (None, None, None, Some(function), None) => Ok(rows(Grouping::Function, function, None)),
            (None, None, None, None, Some(file)) => Ok(rows(Grouping::File, file, None)),
            _ => Err(
                "name one of field, variable, type, function and file, or none for the whole program".into(),
            ),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Subject::Program => formatter.write_str("the whole program"),
            Subject::Rows { by, name, function } => {
                let kind = match by {
                    Grouping::Type => "type ",
                    Grouping::Function => "function ",
                    Grouping::File => "file ",
                    _ => "",
                };
                write!(formatter, "{kind}{name}")?;
                function
                    .iter()
                    .try_for_each(|function| write!(formatter, " in {function}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_names_one_thing_or_the_program() {
        let text = "cache = \"L1=32K,8,64\"\nbaseline = \"b.json\"\n\
                    [[budget]]\nfield = \"arc.ident\"\nmeasure = \"l1_misses\"\nmax = 30_000\n\
                    [[budget]]\nmeasure = \"accesses\"\nmax-ratio = 1.05\n\
                    [[budget]]\nvariable = \"i\"\nfunction = \"main\"\nmeasure = \"bytes\"\nmax-share = 0.5";
        let file = BudgetFile::parse(text).unwrap();
        let subjects: Vec<String> = file
            .budgets
            .iter()
            .map(|budget| budget.subject().unwrap().to_string())
            .collect();
        assert_eq!(subjects, ["arc.ident", "the whole program", "i in main"]);
        assert_eq!(file.groupings(), [Grouping::Field, Grouping::Variable]);
        assert!(file.needs_baseline());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, what) in [
            ("", "no [[budget]]"),
            (
                "line-size = 3\n[[budget]]\nmeasure = \"bytes\"\nmax = 1",
                "power of two",
            ),
            ("[[budget]]\nmax = 1", "measure"),
            ("[[budget]]\nmeasure = \"bytes\"", "budget 1: no limit"),
            ("[[budget]]\nmeasure = \"bytes\"\nmax = -1", "max"),
            ("[[budget]]\nmeasure = \"bytes\"\nmax-share = -0.5", "at least 0"),
            ("[[budget]]\nmeasure = \"bytes\"\nmax-ratio = nan", "at least 0"),
            ("[[budget]]\nmeasure = \"bytes\"\nmax = 1\nfeild = \"a\"", "feild"),
            (
                "[[budget]]\nmeasure = \"bytes\"\nmax = 1\nfield = \"a\"\ntype = \"b\"",
                "name one of",
            ),
        ] {
            let error = BudgetFile::parse(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
