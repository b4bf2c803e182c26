//! Cards of edits that are no layouts of structures.

use trackway_analysis::edits::{Edit, Kind};
use trackway_analysis::site_counts::SiteCounters;
use trackway_trace::Trace;

use super::card::{place, sharing, Card};

pub struct EditCard {
    pub kind: Kind,
    pub card: Card,
}

impl EditCard {
    /// By the program's counters with the edit.
    pub fn new(trace: &Trace, edit: Edit, after: SiteCounters) -> EditCard {
        EditCard {
            kind: edit.kind,
            card: card(trace, edit, after),
        }
    }

    /// An edit that isn't advised, for that reason: what it is of, and what it would change.
    pub fn dropped(edit: Edit, why: String) -> (String, String, String) {
        (edit.of, change_of(edit.kind).to_owned(), why)
    }
}

/// What cards call it.
pub fn change_of(kind: Kind) -> &'static str {
    words(kind).change
}

fn card(trace: &Trace, edit: Edit, after: SiteCounters) -> Card {
    let words = words(edit.kind);
    Card {
        change: words.change.into(),
        of: edit.of,
        after,
        because: match words.bound {
            "" => edit.reason,
            bound => format!("{}; {bound}", edit.reason),
        },
        unless: words.unless.into(),
        worse: String::new(),
        place: edit
            .location
            .and_then(|location| place(trace.program(), location)),
        next: next(edit.kind, trace),
        definition: edit.definition,
        moves: Vec::new(),
    }
}

/// What to type or to do next. Where threads pass lines to each other, `trackway sharing` knows between which places.
fn next(kind: Kind, trace: &Trace) -> String {
    let next = words(kind).next;
    match kind {
        Kind::ThreadsApart => format!("see between which lines of source it goes: {}", sharing(trace)),
        Kind::LinesOfTheirOwn => format!("{next}; for the lines of source: {}", sharing(trace)),
        _ => next.into(),
    }
}

/// What a card says of a kind of edit.
struct Words {
    change: &'static str,
    /// What the gain is, if it isn't that of the change.
    bound: &'static str,
    unless: &'static str,
    next: &'static str,
}

fn words(kind: Kind) -> Words {
    match kind {
        Kind::OneForEachThread => Words {
            change: "one for each thread",
            bound: "this is the most that can be gained: each thread writes its own, without atomic updates, and nobody adds them up",
            unless: "the threads must know of each other's writes at once: a sum can be added up when it is read, but a queue or a sequence number can't",
            next: "keep one for each thread (_Thread_local, or an array with a line for each), add them up where it is read, and measure",
        },
        Kind::ThreadsApart => Words {
            change: "threads apart",
            bound: "this is the most that can be gained, as if each thread had its own",
            unless: "the threads must take turns: then shorten what they do meanwhile, or divide what is locked",
            next: "",
        },
        Kind::NeverRead => Words {
            change: "leave out",
            bound: "",
            unless: "code reads it that wasn't recorded: a library, another process, a debugger; or it keeps the layout of a file or a protocol",
            next: "delete the fields, and what stores them, and measure",
        },
        Kind::SmallerType => Words {
            change: "smaller type",
            bound: "",
            unless: "other input has greater values: check them where they are stored",
            next: "change the type, with a check where values come from outside, and measure",
        },
        Kind::Interchange => Words {
            change: "loops interchanged",
            bound: "",
            unless: "an iteration needs what another one made in a way that this run didn't show, or the order of additions counts",
            next: "put the loop innermost whose index moves by least; sums that the loop now has in registers are added up in memory",
        },
        Kind::Blocking => Words {
            change: "loops in blocks",
            bound: "",
            unless: "an iteration needs what another one made in a way that this run didn't show, or the arrays are small elsewhere",
            next: "divide both loops into blocks, and go over one block after the other",
        },
        Kind::Pool => Words {
            change: "pool",
            bound: "",
            unless: "their sizes vary, or other code frees them",
            next: "allocate them from a pool: blocks of many, and a list of the free ones (std::pmr::unsynchronized_pool_resource), and measure",
        },
        Kind::OrderOfVisits => Words {
            change: "order of visits",
            bound: "",
            unless: "other walks go another way, the order changes often, or numbers and addresses of elements are kept elsewhere",
            next: "lay them out anew in the order of a visit, once (allocate them from an array in this order, or copy and renumber them), and measure",
        },
        Kind::SortedIndices => Words {
            change: "sort the indices",
            bound: "",
            unless: "the order of the results counts, or the indices are used once and sorting them costs more",
            next: "sort the indices, or do the look-ups in blocks of neighbouring indices, and measure",
        },
        Kind::Prefetch => Words {
            change: "prefetch",
            bound: "",
            unless: "other input fits the caches: then the added instructions cost more than they save; or the indices end elsewhere than here",
            next: "ask for what is needed 16 iterations later (__builtin_prefetch, where the index is within bounds), and measure",
        },
        Kind::Reserve => Words {
            change: "reserve",
            bound: "",
            unless: "other input makes far fewer elements than there is room for, or the number isn't known before",
            next: "reserve room for all elements before the first is added (std::vector's reserve), and measure",
        },
        Kind::LinesOfTheirOwn => Words {
            change: "lines of its own",
            bound: "",
            unless: "there are so many that the added bytes cost more than they save, or the threads access the same bytes in other runs",
            next: "align what each thread accesses to 64 bytes, and measure",
        },
    }
}
