//! Tables of a report that `--by` chooses.

use trackway_report::{top_title, Report, Table};

use crate::failure::Failure;
use crate::output::{table_named, OutputArguments};
use crate::summed::Sums;

/// What `--by` can name, with its tables.
pub trait Groups: Copy + PartialEq + 'static {
    const ALL: &'static [Self];

    /// Names of the tables that have a row for each of them, the most important one first.
    fn tables(self) -> &'static [&'static str];

    /// How its table is made, if it is of sums of another one's rows.
    fn sums(self) -> Option<&'static Sums> {
        None
    }
}

/// Rows that the finer tables must have for the sums of the chosen groups.
pub fn rows_for_sums<G: Groups>(chosen: &[G], rows: usize) -> usize {
    match chosen.iter().any(|group| group.sums().is_some()) {
        true => usize::MAX,
        false => rows,
    }
}

/// Adds the chosen groups' tables of sums after the finer ones, and leaves out the tables of groups that aren't chosen. `finer`
/// are tables with all rows.
pub fn choose<G: Groups>(tables: &mut Vec<Table>, finer: &[Table], chosen: &[G], rows: usize) {
    let mut made = 0;
    for sums in chosen.iter().filter_map(|group| group.sums()) {
        let Some(table) = sums.table(finer, rows) else {
            continue;
        };
        let place = tables.iter().position(|table| table.name() == sums.of);
        made += 1;
        tables.insert(place.map_or(tables.len(), |place| place + made), table);
    }
    retain_chosen(tables, chosen);
}

/// The first rows of a table that was made with all of them.
pub fn cut(table: &Table, rows: usize) -> Table {
    if table.row_count() <= rows {
        return table.clone();
    }
    let title = top_title(table.title(), rows, table.row_count());
    table.first_rows(rows).titled(title)
}

/// Leaves out the tables of groups that aren't among the chosen ones.
pub fn keep_only<G: Groups>(report: &mut Report, chosen: &[G]) {
    retain_chosen(&mut report.tables, chosen);
}

fn retain_chosen<G: Groups>(tables: &mut Vec<Table>, chosen: &[G]) {
    let others = G::ALL.iter().filter(|group| !chosen.contains(group));
    let left_out: Vec<&str> = others.flat_map(|group| group.tables()).copied().collect();
    tables.retain(|table| !left_out.contains(&table.name()));
}

/// The table that is printed as CSV, if any is: the one that is named, that of the chosen groups, or the usual one.
///
/// # Errors
/// If there are several chosen groups, or there is no such table.
pub fn csv_table<'r, G: Groups>(
    output: &OutputArguments,
    report: &'r Report,
    named: Option<&str>,
    (chosen, usual): (&[G], &str),
) -> Result<Option<&'r Table>, Failure> {
    if !output.csv {
        return Ok(None);
    }
    let name = match (named, chosen) {
        (Some(name), _) => name,
        (None, []) => usual,
        (None, [group]) => group.tables()[0],
        (None, _) => {
            return Err(Failure::new(
                "--csv prints one table; name one with --by, or use --json",
            ))
        }
    };
    table_named(report, name).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    #[derive(Clone, Copy, PartialEq)]
    enum By {
        Line,
        Function,
    }

    impl Groups for By {
        const ALL: &'static [By] = &[By::Line, By::Function];

        fn tables(self) -> &'static [&'static str] {
            match self {
                By::Line => &["lines", "line_use"],
                By::Function => &["functions"],
            }
        }
    }

    fn report() -> Report {
        let names = ["lines", "line_use", "functions", "totals"];
        Report {
            answer: String::new(),
            warnings: Vec::new(),
            tables: names
                .map(|name| {
                    TableBuilder::new(name, name, &[7_u64])
                        .count("accesses", |row| *row)
                        .build()
                })
                .into(),
        }
    }

    #[test]
    fn chosen_groups_keep_their_tables_and_all_others() {
        let mut report = report();
        keep_only(&mut report, &[By::Line]);
        let names: Vec<&str> = report.tables.iter().map(|table| table.name()).collect();
        assert_eq!(names, ["lines", "line_use", "totals"]);
    }

    #[test]
    fn csv_is_the_table_of_the_one_chosen_group() {
        let (report, mut output) = (report(), OutputArguments::all_rows());
        let name = |output: &OutputArguments, named, chosen: &[By]| {
            let table = csv_table(output, &report, named, (chosen, "lines"));
            table.map(|table| table.map(|table| table.name().to_owned()))
        };
        assert_eq!(name(&output, None, &[By::Function]).unwrap(), None);
        output.csv = true;
        assert_eq!(
            name(&output, None, &[By::Function]).unwrap().unwrap(),
            "functions"
        );
        assert_eq!(name(&output, None, &[]).unwrap().unwrap(), "lines");
        assert_eq!(name(&output, Some("totals"), &[]).unwrap().unwrap(), "totals");
        assert!(name(&output, None, &[By::Line, By::Function]).is_err());
    }

    #[test]
    fn a_table_that_is_cut_says_how_many_rows_it_had() {
        let rows = [1_u64, 2, 3];
        let table = TableBuilder::new("rows", "Rows", &rows)
            .count("number", |row| *row)
            .build();
        assert_eq!(
            (cut(&table, 2).title(), cut(&table, 2).row_count()),
            ("Rows, 2 of 3", 2)
        );
        assert_eq!(cut(&table, 3).title(), "Rows");
    }
}
