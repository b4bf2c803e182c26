//! Streams of branches whose best predictions are known, for tests.

use super::predictor::Predictor;
use crate::model::chance::Chance;
use crate::model::control_flow::{BranchEvent, BranchKind};

pub(super) struct Stream(Vec<BranchEvent>);

pub(super) fn conditional(address: u64, taken: bool) -> BranchEvent {
    BranchEvent {
        address,
        kind: BranchKind::Conditional,
        taken,
        target: address + 0x40,
        instructions: 5,
    }
}

pub(super) fn call(address: u64, target: u64) -> BranchEvent {
    BranchEvent {
        address,
        kind: BranchKind::Call,
        taken: true,
        target,
        instructions: 5,
    }
}

impl Stream {
    pub(super) fn new(events: Vec<BranchEvent>) -> Self {
        Stream(events)
    }

    /// One branch whose outcomes repeat.
    pub(super) fn repeated(address: u64, outcomes: &[bool], times: usize) -> Self {
        let all = std::iter::repeat_n(outcomes, times).flatten();
        Stream(all.map(|&taken| conditional(address, taken)).collect())
    }

    /// Some branches in turn, each with one outcome.
    pub(super) fn interleaved(branches: &[(u64, bool)], times: usize) -> Self {
        let all = std::iter::repeat_n(branches, times).flatten();
        Stream(all.map(|&(address, taken)| conditional(address, taken)).collect())
    }

    pub(super) fn events(&self) -> &[BranchEvent] {
        &self.0
    }

    /// Mispredictions of one branch.
    pub(super) fn missed_at(&self, predictor: &mut dyn Predictor, address: u64) -> u64 {
        self.missed(predictor, |event| event.address == address)
    }

    pub(super) fn missed(&self, predictor: &mut dyn Predictor, counts: impl Fn(&BranchEvent) -> bool) -> u64 {
        let mut missed = 0;
        for event in &self.0 {
            if event.kind.is_conditional() {
                let predicted = predictor.predict(event.address);
                missed += u64::from(predicted != event.taken && counts(event));
            }
            predictor.update(event);
        }
        missed
    }
}

pub(super) fn mispredictions(predictor: &mut dyn Predictor, stream: &Stream) -> u64 {
    stream.missed(predictor, |_| true)
}

/// Branches of random addresses, taken with a chance of `taken_of_64` in 64.
pub(super) fn random_branches(count: usize, addresses: u64, taken_of_64: u64) -> Stream {
    let mut chance = Chance::new();
    let event = |_| {
        let address = 0x40_0000 + chance.next() % addresses;
        conditional(address, chance.next() >> 20 & 63 < taken_of_64)
    };
    Stream((0..count).map(event).collect())
}

/// A branch at 0x300 that does what those at 0x100 and 0x200, which are random, say by exclusive or.
pub(super) fn xor_of_two(times: usize) -> Stream {
    let mut chance = Chance::new();
    let round = |_| {
        let (one, other) = (chance.next() >> 30 & 1 == 1, chance.next() >> 30 & 1 == 1);
        [
            conditional(0x100, one),
            conditional(0x200, other),
            conditional(0x300, one ^ other),
        ]
    };
    Stream((0..times).flat_map(round).collect())
}

/// A branch at 0x300 that does what a random one at 0x100 did `distance` outcomes before.
pub(super) fn same_as_before(times: usize, distance: usize) -> Stream {
    let mut chance = Chance::new();
    let round = |_| {
        let outcome = chance.next() >> 30 & 1 == 1;
        let between = (1..distance as u64).map(|place| conditional(0x1000 + place * 8, true));
        let pair = [conditional(0x100, outcome), conditional(0x300, outcome)];
        std::iter::once(pair[0])
            .chain(between)
            .chain([pair[1]])
            .collect::<Vec<_>>()
    };
    Stream((0..times).flat_map(round).collect())
}
