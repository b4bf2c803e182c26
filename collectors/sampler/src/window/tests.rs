use std::collections::HashMap;

use iced_x86::InstructionInfoFactory;
use trackway_trace::WindowAddress;

use super::*;

const CODE: u64 = 0x1000;
const DATA: u64 = 0x10_0000;
const STACK: u64 = 0x7000_0000;

/// Blocks of memory by their addresses.
#[derive(Clone, Default)]
struct Pages(HashMap<u64, u8>);

impl Pages {
    fn with(mut self, address: u64, word: u64) -> Self {
        for (index, byte) in (0..).zip(word.to_le_bytes()) {
            self.0.insert(address + index, byte);
        }
        self
    }
}

impl MemorySource for Pages {
    fn is_late(&self) -> bool {
        true
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let is_mapped =
            (DATA..DATA + 0x1_0000).contains(&address) || (STACK - 0x1000..STACK + 0x1000).contains(&address);
        for (at, byte) in (address..).zip(bytes) {
            *byte = self.0.get(&at).copied().unwrap_or(0);
        }
        is_mapped
    }
}

/// RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI.
fn run(code: &[u8], general: [u64; 8], pages: Pages, limit: u32) -> Window {
    let mut registers = Registers {
        instruction: CODE,
        ..Registers::default()
    };
    registers.general[..8].copy_from_slice(&general);
    let function = Rc::new(Function::decode(code, CODE, &mut InstructionInfoFactory::new()));
    let end = CODE + code.len() as u64;
    let mut memory = Memory::new(pages);
    let mut directions = Directions::default();
    look_ahead(
        &registers,
        limit,
        &mut memory,
        &mut directions,
        &mut Unobserved,
        |address| (CODE..end).contains(&address).then(|| Rc::clone(&function)),
    )
}

fn addresses(window: &Window) -> Vec<(u64, bool)> {
    let accesses = window.accesses.iter();
    accesses.map(|access| (access.address, access.is_store)).collect()
}

#[test]
fn a_chase_follows_the_memory() {
    // 0: mov rax, [rax]; jmp 0
    let chase = [0x48, 0x8b, 0x00, 0xeb, 0xfb];
    let pages = Pages::default()
        .with(DATA, DATA + 0x800)
        .with(DATA + 0x800, DATA + 0x40);
    let window = run(&chase, [DATA, 0, 0, 0, STACK, 0, 0, 0], pages, 6);
    let seen = [(DATA, false), (DATA + 0x800, false), (DATA + 0x40, false)];
    assert_eq!(addresses(&window), seen);
    assert_eq!((window.instructions, window.end), (6, WindowEnd::Full));
    let known: Vec<WindowAddress> = window.accesses.iter().map(|access| access.known_by).collect();
    assert_eq!(known[0], WindowAddress::Registers);
    assert_eq!(known[1], WindowAddress::MemoryReadLater);
}

#[test]
fn a_counted_loop_ends_where_the_program_does() {
    // 0: add [rbx+rcx*8], rdx; dec rcx; jne 0; ret
    let sum = [0x48, 0x01, 0x14, 0xcb, 0x48, 0xff, 0xc9, 0x75, 0xf7, 0xc3];
    let window = run(&sum, [0, 3, 5, DATA, STACK, 0, 0, 0], Pages::default(), 100);
    let mut expected: Vec<(u64, bool)> = [24, 16, 8]
        .into_iter()
        .flat_map(|offset| [(DATA + offset, false), (DATA + offset, true)])
        .collect();
    expected.push((STACK, false));
    assert_eq!(addresses(&window), expected);
    assert_eq!((window.instructions, window.end), (10, WindowEnd::Unreadable));
}

