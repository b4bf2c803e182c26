//! What translations cost: chases with a line in each page.

use std::io;

use rustix::param::page_size;

use super::arena::{Arena, Pages};
use super::chase::{shuffled, Chase};
use super::entries::tlb_entries;
use super::rounds::{rounded, Rounds};
use crate::costs::{TlbCosts, LINE_BYTES};

/// More than the first level of any TLB has, and fewer than the second; their lines fit the first cache.
const PAGES_OF_SECOND_LEVEL: usize = 256;
/// More than the second level has. Their lines and tables are no more than about the second cache.
const PAGES_TO_WALK: usize = 8192;
/// Some processors translate four neighbouring pages with one entry: of each four, one page is used.
const SPACING_PAGES: usize = 4;
const ROUNDS: usize = 60;
/// Fewer than a thread can do before another one has its turn.
const LOADS: usize = 5_000;
/// Chases that walk at once. More than there are walkers, and few enough that misses of the data don't bound them.
const CHASES_AT_ONCE: usize = 16;

#[derive(Debug)]
pub struct Tlb {
    chases: [Chase; 4],
    rounds: [Rounds; 4],
    /// Loads that walk, many at once.
    at_once: Rounds,
}

/// What is compared: the same number of lines, close together in a huge page and each in a page of its own.
const DENSE_FEW: usize = 0;
const FEW_PAGES: usize = 1;
const DENSE_MANY: usize = 2;
const MANY_PAGES: usize = 3;

impl Tlb {
    /// Bytes of memory that the chases touch.
    pub fn needed_bytes() -> u64 {
        ((PAGES_TO_WALK + PAGES_OF_SECOND_LEVEL) * (page_size() + LINE_BYTES as usize)) as u64
    }

    pub fn new() -> io::Result<Tlb> {
        Ok(Tlb {
            chases: [
                dense(PAGES_OF_SECOND_LEVEL)?,
                sparse(PAGES_OF_SECOND_LEVEL)?,
                dense(PAGES_TO_WALK)?,
                sparse(PAGES_TO_WALK)?,
            ],
            rounds: Default::default(),
            at_once: Rounds::default(),
        })
    }

    pub fn pass(&mut self) {
        for (chase, all) in self.chases.iter_mut().zip(&mut self.rounds) {
            chase.warm();
            all.add((0..ROUNDS).map(|_| chase.ns_per_load(LOADS)).collect());
        }
        let many = &mut self.chases[MANY_PAGES];
        let round = |_| many.ns_per_load_at_once(CHASES_AT_ONCE, PAGES_TO_WALK / CHASES_AT_ONCE);
        self.at_once.add((0..ROUNDS).map(round).collect());
    }

    pub fn costs(&self) -> Option<TlbCosts> {
        let ns = |index: usize| self.rounds[index].value();
        let second_level_ns = rounded((ns(FEW_PAGES)? - ns(DENSE_FEW)?).max(0.0));
        // A walk begins when the second level has missed.
        let walk_ns = rounded(ns(MANY_PAGES)? - ns(DENSE_MANY)?).max(second_level_ns);
        // By Little's law, as each load walks.
        let most_walks = (walk_ns / self.at_once.value()?).round();
        Some(TlbCosts {
            second_level_ns,
            walk_ns,
            most_walks: most_walks.clamp(1.0, CHASES_AT_ONCE as f64) as u32,
            entries: tlb_entries(),
        })
    }

    pub fn spreads(&self) -> [(String, &Rounds); 2] {
        [
            ("tlb second_level_ns".into(), &self.rounds[FEW_PAGES]),
            ("tlb walk_ns".into(), &self.rounds[MANY_PAGES]),
        ]
    }
}

fn dense(lines: usize) -> io::Result<Chase> {
    let bytes = lines * LINE_BYTES as usize;
    Ok(Chase::dense(
        Arena::new(bytes, Pages::Huge)?,
        bytes,
        LINE_BYTES as usize,
    ))
}

/// A line in each of so many pages, which lie at random distances: so they use the sets of the TLB evenly. Lines use the
/// cache's sets evenly, too.
fn sparse(pages: usize) -> io::Result<Chase> {
    let page = page_size();
    let slots = pages * 4;
    let arena = Arena::new(slots * SPACING_PAGES * page, Pages::Small)?;
    let chosen = shuffled(slots);
    Ok(Chase::new(arena, pages, pages, |place| {
        let line = place * LINE_BYTES as usize % page;
        chosen[place] as usize * SPACING_PAGES * page + line
    }))
}
