//! What the instructions of samples are called in the source.

use std::collections::HashMap;

use crate::table::{CodeNames, TableLocation};
use crate::{ChunkKind, Mappings, Sample, Trace, TraceError};

/// What is known of the code that processes had mapped.
#[derive(Debug, Default)]
pub struct CodePlaces {
    mappings: Mappings,
    names: Vec<CodeNames>,
    /// For the path of an object, its index in `names`, and its index in those names.
    objects: HashMap<String, (usize, usize)>,
}

/// An instruction's place in its object and in the source. What is unknown is empty or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodePlace<'p> {
    /// Path of the object.
    pub object: &'p str,
    /// Offset from the object's load address.
    pub offset: u64,
    /// Linkage name of the function in whose text the instruction stands.
    pub function: &'p str,
    pub file: &'p str,
    pub line: u32,
    pub column: u32,
}

impl Trace {
    /// What code is called, by all chunks of mappings and names, and what could not be read of them.
    pub fn code_places(&self) -> (CodePlaces, Vec<TraceError>) {
        let (mappings, mut damage) = self.mappings();
        let mut places = CodePlaces {
            mappings,
            ..CodePlaces::default()
        };
        let mut payload = Vec::new();
        for chunk in self.chunks_of(ChunkKind::Names) {
            // What can't be parsed was reported when the trace was opened.
            match self.read_payload(chunk, &mut payload) {
                Ok(()) => places.names.extend(CodeNames::parse(&payload).ok()),
                Err(error) => damage.push(error),
            }
        }
        for (chunk, names) in places.names.iter().enumerate() {
            for (object, entry) in names.objects.iter().enumerate() {
                let path = names.strings[entry.path as usize].clone();
                places.objects.insert(path, (chunk, object));
            }
        }
        (places, damage)
    }
}

impl CodePlaces {
    pub fn mappings(&self) -> &Mappings {
        &self.mappings
    }

    /// Place of an instruction that the thread of the sample executed. If nothing is known to be mapped there, it has
    /// the address as its offset.
    pub fn of_sample(&self, sample: &Sample, address: u64) -> CodePlace<'_> {
        let found = self.find(sample.pid, sample.time_ns, address);
        found.unwrap_or(CodePlace {
            offset: address,
            ..CodePlace::default()
        })
    }

    /// Place of an instruction of a process at a time; none if nothing was mapped there.
    pub fn find(&self, pid: u32, time_ns: u64, address: u64) -> Option<CodePlace<'_>> {
        let mapping = self.mappings.find(pid, time_ns, address)?;
        let offset = mapping.object_offset(address).unwrap_or(address);
        let place = CodePlace {
            object: &mapping.path,
            offset,
            ..CodePlace::default()
        };
        Some(self.named(place).unwrap_or(place))
    }

    fn named<'p>(&'p self, place: CodePlace<'p>) -> Option<CodePlace<'p>> {
        let (chunk, object) = *self.objects.get(place.object)?;
        let names = &self.names[chunk];
        let instructions = &names.objects[object].instructions;
        let index = instructions
            .binary_search_by_key(&place.offset, |entry| entry.offset)
            .ok()?;
        let location: &TableLocation = names.locations.get(instructions[index].location as usize)?;
        let text = |index: u32| names.strings[index as usize].as_str();
        Some(CodePlace {
            function: text(location.function),
            file: text(location.file),
            line: location.line,
            column: location.column,
            ..place
        })
    }
}
