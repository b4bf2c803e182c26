//! NUMA nodes: which there are, and how much of their memory is free, as the kernel tells it.

use std::fs;
use std::path::Path;

use trackway_report::grouped;

use crate::failure::Failure;

const FOLDER: &str = "/sys/devices/system/node";
const STATUS: &str = "/proc/self/status";

/// Bytes that allocations could have on a node, with what files only keep in memory.
///
/// # Errors
/// If there is no such node with memory, or this process may not use it.
pub fn require(node: u32) -> Result<u64, Failure> {
    let status = fs::read_to_string(STATUS).unwrap_or_default();
    require_in(Path::new(FOLDER), &status, node)
}

fn require_in(folder: &Path, status: &str, node: u32) -> Result<u64, Failure> {
    let Ok(with_memory) = fs::read_to_string(folder.join("has_memory")) else {
        return Err(Failure::about(
            folder,
            "the system knows no NUMA nodes; use --far-file",
        ));
    };
    let nodes = numbers(&with_memory);
    if !nodes.contains(&node) {
        let known: Vec<String> = nodes.into_iter().map(|node| told(folder, node)).collect();
        return Err(Failure::new(format!(
            "there is no NUMA node {node} with memory; there are {}",
            known.join(", ")
        )));
    }
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    if allowed.is_some_and(|allowed| !numbers(allowed).contains(&node)) {
        return Err(Failure::new(format!(
            "this process may not use NUMA node {node}: its cpuset allows {}",
            allowed.unwrap_or_default().trim()
        )));
    }
    Ok(free_bytes(folder, node))
}

fn told(folder: &Path, node: u32) -> String {
    format!("{node} ({} bytes free)", grouped(free_bytes(folder, node)))
}

/// Of lines such as `Node 0 MemFree: 1024 kB`.
fn free_bytes(folder: &Path, node: u32) -> u64 {
    let text = fs::read_to_string(folder.join(format!("node{node}/meminfo"))).unwrap_or_default();
    let kilobytes = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(2);
        match words.next()? {
            "MemFree:" | "Active(file):" | "Inactive(file):" => words.next()?.parse::<u64>().ok(),
            _ => None,
        }
    });
    kilobytes.sum::<u64>() * 1024
}

/// Of a list such as `0-1,4`.
fn numbers(list: &str) -> Vec<u32> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "Node 4 MemTotal:  9000 kB\nNode 4 MemFree:  8000 kB\nNode 4 Active(file):  10 kB\n\
                           Node 4 Inactive(file):  20 kB\nNode 4 Active(anon):  300 kB\n";

    fn outcome(node: u32, allowed: &str) -> Result<u64, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("has_memory"), "0-1,4\n").unwrap();
        fs::create_dir(folder.path().join("node4")).unwrap();
        fs::write(folder.path().join("node4/meminfo"), MEMINFO).unwrap();
        let status = format!("Name:\tp\nMems_allowed_list:\t{allowed}\n");
        require_in(folder.path(), &status, node).map_err(|failure| failure.to_string())
    }

    #[test]
    fn free_memory_is_without_what_programs_hold() {
        assert_eq!(outcome(4, "0-7"), Ok(8030 * 1024));
    }

    #[test]
    fn errors_say_which_nodes_there_are() {
        let missing = outcome(2, "0-7").unwrap_err();
        assert!(missing.contains("node 2 with memory; there are 0 (0 bytes free), 1 (0 bytes free), 4 (8,222,720"));
        let forbidden = outcome(4, "0-1").unwrap_err();
        assert!(forbidden.contains("cpuset allows 0-1"), "{forbidden}");
        let none = require_in(Path::new("/nonexistent"), "", 0).unwrap_err();
        assert!(none.to_string().contains("no NUMA nodes"));
    }
}
