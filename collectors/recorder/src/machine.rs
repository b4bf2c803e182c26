//! What the start chunk says about the program and the machine.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use trackway_trace::{CacheInfo, SamplingInfo, StartInfo};

use crate::clock::RecordingClock;
use crate::options::{Compression, RecordOptions};

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

pub fn start_info(
    options: &RecordOptions,
    pid: u32,
    clock: &RecordingClock,
    sampling: Option<SamplingInfo>,
) -> StartInfo {
    StartInfo {
        program: options.program.to_string_lossy().into_owned(),
        arguments: options
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        working_directory: std::env::current_dir()
            .map(|path| path.display().to_string())
            .unwrap_or_default(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        cpu_model: trackway_machine::processor_name(),
        caches: caches(Path::new(CACHES)),
        trackway_version: env!("CARGO_PKG_VERSION").to_owned(),
        codec: codec_name(options.compression).to_owned(),
        buffer_size: options.buffer_size,
        buffer_count: options.buffer_count,
        start_unix_ns: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as u64),
        start_monotonic_ns: clock.now_ns(),
        pid,
        clock: Some(clock.description().clone()),
        hardware_events: options
            .hardware
            .iter()
            .map(|event| event.name.to_owned())
            .collect(),
        sampling,
        begins_unrecorded: !options.windows.begins_open() || options.windows.start_after_accesses.is_some(),
    }
}

fn codec_name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
        Compression::Auto => "auto",
        Compression::Columns => "columns",
    }
}

/// The same of a program that the recorder didn't start, as far as the system says.
pub fn describe_running(info: &mut StartInfo, pid: u32) {
    let folder = Path::new("/proc").join(pid.to_string());
    let link = |name| fs::read_link(folder.join(name)).map(|path| path.display().to_string());
    if let Ok(program) = link("exe") {
        info.program = program;
    }
    if let Ok(directory) = link("cwd") {
        info.working_directory = directory;
    }
    info.arguments = arguments_of(&fs::read(folder.join("cmdline")).unwrap_or_default());
}

/// The arguments in `/proc/PID/cmdline`, without the program's own name. A program that gives itself a title (`setproctitle`)
/// fills the rest of their place with zeros.
fn arguments_of(cmdline: &[u8]) -> Vec<String> {
    let last = cmdline.iter().rposition(|byte| *byte != 0);
    let Some(last) = last else { return Vec::new() };
    let mut words = cmdline[..=last].split(|byte| *byte == 0);
    words.next();
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The data and unified caches that processor 0 sees, from level 1 on; those of which the system says too little are
/// left out.
fn caches(folder: &Path) -> Vec<CacheInfo> {
    let mut caches: Vec<_> = (0..16)
        .filter_map(|index| cache(&folder.join(format!("index{index}"))))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<CacheInfo> {
    let text = |name| Some(fs::read_to_string(folder.join(name)).ok()?.trim().to_owned());
    let number = |name| text(name)?.parse().ok();
    if text("type")? == "Instruction" {
        return None;
    }
    Some(CacheInfo {
        level: number("level")?,
        size_bytes: size_bytes(&text("size")?)?,
        line_bytes: number("coherency_line_size")?,
        ways: number("ways_of_associativity").unwrap_or(0),
        shared_by: text("shared_cpu_list")
            .and_then(|list| count_processors(&list))
            .unwrap_or(1),
    })
}

/// `48K` or `32M` in bytes.
fn size_bytes(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => 1,
    };
    text.trim_end_matches(['K', 'M', 'G'])
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
}

/// Length of a list like `0-3,8,10-11`.
fn count_processors(list: &str) -> Option<u32> {
    list.split(',').try_fold(0u32, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_running_programs() {
        let of = |cmdline: &str| arguments_of(cmdline.as_bytes());
        assert_eq!(of("server\0--port\0\x30\0"), ["--port", "0"]);
        assert_eq!(of("server\0a\0\0b\0"), ["a", "", "b"]);
        assert_eq!(of("server: ready\0\0\0\0\0"), [""; 0]);
        assert_eq!(of(""), [""; 0]);
    }

    #[test]
    fn sizes_of_caches_carry_a_unit() {
        assert_eq!(size_bytes("48K"), Some(48 << 10));
        assert_eq!(size_bytes("260M"), Some(260 << 20));
        assert_eq!(size_bytes("64"), Some(64));
        assert_eq!(size_bytes("K"), None);
    }

    #[test]
    fn processor_lists_are_counted() {
        assert_eq!(count_processors("0"), Some(1));
        assert_eq!(count_processors("0-3,8,10-11"), Some(7));
        assert_eq!(count_processors("3-1"), None);
    }

    #[test]
    fn instruction_caches_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let describe = |index: u32, kind: &str, level: u32, size: &str| {
            let cache = folder.path().join(format!("index{index}"));
            fs::create_dir(&cache).unwrap();
            for (name, value) in [("type", kind), ("size", size), ("coherency_line_size", "64")] {
                fs::write(cache.join(name), format!("{value}\n")).unwrap();
            }
            fs::write(cache.join("level"), format!("{level}\n")).unwrap();
            fs::write(cache.join("ways_of_associativity"), "8\n").unwrap();
            fs::write(cache.join("shared_cpu_list"), "0-1\n").unwrap();
        };
        describe(0, "Unified", 2, "2048K");
        describe(1, "Instruction", 1, "32K");
        describe(2, "Data", 1, "32K");
        let expected = |level, size_bytes| CacheInfo {
            level,
            size_bytes,
            line_bytes: 64,
            ways: 8,
            shared_by: 2,
        };
        assert_eq!(
            caches(folder.path()),
            [expected(1, 32 << 10), expected(2, 2 << 20)]
        );
    }
}
