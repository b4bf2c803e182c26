//! Where in the tree the code of inlined functions counts.

use std::collections::HashMap;

use super::functions::{Functions, NOT_INLINED};
use super::tree::Tree;

/// No node.
const NONE: u32 = u32::MAX;

/// The nodes of chains of inlined functions below those of the functions whose code they are.
#[derive(Debug, Default)]
pub struct InlinedNodes {
    /// Innermost node of a chain, by the node above the chain and the chain.
    nodes: HashMap<(u32, u32), u32>,
    /// The node that was asked for last and its answer, by chain.
    latest: Vec<(u32, u32)>,
}

impl InlinedNodes {
    /// Makes room for the chains that there are.
    pub fn grow(&mut self, functions: &Functions) {
        self.latest.resize(functions.chain_count(), (NONE, NONE));
    }

    #[inline]
    pub fn below(&mut self, node: u32, chain: u32, functions: &Functions, tree: &mut Tree) -> u32 {
        if chain == NOT_INLINED {
            return node;
        }
        let (last, below) = self.latest[chain as usize];
        if last == node {
            return below;
        }
        let below = *self.nodes.entry((node, chain)).or_insert_with(|| {
            let inlined = functions.chain(chain).iter();
            inlined.fold(node, |node, function| tree.inlined(node, *function))
        });
        self.latest[chain as usize] = (node, below);
        below
    }
}
