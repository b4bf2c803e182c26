use super::*;
use crate::{to_csv, TableBuilder};

type Row = (&'static str, u64, u64);

fn fields(rows: &[Row], total: usize) -> Table {
    TableBuilder::new("fields", "Fields by L1 misses, some of many", rows)
        .total_rows(total)
        .ranked_by("l1_misses")
        .text("field", |row| row.0)
        .count("accesses", |row| row.1)
        .count(("l1_misses", "L1 misses"), |row| row.2)
        .share("share", |row| (row.2, 100))
        .build()
}

fn report(tables: Vec<Table>) -> Report {
    Report {
        answer: String::new(),
        warnings: Vec::new(),
        tables,
    }
}

fn fields_compared(before: &[Row], after: &[Row], measures: &[&str]) -> Comparison {
    let selection = Selection {
        measures: measures.iter().map(|name| (*name).to_owned()).collect(),
        top: 10,
    };
    compare(
        &report(vec![fields(before, before.len())]),
        &report(vec![fields(after, after.len())]),
        &[],
        &selection,
    )
}

#[test]
fn rows_are_ranked_by_how_much_they_changed() {
    let comparison = fields_compared(
        &[
            ("arc.ident", 100, 80),
            ("node.flow", 50, 10),
            ("arc.tail", 9, 5),
            ("same", 1, 1),
        ],
        &[
            ("node.flow", 60, 15),
            ("arc.ident", 90, 20),
            ("arc.head", 9, 7),
            ("same", 2, 1),
        ],
        &[],
    );
    assert_eq!(comparison.tables.len(), 1);
    let table = &comparison.tables[0];
    assert_eq!(table.name(), "fields_l1_misses");
    assert_eq!(table.title(), "Fields by change of L1 misses; 1 unchanged");
    assert_eq!(
        to_csv(table),
        "field,before,after,change,ratio,state\r\n\
         arc.ident,80,20,-60,0.25,changed\r\n\
         arc.head,0,7,7,,new\r\n\
         node.flow,10,15,5,1.5,changed\r\n\
         arc.tail,5,0,-5,0,gone\r\n"
    );
    assert_eq!(
        comparison.answer,
        "L1 misses: 96 before, 43 after (x0.448); the largest change is arc.ident, -60"
    );
    assert_eq!(comparison.notes, [""; 0]);
}

#[test]
fn other_measures_can_be_chosen_shares_too() {
    let comparison = fields_compared(
        &[("a", 100, 50)],
        &[("a", 90, 25)],
        &["accesses", "share", "bytes"],
    );
    let tables: Vec<String> = comparison.tables.iter().map(to_csv).collect();
    assert_eq!(
        tables,
        [
            "field,before,after,change,ratio,state\r\na,100,90,-10,0.9,changed\r\n",
            "field,before,after,change,ratio,state\r\na,0.5,0.25,-0.25,0.5,changed\r\n",
        ]
    );
    assert_eq!(
        comparison.notes,
        ["no table that both reports have has a number bytes"]
    );
}

#[test]
fn rows_that_a_cut_table_lacks_are_not_called_new() {
    let comparison = compare(
        &report(vec![fields(&[("a", 9, 9)], 5)]),
        &report(vec![fields(&[("a", 9, 8), ("b", 7, 7)], 2)]),
        &[],
        &Selection {
            measures: vec![],
            top: 10,
        },
    );
    let table = &comparison.tables[0];
    assert_eq!(
        to_csv(table),
        "field,before,after,change,ratio,state\r\nb,,7,,,not in the top\r\na,9,8,-1,0.8888888888888888,changed\r\n"
    );
    assert!(
        comparison.notes[0].contains("1 of 5 before, 2 of 2 after"),
        "{:?}",
        comparison.notes
    );
    assert_eq!(
        comparison.answer,
        "L1 misses; the largest change is b, not in the top"
    );
}

fn lines(rows: &[(u64, &'static str, u64)]) -> Table {
    TableBuilder::new("lines", "Lines by accesses", rows)
        .ranked_by("accesses")
        .path("file", |_| "a.c")
        .number("line", |row| row.0)
        .text("function", |_| "main")
        .source("source", |row| Some(row.1))
        .count("accesses", |row| row.2)
        .build()
}

#[test]
fn lines_are_followed_through_an_edit() {
    let comparison = compare(
        &report(vec![lines(&[(10, "x = a[i];", 5), (11, "y = b[i];", 7)])]),
        &report(vec![lines(&[
            (13, "y = b[i];", 9),
            (12, "x = a[i];", 5),
            (14, "z = 0;", 1),
        ])]),
        &[],
        &Selection {
            measures: vec![],
            top: 10,
        },
    );
    assert_eq!(
        to_csv(&comparison.tables[0]),
        "file,line,line_before,function,source,before,after,change,ratio,state\r\n\
         a.c,13,11,main,y = b[i];,7,9,2,1.2857142857142858,changed\r\n\
         a.c,14,,main,z = 0;,0,1,1,,new\r\n"
    );
}

#[test]
fn records_become_lists_of_what_changed() {
    let record = |accesses, bytes, typed, complete: &'static str| {
        let builder = TableBuilder::new("trace", "Trace", &[()]);
        builder
            .count("accesses", move |()| accesses)
            .bytes("bytes", move |()| bytes)
            .share(("typed", "with a type"), move |()| (typed, 10))
            .text(("complete", "ended well"), move |()| complete)
            .as_record()
            .build()
    };
    let comparison = compare(
        &report(vec![record(10, 80, 5, "yes")]),
        &report(vec![record(12, 80, 6, "no")]),
        &[],
        &Selection {
            measures: vec![],
            top: 10,
        },
    );
    let tables: Vec<String> = comparison.tables.iter().map(to_csv).collect();
    assert_eq!(
        tables[0],
        "number,before,after,change,ratio\r\naccesses,10,12,2,1.2\r\n"
    );
    assert!(tables[1].contains("typed,0.5,0.6,"), "{}", tables[1]);
    assert_eq!(comparison.notes, ["Trace: ended well was yes and is no"]);
}

#[test]
fn nothing_in_common_is_said() {
    let selection = Selection {
        measures: vec![],
        top: 10,
    };
    let comparison = compare(
        &report(vec![fields(&[], 0)]),
        &report(vec![lines(&[])]),
        &[],
        &selection,
    );
    assert_eq!(comparison.answer, "The reports have no table in common");
    assert_eq!(comparison.notes.len(), 2);
    let equal = compare(
        &report(vec![lines(&[])]),
        &report(vec![lines(&[])]),
        &[],
        &selection,
    );
    assert_eq!(equal.answer, "accesses: no row changed");
}

#[test]
fn other_runs_of_the_same_program_show_the_noise() {
    let run = |rows: &[Row]| report(vec![fields(rows, rows.len())]);
    let again = [
        run(&[("a", 1, 40), ("b", 1, 10)]),
        run(&[("b", 1, 14), ("a", 1, 45), ("c", 1, 2)]),
    ];
    let comparison = compare(
        &run(&[("a", 1, 42), ("b", 1, 11), ("c", 1, 1)]),
        &run(&[("a", 1, 47), ("b", 1, 20), ("d", 1, 3)]),
        &again,
        &Selection {
            measures: vec![],
            top: 10,
        },
    );
    assert_eq!(
        to_csv(&comparison.tables[0]),
        "field,before,after,change,ratio,noise,state\r\n\
         b,11,20,9,1.8181818181818181,4,changed\r\n\
         a,42,47,5,1.119047619047619,5,within noise\r\n\
         d,0,3,3,,0,new\r\n\
         c,1,0,-1,0,2,gone\r\n"
    );
    // The runs have 54, 50 and 61 in all.
    assert_eq!(
        comparison.answer,
        "L1 misses: 54 before, 70 after (x1.30), more than the noise of 11; the largest change is b, +9"
    );
}

/// A trace of which all entries were counted, and one of a sample.
#[test]
fn rows_belong_together_however_they_were_measured() {
    let regions = |rate_by: &'static str, entries: u64| {
        let table = TableBuilder::new("regions", "Regions", &[("solve", entries)])
            .text("region", |row| row.0)
            .count("entries", |row| row.1)
            .text(("rate_by", "MB/s by"), |_| rate_by)
            .build();
        report(vec![table])
    };
    let selection = Selection {
        measures: vec!["entries".into()],
        top: 10,
    };
    let comparison = compare(&regions("calibrated", 4), &regions("timed", 5), &[], &selection);
    let table = to_csv(&comparison.tables[0]);
    assert!(table.contains("solve,4,5,1,1.25,changed"), "{table}");
}
