//! One trace or many, and what columns say of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, TimestampNanosecondArray, UInt32Array,
    UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use trackway_arrow::{described, TraceTables};
use trackway_trace::{build_id, traces_in, Trace};

use crate::QueryError;

/// What each row of every table says of its trace, if there may be several.
pub const TRACE_COLUMNS: [(&str, &str); 6] = [
    ("trace", "number of the trace: traces.trace"),
    ("program", "path of the program as it was started"),
    ("host", "name of the machine"),
    (
        "build_id",
        "the program file's build id if it is known, else a hash of its modules' tables",
    ),
    ("recorded_at", "start of the recording"),
    ("path", "path of the trace"),
];

/// Where it is among [`TRACE_COLUMNS`].
const PATH: usize = 5;

/// A file that was left out.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    /// Why, for people.
    pub why: String,
}

/// The traces that a session asks.
pub struct TraceSet {
    traces: Vec<Arc<TraceTables>>,
    unreadable: Vec<Unreadable>,
    is_collection: bool,
    /// [`TRACE_COLUMNS`], a row for each trace.
    values: Vec<ArrayRef>,
}

impl TraceSet {
    /// Opens files, and folders with all that is in them. Files of folders that can't be read are left out, and are
    /// listed by [`TraceSet::unreadable`].
    ///
    /// # Errors
    /// If a file that was named can't be opened, or a folder has no readable trace.
    pub fn open(places: &[PathBuf]) -> Result<TraceSet, QueryError> {
        TraceSet::open_by(places, |path| Ok(Trace::open(path)?))
    }

    /// The same, with each file opened by `open`.
    ///
    /// # Errors
    /// As [`TraceSet::open`], and if `open` fails for a file that was named.
    pub fn open_by(
        places: &[PathBuf],
        open: impl Fn(&Path) -> Result<Trace, QueryError>,
    ) -> Result<TraceSet, QueryError> {
        let open = |path: &Path| Ok::<_, QueryError>(Arc::new(TraceTables::new(open(path)?)));
        let (mut traces, mut unreadable) = (Vec::new(), Vec::new());
        let mut is_collection = places.len() > 1;
        for place in places {
            if !place.is_dir() {
                traces.push(open(place)?);
                continue;
            }
            is_collection = true;
            let before = traces.len();
            for file in traces_in(place)? {
                match open(&file) {
                    Ok(trace) => traces.push(trace),
                    Err(error) => unreadable.push(Unreadable {
                        path: file,
                        why: error.to_string(),
                    }),
                }
            }
            if traces.len() == before {
                return Err(QueryError::NoTraces {
                    folder: place.clone(),
                    unreadable: unreadable.len(),
                    why: unreadable.first().map(|file| file.why.clone()),
                });
            }
        }
        Ok(TraceSet {
            values: values(&traces),
            traces,
            unreadable,
            is_collection,
        })
    }

    /// A trace that is open already, alone.
    pub fn of(trace: Arc<TraceTables>) -> TraceSet {
        let traces = vec![trace];
        TraceSet {
            values: values(&traces),
            traces,
            unreadable: Vec::new(),
            is_collection: false,
        }
    }

    /// The same traces, with the names that users give them in column `path`.
    pub fn named(mut self, name_of: &dyn Fn(&Path) -> String) -> TraceSet {
        let paths = self
            .traces
            .iter()
            .map(|tables| Some(name_of(tables.trace().path())));
        self.values[PATH] = Arc::new(paths.collect::<StringArray>());
        self
    }

    pub fn traces(&self) -> &[Arc<TraceTables>] {
        &self.traces
    }

    /// Files of folders that could not be read.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// Whether rows name the trace that they belong to.
    pub fn is_collection(&self) -> bool {
        self.is_collection
    }

    /// [`TRACE_COLUMNS`] with a row for each trace.
    pub(crate) fn of_traces(&self) -> RecordBatch {
        let numbers: UInt32Array = (0..self.traces.len() as u32).collect();
        let columns = (0..TRACE_COLUMNS.len()).map(|index| self.column(index, &numbers));
        let schema = Schema::new(trace_fields());
        RecordBatch::try_new(Arc::new(schema), columns.collect()).expect("columns are as their fields say")
    }

    /// One of [`TRACE_COLUMNS`] for rows of these traces.
    pub(crate) fn column(&self, index: usize, traces: &UInt32Array) -> ArrayRef {
        let values = &self.values[index];
        match values.data_type() {
            DataType::Utf8 => Arc::new(DictionaryArray::new(traces.clone(), values.clone())),
            _ => datafusion::arrow::compute::take(values, traces, None).expect("the traces are known"),
        }
    }

