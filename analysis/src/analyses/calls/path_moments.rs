//! What paths cost by thread and time, in bounded memory: what costs little at a moment counts for its caller.

use std::collections::{BTreeMap, HashMap};

use super::tree::{Tree, ROOT};
use super::SiteCounts;
use crate::model::moments::Moment;

/// Shares of the costs of a moment that are tried as the least one: the first, and how it grows.
const FIRST_LEAST: f64 = 1.0 / (1 << 20) as f64;
const GROWTH: f64 = 2.0;
/// No path has so much: everything counts at the root.
const MOST_LEAST: f64 = 2.0;

/// What is counted apart at a node of the tree and a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PathKey {
    pub node: u32,
    pub moment: Moment,
    /// Number of a site, or of a place; none for what isn't told apart by these.
    pub unit: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PathCost {
    pub counts: SiteCounts,
    /// Estimated; 0 if time is not.
    pub cycles: u64,
}

impl PathCost {
    pub fn merge(&mut self, from: &PathCost) {
        self.counts.merge(&from.counts);
        self.cycles = self.cycles.saturating_add(from.cycles);
    }

    fn measures(&self) -> impl Iterator<Item = u64> + '_ {
        let counts = &self.counts;
        [counts.accesses, counts.bytes, self.cycles]
            .into_iter()
            .chain(counts.misses)
    }

    /// The share of the total in the measure in which it is largest.
    fn share_of(&self, total: &PathCost) -> f64 {
        let shares = self.measures().zip(total.measures());
        shares
            .map(|(own, all)| own as f64 / all.max(1) as f64)
            .fold(0.0, f64::max)
    }
}

/// Costs by path and moment.
#[derive(Debug, Default)]
pub(super) struct PathMoments {
    cells: HashMap<PathKey, PathCost>,
    /// At most this share of a moment's costs counts for the callers of any path.
    folded: f64,
}

impl PathMoments {
    pub fn add(&mut self, key: PathKey, cost: &PathCost) {
        self.cells.entry(key).or_default().merge(cost);
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn folded(&self) -> f64 {
        self.folded
    }

    pub fn iter(&self) -> impl Iterator<Item = (&PathKey, &PathCost)> {
        self.cells.iter()
    }

    /// The same with other keys; what comes to have the same key is added up.
    pub fn with_keys(&self, key: impl Fn(&PathKey) -> PathKey) -> PathMoments {
        let mut made = PathMoments {
            folded: self.folded,
            ..PathMoments::default()
        };
        self.cells.iter().for_each(|(old, cost)| made.add(key(old), cost));
        made
    }

    /// Adds what another thread of the analysis counted.
    pub fn merge(&mut self, from: &PathMoments) {
        self.folded = self.folded.max(from.folded);
        from.cells.iter().for_each(|(key, cost)| self.add(*key, cost));
    }

    /// Leaves at most `most` cells, or one for each moment.
    pub fn fold_to(&mut self, most: usize, tree: &Tree) {
        if self.cells.len() <= most {
            return;
        }
        let mut totals: HashMap<Moment, PathCost> = HashMap::new();
        for (key, cost) in &self.cells {
            totals.entry(key.moment).or_default().merge(cost);
        }
        let mut least = FIRST_LEAST;
        while self.cells.len() > most && least <= MOST_LEAST {
            self.cells = folded(&self.cells, &totals, least, tree);
            self.folded = (self.folded + least).min(1.0);
            least *= GROWTH;
        }
    }
}

/// What costs less than that share of its moment counts for its node, and then for the node's caller.
fn folded(
    cells: &HashMap<PathKey, PathCost>,
    totals: &HashMap<Moment, PathCost>,
    least: f64,
    tree: &Tree,
) -> HashMap<PathKey, PathCost> {
    let is_light = |moment: Moment, cost: &PathCost| cost.share_of(&totals[&moment]) < least;
    let mut kept = HashMap::new();
    let mut of_nodes: BTreeMap<(u32, Moment), PathCost> = BTreeMap::new();
    for (key, cost) in cells {
        if key.unit.is_some() && !is_light(key.moment, cost) {
            kept.insert(*key, *cost);
        } else {
            of_nodes.entry((key.node, key.moment)).or_default().merge(cost);
        }
    }
    // Callers have smaller numbers than what they call.
    while let Some(((node, moment), cost)) = of_nodes.pop_last() {
        if node == ROOT || !is_light(moment, &cost) {
            let key = PathKey {
                node,
                moment,
                unit: None,
            };
            kept.insert(key, cost);
        } else {
            let caller = tree.caller(node);
            of_nodes.entry((caller, moment)).or_default().merge(&cost);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(accesses: u64) -> PathCost {
        let mut cost = PathCost::default();
        cost.counts.add(accesses, accesses);
        cost
    }

    fn key(node: u32, bin: u32, unit: Option<u32>) -> PathKey {
        PathKey {
            node,
            moment: (1, bin),
            unit,
        }
    }

    fn found(paths: &PathMoments) -> Vec<(u32, u32, Option<u32>, u64)> {
        let cells = paths.iter();
        let mut found: Vec<_> = cells
            .map(|(key, cost)| (key.node, key.moment.1, key.unit, cost.counts.accesses))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn what_is_light_at_its_moment_counts_for_its_caller() {
        let mut tree = Tree::new();
        let main = tree.call(ROOT, 1);
        let work = tree.call(main, 2);
        let rare = tree.call(work, 3);
        let mut paths = PathMoments::default();
        for (key, accesses) in [
            (key(work, 0, Some(7)), 900_000),
            (key(work, 0, Some(8)), 5),
            (key(rare, 0, Some(9)), 5),
            // The same path is nearly all that happens at another moment.
            (key(rare, 1, Some(9)), 5),
            (key(main, 0, None), 100_000),
        ] {
            paths.add(key, &cost(accesses));
        }
        let whole = found(&paths);
        paths.fold_to(5, &tree);
        assert_eq!((found(&paths), paths.folded()), (whole, 0.0));
        paths.fold_to(3, &tree);
        let expected = [
            (main, 0, None, 100_010),
            (work, 0, Some(7), 900_000),
            (rare, 1, Some(9), 5),
        ];
        assert_eq!(found(&paths), expected);
        assert!(
            paths.folded() > 0.0 && paths.folded() < 0.001,
            "{}",
            paths.folded()
        );
        paths.fold_to(1, &tree);
        assert_eq!(found(&paths), [(ROOT, 0, None, 1_000_010), (ROOT, 1, None, 5)]);
    }

    #[test]
    fn a_path_is_light_only_if_it_is_by_each_measure() {
        let mut tree = Tree::new();
        let main = tree.call(ROOT, 1);
        let mut missing = cost(1);
        missing.counts.misses[1] = 1;
        let mut paths = PathMoments::default();
        paths.add(key(main, 0, Some(1)), &cost(1_000_000));
        paths.add(key(main, 0, Some(2)), &missing);
        paths.add(key(main, 0, Some(3)), &cost(1));
        paths.add(key(main, 0, Some(4)), &cost(1));
        paths.fold_to(3, &tree);
        assert_eq!(
            found(&paths),
            [
                (main, 0, None, 2),
                (main, 0, Some(1), 1_000_000),
                (main, 0, Some(2), 1)
            ]
        );
    }
}
