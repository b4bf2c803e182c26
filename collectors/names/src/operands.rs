//! What the instructions of an object access.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use object::{Object, ObjectSegment};

use crate::debug_info::DebugInfo;
use crate::elf::{Dwarf, ElfFile, Sections};
use crate::flow::{Code, Follower};
use crate::frames::CallFrames;
use crate::instructions::Operands;
use crate::scopes::Function;
use crate::statics::Statics;
use crate::survey::Survey;
use crate::types::Types;
use crate::units::Units;

/// By address; `addresses` are those of all instructions of the blocks, sorted.
pub fn find<'d>(
    elf: &ElfFile<'d>,
    sections: &'d Sections,
    dwarf: Arc<Dwarf<'d>>,
    units: &Units<'d>,
    blocks: &[Vec<u64>],
    addresses: &[u64],
) -> HashMap<u64, Operands> {
    let info = DebugInfo::new(dwarf);
    let survey = Survey::of(&info, units, addresses);
    let types = Types::new(&info, &survey);
    let statics = Statics::of(elf);
    let segments = elf
        .object
        .segments()
        .filter_map(|segment| Some((segment.address(), segment.data().ok()?)));
    let code = Code {
        segments: segments.collect(),
        lowest_address: elf.first_address(),
    };
    let frames = CallFrames::of(elf, sections, addresses);
    let functions: Vec<Function> = survey
        .functions()
        .iter()
        .filter_map(|id| Function::read(&info, *id))
        .collect();
    let mut follower = Follower::new(&types, &statics, code, frames, &functions);
    for (function, blocks) in by_function(&functions, blocks) {
        match function {
            Some(index) => follower.follow(Some(&functions[index]), &blocks),
            // They have nothing to do with each other, and may be many.
            None => blocks.chunks(1).for_each(|block| follower.follow(None, block)),
        }
    }
    follower.found
}

/// Blocks begin in one function each, or in none that is known.
fn by_function(functions: &[Function], blocks: &[Vec<u64>]) -> HashMap<Option<usize>, Vec<Vec<u64>>> {
    let mut ranges: Vec<(u64, u64, usize)> = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        ranges.extend(
            function
                .ranges
                .iter()
                .map(|range| (range.begin, range.end, index)),
        );
    }
    ranges.sort_unstable();
    let mut found: HashMap<Option<usize>, Vec<Vec<u64>>> = HashMap::new();
    for block in blocks {
        let Some(first) = block.first() else {
            continue;
        };
        let next = ranges.partition_point(|(begin, ..)| begin <= first);
        let range = ranges[..next].last().filter(|(_, end, _)| first < end);
        found
            .entry(range.map(|(.., index)| *index))
            .or_default()
            .push(block.clone());
    }
    found
}
