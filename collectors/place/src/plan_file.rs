//! What the library that places allocations reads: `plan.h`.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use trackway_analysis::placement::AdvisedCall;

use crate::far_memory::FarMemory;
use crate::memkind::{self, Kind};

const MAGIC: u64 = 0x4e41_4c50_5754_0002;
/// Bytes of `struct plan`, and where the counters begin in it.
const HEADER: usize = 128;
const COUNTERS: usize = 80;
const IN_FILE: u32 = 0;
const ON_NODES: u32 = 1;
const IN_MEMKIND_FOLDER: u32 = 2;
const IN_MEMKIND: u32 = 3;
/// Bytes of a mask of nodes: the lowest bit of the first byte is node 0.
const NODE_MASK: usize = 128;

/// What came of it, of all processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub placed_blocks: u64,
    pub placed_bytes: u64,
    pub most_live_bytes: u64,
    pub full_blocks: u64,
    pub full_bytes: u64,
}

/// The plan's bytes.
///
/// # Errors
/// If a path holds a zero byte.
pub fn encode(
    memory: &FarMemory,
    capacity_bytes: u64,
    parent: u32,
    calls: &[AdvisedCall],
) -> Result<Vec<u8>, std::ffi::NulError> {
    let objects: BTreeSet<&str> = calls
        .iter()
        .flatten()
        .map(|frame| frame.object.as_str())
        .collect();
    let objects: Vec<&str> = objects.into_iter().collect();
    let number = |object: &str| objects.binary_search(&object).unwrap_or_default() as u32;
    let chain = |call: &AdvisedCall| -> Vec<(u32, u64)> {
        call.iter()
            .map(|frame| (number(&frame.object), frame.offset))
            .collect()
    };
    // In the order of their first frames.
    let chains: BTreeSet<Vec<(u32, u64)>> = calls.iter().map(chain).collect();
    let frames: usize = chains.iter().map(Vec::len).sum();
    let objects_at = HEADER;
    let chains_at = objects_at + objects.len() * 8;
    let frames_at = chains_at + chains.len() * 8;
    let texts_at = frames_at + frames * 16;
    let mut texts = Texts::from(texts_at);
    let paths: Vec<u64> = objects
        .iter()
        .map(|path| texts.add(path.as_bytes()))
        .collect::<Result<_, _>>()?;
    let (kind, place) = match memory {
        FarMemory::File(path) => (IN_FILE, texts.add(path.as_os_str().as_bytes())?),
        FarMemory::Nodes(nodes) => (ON_NODES, texts.add_bytes(&node_mask(nodes))),
        FarMemory::Memkind(Kind::Folder(folder)) => {
            (IN_MEMKIND_FOLDER, texts.add(folder.as_os_str().as_bytes())?)
        }
        FarMemory::Memkind(Kind::Named(name)) => (IN_MEMKIND, texts.add(memkind::variable(name).as_bytes())?),
    };
    let longest = chains.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = Vec::new();
    out.extend(MAGIC.to_le_bytes());
    out.extend([kind, 0].map(u32::to_le_bytes).concat());
    out.extend(capacity_bytes.to_le_bytes());
    let counts = [
        parent,
        objects.len() as u32,
        chains.len() as u32,
        frames as u32,
        longest as u32,
        0,
    ];
    out.extend(counts.map(u32::to_le_bytes).concat());
    out.extend(
        [objects_at as u64, chains_at as u64, frames_at as u64, place]
            .map(u64::to_le_bytes)
            .concat(),
    );
    out.resize(HEADER, 0);
    paths.iter().for_each(|path| out.extend(path.to_le_bytes()));
    let mut first = 0u32;
    for chain in &chains {
        out.extend([first, chain.len() as u32].map(u32::to_le_bytes).concat());
        first += chain.len() as u32;
    }
    for (object, offset) in chains.iter().flatten() {
        out.extend(offset.to_le_bytes());
        out.extend([*object, 0].map(u32::to_le_bytes).concat());
    }
    out.extend(texts.bytes);
    Ok(out)
}

/// Nodes that don't fit are none that a kernel has.
fn node_mask(nodes: &[u32]) -> [u8; NODE_MASK] {
    let mut mask = [0; NODE_MASK];
    for node in nodes {
        if let Some(byte) = mask.get_mut(*node as usize / 8) {
            *byte |= 1 << (node % 8);
        }
    }
    mask
}

