//! Checks that another reader, the parquet crate's own, finds what was written.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::UInt64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use trackway_arrow::{Relation, TraceTables};
use trackway_query::{export, relations, write, ExportSettings, Format, Session, TraceSet};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../trace/vectors/golden-v2.trackway")
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

#[test]
fn exported_tables_have_the_rows_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let tables = TraceTables::open(&golden()).unwrap();
    let settings = ExportSettings {
        tables: relations().collect(),
        rows_per_file: 4,
        threads: NonZeroUsize::new(2).unwrap(),
    };
    let exported = export(&tables, folder.path(), &settings).unwrap();
    assert!(exported.damage.is_empty());
    let files = files_below(&folder.path().join("accesses/thread=0"));
    assert_eq!(files.len(), 3, "ten rows, four a file: {files:?}");
    let mut addresses = Vec::new();
    for file in &files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        for batch in read(file) {
            assert!(batch.schema().index_of("thread").is_err(), "the folder says it");
            let column = batch.column_by_name("address").unwrap();
            addresses.extend(column.as_primitive::<UInt64Type>().values().to_vec());
        }
    }
    assert_eq!(addresses.len(), 10);
    assert_eq!((addresses[0], addresses[9]), (0x7f00_0000_1008, 0x40_4010));
    for (relation, rows) in &exported.tables {
        let files = files_below(&folder.path().join(relation.name()));
        let found: usize = files
            .iter()
            .flat_map(|file| read(file))
            .map(|batch| batch.num_rows())
            .sum();
        assert_eq!(found as u64, *rows, "{}", relation.name());
        assert!(
            !files.is_empty() || *relation == Relation::Accesses,
            "{}",
            relation.name()
        );
    }
    assert!(
        export(&tables, folder.path(), &settings).is_err(),
        "nothing is replaced"
    );
}

#[test]
fn answers_are_written_in_every_form() {
    let set = TraceSet::of(TraceTables::open(&golden()).unwrap());
    let session = Session::new(set, NonZeroUsize::MIN).unwrap();
    let sql = "SELECT kind, count(*) AS n FROM accesses WHERE thread = 0 GROUP BY kind ORDER BY kind";
    let text = |format| {
        let mut bytes = Vec::new();
        let written = write(
            &mut session.query(sql).unwrap(),
            format,
            &mut bytes,
            Path::new("memory"),
        )
        .unwrap();
        (bytes, written)
    };
    let (csv, written) = text(Format::Csv);
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "kind,n\nfill,1\nload,6\nstore,3\n"
    );
    assert_eq!((written.rows, written.is_cut), (3, false));
    let (json, _) = text(Format::Json);
    let first = String::from_utf8(json)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    assert_eq!(first, r#"{"kind":"fill","n":1}"#);
    let table = |width| {
        let (table, written) = text(Format::Table { rows: 2, width });
        assert_eq!((written.rows, written.is_cut), (2, true));
        String::from_utf8(table).unwrap()
    };
    let lines = "\
+------+---+
| kind | n |
+------+---+
| fill | 1 |
| load | 6 |
+------+---+
";
    assert_eq!(table(None), lines);
    assert_eq!(table(Some(12)), lines);
    // Too wide for its terminal.
    assert_eq!(
        table(Some(11)),
        "row 1\n  kind  fill\n  n     1\n\nrow 2\n  kind  load\n  n     6\n"
    );
    let (bytes, _) = text(Format::Parquet);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let rows: usize = read(file.path()).iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 3);
}
