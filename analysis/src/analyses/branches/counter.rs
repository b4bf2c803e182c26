//! Saturating counters, hashing and chance, as predictors' tables have them.

/// One step towards the outcome, of a signed counter of `bits` bits. Counters of at least 0 mean taken.
pub(super) fn step(counter: &mut i8, up: bool, bits: u32) {
    debug_assert!((1..=8).contains(&bits));
    let most = ((1i32 << (bits - 1)) - 1) as i8;
    if up {
        *counter = (*counter).saturating_add(1).min(most);
    } else {
        *counter = (*counter).saturating_sub(1).max(-most - 1);
    }
}

/// How far a signed counter is from changing its mind: 0 for 0 and -1, 1 for 1 and -2, and so on.
pub(super) fn confidence(counter: i8) -> u8 {
    if counter >= 0 {
        counter as u8
    } else {
        (-1 - i16::from(counter)) as u8
    }
}

/// Lower bits that depend on higher ones, too: code has few distinct lower bits.
pub(super) fn spread(address: u64) -> u64 {
    address ^ (address >> 5) ^ (address >> 17)
}

/// All bits depend on all bits (the finishing step of SplitMix64, Steele, Lea and Flood, 2014).
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_saturate() {
        for bits in 1..=8 {
            let mut counter = 0;
            (0..300).for_each(|_| step(&mut counter, true, bits));
            assert_eq!(i32::from(counter), (1 << (bits - 1)) - 1);
            (0..300).for_each(|_| step(&mut counter, false, bits));
            assert_eq!(i32::from(counter), -(1 << (bits - 1)));
        }
    }

    #[test]
    fn confidence_is_symmetric() {
        assert_eq!([0, 1, 3, 127].map(confidence), [0, 1, 3, 127]);
        assert_eq!([-1, -2, -4, -128].map(confidence), [0, 1, 3, 127]);
    }
}
