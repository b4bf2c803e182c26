//! Tables of groups whose rows are sums of the rows of a finer table.

use std::collections::BTreeMap;

use trackway_report::{Column, Table, TableBuilder, Unit, Value};

/// What stands in place of a name that isn't known.
const UNKNOWN: &str = "(unknown)";

/// A table of groups, and how it is made.
#[derive(Debug)]
pub struct Sums {
    /// The table whose rows are summed.
    pub of: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    /// Columns of the finer table that name a group.
    pub keys: &'static [&'static str],
    /// The column that counts the rows of a group.
    pub counted: &'static str,
    /// Columns that are added up, as far as the finer table has them. One that ends with `*` stands for all that begin so.
    pub added: &'static [&'static str],
    /// A column of texts: of each group, the one with the largest part of the ranking sum is shown.
    pub foremost: Option<&'static str>,
}

/// The rows of a group.
#[derive(Default)]
struct Group<'t> {
    keys: Vec<Value<'t>>,
    rows: u64,
    sums: Vec<f64>,
    /// The ranking sum by the texts of [`Sums::foremost`].
    texts: BTreeMap<&'t str, f64>,
}

impl Sums {
    /// The `most` groups with the largest sum of the column by which the finer table is ranked, or of the first one that is
    /// added up. None if the finer table is missing.
    pub fn table(&self, tables: &[Table], most: usize) -> Option<Table> {
        let fine = tables.iter().find(|table| table.name() == self.of)?;
        let added: Vec<Column> = fine.columns().filter(|column| self.adds(column.name())).collect();
        let ranking = added
            .iter()
            .position(|column| Some(column.name()) == fine.ranked_by())
            .unwrap_or(0);
        let mut groups = self.groups(fine, &added, ranking);
        // Equal groups stay in the order of their names.
        groups.sort_by(|one, other| other.sums[ranking].total_cmp(&one.sums[ranking]));
        Some(self.presented(fine, &added, ranking, (&groups, most)))
    }

    fn adds(&self, column: &str) -> bool {
        self.added.iter().any(|added| match added.strip_suffix('*') {
            Some(begin) => column.starts_with(begin),
            None => *added == column,
        })
    }

    fn groups<'t>(&self, fine: &'t Table, added: &[Column<'t>], ranking: usize) -> Vec<Group<'t>> {
        let mut groups: BTreeMap<Vec<(u64, &str)>, Group> = BTreeMap::new();
        for row in 0..fine.row_count() {
            let values: Vec<Value> = self.keys.iter().map(|key| key_of(fine, key, row)).collect();
            let group = groups
                .entry(values.iter().map(order_of).collect())
                .or_insert_with(|| Group {
                    keys: values,
                    sums: vec![0.0; added.len()],
                    ..Group::default()
                });
            group.rows += 1;
            for (sum, column) in group.sums.iter_mut().zip(added) {
                *sum += number_of(column.value(row));
            }
            if let Some(text) = self.foremost.and_then(|column| fine.text(column, row)) {
                *group.texts.entry(text).or_default() += number_of(added[ranking].value(row));
            }
        }
        groups.into_values().collect()
    }

    fn presented(
        &self,
        fine: &Table,
        added: &[Column],
        ranking: usize,
        (groups, most): (&[Group], usize),
    ) -> Table {
        let ranked = &added[ranking];
        let mut builder = TableBuilder::top(self.name, self.title, groups, most)
            .total_rows(groups.len())
            .ranked_by(ranked.name());
        for (index, key) in self.keys.iter().enumerate() {
            let column = fine.column(key);
            let heading = (*key, column.map_or(*key, |column| column.title()));
            builder = match column.map(|column| column.unit()) {
                Some(Unit::Path) => {
                    builder.path(heading, |group| group.keys[index].text().unwrap_or_default())
                }
                Some(Unit::Number) => builder.number(heading, |group| group.keys[index].integer()),
                _ => builder.text(heading, |group| group.keys[index].text().unwrap_or_default()),
            };
        }
        if let Some(foremost) = self.foremost {
            builder = builder.text((foremost, format!("foremost {foremost}")), |group| {
                foremost_of(&group.texts)
            });
        }
        builder = builder.count(self.counted, |group| group.rows);
        for (index, column) in added.iter().enumerate() {
            let heading = (column.name(), column.title());
            builder = match column.unit() {
                Unit::Share => builder.share(heading, |group| Some(group.sums[index])),
                unit => builder.whole(heading, unit, |group| whole(group.sums[index])),
            };
        }
        builder.build()
    }
}

fn foremost_of<'t>(texts: &BTreeMap<&'t str, f64>) -> &'t str {
    let largest = texts.iter().max_by(|one, other| one.1.total_cmp(other.1));
    largest.map_or("", |(text, _)| text)
}

