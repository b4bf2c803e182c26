use super::*;

const LIMITS: MarkLimits = MarkLimits::OF_A_TRACE;

fn mark(ns: u64, kind: MarkKind, window: Option<u64>) -> MarkInfo {
    MarkInfo {
        ns,
        kind,
        window,
        cause: "timer".into(),
        ..MarkInfo::default()
    }
}

fn opens(ns: u64, number: u64) -> MarkInfo {
    mark(ns, MarkKind::Opens, Some(number))
}

fn closes(ns: u64, number: u64) -> MarkInfo {
    mark(ns, MarkKind::Closes, Some(number))
}

fn read(payloads: &[&[u8]]) -> MarkList {
    let mut list = MarkList::default();
    for payload in payloads {
        list.add(payload, LIMITS).unwrap();
    }
    list.sort();
    list
}

/// Number, beginning, end and whether it was closed.
fn windows_of(marks: &[MarkInfo]) -> Vec<(u64, u64, u64, bool)> {
    let list = read(&[&encode_marks(marks)]);
    window::windows(list.as_slice(), 1000)
        .iter()
        .map(|window| (window.number, window.begin_ns, window.end_ns, window.is_closed))
        .collect()
}

#[test]
fn marks_are_read_as_they_were_written() {
    let marks = [
        MarkInfo {
            pid: Some(7),
            tid: Some(8),
            ..opens(10, 1)
        },
        MarkInfo {
            text: Some("request 7 \"begins\"".into()),
            ..mark(20, MarkKind::Mark, None)
        },
        mark(30, MarkKind::Other("pauses".into()), Some(1)),
        closes(40, 1),
    ];
    let payload = encode_marks(&marks);
    assert_eq!(read(&[&payload]).as_slice(), marks);
    let text = String::from_utf8(payload).unwrap();
    assert!(text
        .starts_with(r#"[{"ns":10,"kind":"opens","window":1,"cause":"timer","pid":7,"tid":8,"text":null},"#));
}

#[test]
fn members_may_be_missing_or_unknown() {
    let payload = br#"[{"ns":5,"colour":["red"]},{"kind":"opens","window":3,"cause":"whim"}]"#;
    let list = read(&[payload]);
    let [opening, other] = list.as_slice() else {
        panic!("two marks");
    };
    assert_eq!(
        (opening.ns, &opening.kind, opening.window),
        (0, &MarkKind::Opens, Some(3))
    );
    assert_eq!(opening.cause, "whim");
    assert_eq!((other.ns, &other.kind, &other.text), (5, &MarkKind::Mark, &None));
}

#[test]
fn marks_of_all_chunks_are_in_the_order_of_time() {
    let chunk = |marks: &[MarkInfo]| encode_marks(marks);
    let list = read(&[
        &chunk(&[opens(50, 2), opens(10, 1)]),
        &chunk(&[closes(50, 2), closes(20, 1)]),
    ]);
    let expected = [opens(10, 1), closes(20, 1), opens(50, 2), closes(50, 2)];
    assert_eq!(list.as_slice(), expected);
}

#[test]
fn a_window_lasts_from_its_opening_to_its_closing_or_the_end() {
    let marks = [
        opens(10, 1),
        opens(15, 2),
        closes(20, 1),
        opens(30, 4),
        closes(35, 2),
    ];
    let expected = [(1, 10, 20, true), (2, 15, 35, true), (4, 30, 1000, false)];
    assert_eq!(windows_of(&marks), expected);
    assert_eq!(windows_of(&[]), []);
}

#[test]
fn nonsense_makes_no_window() {
    let nonsense = [
        closes(5, 1),
        mark(6, MarkKind::Opens, None),
        mark(6, MarkKind::Closes, None),
        opens(10, 1),
        opens(12, 1),
        closes(20, 1),
        closes(30, 1),
        opens(40, 1),
    ];
    assert_eq!(windows_of(&nonsense), [(1, 10, 20, true)]);
    assert_eq!(
        windows_of(&[opens(u64::MAX, u64::MAX)]),
        [(u64::MAX, u64::MAX, u64::MAX, false)]
    );
}

#[test]
fn no_list_takes_more_memory_than_the_limits_admit() {
    let limits = MarkLimits {
        marks: 3,
        payload_bytes: 100,
    };
    let mut list = MarkList::default();
    assert!(list.add(b"[{},{},{},{},{}]", limits).is_err());
    assert_eq!(list.as_slice().len(), 3);
    assert!(list.add(b"[{}]", limits).is_err());
    assert_eq!(list.as_slice().len(), 3);
    assert!(list.admits(60, limits));
    assert!(!list.admits(60, limits));
    assert!(!list.admits(u64::MAX, limits));
}

#[test]
fn what_is_no_list_of_marks_is_an_error() {
    let deep = vec![b'['; 100_000];
    let payloads: [&[u8]; 7] = [
        b"",
        b"{}",
        b"[1]",
        b"[{}] [{}]",
        br#"[{"ns":-1}]"#,
        br#"[{"kind":7}]"#,
        &deep,
    ];
    for payload in payloads {
        assert!(MarkList::default().add(payload, LIMITS).is_err());
    }
}
