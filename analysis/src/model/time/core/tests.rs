use super::*;

const MEMORY: usize = 2;

/// Round figures: an instruction takes 1 ns.
pub(crate) fn costs() -> Costs {
    Costs {
        latency_ns: [4.0, 14.0, 100.0, 0.0, 0.0],
        line_ns: [1.0, 2.0, 5.0, 0.0, 0.0],
        translation_ns: [7.0, 30.0],
        small_fault_ns: 500.0,
        page_bytes: 4096,
        transfer_ns: 50.0,
        most_misses: 10.0,
        most_walks: 2.0,
        window: 100.0,
        ghz: 1.0,
        wrong_branch_ns: 15.0,
        instruction_ns: 1.0,
        forward_ns: 4.0,
        allocation_ns: [5.0, 15.0],
    }
}

fn load(loads: &[u32], instructions: f64) -> Work<'_> {
    Work {
        site: 0,
        instructions,
        waits: 0.0,
        loads,
        is_walk: false,
        pointer: None,
        loads_pointer_to: None,
        kind: Kind::Load,
    }
}

fn from(level: usize) -> Served {
    let mut served = Served {
        level,
        ..Served::default()
    };
    served.lines[level] = u64::from(level > 0);
    served
}

fn time(count: usize, work: &Work, served: &Served) -> f64 {
    let (costs, mut core) = (costs(), Core::new(1, 1));
    let each = (0..count).map(|_| core.access(&costs, work, served, MEMORY));
    each.sum()
}

#[test]
fn a_chain_of_misses_takes_the_latency_of_each() {
    let chain = time(1000, &load(&[0], 2.0), &from(MEMORY));
    assert!((chain / 1000.0 - 100.0).abs() < 1.0, "{chain}");
}

#[test]
fn an_address_follows_from_the_load_that_came_last() {
    let (costs, mut core) = (costs(), Core::new(2, 1));
    let mut sum = 0.0;
    for _ in 0..1000 {
        // A look-up begins at a table that is near, and ends with a miss of its own.
        let near = Served { line: 1, ..from(0) };
        sum += core.access(&costs, &load(&[], 2.0), &near, MEMORY);
        let last = Work {
            site: 1,
            ..load(&[0, 1], 2.0)
        };
        sum += core.access(&costs, &last, &from(MEMORY), MEMORY);
    }
    assert!(sum / 1000.0 < 15.0, "{sum}");
}

/// A recursive function: its address follows from what it loaded itself, not from what the same code loaded further within.
#[test]
fn what_a_deeper_call_loaded_is_not_waited_for() {
    let walk = |is_deeper: bool| {
        let (costs, mut core) = (costs(), Core::new(3, 1));
        let mut sum = 0.0;
        for line in 1..=1000 {
            if is_deeper {
                core.call();
            }
            let within = Work {
                site: 1,
                ..load(&[2], 2.0)
            };
            sum += core.access(&costs, &within, &Served { line, ..from(MEMORY) }, MEMORY);
            if is_deeper {
                core.return_from_call();
            }
            let own = Work {
                site: 2,
                ..load(&[1], 2.0)
            };
            sum += core.access(&costs, &own, &from(0), MEMORY);
        }
        sum / 1000.0
    };
    let (chained, recursive) = (walk(false), walk(true));
    assert!(chained > 100.0 && recursive < 15.0, "{chained} {recursive}");
}

#[test]
fn a_branch_that_is_guessed_wrong_waits_for_its_condition() {
    let (costs, mut core) = (costs(), Core::new(4, 1));
    let mut sum = 0.0;
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..1000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // The next one's address follows from what is read on the way, so that no detour asks for it.
        sum += core.access(&costs, &load(&[1, 2], 2.0), &from(MEMORY), MEMORY);
        let either = Work {
            site: 1 + (state >> 33) as usize % 2,
            ..load(&[0], 2.0)
        };
        sum += core.access(&costs, &either, &from(0), MEMORY);
    }
    // Every second time the way after the miss is another one than expected.
    assert!((105.0..130.0).contains(&(sum / 1000.0)), "{sum}");
}

