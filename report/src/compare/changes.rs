//! How one number of a table's rows changed.

use super::columns::{common, role, Role};
use super::noise::Noise;
use super::number::Number;
use super::pairs::Pair;
use crate::{number, Column, Table, TableBuilder, Unit, Value};

/// The difference of whole numbers.
pub fn difference(before: u64, after: u64) -> i64 {
    let difference = i128::from(after) - i128::from(before);
    difference.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Whether a row is on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Changed,
    New,
    Gone,
    /// The other side has only its top rows, and this one is not among them.
    CutOff,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Changed => "changed",
            State::New => "new",
            State::Gone => "gone",
            State::CutOff => "not in the top",
        }
    }
}

/// A row whose number changed.
struct Change {
    pair: Pair,
    state: State,
    before: Option<Number>,
    after: Option<Number>,
    /// How far runs of the same program differ, if that is known.
    noise: Option<f64>,
}

impl Change {
    fn state_name(&self) -> &'static str {
        match self.noise {
            Some(noise) if self.state == State::Changed && self.size() <= noise => "within noise",
            _ => self.state.name(),
        }
    }

    fn size(&self) -> f64 {
        let or_zero = |number: Option<Number>| number.map_or(0.0, Number::as_real);
        match (self.before, self.after) {
            (Some(Number::Integer(before)), Some(Number::Integer(after))) => before.abs_diff(after) as f64,
            (before, after) => (or_zero(after) - or_zero(before)).abs(),
        }
    }

    fn integer_change(&self) -> Option<i64> {
        Some(difference(self.before?.as_integer()?, self.after?.as_integer()?))
    }

    fn real_change(&self) -> Option<f64> {
        Some(self.after?.as_real() - self.before?.as_real())
    }
}

/// All changes of one measure, the largest first.
pub struct Changes<'t> {
    before: &'t Table,
    after: &'t Table,
    measure: (Column<'t>, Column<'t>),
    changes: Vec<Change>,
    unchanged: usize,
}

