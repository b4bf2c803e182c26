//! Pools for what C++ allocates: by `new`, or by an allocator that a template of the program's own has by default.

use std::collections::{BTreeMap, BTreeSet};

use super::{free_name, read, BLOCK_BYTES, LEAST_OBJECTS, USUAL_ALIGNMENT};
use crate::edits::{distinction, Edits};
use crate::huge::after_includes;
use crate::refusal::{Possibly, Refusal};
use crate::structure::{above_comments, line_begin};
use crate::uses::{PoolAllocator, PoolClass, Use, What};

/// What is put where.
#[derive(Default)]
struct Needs {
    /// The pool, by file, and where it must stand.
    pools: BTreeMap<String, usize>,
    /// Files that need an allocator, too.
    allocators: BTreeSet<String>,
}

/// None if C++ allocates no such object alone.
pub fn edits(found: &BTreeSet<Use>, is_public: impl Fn(&str) -> bool) -> Option<Possibly<Edits>> {
    let allocators: Vec<(&Use, &PoolAllocator)> = found
        .iter()
        .filter_map(|found| match &found.what {
            What::PoolAllocator(allocator) => Some((found, allocator)),
            _ => None,
        })
        .collect();
    let is_made = |found: &Use| matches!(found.what, What::PoolNew { placed: false, .. });
    if found.iter().any(is_made) {
        return Some(by_new(found, is_public));
    }
    (!allocators.is_empty()).then(|| by_allocators(&allocators, is_public))
}

/// The class gets functions of its own for `new` and `delete`.
fn by_new(found: &BTreeSet<Use>, is_public: impl Fn(&str) -> bool) -> Possibly<Edits> {
    let classes: Vec<(&Use, &PoolClass)> = found
        .iter()
        .filter_map(|found| match &found.what {
            What::PoolClass(class) => Some((found, class)),
            _ => None,
        })
        .collect();
    if classes.is_empty() {
        return Err(vec![Refusal::new("no source of the program defines it")]);
    }
    let mut reasons: Vec<Refusal> = against_new(found).collect();
    let mut needs = Needs::default();
    let mut bodies = BTreeMap::new();
    for (at, class) in classes {
        match place_of(at, class, &is_public) {
            Ok((end, outer)) => {
                needs.stand(&at.file, outer);
                bodies.insert((at.file.as_str(), end), class.name.as_str());
            }
            Err(why) => reasons.push(Refusal::at(at, why)),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut edits = Edits::default();
    let names = needs.write(&mut edits)?;
    for ((file, end), class) in bodies {
        let text = read(file)?;
        let line = line_begin(&text, end);
        let outer = &text[line..end];
        let outer = &outer[..outer.len() - outer.trim_start().len()];
        let functions = FUNCTIONS.replace("POOL", &names[file].0).replace("CLASS", class);
        let functions: String = functions.lines().map(|line| format!("{outer}{line}\n")).collect();
        match text[line..end].trim().is_empty() {
            true => edits.insert(file, line, functions),
            false => edits.insert(file, end, format!("\n{functions}")),
        }
    }
    Ok(edits)
}

/// What would give an object to another allocator than the one that it came from.
fn against_new(found: &BTreeSet<Use>) -> impl Iterator<Item = Refusal> + '_ {
    found.iter().filter_map(|found| {
        let why = match found.what {
            What::PoolNew {
                global: true,
                placed: false,
            } => "an object is made by ::new",
            What::PoolDelete => "an object is ended by ::delete",
            What::PoolDerived { alignment } if alignment > USUAL_ALIGNMENT => {
                "a class is derived that is aligned to more than 16 bytes"
            }
            _ => return None,
        };
        Some(Refusal::at(found, why))
    })
}

/// The class's last brace, and where the pool must stand.
fn place_of(
    at: &Use,
    class: &PoolClass,
    is_public: impl Fn(&str) -> bool,
) -> Result<(usize, usize), &'static str> {
    let (Some((_, end)), Some(outer)) = (class.body, class.outer) else {
        return Err("a macro defines it");
    };
    match () {
        () if at.system || is_public(&at.file) => {
            Err("it is defined in a public header, whose other users aren't seen")
        }
        () if at.r#macro => Err("a macro defines it"),
        () if class.local => Err("it is defined within a function"),
        () if class.union => Err("it is a union"),
        () if class.allocates => Err("it has functions of its own for new or delete"),
        () if class.alignment > USUAL_ALIGNMENT => Err("it is aligned to more than 16 bytes"),
        () => Ok((end - 1, outer)),
    }
}

