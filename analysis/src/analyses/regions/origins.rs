//! Inherited regions: what threads do in entries that another thread made, and that were counted, timed or passed there.

use std::collections::HashMap;

use trackway_trace::{Node, Origin};

use super::scale::Scale;
use super::stratum::Stratum;

/// The entries that threads made themselves, by image and node.
#[derive(Debug, Default)]
pub struct Origins(HashMap<(u32, Origin), Entered>);

/// Entries of a node, and of the stratum to which it belongs.
#[derive(Debug, Clone, Copy)]
struct Entered {
    counted_in_node: u64,
    entries: u64,
    counted: u64,
    timed: u64,
    is_timed: bool,
}

impl Origins {
    /// Learns of the strata of a thread.
    pub fn note(&mut self, strata: &[Stratum], nodes: &[Node]) {
        for stratum in strata.iter().filter(|stratum| stratum.inherited.is_none()) {
            for (&index, &counted_in_node) in stratum.nodes.iter().zip(&stratum.counted_in_nodes) {
                let node = &nodes[index];
                let origin = Origin {
                    stream: node.stream,
                    node: node.number,
                };
                let entered = Entered {
                    counted_in_node,
                    entries: stratum.entries,
                    counted: stratum.counted.entries,
                    timed: stratum.timed.entries,
                    is_timed: stratum.is_timed,
                };
                self.0.insert((node.image, origin), entered);
            }
        }
    }

    fn of(&self, node: &Node) -> Option<Entered> {
        self.0.get(&(node.image, node.origin?)).copied()
    }

    /// Whether all entries that these strata inherited are known.
    pub fn know(&self, strata: &[Stratum], nodes: &[Node]) -> bool {
        let mut inherited = strata.iter().filter(|stratum| stratum.inherited.is_some());
        inherited.all(|stratum| {
            stratum
                .nodes
                .iter()
                .all(|index| self.of(&nodes[*index]).is_some())
        })
    }

    /// Gives inherited strata the entries of the threads that entered. Where these are lost, a stratum keeps its own
    /// number of runs.
    pub fn give(&self, strata: &mut [Stratum], nodes: &[Node]) {
        for stratum in strata.iter_mut() {
            let entered = stratum.nodes.first().and_then(|index| self.of(&nodes[*index]));
            let (Some(runs), Some(entered)) = (stratum.inherited, entered) else {
                continue;
            };
            let told = entered.counted.saturating_add(entered.timed);
            let all = Scale::new(entered.entries.max(told), told);
            stratum.inherited = Some(all.apply(runs));
            stratum.entries = entered.entries;
            stratum.counted.entries = entered.counted;
            stratum.timed.entries = entered.timed;
            stratum.is_timed = entered.is_timed;
            for (counted, index) in stratum.counted_in_nodes.iter_mut().zip(&stratum.nodes) {
                *counted = self
                    .of(&nodes[*index])
                    .map_or(*counted, |entered| entered.counted_in_node);
            }
        }
    }
}
