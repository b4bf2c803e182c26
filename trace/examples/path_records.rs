//! What records would cost if the id of a block's record stood for the path that led to it. See main.
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;

use trackway_trace::table::{Operation, Table};
use trackway_trace::{ChunkKind, Trace};
const MODULE_HEADER: usize = 40;
type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Module { first_id: u32, table: Table, block: Vec<usize> }

fn sites(operations: &[Operation], into: &mut Vec<u64>) {
    for o in operations {
        match o {
            Operation::Access { site, .. } | Operation::Block { site, .. } | Operation::Masked { site, .. } | Operation::Gather { site, .. } => into.push(u64::from(*site)),
            Operation::Loop { body, .. } => sites(body, into),
            Operation::Enter => into.push(1 << 40),
            Operation::Exit => into.push(2 << 40),
            _ => {}
        }
    }
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("usage: path_records TRACE")?;
    let trace = Trace::open(Path::new(&path))?;
    let mut payload = Vec::new();
    let mut modules = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::Module) {
        trace.read_payload(chunk, &mut payload)?;
        let number = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().expect("4 bytes"));
        let table = Table::parse(&payload[MODULE_HEADER + 8 * number(24) as usize..])?;
        let mut seen: HashMap<(u32, Vec<u64>), usize> = HashMap::new();
        let block = table.segments.iter().enumerate().map(|(n, s)| {
            let mut key = Vec::new();
            sites(&s.operations, &mut key);
            if key.is_empty() { return n }
            *seen.entry((s.function, key)).or_insert(n)
        }).collect();
        modules.push(Module { first_id: number(0), table, block });
    }
    let mut places = HashMap::new();
    for (m, module) in modules.iter().enumerate() {
        for s in 0..module.table.segments.len() { places.insert(module.first_id + s as u32, (m, s)); }
    }
    // pass 1: transitions; pass 2: paths
    let mut transitions: HashMap<(usize, usize, usize), u64> = HashMap::new();
    let mut paths: HashMap<(usize, u32), HashMap<u64, u64>> = HashMap::new();
    let (mut bytes, mut records, mut globals) = (0u64, 0u64, 0u64);
    let (mut path_records, mut path_long) = (0u64, 0u64);
    for chunk in trace.chunks_of(ChunkKind::Records) {
        trace.read_payload(chunk, &mut payload)?;
        let mut current = (usize::MAX, u32::MAX);
        let mut locals = [usize::MAX; 256];
        let mut previous: Option<usize> = None;
        let mut hash = 0u64;
        let mut at = 0;
        while at < payload.len() {
            let local = payload[at];
            let (m, s, id_bytes) = if local != 0 { (current.0, locals[local as usize], 1) } else {
                let mut id = [0; 4];
                let n = payload.len().min(at + 4) - at;
                id[..n].copy_from_slice(&payload[at..at + n]);
                match u32::from_le_bytes(id) >> 8 { 0 => break, id => { let p = places[&id]; (p.0, p.1, 4) } }
            };
            let segment = &modules[m].table.segments[s];
            if current != (m, segment.function) {
                current = (m, segment.function);
                locals = [usize::MAX; 256];
                let f = &modules[m].table.functions[segment.function as usize];
                for s in f.first_segment as usize..(f.first_segment + f.segment_count) as usize { locals[modules[m].table.segments[s].local_id as usize] = s; }
            }
            records += 1;
            if id_bytes == 4 { globals += 1; }
            let block = modules[m].block[s];
            if id_bytes == 1 { if let Some(p) = previous { *transitions.entry((m, p, block)).or_default() += 1; } }
            let continues = id_bytes == 1 && previous.is_some_and(|p| p < block);
            if !continues {
                if hash != 0 { *paths.entry(current).or_default().entry(hash).or_default() += 1; path_records += 1; }
                hash = 0;
            }
            hash = (hash.rotate_left(9) ^ (s as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            previous = Some(block);
            let length = id_bytes + segment.record_length as usize;
            bytes += length as u64;
            at += length;
        }
        path_records += 1;
    }
    for p in paths.values() { if p.len() > 255 { path_long += p.values().sum::<u64>(); } }
    // single predecessors
    let mut into: HashMap<(usize, usize), (u64, u64, usize)> = HashMap::new();
    for (&(m, a, b), &n) in &transitions { let e = into.entry((m, b)).or_default(); e.0 += n; if n > e.1 { e.1 = n; e.2 = a; } }
    let mut tree = 0u64;
    for (&(_, b), &(all, most, a)) in &into { if a < b && most as f64 >= 0.9999 * all as f64 { tree += most; } }
    let distinct: HashSet<usize> = paths.values().map(|p| p.len()).collect();
    println!("bytes {bytes} records {records} global {globals}");
    println!("extended blocks: records {:.3} bytes {:.3}", (records - tree) as f64 / records as f64, (bytes - tree) as f64 / bytes as f64);
    println!("acyclic paths:   records {:.3} bytes {:.3} (in functions with > 255 paths: {:.3}; most paths {})", path_records as f64 / records as f64, (bytes - (records - path_records) + path_long) as f64 / bytes as f64, path_long as f64 / path_records as f64, distinct.iter().max().unwrap_or(&0));
    Ok(())
}
