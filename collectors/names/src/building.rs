//! Putting the names of all objects together, each string, place and operand once.

use foldhash::{HashMap, HashSet, HashSetExt};
use trackway_trace::table::{
    CodeNames, InstructionNames, ObjectNames, OperandName, TableChecksum, TableLocation,
};
use trackway_trace::{SourceChecksum, VariableKind};

/// A place in the source within a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Linkage name.
    pub function: String,
    pub file: String,
    /// 0: unknown.
    pub line: u32,
    pub column: u32,
}

/// What an access goes to, in words; all empty if unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Referred {
    pub variable: String,
    pub variable_kind: VariableKind,
    pub object_type: String,
    pub field: String,
    pub value_type: String,
}

pub struct NamesBuilder {
    names: CodeNames,
    strings: HashMap<String, u32>,
    locations: HashMap<TableLocation, u32>,
    operands: HashMap<OperandName, u32>,
    checksums: HashSet<(u32, SourceChecksum)>,
}

impl Default for NamesBuilder {
    fn default() -> Self {
        let names = CodeNames {
            strings: vec![String::new()],
            locations: vec![TableLocation::default()],
            operands: vec![OperandName::default()],
            ..CodeNames::default()
        };
        NamesBuilder {
            names,
            strings: [(String::new(), 0)].into_iter().collect(),
            locations: [(TableLocation::default(), 0)].into_iter().collect(),
            operands: [(OperandName::default(), 0)].into_iter().collect(),
            checksums: HashSet::new(),
        }
    }
}

impl NamesBuilder {
    /// Begins an object's names.
    pub fn object(&mut self, path: &str) -> ObjectBuilder<'_> {
        let path = self.string(path);
        ObjectBuilder {
            object: ObjectNames {
                path,
                instructions: Vec::new(),
            },
            all: self,
        }
    }

    pub fn finish(self) -> CodeNames {
        self.names
    }

    /// The checksum of a file by MD5, if anything is named after the file.
    pub fn checksum(&mut self, file: &str, digest: [u8; 16]) {
        let checksum = SourceChecksum::Md5(digest);
        if let Some(&file) = self.strings.get(file) {
            if self.checksums.insert((file, checksum)) {
                let entry = TableChecksum { file, checksum };
                self.names.source_checksums.push(entry);
            }
        }
    }

    fn string(&mut self, text: &str) -> u32 {
        if let Some(index) = self.strings.get(text) {
            return *index;
        }
        let index = self.names.strings.len() as u32;
        self.names.strings.push(text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn location(&mut self, location: TableLocation) -> u32 {
        let locations = &mut self.names.locations;
        *self.locations.entry(location).or_insert_with_key(|location| {
            locations.push(location.clone());
            locations.len() as u32 - 1
        })
    }

    /// The place of the first frame, which is inlined into those after it.
    pub fn place(&mut self, frames: &[Frame]) -> u32 {
        let mut parent = None;
        for frame in frames.iter().rev() {
            let location = TableLocation {
                function: self.string(&frame.function),
                file: self.string(&frame.file),
                line: frame.line,
                column: frame.column,
                parent,
            };
            parent = Some(self.location(location)).filter(|index| *index != 0);
        }
        parent.unwrap_or(0)
    }

    /// Whether the function is known, but not the line.
    pub fn lacks_line(&self, location: u32) -> bool {
        location != 0 && self.names.locations[location as usize].line == 0
    }

    /// The location on the line of another one, if that is known and of the same function.
    pub fn with_line_of(&mut self, location: u32, near: u32) -> Option<u32> {
        let (mine, theirs) = (
            &self.names.locations[location as usize],
            &self.names.locations[near as usize],
        );
        let fits = theirs.line > 0 && theirs.function == mine.function;
        let merged = TableLocation {
            file: theirs.file,
            line: theirs.line,
            column: 0,
            ..mine.clone()
        };
        fits.then(|| self.location(merged))
    }

    fn operand(&mut self, referred: &Referred) -> u32 {
        let name = OperandName {
            variable: self.string(&referred.variable),
            variable_kind: referred.variable_kind,
            object_type: self.string(&referred.object_type),
            field: self.string(&referred.field),
            value_type: self.string(&referred.value_type),
        };
        let operands = &mut self.names.operands;
        *self.operands.entry(name).or_insert_with(|| {
            operands.push(name);
            operands.len() as u32 - 1
        })
    }
}

/// Takes the instructions of an object in the order of their offsets.
pub struct ObjectBuilder<'b> {
    object: ObjectNames,
    all: &'b mut NamesBuilder,
}

impl ObjectBuilder<'_> {
    /// Adds an instruction's names; one of which nothing is known is left out.
    pub fn add(&mut self, offset: u64, location: u32, read: &Referred, written: &Referred) {
        let instruction = InstructionNames {
            offset,
            location,
            read: self.all.operand(read),
            written: self.all.operand(written),
        };
        let nothing = InstructionNames {
            offset,
            ..InstructionNames::default()
        };
        if instruction != nothing {
            self.object.instructions.push(instruction);
        }
    }

    pub fn finish(self) {
        self.all.names.objects.push(self.object);
    }
}
