//! Branches, their lines and the predictors as tables.

use std::cmp::Reverse;

use indexmap::IndexMap;
use trackway_report::{grouped, percent, Table, TableBuilder};

use super::replay::{BranchTotals, ConditionalBranch, PredictorTotals};
use crate::Findings;

/// Where a branch is; empty texts and no line where that is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BranchPlace {
    /// Tells it apart from all others, such as `libc.so.6+0x1234`.
    pub name: String,
    pub function: String,
    pub file: String,
    pub line: Option<u64>,
}

/// What unlimited size must gain, as a part of the baseline's mispredictions, for shares of it to say anything.
const LEAST_GAP: f64 = 0.01;

/// How branches are shown.
#[derive(Debug, Clone, Copy)]
pub struct BranchTables {
    /// Number of branches and lines to show, at most.
    pub top: usize,
    /// Number of the predictor whose mispredictions rank them, and to which others are compared.
    pub baseline: usize,
}

struct Row {
    place: BranchPlace,
    branch: ConditionalBranch,
    /// Entropies times executions.
    entropy: f64,
}

impl BranchTables {
    /// Ranks by the first predictor called TAGE-SC-L, or else by the first.
    pub fn new(totals: &BranchTotals, top: usize) -> Self {
        let baseline = totals.predictors.iter().position(|one| one.name == "TAGE-SC-L");
        BranchTables {
            top,
            baseline: baseline.unwrap_or(0),
        }
    }

    /// The tables `predictors`, `lines` and `branches`; no lines if none is known.
    pub fn findings(&self, totals: &BranchTotals, place: impl Fn(u64) -> BranchPlace) -> Findings {
        let mut rows: Vec<Row> = totals
            .branches
            .iter()
            .map(|branch| row(branch, place(branch.address)))
            .collect();
        let mut lines: IndexMap<(String, Option<u64>), Row> = IndexMap::new();
        for row in &rows {
            add_to_line(&mut lines, row);
        }
        let mut lines: Vec<Row> = lines.into_values().collect();
        let knows_lines = lines.iter().any(|row| row.place.line.is_some());
        self.rank(&mut rows);
        self.rank(&mut lines);
        let answer = self.answer(totals, if knows_lines { &lines } else { &rows });
        let mut tables = vec![self.predictors(totals)];
        if knows_lines {
            tables.push(self.ranked("lines", "Lines by mispredictions", lines, totals, true));
        }
        tables.push(self.ranked(
            "branches",
            "Branches by mispredictions",
            rows,
            totals,
            knows_lines,
        ));
        Findings {
            answer: Some(answer),
            tables,
        }
    }

    /// Such as "vm.c:12 causes 61 % of the mispredictions of TAGE-SC-L, of which there are 3.2 in 1000 instructions".
    fn answer(&self, totals: &BranchTotals, ranked: &[Row]) -> String {
        let (Some(baseline), Some(first)) = (totals.predictors.get(self.baseline), ranked.first()) else {
            return "No conditional branch was executed".to_owned();
        };
        if baseline.missed == 0 {
            let (name, count) = (&baseline.name, grouped(totals.conditional()));
            return format!("{name} predicts all {count} executions of conditional branches rightly");
        }
        format!(
            "{} causes {} of the mispredictions of {}, of which there are {:.2} in 1000 instructions",
            subject(&first.place),
            percent(self.missed(first) as f64 / baseline.missed as f64),
            baseline.name,
            baseline.missed as f64 * 1000.0 / totals.instructions.max(1) as f64,
        )
    }

    fn missed(&self, row: &Row) -> u64 {
        row.branch.missed.get(self.baseline).copied().unwrap_or(0)
    }

    fn rank(&self, rows: &mut [Row]) {
        rows.sort_by_key(|row| {
            let executions = row.branch.executions;
            (Reverse(self.missed(row)), Reverse(executions), row.branch.address)
        });
    }

    fn predictors(&self, totals: &BranchTotals) -> Table {
        let conditional = totals.conditional();
        let kib = |one: &PredictorTotals| one.storage_bits.map(|bits| bits as f64 / 8192.0);
        TableBuilder::new("predictors", "Predictors", &totals.predictors)
            .text("predictor", |one| one.name.clone())
            .rate(("size_kib", "KiB"), kib)
            .count(("mispredictions", "mispredicted"), |one| one.missed)
            .share(("accuracy", "right"), |one| {
                (conditional.saturating_sub(one.missed), conditional)
            })
            .rate(("mpki", "MPKI"), |one| {
                (one.missed as f64 * 1000.0, totals.instructions)
            })
            .share(("gap_closed", "of the gap closed"), |one| {
                self.gap_closed(totals, one)
            })
            .build()
    }

