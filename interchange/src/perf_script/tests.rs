use std::fs;

use trackway_trace::{Direction, MemoryLevel, Trace};

use super::line::{TextFrame, TextSample};
use super::*;

#[test]
fn the_fields_that_are_there_are_read() {
    let clock =
        "  my prog  1744 51597.314463:    1000000 task-clock:      555858103207 main+0x137 (/tmp/bfs)";
    let sample = TextSample::parse(clock).unwrap();
    assert_eq!(
        (sample.pid, sample.tid, sample.time_ns),
        (1744, 1744, 51_597_314_463_000)
    );
    assert_eq!((sample.period, sample.event.as_str()), (1_000_000, "task-clock"));
    let frame = sample.frame.unwrap();
    assert_eq!(
        (frame.instruction, frame.symbol.as_str()),
        (0x5558_5810_3207, "main")
    );
    assert_eq!((frame.object.as_str(), sample.address), ("/tmp/bfs", 0));
    let loads = "prog 40/41 [003] 1.000000005: 7 cpu/mem-loads,ldlat=3/P: 7f0012345678 68100142 |OP LOAD|LVL L1 hit|LCK No|BLK N/A 45 401000 f+0x1 (/bin/prog)";
    let sample = TextSample::parse(loads).unwrap();
    assert_eq!((sample.pid, sample.tid, sample.processor), (40, 41, 3));
    assert_eq!(
        (sample.time_ns, sample.event.as_str()),
        (1_000_000_005, "cpu/mem-loads,ldlat=3/P")
    );
    assert_eq!(
        (sample.address, sample.data_source),
        (0x7f00_1234_5678, 0x6810_0142)
    );
    assert_eq!(
        (sample.latency_cycles, sample.frame.unwrap().instruction),
        (45, 0x40_1000)
    );
    let both = TextSample::parse("p 1 2.5: mem-stores: 7f00 401000 f (/p)").unwrap();
    assert_eq!(
        (both.address, both.frame.unwrap().instruction),
        (0x7f00, 0x40_1000)
    );
    assert_eq!(TextSample::parse("no sample at all"), None);
    assert_eq!(
        TextFrame::parse("  401000 [unknown] ([heap])").unwrap().symbol,
        ""
    );
}

#[test]
fn a_trace_has_the_texts_names() {
    let text = "# a comment\n\
                prog 40/41 [000] 2.000000: 5 mem-stores:     7f0000001000\n\
                \t          401008 store+0x8 (/bin/prog)\n\
                \t          401100 main+0x0 (/bin/prog)\n\
                \n\
                prog 40/40 [001] 1.000000: 3 mem-loads: 7f0000002000 68100142 |OP LOAD|LVL L1 hit| 12\n\
                \t          401200 main+0x100 (/bin/prog)\n";
    let folder = tempfile::tempdir().unwrap();
    let (path, output) = (folder.path().join("samples.txt"), folder.path().join("trace"));
    fs::write(&path, text).unwrap();
    assert!(is_perf_script(&path));
    let summary = import_perf_script(&path, &output, false).unwrap();
    assert_eq!(
        summary.events,
        [("mem-loads".to_owned(), 1), ("mem-stores".to_owned(), 1)]
    );
    assert_eq!(summary.addressed, 2);
    let trace = Trace::open(&output).unwrap();
    let (chunks, _) = trace.samples();
    let [load, store] = &chunks[0].samples[..] else {
        panic!("two samples in the order of time");
    };
    assert_eq!((load.weight, load.latency_cycles), (3, 12));
    assert_eq!(load.data_source.level(), MemoryLevel::L1);
    assert_eq!(
        (store.direction, store.address),
        (Direction::Store, Some(0x7f00_0000_1000))
    );
    let (places, damage) = trace.code_places();
    assert!(damage.is_empty());
    let place = |sample: &trackway_trace::Sample| {
        places
            .find(sample.pid, sample.time_ns, sample.instruction)
            .unwrap()
    };
    assert_eq!((place(load).function, place(store).function), ("main", "store"));
    assert_eq!(place(load).object, "/bin/prog");
}

#[test]
fn other_lines_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "p 1 2.5: mem-loads: 7f00\nsomething else\n").unwrap();
    let error = import_perf_script(&path, &folder.path().join("trace"), false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("offset 25") && error.contains("-F"), "{error}");
    fs::write(&path, "something else\n").unwrap();
    assert!(!is_perf_script(&path));
}
