use super::*;

fn mapped(time_ns: u64, pid: u32, start: u64, path: &str) -> MappingEvent {
    let mapping = Mapping {
        start,
        length: 0x1000,
        file_offset: 0x2000,
        protection: Protection {
            readable: true,
            executable: true,
            ..Protection::default()
        },
        path: path.to_owned(),
        build_id: vec![0xab; 20],
        load_address: start - 0x2000,
    };
    MappingEvent {
        time_ns,
        pid,
        change: MappingChange::Mapped(mapping),
    }
}

fn forked(time_ns: u64, pid: u32, parent: u32) -> MappingEvent {
    MappingEvent {
        time_ns,
        pid,
        change: MappingChange::Forked { parent },
    }
}

fn executed(time_ns: u64, pid: u32) -> MappingEvent {
    MappingEvent {
        time_ns,
        pid,
        change: MappingChange::Executed { name: "child".into() },
    }
}

fn history() -> Vec<MappingEvent> {
    vec![
        mapped(10, 1, 0x10_0000, "/bin/first"),
        forked(20, 2, 1),
        mapped(30, 1, 0x10_0000, "/lib/later"),
        executed(40, 2),
        mapped(50, 2, 0x20_0000, "/bin/second"),
    ]
}

#[test]
fn mappings_survive_encoding() {
    assert_eq!(parse_mappings(&encode_mappings(&history())).unwrap(), history());
    assert_eq!(parse_mappings(&encode_mappings(&[])).unwrap(), []);
}

#[test]
fn every_prefix_is_refused() {
    let bytes = encode_mappings(&history());
    for length in 0..bytes.len() {
        assert!(parse_mappings(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn the_latest_mapping_of_the_time_counts() {
    let mappings = Mappings::new(history());
    let path = |pid, time, address| {
        let mapping = mappings.find(pid, time, address);
        mapping.map(|mapping| mapping.path.as_str())
    };
    assert_eq!(path(1, 10, 0x10_0fff), Some("/bin/first"));
    assert_eq!(path(1, 9, 0x10_0000), None);
    assert_eq!(path(1, 30, 0x10_0000), Some("/lib/later"));
    assert_eq!(path(1, 30, 0x10_1000), None);
    // A child has what its parent had when it forked, until it executes another program.
    assert_eq!(path(2, 35, 0x10_0000), Some("/bin/first"));
    assert_eq!(path(2, 60, 0x10_0000), None);
    assert_eq!(path(2, 60, 0x20_0010), Some("/bin/second"));
    assert_eq!(path(3, 60, 0x20_0010), None);
}

#[test]
fn processes_that_fork_from_each_other_end_the_search() {
    let mappings = Mappings::new(vec![forked(5, 1, 2), forked(5, 2, 1)]);
    assert_eq!(mappings.find(1, 9, 0), None);
}

#[test]
fn offsets_of_names_count_from_the_load_address() {
    let mappings = Mappings::new(history());
    let mapping = mappings.find(2, 60, 0x20_0010).unwrap();
    assert_eq!(mapping.object_offset(0x20_0010), Some(0x2010));
    let anonymous = Mapping {
        load_address: 0,
        ..mapping.clone()
    };
    assert_eq!(anonymous.object_offset(0x20_0010), None);
}
