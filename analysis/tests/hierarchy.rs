//! The fast cache model against the naive one, on random accesses and for random caches.

mod naive;

use naive::Naive;
use trackway_analysis::cache::{Access, Caches, Outcome, Simulator};

const SITES: usize = 5;

/// xorshift, so that a seed determines a case.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn pick<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// Caches of a few lines, in the short form.
fn random_caches(random: &mut Random, threads: bool) -> String {
    let levels = 1 + u64::from(threads) + random.below(3);
    let private = if threads {
        1 + random.below(levels - 1)
    } else {
        levels
    };
    let plain = random.one_in(6);
    let mixed_lines = !threads && random.one_in(3);
    let mut line = 16 << random.below(2);
    let mut parts = Vec::new();
    for level in 0..levels {
        let mut words = if plain {
            String::new()
        } else {
            random_words(random, level, mixed_lines)
        };
        if level >= private {
            words += ",shared";
        }
        line <<= u64::from(mixed_lines && random.one_in(3));
        let ways = match words.contains("plru") {
            true => 1 << random.below(4),
            false => 1 + random.below(6),
        };
        let sets = 1 + random.below(5) + 70 * u64::from(random.one_in(9));
        parts.push(format!(
            "L{}={},{ways},{line}{words}",
            level + 1,
            sets * ways * line
        ));
    }
    if !plain {
        for tlb in 0..random.below(3) {
            let ways = 1 + random.below(3);
            parts.push(format!("TLB{}={},{ways}", tlb + 1, ways * (1 + random.below(3))));
        }
        parts.push(format!("page={}", 256 << random.below(3)));
    }
    if random.one_in(2) {
        parts.push("classes".into());
    }
    parts.join(":")
}

fn random_words(random: &mut Random, level: u64, mixed_lines: bool) -> String {
    let mut words = random
        .pick(&["", ",plru", ",srrip", ",drrip", ",random"])
        .to_owned();
    words += random.pick(&["", "", ",write-through"]);
    words += random.pick(&["", "", ",no-write-allocate"]);
    if !mixed_lines {
        let prefetch = random.pick(&[
            "",
            "",
            ",next-line=1",
            ",next-line=3",
            ",stride=1",
            ",stride=2",
            ",far-stride=2",
            ",stream=2",
        ]);
        let inclusion = match level {
            0 => "",
            _ => random.pick(&["", ",inclusive", ",exclusive"]),
        };
        words += inclusion;
        words += if inclusion == ",exclusive" { "" } else { prefetch };
    }
    words
}

/// Makes some accesses in rows, some anywhere, some long.
fn random_accesses(random: &mut Random, count: usize, threads: u64) -> Vec<Access> {
    let mut accesses: Vec<Access> = Vec::new();
    let region = 300 << random.below(6);
    while accesses.len() < count {
        let (core, site) = (
            random.below(threads) as usize,
            random.below(SITES as u64) as usize,
        );
        let (start, stride) = (random.below(region), random.below(90));
        let length = match random.below(8) {
            0 => random.below(200),
            _ => 1 << random.below(4),
        };
        for step in 0..1 + random.below(8) {
            accesses.push(Access {
                core,
                site,
                address: (1 << 32) + start + step * stride,
                length,
                is_write: random.one_in(3),
            });
        }
    }
    accesses
}

fn check(seed: u64, threads: u64) {
    let mut random = Random::new(seed);
    let text = random_caches(&mut random, threads > 1);
    let caches: Caches = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut fast = Simulator::new(&caches).unwrap();
    let mut naive = Naive::new(&caches);
    let (mut found, mut expected) = ([Outcome::default(); SITES], [Outcome::default(); SITES]);
    for (index, access) in random_accesses(&mut random, 300, threads).iter().enumerate() {
        let core = fast.core_of(access.core as u32);
        fast.access(&Access { core, ..*access }, &mut found[access.site]);
        naive.access(access, &mut expected[access.site]);
        let place = || format!("seed {seed}, {text}, access {index}: {access:x?}");
        assert_eq!(found, expected, "{}", place());
        assert_eq!(fast.totals(), naive.totals, "{}", place());
    }
}

#[test]
fn one_thread() {
    (0..1000).for_each(|seed| check(seed, 1));
}

#[test]
fn several_threads() {
    (0..1000).for_each(|seed| check(seed, 2 + seed % 3));
}
