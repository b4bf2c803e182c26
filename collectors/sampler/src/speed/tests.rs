use iced_x86::InstructionInfoFactory;

use super::*;
use crate::window::NoMemory;

const CODE: u64 = 0x1000;
const PID: u32 = 0x7fff_ffff;
const RBX: usize = 3;
const RCX: usize = 1;

/// 0: mov ecx, 8; 5: dec rcx; jne 5; add rbx, 16; jmp 0. 19 instructions for each 16 that are added.
const NEST: [u8; 16] = [
    0xb9, 8, 0, 0, 0, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x48, 0x83, 0xc3, 0x10, 0xeb, 0xf0,
];
const INNER: u64 = CODE + 5;

fn function(code: &[u8]) -> Rc<Function> {
    Rc::new(Function::decode(code, CODE, &mut InstructionInfoFactory::new()))
}

/// Every 0.2 ms, RBX greater by `step`; RCX as it happens to be.
fn samples(count: u64, step: u64) -> Vec<PerfSample> {
    let sample = |number: u64| {
        let mut registers = Registers {
            instruction: INNER,
            ..Registers::default()
        };
        registers.general[RBX] = 0x4000 + number * step;
        registers.general[RCX] = 1 + number * number * 5 % 8;
        PerfSample {
            pid: PID,
            instruction: INNER,
            period: 200_000,
            registers: Some(registers),
            ..PerfSample::default()
        }
    };
    (0..count).map(sample).collect()
}

/// By executing; the program is `code`.
fn speed_of(speeds: &mut Speeds, code: &[u8], samples: &[PerfSample]) -> Option<u32> {
    let samples: Vec<&PerfSample> = samples.iter().collect();
    let progress = speeds.progress(&samples);
    let registers = samples.last()?.registers?;
    let function = function(code);
    let place = Place {
        pid: PID,
        begin: CODE,
    };
    speeds.by_execution(place, &registers, &progress, |address| {
        function.index_at(address).map(|_| Rc::clone(&function))
    })
}

#[test]
fn a_nest_of_loops_has_the_speed_of_its_outer_counter() {
    let mut speeds = Speeds::default();
    let samples = samples(8, 16_000);
    // 80,000 in a millisecond.
    assert_eq!(speed_of(&mut speeds, &NEST, &samples), Some(95_000));
    assert_eq!(speed_of(&mut speeds, &NEST, &samples[..4]), None, "too few");
    assert_eq!(speed_of(&mut speeds, &NEST, &samples[..6]), Some(95_000));
}

#[test]
fn a_loop_that_was_measured_is_known_again() {
    let mut speeds = Speeds::default();
    let samples = samples(8, 16_000);
    let way = || {
        let (mut way, function) = (Way::default(), function(&NEST));
        let registers = samples[7].registers.unwrap();
        let (mut memory, mut directions) = (Memory::new(NoMemory), Directions::default());
        look_ahead(&registers, 6, &mut memory, &mut directions, &mut way, |_| {
            Some(Rc::clone(&function))
        });
        way
    };
    let known = |speeds: &Speeds| {
        let samples: Vec<&PerfSample> = samples.iter().collect();
        speeds.by_known_loop(PID, &speeds.progress(&samples), &way())
    };
    assert_eq!(known(&speeds), None);
    for _ in 0..2 {
        speed_of(&mut speeds, &NEST, &samples);
    }
    assert_eq!(known(&speeds), Some(95_000));
    speeds.forget(PID);
    assert_eq!(known(&speeds), None);
}

#[test]
fn where_memory_decides_nothing_is_said() {
    // 0: add rbx, 16; cmp qword [rdi], 0; jne 0
    let tests_memory = [0x48, 0x83, 0xc3, 0x10, 0x48, 0x83, 0x3f, 0, 0x75, 0xf6];
    let mut samples = samples(8, 16_000);
    for sample in &mut samples {
        sample.registers.as_mut().unwrap().instruction = CODE;
    }
    assert_eq!(speed_of(&mut Speeds::default(), &tests_memory, &samples), None);
}

#[test]
fn what_no_processor_does_is_not_believed() {
    let samples = samples(8, 1 << 40);
    assert_eq!(speed_of(&mut Speeds::default(), &NEST, &samples), None);
}
