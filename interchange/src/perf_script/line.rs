//! The lines of a sample.

/// A sample as the text has it; what it doesn't say is 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSample {
    pub pid: u32,
    pub tid: u32,
    pub processor: u32,
    pub time_ns: u64,
    pub period: u64,
    pub event: String,
    pub address: u64,
    pub data_source: u64,
    pub latency_cycles: u64,
    pub frame: Option<TextFrame>,
}

/// The innermost frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFrame {
    pub instruction: u64,
    /// Symbol without the offset.
    pub symbol: String,
    pub object: String,
}

impl TextSample {
    /// Parses the first line of a sample. None if it is no such line.
    pub fn parse(line: &str) -> Option<TextSample> {
        let (before, time, rest) = around_time(line)?;
        let mut sample = TextSample {
            time_ns: time,
            period: 1,
            ..TextSample::default()
        };
        sample.parse_thread(before)?;
        let rest = sample.parse_event(rest)?;
        sample.parse_access(rest);
        Some(sample)
    }

    /// Program, `PID/TID` or `PID`, and `[CPU]`: the program's name may hold spaces.
    fn parse_thread(&mut self, before: &str) -> Option<()> {
        let mut words: Vec<&str> = before.split_whitespace().collect();
        let processor = words
            .last()?
            .strip_prefix('[')
            .and_then(|word| word.strip_suffix(']'));
        if let Some(processor) = processor {
            self.processor = processor.parse().ok()?;
            words.pop();
        }
        let thread = words.pop()?;
        let (pid, tid) = thread.split_once('/').unwrap_or((thread, thread));
        self.pid = pid.parse().ok()?;
        self.tid = tid.parse().ok()?;
        Some(())
    }

    /// The period, if it is there, and the event's name before a colon; names may hold colons themselves.
    fn parse_event<'t>(&mut self, rest: &'t str) -> Option<&'t str> {
        let mut rest = rest.trim_start();
        if let Some((word, behind)) = rest.split_once(' ') {
            if let Ok(period) = word.parse() {
                self.period = period;
                rest = behind.trim_start();
            }
        }
        let (event, behind) = match rest.split_once(": ") {
            Some(parts) => parts,
            None => (rest.trim_end().strip_suffix(':')?, ""),
        };
        self.event = event.trim().to_owned();
        Some(behind)
    }

    /// Address, source of the data with its description between bars, weight; or the frame.
    fn parse_access(&mut self, rest: &str) {
        let (numbers, weight) = match rest.split_once('|') {
            Some((before, described)) => (before, described.rsplit('|').next().unwrap_or_default()),
            None => (rest, ""),
        };
        let mut words: Vec<&str> = numbers.split_whitespace().collect();
        if rest.contains('|') {
            self.data_source = words.pop().and_then(hexadecimal).unwrap_or(0);
            self.address = words.first().copied().and_then(hexadecimal).unwrap_or(0);
            // After the bars the last description ends with the weight, and a frame may follow.
            let behind: Vec<&str> = weight.split_whitespace().collect();
            let number = behind.iter().position(|word| word.parse::<u64>().is_ok());
            if let Some(at) = number {
                self.latency_cycles = behind[at].parse().unwrap_or(0);
                self.frame = TextFrame::parse(&behind[at + 1..].join(" "));
            }
            return;
        }
        self.frame = frame_behind_address(&words);
        let has_frame = usize::from(self.frame.is_some());
        let first = words.first().copied().and_then(hexadecimal);
        let is_address =
            words.len() == 1 || (has_frame == 1 && words.get(1).copied().and_then(hexadecimal).is_some());
        if is_address {
            self.address = first.unwrap_or(0);
        }
    }
}

/// An address, and after it a frame; or a frame alone. One number alone is an address.
fn frame_behind_address(words: &[&str]) -> Option<TextFrame> {
    let skipped = match words {
        [] | [_] => return None,
        [_, second, ..] => usize::from(hexadecimal(second).is_some()),
    };
    TextFrame::parse(&words[skipped..].join(" "))
}

impl TextFrame {
    /// `55d0 main+0x13 (/bin/prog)`.
    pub fn parse(line: &str) -> Option<TextFrame> {
        let (address, rest) = line.trim().split_once(' ')?;
        let instruction = hexadecimal(address)?;
        let (symbol, object) = match rest.rsplit_once('(') {
            Some((symbol, object)) => (symbol, object.trim_end().trim_end_matches(')')),
            None => (rest, ""),
        };
        let symbol = symbol.trim();
        let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(symbol, _)| symbol);
        Some(TextFrame {
            instruction,
            symbol: if symbol == "[unknown]" {
                String::new()
            } else {
                symbol.to_owned()
            },
            object: object.to_owned(),
        })
    }
}

/// What stands before the time, the time in nanoseconds, and what stands after its colon.
fn around_time(line: &str) -> Option<(&str, u64, &str)> {
    for (colon, _) in line.match_indices(':') {
        let start = line[..colon].rfind(' ').map_or(0, |space| space + 1);
        if let Some(time_ns) = nanoseconds(&line[start..colon]) {
            return Some((&line[..start], time_ns, &line[colon + 1..]));
        }
    }
    None
}

/// `12.345678` or `12.345678901`.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = fraction.len();
    if !(1..=9).contains(&digits) || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (seconds, fraction): (u64, u64) = (seconds.parse().ok()?, fraction.parse().ok()?);
    let scaled = fraction * 10u64.pow(9 - digits as u32);
    seconds.checked_mul(1_000_000_000)?.checked_add(scaled)
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}
