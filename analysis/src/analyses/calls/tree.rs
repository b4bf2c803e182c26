//! The paths on which functions were called.

use std::collections::HashMap;
use std::ops::AddAssign;

use super::functions::SiteTraits;
use crate::model::cache::MAX_LEVELS;

/// The node of what called the first function.
pub const ROOT: u32 = 0;
/// Below this one stand functions whose path is not kept, since there are too many.
const ELSEWHERE: u32 = 1;
/// Nodes of a tree. A program has fewer; what comes later is put below [`ELSEWHERE`].
const MOST_NODES: usize = 1 << 20;

/// Costs of accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub accesses: u64,
    pub reads: u64,
    pub writes: u64,
    pub bytes: u64,
    pub misses: [u64; MAX_LEVELS],
    /// Estimated; 0 if time is not.
    pub cycles: u64,
}

impl Cost {
    /// Adds accesses of a site, and their bytes.
    pub fn add(&mut self, site: &SiteTraits, accesses: u64, bytes: u64) {
        self.accesses = self.accesses.saturating_add(accesses);
        self.reads = self.reads.saturating_add(if site.reads { accesses } else { 0 });
        self.writes = self.writes.saturating_add(if site.writes { accesses } else { 0 });
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl AddAssign<&Cost> for Cost {
    fn add_assign(&mut self, other: &Cost) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.accesses, other.accesses);
        add(&mut self.reads, other.reads);
        add(&mut self.writes, other.writes);
        add(&mut self.bytes, other.bytes);
        add(&mut self.cycles, other.cycles);
        self.misses
            .iter_mut()
            .zip(other.misses)
            .for_each(|(sum, more)| add(sum, more));
    }
}

/// A function, as called on one path.
#[derive(Debug, Clone)]
pub struct Node {
    pub parent: u32,
    pub function: u32,
    /// Whether it was inlined into its parent's code.
    pub is_inlined: bool,
    /// Cost of its own accesses.
    pub cost: Cost,
    /// The last one called from here, and where that is: mostly it is the next one, too.
    last_call: (u32, u32),
}

/// A call of a function from a node, or a function that was inlined into the node's code.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// A child of the node or, if the function was on the path already, the node where it is.
    pub node: u32,
    /// 0 for an inlined function.
    pub count: u64,
}

/// What was called, or inlined, from a node: the function, and whether it was inlined.
type Callee = (u32, bool);

/// A calling context tree (Ammons, Ball, Larus, *Exploiting Hardware Performance Counters with Flow and Context
/// Sensitive Profiling*, 1997). It has a node for each path of different functions. A function that is on the path
/// already is the same node again, so recursion adds no nodes.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    calls: Vec<Call>,
    /// Index of the call, by node and what was called there.
    index: HashMap<(u32, Callee), u32>,
    most_nodes: usize,
}

/// No function.
const NONE: u32 = u32::MAX;

impl Tree {
    pub fn new() -> Tree {
        Tree::with_room_for(MOST_NODES)
    }

    fn with_room_for(most_nodes: usize) -> Tree {
        let node = Node {
            parent: ROOT,
            function: NONE,
            is_inlined: false,
            cost: Cost::default(),
            last_call: (NONE, 0),
        };
        Tree {
            nodes: vec![node.clone(), node],
            calls: Vec::new(),
            index: HashMap::new(),
            most_nodes,
        }
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every call with the node that made it, in no order.
    pub fn calls(&self) -> impl Iterator<Item = (u32, Call)> + '_ {
        self.index
            .iter()
            .map(|(&(node, _), &call)| (node, self.calls[call as usize]))
    }

    pub fn add_cost(&mut self, node: u32, cost: &Cost) {
        self.nodes[node as usize].cost += cost;
    }

    pub fn add_misses(&mut self, node: u32, level: usize, lines: u64) {
        self.nodes[node as usize].cost.misses[level] += lines;
    }

    /// The node where the function runs if it is called from this one.
    #[inline]
    pub fn call(&mut self, from: u32, function: u32) -> u32 {
        let (last, call) = self.nodes[from as usize].last_call;
        let call = if last == function {
            call
        } else {
            let call = self.find_call(from, (function, false));
            self.nodes[from as usize].last_call = (function, call);
            call
        };
        let call = &mut self.calls[call as usize];
        call.count += 1;
        call.node
    }

    /// The node of a function's code that was inlined into this one's.
    pub fn inlined(&mut self, from: u32, function: u32) -> u32 {
        let call = self.find_call(from, (function, true));
        self.calls[call as usize].node
    }

    fn find_call(&mut self, from: u32, callee: Callee) -> u32 {
        match self.index.get(&(from, callee)) {
            Some(&call) => call,
            None => self.add_call(from, callee),
        }
    }

    fn add_call(&mut self, from: u32, callee: Callee) -> u32 {
        let node = match self.on_path(from, callee.0) {
            Some(node) => node,
            None => self.add_node(from, callee),
        };
        let call = self.calls.len() as u32;
        self.calls.push(Call { node, count: 0 });
        self.index.insert((from, callee), call);
        call
    }

    fn on_path(&self, from: u32, function: u32) -> Option<u32> {
        self.path(from)
            .find(|&node| self.nodes[node as usize].function == function)
    }

    /// The node and those that lead to it, without the root.
    pub fn path(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |node: u32| (node > ELSEWHERE).then_some(node);
        std::iter::successors(known(node), move |&node| known(self.nodes[node as usize].parent))
    }

    /// The node that called this one: the root if none is known.
    pub fn caller(&self, node: u32) -> u32 {
        self.path(node).nth(1).unwrap_or(ROOT)
    }