    /// The share of what the unlimited predictor betters the baseline by that another one does, too. Predictors with
    /// less storage aren't meant to close it, and a gap of a few mispredictions is noise that makes any share.
    fn gap_closed(&self, totals: &BranchTotals, one: &PredictorTotals) -> Option<f64> {
        let baseline = totals.predictors.get(self.baseline)?;
        if one
            .storage_bits
            .is_some_and(|bits| Some(bits) < baseline.storage_bits)
        {
            return None;
        }
        let baseline = baseline.missed as f64;
        let unlimited = totals
            .predictors
            .iter()
            .rfind(|other| other.storage_bits.is_none())?
            .missed as f64;
        (baseline - unlimited >= LEAST_GAP * baseline && unlimited < baseline)
            .then(|| (baseline - one.missed as f64) / (baseline - unlimited))
    }

    fn ranked(
        &self,
        name: &str,
        title: &str,
        mut rows: Vec<Row>,
        totals: &BranchTotals,
        knows_lines: bool,
    ) -> Table {
        let all = rows.len();
        rows.truncate(self.top);
        let mut builder = TableBuilder::new(name, title, &rows).total_rows(all);
        if let Some(baseline) = totals.predictors.get(self.baseline) {
            builder = builder.ranked_by(missed_column(&baseline.name));
        }
        if name == "branches" {
            builder = builder.text("branch", |row| row.place.name.clone());
        }
        if knows_lines {
            builder = builder
                .path("file", |row| row.place.file.clone())
                .number("line", |row| row.place.line)
                .text("function", |row| row.place.function.clone());
        }
        builder = builder
            .count("executions", |row| row.branch.executions)
            .share(("taken_rate", "taken"), |row| {
                (row.branch.taken, row.branch.executions)
            })
            .rate(("entropy_bits", "entropy in bits"), |row| {
                (row.entropy, row.branch.executions)
            });
        for (number, one) in totals.predictors.iter().enumerate() {
            builder = builder.count((missed_column(&one.name), &one.name), |row| {
                row.branch.missed[number]
            });
        }
        builder.build()
    }
}

fn subject(place: &BranchPlace) -> String {
    match place.line {
        Some(line) => format!("{}:{line}", place.file.rsplit('/').next().unwrap_or_default()),
        None if place.name.is_empty() => "Code without lines".to_owned(),
        None => format!("The branch at {}", place.name),
    }
}

fn row(branch: &ConditionalBranch, place: BranchPlace) -> Row {
    Row {
        place,
        branch: branch.clone(),
        entropy: branch.entropy_bits() * branch.executions as f64,
    }
}

fn add_to_line(lines: &mut IndexMap<(String, Option<u64>), Row>, row: &Row) {
    let key = (row.place.file.clone(), row.place.line);
    match lines.get_mut(&key) {
        Some(line) => {
            line.branch.add(&row.branch);
            line.entropy += row.entropy;
        }
        None => {
            let place = BranchPlace {
                name: String::new(),
                ..row.place.clone()
            };
            lines.insert(key, self::row(&row.branch, place));
        }
    }
}

