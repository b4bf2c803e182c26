//! Which predicates a table answers itself, exactly: before anything is decoded, or meanwhile.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use datafusion::arrow::array::{Array, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use trackway_arrow::{Relation, Selection, TraceTables};

use crate::traces::{TraceSet, TRACE_COLUMNS};

/// What a predicate restricts.
#[derive(Debug, Clone, PartialEq)]
enum Restricts {
    /// It is about whole traces.
    Traces,
    /// It is about threads and processes.
    Threads,
    /// It is about what follows from the site.
    Sites,
    Addresses(RangeInclusive<u64>),
    Times(RangeInclusive<u64>),
}

/// Whether a table answers the predicate exactly.
pub fn is_answered(relation: Relation, filter: &Expr) -> bool {
    restricts(relation, filter).is_some()
}

/// The rows of each trace that the predicates want; a table must answer all of the predicates. Traces without wanted
/// rows are left out.
pub fn selections(
    session: &dyn Session,
    set: &TraceSet,
    relation: Relation,
    filters: &[Expr],
) -> Result<Vec<(usize, Selection)>> {
    let filters: Vec<Expr> = filters.iter().cloned().map(unnormalize_col).collect();
    let mut wanted = vec![true; set.traces().len()];
    for filter in filters
        .iter()
        .filter(|filter| restricts(relation, filter) == Some(Restricts::Traces))
    {
        let kept = kept(session, filter, &set.of_traces())?;
        wanted
            .iter_mut()
            .zip(kept)
            .for_each(|(wanted, kept)| *wanted &= kept);
    }
    let traces = set.traces().iter().enumerate();
    let traces = traces.filter(|(index, _)| wanted[*index]);
    traces
        .map(|(index, tables)| Ok((index, selection(session, tables, relation, &filters)?)))
        .collect()
}

fn selection(
    session: &dyn Session,
    tables: &TraceTables,
    relation: Relation,
    filters: &[Expr],
) -> Result<Selection> {
    let mut selection = Selection::default();
    for filter in filters {
        match restricts(relation, filter) {
            Some(Restricts::Threads) => {
                let batch = threads(tables);
                let kept = kept(session, filter, &batch)?;
                let numbers = batch
                    .column(1)
                    .as_primitive::<datafusion::arrow::datatypes::UInt32Type>();
                let kept = kept_numbers(numbers.values(), &kept);
                restrict(&mut selection.threads, kept);
            }
            Some(Restricts::Sites) => {
                let mut names: Vec<&str> = names_of(filter).into_iter().collect();
                names.retain(|name| *name != "site");
                names.insert(0, "site");
                let batch = tables.keys_of_sites(&names);
                let kept = kept(session, filter, &batch)?;
                let numbers = batch
                    .column(0)
                    .as_primitive::<datafusion::arrow::datatypes::UInt32Type>();
                restrict(&mut selection.sites, kept_numbers(numbers.values(), &kept));
            }
            Some(Restricts::Addresses(range)) => selection.addresses = both(&selection.addresses, &range),
            Some(Restricts::Times(range)) => selection.times_ns = both(&selection.times_ns, &range),
            Some(Restricts::Traces) | None => {}
        }
    }
    Ok(selection)
}

/// Process and thread of each stream.
fn threads(tables: &TraceTables) -> RecordBatch {
    let field = |name| Field::new(name, DataType::UInt32, false);
    let streams = tables.trace().streams();
    let processes: UInt32Array = streams.iter().map(|stream| Some(stream.process)).collect();
    let threads: UInt32Array = streams.iter().map(|stream| Some(stream.id)).collect();
    let columns: Vec<std::sync::Arc<dyn Array>> =
        vec![std::sync::Arc::new(processes), std::sync::Arc::new(threads)];
    let schema = Schema::new(vec![field("process"), field("thread")]);
    RecordBatch::try_new(std::sync::Arc::new(schema), columns).expect("columns are as their fields say")
}

fn kept_numbers(numbers: &[u32], kept: &[bool]) -> Vec<u32> {
    let pairs = numbers.iter().zip(kept);
    pairs
        .filter(|(_, kept)| **kept)
        .map(|(number, _)| *number)
        .collect()
}

/// What both lists have.
fn restrict(wanted: &mut Option<Vec<u32>>, kept: Vec<u32>) {
    let both = match wanted.take() {
        None => kept,
        Some(earlier) => {
            let earlier: BTreeSet<u32> = earlier.into_iter().collect();
            kept.into_iter()
                .filter(|number| earlier.contains(number))
                .collect()
        }
    };
    *wanted = Some(both);
}

fn both(one: &RangeInclusive<u64>, other: &RangeInclusive<u64>) -> RangeInclusive<u64> {
    *one.start().max(other.start())..=*one.end().min(other.end())
}

/// The rows for which the predicate is true.
fn kept(session: &dyn Session, filter: &Expr, rows: &RecordBatch) -> Result<Vec<bool>> {
    let schema = DFSchema::try_from(rows.schema().as_ref().clone())?;
    let predicate = session.create_physical_expr(filter.clone(), &schema)?;
    let answers = predicate.evaluate(rows)?.into_array(rows.num_rows())?;
    let answers = answers.as_boolean();
    Ok(answers.iter().map(|answer| answer == Some(true)).collect())
}

