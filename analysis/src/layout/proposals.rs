//! Layouts that may be better.

use trackway_trace::StructureKind;

use super::affinity::Pairs;
use super::weights::Weights;
use crate::misses::Measure;
use crate::structures::Structure;

/// Bytes of a cache line that layouts are made for.
pub(super) const LINE_BYTES: u64 = 64;
/// Larger structures are no objects that a program has many of.
const MAX_BYTES: u64 = 1 << 30;
/// Below this affinity, fields have little to do with each other.
const LOOSE: f64 = 0.1;
/// A part of the misses that makes a field worth a place of its own.
const MOST: f64 = 0.5;

/// Accesses of two members that are together, and those of the rarer one, which they are a part of.
pub(super) fn affinity(weights: &Weights, pairs: &Pairs, a: usize, b: usize) -> (u64, u64) {
    let accesses = |member: usize| weights.members[member].accesses;
    let rarer = accesses(a).min(accesses(b));
    (pairs.between(a, b).min(rarer), rarer)
}

/// A change and its reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proposal {
    pub change: &'static str,
    pub reason: String,
    /// Of `trackway whatif`.
    pub options: String,
    /// To be written into the source.
    pub definition: Vec<String>,
}

/// What proposals are made from.
pub(super) struct Evidence<'e> {
    pub structure: &'e Structure,
    pub weights: &'e Weights,
    pub pairs: &'e Pairs,
    pub rank_by: Measure,
}

impl Evidence<'_> {
    pub fn proposals(&self) -> Vec<Proposal> {
        if self.structure.kind == StructureKind::Union || self.structure.size > MAX_BYTES {
            return Vec::new();
        }
        let all = [
            self.split_cold(),
            self.split_alone(),
            self.reorder(),
            self.pack(),
            self.arrays(),
            self.pad(),
        ];
        all.into_iter().flatten().collect()
    }

    fn accesses(&self, member: usize) -> u64 {
        self.weights.members[member].accesses
    }

    /// See `affinity` in `docs/analyses.md`.
    pub fn affinity(&self, a: usize, b: usize) -> f64 {
        let (together, rarer) = affinity(self.weights, self.pairs, a, b);
        together as f64 / rarer.max(1) as f64
    }

    fn names(&self, members: &[usize]) -> String {
        let names: Vec<&str> = members
            .iter()
            .map(|&index| self.structure.members[index].name.as_str())
            .collect();
        names.join(",")
    }

    /// Members that `is_hot` stay, with a pointer to the others.
    fn split(&self, reason: String, is_hot: impl Fn(usize) -> bool) -> Proposal {
        let (hot, cold): (Vec<usize>, Vec<usize>) = self
            .structure
            .own_order()
            .into_iter()
            .partition(|&index| self.structure.members[index].is_fixed || is_hot(index));
        let name = &self.structure.name;
        let rest = format!("{}_rest", crate::structures::bare(name));
        let mut definition = self.structure.definition(&rest, &cold, None);
        definition.push(String::new());
        let link = format!("struct {rest} *rest; // or two arrays, and the same index for both");
        definition.extend(self.structure.definition(name, &hot, Some(&link)));
        Proposal {
            change: "split",
            reason,
            options: format!("--split '{name}:{}'", self.names(&hot)),
            definition,
        }
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
        let reason = format!("{bytes} of {} bytes are cold", self.structure.size);
        Some(self.split(reason, |index| !cold[index]))
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
        Some(self.split(reason, |index| index == worst))
    }

    /// The part of a member's own accesses that have the other nearby.
    fn share_with(&self, member: usize, other: usize) -> f64 {
        self.pairs.between(member, other) as f64 / self.accesses(member).max(1) as f64
    }

    /// The hottest member first, then always the one with the most affinity to those of its line.
    fn reorder(&self) -> Option<Proposal> {
        let structure = self.structure;
        if structure.size <= LINE_BYTES {
            return None;
        }
        let order = structure.with_fixed_first(&self.by_affinity());
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
        Some(Proposal {
            change: "reorder",
            reason: format!(
                "{:.0} % instead of {:.0} % of accesses nearby each other in time would share a line",
                after * 100.0,
                before * 100.0
            ),
            options: format!("--reorder '{}:{}'", structure.name, self.names(&order)),
            definition: structure.definition(&structure.name, &order, None),
        })
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
            if bytes >= LINE_BYTES {
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
                together += pairs * u64::from(offset / LINE_BYTES == other / LINE_BYTES);
            }
        }
        together as f64 / all.max(1) as f64
    }

    /// The greatest alignment first leaves no holes.
    fn pack(&self) -> Option<Proposal> {
        let structure = self.structure;
        let mut order = structure.own_order();
        order.sort_by_key(|&index| std::cmp::Reverse(structure.members[index].alignment));
        let order = structure.with_fixed_first(&order);
        let size = structure
            .arrange(&order, 0)
            .size
            .next_multiple_of(structure.alignment);
        if size >= structure.size {
            return None;
        }
        Some(Proposal {
            change: "pack",
            reason: format!("{size} bytes instead of {}, without holes", structure.size),
            options: format!("--reorder '{}:{}'", structure.name, self.names(&order)),
            definition: structure.definition(&structure.name, &order, None),
        })
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
        if used.len() < 2 || !placed || !used.iter().enumerate().all(loose) {
            return None;
        }
        let name = &structure.name;
        let lines =
            structure
                .members
                .iter()
                .flat_map(|member| &member.declared)
                .map(|(field, type_name, _)| {
                    format!(
                        "    {};",
                        crate::structures::declaration(type_name, &format!("(*{field})"))
                    )
                });
        let mut definition = vec![format!(
            "struct {}_arrays {{ // each as long as the array of {name}",
            crate::structures::bare(name)
        )];
        definition.extend(lines);
        definition.push("};".into());
        Some(Proposal {
            change: "struct of arrays",
            reason: "no two fields are accessed together".into(),
            options: format!("--soa '{name}'"),
            definition,
        })
    }

    /// Objects that nearly fill a line lie in two, some of them.
    fn pad(&self) -> Option<Proposal> {
        let size = self.structure.size;
        let padded = size.next_power_of_two();
        if size >= LINE_BYTES || LINE_BYTES.is_multiple_of(size) || size * 4 < padded * 3 {
            return None;
        }
        let name = &self.structure.name;
        let mut definition = self.structure.definition(name, &self.structure.own_order(), None);
        definition.pop();
        definition.push(format!("}} __attribute__((aligned({padded})));"));
        Some(Proposal {
            change: "align",
            reason: format!("objects of {size} bytes cross the borders of lines, those of {padded} don't"),
            options: format!("--align '{name}:{padded}'"),
            definition,
        })
    }
}
