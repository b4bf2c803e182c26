use iced_x86::InstructionInfoFactory;

use super::rollback::Known;
use super::*;
use crate::registers::Registers;

const RAX: usize = 0;
const RCX: usize = 1;
const RBX: usize = 3;

fn decode(code: &[u8]) -> Function {
    Function::decode(code, 0x1000, &mut InstructionInfoFactory::new())
}

fn registers(values: &[(usize, u64)]) -> Registers {
    let mut registers = Registers::default();
    for (register, value) in values {
        registers.general[*register] = *value;
    }
    registers
}

/// The address of the last instruction's access.
fn last_address(code: &[u8], after: &Registers) -> Option<Known> {
    let function = decode(code);
    let steps = function.steps();
    let operand = steps.last().unwrap().operands[0];
    Rollback::new(steps, after).operand_of_last(&operand)
}

fn known(value: u64, is_rolled_back: bool) -> Option<Known> {
    Some(Known {
        value,
        is_rolled_back,
    })
}

#[test]
fn operands_say_what_is_accessed() {
    let function = decode(&[
        0x48, 0x8b, 0x44, 0xcb, 0x10, // mov rax, [rbx+rcx*8+16]
        0x83, 0x00, 0x01, // add dword [rax], 1
        0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, // mov eax, [rip+16]
        0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, // mov rax, fs:[40]
        0x48, 0x8d, 0x04, 0x0b, // lea rax, [rbx+rcx]
        0x50, // push rax
        0x0f, 0x18, 0x08, // prefetcht0 [rax]
    ]);
    let operands: Vec<&[Operand]> = function.steps().iter().map(|step| &*step.operands).collect();
    let values = registers(&[(RBX, 0x100), (RCX, 2), (RAX, 0x40), (4, 0x5000)]);
    let address = |index: usize| operands[index][0].address(|register| values.value(register));
    assert_eq!((address(0), operands[0][0].size), (Some(0x120), 8));
    assert!(operands[0][0].loads && !operands[0][0].stores);
    assert_eq!((address(1), operands[1].len()), (Some(0x40), 1));
    assert!(operands[1][0].loads && operands[1][0].stores);
    assert_eq!(address(2), Some(0x100e + 16));
    assert_eq!(address(3), None);
    assert!(operands[4].is_empty() && operands[6].is_empty());
    assert_eq!((address(5), operands[5][0].stores), (Some(0x4ff8), true));
    assert!(function.steps()[5].writes(4));
}

#[test]
fn a_register_that_is_left_alone_gives_the_address() {
    // mov rax, [rbx+rcx*8]
    let after = registers(&[(RBX, 0x1000), (RCX, 3), (RAX, 77)]);
    assert_eq!(
        last_address(&[0x48, 0x8b, 0x04, 0xcb], &after),
        known(0x1018, false)
    );
}

#[test]
fn what_a_load_overwrites_is_lost_unless_something_computed_it() {
    // mov rax, [rax]
    let after = registers(&[(RAX, 77), (RBX, 0x2000)]);
    assert_eq!(last_address(&[0x48, 0x8b, 0x00], &after), None);
    // mov rax, rbx; mov rax, [rax]
    assert_eq!(
        last_address(&[0x48, 0x89, 0xd8, 0x48, 0x8b, 0x00], &after),
        known(0x2000, true)
    );
    // lea rax, [rbx+rbx*2+8]; mov rax, [rax]
    let lea = [0x48, 0x8d, 0x44, 0x5b, 0x08, 0x48, 0x8b, 0x00];
    assert_eq!(last_address(&lea, &after), known(0x6008, true));
    // mov eax, 4096; add rax, 8; mov rax, [rax]
    let constant = [0xb8, 0x00, 0x10, 0, 0, 0x48, 0x83, 0xc0, 0x08, 0x48, 0x8b, 0x00];
    assert_eq!(last_address(&constant, &after), known(0x1008, true));
}

#[test]
fn constants_that_were_added_are_taken_off() {
    // pop rbx: the stack pointer was 8 less
    assert_eq!(
        last_address(&[0x5b], &registers(&[(4, 0x5008)])),
        known(0x5000, true)
    );
    // push rbx: the store is 8 below the earlier stack pointer, which is the later one
    assert_eq!(
        last_address(&[0x53], &registers(&[(4, 0x4ff8)])),
        known(0x4ff8, true)
    );
    // lodsq: RSI moves by more than a constant as far as is known here
    assert_eq!(last_address(&[0x48, 0xad], &registers(&[(6, 8)])), None);
}

#[test]
fn the_instruction_before_is_that_of_the_only_way() {
    let function = decode(&[
        0x48, 0x8b, 0x00, // 0: mov rax, [rax]
        0xff, 0xc9, // 1: dec ecx
        0x75, 0xf9, // 2: jne 0
        0x48, 0x83, 0x3b, 0x00, // 3: cmp qword [rbx], 0
        0x74, 0x01, // 4: je 6
        0x90, // 5: nop
        0xeb, 0x00, // 6: jmp 7
        0xe8, 0, 0, 0, 0,    // 7: call 8
        0xc3, // 8: ret
    ]);
    let before = |index| function.before(index);
    assert_eq!(before(1), Predecessor::Step(0));
    // The head of the loop is entered from above and by the jump.
    assert_eq!(
        before(0),
        Predecessor::Step(1),
        "only the jump, with which the comparison is joined"
    );
    assert_eq!(before(3), Predecessor::Step(1));
    assert_eq!(before(5), Predecessor::Step(3));
    assert_eq!(before(6), Predecessor::Unknown);
    assert_eq!(before(7), Predecessor::Step(6));
    assert_eq!(before(8), Predecessor::Unknown, "what was called came before");
    assert_eq!(function.block_begin(2), 0);
    assert_eq!(
        function.block_begin(5),
        0,
        "jumps that were not taken end nothing"
    );
    assert_eq!(function.blocks(), [0..3, 3..5, 5..6, 6..7, 7..8, 8..9]);
}

#[test]
fn instructions_know_their_innermost_loop() {
    // 0: nop; 1: dec rcx; 4: jne 1; 6: dec rbx; 9: jne 0; b: ret
    let function = decode(&[
        0x90, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x48, 0xff, 0xcb, 0x75, 0xf5, 0xc3,
    ]);
    let found: Vec<Option<Loop>> = (0..6).map(|index| function.loop_around(index)).collect();
    let of = |begin, written| Some(Loop { begin, written });
    let (outer, inner) = (of(0x1000, 1 << 1 | 1 << 3), of(0x1001, 1 << 1));
    assert_eq!(found, [outer, inner, inner, outer, outer, None]);
    // 0: call 5; 5: jmp 0
    let calling = decode(&[0xe8, 0, 0, 0, 0, 0xeb, 0xf9]).loop_around(0).unwrap();
    assert_eq!(
        calling.written, 0b1111_1101_0111,
        "rsp, and what called functions may use"
    );
}