/// The name of a predictor's column: `missed_tage_sc_l`.
fn missed_column(predictor: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    format!("missed_{}", predictor.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::Value;

    fn predictor(name: &str, storage_bits: Option<u64>, missed: u64) -> PredictorTotals {
        PredictorTotals {
            name: name.to_owned(),
            storage_bits,
            missed,
        }
    }

    fn branch(address: u64, executions: u64, taken: u64, missed: [u64; 3]) -> ConditionalBranch {
        ConditionalBranch {
            address,
            executions,
            taken,
            missed: missed.to_vec(),
        }
    }

    /// Two branches of one line and one of no known line; LLBP closes half of the gap from 60 to 20.
    fn sample() -> BranchTotals {
        BranchTotals {
            predictors: vec![
                predictor("TAGE-SC-L", Some(64 * 8192), 60),
                predictor("LLBP", Some(579 * 8192), 40),
                predictor("TAGE-SC-L unlimited", None, 20),
            ],
            branches: vec![
                branch(0x10, 100, 100, [0, 0, 0]),
                branch(0x20, 100, 50, [50, 35, 20]),
                branch(0x30, 300, 0, [10, 5, 0]),
            ],
            instructions: 4000,
            executed: 700,
        }
    }

    fn findings(top: usize) -> Findings {
        let place = |address| match address {
            0x30 => BranchPlace::default(),
            _ => BranchPlace {
                name: format!("eval at {address:#x}"),
                function: "eval".to_owned(),
                file: "vm.c".to_owned(),
                line: Some(12),
            },
        };
        BranchTables::new(&sample(), top).findings(&sample(), place)
    }

    fn reals(table: &Table, column: &str) -> Vec<Option<f64>> {
        let column = table.column(column).unwrap();
        let real = |row| match column.value(row) {
            Value::Real(value) => Some(value),
            Value::Integer(value) => Some(value as f64),
            _ => None,
        };
        (0..column.row_count()).map(real).collect()
    }

    #[test]
    fn predictors_and_the_gap() {
        let table = &findings(10).tables[0];
        assert_eq!(reals(table, "size_kib"), [Some(64.0), Some(579.0), None]);
        assert_eq!(reals(table, "accuracy"), [Some(0.88), Some(0.92), Some(0.96)]);
        assert_eq!(reals(table, "mpki"), [Some(15.0), Some(10.0), Some(5.0)]);
        assert_eq!(reals(table, "gap_closed"), [Some(0.0), Some(0.5), Some(1.0)]);
    }

    #[test]
    fn the_gap_is_of_larger_predictors_and_no_noise() {
        let gaps = |missed_by_unlimited| {
            let totals = BranchTotals {
                predictors: vec![
                    predictor("bimodal", Some(4 * 8192), 900),
                    predictor("TAGE-SC-L", Some(64 * 8192), 600),
                    predictor("LLBP", Some(579 * 8192), 610),
                    predictor("TAGE-SC-L unlimited", None, missed_by_unlimited),
                ],
                ..sample()
            };
            reals(&BranchTables::new(&totals, 10).predictors(&totals), "gap_closed")
        };
        assert_eq!(gaps(500), [None, Some(0.0), Some(-0.1), Some(1.0)]);
        assert_eq!(gaps(598), [None; 4]);
    }

    #[test]
    fn lines_have_the_sums_of_their_branches() {
        let table = &findings(10).tables[1];
        assert_eq!(reals(table, "line"), [Some(12.0), None]);
        assert_eq!(reals(table, "executions"), [Some(200.0), Some(300.0)]);
        assert_eq!(reals(table, "taken_rate"), [Some(0.75), Some(0.0)]);
        assert_eq!(reals(table, "entropy_bits"), [Some(0.5), Some(0.0)]);
        assert_eq!(reals(table, "missed_tage_sc_l"), [Some(50.0), Some(10.0)]);
    }

    #[test]
    fn branches_are_ranked_and_cut() {
        let findings = findings(2);
        let table = &findings.tables[2];
        assert_eq!((table.row_count(), table.total_rows()), (2, 3));
        assert_eq!(table.ranked_by(), Some("missed_tage_sc_l"));
        assert_eq!(reals(table, "missed_llbp"), [Some(35.0), Some(5.0)]);
        assert_eq!(
            findings.answer.unwrap(),
            "vm.c:12 causes 83.3 % of the mispredictions of TAGE-SC-L, of which there are 15.00 in 1000 instructions"
        );
    }

    #[test]
    fn without_lines_branches_have_the_word() {
        let place = |address| BranchPlace {
            name: format!("a.out+{address:#x}"),
            ..BranchPlace::default()
        };
        let findings = BranchTables::new(&sample(), 2).findings(&sample(), place);
        let names: Vec<&str> = findings.tables.iter().map(Table::name).collect();
        assert_eq!(names, ["predictors", "branches"]);
        assert!(findings.tables[1].column("line").is_none());
        assert!(findings
            .answer
            .unwrap()
            .starts_with("The branch at a.out+0x20 causes"));
    }

    #[test]
    fn all_predicted() {
        let totals = BranchTotals {
            predictors: vec![predictor("TAGE-SC-L", Some(1), 0)],
            branches: vec![ConditionalBranch {
                missed: vec![0],
                ..branch(0x10, 5, 5, [0, 0, 0])
            }],
            instructions: 20,
            executed: 5,
        };
        let findings = BranchTables::new(&totals, 2).findings(&totals, |_| BranchPlace::default());
        assert_eq!(
            findings.answer.unwrap(),
            "TAGE-SC-L predicts all 5 executions of conditional branches rightly"
        );
    }

    #[test]
    fn nothing_executed() {
        let totals = BranchTotals::default();
        let findings = BranchTables::new(&totals, 5).findings(&totals, |_| BranchPlace::default());
        assert_eq!(findings.answer.unwrap(), "No conditional branch was executed");
        assert!(findings.tables.iter().all(|table| table.row_count() == 0));
    }
}
