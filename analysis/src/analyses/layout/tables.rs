//! Structures as `pahole` shows them, with what was accessed.

use std::sync::Arc;

use trackway_report::{counted, grouped, percent, top_title, Table, TableBuilder};
use trackway_trace::Program;

use super::advice::{Before, Judged, Verdict};
use super::affinity::Pairs;
use super::proposals::{affinity, Evidence, Proposal, USUAL_LINE_BYTES};
use super::weights::Weights;
use super::Shown;
use crate::model::cache::Caches;
use crate::model::site_counts::attribution_table;
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::structures::{Structure, Structures};
use crate::model::time::Machine;
use crate::Findings;

pub(super) struct Presentation<'p> {
    pub structures: &'p Structures,
    pub weights: &'p [Weights],
    pub pairs: &'p [Pairs],
    pub caches: &'p Caches,
    pub machine: Option<&'p Arc<Machine>>,
    pub window: u64,
    pub shown: &'p Shown,
}

/// A line of a layout: a member, or bytes between.
struct Row<'r> {
    offset: u64,
    size: u64,
    name: &'r str,
    type_name: &'r str,
    counters: Option<SiteCounters>,
    heat: &'static str,
}

struct Pair<'r> {
    a: &'r str,
    b: &'r str,
    together: u64,
    /// Part and whole.
    affinity: (u64, u64),
}

/// What is said of proposals.
pub(super) enum Advice<'a> {
    NotSimulated(Vec<Proposal>),
    Simulated(Box<Before<'a>>, Vec<Judged>),
}

impl<'p> Presentation<'p> {
    pub fn findings(&self, program: &Program, counters: &[SiteCounters], advice: &Advice) -> Findings {
        let chosen = self.chosen();
        let mut tables = vec![self.overview(&chosen)];
        for &index in &chosen[..chosen.len().min(self.shown.top)] {
            tables.push(self.members(index));
            tables.extend(self.affinity(index));
        }
        let proposed: Vec<&Proposal> = match advice {
            Advice::NotSimulated(proposals) => {
                tables.extend(self.not_simulated(proposals));
                proposals.iter().collect()
            }
            Advice::Simulated(before, judged) => {
                tables.extend(self.simulated(before, judged).into_iter().flatten());
                let gaining = judged.iter().filter(|judged| judged.after().is_some());
                gaining.map(|judged| &judged.proposal).collect()
            }
        };
        let definitions = each_definition_once(proposed);
        tables.extend(definitions.into_iter().map(|proposal| self.definition(proposal)));
        tables.push(attribution_table(program, counters));
        tables.push(self.audit(counters));
        Findings {
            answer: Some(self.answer(&chosen, advice)),
            tables,
        }
    }

    /// Proposals for the structures that are shown, in their order.
    pub fn proposals(&self) -> Vec<Proposal> {
        let chosen = self.chosen();
        let shown = chosen.iter().take(self.shown.top);
        shown
            .flat_map(|&index| self.evidence(index).proposals())
            .collect()
    }

