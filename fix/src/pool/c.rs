//! Pools for objects that come from `malloc` or `calloc` one by one, and go to `free`.

use std::collections::BTreeSet;

use super::allocators::{Allocators, Role};
use super::{free_name, of_sources, read, BLOCK_BYTES, LEAST_OBJECTS};
use crate::bytes::{is_first_address_taken, named, only_accesses};
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::structure::{above_comments, Structure};
use crate::uses::{Span, Use, What};

/// An allocation of one object: the call, by whom, whether it is cleared, and the function around it.
struct Taken<'u> {
    at: &'u Use,
    maker: &'u str,
    is_cleared: bool,
    function: usize,
}

/// `threads`: where threads are started.
pub fn edits(
    name: &str,
    uses: &BTreeSet<Use>,
    threads: &[&Use],
    allocators: &Allocators,
    is_public: impl Fn(&str) -> bool,
) -> Possibly<Edits> {
    let structure = Structure::of(name, uses, is_public)?;
    let mut reasons: Vec<Refusal> = threads
        .iter()
        .map(|at| Refusal::at(at, "a thread is started, and the pool of C has no lock"))
        .collect();
    let definition = structure.definition;
    if definition.fields.iter().any(|field| field.flexible) {
        let why = "it ends in an array without a length";
        reasons.push(Refusal::at(structure.defined, why));
    }
    if is_first_address_taken(&structure) {
        let why = "the address of its first field is used, and may be freed as the object's";
        reasons.push(Refusal::at(structure.defined, why));
    }
    let (mut taken, mut freed) = (Vec::new(), Vec::new());
    for found in of_sources(uses, |_| true) {
        match sorted(found, allocators, &mut taken, &mut freed) {
            Ok(()) => (),
            Err(why) => reasons.push(Refusal::at(found, why)),
        }
    }
    if let Some(other) = taken.iter().find(|other| other.maker != taken[0].maker) {
        let why = format!(
            "objects are allocated by {} and by {}",
            taken[0].maker, other.maker
        );
        reasons.push(Refusal::at(other.at, why));
    }
    if taken.is_empty() && reasons.is_empty() {
        reasons.push(Refusal::new(
            "no source allocates one object by malloc, calloc or new",
        ));
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    written(&structure, &taken, &freed, allocators)
}

/// Adds what takes and what frees objects; else why another allocator may get an object.
fn sorted<'u>(
    found: &'u Use,
    allocators: &Allocators,
    taken: &mut Vec<Taken<'u>>,
    freed: &mut Vec<(&'u Use, Span)>,
) -> Result<(), String> {
    match &found.what {
        What::Allocation { .. } if found.r#macro => return Err("a macro allocates".into()),
        What::Allocation {
            callee,
            one,
            function,
            ..
        } => match (allocators.role(callee), one, function) {
            (Some(Role::Gives { cleared }), true, Some(function)) => taken.push(Taken {
                at: found,
                maker: allocators.maker(callee),
                is_cleared: cleared,
                function: *function,
            }),
            _ => {
                return Err(format!(
                    "objects are allocated by {}, or several at once",
                    named(callee)
                ))
            }
        },
        What::Passed {
            callee, callee_span, ..
        } if allocators.role(callee) == Some(Role::Frees) => match callee_span {
            Some(span) if !found.r#macro => freed.push((found, *span)),
            _ => return Err("a macro frees".into()),
        },
        What::Passed { callee, .. } if only_accesses(callee) => (),
        What::Passed { callee, .. } => {
            return Err(format!(
                "an object is passed to {}, which may free it",
                named(callee)
            ))
        }
        What::Cast {
            other,
            integer: false,
            ..
        } => return Err(format!("a pointer to it is cast to or from {other}")),
        What::Object(object) if object.what == "field" || object.what == "union" => {
            return Err(format!("another structure holds objects, as {}", object.name))
        }
        What::Base { name } => return Err(format!("{name} is derived from it")),
        What::New => return Err("objects are made by new as well".into()),
        _ => (),
    }
    Ok(())
}

/// Functions for all files, and calls of them.
fn written(
    structure: &Structure,
    taken: &[Taken],
    freed: &[(&Use, Span)],
    allocators: &Allocators,
) -> Possibly<Edits> {
    let mut files: BTreeSet<&str> = taken.iter().map(|taken| taken.at.file.as_str()).collect();
    files.extend(freed.iter().map(|(at, _)| at.file.as_str()));
    files.insert(structure.file());
    let mut texts = Vec::new();
    for file in &files {
        texts.push(read(file)?);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let definition = structure.definition;
    let base = definition.name.rsplit("::").next().unwrap_or(&definition.name);
    let free = |name: String| free_name(&name, &texts);
    let take = free(format!("take_{base}"));
    let clear = free(format!("take_zeroed_{base}"));
    let give_back = free(format!("give_back_{base}"));
    let place = free(format!("{base}_place"));
    let is_cleared = taken.iter().any(|taken| taken.is_cleared);
    let only_file = files.len() == 1;
    let linkage = if only_file { "static " } else { "" };
    let mut functions = FUNCTIONS.to_owned();
    if is_cleared {
        functions += CLEARING;
    }
    let maker = taken.first().map_or("malloc", |taken| taken.maker);
    let block = allocators.call(maker, "count", "sizeof *taken");
    let names = [
        ("MALLOC", block.as_str()),
        ("GIVE_BACK", give_back.as_str()),
        ("CLEAR", &clear),
        ("TAKE", &take),
        ("PLACE", &place),
        ("LINKAGE ", linkage),
        ("STRUCTURE", &definition.spelled()),
        ("OBJECTS", &LEAST_OBJECTS.to_string()),
        ("BYTES", &BLOCK_BYTES.to_string()),
    ];
    let functions = names
        .iter()
        .fold(functions, |text, (from, to)| text.replace(from, to));
    let mut edits = Edits::default();
    let end = structure.end()?;
    if only_file {
        edits.insert(structure.file(), end, format!("\n\n{}", functions.trim_end()));
    } else {
        let mut declared = format!("\nvoid *{take}(void);\nvoid {give_back}(void *object);");
        if is_cleared {
            declared += &format!("\nvoid *{clear}(void);");
        }
        edits.insert(structure.file(), end, declared);
        let first = taken
            .iter()
            .map(|taken| (taken.at.file.as_str(), taken.function))
            .min();
        let (file, function) = first.unwrap_or((structure.file(), end));
        if file.ends_with(".h") || file.ends_with(".hpp") {
            return Err(vec![Refusal::at(taken[0].at, "a header allocates objects")]);
        }
        let at = above_comments(&read(file)?, function);
        edits.insert(file, at, functions);
    }
    for taken in taken {
        let name = if taken.is_cleared { &clear } else { &take };
        edits.replace(
            &taken.at.file,
            (taken.at.begin, taken.at.end),
            format!("{name}()"),
        );
    }
    for (at, span) in freed {
        edits.replace(&at.file, *span, give_back.as_str());
    }
    Ok(edits)
}

const FUNCTIONS: &str =
    "/* Places for objects one after the other, in blocks that stay; what is freed is used again first. */
union PLACE {
    union PLACE *next;
    STRUCTURE object;
};
static union PLACE *PLACE_freed, *PLACE_fresh, *PLACE_end;
LINKAGE void *TAKE(void) {
    union PLACE *taken = PLACE_freed;
    if (taken) {
        PLACE_freed = taken->next;
        return taken;
    }
    if (PLACE_fresh == PLACE_end) {
        size_t count = sizeof *taken * OBJECTS > BYTES ? OBJECTS : BYTES / sizeof *taken;
        PLACE_fresh = (union PLACE *)MALLOC;
        PLACE_end = PLACE_fresh ? PLACE_fresh + count : PLACE_fresh;
        if (!PLACE_fresh)
            return NULL;
    }
    return PLACE_fresh++;
}
LINKAGE void GIVE_BACK(void *object) {
    union PLACE *freed = (union PLACE *)object;
    if (!freed)
        return;
    freed->next = PLACE_freed;
    PLACE_freed = freed;
}

";
/// What `calloc` gave is zero.
const CLEARING: &str = "LINKAGE void *CLEAR(void) {
    unsigned char *taken = (unsigned char *)TAKE();
    for (size_t i = 0; taken && i < sizeof(union PLACE); i++)
        taken[i] = 0;
    return taken;
}

";
