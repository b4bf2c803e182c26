//! Entries of a region that were counted alike: those of a thread from within the same regions.
//!
//! If not all were counted, the counted ones are a sample, dealt out to groups. The differences between the groups'
//! means show how far the sample may lie off (the method of random groups: Wolter, "Introduction to Variance
//! Estimation", chapter 2).

use std::collections::HashMap;

use indexmap::IndexMap;
use trackway_trace::Node;

use super::measured::Measured;
use super::scale::Scale;

/// Two-sided 95 % points of Student's distribution by degrees of freedom, from 1.
const STUDENT: [f64; 7] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365];

/// Nodes of one region within the same regions, which differ in their group or that of those.
#[derive(Debug, Default)]
pub struct Stratum {
    /// Positions of the nodes.
    pub nodes: Vec<usize>,
    pub entries: u64,
    pub counted: Part,
    pub timed: Part,
    pub measured: Measured,
    /// Counted entries of each node.
    pub counted_in_nodes: Vec<u64>,
    /// Entries were timed without being counted.
    pub is_timed: bool,
    /// How often a thread ran in a region that another one had entered. The entries above are that one's.
    pub inherited: Option<u64>,
}

/// Entries that were counted, or timed without being counted.
#[derive(Debug, Default, Clone, Copy)]
pub struct Part {
    pub entries: u64,
    pub time_ns: u64,
    /// Time without the regions within it.
    pub own_time_ns: u64,
}

impl Part {
    fn add(&mut self, entries: u64, time_ns: u64, within_ns: u64) {
        self.entries = self.entries.saturating_add(entries);
        self.time_ns = self.time_ns.saturating_add(time_ns);
        self.own_time_ns = self.own_time_ns.saturating_add(time_ns.saturating_sub(within_ns));
    }
}

/// The strata of a thread, in the order of their first nodes.
pub fn strata(nodes: &[Node]) -> Vec<Stratum> {
    let within = times_within(nodes);
    let mut strata: IndexMap<Key, Stratum> = IndexMap::new();
    // Strata of the nodes so far. Parents come before the nodes within them.
    let mut stratum_of: HashMap<(u32, u32), usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let outer = match (node.number, stratum_of.get(&(node.parent, node.image))) {
            (0, _) => Outer::Nothing,
            (_, Some(stratum)) => Outer::Stratum(*stratum),
            (_, None) => Outer::Lost(node.parent),
        };
        let entered_by = node.origin.map(|origin| origin.stream);
        let key = (node.image, outer, Stage::of(node), entered_by, node.name.as_str());
        let entry = strata.entry(key);
        stratum_of.insert((node.number, node.image), entry.index());
        let stratum = entry.or_default();
        let (counted_ns, timed_ns) = within[index];
        stratum.nodes.push(index);
        stratum.counted_in_nodes.push(node.counted_entries);
        stratum.entries = stratum.entries.saturating_add(node.entries);
        stratum
            .counted
            .add(node.counted_entries, node.counted_time_ns, counted_ns);
        stratum
            .timed
            .add(node.timed_entries, node.timed_time_ns, timed_ns);
        stratum.measured.add(node);
        stratum.is_timed |= node.timed_time_ns > timed_ns;
        if node.origin.is_some() {
            stratum.inherited = Some(stratum.entries);
        }
    }
    strata.into_values().collect()
}

/// Image, what it was entered in, stage, the stream of the thread that entered it if that is another one, name.
type Key<'n> = (u32, Outer, Stage, Option<u32>, &'n str);

/// How the entries of a node were chosen: by its group, as docs/format.md has it. Early entries say little of later ones.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// All were counted.
    First,
    /// They were counted and timed in turns.
    Learning,
    /// They were chosen at one rate, whose number this is.
    Sampled(u8),
}

impl Stage {
    fn of(node: &Node) -> Stage {
        match node.group {
            u8::MAX => Stage::First,
            248.. => Stage::Learning,
            group => Stage::Sampled(group / 8),
        }
    }
}

/// What a node was entered in.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Outer {
    /// Node 0: all that is outside of regions.
    Nothing,
    Stratum(usize),
    /// A node that is missing.
    Lost(u32),
}

/// For each node, the time of the nodes directly within it: in its counted entries, and in its others. Entries within
/// an entry are counted, timed or passed as that one is.
fn times_within(nodes: &[Node]) -> Vec<(u64, u64)> {
    let mut within = vec![(0u64, 0u64); nodes.len()];
    for node in nodes.iter().filter(|node| node.number != 0) {
        let place = |other: &Node| (other.number, other.image);
        if let Ok(parent) = nodes.binary_search_by_key(&(node.parent, node.image), place) {
            let (counted, timed) = &mut within[parent];
            *counted = counted.saturating_add(node.counted_time_ns);
            *timed = timed.saturating_add(node.timed_time_ns);
        }
    }
    within
}

