//! The lines of addresses, through inlined functions.

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::Context;

use crate::building::{Frame, NamesBuilder};
use crate::elf::{Bytes, Dwarf};
use crate::symbols::Symbols;

/// The locations of all addresses, which are those of the blocks.
pub fn locate(
    dwarf: Arc<Dwarf>,
    symbols: &Symbols,
    blocks: &[Vec<u64>],
    addresses: &[u64],
    names: &mut NamesBuilder,
) -> HashMap<u64, u32> {
    let lines = Lines::of(dwarf);
    let mut locations = HashMap::with_capacity(addresses.len());
    for address in addresses {
        let mut frames = lines.as_ref().map(|lines| lines.at(*address)).unwrap_or_default();
        symbols.complete(*address, &mut frames);
        locations.insert(*address, names.place(&frames));
    }
    for block in blocks {
        complete(block, &mut locations, names);
    }
    locations
}

/// An instruction that the compiler made of several lines' gets the nearest line of its function in the block.
fn complete(block: &[u64], locations: &mut HashMap<u64, u32>, names: &mut NamesBuilder) {
    let here: Vec<u32> = block
        .iter()
        .filter_map(|address| locations.get(address).copied())
        .collect();
    for (index, location) in here.iter().enumerate() {
        if !names.lacks_line(*location) {
            continue;
        }
        let by_distance = (1..here.len()).flat_map(|far| [index.wrapping_sub(far), index + far]);
        let mut near = by_distance.filter_map(|near| here.get(near));
        if let Some(found) = near.find_map(|near| names.with_line_of(*location, *near)) {
            locations.insert(block[index], found);
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
