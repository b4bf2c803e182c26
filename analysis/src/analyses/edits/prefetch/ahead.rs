//! The accesses of a program that asks for elements before it needs them.

use std::collections::{BTreeSet, HashMap};

use trackway_trace::{Batch, Piece, Program, SiteId, StringId};

use super::super::simulate::{each_access, Output, PlainSites};
use super::super::Rewrite;
use crate::model::site_counts::group::{self, FieldKey};

/// How far ahead: more than the misses that a core has at once, and few enough for their lines to stay in the first cache.
pub const ITERATIONS: usize = 16;
/// What isn't known so long before for this part of the elements isn't read one after the other.
const LEAST_FORESEEN: f64 = 0.5;
/// Indices that lie farther apart aren't read one after the other.
const LONGEST_STRIDE: u64 = 4096;
const LINE_BYTES: u64 = 64;
/// Sources of one element's address that are looked at.
const MOST_SOURCES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    None,
    Element,
    /// It loads from the source of that number.
    Source(usize),
}

/// What the sites of a program are to such look-ups.
#[derive(Debug, Clone)]
pub(super) struct Roles {
    by_site: Vec<Role>,
    plain: PlainSites,
}

impl Roles {
    /// Loads of the same field in the same line are one source: a compiler may have made several of one.
    pub fn of(program: &Program, elements: &BTreeSet<SiteId>, sources: &BTreeSet<SiteId>) -> Roles {
        let mut numbers: HashMap<(FieldKey, (StringId, u32)), usize> = HashMap::new();
        let mut by_site = vec![Role::None; program.sites.len()];
        for element in elements {
            by_site[element.index()] = Role::Element;
        }
        // An index may be looked up itself, by a pointer to all indices.
        for source in sources {
            let site = program.site(*source);
            let key = (group::field_key(program, site), group::line_key(program, site));
            let next = numbers.len();
            let number = *numbers.entry(key).or_insert(next);
            if number < MOST_SOURCES {
                by_site[source.index()] = Role::Source(number);
            }
        }
        Roles {
            by_site,
            plain: PlainSites::of(program),
        }
    }

    fn concern(&self, site: SiteId) -> bool {
        self.by_site[site.index()] != Role::None
    }
}

/// An access of an element, and how many loads of each source came before it in the batch.
#[derive(Debug)]
struct Element {
    address: u64,
    length: u64,
    before: [u32; MOST_SOURCES],
}

/// Loads of a source.
#[derive(Debug, Clone, Default)]
struct Source {
    loads: Vec<(u64, u64)>,
}

impl Source {
    /// By how much most of its loads follow each other, and how many do.
    fn stride(&self) -> (u64, usize) {
        let steps = || {
            self.loads
                .windows(2)
                .map(|pair| pair[1].0.wrapping_sub(pair[0].0))
        };
        // The majority, if there is one (Boyer and Moore, 1981).
        let (mut most, mut lead) = (0, 0_usize);
        for step in steps() {
            match (step == most, lead) {
                (true, _) => lead += 1,
                (false, 0) => (most, lead) = (step, 1),
                (false, _) => lead -= 1,
            }
        }
        (most, steps().filter(|step| *step == most).count())
    }

    /// The load so many iterations after that one, if the loop goes on until then.
    fn ahead(&self, number: usize, stride: u64) -> Option<(u64, u64)> {
        let (now, _) = *self.loads.get(number)?;
        let then = *self.loads.get(number + ITERATIONS)?;
        (then.0 == now.wrapping_add(stride.wrapping_mul(ITERATIONS as u64))).then_some(then)
    }
}

/// Asks for elements when those of `ITERATIONS` before are needed. A batch ends what can be foreseen.
pub(super) struct Ahead {
    roles: Roles,
    /// Accesses of elements in the whole trace.
    all: u64,
    elements: u64,
    foreseen: u64,
}

impl Ahead {
    pub fn new(roles: Roles, all: u64) -> Ahead {
        Ahead {
            roles,
            all,
            elements: 0,
            foreseen: 0,
        }
    }

    fn survey(&self, batch: &Batch) -> (Vec<Source>, Vec<Element>) {
        let mut sources = vec![Source::default(); MOST_SOURCES];
        let mut elements = Vec::new();
        for piece in batch.pieces() {
            if !self.concerns(batch, &piece) {
                continue;
            }
            each_access(batch, piece, |(site, address, length)| {
                match self.roles.by_site[site.index()] {
                    Role::None => (),
                    Role::Source(number) => sources[number].loads.push((address, length)),
                    Role::Element => elements.push(Element {
                        address,
                        length,
                        before: std::array::from_fn(|number| sources[number].loads.len() as u32),
                    }),
                }
            });
        }
        (sources, elements)
    }

    fn concerns(&self, batch: &Batch, piece: &Piece) -> bool {
        match piece {
            Piece::Accesses(_) => true,
            Piece::Run(run) => batch.lanes(run).iter().any(|lane| self.roles.concern(lane.site)),
        }
    }
}

/// What a batch's loads foresee.
struct Foresight<'b> {
    /// The number of the source that foresees, its loads, and by how much they follow each other.
    source: usize,
    loads: &'b Source,
    stride: u64,
    /// The elements that aren't foreseen yet.
    elements: &'b [Element],
    /// Loads of the source until now.
    done: usize,
}

