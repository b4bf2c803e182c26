//! What a record means: the operations of its segment (`docs/format.md`, section 2.1).

use crate::table_enum::table_enum;
use crate::{Synchronisation, ValueShape};

/// Sum of a static variable's address, a constant and scaled registers, modulo 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// Index of a symbol of the table.
    pub symbol: Option<u32>,
    pub constant: i64,
    pub terms: Box<[Term]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Term {
    pub register: u32,
    pub scale: i64,
}

/// How a root stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// 1, 2, 4 or 8 bytes.
    pub width: u8,
    pub signed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The next bytes of the record become the register's value.
    Root {
        register: u32,
        encoding: Encoding,
    },
    Set {
        register: u32,
        value: Expression,
    },
    /// An access of the site's size.
    Access {
        site: u32,
        address: Expression,
    },
    /// An access of `length` bytes; none if the length is 0.
    Block {
        site: u32,
        address: Expression,
        length: Expression,
    },
    /// An access for each lane that is set in the mask; `packed`: the set lanes lie side by side.
    Masked {
        site: u32,
        address: Expression,
        mask: u32,
        lanes: u8,
        packed: bool,
        stride: u64,
    },
    /// An access for each lane that is set in the mask, at the address in its own register.
    Gather {
        site: u32,
        mask: u32,
        lanes: u8,
        first_register: u32,
    },
    Allocate {
        site: u32,
        block: Box<AllocatedBlock>,
    },
    Free {
        site: u32,
        address: Expression,
    },
    Reallocate {
        site: u32,
        old: Expression,
        block: Box<AllocatedBlock>,
    },
    Enter,
    Exit,
    /// A point of the order between threads.
    Order {
        synchronisation: Synchronisation,
        /// Index of a location of the table.
        location: u32,
        address: Expression,
        /// Time in ticks of the trace's clock.
        stamp: Expression,
    },
    /// From here on the thread is in so many regions, of which the last one has that name; in the others as before.
    Region {
        depth: Expression,
        /// Hash of the name.
        name: Expression,
    },
    /// What the access before it loaded or stored; of masked accesses, what each lane did.
    Value {
        shape: ValueShape,
        /// As many expressions as the shape has words.
        words: Box<[Expression]>,
    },
    /// The body's operations, `count` times in turn.
    Loop {
        count: Expression,
        /// Operations without roots and events.
        body: Vec<Operation>,
    },
}

/// What an allocator returned and was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatedBlock {
    pub address: Expression,
    /// Bytes.
    pub element_size: Expression,
    pub count: Expression,
}

table_enum! {
    /// The byte that names each operation in the table.
    OperationCode {
        Root = 1 "root",
        Set = 2 "set",
        Access = 3 "access",
        Block = 4 "block",
        Masked = 5 "masked",
        Gather = 6 "gather",
        Allocate = 7 "allocate",
        Free = 8 "free",
        Reallocate = 9 "reallocate",
        Enter = 10 "enter",
        Exit = 11 "exit",
        Loop = 12 "loop",
        Value = 13 "value",
        Order = 14 "order",
        Region = 15 "region",
    }
}

/// Bit of a root's encoding.
pub(super) const SIGN_BIT: u8 = 1 << 4;
/// Bit of the flags of a masked access.
pub(super) const PACKED_BIT: u8 = 1;

impl Operation {
    /// Accesses and events for which the operation stands at most; a loop's body counts once.
    pub fn max_events(&self) -> u64 {
        match self {
            Operation::Root { .. } | Operation::Set { .. } | Operation::Value { .. } => 0,
            Operation::Loop { body, .. } => body.iter().map(Operation::max_events).sum(),
            Operation::Masked { lanes, .. } | Operation::Gather { lanes, .. } => u64::from(*lanes),
            _ => 1,
        }
    }

    /// Loops that the operation holds, itself among them.
    pub fn loop_count(&self) -> u64 {
        match self {
            Operation::Loop { body, .. } => 1 + body.iter().map(Operation::loop_count).sum::<u64>(),
            _ => 0,
        }
    }

    /// Whether a loop's body may hold it.
    pub fn may_repeat(&self) -> bool {
        matches!(
            self,
            Operation::Set { .. }
                | Operation::Access { .. }
                | Operation::Block { .. }
                | Operation::Masked { .. }
                | Operation::Gather { .. }
                | Operation::Value { .. }
                | Operation::Loop { .. }
        )
    }
}

impl Expression {
    /// A register plus a constant.
    pub fn register(register: u32, constant: i64) -> Self {
        Expression {
            symbol: None,
            constant,
            terms: Box::new([Term { register, scale: 1 }]),
        }
    }

    pub fn constant(constant: i64) -> Self {
        Expression {
            constant,
            ..Expression::default()
        }
    }

    /// The address of a static variable plus a constant.
    pub fn symbol(symbol: u32, constant: i64) -> Self {
        Expression {
            symbol: Some(symbol),
            constant,
            terms: Box::default(),
        }
    }
}
