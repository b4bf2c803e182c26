//! The lines of addresses, through inlined functions.

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::Context;

use crate::building::Frame;
use crate::elf::{Bytes, Dwarf};

/// The places of all addresses, which are those of the blocks; the innermost function comes first.
pub fn places(dwarf: Arc<Dwarf>, blocks: &[Vec<u64>], addresses: &[u64]) -> HashMap<u64, Vec<Frame>> {
    let Some(lines) = Lines::of(dwarf) else {
        return HashMap::new();
    };
    let mut places: HashMap<u64, Vec<Frame>> = addresses
        .iter()
        .map(|address| (*address, lines.at(*address)))
        .collect();
    for block in blocks {
        complete(block, &mut places);
    }
    places
}

/// An instruction that the compiler made of several lines' gets the nearest line of its function in the block, and no
/// column.
fn complete(block: &[u64], places: &mut HashMap<u64, Vec<Frame>>) {
    for (index, address) in block.iter().enumerate() {
        let Some(frames) = places.get(address) else {
            continue;
        };
        let Some(first) = frames.first().filter(|first| first.line == 0) else {
            continue;
        };
        let other = |near: &usize| {
            let theirs = places.get(block.get(*near)?)?.first()?;
            (theirs.line > 0 && theirs.function == first.function).then(|| (theirs.file.clone(), theirs.line))
        };
        let distances = 1..block.len();
        let found = distances
            .flat_map(|far| [index.wrapping_sub(far), index + far])
            .find_map(|near| other(&near));
        if let (Some((file, line)), Some(first)) = (
            found,
            places.get_mut(address).and_then(|frames| frames.first_mut()),
        ) {
            (first.file, first.line, first.column) = (file, line, 0);
        }
    }
}

struct Lines<'d>(Context<Bytes<'d>>);

impl<'d> Lines<'d> {
    /// None without debugging information.
    fn of(dwarf: Arc<Dwarf<'d>>) -> Option<Self> {
        dwarf.units().next().ok().flatten()?;
        Context::from_arc_dwarf(dwarf).ok().map(Lines)
    }

    /// The innermost function comes first.
    fn at(&self, address: u64) -> Vec<Frame> {
        let Ok(mut found) = self.0.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let name = frame
                .function
                .as_ref()
                .and_then(|function| function.raw_name().ok());
            let place = frame.location.as_ref();
            frames.push(Frame {
                function: name.map(String::from).unwrap_or_default(),
                file: place.and_then(|place| place.file).unwrap_or_default().to_owned(),
                line: place.and_then(|place| place.line).unwrap_or(0),
                column: place.and_then(|place| place.column).unwrap_or(0),
            });
        }
        frames
    }
}
