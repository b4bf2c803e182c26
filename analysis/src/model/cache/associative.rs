//! A fully associative LRU cache.

use std::collections::HashMap;

use super::line_hash::LineHash;

/// Lines in a ring in the order of use; found through a map.
#[derive(Debug, Clone)]
pub(super) struct FullyAssociative {
    capacity: usize,
    position: HashMap<u64, u32, LineHash>,
    nodes: Vec<Node>,
    /// The most recently used one; the least recently used one stands before it in the ring.
    latest: u32,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    line: u64,
    /// The entry that was used next after this one.
    newer: u32,
    older: u32,
}

impl FullyAssociative {
    pub fn new(capacity: usize) -> FullyAssociative {
        FullyAssociative {
            capacity,
            position: HashMap::default(),
            nodes: Vec::new(),
            latest: 0,
        }
    }

    /// Uses a line; says whether it was there. If not, it takes the place of the least recently used one.
    #[inline]
    pub fn touch(&mut self, line: u64) -> bool {
        if self
            .nodes
            .get(self.latest as usize)
            .is_some_and(|node| node.line == line)
        {
            return true;
        }
        if let Some(&node) = self.position.get(&line) {
            self.move_to_front(node);
            return true;
        }
        match self.nodes.len() < self.capacity {
            true => self.add(line),
            false => self.replace_oldest(line),
        }
        self.position.insert(line, self.latest);
        false
    }

    fn add(&mut self, line: u64) {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            line,
            newer: node,
            older: node,
        });
        self.put_in_front(node);
    }

    /// The oldest stands after the latest: as its line changes, the ring only has to be turned.
    fn replace_oldest(&mut self, line: u64) {
        let oldest = self.nodes[self.latest as usize].newer;
        let node = &mut self.nodes[oldest as usize];
        self.position.remove(&node.line);
        node.line = line;
        self.latest = oldest;
    }

    fn move_to_front(&mut self, node: u32) {
        let Node { newer, older, .. } = self.nodes[node as usize];
        if self.nodes[self.latest as usize].newer == node {
            self.latest = node;
            return;
        }
        self.nodes[older as usize].newer = newer;
        self.nodes[newer as usize].older = older;
        self.put_in_front(node);
    }

    /// Links a node that stands nowhere between the latest and the oldest.
    fn put_in_front(&mut self, node: u32) {
        let latest = self.latest;
        let oldest = self.nodes[latest as usize].newer;
        self.nodes[node as usize].older = latest;
        self.nodes[node as usize].newer = oldest;
        self.nodes[latest as usize].newer = node;
        self.nodes[oldest as usize].older = node;
        self.latest = node;
    }
}
