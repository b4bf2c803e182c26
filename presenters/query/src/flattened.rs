//! The input of an aggregation, when it is nothing but columns of a table and what is computed from them.

use std::collections::HashMap;

use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};
use trackway_arrow::Relation;

use crate::table::TraceTable;

/// A table of accesses, and each column of the input as an expression of that table's columns.
pub struct Flattened {
    pub table: TraceTable,
    columns: HashMap<Column, Expr>,
}

impl Flattened {
    /// None if rows are lost or made on the way, or if it is another table.
    pub fn of(plan: &LogicalPlan) -> Result<Option<Flattened>> {
        match plan {
            LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
                let Ok(provider) = source_as_provider(&scan.source) else {
                    return Ok(None);
                };
                let Some(table) = TraceTable::of(provider.as_ref()) else {
                    return Ok(None);
                };
                if table.relation != Relation::Accesses {
                    return Ok(None);
                }
                let mut table = table.clone();
                table.filters.extend(scan.filters.iter().cloned());
                let columns = scan.projected_schema.columns().into_iter();
                let columns =
                    columns.map(|column| (column.clone(), Expr::Column(Column::from_name(column.name))));
                Ok(Some(Flattened {
                    table,
                    columns: columns.collect(),
                }))
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let Some(inner) = Flattened::of(&alias.input)? else {
                    return Ok(None);
                };
                let pairs = alias
                    .schema
                    .columns()
                    .into_iter()
                    .zip(alias.input.schema().columns());
                inner.renamed(pairs.map(|(outer, column)| (outer, Expr::Column(column))))
            }
            LogicalPlan::Projection(projection) => {
                let Some(inner) = Flattened::of(&projection.input)? else {
                    return Ok(None);
                };
                let expressions = projection.expr.iter().cloned().map(Expr::unalias);
                inner.renamed(projection.schema.columns().into_iter().zip(expressions))
            }
            _ => Ok(None),
        }
    }

    fn renamed(self, columns: impl Iterator<Item = (Column, Expr)>) -> Result<Option<Flattened>> {
        let columns: Result<HashMap<Column, Expr>> = columns
            .map(|(column, expression)| Ok((column, self.resolved(expression)?)))
            .collect();
        Ok(Some(Flattened {
            columns: columns?,
            ..self
        }))
    }

    /// The expression with the table's own columns, which have no qualifier.
    pub fn resolved(&self, expression: Expr) -> Result<Expr> {
        let resolved = expression.transform(|part| match &part {
            Expr::Column(column) => match self.columns.get(column) {
                Some(known) => Ok(Transformed::yes(known.clone())),
                None => Ok(Transformed::no(part)),
            },
            _ => Ok(Transformed::no(part)),
        })?;
        Ok(resolved.data)
    }
}
