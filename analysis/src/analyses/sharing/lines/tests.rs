//! Which accesses transfer a line, by small cases and by the definition.

use super::*;

const READ: bool = false;
const WRITE: bool = true;

fn access(thread: u32, writes: bool, parts: u64, from_ns: u64, until_ns: u64) -> Access {
    Access {
        thread,
        site: SiteId(thread),
        writes,
        parts,
        from_ns,
        until_ns,
    }
}

/// Which accesses of one line are cache-line transfers. `accesses` holds thread and kind, each in a nanosecond of
/// its own.
fn transfers(accesses: &[(u32, bool)]) -> Vec<bool> {
    let mut lines = Lines::default();
    let times = (0..).map(|index| 10 * index);
    accesses
        .iter()
        .zip(times)
        .map(|(&(thread, writes), from_ns)| {
            let transfer = take(
                &mut lines,
                0,
                7,
                &access(thread, writes, 1, from_ns, from_ns + 10),
            );
            assert!(transfer.is_none_or(|transfer| transfer.certain));
            transfer.is_some()
        })
        .collect()
}

fn take(lines: &mut Lines, process: u32, number: u64, access: &Access) -> Option<LineTransfer> {
    let position = lines.position(process, number, access);
    lines.access(position, access)
}

#[test]
fn one_thread_transfers_nothing() {
    assert_eq!(
        transfers(&[(1, READ), (1, WRITE), (1, READ), (1, WRITE)]),
        [false; 4]
    );
}

#[test]
fn reading_what_nobody_wrote_transfers_nothing() {
    assert_eq!(transfers(&[(1, READ), (2, READ), (3, READ)]), [false; 3]);
}

#[test]
fn each_reader_gets_a_write_once() {
    let accesses = [(1, WRITE), (2, READ), (2, READ), (3, READ), (1, READ)];
    assert_eq!(transfers(&accesses), [false, true, false, true, false]);
}

#[test]
fn a_writer_takes_the_line_from_all_others() {
    let accesses = [
        (1, READ),
        (2, WRITE),
        (2, WRITE),
        (1, WRITE),
        (2, READ),
        (1, WRITE),
    ];
    assert_eq!(transfers(&accesses), [false, true, false, true, true, true]);
}

#[test]
fn what_may_have_been_at_the_same_time_is_uncertain() {
    let mut lines = Lines::default();
    let mut certain = |process, thread, from_ns, until_ns| {
        let transfer = take(
            &mut lines,
            process,
            1,
            &access(thread, WRITE, 1, from_ns, until_ns),
        );
        transfer.map(|transfer| transfer.certain)
    };
    assert_eq!(certain(0, 1, 0, 20), None);
    assert_eq!(certain(0, 2, 10, 30), Some(false));
    assert_eq!(certain(0, 1, 30, 40), Some(true));
    assert_eq!(certain(1, 3, 50, 60), None, "another process");
}

#[test]
fn sharing_is_false_where_threads_touch_other_parts() {
    let mut lines = Lines::default();
    let mut take = |thread, writes, parts, time| {
        let transfer = take(&mut lines, 0, 1, &access(thread, writes, parts, time, time + 1));
        transfer.map(|transfer| (transfer.is_false, transfer.from_thread))
    };
    assert_eq!(take(1, WRITE, 0b0001, 0), None);
    assert_eq!(take(2, WRITE, 0b0010, 1), Some((true, 1)));
    assert_eq!(take(1, WRITE, 0b0001, 2), Some((true, 2)));
    assert_eq!(take(2, READ, 0b0011, 3), Some((false, 1)));
    assert_eq!(take(3, READ, 0b1000, 4), Some((true, 1)));
    // Thread 3 read what is written now, and was the last to access the line.
    assert_eq!(take(4, WRITE, 0b1000, 5), Some((false, 3)));
}

#[test]
fn a_write_invalidates_the_line_of_all_that_have_it() {
    let mut lines = Lines::default();
    let mut take = |thread, writes| {
        let transfer = take(&mut lines, 0, 1, &access(thread, writes, 1, 0, 1));
        transfer.map(|transfer| transfer.invalidated)
    };
    assert_eq!(take(1, WRITE), None);
    assert_eq!(take(2, READ), Some(0));
    assert_eq!(take(3, READ), Some(0));
    assert_eq!(take(2, WRITE), Some(2), "threads 1 and 3");
    assert_eq!(take(3, WRITE), Some(1), "thread 2 alone");
}

/// What `access` takes, by the definition, given all earlier accesses of the line: certain, false.
fn naive(earlier: &[Access], access: &Access) -> Option<(bool, bool)> {
    let lost_at = |thread: u32| {
        let by_another = |other: &Access| other.writes && other.thread != thread;
        earlier
            .iter()
            .rposition(by_another)
            .map_or(0, |position| position + 1)
    };
    let had = |thread: u32, only_writes: bool| {
        let since = &earlier[lost_at(thread)..];
        let own = since.iter().filter(move |other| other.thread == thread);
        own.filter(move |other| other.writes || !only_writes)
    };
    let from: Vec<u32> = if access.writes {
        (0..4)
            .filter(|thread| *thread != access.thread && had(*thread, false).count() > 0)
            .collect()
    } else {
        let writer = earlier
            .iter()
            .rfind(|other| other.writes)
            .map(|write| write.thread);
        let taken = had(access.thread, false).count() == 0;
        writer
            .filter(|writer| *writer != access.thread && taken)
            .into_iter()
            .collect()
    };
    let is_certain = |thread: &u32| {
        let own = earlier.iter().filter(|other| other.thread == *thread);
        own.map(|other| other.until_ns).max() <= Some(access.from_ns)
    };
    let overlaps = |thread: &u32| had(*thread, !access.writes).any(|other| other.parts & access.parts != 0);
    (!from.is_empty()).then(|| (from.iter().all(is_certain), !from.iter().any(overlaps)))
}

proptest::proptest! {
    #[test]
    fn transfers_are_those_of_the_definition(
        steps in proptest::collection::vec((0u32..4, proptest::bool::ANY, 1u64..16, 0u64..40), 1..60)
    ) {
        let mut lines = Lines::default();
        let mut earlier = Vec::new();
        for (time, (thread, writes, parts, length)) in (0..).zip(steps) {
            let access = access(thread, writes, parts, 10 * time, 10 * time + length);
            let found = take(&mut lines, 1, 2, &access);
            let found = found.map(|transfer| (transfer.certain, transfer.is_false));
            proptest::prop_assert_eq!(found, naive(&earlier, &access));
            earlier.push(access);
        }
    }
}