struct Texts {
    at: usize,
    bytes: Vec<u8>,
}

impl Texts {
    fn from(at: usize) -> Self {
        Texts {
            at,
            bytes: Vec::new(),
        }
    }

    /// Where it stands in the file.
    fn add(&mut self, text: &[u8]) -> Result<u64, std::ffi::NulError> {
        Ok(self.add_bytes(&CString::new(text)?.into_bytes_with_nul()))
    }

    fn add_bytes(&mut self, bytes: &[u8]) -> u64 {
        let place = self.at + self.bytes.len();
        self.bytes.extend(bytes);
        place as u64
    }
}

impl Counters {
    pub fn read(plan: &Path) -> io::Result<Counters> {
        let mut header = [0; HEADER];
        File::open(plan)?.read_exact(&mut header)?;
        let number = |index: usize| {
            let at = COUNTERS + index * 8;
            header[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
        };
        Ok(Counters {
            placed_blocks: number(0),
            placed_bytes: number(1),
            most_live_bytes: number(2),
            full_blocks: number(3),
            full_bytes: number(4),
        })
    }
}

#[cfg(test)]
mod tests {
    use trackway_analysis::placement::AdvisedFrame;

    use super::*;

    fn frame(object: &str, offset: u64) -> AdvisedFrame {
        AdvisedFrame {
            object: object.into(),
            offset,
            build_id: String::new(),
        }
    }

    #[test]
    fn chains_stand_in_the_order_of_their_first_frames_and_once() {
        let calls = [
            vec![frame("/p", 9), frame("/l.so", 4)],
            vec![frame("/l.so", 7)],
            vec![frame("/p", 3)],
            vec![frame("/l.so", 7)],
        ];
        let plan = encode(&FarMemory::File("/far".into()), 1 << 20, 42, &calls).unwrap();
        let word = |at: usize| u64::from_le_bytes(plan[at..at + 8].try_into().unwrap());
        let half = |at: usize| u32::from_le_bytes(plan[at..at + 4].try_into().unwrap());
        let text = |at: u64| plan[at as usize..].split(|byte| *byte == 0).next().unwrap();
        assert_eq!((word(0), half(8), word(16)), (MAGIC, IN_FILE, 1 << 20));
        assert_eq!(
            [half(24), half(28), half(32), half(36), half(40)],
            [42, 2, 3, 4, 2]
        );
        let (objects, chains, frames) = (word(48) as usize, word(56) as usize, word(64) as usize);
        assert_eq!(
            (text(word(objects)), text(word(objects + 8)), text(word(72))),
            (&b"/l.so"[..], &b"/p"[..], &b"/far"[..])
        );
        let listed: Vec<(u64, u32)> = (0..4)
            .map(|at| (word(frames + at * 16), half(frames + at * 16 + 8)))
            .collect();
        assert_eq!(listed, [(7, 0), (3, 1), (9, 1), (4, 0)]);
        let spans: Vec<(u32, u32)> = (0..3)
            .map(|at| (half(chains + at * 8), half(chains + at * 8 + 4)))
            .collect();
        assert_eq!(spans, [(0, 1), (1, 1), (2, 2)]);
        assert!(encode(&FarMemory::File("a\0b".into()), 1, 1, &[]).is_err());
    }

    #[test]
    fn nodes_are_bits() {
        let plan = encode(&FarMemory::Nodes(vec![1, 9]), 4096, 1, &[]).unwrap();
        assert_eq!(plan[8..12], ON_NODES.to_le_bytes());
        assert_eq!(plan[plan.len() - NODE_MASK..][..3], [2, 2, 0]);
    }

    #[test]
    fn kinds_of_memkind_are_told_by_their_variables() {
        let kind = FarMemory::Memkind(Kind::Named("hbw-all"));
        let plan = encode(&kind, 4096, 1, &[]).unwrap();
        assert_eq!(plan[8..12], IN_MEMKIND.to_le_bytes());
        assert!(plan.ends_with(b"\0MEMKIND_HBW_ALL\0"), "{plan:?}");
    }
}
