//! Branches that a processor would guess wrong, told by the order of accesses: after which access which other one comes.
//!
//! A small predictor after the manner of TAGE (Seznec and Michaud, 2006): what mostly follows an access, and two tables of
//! what followed it after the last choices.

/// Entries of each table, and choices that their histories have.
const ENTRIES: usize = 1 << 12;
const CHOICES: [u32; 2] = [4, 15];
/// Bits of a choice in the history.
const CHOICE_BITS: u32 = 4;
const MOST_SURE: u8 = 3;

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
    tables: [Vec<Next>; 2],
    history: u64,
}

impl Branches {
    pub fn new(sites: usize) -> Branches {
        Branches {
            last: 0,
            usual: vec![Next::default(); sites],
            chooses: vec![false; sites],
            tables: CHOICES.map(|_| vec![Next::default(); ENTRIES]),
            history: 0,
        }
    }

    pub fn make_room(&mut self, sites: usize) {
        self.usual.resize(sites.max(self.usual.len()), Next::default());
        self.chooses.resize(sites.max(self.chooses.len()), false);
    }

    /// Notes that an access of the site comes next. Returns whether that was not to be foreseen.
    #[inline(always)]
    pub fn surprise(&mut self, site: usize) -> bool {
        let last = self.last as usize;
        self.last = site as u32;
        let usual = &mut self.usual[last];
        if !self.chooses[last] {
            if usual.site == site as u32 {
                return false;
            }
            // What never came before isn't counted: all code is new once.
            self.chooses[last] = std::mem::replace(&mut usual.tag, 1) == 1;
            if !self.chooses[last] {
                usual.site = site as u32;
                return false;
            }
        }
        self.choose(last, site as u32)
    }

    fn choose(&mut self, last: usize, site: u32) -> bool {
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
        self.history = self.history << CHOICE_BITS | u64::from(site & ((1 << CHOICE_BITS) - 1));
        surprise
    }

    /// The place in a table, and the tag, of a site after so many choices.
    fn place(&self, last: usize, choices: u32) -> (usize, u32) {
        let history = self.history & ((1 << (choices * CHOICE_BITS)) - 1);
        let mixed = (history ^ (last as u64) << 32 ^ last as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed >> 50) as usize % ENTRIES, (mixed >> 16) as u32 | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprises(sites: impl Iterator<Item = usize>) -> usize {
        let mut branches = Branches::new(8);
        sites.map(|site| usize::from(branches.surprise(site))).sum()
    }

    #[test]
    fn straight_code_and_patterns_are_foreseen() {
        assert_eq!(surprises((0..9000).map(|i| i % 3)), 0);
        // Every fourth time another way.
        let pattern = (0..40_000).flat_map(|i| if i % 4 == 0 { [1, 2] } else { [1, 3] });
        let count = surprises(pattern);
        assert!(count < 400, "{count}");
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