    /// The table of traces.
    pub fn table(&self) -> RecordBatch {
        let mut fields = trace_fields();
        let mut columns = self.of_traces().columns().to_vec();
        for (field, column) in more_columns(&self.traces) {
            fields.push(field);
            columns.push(column);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns are as their fields say")
    }
}

/// The fields of [`TRACE_COLUMNS`].
pub(crate) fn trace_fields() -> Vec<Field> {
    let fields = TRACE_COLUMNS.into_iter().map(|(name, meaning)| {
        let keyed = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
        let (data_type, nullable) = match name {
            "trace" => (DataType::UInt32, false),
            "recorded_at" => (utc(), true),
            "path" => (keyed, false),
            _ => (keyed, true),
        };
        described(name, data_type, nullable, "", meaning)
    });
    fields.collect()
}

fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

fn values(traces: &[Arc<TraceTables>]) -> Vec<ArrayRef> {
    let texts = |text: &dyn Fn(&Trace) -> String| {
        let texts = traces
            .iter()
            .map(|tables| Some(text(tables.trace())).filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>()) as ArrayRef
    };
    let times = traces.iter().map(|tables| {
        let start = i64::try_from(tables.trace().meta().start_unix_ns).ok();
        start.filter(|start| *start > 0)
    });
    vec![
        Arc::new((0..traces.len() as u32).collect::<UInt32Array>()),
        texts(&|trace| trace.meta().program.clone()),
        texts(&|trace| trace.meta().host.clone()),
        texts(&|trace| build_id(trace).unwrap_or_default()),
        Arc::new(times.collect::<TimestampNanosecondArray>().with_timezone("UTC")),
        texts(&|trace| trace.path().display().to_string()),
    ]
}

/// Further columns of the table of traces.
fn more_columns(traces: &[Arc<TraceTables>]) -> Vec<(Field, ArrayRef)> {
    let traces = || traces.iter().map(|tables| tables.trace());
    let text = |name, meaning, values: StringArray| {
        (
            described(name, DataType::Utf8, true, "", meaning),
            Arc::new(values) as ArrayRef,
        )
    };
    let number = |name, unit, meaning, values: UInt64Array| {
        (
            described(name, DataType::UInt64, true, unit, meaning),
            Arc::new(values) as ArrayRef,
        )
    };
    let status: Int32Array = traces()
        .map(|trace| trace.end().and_then(|end| end.exit_status))
        .collect();
    let signal: Int32Array = traces()
        .map(|trace| trace.end().and_then(|end| end.signal))
        .collect();
    let plain = |name, meaning, values: Int32Array| {
        (
            described(name, DataType::Int32, true, "", meaning),
            Arc::new(values) as ArrayRef,
        )
    };
    vec![
        text(
            "arguments",
            "the program's arguments, joined by spaces",
            traces()
                .map(|trace| Some(trace.meta().arguments.join(" ")))
                .collect(),
        ),
        text(
            "cpu_model",
            "the processor's name",
            traces()
                .map(|trace| Some(trace.meta().cpu_model.clone()).filter(|name| !name.is_empty()))
                .collect(),
        ),
        number(
            "duration_ns",
            "ns",
            "how long recording lasted; unknown if it has no end",
            traces().map(duration_ns).collect(),
        ),
        plain("exit_status", "the program's exit status", status),
        plain("signal", "number of the signal that ended the program", signal),
        number(
            "file_bytes",
            "bytes",
            "length of the file",
            traces().map(|trace| Some(trace.file_length())).collect(),
        ),
        number(
            "threads",
            "count",
            "streams of accesses",
            traces().map(|trace| Some(trace.streams().len() as u64)).collect(),
        ),
        number(
            "gaps",
            "count",
            "places where records are missing",
            traces().map(|trace| Some(trace.gaps().len() as u64)).collect(),
        ),
        number(
            "damaged_parts",
            "count",
            "parts of the file that could not be read when it was opened",
            traces().map(|trace| Some(trace.damage().len() as u64)).collect(),
        ),
    ]
}

fn duration_ns(trace: &Trace) -> Option<u64> {
    let end = trace.end()?;
    Some(
        end.end_monotonic_ns
            .saturating_sub(trace.meta().start_monotonic_ns),
    )
}

/// A column of the numbers of one trace.
pub(crate) fn repeated(trace: usize, rows: usize) -> UInt32Array {
    UInt32Array::from_value(trace as u32, rows)
}
