use super::*;
use crate::table::tests::sample;
use crate::TableBuilder;

const PLAIN: TextStyle = TextStyle::PLAIN;

fn narrow(width: usize) -> TextStyle {
    TextStyle {
        width: Some(width),
        ..PLAIN
    }
}

#[test]
fn numbers_stand_on_the_right_and_texts_on_the_left() {
    let expected = "\
Fields
field      line   accesses  share of misses  source
arc.ident   123  4,567,890           75.0 %  if (arc->ident > BASIC)
node, \"x\"     7         12                -
";
    assert_eq!(PLAIN.table(&sample()), expected);
}

#[test]
fn what_stands_aside_and_is_empty_is_not_shown() {
    let table = sample().with_shares_beside("accesses", "access_share", "of all", 0);
    assert_eq!(PLAIN.table(&table), PLAIN.table(&sample()));
    let table = sample().with_shares_beside("accesses", "access_share", "of all", 4_567_890);
    assert!(PLAIN
        .table(&table)
        .contains("4,567,890  100.0 %           75.0 %"));
}

#[test]
fn all_tables_are_ranked_alike_if_they_say_nothing_else() {
    let members = TableBuilder::new("members", "arc: 64 bytes", &[1_000_000_u64])
        .count("accesses", |row| *row)
        .count("L1 misses", |row| *row)
        .count("L2 misses", |row| *row)
        .build();
    let ranking = ranking_in("Structures by L2 misses, 3 of 7");
    assert_eq!(ranking, Some("L2 misses"));
    assert_eq!(
        narrow(9).ranked_table(&members, ranking),
        "arc: 64\nbytes\n    L2\nmisses\n 1.00M\n(no room\nfor:\naccesses,\nL1\nmisses)\n"
    );
}

#[test]
fn titles_are_folded_and_columns_left_out_where_there_is_no_room() {
    assert_eq!(
        narrow(36).table(&sample()),
        "Fields\n\
             \x20                            share\n\
             \x20                               of\n\
             field      line   accesses  misses\n\
             arc.ident   123  4,567,890  75.0 %\n\
             node, \"x\"     7         12       -\n\
             (no room for: source)\n"
    );
    assert_eq!(
        narrow(25).table(&sample()),
        "Fields\n\
             field      line  accesses\n\
             arc.ident   123     4.57M\n\
             node, \"x\"     7        12\n\
             (no room for: share of\n\
             misses, source)\n"
    );
}

#[test]
fn long_values_of_a_record_are_wrapped() {
    let table = TableBuilder::new("clock", "Clock", &[()])
        .text("clock", |()| "the same on all processors")
        .as_record()
        .build();
    assert_eq!(
        narrow(20).table(&table),
        "Clock\nclock  the same on\n       all\n       processors\n"
    );
}

#[test]
fn a_terminal_shows_the_answer_last_and_no_bookkeeping() {
    let named = |name, title| {
        TableBuilder::new(name, title, &[7_u64])
            .count("accesses", |row| *row)
            .build()
    };
    let report = Report {
        answer: "the answer".into(),
        warnings: vec!["a gap".into()],
        tables: vec![named("fields", "Fields"), named("trace", "Trace")],
    };
    let style = TextStyle {
        answer_last: true,
        bookkeeping: false,
        ..PLAIN
    };
    assert_eq!(
        style.report(&report),
        "Fields\naccesses\n       7\n\n(-v also shows: Trace)\n\nwarning: a gap\n\nthe answer\n"
    );
    assert_eq!(
        PLAIN.report(&report),
        "the answer\n\nwarning: a gap\n\nFields\naccesses\n       7\n\nTrace\naccesses\n       7\n"
    );
}

#[test]
fn columns_of_bookkeeping_are_only_named() {
    let named = |name, title| TableBuilder::new(name, title, &[7_u64]);
    let totals = named("totals", "In all")
        .count("allocations", |row| *row)
        .bookkeeping()
        .count("cut_stacks", |row| *row)
        .count("gaps", |row| *row);
    let levels = named("levels", "Resolutions")
        .bookkeeping()
        .count("rows", |row| *row);
    let report = Report {
        answer: "the answer".into(),
        warnings: Vec::new(),
        tables: vec![totals.as_record().build(), levels.build()],
    };
    let style = TextStyle {
        bookkeeping: false,
        ..PLAIN
    };
    assert_eq!(
        style.report(&report),
        "the answer\n\nIn all\nallocations  7\n\n(-v also shows: cut stacks, gaps, Resolutions)\n"
    );
    assert!(PLAIN
        .report(&report)
        .contains("\ngaps         7\n\nResolutions\nrows\n   7\n"));
}

#[test]
fn empty_tables_are_only_named() {
    let none: [u64; 0] = [];
    let empty = |name, title| {
        TableBuilder::new(name, title, &none)
            .count("accesses", |row| *row)
            .build()
    };
    let report = Report {
        answer: "the answer".into(),
        warnings: Vec::new(),
        tables: vec![
            empty("fields", "Fields by change of L1 misses; 3 unchanged"),
            empty("places", "Places between which lines go, by hand-overs"),
            empty("trace", "Trace"),
        ],
    };
    assert_eq!(
        PLAIN.report(&report),
        "the answer\n\n(empty: Fields (3 unchanged), Places between which lines go, Trace)\n"
    );
}

#[test]
fn changes_of_bookkeeping_are_bookkeeping() {
    let hides = |name| {
        let table = TableBuilder::new(name, name, &[7_u64])
            .count("accesses", |row| *row)
            .build();
        let style = TextStyle {
            bookkeeping: false,
            ..PLAIN
        };
        style.hides(&table)
    };
    assert_eq!(
        ["fields_shares", "trace_shares", "order"].map(hides),
        [false, true, true]
    );
}