impl<'b> Foresight<'b> {
    /// None if no source's loads follow each other by a stride.
    fn of(sources: &'b [Source], elements: &'b [Element]) -> Option<Foresight<'b>> {
        foreseeing(sources).map(|(source, stride)| Foresight {
            source,
            loads: &sources[source],
            stride,
            elements,
            done: 0,
        })
    }

    /// At a load of the source: the load `ITERATIONS` later, if the loop goes on until then, and the elements that follow
    /// from it.
    fn next(&mut self) -> Option<((u64, u64), &'b [Element])> {
        self.done += 1;
        let ahead = self.loads.ahead(self.done - 1, self.stride)?;
        let (source, wanted) = (self.source, (self.done + ITERATIONS) as u32);
        let past = self
            .elements
            .partition_point(|element| element.before[source] < wanted);
        let own = self.elements[past..].partition_point(|element| element.before[source] == wanted);
        let found = &self.elements[past..past + own];
        self.elements = &self.elements[past + own..];
        Some((ahead, found))
    }
}

/// The source whose loads follow each other by a stride, if there is one.
fn foreseeing(sources: &[Source]) -> Option<(usize, u64)> {
    let strides = sources.iter().map(Source::stride).enumerate();
    let regular = strides.filter(|(number, (stride, count))| {
        let is_near = (1..=LONGEST_STRIDE).contains(stride.min(&stride.wrapping_neg()));
        is_near && 2 * count > sources[*number].loads.len()
    });
    let most = regular.max_by_key(|(_, (_, count))| *count)?;
    Some((most.0, most.1 .0))
}

impl Rewrite for Ahead {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        let (sources, elements) = self.survey(batch);
        self.elements += elements.len() as u64;
        let mut foresight = Foresight::of(&sources, &elements);
        for item in batch.all_items_of_slice() {
            let Some(piece) = to.accesses_of(item) else {
                continue;
            };
            match piece {
                Piece::Run(run) if !self.concerns(batch, &piece) => to.run(batch.lanes(run), run.count),
                _ => each_access(batch, piece, |(site, address, length)| {
                    to.access(site, address, length);
                    if let (Role::Source(number), Some(foresight)) =
                        (self.roles.by_site[site.index()], &mut foresight)
                    {
                        if number == foresight.source {
                            self.foreseen += ask(foresight, self.roles.plain, to);
                        }
                    }
                }),
            }
        }
    }

    fn objection(&self) -> Option<String> {
        let part = match self.foreseen {
            0 => "none of its accesses".to_owned(),
            foreseen => {
                let share = foreseen as f64 / self.elements.max(1) as f64;
                format!("{} of its accesses only", trackway_report::percent(share))
            }
        };
        (self.foreseen as f64 <= LEAST_FORESEEN * self.elements as f64)
            .then(|| format!("its address is known {ITERATIONS} iterations before in {part}"))
    }

    /// More weren't foreseen than may be of all.
    fn is_refused(&self) -> bool {
        (self.elements - self.foreseen) as f64 >= (1.0 - LEAST_FORESEEN) * self.all as f64
    }
}

/// Asks for the elements of a later iteration, each line once. Returns how many they are.
fn ask(foresight: &mut Foresight, plain: PlainSites, to: &mut Output) -> u64 {
    let Some(((index, bytes), elements)) = foresight.next().filter(|(_, elements)| !elements.is_empty())
    else {
        return 0;
    };
    to.access(plain.load, index, bytes);
    let mut line = None;
    for element in elements {
        if line.replace(element.address / LINE_BYTES) != Some(element.address / LINE_BYTES) {
            to.access(plain.prefetch, element.address, element.length);
        }
    }
    elements.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(addresses: impl IntoIterator<Item = u64>) -> Source {
        Source {
            loads: addresses.into_iter().map(|address| (address, 4)).collect(),
        }
    }

    #[test]
    fn indices_are_read_one_after_the_other() {
        let down = source((0..100).map(|index| 4000 - 4 * index));
        let constant = source([64; 100]);
        let by_chance = source((0..100).map(|index| index * index * 64));
        let all = [constant, by_chance, down];
        assert_eq!(foreseeing(&all), Some((2, 4_u64.wrapping_neg())));
        assert_eq!(foreseeing(&all[..2]), None);
    }

    #[test]
    fn what_can_no_longer_be_half_is_refused() {
        let after = |elements, foreseen| Ahead {
            roles: Roles {
                by_site: Vec::new(),
                plain: PlainSites {
                    load: SiteId(0),
                    store: SiteId(1),
                    prefetch: SiteId(2),
                },
            },
            all: 100,
            elements,
            foreseen,
        };
        for (elements, foreseen, refused) in [(49, 0, false), (50, 0, true), (99, 50, false), (100, 50, true)]
        {
            let ahead = after(elements, foreseen);
            assert_eq!(ahead.is_refused(), refused, "{foreseen} of {elements}");
            // Whoever is refused has an objection.
            assert!(!refused || ahead.objection().is_some());
        }
    }

    #[test]
    fn a_loop_that_ends_before_foresees_nothing() {
        let two = source((0..20).chain(1000..1020).map(|index| 4 * index));
        assert_eq!(two.ahead(0, 4), Some((64, 4)));
        assert_eq!(two.ahead(4, 4), None, "the loop has ended by then");
        assert_eq!(two.ahead(20, 4), Some((4064, 4)));
        assert_eq!(two.ahead(30, 4), None, "the batch ends");
    }
}
