//! The messages around a trace on its way to a collector (`docs/streaming.md`).

use std::io::{self, Read};

use xxhash_rust::xxh3::xxh3_64;

pub const PROTOCOL_VERSION: u16 = 1;
/// What the sender says last, once everything is acknowledged.
pub const FAREWELL: &[u8; 8] = b"TWFAREWL";

const HELLO_MAGIC: &[u8; 8] = b"TWSTREAM";
const HELLO_LENGTH: usize = 40;
const LONGEST_NAME: usize = 255;
const REPLY_MAGIC: &[u8; 4] = b"TWRP";
const REPLY_LENGTH: usize = 16;
const LONGEST_TEXT: usize = 1024;
const CHECKSUM_LENGTH: usize = 8;

const POSITION: u16 = 1;
const REFUSAL: u16 = 2;

/// How a sender introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    pub identity: [u8; 16],
    /// Position in the trace of the first byte that the sender still has.
    pub first: u64,
    /// Name of the program.
    pub name: String,
}

impl Hello {
    pub fn to_bytes(&self) -> Vec<u8> {
        let name = up_to(&self.name, LONGEST_NAME).as_bytes();
        let mut bytes = Vec::with_capacity(HELLO_LENGTH + name.len() + CHECKSUM_LENGTH);
        bytes.extend_from_slice(HELLO_MAGIC);
        bytes.extend_from_slice(&PROTOCOL_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.identity);
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(name);
        with_checksum(bytes)
    }

    pub fn read(source: &mut impl Read) -> io::Result<Self> {
        let mut bytes = vec![0; HELLO_LENGTH];
        source.read_exact(&mut bytes)?;
        if bytes[..8] != *HELLO_MAGIC {
            return Err(invalid("it is no sender of a trace"));
        }
        let version = u16_at(&bytes, 8);
        if version != PROTOCOL_VERSION {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("it speaks version {version} of the protocol, not {PROTOCOL_VERSION}; use equal versions of Trackway"),
            ));
        }
        let name_length = u16_at(&bytes, 10).into();
        let name = read_text(source, &mut bytes, name_length, LONGEST_NAME)?;
        let mut identity = [0; 16];
        identity.copy_from_slice(&bytes[16..32]);
        Ok(Self {
            identity,
            first: u64_at(&bytes, 32),
            name,
        })
    }
}

/// What a collector answers, at first and then again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It has everything before this position.
    Position(u64),
    /// It doesn't take the trace, or no more of it, for this reason.
    Refusal(String),
}

impl Reply {
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, position, text) = match self {
            Self::Position(position) => (POSITION, *position, ""),
            Self::Refusal(text) => (REFUSAL, 0, up_to(text, LONGEST_TEXT)),
        };
        let mut bytes = Vec::with_capacity(REPLY_LENGTH + text.len() + CHECKSUM_LENGTH);
        bytes.extend_from_slice(REPLY_MAGIC);
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&position.to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        with_checksum(bytes)
    }

    /// `first` is the reply's first byte, which was read already.
    pub fn read_after(first: u8, source: &mut impl Read) -> io::Result<Self> {
        let mut bytes = vec![first; REPLY_LENGTH];
        source.read_exact(&mut bytes[1..])?;
        if bytes[..4] != *REPLY_MAGIC {
            return Err(invalid("it is no collector of traces"));
        }
        let text_length = u16_at(&bytes, 6).into();
        let text = read_text(source, &mut bytes, text_length, LONGEST_TEXT)?;
        match u16_at(&bytes, 4) {
            POSITION => Ok(Self::Position(u64_at(&bytes, 8))),
            // It is shown in a line of a message, and any client may have sent it.
            REFUSAL => Ok(Self::Refusal(text.replace(char::is_control, "\u{fffd}"))),
            _ => Err(invalid("the collector's answer is of an unknown kind")),
        }
    }
}

/// Reads a text and the checksum after it, which covers the message from its start.
fn read_text(
    source: &mut impl Read,
    message: &mut Vec<u8>,
    length: usize,
    longest: usize,
) -> io::Result<String> {
    if length > longest {
        return Err(invalid("a text is too long"));
    }
    let start = message.len();
    message.resize(start + length + CHECKSUM_LENGTH, 0);
    source.read_exact(&mut message[start..])?;
    let end = start + length;
    if xxh3_64(&message[..end]) != u64_at(message, end) {
        return Err(invalid("a checksum is wrong"));
    }
    String::from_utf8(message[start..end].to_vec()).map_err(|_| invalid("a text is not UTF-8"))
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The longest part of the text, from its start, that has at most `length` bytes.
fn up_to(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(name: &str) -> Hello {
        Hello {
            identity: [9; 16],
            first: 1 << 40,
            name: name.to_owned(),
        }
    }

    fn read_reply(bytes: &[u8]) -> io::Result<Reply> {
        Reply::read_after(bytes[0], &mut &bytes[1..])
    }

    #[test]
    fn messages_survive_a_round_trip() {
        for name in ["", "prog", "ü"] {
            assert_eq!(
                Hello::read(&mut hello(name).to_bytes().as_slice()).unwrap(),
                hello(name)
            );
        }
        for reply in [Reply::Position(u64::MAX), Reply::Refusal("no".into())] {
            assert_eq!(read_reply(&reply.to_bytes()).unwrap(), reply);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let name = "ü".repeat(200);
        let read = Hello::read(&mut hello(&name).to_bytes().as_slice()).unwrap();
        assert_eq!(read.name, "ü".repeat(127));
        let Ok(Reply::Refusal(text)) = read_reply(&Reply::Refusal("x".repeat(5000)).to_bytes()) else {
            panic!("no refusal");
        };
        assert_eq!(text.len(), LONGEST_TEXT);
    }

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let (hello, reply) = (hello("prog").to_bytes(), Reply::Refusal("no".into()).to_bytes());
        for at in 0..hello.len() {
            let mut changed = hello.clone();
            changed[at] ^= 1;
            assert!(Hello::read(&mut changed.as_slice()).is_err(), "{at}");
            assert!(Hello::read(&mut &hello[..at]).is_err(), "{at}");
        }
        for at in 0..reply.len() {
            let mut changed = reply.clone();
            changed[at] ^= 1;
            assert!(read_reply(&changed).is_err(), "{at}");
        }
    }
}