fn scaled(time_ns: u64, to: u64, from: u64) -> u64 {
    let scaled = u128::from(time_ns) * u128::from(to) / u128::from(from.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

impl Stratum {
    /// How often a thread was in the region.
    pub fn runs(&self) -> u64 {
        self.inherited.unwrap_or(self.entries)
    }

    /// The scale from the counted entries to all.
    pub fn scale(&self) -> Scale {
        // A thread that was killed between two steps may have noted one more as left than as entered.
        Scale::new(self.entries.max(self.counted.entries), self.counted.entries)
    }

    /// The scale from the entries that were only timed to all.
    pub fn scale_from_timed(&self) -> Scale {
        Scale::new(self.entries.max(self.timed.entries), self.timed.entries)
    }

    /// Time of all entries, with and without the nodes within them. If some entries were neither counted nor timed, all
    /// are taken to last as long as the timed ones or, if there are none, the counted ones.
    pub fn times_ns(&self) -> (u64, u64) {
        let told = self.counted.entries.saturating_add(self.timed.entries);
        if told >= self.entries {
            return (
                self.counted.time_ns.saturating_add(self.timed.time_ns),
                self.counted.own_time_ns.saturating_add(self.timed.own_time_ns),
            );
        }
        let part = match self.timed.entries {
            0 => &self.counted,
            _ => &self.timed,
        };
        (
            scaled(part.time_ns, self.entries, part.entries),
            scaled(part.own_time_ns, self.entries, part.entries),
        )
    }

    /// Half the width of the 95 % confidence interval of the sum over all entries. `groups` holds the counted entries
    /// of each group and their sum. 0 if all entries were counted, none if there are too few groups.
    pub fn half_width(&self, groups: &[(u64, u64)]) -> Option<f64> {
        let counted = self.counted.entries as f64;
        if self.counted.entries >= self.entries {
            return Some(0.0);
        }
        let groups: Vec<(f64, f64)> = groups
            .iter()
            .filter(|(entries, _)| *entries > 0)
            .map(|&(entries, sum)| (entries as f64, sum as f64))
            .collect();
        let freedom = groups.len().checked_sub(2)?;
        let mean = groups.iter().map(|(_, sum)| sum).sum::<f64>() / counted;
        let squares = groups
            .iter()
            .map(|(entries, sum)| entries * (sum / entries - mean).powi(2));
        let variance = squares.sum::<f64>() / (groups.len() - 1) as f64;
        let entries = self.entries as f64;
        let of_total = entries * entries * variance / counted * (1.0 - counted / entries);
        Some(STUDENT[freedom.min(STUDENT.len() - 1)] * of_total.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(entries: u64, counted: u64, timed: u64) -> Stratum {
        let part = |entries| Part {
            entries,
            time_ns: entries * 10,
            own_time_ns: entries * 6,
        };
        Stratum {
            entries,
            counted: part(counted),
            timed: part(timed),
            ..Stratum::default()
        }
    }

    #[test]
    fn entries_that_passed_take_as_long_as_timed_ones() {
        assert_eq!(stratum(5, 3, 2).times_ns(), (50, 30));
        let mut sampled = stratum(1000, 4, 5);
        sampled.timed.time_ns = 35;
        sampled.timed.own_time_ns = 20;
        assert_eq!(sampled.times_ns(), (7000, 4000));
        assert_eq!(stratum(1000, 4, 0).times_ns(), (10_000, 6000));
        assert_eq!(stratum(0, 0, 0).times_ns(), (0, 0));
    }

    #[test]
    fn the_interval_is_that_of_random_groups() {
        assert_eq!(stratum(7, 7, 0).half_width(&[]), Some(0.0));
        assert_eq!(stratum(100, 2, 0).half_width(&[(2, 50)]), None);
        // Two groups of 2 entries with means 10 and 14: variance 2 * (2^2 + 2^2) / 1 = 16 an entry.
        let half = stratum(100, 4, 0)
            .half_width(&[(2, 20), (0, 0), (2, 28)])
            .unwrap();
        let expected = 12.706 * (100.0 * 100.0 * 16.0 / 4.0 * 0.96f64).sqrt();
        assert!((half - expected).abs() < 1e-6, "{half} {expected}");
        // Groups that agree leave no doubt.
        assert_eq!(stratum(100, 4, 0).half_width(&[(2, 20), (2, 20)]), Some(0.0));
    }
}