fn key_of<'t>(table: &'t Table, column: &str, row: usize) -> Value<'t> {
    match table.column(column).map(|column| column.value(row)) {
        Some(Value::Text(text)) if !text.is_empty() => Value::Text(text),
        Some(number @ Value::Integer(_)) => number,
        _ => Value::Text(UNKNOWN),
    }
}

/// Orders names by themselves, and numbers by their size.
fn order_of<'t>(value: &Value<'t>) -> (u64, &'t str) {
    (value.integer().unwrap_or(0), value.text().unwrap_or_default())
}

fn number_of(value: Value) -> f64 {
    match value {
        Value::Integer(number) => number as f64,
        Value::Real(number) => number,
        _ => 0.0,
    }
}

/// Sums of whole numbers are exact up to 2^53.
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_FUNCTION: Sums = Sums {
        of: "sites",
        name: "functions",
        title: "Functions by misses",
        keys: &["function"],
        counted: "sites",
        added: &["accesses", "missed_*", "share"],
        foremost: Some("pattern"),
    };

    /// Function, pattern, accesses and misses.
    type Site = (&'static str, &'static str, u64, u64);

    fn sites(sites: &[Site]) -> Vec<Table> {
        let whole: u64 = sites.iter().map(|site| site.2).sum();
        vec![TableBuilder::new("sites", "Sites", sites)
            .text("function", |site| site.0)
            .text("pattern", |site| site.1)
            .count("accesses", |site| site.2)
            .count("missed_tage", |site| site.3)
            .number("rank", |site| site.3)
            .share("share", |site| (site.2, whole))
            .ranked_by("missed_tage")
            .build()]
    }

    #[test]
    fn rows_of_a_group_are_added_up_and_groups_ranked_as_the_finer_table_is() {
        let tables = sites(&[("b", "near", 6, 1), ("", "far", 2, 9), ("b", "far", 2, 4)]);
        let table = BY_FUNCTION.table(&tables, 10).unwrap();
        let names: Vec<&str> = table.columns().map(|column| column.name()).collect();
        assert_eq!(
            names,
            ["function", "pattern", "sites", "accesses", "missed_tage", "share"]
        );
        let column = |name| -> Vec<u64> {
            (0..table.row_count())
                .filter_map(|row| table.integer(name, row))
                .collect()
        };
        assert_eq!(
            (table.text("function", 0), table.text("function", 1)),
            (Some(UNKNOWN), Some("b"))
        );
        assert_eq!(
            (column("sites"), column("accesses"), column("missed_tage")),
            (vec![1, 2], vec![2, 8], vec![9, 5])
        );
        assert_eq!(
            table.text("pattern", 1),
            Some("far"),
            "which has most of the misses"
        );
        let share = table.column("share").map(|column| column.value(1));
        assert_eq!(share, Some(Value::Real(0.8)));
    }

    #[test]
    fn the_top_is_cut_and_says_so() {
        let tables = sites(&[("a", "near", 6, 1), ("b", "far", 2, 9)]);
        let table = BY_FUNCTION.table(&tables, 1).unwrap();
        assert_eq!((table.row_count(), table.total_rows()), (1, 2));
        assert_eq!(table.title(), "Functions by misses, 1 of 2");
        assert!(BY_FUNCTION.table(&[], 1).is_none());
    }
}
