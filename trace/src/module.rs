//! The payload of a module chunk (`docs/format.md`, section 1.3).

use crate::bytes::{u16_at, u64_at};
use crate::table::{flag, Cursor, Extent, Segment, Table, TableError, TABLE_HEADER_LENGTH};

/// Ids of segments stay below this.
const SEGMENT_ID_LIMIT: u64 = 1 << 24;

/// Whether the table's header has the flag of modules that count, whatever else is wrong with the table.
fn table_counts(table: &[u8]) -> bool {
    table.len() >= TABLE_HEADER_LENGTH && u16_at(table, 10) & flag::COUNTS != 0
}

/// A loaded module as the traced program registered it.
pub(crate) struct ModulePayload<'a> {
    pub(crate) first_segment: u32,
    pub(crate) segment_count: u32,
    pub(crate) key: u64,
    /// Run-time address of the module's descriptor.
    pub(crate) address: u64,
    /// Run-time addresses of the table's symbols, in their order.
    pub(crate) symbol_addresses: Vec<u64>,
    /// The table with its header.
    pub(crate) table: &'a [u8],
    /// Offset of the table in the payload.
    pub(crate) table_position: u64,
    /// Where its counters are; none if the module doesn't count.
    pub(crate) counters: Option<ImageCounters>,
}

/// Where the counters of a module stand among those of its image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageCounters {
    /// The same number stands in the counts of its processes.
    pub image: u32,
    /// Index of the module's counter 0.
    pub first: u32,
}

impl<'a> ModulePayload<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, TableError> {
        let mut cursor = Cursor::new(bytes);
        let first_segment = cursor.u32("first id")?;
        let segment_count = cursor.u32("number of segments")?;
        if first_segment == 0 || u64::from(first_segment) + u64::from(segment_count) > SEGMENT_ID_LIMIT {
            return cursor.error(format!(
                "ids {first_segment} + {segment_count} are not from 1 to 2^24 - 1"
            ));
        }
        let key = cursor.u64("key")?;
        let address = cursor.u64("address")?;
        let symbols = cursor.u32("number of symbols")?;
        let first = cursor.u32("first counter")?;
        let addresses = cursor.take(u64::from(symbols) * 8, "symbol addresses")?;
        let length = cursor.u64("length of the table")?;
        let table_position = cursor.position() as u64;
        let table = cursor.take(length, "table")?;
        let counters = match table_counts(table) {
            true => Some(ImageCounters {
                image: cursor.u32("image")?,
                first,
            }),
            false => None,
        };
        if cursor.remaining() != 0 {
            return cursor.error(format!("{} bytes after the module", cursor.remaining()));
        }
        Ok(ModulePayload {
            first_segment,
            segment_count,
            key,
            address,
            symbol_addresses: addresses
                .chunks_exact(8)
                .map(|address| u64_at(address, 0))
                .collect(),
            table,
            table_position,
            counters,
        })
    }

    /// Parses the table and compares it with what the module says of it.
    pub(crate) fn parse_table(&self) -> Result<Table, TableError> {
        let table = self.parse_extent(Extent::Whole)?;
        match table.symbols.len() == self.symbol_addresses.len() {
            true => Ok(table),
            false => Err(self.error(format!(
                "{} symbols, where the table has {}",
                self.symbol_addresses.len(),
                table.symbols.len()
            ))),
        }
    }

    /// The segments of the table, of whose operations only the roots.
    pub(crate) fn parse_records(&self) -> Result<Vec<Segment>, TableError> {
        Ok(self.parse_extent(Extent::Records)?.segments)
    }

    fn error(&self, what: String) -> TableError {
        TableError {
            position: self.table_position,
            what,
        }
    }

    fn parse_extent(&self, extent: Extent) -> Result<Table, TableError> {
        let parsed = Table::parse_front(self.table, extent).map_err(|mut error| {
            error.position += self.table_position;
            error
        })?;
        let table = parsed.table;
        if parsed.length != self.table.len() {
            return Err(self.error(format!(
                "{} bytes of table in {}",
                parsed.length,
                self.table.len()
            )));
        }
        if parsed.key != self.key {
            return Err(self.error("the module's key is not its table's".into()));
        }
        let segments = table.segments.len();
        if segments != self.segment_count as usize {
            return Err(self.error(format!(
                "{} segments, where the table has {segments}",
                self.segment_count
            )));
        }
        Ok(table)
    }
}

/// Bytes of a module payload, as the runtime hands them over.
pub fn encode_module(first_segment: u32, address: u64, symbol_addresses: &[u64], table: &Table) -> Vec<u8> {
    encode_counting_module(
        first_segment,
        address,
        symbol_addresses,
        table,
        ImageCounters::default(),
    )
}

/// The same for a module that counts.
pub fn encode_counting_module(
    first_segment: u32,
    address: u64,
    symbol_addresses: &[u64],
    table: &Table,
    counters: ImageCounters,
) -> Vec<u8> {
    let encoded = table.encode();
    let mut bytes = Vec::with_capacity(encoded.len() + 40 + symbol_addresses.len() * 8);
    bytes.extend_from_slice(&first_segment.to_le_bytes());
    bytes.extend_from_slice(&(table.segments.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&encoded[16..24]); // the key
    bytes.extend_from_slice(&address.to_le_bytes());
    bytes.extend_from_slice(&(symbol_addresses.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&counters.first.to_le_bytes());
    for address in symbol_addresses {
        bytes.extend_from_slice(&address.to_le_bytes());
    }
    bytes.extend_from_slice(&(encoded.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&encoded);
    if table.blocks.is_some() {
        bytes.extend_from_slice(&counters.image.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Encoding, Expression, Operation, TableFunction, Term};

    fn root(register: u32, width: u8) -> Operation {
        let encoding = Encoding { width, signed: false };
        Operation::Root { register, encoding }
    }

    fn set(register: u32) -> Operation {
        let terms = Box::new([Term {
            register: 0,
            scale: 1 << 40,
        }]);
        let value = Expression {
            terms,
            constant: -1000,
            ..Expression::default()
        };
        Operation::Set { register, value }
    }

    fn segment(record_length: u32, operations: Vec<Operation>) -> Segment {
        Segment {
            record_length,
            operations,
            ..Segment::default()
        }
    }

    #[test]
    fn of_operations_only_roots_are_kept() {
        let table = Table {
            strings: vec![String::new()],
            locations: vec![Default::default()],
            functions: vec![TableFunction {
                segment_count: 3,
                register_count: 3,
                ..TableFunction::default()
            }],
            segments: vec![
                segment(12, vec![root(0, 8), set(2), root(1, 4)]),
                segment(0, vec![set(1)]),
                segment(2, vec![set(2), root(1, 2)]),
            ],
            ..Table::default()
        };
        let payload = encode_module(1, 0, &[], &table);
        let module = ModulePayload::parse(&payload).unwrap();
        let expected = [
            segment(12, vec![root(0, 8), root(1, 4)]),
            segment(0, vec![]),
            segment(2, vec![root(1, 2)]),
        ];
        assert_eq!(module.parse_records().unwrap(), expected);
        assert_eq!(module.parse_table().unwrap(), table);
    }
}
