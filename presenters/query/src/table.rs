//! A table of the traces as the engine knows it.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use trackway_arrow::{partitions, Relation};

use crate::filters::{is_answered, selections};
use crate::scan::{Damage, Piece, Source, TraceScanExec};
use crate::traces::{trace_fields, TraceSet};

/// There are more parts than processors, since parts take different times.
const PARTS_PER_PROCESSOR: usize = 8;
/// A query for at most so many rows is read by one processor, in the order of the trace.
const FEW_ROWS: usize = 1 << 16;

/// A relation of all traces.
#[derive(Clone)]
pub struct TraceTable {
    pub set: Arc<TraceSet>,
    pub relation: Relation,
    /// Predicates that hold for all rows: those of the table from which this one was made.
    pub filters: Vec<Expr>,
    pub damage: Damage,
    /// Whether the present query names columns that are simulated.
    pub names_served: Arc<AtomicBool>,
}

impl fmt::Debug for TraceTable {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "TraceTable({})", self.relation.name())
    }
}

impl TraceTable {
    pub fn new(
        set: Arc<TraceSet>,
        relation: Relation,
        damage: Damage,
        names_served: Arc<AtomicBool>,
    ) -> Self {
        TraceTable {
            set,
            relation,
            filters: Vec::new(),
            damage,
            names_served,
        }
    }

    /// The table of a plan, if it is one of these.
    pub fn of<'p>(provider: &'p (dyn TableProvider + 'static)) -> Option<&'p TraceTable> {
        (provider as &dyn Any).downcast_ref()
    }

    /// The trace's own columns.
    fn own(&self) -> SchemaRef {
        match self.names_served.load(Ordering::Relaxed) {
            true => self.relation.schema_with_served(),
            false => self.relation.schema(),
        }
    }

    fn fields(&self) -> Schema {
        let own = self.own();
        let mut fields: Vec<_> = own.fields().iter().cloned().collect();
        if self.set.is_collection() {
            fields.extend(trace_fields().into_iter().map(Arc::new));
        }
        Schema::new(fields)
    }

    /// Where a column of the table comes from.
    fn source(&self, index: usize) -> Source {
        let own = self.own().fields().len();
        match index.checked_sub(own) {
            None => Source::Own,
            Some(index) => Source::Trace(index),
        }
    }
}

#[async_trait]
impl TableProvider for TraceTable {
    fn schema(&self) -> SchemaRef {
        Arc::new(self.fields())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let answers = filters
            .iter()
            .map(|filter| match is_answered(self.relation, filter) {
                true => TableProviderFilterPushDown::Exact,
                false => TableProviderFilterPushDown::Unsupported,
            });
        Ok(answers.collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = self.fields();
        let chosen: Vec<usize> = match projection {
            Some(chosen) => chosen.clone(),
            None => (0..all.fields().len()).collect(),
        };
        let sources: Vec<Source> = chosen.iter().map(|index| self.source(*index)).collect();
        let own = chosen
            .iter()
            .zip(&sources)
            .filter(|(_, source)| **source == Source::Own);
        let own: Vec<usize> = own.map(|(index, _)| *index).collect();
        let filters: Vec<Expr> = self.filters.iter().chain(filters).cloned().collect();
        let processors = match limit {
            Some(rows) if rows <= FEW_ROWS => 1,
            _ => session.config().target_partitions().max(1),
        };
        let mut pieces = Vec::new();
        for (trace, mut selection) in selections(session, &self.set, self.relation, &filters)? {
            selection.columns = Some(own.clone());
            selection.limit = limit.map(|limit| limit as u64);
            let tables = &self.set.traces()[trace];
            for partition in partitions(
                tables,
                self.relation,
                &selection,
                processors * PARTS_PER_PROCESSOR,
            ) {
                pieces.push(Piece {
                    trace,
                    partition,
                    selection: selection.clone(),
                });
            }
        }
        let schema = Arc::new(all.project(&chosen)?);
        let table = (self.set.clone(), self.relation, self.damage.clone());
        Ok(Arc::new(TraceScanExec::new(
            table, schema, sources, pieces, processors, &filters,
        )))
    }
}
