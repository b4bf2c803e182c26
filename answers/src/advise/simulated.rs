//! Changes that aren't those of a structure's layout, simulated for the whole program.

use std::num::NonZeroUsize;
use std::sync::Arc;

use trackway_analysis::cache::{Caches, HUGE_PAGE_BYTES};
use trackway_analysis::edits;
use trackway_analysis::huge_pages::{HugePageWay, HugePages};
use trackway_analysis::site_counts::{Measure, SiteCounters};
use trackway_analysis::structures::Structures;
use trackway_analysis::time::Machine;
use trackway_analysis::whatif::{what_if, Question};
use trackway_analysis::Observer;
use trackway_report::counted;
use trackway_trace::Trace;

use super::card::{sharing, Card, HUGE_PAGES};
use super::cards::Dropped;
use super::edits::EditCard;

/// A recorded program, and the machine whose time counts.
pub struct Subject<'p> {
    pub trace: &'p Trace,
    pub machine: Machine,
}

impl Subject<'_> {
    /// The program's accesses and cycles on another machine.
    fn on(&self, machine: Machine, threads: NonZeroUsize, observer: &dyn Observer) -> SiteCounters {
        let question = Question {
            layouts: Vec::new(),
            caches_before: Caches::none(),
            caches_after: Caches::none(),
            machine_before: None,
            machine_after: Some(Arc::new(machine)),
            rank_by: Measure::Cycles,
            top: 0,
        };
        let structures = Structures::default();
        let answer = what_if(&question, &structures, self.trace, threads, observer);
        answer.after
    }

    /// Pages of 2 MiB for what can have them; else why there is nothing to simulate.
    ///
    /// `None` if all pages have this size.
    pub fn huge_pages(
        &self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Option<Result<Card, Dropped>> {
        if self.machine.caches.page_bytes() >= HUGE_PAGE_BYTES {
            return None;
        }
        let (change, of) = (HUGE_PAGES.to_owned(), "the whole program".to_owned());
        let found = HugePages::of(self.trace, threads, observer);
        let count = found.regions.count();
        if count == 0 {
            let why = "no block and no heap of the trace fills a page of 2 MiB";
            return Some(Err((of, change, why.into())));
        }
        let machine = Machine {
            caches: self.machine.caches.clone().with_huge_pages(found.regions),
            costs: self.machine.costs.clone(),
        };
        let next = match found.way {
            HugePageWay::CLibrary => "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog   (or madvise with MADV_HUGEPAGE), and measure",
            HugePageWay::OwnAllocator => {
                "let the program's allocator ask for them (jemalloc: MALLOC_CONF=thp:always ./prog), or madvise with MADV_HUGEPAGE, and measure"
            }
        };
        Some(Ok(Card {
            change,
            of,
            after: self.on(machine, threads, observer),
            because: format!(
                "the heap and large blocks would lie in {} of 2 MiB: fewer pages need fewer translations, and fewer first accesses to pages",
                counted(count, "page")
            ),
            unless: "the allocator gives memory back and takes it anew, or memory is short: unused parts of huge pages take room".into(),
            worse: String::new(),
            place: None,
            next: next.into(),
            definition: Vec::new(),
            moves: Vec::new(),
        }))
    }

    /// Changes that are no layouts of structures, and those that can't be made with the reason.
    pub fn edits(
        &self,
        counters: &[SiteCounters],
        threads: NonZeroUsize,
        observer: &dyn Observer,
        simulating: &dyn Observer,
    ) -> (Vec<EditCard>, Vec<Dropped>) {
        let machine = Arc::new(self.machine.clone());
        let waited = machine.cycles_waited(self.trace.program(), counters);
        let subject = edits::Subject {
            trace: self.trace,
            machine: &machine,
            counters,
            waited: &waited,
            threads,
            observer,
            simulating,
        };
        let (mut cards, mut dropped) = (Vec::new(), Vec::new());
        for (edit, after) in subject.simulated() {
            match after {
                Ok(after) => cards.push(EditCard::new(self.trace, edit, after)),
                Err(why) => dropped.push(EditCard::dropped(edit, why)),
            }
        }
        (cards, dropped)
    }

    /// No thread takes a line from another one: the most that can be gained by keeping their data apart.
    pub fn apart(
        &self,
        counters: &[SiteCounters],
        threads: NonZeroUsize,
        observer: &dyn Observer,
    ) -> Option<Card> {
        let invalidations = SiteCounters::sum(counters).outcome.invalidations;
        if invalidations == 0 {
            return None;
        }
        let machine = Machine {
            caches: self.machine.caches.all_private(),
            costs: self.machine.costs.clone(),
        };
        let after = self.on(machine, threads, observer);
        Some(Card {
            change: "threads apart".into(),
            of: "the whole program".into(),
            after,
            because: format!(
                "threads take lines from each other {}; this is the most that can be gained, as if none did",
                trackway_report::times(invalidations)
            ),
            unless: "the threads must know of each other's writes: a counter that all of them need can be kept by thread, and added up when it is read, but a queue stays one".into(),
            worse: String::new(),
            place: None,
            next: format!("see which fields, and whether it is true or false sharing: {}", sharing(self.trace)),
            definition: Vec::new(),
            moves: Vec::new(),
        })
    }
}
