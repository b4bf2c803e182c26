//! Packets of Arm's Statistical Profiling Extension, one after the other.
//!
//! The Arm Architecture Reference Manual, "Statistical Profiling Extension Sample Record Specification", defines them: a
//! header of one or two bytes, whose bits 5:4 give the length of what follows as a power of two.

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Fills the room up to the next record.
    Padding,
    /// The record ends, and has no time.
    End,
    /// The record ends; ticks of the generic timer.
    Timestamp(u64),
    /// Number of the address: [`PROGRAM_COUNTER`] and others.
    Address {
        index: u8,
        value: u64,
    },
    /// Number of the counter: [`TOTAL_LATENCY`] and others; cycles.
    Counter {
        index: u8,
        cycles: u16,
    },
    /// What the system wrote to CONTEXTIDR of that exception level.
    Context {
        level: u8,
        value: u32,
    },
    Operation {
        class: OperationClass,
        details: u8,
    },
    /// A bit for each event that the operation caused.
    Events(u64),
    /// What answered an access, in numbers of the processor's own.
    DataSource(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationClass {
    Other,
    /// Loads, stores and atomic operations.
    Memory,
    Branch,
    /// Not defined yet.
    Unknown,
}

/// Indices of addresses.
pub const PROGRAM_COUNTER: u8 = 0;
pub const DATA_VIRTUAL: u8 = 2;
pub const DATA_PHYSICAL: u8 = 3;
/// Index of the counter from when the operation was sent off until it was complete.
pub const TOTAL_LATENCY: u8 = 0;

const PADDING: u8 = 0x00;
const END: u8 = 0x01;
const TIMESTAMP: u8 = 0x71;

/// Reads the packet at a position: what it says, and how many bytes it has. None if it is cut off or of no known kind.
pub fn read(bytes: &[u8], at: usize) -> Option<(Packet, usize)> {
    let rest = bytes.get(at..)?;
    let header = *rest.first()?;
    match header {
        PADDING => return Some((Packet::Padding, 1)),
        END => return Some((Packet::End, 1)),
        _ => {}
    }
    let is_extended = header & 0xfc == 0x20;
    if is_extended {
        let second = *rest.get(1)?;
        if second == 0 {
            return alignment(header, at, bytes.len());
        }
        let (value, length) = payload(rest, 1)?;
        return Some((numbered(second, (header & 3) << 3, value)?, length));
    }
    let (value, length) = payload(rest, 0)?;
    let packet = match header {
        TIMESTAMP => Packet::Timestamp(value),
        _ if header & 0xcf == 0x42 => Packet::Events(value),
        _ if header & 0xcf == 0x43 => Packet::DataSource(value as u16),
        _ if header & 0xfc == 0x64 => Packet::Context {
            level: (header & 3) + 1,
            value: value as u32,
        },
        _ if header & 0xfc == 0x48 => Packet::Operation {
            class: class(header & 3),
            details: value as u8,
        },
        _ => numbered(header, 0, value)?,
    };
    Some((packet, length))
}

/// Addresses and counters, the upper bits of whose number may stand in another byte.
fn numbered(header: u8, upper: u8, value: u64) -> Option<Packet> {
    let index = header & 7 | upper;
    match header & 0xf8 {
        0xb0 => Some(Packet::Address { index, value }),
        0x98 => Some(Packet::Counter {
            index,
            cycles: value as u16,
        }),
        _ => None,
    }
}

fn class(number: u8) -> OperationClass {
    match number {
        0 => OperationClass::Other,
        1 => OperationClass::Memory,
        2 => OperationClass::Branch,
        _ => OperationClass::Unknown,
    }
}

/// What follows the header, whose last byte is at `last`, and the bytes of the packet.
fn payload(packet: &[u8], last: usize) -> Option<(u64, usize)> {
    let length = 1 << (packet[last] >> 4 & 3);
    let end = last + 1 + length;
    let bytes = packet.get(last + 1..end)?;
    let value = bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value, end))
}

/// Up to the next multiple of the alignment that the header names.
fn alignment(header: u8, at: usize, end: usize) -> Option<(Packet, usize)> {
    let alignment = 2usize << (header & 0xf);
    let length = alignment - at % alignment;
    (length >= 2 && at + length <= end).then_some((Packet::Padding, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_packet_is_read() {
        for (bytes, packet) in [
            (&[0x00][..], Packet::Padding),
            (&[0x01], Packet::End),
            (
                &[0x71, 1, 2, 3, 4, 5, 6, 7, 8],
                Packet::Timestamp(0x0807_0605_0403_0201),
            ),
            (
                &[0xb0, 0x10, 0x20, 0, 0, 0, 0, 0, 0x60],
                Packet::Address {
                    index: PROGRAM_COUNTER,
                    value: 0x6000_0000_0000_2010,
                },
            ),
            (
                &[0x20, 0xb2, 8, 0, 0, 0, 0, 0, 0, 0],
                Packet::Address {
                    index: DATA_VIRTUAL,
                    value: 8,
                },
            ),
            (
                &[0x21, 0x99, 7, 1],
                Packet::Counter {
                    index: 9,
                    cycles: 263,
                },
            ),
            (
                &[0x98, 0x2c, 1],
                Packet::Counter {
                    index: TOTAL_LATENCY,
                    cycles: 300,
                },
            ),
            (&[0x65, 9, 0, 0, 0], Packet::Context { level: 2, value: 9 }),
            (
                &[0x49, 1],
                Packet::Operation {
                    class: OperationClass::Memory,
                    details: 1,
                },
            ),
            (
                &[0x4a, 1],
                Packet::Operation {
                    class: OperationClass::Branch,
                    details: 1,
                },
            ),
            (&[0x42, 0xff], Packet::Events(0xff)),
            (&[0x52, 0x16, 0x04], Packet::Events(0x416)),
            (&[0x62, 1, 2, 3, 4], Packet::Events(0x0403_0201)),
            (&[0x43, 0x0d], Packet::DataSource(13)),
            (&[0x53, 0x0d, 1], Packet::DataSource(0x10d)),
        ] {
            assert_eq!(read(bytes, 0), Some((packet, bytes.len())), "{bytes:x?}");
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length], 0), None, "{bytes:x?}, cut to {length}");
            }
        }
    }

    #[test]
    fn alignment_leads_to_the_next_multiple() {
        let mut bytes = [0u8; 128];
        (bytes[10], bytes[11]) = (0x23, 0);
        assert_eq!(read(&bytes, 10), Some((Packet::Padding, 6)));
        assert_eq!(read(&bytes[..15], 10), None);
    }

    #[test]
    fn unknown_headers_are_no_packets() {
        for header in [0x02, 0x20, 0x40, 0x80, 0xc0, 0xff] {
            assert_eq!(
                read(&[header, 0x07, 0, 0, 0, 0, 0, 0, 0, 0], 0),
                None,
                "{header:x}"
            );
        }
    }
}
