//! A rule that uses counts of sites for queries that need no single access.
//!
//! The rule applies to an aggregation over accesses whose groups follow from site, thread and trace. It aggregates the
//! counts of each site and thread instead of the accesses. The decoder's loops needn't run for them, and a hundred
//! million accesses become some thousand rows.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::default_table_source::provider_as_source;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, AggregateUDF, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::prelude::{cast, lit};
use trackway_arrow::{Relation, TraceTables};

use crate::filters::{asks_others, is_answered};
use crate::flattened::Flattened;
use crate::table::TraceTable;
use crate::traces::TRACE_COLUMNS;

/// Name of the counts in plans.
const COUNTS: &str = "site_counts";

/// See the module.
#[derive(Debug)]
pub struct CountBySite;

impl OptimizerRule for CountBySite {
    fn name(&self) -> &str {
        "count_by_site"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else {
            return Ok(Transformed::no(plan));
        };
        match counted(aggregate)? {
            Some(counted) => Ok(Transformed::yes(counted)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// The same aggregation over counts; none if it needs single accesses.
fn counted(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let Some(input) = Flattened::of(&aggregate.input)? else {
        return Ok(None);
    };
    if !input
        .table
        .filters
        .iter()
        .all(|filter| is_answered(Relation::SiteCounts, filter))
    {
        return Ok(None);
    }
    let mut groups = Vec::new();
    for (index, group) in aggregate.group_expr.iter().enumerate() {
        let group = input.resolved(group.clone().unalias())?;
        if !is_key(&group) {
            return Ok(None);
        }
        groups.push(qualified(group)?.alias(format!("group_{index}")));
    }
    let mut sums = Sums::default();
    let mut results = Vec::new();
    for function in &aggregate.aggr_expr {
        let Expr::AggregateFunction(function) = input.resolved(function.clone().unalias())? else {
            return Ok(None);
        };
        match sums.result(&function)? {
            Some(result) => results.push(result),
            None => return Ok(None),
        }
    }
    let names = aggregate.schema.iter();
    let of_groups = (0..groups.len()).map(|index| column(&format!("group_{index}")));
    let outputs = of_groups.chain(results).zip(names);
    let outputs: Vec<Expr> = outputs
        .map(|(output, (qualifier, field))| output.alias_qualified(qualifier.cloned(), field.name()))
        .collect();
    let counts = TraceTable {
        relation: Relation::SiteCounts,
        ..input.table
    };
    let plan = LogicalPlanBuilder::scan(COUNTS, provider_as_source(Arc::new(counts)), None)?
        .aggregate(groups, sums.functions)?
        .project(outputs)?
        .build()?;
    Ok(Some(plan))
}

/// The aggregations over counts, from which the wanted ones follow.
#[derive(Default)]
struct Sums {
    functions: Vec<Expr>,
}

impl Sums {
    /// What the function comes to, as an expression of aggregations over counts.
    fn result(&mut self, function: &AggregateFunction) -> Result<Option<Expr>> {
        let params = &function.params;
        let filter = match &params.filter {
            Some(filter) if !is_key(filter) => return Ok(None),
            Some(filter) => Some(qualified(filter.as_ref().clone())?),
            None => None,
        };
        let [argument] = params.args.as_slice() else {
            return Ok(None);
        };
        if !params.order_by.is_empty() || params.null_treatment.is_some() {
            return Ok(None);
        }
        let name = function.func.name();
        let is_repeatable = matches!(name, "min" | "max") || (name == "count" && params.distinct);
        if is_repeatable && is_key(argument) && !matches!(argument, Expr::Literal(..)) {
            let argument = qualified(argument.clone())?;
            return Ok(Some(self.add(
                function.func.clone(),
                argument,
                params.distinct,
                filter,
            )));
        }
        if params.distinct {
            return Ok(None);
        }
        Ok(match (name, own_column(argument)) {
            ("count", own) => self.count(argument, own, filter)?,
            ("sum", Some("size")) => Some(self.sum("bytes", filter)),
            ("avg", Some("size")) => {
                let bytes = cast(self.sum("bytes", filter.clone()), DataType::Float64);
                Some(bytes / cast(self.sum("accesses", filter), DataType::Float64))
            }
            ("min", Some("address")) => {
                Some(self.add(min_udaf(), counted_column("lowest_address"), false, filter))
            }
            ("max", Some("address")) => {
                Some(self.add(max_udaf(), counted_column("highest_address"), false, filter))
            }
            _ => None,
        })
    }

    fn count(&mut self, argument: &Expr, own: Option<&str>, filter: Option<Expr>) -> Result<Option<Expr>> {
        let filter = match argument {
            Expr::Literal(value, _) if value.is_null() => return Ok(None),
            Expr::Literal(..) => filter,
            // No access lacks it.
            _ if own.is_some() => filter,
            _ if is_key(argument) => {
                let is_known = qualified(argument.clone())?.is_not_null();
                Some(match filter {
                    Some(filter) => filter.and(is_known),
                    None => is_known,
                })
            }
            _ => return Ok(None),
        };
        let count = cast(self.sum("accesses", filter), DataType::Int64);
        Ok(Some(coalesce(vec![count, lit(0i64)])))
    }

    fn sum(&mut self, column: &str, filter: Option<Expr>) -> Expr {
        self.add(sum_udaf(), counted_column(column), false, filter)
    }

    /// Adds an aggregation, and returns the name of its result.
    fn add(&mut self, func: Arc<AggregateUDF>, argument: Expr, distinct: bool, filter: Option<Expr>) -> Expr {
        let name = format!("sum_{}", self.functions.len());
        let function = Expr::AggregateFunction(AggregateFunction {
            func,
            params: AggregateFunctionParams {
                args: vec![argument],
                distinct,
                filter: filter.map(Box::new),
                order_by: Vec::new(),
                null_treatment: None,
            },
        });
        self.functions.push(function.alias(&name));
        column(&name)
    }
}

fn column(name: &str) -> Expr {
    Expr::Column(Column::from_name(name))
}

fn counted_column(name: &str) -> Expr {
    Expr::Column(Column::new(Some(COUNTS), name))
}

/// A column of accesses that no access lacks, perhaps as another type.
fn own_column(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Column(column) if matches!(column.name.as_str(), "size" | "address" | "time_ns") => {
            Some(&column.name)
        }
        Expr::Cast(cast) => own_column(&cast.expr),
        _ => None,
    }
}

/// Whether the value follows from site, thread and trace.
fn is_key(expression: &Expr) -> bool {
    let is_known = |name: &str| {
        matches!(name, "process" | "thread")
            || TraceTables::is_of_sites(name)
            || TRACE_COLUMNS.iter().any(|(column, _)| *column == name)
    };
    let asks = expression.exists(|part| Ok(asks_others(part)));
    let names = expression.column_refs().into_iter();
    !expression.is_volatile()
        && matches!(asks, Ok(false))
        && names.map(|column| &column.name).all(|name| is_known(name))
}

/// The expression with columns of the counts.
fn qualified(expression: Expr) -> Result<Expr> {
    let qualified = expression.transform(|part| match part {
        Expr::Column(column) => Ok(Transformed::yes(counted_column(&column.name))),
        part => Ok(Transformed::no(part)),
    })?;
    Ok(qualified.data)
}