#[test]
fn a_file_and_its_line_are_one_place() {
    let rows = [("/src/list.c", Some(12_u64)), ("", None), ("lib.so", Some(0))];
    let table = TableBuilder::new("lines", "Lines", &rows)
        .path("file", |row| row.0)
        .number("line", |row| row.1)
        .text("function", |_| "walk")
        .count("accesses", |_| 10_u64)
        .build();
    let expected = "\
Lines
place           function  accesses
/src/list.c:12  walk            10
                walk            10
lib.so          walk            10
";
    assert_eq!(PLAIN.table(&table), expected);
    assert!(narrow(31).table(&table).contains("\n…/list.c:12  walk"));
}

#[test]
fn lines_to_write_are_never_cut() {
    let line = format!("struct {}_rest *rest;", "name".repeat(30));
    let table = TableBuilder::new("definition", "account, split", &[&line])
        .source("source", |line| Some(line.as_str()))
        .build();
    for style in [PLAIN, narrow(40)] {
        assert!(style.table(&table).contains(&line));
    }
}

#[test]
fn arguments_of_templates_are_left_out_where_there_is_no_room() {
    let name = "std::vector<std::pair<Key, Value>, Pool<Key> >::at(unsigned long)";
    let table = TableBuilder::new("functions", "Functions", &[name])
        .text("function", |name| *name)
        .count("accesses", |_| 10_u64)
        .build();
    assert!(PLAIN.table(&table).contains(name), "whole in pipes");
    let short = TextStyle {
        bookkeeping: false,
        ..narrow(60)
    };
    assert!(short
        .table(&table)
        .contains("\nstd::vector<…>::at(unsigned long)"));
    assert!(!narrow(60).table(&table).contains('…'), "whole with -v");
}

#[test]
fn long_names_in_answers_and_titles_are_shortened() {
    let name = "std::vector<std::pair<Key, Value>, Pool<Key> >::at(unsigned long, Options const&)";
    let rows = [10_u64];
    let report = Report {
        answer: format!("{name} causes 90 % of the misses"),
        warnings: Vec::new(),
        tables: vec![TableBuilder::new("fields", format!("{name}: fields"), &rows)
            .count("accesses", |row| *row)
            .build()],
    };
    let short = TextStyle {
        bookkeeping: false,
        ..narrow(40)
    };
    let text = short.report(&report);
    assert!(text.contains("std::vector<…>::at(unsigned long,"), "{text}");
    assert!(text.contains("\nstd::vector<…>::at(…): fields\n"), "{text}");
    assert!(!narrow(40).report(&report).contains('…'), "whole with -v");
}

#[test]
fn the_next_command_is_wrapped_so_that_it_can_be_copied() {
    assert_eq!(
        narrow(40).next_step("trackway whatif t.trackway --split 'arc:cost,ident'"),
        "\nnext: trackway whatif t.trackway \\\n      --split 'arc:cost,ident'\n"
    );
    assert_eq!(PLAIN.next_step("trackway view t"), "\nnext: trackway view t\n");
}

#[test]
fn commands_stand_below_their_rows() {
    let rows = [("arc", "--split 'arc:cost,ident' --link index")];
    let table = TableBuilder::new("proposals", "Proposals", &rows)
        .text("type", |row| row.0)
        .text(("options", "trackway whatif t.trackway"), |row| row.1)
        .build();
    assert_eq!(
        narrow(40).table(&table),
        "Proposals\n\
             type\n\
             arc\n\
             \x20   trackway whatif t.trackway --split \\\n\
             \x20   'arc:cost,ident' --link index\n"
    );
}

#[test]
fn a_record_is_a_list() {
    let table = TableBuilder::new("audit", "Audit", &[(1234, 1, 4)])
        .count("accesses", |row| row.0)
        .share(("typed", "with type"), |row| (row.1, row.2))
        .as_record()
        .build();
    assert_eq!(
        PLAIN.table(&table),
        "Audit\naccesses   1,234\nwith type  25.0 %\n"
    );
}

#[test]
fn a_command_of_a_record_can_be_copied() {
    let table = TableBuilder::new("card", "Card", &["trackway whatif --align 'node:64' t.trackway"])
        .text("next", |row| *row)
        .as_record()
        .build();
    assert_eq!(
        narrow(40).table(&table),
        "Card\n\
             next  trackway whatif --align \\\n\
             \x20     'node:64' t.trackway\n"
    );
}

#[test]
fn colour_is_optional_and_control_characters_never_pass() {
    let report = Report {
        answer: "evil \x1b[2Jname".into(),
        warnings: vec!["gap".into()],
        tables: vec![],
    };
    assert_eq!(PLAIN.report(&report), "evil \u{fffd}[2Jname\n\nwarning: gap\n");
    let coloured = TextStyle {
        colour: true,
        ..PLAIN
    }
    .report(&report);
    assert!(coloured.starts_with("\x1b[1mevil"), "{coloured:?}");
    assert!(!coloured.contains("\x1b[2J"));
}

#[test]
fn long_names_take_several_lines() {
    let rows = ["x".repeat(100)];
    let table = TableBuilder::new("names", "Names", &rows)
        .text("name", |row| row.clone())
        .count("misses", |_| 5_u64)
        .build();
    let expected = format!(
        "Names\nname{}  misses\n{}       5\n{}\n",
        " ".repeat(68),
        "x".repeat(72),
        "x".repeat(28)
    );
    assert_eq!(PLAIN.table(&table), expected);
}
