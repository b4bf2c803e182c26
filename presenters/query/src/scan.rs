//! Reading tables of traces, on all processors.

use std::fmt;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{internal_err, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use trackway_arrow::{Partition, Relation, Scan, Selection};
use trackway_trace::TraceError;

use crate::traces::{repeated, TraceSet};

/// Rows of a batch: few enough to stay in a core's cache from one operator to the next.
const BATCH_ROWS: usize = 1 << 15;

/// What could not be read while queries ran.
pub type Damage = Arc<Mutex<Vec<TraceError>>>;

/// Where a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The trace's table.
    Own,
    /// What is known of the trace: one of [`crate::traces::TRACE_COLUMNS`].
    Trace(usize),
}

/// A part of the table of one trace.
#[derive(Debug, Clone)]
pub struct Piece {
    pub trace: usize,
    pub partition: Partition,
    pub selection: Selection,
}

/// Reads pieces of a table, each in one of several streams.
pub struct TraceScanExec {
    set: Arc<TraceSet>,
    relation: Relation,
    sources: Vec<Source>,
    pieces: Arc<Vec<Piece>>,
    damage: Damage,
    properties: Arc<PlanProperties>,
    /// Its predicates, for people.
    filters: String,
}

impl TraceScanExec {
    pub fn new(
        (set, relation, damage): (Arc<TraceSet>, Relation, Damage),
        schema: SchemaRef,
        sources: Vec<Source>,
        pieces: Vec<Piece>,
        processors: usize,
        filters: &[Expr],
    ) -> Self {
        let streams = processors.min(pieces.len()).max(1);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(streams),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        let filters: Vec<String> = filters
            .iter()
            .map(|filter| filter.human_display().to_string())
            .collect();
        TraceScanExec {
            set,
            relation,
            sources,
            pieces: Arc::new(pieces),
            damage,
            properties: Arc::new(properties),
            filters: filters.join(" AND "),
        }
    }

    fn streams(&self) -> usize {
        self.properties.partitioning.partition_count()
    }
}

impl fmt::Debug for TraceScanExec {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Default, formatter)
    }
}

impl DisplayAs for TraceScanExec {
    fn fmt_as(&self, form: DisplayFormatType, formatter: &mut fmt::Formatter) -> fmt::Result {
        let chunks: usize = self
            .pieces
            .iter()
            .map(|piece| piece.partition.chunk_count())
            .sum();
        let schema = self.properties.eq_properties.schema();
        let columns: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        if form != DisplayFormatType::TreeRender {
            write!(formatter, "TraceScanExec: ")?;
        }
        let (table, columns) = (self.relation.name(), columns.join(", "));
        write!(
            formatter,
            "table={table}, columns=[{columns}], chunks={chunks}, streams={}",
            self.streams()
        )?;
        if !self.filters.is_empty() {
            write!(formatter, ", where=[{}]", self.filters)?;
        }
        Ok(())
    }
}

impl ExecutionPlan for TraceScanExec {
    fn name(&self) -> &str {
        "TraceScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.is_empty() {
            true => Ok(self),
            false => internal_err!("a table of a trace has no inputs"),
        }
    }

    fn execute(&self, stream: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let reading = Reading {
            set: self.set.clone(),
            relation: self.relation,
            schema: self.schema(),
            sources: self.sources.clone(),
            pieces: self.pieces.clone(),
            next: stream,
            step: self.streams(),
            current: None,
            damage: self.damage.clone(),
        };
        let stream = RecordBatchStreamAdapter::new(self.schema(), futures::stream::iter(reading));
        Ok(make_cooperative(Box::pin(stream)))
    }
}

/// Reads every nth piece, one after the other.
struct Reading {
    set: Arc<TraceSet>,
    relation: Relation,
    schema: SchemaRef,
    sources: Vec<Source>,
    pieces: Arc<Vec<Piece>>,
    next: usize,
    step: usize,
    /// The trace, and what is left of its piece.
    current: Option<(usize, Scan)>,
    damage: Damage,
}

impl Iterator for Reading {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((trace, scan)) = &mut self.current else {
                self.begin()?;
                continue;
            };
            match scan.next() {
                Some(Ok(batch)) => {
                    let trace = *trace;
                    return Some(self.with_trace(trace, &batch));
                }
                // The rest of the trace is as usable as before; the session reports the damage.
                Some(Err(error)) => {
                    let mut damage = self
                        .damage
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner());
                    damage.push(error);
                }
                None => self.current = None,
            }
        }
    }
}

impl Reading {
    fn begin(&mut self) -> Option<()> {
        let piece = self.pieces.get(self.next)?;
        self.next += self.step;
        let tables = &self.set.traces()[piece.trace];
        let scan = tables.scan(self.relation, piece.partition.clone(), piece.selection.clone());
        self.current = Some((piece.trace, scan.with_batch_rows(BATCH_ROWS)));
        Some(())
    }

    /// Adds what is known of the trace, where it is wanted.
    fn with_trace(&self, trace: usize, batch: &RecordBatch) -> Result<RecordBatch> {
        let numbers = match self.sources.iter().any(|source| *source != Source::Own) {
            true => repeated(trace, batch.num_rows()),
            false => repeated(trace, 0),
        };
        let mut own = batch.columns().iter();
        let columns: Vec<ArrayRef> = self
            .sources
            .iter()
            .filter_map(|source| match source {
                Source::Own => own.next().cloned(),
                Source::Trace(index) => Some(self.set.column(*index, &numbers)),
            })
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            self.schema.clone(),
            columns,
            &options,
        )?)
    }
}
