//! Layouts that may be better.

use trackway_report::grouped;
use trackway_trace::StructureKind;

use super::affinity::Pairs;
use super::weights::Weights;
use crate::analyses::whatif::{Change, Link};
use crate::model::site_counts::Measure;
use crate::model::structures::{Structure, Structures};

/// Bytes of a cache line where no cache is simulated.
pub(super) const USUAL_LINE_BYTES: u64 = 64;
/// Larger structures are no objects that a program has many of.
const MAX_BYTES: u64 = 1 << 30;
/// Below this affinity, fields have little to do with each other.
const LOOSE: f64 = 0.1;
/// A part of the misses that makes a field worth a place of its own.
const MOST: f64 = 0.5;

/// Accesses of two members that are together, and all accesses of the rarer member.
pub(super) fn affinity(weights: &Weights, pairs: &Pairs, a: usize, b: usize) -> (u64, u64) {
    let accesses = |member: usize| weights.members[member].accesses;
    let rarer = accesses(a).min(accesses(b));
    (pairs.between(a, b).min(rarer), rarer)
}

/// A change and its reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proposal {
    /// Index of the structure.
    pub structure: usize,
    pub name: &'static str,
    pub reason: String,
    pub change: Change,
    pub link: Link,
    /// Lines of the definition to write into the source.
    pub definition: Vec<String>,
}

impl Proposal {
    /// The options of `trackway whatif` that simulate the proposal.
    pub fn options(&self, structures: &Structures) -> String {
        self.change
            .options(&structures.list[self.structure].name, self.link)
    }
}

/// What proposals are made from.
pub(super) struct Evidence<'e> {
    pub index: usize,
    pub structure: &'e Structure,
    pub weights: &'e Weights,
    pub pairs: &'e Pairs,
    pub rank_by: Measure,
    pub line_bytes: u64,
}

