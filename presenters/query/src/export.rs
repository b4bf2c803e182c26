//! The tables of a trace as folders of Parquet files.

use std::collections::VecDeque;
use std::fs::{self, Permissions};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use tempfile::{NamedTempFile, TempDir};
use trackway_arrow::{partitions, Partition, Relation, Selection, TraceTables};
use trackway_trace::{ChunkRef, TraceError};

use crate::output::parquet_properties;
use crate::QueryError;

/// Bytes of records, before compression, in a part of a table. One thread writes each part, into files of its own.
const PART_BYTES: u64 = 64 << 20;

/// What is exported, and how.
#[derive(Debug, Clone)]
pub struct ExportSettings {
    pub tables: Vec<Relation>,
    /// Rows of a file at most.
    pub rows_per_file: usize,
    pub threads: NonZeroUsize,
}

/// What was exported.
#[derive(Debug, Default)]
pub struct Exported {
    /// Rows of each table.
    pub tables: Vec<(Relation, u64)>,
    pub files: u64,
    /// What could not be read.
    pub damage: Vec<TraceError>,
}

/// Writes tables into folders of their names below `folder`: `accesses/thread=N/part-….parquet`, `sites/part-….parquet`.
/// A table's folder appears when all of it is written. Files are for the user alone.
///
/// # Errors
/// If a table's folder is there already, or something can't be written; that table's folder isn't there then.
pub fn export(
    tables: &Arc<TraceTables>,
    folder: &Path,
    settings: &ExportSettings,
) -> Result<Exported, QueryError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |source| QueryError::File { path, source }
    };
    fs::create_dir_all(folder).map_err(file_error(folder))?;
    let mut exported = Exported::default();
    for relation in &settings.tables {
        let target = folder.join(relation.name());
        if target.exists() {
            let source = std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "exists already; name another folder, or remove it",
            );
            return Err(QueryError::File { path: target, source });
        }
        let begun = tempfile::Builder::new()
            .prefix(&format!(".{}-", relation.name()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(folder)
            .map_err(file_error(folder))?;
        let written = write_table(tables, *relation, &begun, settings)?;
        fs::rename(begun.keep(), &target).map_err(file_error(&target))?;
        exported.tables.push((*relation, written.rows));
        exported.files += written.files;
        exported.damage.extend(written.damage);
    }
    Ok(exported)
}

/// A part of a table, and where its files go.
struct Part {
    folder: PathBuf,
    number: usize,
    partition: Partition,
    selection: Selection,
}

#[derive(Default)]
struct WrittenTable {
    rows: u64,
    files: u64,
    damage: Vec<TraceError>,
}

fn write_table(
    tables: &Arc<TraceTables>,
    relation: Relation,
    folder: &TempDir,
    settings: &ExportSettings,
) -> Result<WrittenTable, QueryError> {
    let parts = Mutex::new(parts_of(tables, relation, folder.path()));
    let next = || {
        parts
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .pop_front()
    };
    let work = || {
        let mut written = WrittenTable::default();
        while let Some(part) = next() {
            write_part(
                tables,
                relation,
                part,
                settings.rows_per_file.max(1),
                &mut written,
            )?;
        }
        Ok(written)
    };
    let results: Vec<Result<WrittenTable, QueryError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.threads.get()).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    });
    results
        .into_iter()
        .try_fold(WrittenTable::default(), |mut sum, result| {
            let written = result?;
            sum.rows += written.rows;
            sum.files += written.files;
            sum.damage.extend(written.damage);
            Ok(sum)
        })
}

