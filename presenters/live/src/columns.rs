//! Batches of columns without nulls.

use arrow_array::{ArrayRef, RecordBatch};

pub(crate) fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    let columns = columns.map(|(name, column)| (name, column, false));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns have one length")
}
