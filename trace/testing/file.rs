//! Trace files in memory.

use trackway_trace::table::Table;
use trackway_trace::{
    encode_counting_module, encode_module, ChunkEncoder, ChunkFields, ChunkKind, Codec, ImageCounters,
    NodeCounts, Trace,
};

/// The bytes of a trace without index and trailer.
pub struct FileBytes {
    pub bytes: Vec<u8>,
    encoder: ChunkEncoder,
}

impl FileBytes {
    pub fn new(codec: Codec) -> Self {
        let mut bytes = b"TRACKWAY\x01\x00\x00\x00\x20\x00\x00\x00".to_vec();
        bytes.extend_from_slice(b"made for testing");
        let encoder = ChunkEncoder::new(codec).expect("a codec that exists");
        FileBytes { bytes, encoder }
    }

    pub fn chunk(&mut self, fields: &ChunkFields, payload: &[u8]) -> &mut Self {
        let chunk = self
            .encoder
            .encode(fields, payload)
            .expect("a payload within the limit");
        self.bytes.extend(chunk.to_bytes());
        self
    }

    /// A module whose symbols lie at made-up addresses.
    pub fn module(&mut self, sequence: u64, first_id: u32, table: &Table) -> &mut Self {
        let addresses: Vec<u64> = (0..table.symbols.len() as u64)
            .map(|index| 0x40_0000 + index * 4096)
            .collect();
        let payload = encode_module(first_id, 0x50_0000, &addresses, table);
        self.chunk(
            &ChunkFields {
                sequence,
                ..ChunkFields::new(ChunkKind::Module)
            },
            &payload,
        )
    }

    /// A module that counts, loaded by process 0.
    pub fn counting_module(
        &mut self,
        sequence: u64,
        first_id: u32,
        table: &Table,
        counters: ImageCounters,
    ) -> &mut Self {
        let addresses = vec![0; table.symbols.len()];
        let payload = encode_counting_module(first_id, 0x50_0000, &addresses, table, counters);
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Module)
        };
        self.chunk(&fields, &payload)
    }

    /// What a thread counted in a region until `last_ns`.
    pub fn node(&mut self, stream: u32, sequence: u64, last_ns: u64, node: &NodeCounts) -> &mut Self {
        let fields = ChunkFields {
            stream,
            sequence,
            last_ns,
            ..ChunkFields::new(ChunkKind::Counts)
        };
        self.chunk(&fields, &node.to_bytes())
    }

    /// A chunk of records of stream 0.
    pub fn records(&mut self, sequence: u64, flags: u16, payload: &[u8]) -> &mut Self {
        let times = (1000 + sequence * 10, 1009 + sequence * 10);
        let fields = ChunkFields {
            sequence,
            flags,
            first_ns: times.0,
            last_ns: times.1,
            ..ChunkFields::new(ChunkKind::Records)
        };
        self.chunk(&fields, payload)
    }

    pub fn open(&self) -> Trace {
        Trace::from_bytes("memory".as_ref(), self.bytes.clone()).expect("a valid header")
    }
}

/// Makes the header of a table fit its changed body.
pub fn repair_table(table: &mut [u8]) {
    let (header, body) = table.split_at_mut(32);
    header[16..24].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(body).to_le_bytes());
    header[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
}
