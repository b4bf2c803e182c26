//! The golden trace, taken chunk by chunk.

use std::path::Path;

use trackway_trace::{ChunkKind, ChunkRef, Decoder, GrowingTrace, Trace};

const CHUNK_HEADER: usize = 64;

fn golden() -> (Trace, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden-v2.trackway");
    (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap())
}

#[test]
fn it_comes_to_the_same_as_the_file() {
    let (whole, bytes) = golden();
    let mut growing = GrowingTrace::new(whole.path());
    for chunk in whole.chunks() {
        assert_eq!(growing.position(), chunk.offset);
        let start = chunk.offset as usize;
        let chunk_bytes = &bytes[start..start + chunk.header.chunk_length() as usize];
        if chunk.header.kind == ChunkKind::Records {
            let expected = decode(&mut Decoder::new(&whole), chunk, None);
            let stored = &chunk_bytes[CHUNK_HEADER..];
            let grown = decode(&mut Decoder::new(growing.trace()), chunk, Some(stored));
            assert_eq!(grown, expected);
            assert!(!grown.is_empty());
        }
        growing.push(&chunk.header, chunk_bytes);
    }
    let grown = growing.trace();
    assert_eq!(grown.program().sites, whole.program().sites);
    assert_eq!(grown.program().modules, whole.program().modules);
    assert_eq!(grown.streams(), whole.streams());
    assert_eq!(grown.gaps(), whole.gaps());
    assert_eq!(grown.meta(), whole.meta());
    assert_eq!(grown.end(), whole.end());
    assert_eq!(grown.processes(), whole.processes());
    assert!(grown.damage().is_empty());
}

fn decode(decoder: &mut Decoder, chunk: &ChunkRef, stored: Option<&[u8]>) -> Vec<(u32, u64)> {
    let mut batches = match stored {
        Some(stored) => decoder.decode_stored(chunk, stored).unwrap(),
        None => decoder.decode(chunk).unwrap(),
    };
    let mut accesses = Vec::new();
    while let Some(batch) = batches.next_batch().unwrap() {
        accesses.extend(
            batch
                .site
                .iter()
                .map(|site| site.0)
                .zip(batch.address.iter().copied()),
        );
    }
    accesses
}

#[test]
fn a_damaged_definition_is_reported() {
    let (whole, bytes) = golden();
    let module = whole.chunks_of(ChunkKind::Module).next().unwrap();
    let start = module.offset as usize;
    let mut damaged = bytes[start..start + module.header.chunk_length() as usize].to_vec();
    damaged[CHUNK_HEADER] ^= 1;
    let mut growing = GrowingTrace::new(whole.path());
    growing.push(&module.header, &damaged);
    assert_eq!(growing.trace().damage().len(), 1);
    assert!(growing.trace().program().sites.is_empty());
}
