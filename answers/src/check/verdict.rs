//! Whether budgets hold.

use trackway_report::{grouped, percent, ratio, Report, Table, TableBuilder};

use super::budget::{Budget, Subject};
use super::values::{measured, place, Place};

/// One limit of a budget, and the value that it was compared with.
#[derive(Debug)]
pub struct Verdict {
    subject: Subject,
    measure: String,
    value: u64,
    /// The largest value that holds.
    limit: u64,
    rule: String,
    /// Where the program has most of the value, if the reports say so.
    place: Option<Place>,
}

impl Verdict {
    pub fn holds(&self) -> bool {
        self.value <= self.limit
    }

    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Such as "arc.ident: 120 L2 misses, at most 100".
    pub fn sentence(&self) -> String {
        let (subject, value) = (&self.subject, grouped(self.value));
        format!("{subject}: {value} {}, {}", in_words(&self.measure), self.rule)
    }
}

/// The name of a number as the report's columns have it: "L2 misses".
fn in_words(measure: &str) -> String {
    let words = measure.replace("hand_overs", "hand-overs").replace('_', " ");
    match words.split_once(' ') {
        Some((level, "misses")) => format!("{} misses", level.to_uppercase()),
        _ => words,
    }
}

/// The verdict on each limit of the budget. `baseline` has the reports that `max-ratio` refers to.
pub fn verdicts(
    budget: &Budget,
    reports: &[Report],
    baseline: Option<&[Report]>,
) -> Result<Vec<Verdict>, String> {
    let subject = budget.subject()?;
    let now = measured(reports, &subject, &budget.measure)?;
    let place = place(reports, &subject, &budget.measure);
    let verdict = |limit, rule| Verdict {
        subject: subject.clone(),
        measure: budget.measure.clone(),
        value: now.part,
        limit,
        rule,
        place: place.clone(),
    };
    let mut verdicts = Vec::new();
    if let Some(max) = budget.max {
        verdicts.push(verdict(max, format!("at most {}", grouped(max))));
    }
    if let Some(share) = budget.max_share {
        let rule = format!("at most {} of the program's", percent(share));
        verdicts.push(verdict(part_of(now.whole, share), rule));
    }
    if let Some(factor) = budget.max_ratio {
        let baseline =
            baseline.ok_or("max-ratio needs a baseline; name it in the file or with --baseline")?;
        let before = measured(baseline, &subject, &budget.measure);
        let before = before.map_err(|error| format!("in the baseline: {error}"))?;
        let rule = format!(
            "at most {} of the baseline's {}",
            ratio(factor),
            grouped(before.part)
        );
        verdicts.push(verdict(part_of(before.part, factor), rule));
    }
    Ok(verdicts)
}

/// The largest whole number that is no more than this part. A limit of 1.1 × 10 is 11, whatever the floating point says.
fn part_of(whole: u64, factor: f64) -> u64 {
    let exact = whole as f64 * factor;
    let rounded = exact.round();
    let is_whole = (exact - rounded).abs() <= rounded.abs() * 1e-12;
    if is_whole {
        rounded as u64
    } else {
        exact.floor() as u64
    }
}

/// Each limit with its value, broken ones first.
pub fn table(verdicts: &[Verdict]) -> Table {
    let mut verdicts: Vec<&Verdict> = verdicts.iter().collect();
    verdicts.sort_by_key(|verdict| verdict.holds());
    TableBuilder::new("budgets", "Budgets", &verdicts)
        .ranked_by("holds")
        .text(("subject", "of"), |verdict| verdict.subject.to_string())
        .text(("measure", "number"), |verdict| verdict.measure.clone())
        .count("value", |verdict| verdict.value)
        .count("limit", |verdict| verdict.limit)
        .share("used", |verdict| (verdict.value, verdict.limit))
        .text("rule", |verdict| verdict.rule.clone())
        .text("holds", |verdict| if verdict.holds() { "yes" } else { "NO" })
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::to_csv;

    fn report(accesses: [u64; 2]) -> Report {
        let rows = [("x", accesses[0]), ("y", accesses[1])];
        let table = TableBuilder::new("fields", "Fields", &rows)
            .text("field", |row| row.0)
            .count("accesses", |row| row.1)
            .build();
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: vec![table],
        }
    }

    #[test]
    fn numbers_are_named_in_words() {
        let names = ["l2_misses", "tlb_misses", "accesses", "read_hand_overs"];
        assert_eq!(
            names.map(in_words),
            ["L2 misses", "TLB misses", "accesses", "read hand-overs"]
        );
    }

    #[test]
    fn every_limit_is_held_against_its_value() {
        let budget = Budget {
            field: Some("x".into()),
            measure: "accesses".into(),
            max: Some(10),
            max_share: Some(0.25),
            max_ratio: Some(1.1),
            ..Budget::default()
        };
        let verdicts = verdicts(&budget, &[report([10, 30])], Some(&[report([9, 1])])).unwrap();
        assert_eq!(
            to_csv(&table(&verdicts)),
            "subject,measure,value,limit,used,rule,holds\r\n\
             x,accesses,10,9,1.1111111111111112,at most x1.10 of the baseline's 9,NO\r\n\
             x,accesses,10,10,1,at most 10,yes\r\n\
             x,accesses,10,10,1,at most 25.0 % of the program's,yes\r\n"
        );
        let error = super::verdicts(&budget, &[report([1, 1])], None).unwrap_err();
        assert!(error.contains("--baseline"), "{error}");
    }

    #[test]
    fn limits_are_not_lost_to_rounding() {
        assert_eq!(part_of(10, 1.1), 11);
        assert_eq!(part_of(30, 0.1), 3);
        assert_eq!(part_of(9, 1.1), 9);
        assert_eq!(part_of(0, 5.0), 0);
        assert_eq!(part_of(u64::MAX, 2.0), u64::MAX);
    }
}
