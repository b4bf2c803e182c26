//! Which frame of a call stack an allocation is named after.

use trackway_trace::allocations::Stack;

use crate::analyses::allocations::{CallSites, Frame};
use crate::UNKNOWN;

/// A return address as a place that other runs of the program have, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReturnPlace {
    /// Path of the object.
    pub object: String,
    /// Offset from the first byte of the object's memory image.
    pub offset: u64,
    /// Build id of the object in hexadecimal; empty if unknown.
    pub build_id: String,
}

/// The call that an allocation is named after, and the way from it to the allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCall {
    pub frame: Frame,
    /// Return addresses from the allocator's caller to the named frame; empty if one is in no known object.
    pub chain: Vec<ReturnPlace>,
}

/// Functions that allocate for their callers.
const ALLOCATORS: [&str; 24] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
    "pvalloc",
    "mmap",
    "mmap64",
    "strdup",
    "strndup",
    "xmalloc",
    "xcalloc",
    "xzalloc",
    "xrealloc",
    "xstrdup",
    "g_malloc",
    "g_malloc0",
    "g_realloc",
    "je_malloc",
    "mi_malloc",
    "tc_malloc",
];
const LIBRARY_NAMESPACES: [&str; 3] = ["std::", "__gnu_cxx::", "alloc::"];
const CXX_LIBRARIES: [&str; 2] = ["/libstdc++.so", "/libc++"];

/// Names an allocation after the innermost frame that belongs to no allocator or C++ library and isn't `operator new`.
/// If there is none, it is named after the innermost frame.
pub fn named_call(sites: &mut CallSites, stack: &Stack, pid: u32, time_ns: u64) -> NamedCall {
    let mut innermost = None;
    for (depth, address) in stack.frames.iter().enumerate() {
        let frames = sites.frame(pid, time_ns, *address);
        let named = frames.iter().find(|frame| !allocates_for_its_caller(frame));
        let named = named.map(by_line);
        innermost = innermost.or_else(|| frames.first().map(by_line));
        if let Some(frame) = named {
            let chain = chain(sites, &stack.frames[..=depth], pid, time_ns);
            return NamedCall { frame, chain };
        }
    }
    let depth = stack.frames.len().min(1);
    NamedCall {
        frame: innermost.unwrap_or_else(unknown_frame),
        chain: chain(sites, &stack.frames[..depth], pid, time_ns),
    }
}

/// Calls of one line are one call site, wherever the compiler put them.
fn by_line(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    if !frame.file.is_empty() && frame.line > 0 {
        frame.place.clear();
    }
    frame
}

fn unknown_frame() -> Frame {
    Frame {
        function: UNKNOWN.to_owned(),
        file: String::new(),
        line: 0,
        place: String::new(),
    }
}

fn chain(sites: &CallSites, frames: &[u64], pid: u32, time_ns: u64) -> Vec<ReturnPlace> {
    let place = |address: &u64| {
        let mapping = sites.mappings().find(pid, time_ns, address.wrapping_sub(1))?;
        Some(ReturnPlace {
            object: mapping.path.clone(),
            offset: mapping.object_offset(*address)?,
            build_id: trackway_trace::hexadecimal(&mapping.build_id),
        })
    };
    frames
        .iter()
        .map(place)
        .collect::<Option<_>>()
        .unwrap_or_default()
}

/// Templates are demangled with the type that they return before the name.
fn allocates_for_its_caller(frame: &Frame) -> bool {
    let text = frame.function.as_str();
    if text == UNKNOWN {
        return CXX_LIBRARIES.iter().any(|name| frame.place.contains(name));
    }
    if text.starts_with("operator new") {
        return true;
    }
    let name = text.split(['(', '<']).next().unwrap_or_default();
    let name = name.rsplit(' ').next().unwrap_or_default();
    ALLOCATORS.contains(&name) || LIBRARY_NAMESPACES.iter().any(|space| name.starts_with(space))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocates(function: &str, place: &str) -> bool {
        allocates_for_its_caller(&Frame {
            function: function.to_owned(),
            file: String::new(),
            line: 0,
            place: place.to_owned(),
        })
    }

    #[test]
    fn allocators_and_libraries_of_cxx_name_nothing() {
        for function in [
            "malloc",
            "xmalloc",
            "operator new[](unsigned long)",
            "std::vector<Node, std::allocator<Node> >::reserve(unsigned long)",
            "Node* std::__uninitialized_copy<false>::copy<Node*>(Node*)",
        ] {
            assert!(allocates(function, "/bin/p+0x10"), "{function}");
        }
        assert!(allocates(UNKNOWN, "/usr/lib/libstdc++.so.6+0xbeef"));
    }

    #[test]
    fn what_the_program_wrote_names_its_allocations() {
        for function in ["build", "Tree<std::string>::grow(int)", "malloc_nodes", "main"] {
            assert!(!allocates(function, "/bin/p+0x10"), "{function}");
        }
        assert!(!allocates(UNKNOWN, "/usr/lib/libc.so.6+0xbeef"));
    }
}