impl Evidence<'_> {
    pub fn proposals(&self) -> Vec<Proposal> {
        if self.structure.kind == StructureKind::Union || self.structure.size > MAX_BYTES {
            return Vec::new();
        }
        if self.is_contended() {
            return [self.own_line(), self.pad_member()]
                .into_iter()
                .flatten()
                .collect();
        }
        let mut all: Vec<Proposal> = [self.split_cold(), self.split_alone()]
            .into_iter()
            .flatten()
            .collect();
        // The same split without pointers, for objects that are elements of an array.
        let by_index = all.clone().into_iter().map(|split| Proposal {
            link: Link::Index,
            ..split
        });
        let by_index: Vec<Proposal> = by_index.collect();
        if self.structure.shared_prefix > 0 {
            // A pointer would come before the header.
            all.clear();
        }
        all.extend(by_index);
        let others = [self.reorder(), self.pack(), self.arrays(), self.pad()];
        all.extend(others.into_iter().flatten());
        all
    }

    /// Whether most misses are there because other threads took the line: no other order of members helps then.
    fn is_contended(&self) -> bool {
        let total = &self.weights.total;
        let misses = match self.rank_by {
            Measure::Cycles => total.outcome.misses[1].max(total.outcome.misses[0]),
            measure => measure.of(total),
        };
        misses > 0 && total.outcome.invalidations.saturating_mul(2) > misses
    }

    fn proposal(
        &self,
        name: &'static str,
        reason: String,
        change: Change,
        definition: Vec<String>,
    ) -> Proposal {
        Proposal {
            structure: self.index,
            name,
            reason,
            change,
            link: Link::Pointer,
            definition,
        }
    }

    /// Members of a header that other types share stay in front.
    fn is_header(&self, member: usize) -> bool {
        member < self.structure.shared_prefix
    }

    /// Fixed members first, then those of a shared header, then the others as they come.
    fn with_header_first(&self, order: &[usize]) -> Vec<usize> {
        let header = 0..self.structure.shared_prefix;
        let others = order.iter().copied().filter(|&member| !self.is_header(member));
        let order: Vec<usize> = header.chain(others).collect();
        self.structure.with_fixed_first(&order)
    }

    fn accesses(&self, member: usize) -> u64 {
        self.weights.members[member].accesses
    }

    /// See `affinity` in `docs/verbs/layout.md`.
    pub fn affinity(&self, a: usize, b: usize) -> f64 {
        let (together, rarer) = affinity(self.weights, self.pairs, a, b);
        together as f64 / rarer.max(1) as f64
    }

    /// Members that the compiler places need not be named.
    fn names(&self, members: &[usize]) -> Vec<String> {
        let members = members.iter().map(|&index| &self.structure.members[index]);
        members
            .filter(|member| !member.is_fixed)
            .map(|member| member.name.clone())
            .collect()
    }

    /// Members that `is_hot` stay, with a pointer to the others. None if there are no others.
    fn split(&self, reason: String, is_hot: impl Fn(usize) -> bool) -> Option<Proposal> {
        let stays =
            |index: usize| self.structure.members[index].is_fixed || self.is_header(index) || is_hot(index);
        let own = self.structure.own_order().into_iter();
        let (hot, cold): (Vec<usize>, Vec<usize>) = own.partition(|&index| stays(index));
        if cold.is_empty() {
            return None;
        }
        let structure = self.structure;
        let mut definition = structure.definition(&structure.name_of_rest(), &cold, None);
        definition.push(String::new());
        let link = format!("{} // or two arrays with one index", structure.link_to_rest());
        definition.extend(structure.definition(&structure.name, &hot, Some(&link)));
        Some(self.proposal("split", reason, Change::Split(self.names(&hot)), definition))
    }

    fn split_cold(&self) -> Option<Proposal> {
        let cold = &self.weights.cold;
        if cold.is_empty() {
            return None;
        }
        let sizes = self.structure.members.iter().zip(cold);
        let bytes: u64 = sizes
            .filter(|(_, cold)| **cold)
            .map(|(member, _)| member.size)
            .sum();
        let reason = format!(
            "{} of {} bytes are cold",
            grouped(bytes),
            grouped(self.structure.size)
        );
        self.split(reason, |index| !cold[index])
    }

    /// A member that misses much, and is accessed without the others, gets a place of its own.
    fn split_alone(&self) -> Option<Proposal> {
        let misses = |index: usize| self.rank_by.of(&self.weights.members[index]);
        let order = self.structure.own_order();
        let worst = order.iter().copied().max_by_key(|&index| misses(index))?;
        let share = misses(worst) as f64 / self.rank_by.of(&self.weights.total).max(1) as f64;
        let member = &self.structure.members[worst];
        let is_loose = order
            .iter()
            .all(|&other| other == worst || self.share_with(worst, other) < LOOSE);
        let hot = self.weights.cold.iter().filter(|cold| !**cold).count();
        let is_same = hot == 1 && self.weights.cold.get(worst) == Some(&false);
        if share < MOST || !is_loose || is_same || member.size * 4 > self.structure.size || order.len() < 2 {
            return None;
        }
        let reason = format!(
            "{} has {:.0} % of the {}, and is mostly accessed alone",
            member.name,
            share * 100.0,
            self.rank_by
        );
        self.split(reason, |index| index == worst)
    }

    /// The part of a member's own accesses that have the other nearby.
    fn share_with(&self, member: usize, other: usize) -> f64 {
        self.pairs.between(member, other) as f64 / self.accesses(member).max(1) as f64
    }

    /// Puts the hottest member first, then always the one with the most affinity to the members of its line.
    fn reorder(&self) -> Option<Proposal> {
        let structure = self.structure;
        if structure.size <= self.line_bytes {
            return None;
        }
        let order = self.with_header_first(&self.by_affinity());
        let arranged = structure.arrange(&order, 0);
        let own: Vec<(usize, u64)> = structure
            .members
            .iter()
            .map(|member| member.offset)
            .enumerate()
            .collect();
        let (before, after) = (self.locality(&own), self.locality(&arranged.members));
        if arranged.size > structure.size || after <= before + 0.05 {
            return None;
        }
        let reason = format!(
            "{:.0} % instead of {:.0} % of accesses nearby each other in time would share a line",
            after * 100.0,
            before * 100.0
        );
        let definition = structure.definition_in_order(&order);
        Some(self.proposal("reorder", reason, Change::Reorder(self.names(&order)), definition))
    }

    fn by_affinity(&self) -> Vec<usize> {
        let mut left = self.structure.own_order();
        let mut order: Vec<usize> = Vec::new();
        let mut in_line = 0;
        while !left.is_empty() {
            let line = &order[order.len() - in_line..];
            let near = |&index: &usize| {
                line.iter()
                    .map(|&other| self.pairs.between(index, other))
                    .sum::<u64>()
            };
            let key = |index: &usize| (near(index), self.accesses(*index), std::cmp::Reverse(*index));
            let Some(best) = left.iter().copied().max_by_key(key) else {
                break;
            };
            left.retain(|&index| index != best);
            order.push(best);
            in_line += 1;
            let bytes: u64 = order[order.len() - in_line..]
                .iter()
                .map(|&index| self.structure.members[index].size)
                .sum();
            if bytes >= self.line_bytes {
                in_line = 0;
            }
        }
        order
    }

    /// The part of all pairs of accesses, nearby in time, whose members begin in one line if the object does.
    fn locality(&self, members: &[(usize, u64)]) -> f64 {
        let (mut together, mut all) = (0, 0);
        for (position, &(a, offset)) in members.iter().enumerate() {
            for &(b, other) in &members[position + 1..] {
                let pairs = self.pairs.between(a, b);
                all += pairs;
                together += pairs * u64::from(offset / self.line_bytes == other / self.line_bytes);
            }
        }
        together as f64 / all.max(1) as f64
    }

    /// The greatest alignment first leaves no holes.
    fn pack(&self) -> Option<Proposal> {
        let structure = self.structure;
        let mut order = structure.own_order();
        order.sort_by_key(|&index| std::cmp::Reverse(structure.members[index].alignment));
        let order = self.with_header_first(&order);
        let size = structure
            .arrange(&order, 0)
            .size
            .next_multiple_of(structure.alignment);
        if size >= structure.size {
            return None;
        }
        let reason = format!(
            "{} bytes instead of {}, without holes",
            grouped(size),
            grouped(structure.size)
        );
        let definition = structure.definition_in_order(&order);
        Some(self.proposal("pack", reason, Change::Reorder(self.names(&order)), definition))
    }

    /// Fields that are never accessed together are better off in arrays of their own.
    fn arrays(&self) -> Option<Proposal> {
        let structure = self.structure;
        let used: Vec<usize> = structure
            .own_order()
            .into_iter()
            .filter(|&index| self.accesses(index) > 0)
            .collect();
        let loose = |(position, &a): (usize, &usize)| {
            used[position + 1..].iter().all(|&b| self.affinity(a, b) < LOOSE)
        };
        let placed = self.weights.placed * 2 > self.weights.total.accesses;
        if used.len() < 2 || structure.shared_prefix > 0 || !placed || !used.iter().enumerate().all(loose) {
            return None;
        }
        let reason = "no two fields are accessed together".into();
        Some(self.proposal(
            "struct of arrays",
            reason,
            Change::Arrays,
            structure.definition_of_arrays(),
        ))
    }

    /// Some objects that nearly fill a line lie in two lines.
    fn pad(&self) -> Option<Proposal> {
        let size = self.structure.size;
        let padded = size.next_power_of_two();
        let line_bytes = self.line_bytes;
        if size >= line_bytes || line_bytes.is_multiple_of(size) || size * 4 < padded * 3 {
            return None;
        }
        let reason = format!("objects of {size} bytes cross the borders of lines, those of {padded} don't");
        Some(self.align(padded, reason))
    }

    /// No two objects on one line.
    fn own_line(&self) -> Option<Proposal> {
        let structure = self.structure;
        let is_apart =
            structure.size.is_multiple_of(self.line_bytes) && structure.alignment >= self.line_bytes;
        let reason = self.contention("objects share them");
        (!is_apart).then(|| self.align(self.line_bytes, reason))
    }

    fn align(&self, bytes: u64, reason: String) -> Proposal {
        let definition = self.structure.definition_aligned(bytes);
        self.proposal("align", reason, Change::Align(bytes), definition)
    }

    /// The member whose line is taken from others most often, apart from the other members.
    fn pad_member(&self) -> Option<Proposal> {
        let structure = self.structure;
        let invalidations = |&index: &usize| self.weights.members[index].outcome.invalidations;
        let order = structure.own_order().into_iter();
        let movable = order.filter(|&index| !structure.members[index].is_fixed && !self.is_header(index));
        let worst = movable.max_by_key(invalidations)?;
        if structure.members.len() < 2 || invalidations(&worst) == 0 {
            return None;
        }
        let member = &structure.members[worst].name;
        let reason = self.contention(&format!("{member} shares them with other members"));
        let definition = structure.definition_padded(member, self.line_bytes);
        Some(self.proposal("pad", reason, Change::PadMember(member.clone()), definition))
    }

    fn contention(&self, what: &str) -> String {
        let total = &self.weights.total;
        let taken = trackway_report::times(total.outcome.invalidations);
        format!("threads take lines from each other {taken}, and {what}")
    }
}
