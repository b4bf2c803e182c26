use iced_x86::InstructionInfoFactory;
use trackway_perf_records::SampledRegisters;

use super::*;
use crate::window::StackMemory;

const CODE: u64 = 0x1000;
const PID: u32 = 0x7fff_ffff;
const PLACE: Place = Place {
    pid: PID,
    begin: CODE,
    function: CODE,
    written: u16::MAX,
};
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
        let mut registers = SampledRegisters {
            instruction: INNER,
            ..SampledRegisters::default()
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

fn position(samples: &[PerfSample]) -> Position {
    let last = samples.last().unwrap();
    Position {
        thread: (PID, last.tid),
        time_ns: last.time_ns,
        place: PLACE,
        registers: Registers::from_sample(&last.registers.unwrap(), None),
    }
}

/// By executing; the program is `code`.
fn speed_of(speeds: &mut Speeds, code: &[u8], samples: &[PerfSample]) -> Option<u32> {
    speeds.forget_samples();
    samples.iter().for_each(|sample| speeds.note(sample, PLACE));
    let function = function(code);
    let mut memory = Memory::<StackMemory>::default();
    speeds.by_execution(&position(samples), Look::Short, &mut memory, |address| {
        function.index_at(address).map(|_| Rc::clone(&function))
    })
}

fn way(code: &[u8], samples: &[PerfSample], instructions: u32) -> Way {
    let (mut way, function) = (Way::default(), function(code));
    let (mut memory, mut directions) = (Memory::<StackMemory>::default(), Directions::default());
    let registers = position(samples).registers;
    look_ahead(
        &registers,
        instructions,
        &mut memory,
        &mut directions,
        &mut way,
        |_| Some(Rc::clone(&function)),
    );
    way
}

fn by_known_loop(speeds: &mut Speeds, code: &[u8], samples: &[PerfSample], way: &Way) -> Option<u32> {
    let function = function(code);
    speeds.by_known_loop(&position(samples), way, &mut |address| {
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
    let way = way(&NEST, &samples, 6);
    speed_of(&mut speeds, &NEST, &samples);
    assert_eq!(
        by_known_loop(&mut speeds, &NEST, &samples, &way),
        None,
        "once isn't enough"
    );
    speed_of(&mut speeds, &NEST, &samples);
    // Six instructions without a change of the outer counter make it a little dearer.
    let known = by_known_loop(&mut speeds, &NEST, &samples, &way).unwrap();
    assert!((95_000..98_000).contains(&known), "{known}");
    speeds.forget(PID);
    assert_eq!(by_known_loop(&mut speeds, &NEST, &samples, &way), None);
}

/// 0: add rcx, 1; 4: add rbx, rcx; 7: jmp 0. What adds up goes faster and faster.
const SUMS: [u8; 9] = [0x48, 0x83, 0xc1, 1, 0x48, 0x01, 0xcb, 0xeb, 0xf7];

#[test]
fn a_counter_says_more_than_a_sum() {
    let mut speeds = Speeds::default();
    let mut samples = samples(8, 16_000);
    for (number, sample) in (0..).zip(&mut samples) {
        let registers = sample.registers.as_mut().unwrap();
        registers.instruction = CODE;
        registers.general[RCX] = 1000 * number;
    }
    // 5,000 in a millisecond, of three instructions each.
    assert_eq!(speed_of(&mut speeds, &SUMS, &samples), Some(15_000));
    speed_of(&mut speeds, &SUMS, &samples);
    let way = way(&SUMS, &samples, 30);
    assert_eq!(by_known_loop(&mut speeds, &SUMS, &samples, &way), Some(15_000));
}

#[test]
fn steps_that_were_equal_once_are_checked() {
    let counter = |step: u8| [0x48, 0x83, 0xc3, step, 0xeb, 0xfa]; // 0: add rbx, step; 4: jmp 0
    let mut speeds = Speeds::default();
    let mut samples = samples(8, 16_000);
    for sample in &mut samples {
        sample.registers.as_mut().unwrap().instruction = CODE;
    }
    (0..2).for_each(|_| _ = speed_of(&mut speeds, &counter(16), &samples));
    let known = |speeds: &mut Speeds, step| {
        let way = way(&counter(step), &samples, 20);
        by_known_loop(speeds, &counter(step), &samples, &way)
    };
    assert_eq!(known(&mut speeds, 16), Some(10_000));
    // By 8: the cost of a unit is what was measured, no longer steps times 16.
    assert_eq!(known(&mut speeds, 8), Some(10_000));
    assert_eq!(known(&mut speeds, 8), Some(10_000));
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

#[test]
fn what_registers_did_in_another_loop_says_nothing() {
    let mut speeds = Speeds::default();
    let samples = samples(8, 16_000);
    let elsewhere = Place {
        begin: CODE + 5,
        ..PLACE
    };
    samples.iter().for_each(|sample| speeds.note(sample, elsewhere));
    let function = function(&NEST);
    let mut memory = Memory::<StackMemory>::default();
    let speed = speeds.by_execution(&position(&samples), Look::Short, &mut memory, |_| {
        Some(Rc::clone(&function))
    });
    assert_eq!(speed, None);
}
