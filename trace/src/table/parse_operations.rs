//! A segment's operations.

use super::operation::{OperationCode, PACKED_BIT, SIGN_BIT};
use super::parse::{Extent, Parser};
use super::*;
use crate::{Synchronisation, ValueForm, ValueShape, MAX_VALUE_BITS};

type Result<T> = std::result::Result<T, TableError>;

/// Operations for which there is room before the first one is read.
const MOST_EXPECTED_OPERATIONS: usize = 64;

impl Parser<'_> {
    fn register(&mut self, registers: u32) -> Result<u32> {
        self.cursor.below(registers as usize, "register")
    }

    fn expression(&mut self, registers: u32) -> Result<Expression> {
        let head = self.cursor.varint("expression")?;
        let symbol = match head & 1 {
            0 => None,
            _ => Some(self.cursor.below(self.lengths.symbols, "symbol")?),
        };
        let constant = self.cursor.svarint("constant")?;
        let terms = head >> 1;
        if terms > (self.cursor.remaining() / 2) as u64 {
            return self.cursor.error(format!(
                "an expression of {terms} terms, more than the table has room for"
            ));
        }
        let terms = match self.extent {
            Extent::Whole => (0..terms).map(|_| self.term(registers)).collect::<Result<_>>()?,
            // Memory for what is dropped at once would take as long as reading it.
            Extent::Records => {
                for _ in 0..terms {
                    self.term(registers)?;
                }
                Box::default()
            }
        };
        Ok(Expression {
            symbol,
            constant,
            terms,
        })
    }

    fn term(&mut self, registers: u32) -> Result<Term> {
        Ok(Term {
            register: self.register(registers)?,
            scale: self.cursor.svarint("scale")?,
        })
    }

    fn site_index(&mut self) -> Result<u32> {
        self.cursor.below(self.lengths.sites, "site")
    }

    fn allocation_site_index(&mut self) -> Result<u32> {
        self.cursor
            .below(self.lengths.allocation_sites, "allocation site")
    }

    pub(super) fn operations(&mut self, registers: u32) -> Result<Vec<Operation>> {
        let count = self.cursor.count(1, "operations")?;
        let mut operations = Vec::with_capacity(count.min(MOST_EXPECTED_OPERATIONS));
        for _ in 0..count {
            operations.push(self.operation(registers)?);
        }
        self.check_values(&operations)?;
        Ok(operations)
    }

    /// Reads operations and keeps the roots, which stand outside of loops.
    pub(super) fn roots(&mut self, registers: u32) -> Result<Vec<Operation>> {
        for _ in 0..self.cursor.count(1, "operations")? {
            let operation = self.operation(registers)?;
            if matches!(operation, Operation::Root { .. }) {
                self.roots.push(operation);
            }
        }
        // As long as there are roots: most segments have one or two.
        Ok(self.roots.drain(..).collect())
    }

    /// A value stands after its access, and no other access between.
    fn check_values(&self, operations: &[Operation]) -> Result<()> {
        let mut lanes_of_access = None;
        for operation in operations {
            match operation {
                Operation::Access { .. } => lanes_of_access = Some(None),
                Operation::Masked { lanes, .. } | Operation::Gather { lanes, .. } => {
                    lanes_of_access = Some(Some(u32::from(*lanes)));
                }
                Operation::Value { shape, .. } => match lanes_of_access.take() {
                    None => return self.cursor.error("a value that belongs to no access"),
                    Some(Some(lanes)) if lanes != shape.lanes => {
                        return self.cursor.error(format!(
                            "a value of {} lanes of an access of {lanes}",
                            shape.lanes
                        ));
                    }
                    Some(_) => {}
                },
                Operation::Block { .. } | Operation::Loop { .. } => lanes_of_access = None,
                _ => {}
            }
        }
        Ok(())
    }

    fn operation(&mut self, registers: u32) -> Result<Operation> {
        let byte = self.cursor.u8("operation")?;
        let Some(code) = OperationCode::from_byte(byte) else {
            return self.cursor.error(format!("unknown operation {byte}"));
        };
        Ok(match code {
            OperationCode::Root => Operation::Root {
                register: self.register(registers)?,
                encoding: self.encoding()?,
            },
            OperationCode::Set => Operation::Set {
                register: self.register(registers)?,
                value: self.expression(registers)?,
            },
            OperationCode::Access => Operation::Access {
                site: self.site_index()?,
                address: self.expression(registers)?,
            },
            OperationCode::Block => Operation::Block {
                site: self.site_index()?,
                address: self.expression(registers)?,
                length: self.expression(registers)?,
            },
            OperationCode::Masked => self.masked(registers)?,
            OperationCode::Gather => self.gather(registers)?,
            OperationCode::Allocate => Operation::Allocate {
                site: self.allocation_site_index()?,
                block: self.block(registers)?,
            },
            OperationCode::Free => Operation::Free {
                site: self.allocation_site_index()?,
                address: self.expression(registers)?,
            },
            OperationCode::Reallocate => Operation::Reallocate {
                site: self.allocation_site_index()?,
                old: self.expression(registers)?,
                block: self.block(registers)?,
            },
            OperationCode::Enter => Operation::Enter,
            OperationCode::Exit => Operation::Exit,
            OperationCode::Loop => self.repetition(registers)?,
            OperationCode::Value => self.recorded_value(registers)?,
            OperationCode::Order => self.order(registers)?,
            OperationCode::Region => Operation::Region {
                depth: self.expression(registers)?,
                name: self.expression(registers)?,
            },
        })
    }

    fn order(&mut self, registers: u32) -> Result<Operation> {
        let byte = self.cursor.u8("kind of a synchronisation")?;
        let Some(synchronisation) = Synchronisation::from_byte(byte) else {
            return self
                .cursor
                .error(format!("unknown kind {byte} of a synchronisation"));
        };
        Ok(Operation::Order {
            synchronisation,
            location: self.cursor.below(self.lengths.locations, "location")?,
            address: self.expression(registers)?,
            stamp: self.expression(registers)?,
        })
    }

    fn recorded_value(&mut self, registers: u32) -> Result<Operation> {
        let byte = self.cursor.u8("form of a value")?;
        let Some(form) = ValueForm::from_byte(byte) else {
            return self.cursor.error(format!("unknown form {byte} of a value"));
        };
        let bits = self.cursor.varint("bits of a value")?;
        let lanes = self.cursor.varint("lanes of a value")?;
        let total = bits.checked_mul(lanes).unwrap_or(0);
        if total == 0 || total > u64::from(MAX_VALUE_BITS) {
            return self.cursor.error(format!(
                "a value of {lanes} × {bits} bits, where 1 to {MAX_VALUE_BITS} are possible"
            ));
        }
        let shape = ValueShape {
            form,
            bits: bits as u32,
            lanes: lanes as u32,
        };
        let words = (0..shape.word_count()).map(|_| self.expression(registers));
        Ok(Operation::Value {
            shape,
            words: words.collect::<Result<_>>()?,
        })
    }

    fn repetition(&mut self, registers: u32) -> Result<Operation> {
        if self.loop_depth == MAX_LOOP_DEPTH {
            return self
                .cursor
                .error(format!("more than {MAX_LOOP_DEPTH} loops within each other"));
        }
        let count = self.expression(registers)?;
        self.loop_depth += 1;
        let body = self.operations(registers)?;
        self.loop_depth -= 1;
        if !body.iter().all(Operation::may_repeat) {
            return self.cursor.error("a loop around a root or an event");
        }
        Ok(Operation::Loop { count, body })
    }

    fn block(&mut self, registers: u32) -> Result<Box<AllocatedBlock>> {
        Ok(Box::new(AllocatedBlock {
            address: self.expression(registers)?,
            element_size: self.expression(registers)?,
            count: self.expression(registers)?,
        }))
    }

    fn encoding(&mut self) -> Result<Encoding> {
        let byte = self.cursor.u8("encoding of a root")?;
        let width = byte & !SIGN_BIT;
        if !matches!(width, 1 | 2 | 4 | 8) {
            return self.cursor.error(format!("unknown encoding {byte} of a root"));
        }
        Ok(Encoding {
            width,
            signed: byte & SIGN_BIT != 0,
        })
    }

    fn lanes(&mut self) -> Result<u8> {
        let lanes = self.cursor.u8("number of lanes")?;
        if lanes == 0 || lanes > MAX_LANES {
            return self
                .cursor
                .error(format!("{lanes} lanes, where 1 to {MAX_LANES} are possible"));
        }
        Ok(lanes)
    }

    fn masked(&mut self, registers: u32) -> Result<Operation> {
        let site = self.site_index()?;
        let address = self.expression(registers)?;
        let mask = self.register(registers)?;
        let lanes = self.lanes()?;
        let flags = self.cursor.u8("flags of a masked access")?;
        if flags & !PACKED_BIT != 0 {
            return self
                .cursor
                .error(format!("unknown flags {flags} of a masked access"));
        }
        let stride = self.cursor.varint("lane stride")?;
        Ok(Operation::Masked {
            site,
            address,
            mask,
            lanes,
            packed: flags & PACKED_BIT != 0,
            stride,
        })
    }

    fn gather(&mut self, registers: u32) -> Result<Operation> {
        let site = self.site_index()?;
        let mask = self.register(registers)?;
        let lanes = self.lanes()?;
        let first_register = self.register(registers)?;
        // The lanes' registers follow each other among those of all functions, too.
        let end = first_register + u32::from(lanes);
        let are_own = first_register >= SEEN_REGISTERS && end <= registers;
        let are_seen = end <= registers.min(SEEN_REGISTERS) && self.window + end <= STREAM_REGISTERS;
        if !are_own && !are_seen {
            return self.cursor.error(format!(
                "lanes up to register {first_register} + {lanes} of {registers}"
            ));
        }
        Ok(Operation::Gather {
            site,
            mask,
            lanes,
            first_register,
        })
    }
}
