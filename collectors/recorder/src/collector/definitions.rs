//! What the client of unmodified binaries says of code (`collectors/dynamorio/definitions.h`), and the modules of machine
//! code that it becomes.

use std::collections::HashMap;

use trackway_names::ExecutedCode;
use trackway_trace::machine::{
    Address, AddressBase, BlockDefinition, CodeBuilder, InstructionDefinition, Operand, OperandAccesses,
    ANONYMOUS,
};
use trackway_trace::{encode_module, AccessKind, InstructionKind};

const OBJECT: u32 = 1;
const BLOCK: u32 = 2;
const NOTE: u32 = 3;

const FORM_PLAIN: u8 = 0;
const FORM_REPEATED: u8 = 1;
const FORM_GATHERED: u8 = 2;
const FORM_MASKED: u8 = 3;

const FS_BASE: u16 = 0xfffe;
const GS_BASE: u16 = 0xffff;

const PRODUCER: &str = "DynamoRIO";
/// The object of notes, which are of no file.
const NO_OBJECT: u32 = 0;

/// The objects of a process image, by their numbers.
#[derive(Default)]
pub struct Objects(HashMap<u32, Object>);

struct Object {
    path: String,
    base: u64,
    size: u64,
}

/// What an id stands for.
enum Meaning {
    Block { object: u32, block: BlockDefinition },
    SegmentBases,
}

impl Meaning {
    fn object(&self) -> u32 {
        match self {
            Meaning::Block { object, .. } => *object,
            Meaning::SegmentBases => NO_OBJECT,
        }
    }
}

/// The payloads of modules for all definitions of a buffer, as far as they can be read; `code` takes their blocks.
pub fn modules_of(bytes: &[u8], objects: &mut Objects, code: &mut ExecutedCode) -> Vec<Vec<u8>> {
    let mut meanings = read_all(bytes, objects);
    meanings.sort_by_key(|(id, _)| *id);
    let mut modules = Vec::new();
    let mut open: Option<OpenModule> = None;
    for (id, meaning) in meanings {
        if !open.as_ref().is_some_and(|module| module.continues(id, &meaning)) {
            modules.extend(open.take().map(OpenModule::payload));
        }
        let module = open.get_or_insert_with(|| OpenModule::new(id, &meaning, objects));
        module.add(&meaning, code);
    }
    modules.extend(open.map(OpenModule::payload));
    modules
}

/// A module of blocks of one object whose ids follow each other.
struct OpenModule {
    first_id: u32,
    number: u32,
    object: u32,
    path: String,
    builder: CodeBuilder,
}

impl OpenModule {
    fn new(first_id: u32, meaning: &Meaning, objects: &Objects) -> Self {
        let number = meaning.object();
        let path = objects.0.get(&number).map_or(ANONYMOUS, |object| &object.path);
        let mut builder = CodeBuilder::new(PRODUCER);
        Self {
            first_id,
            number,
            object: builder.object(path),
            path: path.to_owned(),
            builder,
        }
    }

    fn continues(&self, id: u32, meaning: &Meaning) -> bool {
        id == self.first_id + self.builder.block_count() as u32 && meaning.object() == self.number
    }

    /// A block that can't be leaves a hole in the ids, and its records can't be decoded.
    fn add(&mut self, meaning: &Meaning, code: &mut ExecutedCode) {
        match meaning {
            Meaning::Block { block, .. } => {
                let offsets = block.instructions.iter().map(|instruction| instruction.offset);
                code.add(&self.path, offsets);
                drop(self.builder.add(block));
            }
            Meaning::SegmentBases => self.builder.add_segment_bases(self.object),
        }
    }

    fn payload(self) -> Vec<u8> {
        encode_module(self.first_id, 0, &[], &self.builder.finish().table)
    }
}

