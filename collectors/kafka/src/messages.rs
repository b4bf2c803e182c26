//! Chunks as messages (`docs/streaming.md`, "Messages").

use std::collections::BTreeMap;

use rskafka::record::Record;
use trackway_recorder::ArrivedChunk;
use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::ChunkKind;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a message's value at most, and of the values of those that are sent together: less than the 1 MiB that
/// brokers take by default.
pub const LONGEST_VALUE: usize = 768 << 10;

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub partition: i32,
    pub offset: i64,
}

/// One trace's way of writing messages.
#[derive(Debug)]
pub struct Messages {
    /// Hexadecimal.
    trace: String,
    program: String,
}

impl Messages {
    pub fn new(identity: [u8; 16], program: &str) -> Messages {
        Messages {
            trace: trackway_trace::hexadecimal(&identity),
            program: program.to_owned(),
        }
    }

    /// Whether the chunk stands in the topic of chunks, with only its header in the index: the bulk of a trace, and what
    /// is too long for the index.
    pub fn is_placed(chunk: &ArrivedChunk) -> bool {
        let is_bulk = matches!(
            chunk.header.kind,
            ChunkKind::Records
                | ChunkKind::OracleRecords
                | ChunkKind::Counts
                | ChunkKind::Allocations
                | ChunkKind::Samples
        );
        is_bulk || chunk.bytes.len() > LONGEST_VALUE
    }

    /// All chunks of a stream have the same.
    fn key(&self, chunk: &ArrivedChunk) -> String {
        format!("{}/{}", self.trace, chunk.header.stream)
    }

    pub fn partition(&self, chunk: &ArrivedChunk, partitions: i32) -> i32 {
        (xxh3_64(self.key(chunk).as_bytes()) % partitions as u64) as i32
    }

    /// The messages that hold the chunk: one, unless it is too long.
    pub fn parts(&self, chunk: &ArrivedChunk) -> Vec<Record> {
        let count = chunk.bytes.len().div_ceil(LONGEST_VALUE);
        let parts = chunk.bytes.chunks(LONGEST_VALUE).zip(1..);
        parts
            .map(|(bytes, number)| {
                let mut headers = self.headers(chunk);
                headers.insert("part".into(), format!("{number}/{count}").into());
                record(self.key(chunk), bytes.to_vec(), headers)
            })
            .collect()
    }

    /// What the index says of the chunk: all of it, or its header, and where the parts are.
    pub fn entry(&self, chunk: &ArrivedChunk, places: &[Place]) -> Record {
        let mut headers = self.headers(chunk);
        headers.insert("program".into(), self.program.clone().into());
        let value = match places {
            [] => chunk.bytes.clone(),
            places => {
                let places: Vec<String> = places
                    .iter()
                    .map(|place| format!("{}:{}", place.partition, place.offset))
                    .collect();
                headers.insert("places".into(), places.join(",").into());
                chunk.bytes[..HEADER_LENGTH].to_vec()
            }
        };
        record(self.trace.clone(), value, headers)
    }

    fn headers(&self, chunk: &ArrivedChunk) -> BTreeMap<String, Vec<u8>> {
        let kind: u8 = chunk.header.kind.into();
        BTreeMap::from([
            ("trace".to_owned(), self.trace.clone().into_bytes()),
            ("position".to_owned(), chunk.position.to_string().into_bytes()),
            ("kind".to_owned(), kind.to_string().into_bytes()),
            (
                "sequence".to_owned(),
                chunk.header.sequence.to_string().into_bytes(),
            ),
        ])
    }
}

fn record(key: String, value: Vec<u8>, headers: BTreeMap<String, Vec<u8>>) -> Record {
    Record {
        key: Some(key.into_bytes()),
        value: Some(value),
        headers,
        timestamp: chrono::Utc::now(),
    }
}

/// Records in their order, as many together as a broker takes.
pub fn in_batches(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut batches: Vec<Vec<Record>> = Vec::new();
    let mut room = 0;
    for record in records {
        let size = record.approximate_size();
        match batches.last_mut() {
            Some(batch) if size <= room => {
                room -= size;
                batch.push(record);
            }
            _ => {
                room = LONGEST_VALUE.saturating_sub(size);
                batches.push(vec![record]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{ChunkFields, ChunkHeader, Codec};

    fn chunk(kind: ChunkKind, payload: usize) -> ArrivedChunk {
        let stored = vec![7; payload];
        let fields = ChunkFields {
            stream: 3,
            sequence: 9,
            ..ChunkFields::new(kind)
        };
        let header = ChunkHeader::new(&fields, Codec::None, payload as u32, &stored);
        let bytes = [&header.to_bytes()[..], &stored].concat();
        ArrivedChunk {
            position: 32,
            header,
            bytes,
        }
    }

    fn header<'r>(record: &'r Record, name: &str) -> &'r str {
        std::str::from_utf8(&record.headers[name]).unwrap()
    }

    #[test]
    fn parts_make_the_chunk() {
        let messages = Messages::new([0xab; 16], "prog");
        let chunk = chunk(ChunkKind::Records, 2 * LONGEST_VALUE);
        let parts = messages.parts(&chunk);
        let joined: Vec<u8> = parts
            .iter()
            .flat_map(|part| part.value.clone().unwrap())
            .collect();
        assert_eq!(joined, chunk.bytes);
        assert_eq!(
            parts.iter().map(|part| header(part, "part")).collect::<Vec<_>>(),
            ["1/3", "2/3", "3/3"]
        );
        assert_eq!(header(&parts[0], "trace"), "ab".repeat(16));
        assert_eq!(
            (header(&parts[0], "position"), header(&parts[0], "sequence")),
            ("32", "9")
        );
        assert_eq!(in_batches(parts).len(), 3);
    }

    #[test]
    fn the_index_has_definitions_whole_and_places_of_the_rest() {
        let messages = Messages::new([1; 16], "prog");
        let (definition, records) = (chunk(ChunkKind::Start, 100), chunk(ChunkKind::Records, 100));
        assert!(!Messages::is_placed(&definition) && Messages::is_placed(&records));
        assert!(Messages::is_placed(&chunk(ChunkKind::Module, LONGEST_VALUE)));
        let whole = messages.entry(&definition, &[]);
        assert_eq!(whole.value.as_deref(), Some(&definition.bytes[..]));
        assert_eq!(header(&whole, "program"), "prog");
        let places = [(0, 5), (0, 6)].map(|(partition, offset)| Place { partition, offset });
        let placed = messages.entry(&records, &places);
        assert_eq!(placed.value.as_deref(), Some(&records.bytes[..HEADER_LENGTH]));
        assert_eq!(header(&placed, "places"), "0:5,0:6");
    }

    #[test]
    fn batches_keep_the_order_and_the_limit() {
        let messages = Messages::new([1; 16], "prog");
        let records: Vec<Record> = (0..9)
            .flat_map(|_| messages.parts(&chunk(ChunkKind::Records, LONGEST_VALUE / 3)))
            .collect();
        let batches = in_batches(records.clone());
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 2, 1]);
        assert_eq!(batches.concat(), records);
    }
}
