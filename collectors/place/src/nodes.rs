//! NUMA nodes: which there are, and how much of their memory is free, as the kernel tells it.

use std::fs;
use std::path::Path;

use trackway_answers::failure::Failure;
use trackway_report::grouped;

use crate::libnuma::Libnuma;

const FOLDER: &str = "/sys/devices/system/node";
const STATUS: &str = "/proc/self/status";

/// Nodes by their numbers, such as `1` or `0-1,4`, or by what else libnuma knows them; and the bytes that allocations
/// could have there, with what files only keep in memory.
///
/// # Errors
/// If there is no such node with memory, or this process may not use it.
pub fn require(text: &str) -> Result<(Vec<u32>, u64), Failure> {
    let nodes = match numbers(text) {
        Some(nodes) => nodes,
        None => Libnuma::load(&format!("--far-node {text}"))?.nodes(text)?,
    };
    let status = fs::read_to_string(STATUS).unwrap_or_default();
    let folder = Path::new(FOLDER);
    nodes
        .iter()
        .try_for_each(|node| require_node(folder, &status, *node))?;
    let free = nodes.iter().map(|node| free_bytes(folder, *node)).sum();
    Ok((nodes, free))
}

fn require_node(folder: &Path, status: &str, node: u32) -> Result<(), Failure> {
    let Ok(with_memory) = fs::read_to_string(folder.join("has_memory")) else {
        return Err(Failure::about(
            folder,
            "the system knows no NUMA nodes; use --far-file",
        ));
    };
    let nodes = numbers(&with_memory).unwrap_or_default();
    if !nodes.contains(&node) {
        let known: Vec<String> = nodes.into_iter().map(|node| told(folder, node)).collect();
        return Err(Failure::new(format!(
            "there is no NUMA node {node} with memory; there are {}",
            known.join(", ")
        )));
    }
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Mems_allowed_list:"))
        .unwrap_or_default()
        .trim();
    match numbers(allowed) {
        Some(nodes) if !nodes.contains(&node) => Err(Failure::new(format!(
            "this process may not use NUMA node {node}: its cpuset allows {allowed}"
        ))),
        _ => Ok(()),
    }
}

fn told(folder: &Path, node: u32) -> String {
    format!("{node} ({} bytes free)", grouped(free_bytes(folder, node)))
}

/// Bytes that are free or in the page cache, from lines such as `Node 0 MemFree: 1024 kB`.
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

/// The numbers in a list such as `0-1,4`; none if it isn't a list.
fn numbers(list: &str) -> Option<Vec<u32>> {
    let ranges = list.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        (first..=last).contains(&first).then_some(first..=last)
    });
    let ranges: Vec<_> = ranges.collect::<Option<_>>()?;
    Some(ranges.into_iter().flatten().collect())
}

/// Digits alone: to libnuma `+1` is the second one of those that the process may use.
fn number(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str =
        "Node 4 MemTotal:  9000 kB\nNode 4 MemFree:  8000 kB\nNode 4 Active(file):  10 kB\n\
                           Node 4 Inactive(file):  20 kB\nNode 4 Active(anon):  300 kB\n";

    fn outcome(node: u32, allowed: &str) -> Result<u64, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("has_memory"), "0-1,4\n").unwrap();
        fs::create_dir(folder.path().join("node4")).unwrap();
        fs::write(folder.path().join("node4/meminfo"), MEMINFO).unwrap();
        let status = format!("Name:\tp\nMems_allowed_list:\t{allowed}\n");
        let done = require_node(folder.path(), &status, node);
        done.map(|()| free_bytes(folder.path(), node))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn free_memory_is_without_what_programs_hold() {
        assert_eq!(outcome(4, "0-7"), Ok(8030 * 1024));
    }

    #[test]
    fn errors_say_which_nodes_there_are() {
        let missing = outcome(2, "0-7").unwrap_err();
        let known =
            "node 2 with memory; there are 0 (0 bytes free), 1 (0 bytes free), 4 (8,222,720 bytes free)";
        assert!(missing.contains(known), "{missing}");
        let forbidden = outcome(4, "0-1").unwrap_err();
        assert!(forbidden.contains("cpuset allows 0-1"), "{forbidden}");
        let none = require_node(Path::new("/nonexistent"), "", 0).unwrap_err();
        assert!(none.to_string().contains("no NUMA nodes"));
    }

    #[test]
    fn lists_are_numbers_and_ranges() {
        assert_eq!(numbers("0-1,4\n"), Some(vec![0, 1, 4]));
        for text in ["", "all", "3-1", "+0", "1,", "file:/"] {
            assert_eq!(numbers(text), None, "{text}");
        }
    }
}
