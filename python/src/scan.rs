//! Which rows of which table are wanted.

use std::ops::RangeInclusive;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trackway_answers::model::ModelArguments;
use trackway_answers::served::{served, CYCLES};
use trackway_answers::time::MachineArguments;
use trackway_arrow::{partitions, Relation, Selection, TraceTables};

use crate::batches::Batches;
use crate::errors::failure;
use crate::partition::Partition;
use crate::trace::Trace;

/// The filters of a table, as Python gives them; bounds belong to what is wanted.
#[derive(FromPyObject, Default)]
pub struct Filters {
    #[pyo3(item)]
    columns: Option<Vec<String>>,
    #[pyo3(item)]
    threads: Option<Vec<u32>>,
    #[pyo3(item)]
    sites: Option<Vec<u32>>,
    #[pyo3(item)]
    addresses: Option<(u64, u64)>,
    #[pyo3(item)]
    times_ns: Option<(u64, u64)>,
    #[pyo3(item)]
    limit: Option<u64>,
}

impl Filters {
    fn selection(self, relation: Relation) -> PyResult<Selection> {
        let columns = self.columns.map(|names| indices(relation, &names)).transpose()?;
        Ok(Selection {
            columns,
            threads: self.threads,
            sites: self.sites,
            addresses: range(self.addresses),
            times_ns: range(self.times_ns),
            limit: self.limit,
        })
    }
}

/// Names of the tables, and what a row of each is.
#[pyfunction]
pub fn tables() -> Vec<(&'static str, &'static str)> {
    let tables = Relation::ALL.iter();
    tables
        .map(|relation| (relation.name(), relation.meaning()))
        .collect()
}

/// Rows of a table, of all of it or of a partition.
#[pyfunction]
pub fn scan(
    py: Python,
    trace: &Trace,
    table: &str,
    filters: Filters,
    partition: Option<Partition>,
    batch_rows: Option<usize>,
    skips_damage: bool,
) -> PyResult<Batches> {
    let relation = relation(table)?;
    let selection = filters.selection(relation)?;
    let tables = trace.tables();
    serve(py, tables, relation, &selection)?;
    let whole = || partitions(tables, relation, &selection, 1).swap_remove(0);
    let scan = py.detach(|| {
        let partition = partition.map_or_else(whole, Partition::into_inner);
        tables.scan(relation, partition, selection.clone())
    });
    Ok(Batches::new(scan, batch_rows, skips_damage))
}

/// If columns are wanted that caches and a machine are simulated for: those of the machine that recorded.
fn serve(py: Python, tables: &Arc<TraceTables>, relation: Relation, selection: &Selection) -> PyResult<()> {
    let schema = relation.schema_with_served();
    let (first, columns) = (
        relation.schema().fields().len(),
        selection.columns.iter().flatten(),
    );
    let names: Vec<&str> = columns
        .filter(|index| **index >= first)
        .map(|index| schema.field(*index).name().as_str())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    let (model, machine) = (ModelArguments::default(), MachineArguments::default());
    let by = py.detach(|| {
        served(
            tables.trace(),
            &model,
            &machine,
            names.contains(&CYCLES),
            &mut Vec::new(),
        )
    });
    tables.serve_by(by.map_err(|error| failure(&error))?);
    Ok(())
}

/// Divides a table into parts of about the same work, at most so many.
#[pyfunction]
pub fn divide(trace: &Trace, table: &str, filters: Filters, count: usize) -> PyResult<Vec<Partition>> {
    let relation = relation(table)?;
    let selection = filters.selection(relation)?;
    let parts = partitions(trace.tables(), relation, &selection, count);
    Ok(parts.into_iter().map(Partition::from).collect())
}

/// Name, unit and meaning of a table's columns.
#[pyfunction]
pub fn columns(table: &str) -> PyResult<Vec<(String, String, String)>> {
    let schema = relation(table)?.schema_with_served();
    let fields = schema.fields().iter();
    Ok(fields
        .map(|field| {
            let said = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            (field.name().clone(), said("unit"), said("meaning"))
        })
        .collect())
}

fn relation(name: &str) -> PyResult<Relation> {
    Relation::named(name).ok_or_else(|| {
        let names: Vec<&str> = Relation::ALL.iter().map(|relation| relation.name()).collect();
        PyValueError::new_err(format!(
            "there is no table {name:?}; there are {}",
            names.join(", ")
        ))
    })
}

fn indices(relation: Relation, names: &[String]) -> PyResult<Vec<usize>> {
    let schema = relation.schema_with_served();
    let index = |name: &String| {
        schema.index_of(name).map_err(|_| {
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect();
            let table = relation.name();
            PyValueError::new_err(format!(
                "the table {table} has no column {name:?}; it has {}",
                names.join(", ")
            ))
        })
    };
    names.iter().map(index).collect()
}

fn range(bounds: Option<(u64, u64)>) -> RangeInclusive<u64> {
    let (first, last) = bounds.unwrap_or((0, u64::MAX));
    first..=last
}