/// What a template takes by default becomes an allocator that has a pool.
fn by_allocators(allocators: &[(&Use, &PoolAllocator)], is_public: impl Fn(&str) -> bool) -> Possibly<Edits> {
    let mut needs = Needs::default();
    let mut reasons = Vec::new();
    let mut elements = BTreeMap::new();
    for (at, allocator) in allocators {
        match (allocator.element, allocator.outer) {
            _ if at.system || is_public(&at.file) => {
                let why = "a template of a public header allocates it, whose other users aren't seen";
                reasons.push(Refusal::at(at, why));
            }
            _ if allocator.alignment > USUAL_ALIGNMENT => {
                reasons.push(Refusal::at(at, "it is aligned to more than 16 bytes"));
            }
            (Some(element), Some(outer)) if !at.r#macro => {
                needs.stand(&at.file, outer);
                needs.allocators.insert(at.file.clone());
                elements.insert((at.file.as_str(), at.begin, at.end), element);
            }
            _ => reasons.push(Refusal::at(
                at,
                "a macro names the allocator, or it isn't std::allocator<...>",
            )),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut edits = Edits::default();
    let names = needs.write(&mut edits)?;
    for ((file, begin, end), element) in elements {
        let text = read(file)?;
        let element = text.get(element.0..element.1).unwrap_or_default();
        edits.replace(file, (begin, end), format!("{}<{element}>", names[file].1));
    }
    Ok(edits)
}

impl Needs {
    fn stand(&mut self, file: &str, outer: usize) {
        let first = self.pools.entry(file.to_owned()).or_insert(outer);
        *first = outer.min(*first);
    }

    /// Writes the templates. Returns the names of the pool and of the allocator, by file.
    fn write(&self, edits: &mut Edits) -> Possibly<BTreeMap<String, (String, String)>> {
        let mut names = BTreeMap::new();
        for (file, outer) in &self.pools {
            let text = read(file)?;
            let mark = distinction(file, self.pools.keys().map(String::as_str));
            let pool = free_name(&format!("pool_of{mark}"), &[&text]);
            let allocator = free_name(&format!("pool_allocator{mark}"), &[&text]);
            let mut templates = TEMPLATE
                .replace("POOL", &pool)
                .replace("LEAST_OBJECTS", &LEAST_OBJECTS.to_string())
                .replace("BLOCK_BYTES", &BLOCK_BYTES.to_string());
            let mut includes = INCLUDES.to_owned();
            if self.allocators.contains(file) {
                templates += &ALLOCATOR.replace("POOL", &pool).replace("ALLOCATOR", &allocator);
                includes += "#include <memory>\n";
            }
            let at = above_comments(&text, line_begin(&text, *outer));
            edits.insert(file, after_includes(&text[..at]), includes);
            edits.insert(file, at, templates);
            names.insert(file.clone(), (pool, allocator));
        }
        Ok(names)
    }
}

const INCLUDES: &str = "#include <atomic>\n#include <cstddef>\n#include <new>\n";
const TEMPLATE: &str = "// Places for objects one after the other, in blocks that stay. Each thread has places of its own; what is freed is used
// again first. What a thread leaves when it ends, the next thread that needs places takes.
template <typename T>
class POOL {
    union place {
        place *next;
        alignas(T) unsigned char bytes[sizeof(T)];
    };
    static constexpr std::size_t count = sizeof(place) * LEAST_OBJECTS > BLOCK_BYTES ? LEAST_OBJECTS : BLOCK_BYTES / sizeof(place);
    struct block {
        block *next;
        place places[count];
    };
    struct places {
        place *freed, *fresh, *end;
    };
    struct leaving {
        ~leaving() {
            places &mine = own();
            while (mine.fresh != mine.end)
                give_back(mine.fresh++);
            if (!mine.freed)
                return;
            place *last = mine.freed;
            while (last->next)
                last = last->next;
            last->next = left().load();
            while (!left().compare_exchange_weak(last->next, mine.freed)) {
            }
            mine.freed = nullptr;
        }
    };
    static places &own() {
        static thread_local places mine;
        return mine;
    }
    static std::atomic<place *> &left() {
        static std::atomic<place *> freed{nullptr};
        return freed;
    }
    static std::atomic<block *> &blocks() {
        static std::atomic<block *> last{nullptr};
        return last;
    }
    static void refill(places &mine) {
        static thread_local leaving at_end;
        static_cast<void>(at_end);
        mine.freed = left().exchange(nullptr);
        if (mine.freed)
            return;
        block *more = new block;
        more->next = blocks().load();
        while (!blocks().compare_exchange_weak(more->next, more)) {
        }
        mine.fresh = more->places;
        mine.end = more->places + count;
    }

  public:
    static void *take() {
        places &mine = own();
        if (!mine.freed && mine.fresh == mine.end)
            refill(mine);
        if (!mine.freed)
            return mine.fresh++;
        place *taken = mine.freed;
        mine.freed = taken->next;
        return taken;
    }
    static void give_back(void *object) {
        if (!object)
            return;
        place *freed = static_cast<place *>(object);
        freed->next = own().freed;
        own().freed = freed;
    }
};

";
const ALLOCATOR: &str = "// Takes single objects from the pool, and arrays as std::allocator does.
template <typename T>
struct ALLOCATOR {
    using value_type = T;
    ALLOCATOR() = default;
    template <typename Other>
    ALLOCATOR(const ALLOCATOR<Other> &) noexcept {}
    T *allocate(std::size_t number) {
        return number == 1 ? static_cast<T *>(POOL<T>::take()) : std::allocator<T>().allocate(number);
    }
    void deallocate(T *objects, std::size_t number) {
        if (number == 1)
            POOL<T>::give_back(objects);
        else
            std::allocator<T>().deallocate(objects, number);
    }
    template <typename Other>
    bool operator==(const ALLOCATOR<Other> &) const noexcept { return true; }
    template <typename Other>
    bool operator!=(const ALLOCATOR<Other> &) const noexcept { return false; }
};

";
const FUNCTIONS: &str = "
  public:
    static void *operator new(std::size_t bytes) {
        return bytes == sizeof(CLASS) ? POOL<CLASS>::take() : ::operator new(bytes);
    }
    static void *operator new(std::size_t, void *place) noexcept { return place; }
    static void operator delete(void *object, std::size_t bytes) {
        if (bytes == sizeof(CLASS))
            POOL<CLASS>::give_back(object);
        else
            ::operator delete(object);
    }
    static void operator delete(void *, void *) noexcept {}
";
