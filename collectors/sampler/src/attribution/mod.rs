//! Attributes the time of a clock's sample to an instruction and an access.

pub mod skid;

use trackway_trace::{AddressClass, Direction, WindowAccess, WindowAddress};

use crate::code::{Function, Operand, Predecessor, Rollback, Step};
use crate::registers::Registers;

/// What a sample stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// 0 if unknown.
    pub instruction: u64,
    pub direction: Direction,
    pub address: Option<u64>,
    pub class: AddressClass,
    pub size_bytes: u32,
}

/// Attributes a sample of a thread that was seen at the registers' instruction pointer. `is_successor`: the
/// instruction before that one stalls.
pub fn attribute(function: &Function, registers: &Registers, is_successor: bool) -> Attribution {
    let Some(seen) = function.index_at(registers.instruction) else {
        return Attribution::default(); // not at an instruction's begin: the program runs other code
    };
    if !is_successor {
        return at_itself(&function.steps()[seen], registers);
    }
    match function.before(seen) {
        Predecessor::Step(index) => by_predecessor(function, index, registers),
        Predecessor::Unknown => Attribution::default(),
    }
}

/// The registers are those before the instruction.
fn at_itself(step: &Step, registers: &Registers) -> Attribution {
    let of = |operand: &Operand| operand.address(|register| registers.value(register));
    let address = main_operand(step).and_then(of);
    Attribution {
        address,
        class: match address {
            Some(_) => AddressClass::Emulated,
            None => AddressClass::None,
        },
        ..described(step)
    }
}

/// The registers are those after the instruction.
fn by_predecessor(function: &Function, index: usize, registers: &Registers) -> Attribution {
    let step = &function.steps()[index];
    let block = &function.steps()[function.block_begin(index)..=index];
    let known =
        main_operand(step).and_then(|operand| Rollback::new(block, registers).operand_of_last(operand));
    let class = match known {
        None => AddressClass::None,
        Some(known) if known.is_rolled_back => AddressClass::RolledBack,
        Some(_) => AddressClass::Predecessor,
    };
    Attribution {
        address: known.map(|known| known.value),
        class,
        ..described(step)
    }
}

/// An instruction without its address.
pub fn described(step: &Step) -> Attribution {
    let loads = step.operands.iter().any(|operand| operand.loads);
    let stores = step.operands.iter().any(|operand| operand.stores);
    Attribution {
        instruction: step.address(),
        direction: match (loads, stores) {
            (false, false) => Direction::None,
            (true, false) => Direction::Load,
            (false, true) => Direction::Store,
            (true, true) => Direction::Both,
        },
        size_bytes: main_operand(step).map_or(0, |operand| operand.size),
        ..Attribution::default()
    }
}

/// The operand that the instruction waits for: a load's if it has one, else the first.
fn main_operand(step: &Step) -> Option<&Operand> {
    let load = step.operands.iter().find(|operand| operand.loads);
    load.or(step.operands.first())
}

/// Fills in an unknown address from the instruction's next execution in the window.
pub fn complete(attribution: &mut Attribution, window: &[WindowAccess]) {
    if attribution.class != AddressClass::None || attribution.instruction == 0 {
        return;
    }
    let again = window.iter().find(|access| {
        access.instruction == attribution.instruction
            && access.known_by != WindowAddress::Unknown
            && access.is_store != attribution.direction.loads()
    });
    if let Some(access) = again {
        attribution.address = Some(access.address);
        attribution.class = AddressClass::Emulated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::InstructionInfoFactory;

    const CODE: u64 = 0x1000;
    /// 0: mov rax, [rax]; 3: mov rdx, [rbx+8]; 7: dec rcx; 10: jne 0
    const LOOP: [u8; 12] = [
        0x48, 0x8b, 0x00, 0x48, 0x8b, 0x53, 0x08, 0x48, 0xff, 0xc9, 0x75, 0xf4,
    ];

    fn seen_at(offset: u64, is_successor: bool) -> Attribution {
        let function = Function::decode(&LOOP, CODE, &mut InstructionInfoFactory::new());
        let mut registers = Registers {
            instruction: CODE + offset,
            ..Registers::default()
        };
        registers.general[0] = 0x5000;
        registers.general[3] = 0x6000;
        attribute(&function, &registers, is_successor)
    }

    #[test]
    fn time_goes_to_the_instruction_before() {
        let load = seen_at(7, true);
        assert_eq!((load.instruction, load.direction), (CODE + 3, Direction::Load));
        assert_eq!(
            (load.address, load.class),
            (Some(0x6008), AddressClass::Predecessor)
        );
        assert_eq!(load.size_bytes, 8);
        let arithmetic = seen_at(10, true);
        assert_eq!(
            (arithmetic.instruction, arithmetic.direction),
            (CODE + 7, Direction::None)
        );
    }

    #[test]
    fn a_pointer_that_was_overwritten_is_found_in_the_window() {
        let mut chase = seen_at(3, true);
        assert_eq!((chase.instruction, chase.address), (CODE, None));
        let access = WindowAccess {
            instruction: CODE,
            address: 0x5000,
            size_bytes: 8,
            is_store: false,
            known_by: WindowAddress::MemoryReadLater,
        };
        complete(&mut chase, &[access]);
        assert_eq!(
            (chase.address, chase.class),
            (Some(0x5000), AddressClass::Emulated)
        );
        let mut other = seen_at(3, true);
        complete(
            &mut other,
            &[WindowAccess {
                is_store: true,
                ..access
            }],
        );
        assert_eq!(other.class, AddressClass::None);
    }

    #[test]
    fn without_skid_the_instruction_is_that_which_was_seen() {
        let chase = seen_at(0, false);
        assert_eq!((chase.instruction, chase.address), (CODE, Some(0x5000)));
        assert_eq!(chase.class, AddressClass::Emulated);
    }

    #[test]
    fn between_instructions_nothing_is_known() {
        assert_eq!(seen_at(1, true), Attribution::default());
    }
}