    /// Whether functions are missing at the beginning of the node's path.
    pub fn is_cut(&self, node: u32) -> bool {
        self.path(node)
            .last()
            .is_some_and(|first| self.nodes[first as usize].parent == ELSEWHERE)
    }

    fn add_node(&mut self, from: u32, (function, is_inlined): Callee) -> u32 {
        if self.nodes.len() >= self.most_nodes && from != ELSEWHERE {
            let call = self.find_call(ELSEWHERE, (function, false));
            return self.calls[call as usize].node;
        }
        self.nodes.push(Node {
            parent: from,
            function,
            is_inlined,
            cost: Cost::default(),
            last_call: (NONE, 0),
        });
        self.nodes.len() as u32 - 1
    }

    /// Adds another tree, whose functions have these numbers here. Returns the nodes of the other tree here.
    pub fn merge(&mut self, other: &Tree, numbers: &[u32]) -> Vec<u32> {
        let mut here = vec![ROOT, ELSEWHERE];
        for node in &other.nodes[here.len()..] {
            // Parents come before their children.
            let callee = (numbers[node.function as usize], node.is_inlined);
            let call = self.find_call(here[node.parent as usize], callee);
            here.push(self.calls[call as usize].node);
        }
        for (&node, from) in here.iter().zip(&other.nodes) {
            self.add_cost(node, &from.cost);
        }
        for (&(from, (function, is_inlined)), &call) in &other.index {
            let callee = (numbers[function as usize], is_inlined);
            let into = self.find_call(here[from as usize], callee);
            self.calls[into as usize].count += other.calls[call as usize].count;
        }
        here
    }

    /// The costs of each node and all below it.
    pub fn inclusive_costs(&self) -> Vec<Cost> {
        let mut costs: Vec<Cost> = self.nodes.iter().map(|node| node.cost).collect();
        for index in (ELSEWHERE as usize..self.nodes.len()).rev() {
            let cost = costs[index];
            costs[self.nodes[index].parent as usize] += &cost;
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(tree: &Tree, node: u32) -> Vec<u32> {
        tree.path(node)
            .map(|node| tree.nodes[node as usize].function)
            .collect()
    }

    fn cost(accesses: u64) -> Cost {
        Cost {
            accesses,
            ..Cost::default()
        }
    }

    #[test]
    fn recursion_comes_back_to_the_same_node() {
        let mut tree = Tree::new();
        let main = tree.call(ROOT, 1);
        let sort = tree.call(main, 2);
        let swap = tree.call(sort, 3);
        assert_eq!(tree.call(swap, 2), sort);
        assert_eq!(tree.call(sort, 2), sort);
        assert_eq!(functions(&tree, swap), [3, 2, 1]);
        assert_ne!(tree.call(main, 3), swap, "another path");
        assert_eq!(tree.call(main, 2), sort);
        let counts: u64 = tree.calls().map(|(_, call)| call.count).sum();
        assert_eq!(counts, 7);
    }

    #[test]
    fn inlined_functions_stand_below_those_whose_code_they_are() {
        let mut tree = Tree::new();
        let main = tree.call(ROOT, 1);
        let inlined = tree.inlined(main, 2);
        let called = tree.call(main, 2);
        assert_ne!(inlined, called);
        assert_eq!(
            (functions(&tree, inlined), functions(&tree, called)),
            (vec![2, 1], vec![2, 1])
        );
        assert_eq!((tree.inlined(main, 2), tree.inlined(main, 1)), (inlined, main));
        let is_inlined = |node: u32| tree.nodes[node as usize].is_inlined;
        assert!(is_inlined(inlined) && !is_inlined(called));
        let mut other = Tree::new();
        other.merge(&tree, &[0, 7, 8]);
        let nodes: Vec<_> = (2..other.nodes.len() as u32)
            .map(|node| (functions(&other, node), other.nodes[node as usize].is_inlined))
            .collect();
        assert_eq!(nodes, [(vec![7], false), (vec![8, 7], true), (vec![8, 7], false)]);
        assert_eq!(other.calls().map(|(_, call)| call.count).sum::<u64>(), 2);
    }

    #[test]
    fn trees_add_up() {
        let mut one = Tree::new();
        let (main, mut other) = (one.call(ROOT, 1), Tree::new());
        one.add_cost(main, &cost(5));
        let work = other.call(ROOT, 2);
        let main_below = other.call(work, 1);
        other.add_cost(main_below, &cost(7));
        other.call(main_below, 2);
        let main = other.call(ROOT, 1);
        other.add_cost(main, &cost(11));
        one.merge(&other, &[0, 1, 2]);
        let inclusive = one.inclusive_costs();
        let mut found: Vec<_> = (2..one.nodes.len() as u32)
            .map(|node| (functions(&one, node), inclusive[node as usize].accesses))
            .collect();
        found.sort();
        assert_eq!(found, [(vec![1], 16), (vec![1, 2], 7), (vec![2], 7)]);
        assert_eq!(inclusive[ROOT as usize].accesses, 23);
        assert_eq!(one.calls().map(|(_, call)| call.count).sum::<u64>(), 5);
    }

    #[test]
    fn a_full_tree_keeps_functions_apart_still() {
        let mut tree = Tree::with_room_for(3);
        let main = tree.call(ROOT, 1);
        let far = tree.call(main, 2);
        assert_eq!(functions(&tree, far), [2]);
        assert!(tree.is_cut(far) && !tree.is_cut(main));
        let farther = tree.call(far, 3);
        assert_eq!(functions(&tree, farther), [3]);
        assert_eq!(tree.call(farther, 2), far);
        assert_eq!(tree.nodes.len(), 5, "no more than there are functions");
    }
}
