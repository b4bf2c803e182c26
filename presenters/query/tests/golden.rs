//! Queries over the golden trace, whose accesses are listed in `trace/testing/golden.rs`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use trackway_query::{QueryError, Session, TraceSet};

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../trace/vectors")
        .join(name)
}

fn session(places: &[PathBuf]) -> Session {
    let threads = NonZeroUsize::new(2).unwrap();
    Session::new(TraceSet::open(places).unwrap(), threads).unwrap()
}

fn golden() -> Session {
    session(&[vector("golden-v2.trackway")])
}

/// The rows with their cells as text.
fn rows(session: &Session, sql: &str) -> Vec<String> {
    let batches: Vec<RecordBatch> = session.query(sql).unwrap().map(Result::unwrap).collect();
    let options = FormatOptions::default().with_null("-");
    let mut rows = Vec::new();
    for batch in &batches {
        let columns: Vec<ArrayFormatter> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| column.value(row).to_string())
                .collect();
            rows.push(cells.join(" "));
        }
    }
    rows
}

fn message(session: &Session, sql: &str) -> String {
    match session.query(sql) {
        Err(QueryError::Sql(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{sql} is understood"),
    }
}

#[test]
fn accesses_are_counted() {
    let session = golden();
    let of_thread = "SELECT count(*), sum(size), min(address), max(address) FROM accesses WHERE thread = 0";
    assert_eq!(
        rows(&session, of_thread),
        [format!("10 152 {} {}", 0x40_4010, 0x7f00_0000_4000u64)]
    );
    assert_eq!(
        rows(
            &session,
            "SELECT kind, count(*) FROM accesses WHERE thread = 0 GROUP BY kind ORDER BY kind"
        ),
        ["fill 1", "load 6", "store 3"]
    );
}

/// Each question twice: so that counts of sites answer it, and so that they can't.
#[test]
fn counts_of_sites_answer_as_single_accesses_do() {
    let session = golden();
    let single = "(SELECT *, random() AS noise FROM accesses) AS accesses WHERE noise >= 0";
    for (columns, groups) in [
        ("kind, count(*), sum(size), avg(size)", "kind"),
        (
            "variable, line, count(*), min(address), max(address)",
            "variable, line",
        ),
        (
            "upper(field), thread, count(variable), count(size)",
            "upper(field), thread",
        ),
        (
            "count(DISTINCT kind), count(*) FILTER (WHERE reads), min(line)",
            "",
        ),
        ("CASE WHEN writes THEN 'w' ELSE 'r' END AS way, count(*)", "way"),
    ] {
        let group = match groups {
            "" => String::new(),
            groups => format!("GROUP BY {groups}"),
        };
        let counted = format!("SELECT {columns} FROM accesses {group} ORDER BY 1, 2, 3");
        let order = "ORDER BY 1, 2";
        let counted = counted.replace("ORDER BY 1, 2, 3", order);
        let slowly = format!("SELECT {columns} FROM {single} {group} {order}");
        let plan = rows(&session, &format!("EXPLAIN {counted}")).join("\n");
        assert!(plan.contains("table=site_counts"), "{plan}");
        let plan = rows(&session, &format!("EXPLAIN {slowly}")).join("\n");
        assert!(plan.contains("table=accesses"), "{plan}");
        assert_eq!(rows(&session, &counted), rows(&session, &slowly), "{columns}");
    }
}

#[test]
fn no_accesses_are_none() {
    let session = golden();
    let none = "FROM accesses WHERE thread = 77";
    assert_eq!(
        rows(&session, &format!("SELECT count(*), sum(size), avg(size) {none}")),
        ["0 - -"]
    );
    assert!(rows(&session, &format!("SELECT kind, count(*) {none} GROUP BY kind")).is_empty());
}

#[test]
fn what_can_have_no_wanted_row_is_not_decoded() {
    let all = golden();
    rows(&all, "SELECT max(size) FROM accesses");
    let (every, _) = all.decoded();
    assert!(every >= 2, "{every} chunks");
    for (condition, chunks) in [
        ("time_ns < 1000", 0),
        ("time_ns BETWEEN 1200 AND 1300", 1),
        ("thread = 77", 0),
        ("thread = 0 AND time_ns >= 1000 AND time_ns < 1100", 1),
    ] {
        let session = golden();
        rows(
            &session,
            &format!("SELECT max(size) FROM accesses WHERE {condition}"),
        );
        assert_eq!(session.decoded().0, chunks, "{condition}");
    }
}

#[test]
fn conditions_are_exact() {
    let session = golden();
    let count = |condition: &str| {
        let sql = format!("SELECT address, size FROM accesses WHERE thread = 0 AND {condition}");
        rows(&session, &sql).len()
    };
    assert_eq!(count("address = 4210704"), 3);
    assert_eq!(count("address > 4210704"), 7);
    assert_eq!(count("kind LIKE 'l%'"), 6);
    assert_eq!(count("kind = 'store' OR size = 100"), 4);
    assert_eq!(count("kind IN ('fill', 'load') AND address < 5000000"), 3);
    assert_eq!(count("variable IS NULL"), 0);
    assert_eq!(count("NOT reads"), 4);
    assert_eq!(count("uncertain"), 2);
}

#[test]
fn tables_are_joined() {
    let session = golden();
    let sql = "SELECT s.kind, count(*) FROM accesses a JOIN sites s ON a.site = s.site WHERE a.thread = 0 \
               GROUP BY s.kind ORDER BY s.kind";
    assert_eq!(rows(&session, sql), ["fill 1", "load 6", "store 3"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM traces"), ["1"]);
    let limited = rows(
        &session,
        "SELECT sequence, address FROM accesses WHERE thread = 0 LIMIT 2",
    );
    assert_eq!(
        limited,
        [
            format!("0 {}", 0x7f00_0000_1008u64),
            format!("1 {}", 0x7f00_0000_2000u64)
        ]
    );
}

#[test]
fn numbers_without_a_sign_divide_and_differ_as_integers() {
    let session = golden();
    let one = |sql: &str| {
        rows(
            &session,
            &format!("SELECT {sql} FROM accesses WHERE thread = 0 AND sequence = 0"),
        )
    };
    assert_eq!(
        one("address / 4096, address % 64"),
        [format!("{} 8", 0x7f00_0000_1008u64 / 4096)]
    );
    assert_eq!(one("address - 139637976731658"), ["-2"]);
    assert_eq!(one("2 * address"), [format!("{}", 2 * 0x7f00_0000_1008u64)]);
    assert_eq!(one("5 - size, size & 12"), ["-3 8"]);
    let steps =
        "SELECT min(step), max(step) FROM (SELECT address - lag(address) OVER (ORDER BY sequence) AS step \
                 FROM accesses WHERE thread = 0)";
    let found = &rows(&session, steps)[0];
    assert!(found.starts_with('-'), "{found}");
    let milliseconds =
        "SELECT (time_ns - (SELECT min(first_ns) FROM threads)) / 1000000 FROM accesses LIMIT 1";
    assert_eq!(rows(&session, milliseconds), ["0"]);
}

#[test]
fn mistakes_are_explained() {
    let session = golden();
    let text = message(&session, "SELECT variabel FROM accesses");
    assert!(
        text.contains("did you mean \"variable\"?") && text.contains("^ line 1, column 8"),
        "{text}"
    );
    let text = message(&session, "SELECT * FROM acesses");
    assert!(
        text.contains("no table \"acesses\" (did you mean \"accesses\"?)"),
        "{text}"
    );
    let text = message(&session, "SELECT * FROM accesses WHERE\n  size = = 3");
    assert!(text.contains("^ line 2, column 10"), "{text}");
    assert!(message(&session, "DROP TABLE accesses").contains("DDL"));
    assert!(message(&session, "CREATE TABLE x AS SELECT 1").contains("DDL"));
}

#[test]
fn a_folder_is_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::copy(vector("golden-v2.trackway"), folder.path().join("one.trackway")).unwrap();
    std::fs::copy(vector("golden-v2.trackway"), inner.join("two.trackway")).unwrap();
    std::fs::write(
        folder.path().join("bad.trackway"),
        "no trace at all, but longer than a header is",
    )
    .unwrap();
    let session = session(&[folder.path().to_owned()]);
    assert_eq!(session.traces().unreadable().len(), 1);
    assert!(session.traces().unreadable()[0].why.contains("bad.trackway"));
    let sql = "SELECT trace, count(*) FROM accesses WHERE thread = 0 GROUP BY trace ORDER BY trace";
    assert_eq!(rows(&session, sql), ["0 10", "1 10"]);
    let before = session.decoded().0;
    let sql = "SELECT path LIKE '%two.trackway', max(size) FROM accesses WHERE path LIKE '%two.trackway' AND thread = 0 \
               GROUP BY path";
    assert_eq!(rows(&session, sql), ["true 100"]);
    let of_one = session.decoded().0 - before;
    assert_eq!(of_one * 2, before, "the other trace is left alone");
    let missing = TraceSet::open(&[inner.join("nothing")]);
    assert!(missing.is_err());
    let named = TraceSet::open(&[inner])
        .unwrap()
        .named(&|_| "s3://bucket/two.trackway".into());
    let session = Session::new(named, NonZeroUsize::MIN).unwrap();
    assert_eq!(
        rows(&session, "SELECT path FROM traces"),
        ["s3://bucket/two.trackway"]
    );
}