/// Accesses by thread, whose number is in the folder's name instead of the files; other tables whole.
fn parts_of(tables: &TraceTables, relation: Relation, folder: &Path) -> VecDeque<Part> {
    let schema = relation.schema();
    if relation != Relation::Accesses {
        let selection = Selection::default();
        let partitions = partitions(tables, relation, &selection, 1).into_iter();
        return partitions
            .map(|partition| Part {
                folder: folder.to_owned(),
                number: 0,
                partition,
                selection: selection.clone(),
            })
            .collect();
    }
    let fields = schema.fields().iter().enumerate();
    let columns: Vec<usize> = fields
        .filter(|(_, field)| field.name() != "thread")
        .map(|(index, _)| index)
        .collect();
    let streams = tables
        .trace()
        .streams()
        .iter()
        .filter(|stream| !stream.chunks.is_empty());
    let parts = streams.flat_map(|stream| {
        let selection = Selection {
            columns: Some(columns.clone()),
            threads: Some(vec![stream.id]),
            ..Selection::default()
        };
        let bytes = ChunkRef::raw_bytes(&stream.chunks);
        let count = usize::try_from(bytes.div_ceil(PART_BYTES)).unwrap_or(usize::MAX);
        let partitions = partitions(tables, relation, &selection, count);
        let folder = folder.join(format!("thread={}", stream.id));
        { partitions.into_iter().enumerate() }.map(move |(number, partition)| Part {
            folder: folder.clone(),
            number,
            partition,
            selection: selection.clone(),
        })
    });
    parts.collect()
}

fn write_part(
    tables: &Arc<TraceTables>,
    relation: Relation,
    part: Part,
    rows_per_file: usize,
    written: &mut WrittenTable,
) -> Result<(), QueryError> {
    let scan = tables.scan(relation, part.partition, part.selection);
    let mut files = Files {
        folder: part.folder,
        part: part.number,
        rows_per_file,
        next: 0,
        open: None,
    };
    fs::create_dir_all(&files.folder).map_err(|source| files.failed(source))?;
    // The first batch is written even without rows, so that readers learn the columns.
    let mut is_first = true;
    for batch in scan {
        match batch {
            Ok(batch) => {
                written.rows += batch.num_rows() as u64;
                files.write(batch, is_first)?;
                is_first = false;
            }
            Err(error) => written.damage.push(error),
        }
    }
    files.close()?;
    written.files += files.next as u64;
    Ok(())
}

/// The files of a part, one after the other.
struct Files {
    folder: PathBuf,
    part: usize,
    rows_per_file: usize,
    next: usize,
    /// The file that is being written, and its rows.
    open: Option<(ArrowWriter<NamedTempFile>, usize)>,
}

impl Files {
    fn write(&mut self, batch: RecordBatch, even_if_empty: bool) -> Result<(), QueryError> {
        let mut rest = batch;
        let mut is_due = even_if_empty;
        while rest.num_rows() > 0 || is_due {
            is_due = false;
            let (mut writer, rows) = match self.open.take() {
                Some(open) => open,
                None => (self.begin(&rest)?, 0),
            };
            let count = rest.num_rows().min(self.rows_per_file - rows);
            writer
                .write(&rest.slice(0, count))
                .map_err(|error| self.spoiled(error))?;
            self.open = Some((writer, rows + count));
            if rows + count == self.rows_per_file {
                self.close()?;
            }
            rest = rest.slice(count, rest.num_rows() - count);
        }
        Ok(())
    }

    fn begin(&self, batch: &RecordBatch) -> Result<ArrowWriter<NamedTempFile>, QueryError> {
        // Only the user may read it, as usual for temporary files.
        let file = tempfile::Builder::new()
            .prefix(".part-")
            .tempfile_in(&self.folder)
            .map_err(|source| self.failed(source))?;
        ArrowWriter::try_new(file, batch.schema(), Some(parquet_properties()))
            .map_err(|error| self.spoiled(error))
    }

    /// Gives the open file its name.
    fn close(&mut self) -> Result<(), QueryError> {
        let Some((writer, _)) = self.open.take() else {
            return Ok(());
        };
        let file = writer.into_inner().map_err(|error| self.spoiled(error))?;
        let name = format!("part-{:05}-{:03}.parquet", self.part, self.next);
        let path = self.folder.join(name);
        file.persist_noclobber(&path).map_err(|error| QueryError::File {
            path,
            source: error.error,
        })?;
        self.next += 1;
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> QueryError {
        QueryError::File {
            path: self.folder.clone(),
            source,
        }
    }

    fn spoiled(&self, source: parquet::errors::ParquetError) -> QueryError {
        QueryError::Parquet {
            path: self.folder.clone(),
            source,
        }
    }
}
