//! How much memory a measurement may use.

use std::fs;
use std::path::Path;

const CGROUPS: &str = "/sys/fs/cgroup";
/// A part of what is available, so that nothing else is pushed out.
const PART: u64 = 4;

/// Bytes that all buffers together may have.
pub(crate) fn allowed_bytes() -> u64 {
    let of_system = available_in(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
    let cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_groups = left_in_groups(&cgroups, Path::new(CGROUPS));
    let available = of_system.into_iter().chain(of_groups).min();
    // If nobody says anything, what every machine has must do.
    available.unwrap_or(1 << 30) / PART
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// What the limits of the groups of this process leave, and those of the groups around them.
fn left_in_groups(cgroups: &str, root: &Path) -> Vec<u64> {
    let mut left = Vec::new();
    for line in cgroups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let of_memory = controllers.split(',').any(|controller| controller == "memory");
        let (root, limit, used, idle) = match (controllers, of_memory) {
            ("", _) => (root.to_owned(), "memory.max", "memory.current", "inactive_file"),
            (_, true) => (
                root.join("memory"),
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            _ => continue,
        };
        // In a container the path may be that of the host; then the root is the group.
        let group = root.join(path.trim_start_matches('/'));
        for folder in group.ancestors().take_while(|folder| folder.starts_with(&root)) {
            left.extend(left_in(folder, limit, used, idle));
        }
    }
    left
}

fn left_in(folder: &Path, limit: &str, used: &str, idle: &str) -> Option<u64> {
    let number = |name| {
        fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let limit = number(limit)?; // `max` is none
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let idle = statistics
        .lines()
        .find_map(|line| line.strip_prefix(idle)?.trim().parse().ok());
    let used = number(used).unwrap_or(0).saturating_sub(idle.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_limits_of_all_groups_around_count() {
        let root = tempfile::tempdir().unwrap();
        write(
            &root.path().join("a"),
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "anon 1\ninactive_file 200\nactive_file 9\n"),
            ],
        );
        write(
            &root.path().join("a/b"),
            &[("memory.max", "max\n"), ("memory.current", "5\n")],
        );
        assert_eq!(left_in_groups("0::/a/b\n", root.path()), [500]);
        write(
            &root.path().join("memory/c"),
            &[("memory.limit_in_bytes", "90"), ("memory.usage_in_bytes", "100")],
        );
        assert_eq!(
            left_in_groups("4:cpu,memory:/c\n1:cpu:/c\nnonsense\n", root.path()),
            [0]
        );
        assert!(left_in_groups("0::/elsewhere\n", root.path()).is_empty());
    }

    #[test]
    fn available_memory_is_in_kilobytes() {
        assert_eq!(
            available_in("MemTotal: 9 kB\nMemAvailable:   12 kB\n"),
            Some(12 << 10)
        );
        assert_eq!(available_in("MemTotal: 9 kB\n"), None);
        assert!(allowed_bytes() > 0);
    }
}
