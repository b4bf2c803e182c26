//! Decodes [`CodeNames`].

use super::parse::{Extent, Parser};
use super::*;

type Result<T> = std::result::Result<T, TableError>;

impl CodeNames {
    /// Reads the payload of a chunk of names.
    pub fn parse(bytes: &[u8]) -> Result<CodeNames> {
        let mut parser = Parser::new(bytes, crate::FORMAT_VERSION, Extent::Whole);
        parser.strings()?;
        parser.locations()?;
        parser.structures()?;
        let operands = parser.list(5, "operands", Parser::operand_name)?;
        if operands.first() != Some(&OperandName::default()) {
            return parser.cursor.error("operand 0 is not the unknown one");
        }
        let objects = parser.cursor.count(2, "objects")?;
        let objects = (0..objects).map(|_| parser.object_names(operands.len()));
        let objects = objects.collect::<Result<_>>()?;
        // Earlier versions ended here.
        let source_checksums = match parser.cursor.remaining() {
            0 => Vec::new(),
            _ => parser.checksums()?,
        };
        if parser.cursor.remaining() != 0 {
            let left = parser.cursor.remaining();
            return parser.cursor.error(format!("{left} bytes after the last list"));
        }
        let Table {
            strings,
            locations,
            types,
            ..
        } = parser.table;
        Ok(CodeNames {
            strings,
            locations,
            types,
            operands,
            objects,
            source_checksums,
        })
    }
}

impl Parser<'_> {
    fn operand_name(&mut self) -> Result<OperandName> {
        Ok(OperandName {
            variable: self.string()?,
            variable_kind: self.kind("kind of variable", VariableKind::from_byte)?,
            object_type: self.string()?,
            field: self.string()?,
            value_type: self.string()?,
        })
    }

    fn object_names(&mut self, operands: usize) -> Result<ObjectNames> {
        let path = self.string()?;
        let count = self.cursor.count(4, "instructions")?;
        let mut instructions = Vec::with_capacity(count);
        let mut offset = 0u64;
        for index in 0..count {
            let distance = self.cursor.varint("distance of an instruction")?;
            offset = match offset.checked_add(distance) {
                Some(next) if index == 0 || distance > 0 => next,
                _ => {
                    return self
                        .cursor
                        .error("the instructions of an object are not in order")
                }
            };
            instructions.push(InstructionNames {
                offset,
                location: self.location()?,
                read: self.cursor.below(operands, "operand")?,
                written: self.cursor.below(operands, "operand")?,
            });
        }
        Ok(ObjectNames { path, instructions })
    }
}
