//! Lines of /proc/PID/maps (proc_pid_maps(5)).

use trackway_trace::Protection;

/// A mapping as the kernel lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapsLine<'t> {
    pub start: u64,
    /// The first address past it, not below `start`.
    pub end: u64,
    pub protection: Protection,
    pub file_offset: u64,
    /// A file, or what the kernel calls the memory (`[stack]`); empty if it has no name.
    pub path: &'t str,
}

/// The mappings of the text of a maps file; lines of another form are left out.
pub fn maps_lines(text: &str) -> impl Iterator<Item = MapsLine<'_>> {
    text.lines().filter_map(maps_line)
}

/// `5581-5582 r-xp 00001000 08:01 42   /bin/prog`
fn maps_line(line: &str) -> Option<MapsLine<'_>> {
    let mut words = line.splitn(6, ' ');
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = words.next()?.split_once('-')?;
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let mode = words.next()?.as_bytes();
    let file_offset = hexadecimal(words.next()?)?;
    (start <= end).then(|| MapsLine {
        start,
        end,
        protection: Protection {
            readable: mode.first() == Some(&b'r'),
            writable: mode.get(1) == Some(&b'w'),
            executable: mode.get(2) == Some(&b'x'),
            shared: mode.get(3) == Some(&b's'),
        },
        file_offset,
        path: words.nth(2).unwrap_or_default().trim_start(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "7f0000001000-7f0000003000 r-xp 00002000 fe:01 4242                   /lib/a b.so\n\
                    1000-2000 rw-s 00000000 00:00 0 \n\
                    2000-1000 rw-p 00000000 00:00 0 \n\
                    nonsense\n";
        let lines: Vec<MapsLine> = maps_lines(text).collect();
        let [code, data] = lines[..] else {
            panic!("{lines:?}");
        };
        assert_eq!(
            (code.start, code.end, code.file_offset),
            (0x7f00_0000_1000, 0x7f00_0000_3000, 0x2000)
        );
        assert_eq!(code.path, "/lib/a b.so");
        assert!(code.protection.readable && code.protection.executable);
        assert!(!code.protection.writable && !code.protection.shared);
        assert_eq!(data.path, "");
        assert!(data.protection.writable && data.protection.shared);
    }
}
