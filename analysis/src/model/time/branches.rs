//! Branches that a processor would guess wrong, told by the order of accesses: after which access which other one comes.
//!
//! A small predictor after the manner of TAGE (Seznec and Michaud, 2006): what mostly follows an access, and tables of
//! what followed it after the last choices, more of them from table to table.

/// Entries of each table, and choices that their histories have.
const ENTRIES: usize = 1 << 12;
const CHOICES: [u32; 4] = [4, 10, 26, 64];
/// Bits of a choice in the history.
const CHOICE_BITS: u32 = 4;
const MOST_SURE: u8 = 3;

/// Accesses in which a detour is followed until it comes to code of the program.
const WAY: usize = 4;
pub(super) type Way = [u32; WAY];

/// What follows an access of a site.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    /// For which place and history it holds.
    tag: u32,
    site: u32,
    /// How often it was right lately.
    sure: u8,
}

impl Next {
    fn learn(&mut self, site: u32) {
        match (self.site == site, self.sure) {
            (true, _) => self.sure = (self.sure + 1).min(MOST_SURE),
            (false, 0) => self.site = site,
            (false, _) => self.sure -= 1,
        }
    }
}

/// The predictor of a core.
#[derive(Debug, Clone)]
pub(super) struct Branches {
    last: u32,
    /// By site: what mostly follows.
    usual: Vec<Next>,
    /// By site: whether different ones followed.
    chooses: Vec<bool>,
    tables: [Vec<Next>; CHOICES.len()],
    history: History,
}

/// The last choices, the newest in the lowest bits of the first word.
#[derive(Debug, Clone, Copy, Default)]
struct History([u64; 4]);

impl History {
    fn push(&mut self, choice: u64) {
        let mut carried = choice & ((1 << CHOICE_BITS) - 1);
        for word in &mut self.0 {
            let further = *word >> (u64::BITS - CHOICE_BITS);
            *word = *word << CHOICE_BITS | carried;
            carried = further;
        }
    }

    /// So many choices, mixed.
    fn mixed(&self, choices: u32) -> u64 {
        let mut mixed = 0u64;
        let mut bits = choices * CHOICE_BITS;
        for word in self.0 {
            let of_word = bits.min(u64::BITS);
            let kept = word & u64::MAX.checked_shr(u64::BITS - of_word).unwrap_or(0);
            mixed = (mixed ^ kept).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            bits -= of_word;
            if bits == 0 {
                break;
            }
        }
        mixed
    }
}

impl Branches {
    pub fn new(sites: usize) -> Branches {
        Branches {
            last: 0,
            usual: vec![Next::default(); sites],
            chooses: vec![false; sites],
            tables: CHOICES.map(|_| vec![Next::default(); ENTRIES]),
            history: History::default(),
        }
    }

    pub fn make_room(&mut self, sites: usize) {
        self.usual.resize(sites.max(self.usual.len()), Next::default());
        self.chooses.resize(sites.max(self.chooses.len()), false);
    }

    /// Notes that an access of the site comes next. If that was not to be foreseen, returns the site that was.
    #[inline(always)]
    pub fn surprise(&mut self, site: usize) -> Option<u32> {
        let last = self.last as usize;
        self.last = site as u32;
        let usual = &mut self.usual[last];
        if !self.chooses[last] {
            if usual.site == site as u32 {
                return None;
            }
            // What never came before isn't counted: all code is new once.
            self.chooses[last] = std::mem::replace(&mut usual.tag, 1) == 1;
            if !self.chooses[last] {
                usual.site = site as u32;
                return None;
            }
        }
        self.choose(last, site as u32)
    }

    /// The sites to which code goes on that begins with this one, as far as a detour may go astray.
    pub fn way_from(&self, site: u32) -> Way {
        let mut way = [site; WAY];
        for step in 1..WAY {
            way[step] = self.usual[way[step - 1] as usize].site;
        }
        way
    }

    fn choose(&mut self, last: usize, site: u32) -> Option<u32> {
        let places = CHOICES.map(|choices| self.place(last, choices));
        let mut foreseen = self.usual[last].site;
        for (table, (index, tag)) in self.tables.iter().zip(places) {
            let known = table[index];
            if known.tag == tag && known.sure > 0 {
                foreseen = known.site;
            }
        }
        let surprise = foreseen != site;
        for (table, (index, tag)) in self.tables.iter_mut().zip(places) {
            let known = &mut table[index];
            match (known.tag == tag, known.sure) {
                (true, _) => known.learn(site),
                (false, 0) if surprise => {
                    *known = Next { tag, site, sure: 0 };
                }
                (false, _) if surprise => known.sure -= 1,
                _ => (),
            }
        }
        self.usual[last].learn(site);
        self.history.push(site.into());
        surprise.then_some(foreseen)
    }

    /// The place in a table, and the tag, of a site after so many choices.
    fn place(&self, last: usize, choices: u32) -> (usize, u32) {
        let history = self.history.mixed(choices);
        let mixed = (history ^ (last as u64) << 32 ^ last as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed >> 50) as usize % ENTRIES, (mixed >> 16) as u32 | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprises(sites: impl Iterator<Item = usize>) -> usize {
        let mut branches = Branches::new(8);
        sites.filter(|&site| branches.surprise(site).is_some()).count()
    }

    #[test]
    fn straight_code_and_patterns_are_foreseen() {
        assert_eq!(surprises((0..9000).map(|i| i % 3)), 0);
        // Every fourth time another way.
        let pattern = (0..40_000).flat_map(|i| if i % 4 == 0 { [1, 2] } else { [1, 3] });
        let count = surprises(pattern);
        assert!(count < 400, "{count}");
    }

    /// Walks of trees go on in patterns as long as their leaves are many.
    #[test]
    fn long_patterns_are_foreseen() {
        // As many of one site as there are trailing zeros, up to three, then the other one.
        let pattern = (1..100_000u32)
            .flat_map(|i| std::iter::repeat_n(1, i.trailing_zeros().min(3) as usize + 1).chain([2]));
        let all = pattern.clone().count();
        let count = surprises(pattern);
        assert!(count < all / 40, "{count} of {all}");
    }

    #[test]
    fn chance_is_not() {
        let mut state = 88_172_645_463_325_252u64;
        let mut chance = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) % 2
        };
        let count = surprises((0..20_000).flat_map(|_| [1, 2 + chance() as usize]));
        assert!((8_000..12_500).contains(&count), "{count}");
    }
}
