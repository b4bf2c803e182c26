//! How hot the fields of structures are.

use trackway_trace::Program;

use crate::model::site_counts::SiteCounters;
use crate::model::structures::{Structure, Structures};

/// Bytes that must move out for a split to be worth its pointer.
pub(super) const POINTER_BYTES: u64 = 8;

/// Weights of the accesses to a structure.
#[derive(Debug, Clone, Default)]
pub(super) struct Weights {
    /// Counters by member. An access to several members counts for each.
    pub members: Vec<SiteCounters>,
    /// Accesses to all of the object at once.
    pub whole: SiteCounters,
    /// All accesses, each once.
    pub total: SiteCounters,
    /// Accesses whose object is known from the address and the field alone.
    pub placed: u64,
    /// See [`is_live`].
    pub is_live: bool,
    /// Cold members; empty if the structure is not to be split.
    pub cold: Vec<bool>,
}

pub(super) fn weigh(program: &Program, structures: &Structures, counters: &[SiteCounters]) -> Vec<Weights> {
    let empty = |structure: &Structure| Weights {
        members: vec![SiteCounters::default(); structure.members.len()],
        ..Weights::default()
    };
    let mut weights: Vec<Weights> = structures.list.iter().map(empty).collect();
    debug_assert_eq!(program.sites.len(), structures.sites.len());
    for (field, counters) in structures.sites.iter().zip(counters) {
        let Some(field) = field else { continue };
        let weights = &mut weights[field.structure];
        weights.total += counters;
        weights.placed += u64::from(field.offset.is_some()) * counters.accesses;
        if field.members.is_empty() {
            weights.whole += counters;
        }
        for &member in &field.members {
            weights.members[member] += counters;
        }
    }
    let of_fields = |weights: &Weights| weights.members.iter().map(|member| member.accesses).sum::<u64>();
    let all: u64 = weights.iter().map(of_fields).sum();
    let accessed = weights.iter().filter(|weights| of_fields(weights) > 0).count() as u64;
    for (weights, structure) in weights.iter_mut().zip(&structures.list) {
        let own = of_fields(weights);
        weights.is_live = own > 0 && u128::from(own) * 100 * u128::from(accessed) > u128::from(all);
        if weights.is_live {
            weights.cold = cold_members(structure, &weights.members);
        }
    }
    weights
}

/// Chilimbi's rule. A member is cold if it has less than half of the mean accesses of the structure's members; if hot and
/// cold are not far apart then, less than a fifth. Empty if less than a pointer would move out, or nothing would stay.
fn cold_members(structure: &Structure, members: &[SiteCounters]) -> Vec<bool> {
    if structure.size <= POINTER_BYTES || members.len() <= 2 {
        return Vec::new();
    }
    let aggressive = below_mean(structure, members, 2);
    if !is_sufficient(structure, &aggressive) {
        return Vec::new();
    }
    if temperature_difference(members, &aggressive) > 0.5 {
        return aggressive;
    }
    let conservative = below_mean(structure, members, 5);
    match is_sufficient(structure, &conservative) {
        true => conservative,
        false => Vec::new(),
    }
}

/// Members with less than one `divisor`th of the mean accesses.
fn below_mean(structure: &Structure, members: &[SiteCounters], divisor: u128) -> Vec<bool> {
    let all: u128 = members.iter().map(|member| u128::from(member.accesses)).sum();
    let count = members.len() as u128;
    let is_cold = |counters: &SiteCounters| u128::from(counters.accesses) * divisor * count < all;
    let pairs = structure.members.iter().zip(members);
    pairs
        .map(|(member, counters)| !member.is_fixed && is_cold(counters))
        .collect()
}

fn is_sufficient(structure: &Structure, cold: &[bool]) -> bool {
    let sizes = structure.members.iter().zip(cold).filter(|(_, cold)| **cold);
    let bytes: u64 = sizes.map(|(member, _)| member.size).sum();
    bytes > POINTER_BYTES && cold.iter().any(|cold| !cold)
}

/// (hottest − 2 × hottest of the cold) ÷ hottest.
fn temperature_difference(members: &[SiteCounters], cold: &[bool]) -> f64 {
    let hottest = |wanted: bool| {
        let of_kind = members.iter().zip(cold).filter(|(_, cold)| **cold == wanted);
        of_kind.map(|(member, _)| member.accesses).max().unwrap_or(0) as f64
    };
    match hottest(false) {
        0.0 => 0.0,
        hot => (hot - 2.0 * hottest(true)) / hot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::structures::test_structure;

    fn members(accesses: &[u64]) -> Vec<SiteCounters> {
        let counters = |&accesses: &u64| SiteCounters {
            accesses,
            ..SiteCounters::default()
        };
        accesses.iter().map(counters).collect()
    }

    #[test]
    fn what_is_far_below_the_mean_is_cold() {
        let structure = test_structure(&[8, 8, 8, 8]);
        let cold = cold_members(&structure, &members(&[1000, 900, 10, 10]));
        assert_eq!(cold, [false, false, true, true]);
    }

    #[test]
    fn lukewarm_members_stay() {
        // Mean 100: 45 is less than half of it, but not far from the hottest; less than a fifth is nothing.
        let structure = test_structure(&[8, 8, 8, 8]);
        assert!(cold_members(&structure, &members(&[160, 150, 45, 45])).is_empty());
        // 10 is less than a fifth.
        let cold = cold_members(&structure, &members(&[150, 10, 230, 10]));
        assert_eq!(cold, [false, true, false, true]);
    }

    #[test]
    fn a_split_must_move_more_than_its_pointer() {
        let structure = test_structure(&[8, 8, 8]);
        assert!(cold_members(&structure, &members(&[1000, 900, 1])).is_empty());
        let structure = test_structure(&[8, 8, 16]);
        assert_eq!(
            cold_members(&structure, &members(&[1000, 900, 1])),
            [false, false, true]
        );
    }
}