#[test]
fn stores_of_the_window_hide_memory() {
    // mov [rbx], rcx; mov rax, [rbx]; mov rdx, [rax]
    let code = [0x48, 0x89, 0x0b, 0x48, 0x8b, 0x03, 0x48, 0x8b, 0x10];
    let pages = Pages::default().with(DATA, 0xdead);
    let window = run(&code, [0, DATA + 64, 0, DATA, STACK, 0, 0, 0], pages, 3);
    assert_eq!(
        addresses(&window),
        [(DATA, true), (DATA, false), (DATA + 64, false)]
    );
    assert!(window
        .accesses
        .iter()
        .all(|access| access.known_by == WindowAddress::Registers));
}

#[test]
fn calls_come_back() {
    // call 6; ret-address: hlt would follow. 0: call 7; 5: jmp 9; 7: push rbx; pop rax; 9: ret
    let code = [
        0xe8, 0x02, 0, 0, 0, 0xeb, 0x03, 0x53, 0x58, 0xc3, 0x48, 0x8b, 0x00,
    ];
    let window = run(&code, [0, 0, 0, DATA, STACK, 0, 0, 0], Pages::default(), 6);
    let expected = [
        (STACK - 8, true),
        (STACK - 16, true),
        (STACK - 16, false),
        (STACK - 8, false),
        (DATA, false),
    ];
    assert_eq!(addresses(&window), expected);
}

#[test]
fn what_depends_on_vectors_is_unknown() {
    // movq rax, xmm0; mov rcx, [rax]; test rax, rax; jne 0
    let code = [
        0x66, 0x48, 0x0f, 0x7e, 0xc0, 0x48, 0x8b, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf3,
    ];
    let window = run(&code, [DATA, 0, 0, 0, STACK, 0, 0, 0], Pages::default(), 9);
    assert_eq!((window.instructions, window.end), (3, WindowEnd::Unknown));
    assert_eq!(window.accesses[0].known_by, WindowAddress::Unknown);
}

#[test]
fn copies_are_one_access_of_each_kind() {
    // rep movsq; mov rax, [rdi-8]; syscall
    let code = [0xf3, 0x48, 0xa5, 0x48, 0x8b, 0x47, 0xf8, 0x0f, 0x05];
    let window = run(
        &code,
        [0, 4, 0, 0, STACK, 0, DATA, DATA + 512],
        Pages::default(),
        9,
    );
    assert_eq!(window.end, WindowEnd::SystemCall);
    let sizes: Vec<u32> = window.accesses.iter().map(|access| access.size_bytes).collect();
    assert_eq!(sizes, [32, 32, 8]);
    let seen = [(DATA, false), (DATA + 512, true), (DATA + 512 + 24, false)];
    assert_eq!(addresses(&window), seen);
}

#[test]
fn a_check_of_the_stacks_guard_holds() {
    // mov rax, [rsp+8]; sub rax, fs:[40]; jne 18; mov rax, [rbx]; 18: nop
    let code = [
        0x48, 0x8b, 0x44, 0x24, 0x08, 0x64, 0x48, 0x2b, 0x04, 0x25, 0x28, 0, 0, 0, 0x75, 0x03, 0x48, 0x8b,
        0x03, 0x90,
    ];
    let window = run(&code, [0, 0, 0, DATA, STACK, 0, 0, 0], Pages::default(), 4);
    assert_eq!(window.end, WindowEnd::Full);
    assert_eq!(window.accesses[1].known_by, WindowAddress::Unknown);
    assert_eq!(addresses(&window)[2], (DATA, false));
}

#[test]
fn memory_that_cannot_be_read_is_unknown() {
    // mov rax, [rbx]; mov rcx, [rax]
    let code = [0x48, 0x8b, 0x03, 0x48, 0x8b, 0x08];
    let window = run(&code, [0, 0, 0, 0x50, STACK, 0, 0, 0], Pages::default(), 2);
    assert_eq!(addresses(&window), [(0x50, false), (0, false)]);
    assert_eq!(window.accesses[1].known_by, WindowAddress::Unknown);
}

