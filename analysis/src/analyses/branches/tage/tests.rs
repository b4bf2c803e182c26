use super::*;
use crate::analyses::branches::made_up::{
    conditional, mispredictions, random_branches, same_as_before, xor_of_two, Stream,
};

#[test]
fn histories_are_a_geometric_series() {
    let lengths: Vec<usize> = geometric_series(5, 5, 80).collect();
    assert_eq!(lengths, [5, 10, 20, 40, 80]);
    let config = TageConfig::default();
    assert!(config
        .tables
        .windows(2)
        .all(|pair| pair[0].history < pair[1].history));
    assert_eq!(config.longest_history(), 3000);
}

#[test]
fn storage() {
    // 5 tables of 2048 entries of 8 + 3 + 1 bits, 10 of 12 + 3 + 1, 8192 counters of 2, 3000 bits of history, 14
    // others.
    let tagged = 5 * 2048 * 12 + 10 * 2048 * 16;
    assert_eq!(tagged, 450_560);
    assert_eq!(
        Tage::default().storage_bits(),
        Some(tagged + 8192 * 2 + 3000 + 14)
    );
    assert_eq!(Tage::unlimited(&TageConfig::default()).storage_bits(), None);
}

#[test]
fn alternating_branch_is_learned() {
    let stream = Stream::repeated(0x400, &[true, false], 500);
    assert!(mispredictions(&mut Tage::default(), &stream) <= 20);
}

#[test]
fn exclusive_or_of_two_outcomes_is_learned() {
    let stream = xor_of_two(20_000);
    let missed = stream.missed_at(&mut Tage::unlimited(&TageConfig::default()), 0x300);
    assert!(missed < 400, "{missed}");
    let missed = stream.missed_at(&mut Tage::default(), 0x300);
    assert!(missed < 2_000, "{missed}");
}

#[test]
fn branch_that_repeats_an_earlier_one_is_learned_if_the_history_reaches_it() {
    let stream = same_as_before(5_000, 20);
    let missed = stream.missed_at(&mut Tage::default(), 0x300);
    assert!(missed < 250, "{missed}");
    let short = TageConfig::geometric(11, 4, 2, 16);
    let missed = stream.missed_at(&mut Tage::new(&short), 0x300);
    assert!(missed > 1_500, "{missed}");
}

#[test]
fn long_period_is_learned() {
    let mut chance = Chance::new();
    let period: Vec<bool> = (0..701).map(|_| chance.next() >> 9 & 1 == 1).collect();
    let taught = Stream::repeated(0x400, &period, 20);
    let mut tage = Tage::default();
    mispredictions(&mut tage, &taught);
    let missed = mispredictions(&mut tage, &Stream::repeated(0x400, &period, 20));
    assert!(missed < 140, "{missed} of 14020");
}

#[test]
fn random_branch_is_missed_about_as_often_as_its_rare_side_comes() {
    let stream = random_branches(100_000, 1, 8);
    let minority = stream.events().iter().filter(|event| event.taken).count() as u64;
    let missed = mispredictions(&mut Tage::default(), &stream);
    assert!(
        missed >= minority * 9 / 10 && missed < minority * 3 / 2,
        "{missed} {minority}"
    );
}

#[test]
fn what_a_small_table_forgets_an_unlimited_one_knows() {
    // Each of 4096 branches does the opposite of what it did last. Its last appearance in the history shows that.
    let round =
        |flip: bool| (0..4096u64).map(move |place| conditional(0x1000 + place * 4, flip ^ (mix_bit(place))));
    let events = (0..40).flat_map(|count| round(count % 2 == 0)).collect();
    let stream = Stream::new(events);
    let small = mispredictions(&mut Tage::new(&TageConfig::geometric(6, 8, 5, 200)), &stream);
    let unlimited = mispredictions(
        &mut Tage::unlimited(&TageConfig::geometric(6, 8, 5, 200)),
        &stream,
    );
    assert!(unlimited * 3 < small, "{unlimited} {small}");
}

fn mix_bit(place: u64) -> bool {
    crate::analyses::branches::counter::mix(place) & 1 == 1
}

/// The prediction that the definition gives, from entries in maps by the whole history.
#[test]
fn entries_are_found_by_address_and_history() {
    let config = TageConfig::geometric(10, 6, 4, 64);
    let mut tage = Tage::unlimited(&config);
    let mut bits: Vec<bool> = vec![false; 64];
    let mut allocated = std::collections::HashSet::new();
    for event in random_branches(4000, 40, 0x20).events() {
        tage.look_up(event.address);
        for table in 1..=tage.banks.count() {
            let history = bits[bits.len() - tage.banks.history_length(table)..].to_vec();
            let key = (table, event.address, history);
            assert_eq!(tage.banks.entry(table).is_some(), allocated.contains(&key));
            if (event.address + table as u64).is_multiple_of(3) && tage.banks.allocate(table, event.taken) {
                allocated.insert(key);
            }
        }
        tage.remember(event, |_| ());
        bits.push(event.taken);
    }
    assert!(allocated.len() > 1000);
}
