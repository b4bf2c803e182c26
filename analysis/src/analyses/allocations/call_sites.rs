//! Frames of call stacks as places of the source.

use std::collections::HashMap;

use trackway_trace::allocations::{Stack, StackId, Stacks};
use trackway_trace::table::{CodeNames, InstructionNames, TableLocation};
use trackway_trace::{Mapping, Mappings, Trace, TraceError};

use crate::model::demangle;
use crate::UNKNOWN;

/// A place from which a function was called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name as in the source; [`UNKNOWN`] if nothing is known.
    pub function: String,
    /// Empty if unknown; then `place` is the object and the offset in it.
    pub file: String,
    pub line: u64,
    pub place: String,
}

impl Frame {
    /// `file:line`, or where the call is in its object.
    pub fn place(&self) -> String {
        match (self.file.as_str(), self.line) {
            ("", _) => self.place.clone(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }
}

/// Names the frames of stacks, each once.
pub struct CallSites {
    names: Vec<CodeNames>,
    /// Instructions by path and offset: which of the names, and what they say.
    instructions: HashMap<(String, u64), (usize, InstructionNames)>,
    mappings: Mappings,
    /// Frames by process, as the system numbers it, and return address. There are several where functions were inlined.
    frames: HashMap<(u32, u64), Vec<Frame>>,
}

impl CallSites {
    /// The names of a trace, and what could not be read of its mappings.
    pub fn new(trace: &Trace) -> (CallSites, Vec<TraceError>) {
        let (mappings, damage) = trace.mappings();
        let names = trace.code_names();
        let mut instructions = HashMap::new();
        for (index, names) in names.iter().enumerate() {
            for object in &names.objects {
                let path = &names.strings[object.path as usize];
                for entry in &object.instructions {
                    instructions.insert((path.clone(), entry.offset), (index, *entry));
                }
            }
        }
        let sites = CallSites {
            names,
            instructions,
            mappings,
            frames: HashMap::new(),
        };
        (sites, damage)
    }

    /// The innermost `most` frames of a stack of the process `pid` at that time, inlined functions among them.
    pub fn frames(
        &mut self,
        stacks: &Stacks,
        stack: StackId,
        pid: u32,
        time_ns: u64,
        most: usize,
    ) -> Vec<Frame> {
        let Stack { frames, .. } = stacks.get(stack);
        let mut named = Vec::new();
        for address in frames.iter() {
            if named.len() >= most {
                break;
            }
            named.extend_from_slice(self.frame(pid, time_ns, *address));
        }
        named.truncate(most);
        named
    }

    pub fn mappings(&self) -> &Mappings {
        &self.mappings
    }

    /// What is known of an instruction of the mapping.
    pub fn instruction(&self, mapping: &Mapping, address: u64) -> Option<(&CodeNames, InstructionNames)> {
        let key = (mapping.path.clone(), mapping.object_offset(address)?);
        let (names, instruction) = self.instructions.get(&key)?;
        Some((&self.names[*names], *instruction))
    }

    /// The functions at a return address of the process `pid`, innermost first. There are several if functions were
    /// inlined. The call lies before the return address.
    pub fn frame(&mut self, pid: u32, time_ns: u64, return_address: u64) -> &[Frame] {
        if !self.frames.contains_key(&(pid, return_address)) {
            let frames = self.name(pid, time_ns, return_address.wrapping_sub(1));
            self.frames.insert((pid, return_address), frames);
        }
        &self.frames[&(pid, return_address)]
    }

    fn name(&self, pid: u32, time_ns: u64, call: u64) -> Vec<Frame> {
        let unknown = |place| Frame {
            function: UNKNOWN.to_owned(),
            file: String::new(),
            line: 0,
            place,
        };
        let Some(mapping) = self.mappings.find(pid, time_ns, call) else {
            return vec![unknown(format!("{call:#x}"))];
        };
        let offset = mapping.object_offset(call);
        let place = match offset {
            Some(offset) => format!("{}+{offset:#x}", mapping.path),
            None => format!("{}+{:#x}", mapping.path, call - mapping.start),
        };
        let Some((names, instruction)) = self.instruction(mapping, call) else {
            return vec![unknown(place)];
        };
        let frames = inlined(names, instruction.location, &place);
        match frames.is_empty() {
            true => vec![unknown(place)],
            false => frames,
        }
    }
}

/// The functions that stand at a location, innermost first.
fn inlined(names: &CodeNames, location: u32, place: &str) -> Vec<Frame> {
    let text = |index: u32| names.strings.get(index as usize).cloned().unwrap_or_default();
    let mut frames = Vec::new();
    let mut next = location;
    while next != 0 {
        let Some(TableLocation {
            function,
            file,
            line,
            parent,
            ..
        }) = names.locations.get(next as usize)
        else {
            break;
        };
        let function = text(*function);
        frames.push(Frame {
            function: match function.as_str() {
                "" => UNKNOWN.to_owned(),
                name => demangle(name).unwrap_or(function),
            },
            file: text(*file),
            line: u64::from(*line),
            place: place.to_owned(),
        });
        next = parent.unwrap_or(0);
    }
    frames
}
