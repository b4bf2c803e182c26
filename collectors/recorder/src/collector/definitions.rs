//! Reads how the client of unmodified binaries describes code (`collectors/dynamorio/definitions.h`), and makes modules
//! of machine code of it.

use std::collections::HashMap;

use trackway_names::ExecutedCode;
use trackway_trace::machine::{
    Address, AddressBase, AllocationDefinition, BlockDefinition, CodeBuilder, InstructionDefinition, Operand,
    OperandAccesses, ANONYMOUS,
};
use trackway_trace::{encode_module, AccessKind, AllocationOperation, InstructionKind};

const OBJECT: u32 = 1;
const BLOCK: u32 = 2;
const NOTE: u32 = 3;

const SEGMENT_BASES: u32 = 0;
const ALLOCATED: u32 = 1;
const FREED: u32 = 2;
const REALLOCATED: u32 = 3;

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
    Block {
        object: u32,
        block: BlockDefinition,
    },
    SegmentBases,
    Allocation {
        object: u32,
        /// Offset of the call's last byte from the object's base.
        offset: u64,
        operation: AllocationOperation,
        allocator: String,
    },
}

impl Meaning {
    fn object(&self) -> u32 {
        match self {
            Meaning::Block { object, .. } | Meaning::Allocation { object, .. } => *object,
            Meaning::SegmentBases => NO_OBJECT,
        }
    }
}

/// Bytes of the descriptions of objects in a recording: more is no program's.
const MOST_OBJECT_BYTES: usize = 1 << 28;
const LONGEST_PATH: u32 = 4096;

/// The payloads of modules for all definitions of a buffer, as far as they can be read; `code` takes their blocks.
/// `object_bytes`: what all objects of the recording take.
pub fn modules_of(
    bytes: &[u8],
    objects: &mut Objects,
    code: &mut ExecutedCode,
    object_bytes: &mut usize,
) -> Vec<Vec<u8>> {
    let mut meanings = read_all(bytes, objects, object_bytes);
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
    /// Address at which the object was loaded; none for code from no file.
    base: Option<u64>,
    path: String,
    builder: CodeBuilder,
}

impl OpenModule {
    fn new(first_id: u32, meaning: &Meaning, objects: &Objects) -> Self {
        let number = meaning.object();
        let known = objects.0.get(&number).filter(|object| object.size > 0);
        let mut builder = CodeBuilder::new(PRODUCER);
        let object = builder.object(known.map_or(ANONYMOUS, |object| &object.path));
        if let Some(known) = known {
            builder.place(object, known.size);
        }
        Self {
            first_id,
            number,
            object,
            base: known.map(|known| known.base),
            path: known.map_or(ANONYMOUS, |known| &known.path).to_owned(),
            builder,
        }
    }

    fn continues(&self, id: u32, meaning: &Meaning) -> bool {
        u64::from(id) == u64::from(self.first_id) + self.builder.block_count() as u64
            && meaning.object() == self.number
    }

    /// A block that can't be leaves a hole in the ids, and its records can't be decoded.
    fn add(&mut self, meaning: &Meaning, code: &mut ExecutedCode) {
        match meaning {
            Meaning::Block { block, .. } => {
                for basic in basic_blocks(&block.instructions) {
                    code.add(&self.path, basic.iter().map(|instruction| instruction.offset));
                }
                drop(self.builder.add(block));
            }
            Meaning::SegmentBases => self.builder.add_segment_bases(self.object),
            Meaning::Allocation {
                offset,
                operation,
                allocator,
                ..
            } => {
                code.add_call(&self.path, *offset);
                self.builder.add_allocation(&AllocationDefinition {
                    object: self.object,
                    place: self.place(*offset),
                    last_byte: self.base.and_then(|_| u32::try_from(*offset).ok()).unwrap_or(0),
                    operation: *operation,
                    allocator: allocator.clone(),
                });
            }
        }
    }