fn restricts(relation: Relation, filter: &Expr) -> Option<Restricts> {
    if filter.is_volatile() || filter.exists(|part| Ok(asks_others(part))).ok()? {
        return None;
    }
    let names = names_of(filter);
    if names.is_empty() {
        return None;
    }
    let all = |known: &dyn Fn(&str) -> bool| names.iter().all(|name| known(name));
    if all(&|name| TRACE_COLUMNS.iter().any(|(column, _)| *column == name)) {
        return Some(Restricts::Traces);
    }
    if !matches!(relation, Relation::Accesses | Relation::SiteCounts) {
        return None;
    }
    if all(&|name| matches!(name, "process" | "thread")) {
        return Some(Restricts::Threads);
    }
    if all(&TraceTables::is_of_sites) {
        return Some(Restricts::Sites);
    }
    let mut names = names.into_iter();
    match (names.next()?, names.next()) {
        ("address", None) => range(filter).map(Restricts::Addresses),
        ("time_ns", None) => range(filter).map(Restricts::Times),
        _ => None,
    }
}

fn names_of(filter: &Expr) -> BTreeSet<&str> {
    filter
        .column_refs()
        .into_iter()
        .map(|column| column.name.as_str())
        .collect()
}

/// Whether the value depends on more than the row.
pub fn asks_others(part: &Expr) -> bool {
    matches!(
        part,
        Expr::ScalarSubquery(_)
            | Expr::InSubquery(_)
            | Expr::Exists(_)
            | Expr::SetComparison(_)
            | Expr::OuterReferenceColumn(..)
            | Expr::Placeholder(_)
            | Expr::ScalarVariable(..)
            | Expr::AggregateFunction(_)
            | Expr::WindowFunction(_)
            | Expr::GroupingSet(_)
            | Expr::Unnest(_)
    )
}

/// The numbers that fit a comparison of the only column with numbers.
fn range(filter: &Expr) -> Option<RangeInclusive<u64>> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (left.as_ref(), op, right.as_ref()) {
            (left, Operator::And, right) => Some(both(&range(left)?, &range(right)?)),
            (Expr::Column(_), op, Expr::Literal(value, _)) => compared(*op, number(value)?),
            (Expr::Literal(value, _), op, Expr::Column(_)) => compared(op.swap()?, number(value)?),
            _ => None,
        },
        Expr::Between(between) if !between.negated => {
            match (between.expr.as_ref(), between.low.as_ref(), between.high.as_ref()) {
                (Expr::Column(_), Expr::Literal(low, _), Expr::Literal(high, _)) => Some(both(
                    &compared(Operator::GtEq, number(low)?)?,
                    &compared(Operator::LtEq, number(high)?)?,
                )),
                _ => None,
            }
        }
        _ => None,
    }
}

fn compared(operator: Operator, number: i128) -> Option<RangeInclusive<u64>> {
    let most = i128::from(u64::MAX);
    let (first, last) = match operator {
        Operator::Eq => (number, number),
        Operator::Lt => (0, number - 1),
        Operator::LtEq => (0, number),
        Operator::Gt => (number + 1, most),
        Operator::GtEq => (number, most),
        _ => return None,
    };
    let (first, last) = (first.max(0), last.min(most));
    match first <= last {
        true => Some(first as u64..=last as u64),
        // Nothing fits, so the range is empty.
        false => Some(RangeInclusive::new(1, 0)),
    }
}

fn number(value: &ScalarValue) -> Option<i128> {
    match value {
        ScalarValue::UInt8(number) => number.map(i128::from),
        ScalarValue::UInt16(number) => number.map(i128::from),
        ScalarValue::UInt32(number) => number.map(i128::from),
        ScalarValue::UInt64(number) => number.map(i128::from),
        ScalarValue::Int8(number) => number.map(i128::from),
        ScalarValue::Int16(number) => number.map(i128::from),
        ScalarValue::Int32(number) => number.map(i128::from),
        ScalarValue::Int64(number) => number.map(i128::from),
        ScalarValue::Decimal128(number, _, 0) => *number,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, lit};

    #[test]
    fn comparisons_are_ranges() {
        let at = |filter: Expr| restricts(Relation::Accesses, &filter);
        let address = || col("address");
        assert_eq!(
            at(address().gt(lit(15u64))),
            Some(Restricts::Addresses(16..=u64::MAX))
        );
        assert_eq!(at(lit(15u64).gt(address())), Some(Restricts::Addresses(0..=14)));
        assert_eq!(
            at(address().between(lit(3u64), lit(5u64))),
            Some(Restricts::Addresses(3..=5))
        );
        let two = address().gt_eq(lit(3u64)).and(address().lt(lit(9u64)));
        assert_eq!(at(two), Some(Restricts::Addresses(3..=8)));
        assert_eq!(
            at(address().lt(lit(0u64))),
            Some(Restricts::Addresses(RangeInclusive::new(1, 0)))
        );
        assert_eq!(at(col("time_ns").eq(lit(7i64))), Some(Restricts::Times(7..=7)));
        assert_eq!(at(address().eq(col("time_ns"))), None);
        assert_eq!(at(address().not_eq(lit(3u64))), None);
    }

    #[test]
    fn what_follows_from_site_thread_or_trace_is_answered() {
        let at = |filter: Expr| restricts(Relation::Accesses, &filter);
        assert_eq!(at(col("variable").like(lit("a%"))), Some(Restricts::Sites));
        assert_eq!(at(col("thread").eq(lit(1u32))), Some(Restricts::Threads));
        assert_eq!(at(col("program").eq(lit("x"))), Some(Restricts::Traces));
        let mixed = col("variable").eq(lit("a")).or(col("thread").eq(lit(1u32)));
        assert_eq!(at(mixed), None);
        assert_eq!(restricts(Relation::Sites, &col("variable").eq(lit("a"))), None);
        assert_eq!(at(col("size").eq(lit(8u64))), None);
    }
}