impl<'t> Changes<'t> {
    /// `measure`: a column that both tables have.
    pub fn new(
        before: &'t Table,
        after: &'t Table,
        pairs: &[Pair],
        measure: &str,
        noise: &Noise,
    ) -> Changes<'t> {
        let columns = common(before, after, Role::Measure);
        let found = columns.into_iter().find(|(_, column)| column.name() == measure);
        let measure = found.expect("a measure that both tables have");
        let mut changes: Vec<Change> = pairs
            .iter()
            .map(|&pair| Change {
                noise: noise.is_known().then(|| noise.of(pair.before)),
                ..change(before, after, measure, pair)
            })
            .collect();
        changes.retain(|change| change.state == State::CutOff || change.before != change.after);
        let unchanged = pairs.len() - changes.len();
        changes.sort_by(|a, b| b.size().total_cmp(&a.size()));
        Changes {
            before,
            after,
            measure,
            changes,
            unchanged,
        }
    }

    pub fn measure_title(&self) -> &'t str {
        self.measure.1.title()
    }

    /// Sums of whole numbers; none for other numbers, or for tables that lack rows.
    pub fn totals(&self) -> Option<(u64, u64)> {
        let sum = |table: &Table, column: Column| {
            let complete = table.row_count() == table.total_rows();
            let mut numbers = (0..table.row_count()).map(|row| column.integer(row));
            numbers
                .try_fold(0u64, |sum, number| sum.checked_add(number?))
                .filter(|_| complete)
        };
        Some((
            sum(self.before, self.measure.0)?,
            sum(self.after, self.measure.1)?,
        ))
    }

    /// The first change in words.
    pub fn largest(&self) -> Option<String> {
        let change = self.changes.first()?;
        let names = common(self.before, self.after, Role::Name);
        let name = names
            .first()
            .map_or(String::new(), |columns| match cell(*columns, change.pair) {
                Value::Text(text) => text.to_owned(),
                Value::Integer(number) => format!("{} {number}", columns.1.title()),
                _ => String::new(),
            });
        let by = match (change.integer_change(), change.real_change()) {
            (Some(change), _) => number::signed(change),
            (None, Some(change)) => number::signed_real(change),
            (None, None) => change.state.name().to_owned(),
        };
        Some(match change.state {
            State::New | State::Gone => format!("{name} ({}), {by}", change.state.name()),
            _ => format!("{name}, {by}"),
        })
    }

    pub fn table(&self, top: usize) -> Table {
        let shown = &self.changes[..self.changes.len().min(top)];
        let name = format!("{}_{}", self.after.name(), self.measure.1.name());
        let mut builder = TableBuilder::new(name, self.title(shown.len()), shown)
            .total_rows(self.changes.len())
            .ranked_by("change");
        builder = self.add_names(builder, shown);
        let unit = self.measure.1.unit();
        builder = match shown.iter().all(is_whole) {
            true => builder
                .whole("before", unit, |row| row.before?.as_integer())
                .whole("after", unit, |row| row.after?.as_integer())
                .change("change", Change::integer_change),
            false => builder
                .real("before", unit, |row| Some(row.before?.as_real()))
                .real("after", unit, |row| Some(row.after?.as_real()))
                .real("change", Unit::Change, Change::real_change),
        };
        builder = builder.ratio("ratio", |row| row.after?.ratio_to(row.before?));
        if shown.iter().any(|row| row.noise.is_some()) {
            builder = match shown.iter().all(is_whole) {
                true => builder.whole("noise", unit, |row| Some(row.noise? as u64)),
                false => builder.real("noise", unit, |row| row.noise),
            };
        }
        builder.text(("state", ""), Change::state_name).build()
    }

    fn title(&self, shown: usize) -> String {
        let of = self.after.title().split(" by ").next().unwrap_or_default();
        let title = format!("{of} by change of {}", self.measure_title());
        let unchanged = match self.unchanged {
            0 => String::new(),
            rows => format!("; {} unchanged", number::grouped(rows as u64)),
        };
        crate::top_title(title, shown, self.changes.len()) + &unchanged
    }

    /// Adds columns of names and places: those after the change, where there are any.
    fn add_names<'c>(
        &self,
        mut builder: TableBuilder<'c, Change>,
        shown: &[Change],
    ) -> TableBuilder<'c, Change> {
        for column in self.after.columns() {
            let Some(before) = self.before.column(column.name()) else {
                continue;
            };
            let columns = (before, column);
            let (name, title, unit) = (column.name(), column.title(), column.unit());
            builder = match role(column) {
                Role::Measure | Role::Serial => continue,
                _ if unit.is_text() => {
                    builder.texts((name, title), unit, |row| cell(columns, row.pair).text())
                }
                _ => builder.whole((name, title), unit, |row| cell(columns, row.pair).integer()),
            };
            let was = |row: &Change| {
                before
                    .integer(row.pair.before?)
                    .filter(|_| row.pair.after.is_some())
            };
            let is = |row: &Change| column.integer(row.pair.after?);
            if name == "line" && shown.iter().any(|row| was(row).is_some() && was(row) != is(row)) {
                builder = builder.number(("line_before", "was"), was);
            }
        }
        builder
    }
}

fn is_whole(change: &Change) -> bool {
    let whole = |number: Option<Number>| number.is_none_or(|number| number.as_integer().is_some());
    whole(change.before) && whole(change.after)
}

/// The change of a row. A row of one side alone was 0 on the other, unless that other side is incomplete.
fn change(before: &Table, after: &Table, measure: (Column, Column), pair: Pair) -> Change {
    let number = |column: Column, row: Option<usize>| Number::of(column.value(row?));
    let (was, is) = (number(measure.0, pair.before), number(measure.1, pair.after));
    let is_cut = |table: &Table| table.row_count() < table.total_rows();
    let state = match (pair.before, pair.after) {
        (None, _) if is_cut(before) => State::CutOff,
        (_, None) if is_cut(after) => State::CutOff,
        (None, _) => State::New,
        (_, None) => State::Gone,
        _ => State::Changed,
    };
    let nothing = |like: Option<Number>| match (like, measure.1.unit()) {
        (Some(Number::Integer(_)), _) => Some(Number::Integer(0)),
        (Some(Number::Real(_)), Unit::Share) => Some(Number::Real(0.0)),
        _ => None,
    };
    let (before, after) = match state {
        State::New => (nothing(is), is),
        State::Gone => (was, nothing(was)),
        State::Changed | State::CutOff => (was, is),
    };
    Change {
        pair,
        state,
        before,
        after,
        noise: None,
    }
}

fn cell<'t>((before, after): (Column<'t>, Column<'t>), pair: Pair) -> Value<'t> {
    match pair {
        Pair { after: Some(row), .. } => after.value(row),
        Pair {
            before: Some(row), ..
        } => before.value(row),
        _ => Value::None,
    }
}