#[test]
fn what_follows_either_way_is_asked_for_in_vain_before_the_branch_is_known() {
    let (costs, mut core) = (costs(), Core::new(4, 1));
    let mut sum = 0.0;
    let mut state = 88_172_645_463_325_252u64;
    for line in 0..1000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // A miss whose value decides whether there is a second access; the next miss doesn't follow from it.
        sum += core.access(&costs, &load(&[], 2.0), &Served { line, ..from(MEMORY) }, MEMORY);
        if state >> 33 & 1 == 0 {
            let second = Work {
                site: 1,
                ..load(&[], 2.0)
            };
            sum += core.access(&costs, &second, &from(0), MEMORY);
        }
    }
    // About a third of the branches are guessed wrong, of which half lead to the second access. Without what is
    // executed in vain, each would wait for a whole miss.
    assert!((10.0..20.0).contains(&(sum / 1000.0)), "{}", sum / 1000.0);
}

#[test]
fn waits_take_time_and_no_room() {
    let misses = |waits| Work {
        waits,
        ..load(&[], 5.0)
    };
    // 20 misses are in the window, of which 10 can be at once.
    let without = time(1000, &misses(0.0), &from(MEMORY));
    assert!((without / 1000.0 - 10.0).abs() < 0.5, "{without}");
    let with = time(1000, &misses(4.0), &from(MEMORY));
    assert!((with / 1000.0 - 10.0).abs() < 0.5, "{with}");
    let longer = time(1000, &misses(15.0), &from(MEMORY));
    assert!((longer / 1000.0 - 20.0).abs() < 0.5, "{longer}");
}

#[test]
fn few_page_tables_are_walked_at_once() {
    let walked = Served {
        translation_ns: 30.0,
        walks: true,
        ..from(1)
    };
    let all = time(1000, &load(&[], 2.0), &walked);
    assert!((all / 1000.0 - 15.0).abs() < 0.5, "{all}");
}

#[test]
fn a_line_on_its_way_is_waited_for() {
    let (costs, mut core) = (costs(), Core::new(1, 1));
    let (first, again) = (from(MEMORY), from(0));
    let mut sum = 0.0;
    for line in 0..1000 {
        sum += core.access(&costs, &load(&[0], 1.0), &Served { line, ..first }, MEMORY);
        sum += core.access(&costs, &load(&[], 1.0), &Served { line, ..again }, MEMORY);
    }
    assert!((sum / 1000.0 - 100.0).abs() < 5.0, "{sum}");
}

#[test]
fn independent_misses_overlap_as_far_as_there_are_buffers() {
    let independent = time(1000, &load(&[], 2.0), &from(MEMORY));
    assert!((independent / 1000.0 - 10.0).abs() < 0.5, "{independent}");
}

#[test]
fn or_as_far_as_the_window_reaches() {
    // With 50 instructions from miss to miss, two are in the window.
    let sparse = time(1000, &load(&[], 50.0), &from(MEMORY));
    assert!((sparse / 1000.0 - 50.0).abs() < 3.0, "{sparse}");
    let sparser = time(1000, &load(&[], 100.0), &from(MEMORY));
    assert!((sparser / 1000.0 - 100.0).abs() < 3.0, "{sparser}");
}

#[test]
fn hits_cost_what_is_executed() {
    let hits = time(1000, &load(&[], 3.0), &from(0));
    assert!((hits / 1000.0 - 3.0).abs() < 0.1, "{hits}");
    let chain = time(1000, &load(&[0], 3.0), &from(0));
    assert!((chain / 1000.0 - 4.0).abs() < 0.1, "{chain}");
}

#[test]
fn stores_wait_elsewhere_until_there_are_too_many() {
    let store = Work {
        kind: Kind::Store,
        ..load(&[], 2.0)
    };
    let few = time(40, &store, &from(MEMORY));
    assert!((few - 80.0).abs() < 1.0, "{few}");
    let many = time(10_000, &store, &from(MEMORY));
    assert!((many / 10_000.0 - 10.0).abs() < 0.5, "{many}");
}

#[test]
fn a_counter_in_memory_is_a_chain() {
    let step = |words: u64| {
        let (costs, mut core) = (costs(), Core::new(2, 1));
        let mut sum = 0.0;
        for round in 0..1000 {
            let word = Served {
                word: 8 + round % words,
                ..from(0)
            };
            sum += core.access(&costs, &load(&[], 1.0), &word, MEMORY);
            let store = Work {
                site: 1,
                kind: Kind::Store,
                ..load(&[], 1.0)
            };
            sum += core.access(&costs, &store, &word, MEMORY);
        }
        sum / 1000.0
    };
    // An addition, and from the store to the load.
    assert!((step(1) - 5.0).abs() < 0.1, "{}", step(1));
    assert!((step(100) - 2.0).abs() < 0.1, "{}", step(100));
}

