//! The operations of a block's record: roots, accesses, and loops of those that are repeated.

use super::definitions::{Address, AddressBase, Operand, OperandAccesses};
use crate::table::{Encoding, Expression, Operation, Term, SEEN_REGISTERS};

pub const ENCODING: Encoding = Encoding {
    width: 8,
    signed: false,
};
/// Registers of the stream that hold the thread's segment bases.
pub const FS_BASE: u32 = 0;
pub const GS_BASE: u32 = 1;

pub fn root(root: u32) -> Operation {
    Operation::Root {
        register: SEEN_REGISTERS + root,
        encoding: ENCODING,
    }
}

/// The further executions of a block that makes these accesses.
pub fn again(steps: &[i64], roots: u32, accesses: &[Operation]) -> Result<Operation, &'static str> {
    if steps.len() as u32 + 1 != roots {
        return Err("it repeats, but not all of its roots have a step");
    }
    let step = |(root, step): (u32, &i64)| {
        let register = SEEN_REGISTERS + root;
        Operation::Set {
            register,
            value: Expression::register(register, *step),
        }
    };
    let moves = (0..).zip(steps).filter(|(_, step)| **step != 0).map(step);
    Ok(Operation::Loop {
        count: Expression::register(SEEN_REGISTERS + roots - 1, 0),
        body: moves.chain(accesses.iter().cloned()).collect(),
    })
}

/// What moves on with each access of a repeated instruction.
pub struct Repetition {
    register: u32,
    first: Expression,
    times: u32,
    step: Term,
}

pub struct Registers {
    pub roots: u32,
    /// The first register that isn't used yet.
    pub next: u32,
}

impl Registers {
    pub fn of_root(&self, root: u32) -> Result<u32, &'static str> {
        match root < self.roots {
            true => Ok(SEEN_REGISTERS + root),
            false => Err("an operand needs a root that there isn't"),
        }
    }

    pub fn expression(&self, address: &Address) -> Result<Expression, &'static str> {
        let term = |&(base, scale): &(AddressBase, i64)| {
            let register = match base {
                AddressBase::Root(root) => self.of_root(root)?,
                AddressBase::FsBase => FS_BASE,
                AddressBase::GsBase => GS_BASE,
            };
            Ok::<_, &'static str>(Term { register, scale })
        };
        Ok(Expression {
            symbol: None,
            constant: address.constant,
            terms: address.terms.iter().map(term).collect::<Result<_, _>>()?,
        })
    }

    pub fn access(&self, site: u32, operand: &Operand) -> Result<Operation, &'static str> {
        match &operand.accesses {
            OperandAccesses::One(address) | OperandAccesses::Repeated { first: address, .. } => {
                Ok(Operation::Access {
                    site,
                    address: self.expression(address)?,
                })
            }
            OperandAccesses::Gathered { mask, first, lanes } => {
                self.of_root(first + u32::from(*lanes) - 1)?;
                Ok(Operation::Gather {
                    site,
                    mask: self.of_root(*mask)?,
                    lanes: *lanes,
                    first_register: self.of_root(*first)?,
                })
            }
            OperandAccesses::Masked { address, mask, lanes } => Ok(Operation::Masked {
                site,
                address: self.expression(address)?,
                mask: self.of_root(*mask)?,
                lanes: *lanes,
                packed: false,
                stride: operand.size.into(),
            }),
        }
    }

    pub fn repetition(&mut self, operand: &Operand) -> Result<Option<Repetition>, &'static str> {
        let OperandAccesses::Repeated {
            first,
            times,
            direction,
        } = &operand.accesses
        else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(Repetition {
            register: self.next - 1,
            first: self.expression(first)?,
            times: self.of_root(*times)?,
            step: Term {
                register: self.of_root(*direction)?,
                scale: operand.size.into(),
            },
        }))
    }
}

/// One loop in which the repeated operands of an instruction take turns.
pub fn repetitions(repeated: Vec<(u32, Repetition)>) -> Vec<Operation> {
    let Some((_, Repetition { times, .. })) = repeated.first() else {
        return Vec::new();
    };
    let count = Expression::register(*times, 0);
    let mut operations = Vec::new();
    let mut body = Vec::new();
    for (site, repetition) in repeated {
        let register = repetition.register;
        operations.push(Operation::Set {
            register,
            value: repetition.first,
        });
        body.push(Operation::Access {
            site,
            address: Expression::register(register, 0),
        });
        let one = Term { register, scale: 1 };
        body.push(Operation::Set {
            register,
            value: Expression {
                terms: Box::new([one, repetition.step]),
                ..Expression::default()
            },
        });
    }
    operations.push(Operation::Loop { count, body });
    operations
}
