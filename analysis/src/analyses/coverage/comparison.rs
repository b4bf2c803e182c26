//! What of the machine code's bytes the recording has.

use std::collections::{HashMap, HashSet};

use super::{Callee, Caller, Executed, Recorded};

/// Bytes that code moves, and how many of them are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub bytes: u64,
    pub recorded: u64,
}

impl Moved {
    pub fn missing(self) -> u64 {
        self.bytes - self.recorded
    }

    fn add(&mut self, other: Moved) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.recorded = self.recorded.saturating_add(other.recorded);
    }
}

/// Code of which something may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub code: Code,
    pub moved: Moved,
}

impl Part {
    /// Whether memory is allocated or freed there: such calls are recorded, and what allocators keep for themselves isn't.
    fn is_of_allocator(&self) -> bool {
        let Code::Called { callee, .. } = &self.code else {
            return false;
        };
        let name = callee
            .function
            .trim_start_matches("__GI_")
            .trim_start_matches("__libc_");
        ALLOCATORS.contains(&name) || OPERATORS.iter().any(|operator| name.starts_with(operator))
    }
}

const ALLOCATORS: [&str; 8] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
];
/// new, new[], delete and delete[].
const OPERATORS: [&str; 4] = ["_Znw", "_Zna", "_Zdl", "_Zda"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Code {
    /// A function that was compiled for recording, by its linkage name.
    Compiled(String),
    /// What compiled functions called, and where it moved most.
    Called { callee: Callee, from: Option<Caller> },
    /// Constants that the compiler keeps in memory.
    Constants,
}

/// The parts with the most missing bytes first, and what they add up to.
pub(super) struct Comparison {
    pub parts: Vec<Part>,
    pub compiled: Moved,
    pub called: Moved,
    /// Those of what was called that are by allocators.
    pub allocators: Moved,
    /// Before any compiled function ran.
    pub before: u64,
    pub constants: u64,
    pub offset_table: u64,
}

pub(super) fn join(recorded: &Recorded, executed: &Executed) -> Comparison {
    let (called, inline) = join_calls(recorded, executed);
    let compiled = join_compiled(recorded, executed, &inline);
    let sum = |parts: &[Part]| {
        parts.iter().fold(Moved::default(), |mut sum, part| {
            sum.add(part.moved);
            sum
        })
    };
    let of_allocators: Vec<Part> = called
        .iter()
        .filter(|part| part.is_of_allocator())
        .cloned()
        .collect();
    let before = executed.called.iter().filter(|((caller, _), _)| caller.is_none());
    let constants = Part {
        code: Code::Constants,
        moved: Moved {
            bytes: executed.constants,
            recorded: 0,
        },
    };
    let mut comparison = Comparison {
        compiled: sum(&compiled),
        called: sum(&called),
        allocators: sum(&of_allocators),
        before: before.map(|(_, bytes)| bytes).sum(),
        constants: executed.constants,
        offset_table: executed.offset_table,
        parts: compiled.into_iter().chain(called).chain([constants]).collect(),
    };
    comparison.parts.sort_by_cached_key(|part| {
        (
            std::cmp::Reverse(part.moved.missing()),
            format!("{:?}", part.code),
        )
    });
    comparison
}

/// Each build gives the line of one text to what the compiler merged of several, and not the same one. So what is
/// recorded of one function beyond its machine code's bytes makes up for what others lack.
fn join_compiled(recorded: &Recorded, executed: &Executed, inline: &HashMap<String, u64>) -> Vec<Part> {
    let of = |bytes: &HashMap<String, u64>, function| bytes.get(function).copied().unwrap_or(0);
    let all_of = |function| of(&recorded.own, function).saturating_add(of(inline, function));
    let parts = executed.own.iter().map(|(function, &bytes)| Part {
        code: Code::Compiled(function.clone()),
        moved: Moved {
            bytes,
            recorded: bytes.min(all_of(function)),
        },
    });
    let mut parts: Vec<Part> = parts.collect();
    let functions: HashSet<&String> = recorded.own.keys().chain(inline.keys()).collect();
    let beyond = functions
        .into_iter()
        .map(|function| all_of(function).saturating_sub(of(&executed.own, function)));
    let beyond: u64 = beyond.sum();
    let missing: u64 = parts.iter().map(|part| part.moved.missing()).sum();
    for part in &mut parts {
        part.moved.recorded += part_of(part.moved.missing(), beyond, missing);
    }
    parts
}

/// Ranges that are recorded at a line belong to what is called there; what is left of them, to instructions that the
/// compiler put in place of the call. The second result is that, by function.
fn join_calls(recorded: &Recorded, executed: &Executed) -> (Vec<Part>, HashMap<String, u64>) {
    let mut by_caller: HashMap<&Caller, Vec<(&Callee, u64)>> = HashMap::new();
    for ((caller, callee), &bytes) in &executed.called {
        if let Some(caller) = caller {
            by_caller.entry(caller).or_default().push((callee, bytes));
        }
    }
    let mut callees: HashMap<&Callee, (Moved, (u64, &Caller))> = HashMap::new();
    for (caller, called) in &by_caller {
        let all: u64 = called.iter().map(|(_, bytes)| bytes).sum();
        let ranges = recorded.ranges.get(caller).map_or(0, |ranges| ranges.in_vectors);
        for &(callee, bytes) in called {
            let moved = Moved {
                bytes,
                recorded: part_of(bytes, ranges, all),
            };
            let (sum, largest) = callees.entry(callee).or_insert((Moved::default(), (0, caller)));
            sum.add(moved);
            *largest = (*largest).max((moved.missing(), caller));
        }
    }
    let parts = callees.into_iter().map(|(callee, (moved, (_, from)))| Part {
        code: Code::Called {
            callee: callee.clone(),
            from: Some(from.clone()),
        },
        moved,
    });
    let mut inline = HashMap::new();
    for (caller, ranges) in &recorded.ranges {
        let called: u64 = by_caller
            .get(caller)
            .map_or(0, |called| called.iter().map(|(_, bytes)| bytes).sum());
        *inline.entry(caller.function.clone()).or_default() += ranges.bytes.saturating_sub(called);
    }
    (parts.collect(), inline)
}

/// The share of the `recorded` bytes that falls to `bytes` of all `all`; no more than there are.
fn part_of(bytes: u64, recorded: u64, all: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(recorded) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(u64::MAX).min(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::Ranges;
    use super::*;

    fn caller(function: &str, line: u32) -> Caller {
        Caller {
            function: function.into(),
            file: "a.c".into(),
            line,
        }
    }

    fn callee(function: &str) -> Callee {
        Callee {
            function: function.into(),
            object: "/lib/libc.so.6".into(),
        }
    }

    fn ranges(bytes: u64) -> Ranges {
        Ranges {
            bytes,
            in_vectors: bytes,
        }
    }

    fn moved(bytes: u64, recorded: u64) -> Moved {
        Moved { bytes, recorded }
    }

    #[test]
    fn ranges_at_a_line_are_what_is_called_there() {
        let recorded = Recorded {
            own: [("f".to_owned(), 90)].into(),
            ranges: [(caller("f", 1), ranges(30)), (caller("f", 2), ranges(8))].into(),
        };
        let executed = Executed {
            own: [("f".to_owned(), 100)].into(),
            called: [
                ((Some(caller("f", 1)), callee("strlen")), 20),
                ((Some(caller("f", 3)), callee("malloc")), 50),
                ((None, callee("_dl_start")), 7),
            ]
            .into(),
            ..Executed::default()
        };
        let found = join(&recorded, &executed);
        // 10 bytes of line 1 and 8 of line 2 are of copies that are no calls.
        assert_eq!(found.compiled, moved(100, 100));
        assert_eq!(found.called, moved(70, 20));
        assert_eq!(found.before, 7);
        let expected = Code::Called {
            callee: callee("malloc"),
            from: Some(caller("f", 3)),
        };
        assert_eq!(found.parts[0].code, expected);
    }

    #[test]
    fn what_one_function_has_beyond_its_bytes_makes_up_for_others() {
        let recorded = Recorded {
            own: [("f".to_owned(), 130), ("inlined".to_owned(), 20)].into(),
            ranges: HashMap::new(),
        };
        let executed = Executed {
            own: [("f".to_owned(), 100), ("g".to_owned(), 60), ("h".to_owned(), 40)].into(),
            ..Executed::default()
        };
        let found = join(&recorded, &executed);
        assert_eq!(found.compiled, moved(200, 150)); // 30 and 20 beyond, for the 60 and 40 that are missing
        assert_eq!(found.parts[0].moved, moved(60, 30));
    }

    #[test]
    fn what_is_recorded_of_a_line_is_shared_by_what_it_calls() {
        let recorded = Recorded {
            own: HashMap::new(),
            ranges: [(caller("f", 1), ranges(50))].into(),
        };
        let executed = Executed {
            called: [
                ((Some(caller("f", 1)), callee("strlen")), 25),
                ((Some(caller("f", 1)), callee("malloc")), 75),
            ]
            .into(),
            ..Executed::default()
        };
        let found = join(&recorded, &executed);
        assert_eq!(found.called, moved(100, 49)); // 12 and 37, rounded down
        assert_eq!(found.parts[0].moved, moved(75, 37));
    }
}