    /// The program as it is.
    pub fn before(&self, program: &Program, counters: &[SiteCounters]) -> Before<'p> {
        Before {
            structures: self.structures,
            caches: self.caches,
            machine: self.machine,
            line_bytes: self.line_bytes(),
            rank_by: self.shown.rank_by,
            total: SiteCounters::sum(counters),
            of_structures: self.weights.iter().map(|weights| weights.total).collect(),
            waited: self.waited(program, counters),
        }
    }

    /// The cycles that the accesses to each structure waited, if time is what counts.
    fn waited(&self, program: &Program, counters: &[SiteCounters]) -> Option<Vec<u64>> {
        let machine = self.machine.filter(|_| self.shown.rank_by == Measure::Cycles)?;
        let mut waited = vec![0; self.structures.list.len()];
        let of_sites = machine.cycles_waited(program, counters);
        for (field, cycles) in self.structures.sites.iter().zip(of_sites) {
            if let Some(field) = field {
                waited[field.structure] += cycles;
            }
        }
        Some(waited)
    }

    /// What has columns: the caches, and whether time does.
    fn columns(&self) -> (&Caches, bool) {
        (self.caches, self.machine.is_some())
    }

    fn line_bytes(&self) -> u64 {
        let first = self.caches.levels().first();
        first.map_or(USUAL_LINE_BYTES, |level| level.geometry.line_bytes.into())
    }

    /// The structures that were accessed, by the ranking measure, or the one that was asked for.
    fn chosen(&self) -> Vec<usize> {
        let is_chosen = |&index: &usize| match self.shown.only {
            Some(only) => only == index,
            None => self.weights[index].total.accesses > 0,
        };
        let mut chosen: Vec<usize> = (0..self.structures.list.len()).filter(is_chosen).collect();
        chosen.sort_by_key(|&index| {
            let total = &self.weights[index].total;
            std::cmp::Reverse((self.shown.rank_by.of(total), total.accesses))
        });
        chosen
    }

    fn evidence(&self, index: usize) -> Evidence<'_> {
        Evidence {
            index,
            line_bytes: self.line_bytes(),
            structure: &self.structures.list[index],
            weights: &self.weights[index],
            pairs: &self.pairs[index],
            rank_by: self.shown.rank_by,
        }
    }

    fn answer(&self, chosen: &[usize], advice: &Advice) -> String {
        let Some(&first) = chosen.first() else {
            return "No access names a field of a structure; build with -g to see them.".into();
        };
        let rank_by = self.shown.rank_by;
        let most = format!("{} has the most {rank_by}", self.structures.list[first].name);
        let reasons = |proposal: &Proposal| {
            let name = &self.structures.list[proposal.structure].name;
            format!("{name}: {}", proposal.reason)
        };
        match advice {
            Advice::NotSimulated(proposals) => match proposals.first() {
                Some(proposal) => format!("{} (not simulated)", reasons(proposal)),
                None => format!("{most}; nothing speaks against its layout"),
            },
            Advice::Simulated(before, judged) => {
                let best = judged
                    .first()
                    .and_then(|best| Some((&best.proposal, best.after()?)));
                let Some((proposal, after)) = best else {
                    let count = counted(judged.len() as u64, "proposal");
                    return format!("{most}; of {count} none saves 2 % of the program's");
                };
                let all = rank_by.of(&before.total);
                let saved = all.saturating_sub(rank_by.of(after));
                format!(
                    "{}; the change saves {} of the {rank_by}",
                    reasons(proposal),
                    percent(saved as f64 / all.max(1) as f64)
                )
            }
        }
    }

    fn overview(&self, chosen: &[usize]) -> Table {
        let structure = |index: &usize| &self.structures.list[*index];
        let total = |index: &usize| &self.weights[*index].total;
        let all = SiteCounters::sum(self.weights.iter().map(|weights| &weights.total));
        let title = format!("Structures by {}", self.shown.rank_by);
        let builder = TableBuilder::top("structures", title, chosen, self.shown.top)
            .text("type", |row| structure(row).name.as_str())
            .bytes(("size_bytes", "size"), |row| structure(row).size)
            .number(("alignment_bytes", "align"), |row| structure(row).alignment)
            .count("members", |row| structure(row).members.len())
            .bytes(("hole_bytes", "holes"), |row| {
                structure(row).holes().iter().map(|(_, size)| size).sum::<u64>()
            })
            .bytes(("padding_bytes", "padding"), |row| structure(row).padding())
            .yes_or_no("live", |row| self.weights[*row].is_live)
            .count("accesses", |row| total(row).accesses)
            .bytes("bytes", |row| total(row).bytes);
        let rank_by = self.shown.rank_by;
        add_misses(builder, self.columns(), |row: &usize| *total(row))
            .share("share", |row| (rank_by.of(total(row)), rank_by.of(&all)))
            .build()
    }

    fn rows(&self, index: usize) -> Vec<Row<'_>> {
        let structure = &self.structures.list[index];
        let weights = &self.weights[index];
        let gap = |(offset, size), name| Row {
            offset,
            size,
            name,
            type_name: "",
            counters: None,
            heat: "",
        };
        let members = structure
            .members
            .iter()
            .enumerate()
            .map(|(position, member)| Row {
                offset: member.offset,
                size: member.size,
                name: &member.name,
                type_name: member.declared.first().map_or("", |(_, type_name, _)| type_name),
                counters: Some(weights.members[position]),
                heat: match weights.cold.get(position) {
                    Some(true) => "cold",
                    Some(false) => "hot",
                    None => "",
                },
            });
        let mut rows: Vec<Row> = members.collect();
        rows.extend(structure.holes().into_iter().map(|hole| gap(hole, "(hole)")));
        let padding = structure.padding();
        if padding > 0 {
            rows.push(gap((structure.size - padding, padding), "(padding)"));
        }
        rows.sort_by_key(|row| row.offset);
        if weights.whole.accesses > 0 {
            rows.push(Row {
                counters: Some(weights.whole),
                ..gap((0, structure.size), "(all of it)")
            });
        }
        rows
    }

    fn members(&self, index: usize) -> Table {
        let structure = &self.structures.list[index];
        let rows = self.rows(index);
        let line_bytes = self.line_bytes();
        let title = title_of(structure, line_bytes);
        let builder = TableBuilder::new("members", title, &rows)
            .number(("cache_line", "line"), |row| row.offset / line_bytes)
            .number(("offset_bytes", "offset"), |row| row.offset)
            .number(("size_bytes", "size"), |row| row.size)
            .text("member", |row| row.name)
            .text(("member_type", "type"), |row| row.type_name)
            .count("accesses", |row| row.counters.map(|counters| counters.accesses))
            .bytes("bytes", |row| row.counters.map(|counters| counters.bytes));
        let rank_by = self.shown.rank_by;
        let total = rank_by.of(&self.weights[index].total);
        add_optional_misses(builder, self.columns(), |row: &Row| row.counters)
            .share("share", |row| match row.counters {
                Some(counters) => (rank_by.of(&counters), total),
                None => (0, 0),
            })
            .text("heat", |row| row.heat)
            .text(("type", "of"), |_| structure.name.as_str())
            .build()
    }

    fn affinity(&self, index: usize) -> Option<Table> {
        let structure = &self.structures.list[index];
        let weights = &self.weights[index];
        let mut pairs = Vec::new();
        for (a, member) in structure.members.iter().enumerate() {
            for (b, other) in structure.members.iter().enumerate().skip(a + 1) {
                pairs.push(Pair {
                    a: &member.name,
                    b: &other.name,
                    together: self.pairs[index].between(a, b),
                    affinity: affinity(weights, &self.pairs[index], a, b),
                });
            }
        }
        pairs.retain(|pair| pair.together > 0);
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.together));
        let rows = &pairs[..pairs.len().min(self.shown.top)];
        if rows.is_empty() {
            return None;
        }
        let title = format!(
            "{}: fields accessed within {} of each other",
            structure.name,
            grouped(self.window)
        );
        let table = TableBuilder::new("affinity", title, rows)
            .text("field", |pair| pair.a)
            .text(("other", "with"), |pair| pair.b)
            .count("together", |pair| pair.together)
            .share("affinity", |pair| pair.affinity)
            .text(("type", "of"), |_| structure.name.as_str())
            .build();
        Some(table)
    }

    fn not_simulated(&self, proposals: &[Proposal]) -> Option<Table> {
        let builder = TableBuilder::new("proposals", "Proposals, not simulated", proposals);
        let table = self.described(builder, |proposal: &Proposal| proposal).build();
        (!proposals.is_empty()).then_some(table)
    }

    /// Proposals that save misses, and the others with what is wrong with them.
    fn simulated(&self, before: &Before, judged: &[Judged]) -> [Option<Table>; 2] {
        let rank_by = before.rank_by;
        let all = rank_by.of(&before.total);
        let gaining: Vec<(&Proposal, &SiteCounters)> = judged
            .iter()
            .filter_map(|judged| Some((&judged.proposal, judged.after()?)))
            .collect();
        let title = format!("Proposals by the {rank_by} that they save, simulated");
        let builder = TableBuilder::new("proposals", title, &gaining);
        let builder = self
            .described(builder, |row| row.0)
            .share(("saved_share", "saved"), |row| {
                (all.saturating_sub(rank_by.of(row.1)), all)
            })
            .count(("after", format!("{rank_by} left")), |row| rank_by.of(row.1))
            .text("worse", |row| before.worse(row.1));
        let proposals = builder.build();
        let dropped: Vec<(&Proposal, &str)> = judged
            .iter()
            .filter_map(|judged| match &judged.verdict {
                Verdict::Dropped(why) => Some((&judged.proposal, why.as_str())),
                Verdict::Gains(_) => None,
            })
            .collect();
        let title = top_title("Not proposed", dropped.len(), judged.len());
        let builder = TableBuilder::new("not_proposed", title, &dropped);
        let not_proposed = self
            .described(builder, |row| row.0)
            .text(("why", "why not"), |row| row.1)
            .build();
        [
            (!gaining.is_empty()).then_some(proposals),
            (!dropped.is_empty()).then_some(not_proposed),
        ]
    }

    fn described<'a, R>(
        &self,
        builder: TableBuilder<'a, R>,
        proposal: impl Fn(&R) -> &Proposal,
    ) -> TableBuilder<'a, R> {
        builder
            .text("type", |row| {
                self.structures.list[proposal(row).structure].name.as_str()
            })
            .text("change", |row| proposal(row).name)
            .text(("reason", "because"), |row| proposal(row).reason.clone())
            .text(("options", self.shown.command.as_str()), |row| {
                proposal(row).options(self.structures)
            })
    }

    fn definition(&self, proposal: &Proposal) -> Table {
        let name = &self.structures.list[proposal.structure].name;
        let title = format!("{name}, {}", proposal.name);
        TableBuilder::new("definition", title, &proposal.definition)
            .source("source", |line| Some(line.clone()))
            .build()
    }

    fn audit(&self, counters: &[SiteCounters]) -> Table {
        let all = SiteCounters::sum(counters);
        let named: u64 = self.weights.iter().map(|weights| weights.total.accesses).sum();
        let placed: u64 = self.weights.iter().map(|weights| weights.placed).sum();
        TableBuilder::new("structures_seen", "Structures", &[()])
            .count(("structures", "structures known"), |()| {
                self.structures.list.len()
            })
            .count(("ambiguous", "names that stand for several"), |()| {
                self.structures.ambiguous.len()
            })
            .share(
                ("with_structure", "accesses to a structure that is known"),
                |()| (named, all.accesses),
            )
            .share(
                ("with_object", "of them with a known object, for the affinity"),
                |()| (placed, named),
            )
            .as_record()
            .build()
    }
}

