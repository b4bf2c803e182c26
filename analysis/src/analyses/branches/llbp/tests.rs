use super::*;
use crate::analyses::branches::counter::mix;
use crate::analyses::branches::made_up::{
    call, conditional, mispredictions, random_branches, xor_of_two, Stream,
};
use crate::model::chance::Chance;

const FUNCTIONS: u64 = 300;
const CALLS: u64 = 40;
const BRANCHES: u64 = 6;

/// A server that serves requests in random order. Each request is a fixed chain of calls, and the branches of a
/// function go different ways in each request. After the first twelve calls, the context says which request it is, but
/// each (request, call, branch) needs a pattern.
fn requests(kinds: u64, times: u64) -> Stream {
    let mut chance = Chance::new();
    let mut events = Vec::new();
    for _ in 0..times {
        let kind = chance.next() % kinds;
        for position in 0..CALLS {
            let function = mix(kind << 8 | position) % FUNCTIONS;
            let base = 0x40_0000 + function * 0x200;
            events.push(call(0x30_0000 + mix(kind * 31 + position) % 997 * 4, base));
            for branch in 0..BRANCHES {
                let taken = mix(kind << 20 | position << 10 | branch) & 1 == 1;
                events.push(conditional(base + 8 + branch * 12, taken));
            }
        }
    }
    Stream::new(events)
}

/// A predictor with a TAGE too small for the stream.
fn small() -> LlbpConfig {
    LlbpConfig {
        tage: TageConfig::geometric(7, 15, 6, 1000),
        histories: (12, 1000),
        ..LlbpConfig::default()
    }
}

#[test]
fn storage() {
    let before = TageScL::default().storage_bits().unwrap();
    let own = Llbp::default().storage_bits().unwrap() - before;
    // 14,336 sets of 288 bits, as many directory entries of 5, a buffer of 64 sets, 12 addresses of 14 bits, 4 others.
    assert_eq!(own, 14_336 * (288 + 5) + 64 * 300 + 12 * 14 + 4);
    assert_eq!(own / 8 / 1024, 515);
}

#[test]
fn contexts_keep_what_a_small_tage_forgets() {
    let stream = requests(60, 800);
    let without = mispredictions(&mut TageScL::new(&small().tage), &stream);
    let with = mispredictions(&mut Llbp::new(&small()), &stream);
    assert!(with * 10 < without * 8, "{with} with, {without} without");
}

#[test]
fn what_arrives_too_late_does_not_help() {
    let stream = requests(60, 400);
    let soon = mispredictions(&mut Llbp::new(&small()), &stream);
    let late = LlbpConfig {
        latency_cycles: 1_000_000,
        ..small()
    };
    let late = mispredictions(&mut Llbp::new(&late), &stream);
    assert!(soon < late, "{soon} {late}");
}

#[test]
fn programs_without_calls_are_predicted_as_before() {
    let stream = xor_of_two(5_000);
    let without = mispredictions(&mut TageScL::default(), &stream);
    let with = mispredictions(&mut Llbp::default(), &stream);
    assert!(with <= without * 11 / 10, "{with} {without}");
}

#[test]
fn biased_random_branches_are_missed_as_often_as_their_rare_side_comes() {
    let stream = random_branches(100_000, 40, 6);
    let minority = stream.events().iter().filter(|event| event.taken).count() as u64;
    let missed = mispredictions(&mut Llbp::default(), &stream);
    assert!(
        missed >= minority * 95 / 100 && missed <= minority * 12 / 10,
        "{missed} {minority}"
    );
}