    /// `libx.so+0x1234`, or the address.
    fn place(&self, offset: u64) -> String {
        match self.path.rsplit('/').next() {
            Some(name) if self.base.is_some() => format!("{name}+{offset:#x}"),
            _ => format!("{offset:#x}"),
        }
    }

    fn payload(self) -> Vec<u8> {
        encode_module(
            self.first_id,
            0,
            self.base.as_slice(),
            &self.builder.finish().table,
        )
    }
}

/// A block goes on after branches that weren't taken.
fn basic_blocks(instructions: &[InstructionDefinition]) -> impl Iterator<Item = &[InstructionDefinition]> {
    instructions.split_inclusive(|instruction| instruction.kind.ends_block())
}

fn read_all(bytes: &[u8], objects: &mut Objects, object_bytes: &mut usize) -> Vec<(u32, Meaning)> {
    let mut meanings = Vec::new();
    let mut rest = bytes;
    while let Some(length) = Fields(rest).u32().filter(|length| *length >= 8) {
        let Some((definition, behind)) = rest.split_at_checked(length as usize) else {
            break; // the process was killed while it wrote
        };
        if let Some(meaning) = read(definition, objects, object_bytes) {
            meanings.push(meaning);
        }
        rest = behind;
    }
    meanings
}

/// None for what isn't there as a whole, and for objects.
fn read(definition: &[u8], objects: &mut Objects, object_bytes: &mut usize) -> Option<(u32, Meaning)> {
    let mut fields = Fields(definition);
    let (_, kind) = (fields.u32()?, fields.u32()?);
    match kind {
        OBJECT => {
            let (number, path_length) = (fields.u32()?, fields.u32()?);
            let (base, size) = (fields.u64()?, fields.u64()?);
            let path = fields.0.get(..path_length.min(LONGEST_PATH) as usize)?;
            let path = String::from_utf8_lossy(path).into_owned();
            *object_bytes += path.len() + size_of::<Object>();
            if *object_bytes > MOST_OBJECT_BYTES {
                return None;
            }
            objects.0.insert(number, Object { path, base, size });
            None
        }
        BLOCK => {
            let (id, object) = (fields.u32()?, fields.u32()?);
            let (roots, instructions) = (fields.u32()?, fields.u32()?);
            let (repeats, _) = (fields.u32()? != 0, fields.u32()?);
            let (base, size) = objects
                .0
                .get(&object)
                .map_or((0, 0), |object| (object.base, object.size));
            let instructions = (0..instructions).map(|_| fields.instruction(base, size));
            let instructions = instructions.collect::<Option<_>>()?;
            let steps = (1..roots).map(|_| Some(fields.u64()? as i64));
            let block = BlockDefinition {
                roots,
                instructions,
                repeats: match repeats {
                    true => Some(steps.collect::<Option<_>>()?),
                    false => None,
                },
            };
            Some((id, Meaning::Block { object, block }))
        }
        NOTE => {
            let (id, kind, object, _) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
            let address = fields.u64()?;
            let name: [u8; 24] = fields.take()?;
            let operation = match kind {
                SEGMENT_BASES => return Some((id, Meaning::SegmentBases)),
                ALLOCATED => AllocationOperation::Allocate,
                FREED => AllocationOperation::Free,
                REALLOCATED => AllocationOperation::Reallocate,
                _ => return None,
            };
            let base = objects.0.get(&object).map_or(0, |object| object.base);
            let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            let meaning = Meaning::Allocation {
                object,
                offset: address.wrapping_sub(base),
                operation,
                allocator: String::from_utf8_lossy(&name[..length]).into_owned(),
            };
            Some((id, meaning))
        }
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

#[cfg(test)]
mod tests {
    use trackway_trace::table::{Operation, Table};

    use super::*;

    fn word(bytes: &mut Vec<u8>, words: &[u32]) {
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn object(number: u32, path: &str, base: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let length = (32 + path.len()).next_multiple_of(8);
        word(&mut bytes, &[length as u32, OBJECT, number, path.len() as u32]);
        bytes.extend(base.to_le_bytes());
        bytes.extend(0x1000u64.to_le_bytes());
        bytes.extend(path.as_bytes());
        bytes.resize(length, 0);
        bytes
    }

    /// A block of one instruction that stores 8 bytes at its only root + 16.
    fn block(id: u32, object: u32, address: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        word(&mut bytes, &[32 + 24 + 24, BLOCK, id, object, 1, 1, 0, 0]);
        bytes.extend(address.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend([3, 0, 1, 0, 0, 0, 0, 0]);
        bytes.extend(16u64.to_le_bytes());
        word(&mut bytes, &[8]);
        bytes.extend([1, FORM_PLAIN, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0]);
        bytes
    }

    /// First segment, object and number of segments of each module.
    fn summary(modules: &[Vec<u8>]) -> Vec<(u32, String, usize)> {
        let summary = |payload: &Vec<u8>| {
            let first = u32::from_le_bytes(payload[..4].try_into().unwrap());
            let at = payload
                .windows(8)
                .position(|bytes| bytes == b"TWTABLE\0")
                .unwrap();
            let table = Table::parse(&payload[at..]).unwrap();
            let path = table.strings[table.functions[0].linkage_name as usize].clone();
            (first, path, table.segments.len())
        };
        modules.iter().map(summary).collect()
    }

    #[test]
    fn blocks_of_one_object_with_ids_in_a_row_become_a_module() {
        let parts = [
            object(1, "/lib/a.so", 0x10000),
            block(64, 1, 0x10040),
            object(2, "/bin/b", 0x20000),
            block(128, 2, 0x20040),
            block(65, 1, 0x10050),
            block(67, 1, 0x10060),
        ];
        let mut objects = Objects::default();
        let modules = modules_of(
            &parts.concat(),
            &mut objects,
            &mut ExecutedCode::default(),
            &mut 0,
        );
        let row = |first, path: &str, count| (first, path.to_owned(), count);
        let expected = [
            row(64, "/lib/a.so", 2),
            row(67, "/lib/a.so", 1),
            row(128, "/bin/b", 1),
        ];
        assert_eq!(summary(&modules), expected);
        // Objects are described once.
        let later = modules_of(
            &block(66, 1, 0x10070),
            &mut objects,
            &mut ExecutedCode::default(),
            &mut 0,
        );
        assert_eq!(summary(&later), [row(66, "/lib/a.so", 1)]);
    }

    #[test]
    fn a_definition_that_was_cut_off_is_left_out() {
        let mut bytes = [object(1, "/lib/a.so", 0x10000), block(64, 1, 0x10040)].concat();
        let whole = bytes.len();
        bytes.extend(block(65, 1, 0x10050));
        for length in whole..bytes.len() {
            let modules = modules_of(
                &bytes[..length],
                &mut Objects::default(),
                &mut ExecutedCode::default(),
                &mut 0,
            );
            assert_eq!(summary(&modules).len(), 1);
            assert_eq!(summary(&modules)[0].2, 1);
        }
        for length in 0..whole {
            modules_of(
                &bytes[..length],
                &mut Objects::default(),
                &mut ExecutedCode::default(),
                &mut 0,
            );
        }
    }

    #[test]
    fn addresses_follow_from_roots() {
        let bytes = block(64, 0, 0x10040);
        let (_, meaning) = read(&bytes, &mut Objects::default(), &mut 0).unwrap();
        let Meaning::Block { block, .. } = meaning else {
            panic!("it is a block");
        };
        assert_eq!(block.instructions[0].offset, 0x10040);
        let mut builder = CodeBuilder::new("test");
        builder.object(ANONYMOUS);
        builder.add(&block).unwrap();
        let operations = &builder.finish().table.segments[0].operations;
        assert!(matches!(operations[0], Operation::Root { .. }));
        let Operation::Access { address, .. } = &operations[1] else {
            panic!("it is an access");
        };
        assert_eq!((address.constant, address.terms[0].scale), (16, 1));
    }
}