#[test]
fn an_exchange_that_rests_on_late_memory_succeeds() {
    // lock cmpxchg [rbx], edx; jne +2; mov [rcx], eax; mov [rsi], eax
    let exchange = [0xf0, 0x0f, 0xb1, 0x13, 0x75, 0x02, 0x89, 0x01, 0x89, 0x06];
    let general = [7, DATA + 8, 5, DATA, STACK, 0, DATA + 16, 0];
    // By now another value stands there.
    let window = run(&exchange, general, Pages::default().with(DATA, 9), 4);
    assert_eq!(addresses(&window).last(), Some(&(DATA + 16, true)));
    assert_eq!(window.instructions, 4);
    assert!(addresses(&window).contains(&(DATA + 8, true)));
}

#[test]
fn an_exchange_with_a_known_other_value_fails() {
    // mov dword [rbx], 9; lock cmpxchg [rbx], edx; jne +2; mov [rcx], eax; mov [rsi+rax], eax
    let exchange = [
        0xc7, 0x03, 9, 0, 0, 0, 0xf0, 0x0f, 0xb1, 0x13, 0x75, 0x02, 0x89, 0x01, 0x89, 0x04, 0x06,
    ];
    let general = [7, DATA + 8, 5, DATA, STACK, 0, DATA + 16, 0];
    let window = run(&exchange, general, Pages::default(), 4);
    assert_eq!(addresses(&window).last(), Some(&(DATA + 25, true)));
}

#[test]
fn structures_are_copied_through_vector_registers() {
    // movups xmm0, [rbx]; movups [rcx], xmm0; mov rax, [rcx+8]; mov rdx, [rax]
    let copy = [
        0x0f, 0x10, 0x03, 0x0f, 0x11, 0x01, 0x48, 0x8b, 0x41, 0x08, 0x48, 0x8b, 0x10,
    ];
    let pages = Pages::default().with(DATA + 8, DATA + 0x100);
    let window = run(&copy, [0, DATA + 32, 0, DATA, STACK, 0, 0, 0], pages, 4);
    let last = window.accesses.last().unwrap();
    assert_eq!(
        (last.address, last.known_by),
        (DATA + 0x100, WindowAddress::MemoryReadLater)
    );
}

#[test]
fn what_is_computed_in_vector_registers_is_unknown() {
    // movups xmm0, [rbx]; paddq xmm0, xmm0; movups [rcx], xmm0; mov rax, [rcx]; mov rdx, [rax]
    let add = [
        0x0f, 0x10, 0x03, 0x66, 0x0f, 0xd4, 0xc0, 0x0f, 0x11, 0x01, 0x48, 0x8b, 0x01, 0x48, 0x8b, 0x10,
    ];
    let window = run(&add, [0, DATA + 32, 0, DATA, STACK, 0, 0, 0], Pages::default(), 5);
    assert_eq!(window.accesses.last().unwrap().known_by, WindowAddress::Unknown);
}

#[test]
fn a_register_that_is_cleared_is_known() {
    // pxor xmm1, xmm1; movq rax, xmm1; mov rdx, [rax+rbx]
    let clear = [
        0x66, 0x0f, 0xef, 0xc9, 0x66, 0x48, 0x0f, 0x7e, 0xc8, 0x48, 0x8b, 0x14, 0x18,
    ];
    let window = run(&clear, [5, 0, 0, DATA, STACK, 0, 0, 0], Pages::default(), 3);
    assert_eq!(addresses(&window), [(DATA, false)]);
}

#[test]
fn a_wider_load_replaces_what_a_vector_register_held() {
    // movups xmm0, [rbx]; vmovdqu64 zmm0, [rsi]; movups [rcx], xmm0; mov rax, [rcx]; mov rdx, [rax]
    let wide = [
        0x0f, 0x10, 0x03, 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06, 0x0f, 0x11, 0x01, 0x48, 0x8b, 0x01, 0x48, 0x8b,
        0x10,
    ];
    let window = run(
        &wide,
        [0, DATA + 64, 0, DATA, STACK, 0, DATA + 256, 0],
        Pages::default(),
        5,
    );
    assert_eq!(window.instructions, 5);
    assert_eq!(window.accesses.last().unwrap().known_by, WindowAddress::Unknown);
}
