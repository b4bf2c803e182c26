//! The lines of addresses, through inlined functions.

use std::sync::Arc;

use addr2line::Context;
use foldhash::{HashMap, HashMapExt};

use crate::building::{Frame, NamesBuilder};
use crate::elf::{Bytes, Dwarf};
use crate::symbols::Symbols;
use crate::units::{alone, Units, UnitsWithCode};

/// The locations of all addresses, which are those of the blocks.
pub fn locate<'d>(
    dwarf: &Arc<Dwarf<'d>>,
    units: &Units<'d>,
    symbols: &Symbols,
    blocks: &[Vec<u64>],
    addresses: &[u64],
    names: &mut NamesBuilder,
) -> HashMap<u64, u32> {
    let lines = Lines::of(dwarf, units);
    let mut locations = HashMap::with_capacity(addresses.len());
    for address in addresses {
        let mut frames = lines.at(*address);
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

enum Lines<'a, 'd> {
    Unknown,
    Whole(Context<Bytes<'d>>),
    /// In the order of the headers; a damaged unit has none.
    ByUnit(&'a UnitsWithCode<'d>, Vec<Option<Context<Bytes<'d>>>>),
}

impl<'a, 'd> Lines<'a, 'd> {
    fn of(dwarf: &Arc<Dwarf<'d>>, units: &'a Units<'d>) -> Self {
        match units {
            Units::Any => Context::from_arc_dwarf(dwarf.clone()).map_or(Lines::Unknown, Lines::Whole),
            Units::These(units) => {
                let context = |header| Context::from_dwarf(alone(dwarf, header)?).ok();
                Lines::ByUnit(units, units.headers.iter().map(context).collect())
            }
        }
    }

    /// The innermost function comes first.
    fn at(&self, address: u64) -> Vec<Frame> {
        let context = match self {
            Lines::Unknown => None,
            Lines::Whole(context) => Some(context),
            Lines::ByUnit(units, contexts) => {
                let number = units.with(address);
                number.and_then(|number| contexts.get(number)?.as_ref())
            }
        };
        context
            .map(|context| frames_in(context, address))
            .unwrap_or_default()
    }
}

fn frames_in(context: &Context<Bytes>, address: u64) -> Vec<Frame> {
    let Ok(mut found) = context.find_frames(address).skip_all_loads() else {
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