/// Without proposals whose lines an earlier one has, as with another link to the same rest.
fn each_definition_once(proposals: Vec<&Proposal>) -> Vec<&Proposal> {
    let mut found: Vec<&Proposal> = Vec::new();
    for proposal in proposals {
        if !found
            .iter()
            .any(|earlier| earlier.definition == proposal.definition)
        {
            found.push(proposal);
        }
    }
    found
}

fn title_of(structure: &Structure, line_bytes: u64) -> String {
    let lines = structure.size.div_ceil(line_bytes);
    let holes: u64 = structure.holes().iter().map(|(_, size)| size).sum::<u64>();
    format!(
        "{}: {} bytes, {lines} line{}, {holes} bytes of holes, {} of padding",
        structure.name,
        grouped(structure.size),
        if lines == 1 { "" } else { "s" },
        structure.padding()
    )
}

fn add_misses<'a, R>(
    builder: TableBuilder<'a, R>,
    (caches, timed): (&Caches, bool),
    counters: impl Fn(&R) -> SiteCounters,
) -> TableBuilder<'a, R> {
    add_optional_misses(builder, (caches, timed), |row| Some(counters(row)))
}

fn add_optional_misses<'a, R>(
    mut builder: TableBuilder<'a, R>,
    (caches, timed): (&Caches, bool),
    counters: impl Fn(&R) -> Option<SiteCounters>,
) -> TableBuilder<'a, R> {
    for level in 0..caches.levels().len() {
        let (name, title) = (format!("l{}_misses", level + 1), format!("L{} misses", level + 1));
        builder = builder.count((name, title), |row| {
            counters(row).map(|counters| Measure::Misses(level).of(&counters))
        });
    }
    if timed {
        builder = builder.count(("cycles", "estimated cycles"), |row| {
            counters(row).map(|counters| counters.cycles)
        });
    }
    builder
}