fn read_all(bytes: &[u8], objects: &mut Objects) -> Vec<(u32, Meaning)> {
    let mut meanings = Vec::new();
    let mut rest = bytes;
    while let Some(length) = Fields(rest).u32().filter(|length| *length >= 8) {
        let Some((definition, behind)) = rest.split_at_checked(length as usize) else {
            break; // the process was killed while it wrote
        };
        if let Some(meaning) = read(definition, objects) {
            meanings.push(meaning);
        }
        rest = behind;
    }
    meanings
}

/// None for what isn't there as a whole, and for objects.
fn read(definition: &[u8], objects: &mut Objects) -> Option<(u32, Meaning)> {
    let mut fields = Fields(definition);
    let (_, kind) = (fields.u32()?, fields.u32()?);
    match kind {
        OBJECT => {
            let (number, path_length) = (fields.u32()?, fields.u32()?);
            let (base, size) = (fields.u64()?, fields.u64()?);
            let path = String::from_utf8_lossy(fields.0.get(..path_length as usize)?).into_owned();
            objects.0.insert(number, Object { path, base, size });
            None
        }
        BLOCK => {
            let (id, object) = (fields.u32()?, fields.u32()?);
            let (roots, instructions) = (fields.u32()?, fields.u32()?);
            let (base, size) = objects
                .0
                .get(&object)
                .map_or((0, 0), |object| (object.base, object.size));
            let instructions = (0..instructions).map(|_| fields.instruction(base, size));
            let block = BlockDefinition {
                roots,
                instructions: instructions.collect::<Option<_>>()?,
            };
            Some((id, Meaning::Block { object, block }))
        }
        NOTE => Some((fields.u32()?, Meaning::SegmentBases)),
        _ => None,
    }
}

/// Little-endian fields, one after the other.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// `struct trackway_instruction` and its accesses.
    fn instruction(&mut self, base: u64, size: u64) -> Option<InstructionDefinition> {
        let (address, target) = (self.u64()?, self.u64()?);
        let (length, kind) = (self.u8()?, InstructionKind::from_byte(self.u8()?)?);
        let (accesses, _) = (self.u16()?, self.u32()?);
        let operands = (0..accesses).map(|_| self.operand());
        Some(InstructionDefinition {
            object: 0, // of the module's, which has one
            offset: address.wrapping_sub(base),
            length,
            kind,
            target: match target.checked_sub(base) {
                Some(offset) if size == 0 || offset < size => offset,
                _ => 0,
            },
            operands: operands.collect::<Option<_>>()?,
        })
    }

    /// `struct trackway_access`.
    fn operand(&mut self) -> Option<Operand> {
        let (constant, size) = (self.u64()? as i64, self.u32()?);
        let [writes, form, lanes, terms] = self.take()?;
        let first = u32::from(self.u16()?);
        let roots = [self.u16()?, self.u16()?];
        let scales = [self.u8()? as i8, self.u8()? as i8];
        let term = |(root, scale): (u16, i8)| {
            let base = match root {
                FS_BASE => AddressBase::FsBase,
                GS_BASE => AddressBase::GsBase,
                root => AddressBase::Root(root.into()),
            };
            (base, i64::from(scale))
        };
        let address = Address {
            constant,
            terms: roots
                .into_iter()
                .zip(scales)
                .take(terms.into())
                .map(term)
                .collect(),
        };
        let accesses = match form {
            FORM_PLAIN => OperandAccesses::One(address),
            FORM_REPEATED => OperandAccesses::Repeated {
                first: address,
                times: first,
                direction: first + 1,
            },
            FORM_GATHERED => OperandAccesses::Gathered {
                mask: first,
                first: first + 1,
                lanes,
            },
            FORM_MASKED => OperandAccesses::Masked {
                address,
                mask: first,
                lanes,
            },
            _ => return None,
        };
        Some(Operand {
            kind: if writes != 0 {
                AccessKind::Store
            } else {
                AccessKind::Load
            },
            size,
            accesses,
        })
    }
}