#[test]
fn a_stored_value_needs_no_line() {
    let (costs, mut core) = (costs(), Core::new(2, 1));
    let far = Served {
        word: 8,
        line: 1,
        ..from(MEMORY)
    };
    let near = Served {
        level: 0,
        lines: [0; SERVING],
        ..far
    };
    let store = Work {
        kind: Kind::Store,
        ..load(&[], 1.0)
    };
    core.access(&costs, &store, &far, MEMORY);
    let again = core.access(&costs, &load(&[], 1.0), &near, MEMORY);
    assert!(again < 10.0, "{again}");
    // It is waited for if another core has taken the line since.
    let mut elsewhere = core.clone();
    let taken = Served {
        transfer: true,
        ..near
    };
    let waits = elsewhere.access(&costs, &load(&[], 1.0), &taken, MEMORY);
    assert!(waits > 40.0, "{waits}");
    // Another word of the line waits for it.
    let other = Served { word: 9, ..near };
    let waits = core.access(&costs, &load(&[], 1.0), &other, MEMORY);
    assert!(waits > 80.0, "{waits}");
}

#[test]
fn a_search_that_begins_where_the_first_one_did_doesnt_wait_for_the_last_one() {
    let each = |word: fn(u64) -> u64| {
        let (costs, mut core) = (costs(), Core::new(1, 1));
        let walk = Work {
            is_walk: true,
            ..load(&[0], 2.0)
        };
        let step = |step| {
            let served = Served {
                word: word(step),
                ..from(MEMORY)
            };
            core.access(&costs, &walk, &served, MEMORY)
        };
        (0..1000).map(step).sum::<f64>() / 1000.0
    };
    // Four steps in a search; ten searches are in the window.
    let searches = each(|step| match step % 4 {
        0 => 1,
        _ => 2 + step,
    });
    assert!((9.0..15.0).contains(&searches), "{searches}");
    let ring = each(|step| 1 + step % 4);
    assert!((ring - 100.0).abs() < 2.0, "{ring}");
}

#[test]
fn a_prefetch_holds_up_nothing_and_its_line_is_on_its_way() {
    let (costs, mut core) = (costs(), Core::new(1, 1));
    let prefetch = Work {
        kind: Kind::Prefetch,
        ..load(&[], 2.0)
    };
    let far = Served {
        line: 1,
        ..from(MEMORY)
    };
    let asked = core.access(&costs, &prefetch, &far, MEMORY);
    assert!((asked - 2.0).abs() < 0.1, "{asked}");
    let near = Served { line: 1, ..from(0) };
    let waited = core.access(&costs, &load(&[], 60.0), &near, MEMORY);
    assert!((waited - 100.0).abs() < 1.0, "{waited}");
}

#[test]
fn memory_gives_lines_at_its_rate() {
    let mut ahead = from(1);
    ahead.prefetched[MEMORY] = 1;
    let stream = time(10_000, &load(&[], 2.0), &ahead);
    assert!((stream / 10_000.0 - 5.0).abs() < 0.1, "{stream}");
}

#[test]
fn atomics_overlap_with_nothing() {
    let atomic = Work {
        kind: Kind::Atomic,
        ..load(&[], 2.0)
    };
    let contended = Served {
        transfer: true,
        ..from(1)
    };
    let all = time(1000, &atomic, &contended);
    assert!((49.0..53.0).contains(&(all / 1000.0)), "{all}");
}

#[test]
fn calls_of_the_allocator_take_time_before_the_next_access() {
    let (costs, mut core) = (costs(), Core::new(1, 1));
    let access = |core: &mut Core| core.access(&costs, &load(&[], 1.0), &from(0), MEMORY);
    access(&mut core);
    core.allocate(4096, &costs);
    let after_new = access(&mut core);
    core.give_back(4096, &costs);
    core.allocate(4096, &costs);
    let after_same = access(&mut core);
    assert!((after_new - 16.0).abs() < 0.1, "{after_new}");
    assert!((after_same - 11.0).abs() < 0.1, "{after_same}");
    assert!(access(&mut core) < 2.0);
}
