//! Runs queries on traces.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::{FunctionRegistry, SessionStateBuilder};
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use futures::StreamExt;
use tokio::runtime::{Builder, Runtime};
use trackway_trace::TraceError;

use crate::catalog::relations;
use crate::counting::CountBySite;
use crate::error::explained;
use crate::integers::Integers;
use crate::scan::Damage;
use crate::table::TraceTable;
use crate::{QueryError, TraceSet};

/// Traces that can be queried, and what runs the queries.
pub struct Session {
    set: Arc<TraceSet>,
    context: SessionContext,
    runtime: Runtime,
    damage: Damage,
    names_served: Arc<AtomicBool>,
}

/// Those of `level` and `cycles` that a query names: columns of accesses for which caches and a machine are simulated.
///
/// Queries that name neither don't have these columns, so that `SELECT *` costs no simulation.
pub fn served_columns(sql: &str) -> Vec<&'static str> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize();
    let tokens = tokens.unwrap_or_default();
    let is_named = |name: &&str| {
        tokens.iter().any(|token| match token {
            Token::Word(word) => word.value.eq_ignore_ascii_case(name),
            _ => false,
        })
    };
    SERVED.into_iter().filter(is_named).collect()
}

const SERVED: [&str; 2] = ["level", "cycles"];

impl Session {
    /// Makes a session whose queries work with so many threads.
    ///
    /// # Errors
    /// If the threads can't be started, or the engine doesn't take a table.
    pub fn new(set: TraceSet, threads: NonZeroUsize) -> Result<Session, QueryError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.get())
            .thread_name("query")
            .build()
            .map_err(QueryError::Threads)?;
        let mut config = SessionConfig::new()
            .with_target_partitions(threads.get())
            .with_information_schema(true);
        config.options_mut().sql_parser.collect_spans = true;
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_optimizer_rule(Arc::new(CountBySite))
            .build();
        let mut context = SessionContext::new_with_state(state);
        context
            .register_expr_planner(Arc::new(Integers))
            .map_err(|error| QueryError::Failed(error.to_string()))?;
        let session = Session {
            set: Arc::new(set),
            context,
            runtime,
            damage: Damage::default(),
            names_served: Arc::default(),
        };
        session
            .register()
            .map_err(|error| QueryError::Failed(error.to_string()))?;
        Ok(session)
    }

    fn register(&self) -> Result<(), DataFusionError> {
        for relation in relations() {
            let table = TraceTable::new(
                self.set.clone(),
                relation,
                self.damage.clone(),
                self.names_served.clone(),
            );
            self.context.register_table(relation.name(), Arc::new(table))?;
        }
        let traces = self.set.table();
        let traces = MemTable::try_new(traces.schema(), vec![vec![traces]])?;
        self.context.register_table("traces", Arc::new(traces))?;
        Ok(())
    }

    pub fn traces(&self) -> &TraceSet {
        &self.set
    }

    /// Plans a query and begins to run it. Queries only read. If it names [`served_columns`], each trace must know
    /// what serves its accesses: [`trackway_arrow::TraceTables::serve_by`].
    ///
    /// # Errors
    /// If the query can't be understood; the message says where, and which names there are.
    pub fn query(&self, sql: &str) -> Result<Answer<'_>, QueryError> {
        self.names_served
            .store(!served_columns(sql).is_empty(), Ordering::Relaxed);
        let options = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        let begun = self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, options).await?;
            frame.execute_stream().await
        });
        let stream = begun.map_err(|error| self.explained(sql, &error))?;
        Ok(Answer {
            session: self,
            sql: sql.to_owned(),
            stream,
        })
    }

    fn explained(&self, sql: &str, error: &DataFusionError) -> QueryError {
        let mut tables: Vec<String> = relations().map(|relation| relation.name().to_owned()).collect();
        tables.push("traces".into());
        explained(sql, error, &tables)
    }

    /// What could not be read since the last call; the answers lack it.
    pub fn take_damage(&self) -> Vec<TraceError> {
        let mut damage = self
            .damage
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::take(&mut *damage)
    }

    /// Chunks of records that were decoded until now, and their bytes in the files.
    pub fn decoded(&self) -> (u64, u64) {
        let all = self.set.traces().iter().map(|tables| tables.decoded());
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// The rows of an answer, which come while the query runs.
pub struct Answer<'s> {
    session: &'s Session,
    sql: String,
    stream: SendableRecordBatchStream,
}

impl Answer<'_> {
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for Answer<'_> {
    type Item = Result<RecordBatch, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.session.runtime.block_on(self.stream.next())?;
        Some(batch.map_err(|error| self.session.explained(&self.sql, &error)))
    }
}
