//! What the source does with a structure, as the plug-in for clang says it.

use std::env;
use std::path::Path;

use serde::Deserialize;

/// Offsets in bytes of a text in its file: the first, and the first past it.
pub type Span = (usize, usize);

/// Something that the source says of the structure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Use {
    pub file: String,
    pub begin: usize,
    pub end: usize,
    pub line: usize,
    /// Written by the body of a macro; `begin` and `end` are those of the macro's use.
    #[serde(default)]
    pub r#macro: bool,
    /// In a header of the system.
    #[serde(default)]
    pub system: bool,
    #[serde(flatten)]
    pub what: What,
}

impl Use {
    /// `src/file.c:12`: the path from the present folder, if the file is below it, else all of it.
    pub fn place(&self) -> String {
        let present = env::current_dir().unwrap_or_default();
        let file = Path::new(&self.file);
        let file = file.strip_prefix(present).unwrap_or(file);
        format!("{}:{}", file.display(), self.line)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    Definition(Definition),
    /// `base.field` or `base->field`; the use spans from base to field.
    Member {
        field: String,
        /// None where there is none: in a member function.
        base: Option<Span>,
        name: Option<Span>,
        arrow: bool,
        this: bool,
        /// Its address becomes a value.
        address: bool,
        /// It is passed with a size that is larger than the field.
        beyond: bool,
        /// The base is a value without a place in memory.
        value: bool,
    },
    /// A member of what depends on the parameters of a template.
    Dependent {
        field: String,
    },
    Sizeof {
        /// Part of `sizeof array / sizeof *array`.
        ratio: bool,
        /// The function that it is an argument of; empty if none.
        callee: String,
        /// The function gives memory that becomes objects.
        gives: bool,
    },
    Offsetof,
    Object(Object),
    Initialiser {
        designated: bool,
        /// Inner braces are left out, or there are none.
        elided: bool,
        elements: Vec<Option<Span>>,
    },
    /// The whole object. An assignment has a left side.
    Copy {
        left: Option<Span>,
        right: Option<Span>,
        #[serde(default)]
        statement: bool,
    },
    /// A pointer to objects becomes one to something else (`to`), or the other way round.
    Cast {
        to: bool,
        other: String,
        void: bool,
        integer: bool,
    },
    Allocation {
        callee: String,
        callee_span: Option<Span>,
        arguments: Vec<Option<Span>>,
        /// The arguments have the structure's size from `sizeof`.
        sized: bool,
        /// They ask for one object.
        one: bool,
        /// `main` does so, not in a loop.
        once: bool,
        /// Where the function begins.
        function: Option<usize>,
    },
    /// A pointer is passed as one to anything.
    Passed {
        callee: String,
        callee_span: Option<Span>,
        /// With the structure's size.
        bytes: bool,
        /// Arguments that point to objects.
        objects: usize,
        /// To `free`, or its like.
        frees: bool,
        /// To a function of the system's headers.
        outside: bool,
        function: Option<usize>,
    },
    New,
    /// Another class is derived.
    Base {
        name: String,
    },
    TemplateArgument,
    /// `auto [a, b] = object`.
    Bound,
    /// `main` is named, so it may run more than once.
    MainAgain,
    LookUp(LookUp),
    Growth(Growth),
    PoolClass(PoolClass),
    /// A class that is derived from it.
    PoolDerived {
        alignment: u64,
    },
    /// One object is made: by `::new`, or at a place of the program's own.
    PoolNew {
        global: bool,
        placed: bool,
    },
    /// `::delete`.
    PoolDelete,
    PoolAllocator(PoolAllocator),
    /// A thread is started.
    Threads,
    /// A function of the program's own that takes sizes and gives memory, or takes memory.
    Allocator {
        name: String,
        /// What it passes on and does nothing more: that of `malloc` or `calloc`, or to `free`; empty if it does more.
        of: String,
        parameters: usize,
    },
}

/// A class of C++ whose objects are to come from a pool. Instances of a template each have a use of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct PoolClass {
    /// Without namespaces.
    pub name: String,
    pub body: Option<Span>,
    /// Where the declaration begins that stands in a namespace and holds the class.
    pub outer: Option<usize>,
    /// Within a function.
    pub local: bool,
    /// It has functions of its own for `new` or `delete`.
    pub allocates: bool,
    pub alignment: u64,
    pub union: bool,
}

/// A template's parameter that is `std::allocator` of the structure by default. The use spans the default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct PoolAllocator {
    /// What the allocator is of, as the source has it.
    pub element: Option<Span>,
    /// Where the declaration begins that stands in a namespace and holds the template.
    pub outer: Option<usize>,
    /// Of the structure.
    pub alignment: u64,
}

/// Something whose place follows from what a loop reads at its variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct LookUp {
    /// What is looked up some iterations later; empty if a macro writes it.
    pub address: String,
    /// True as long as the loop goes on until then.
    pub guard: String,
    /// The loop's body.
    pub body: Option<Span>,
    /// The body has braces.
    pub compound: bool,
    /// Why it can't be asked for ahead.
    pub reasons: Vec<String>,
}

/// A call that adds an element to a vector. The use spans the loop around it, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Growth {
    /// The call's line.
    pub call: usize,
    /// The vector's text, and how many elements the loop adds; empty if a macro writes it, or it isn't known.
    pub vector: String,
    pub count: String,
    /// True if the loop adds any; empty if the count says so.
    pub guard: String,
    /// Why no room can be reserved.
    pub reasons: Vec<String>,
}

/// Where objects are, or are passed by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Object {
    /// `global`, `local`, `field`, `union`, `parameter` or `result`.
    pub what: String,
    pub name: String,
    #[serde(default)]
    pub name_span: Option<Span>,
    /// An array of one dimension.
    #[serde(default)]
    pub row: bool,
    #[serde(default)]
    pub initialised: bool,
    /// Each thread has its own.
    #[serde(default)]
    pub each_thread: bool,
    #[serde(default)]
    pub r#static: bool,
    /// Declared, and defined elsewhere.
    #[serde(default)]
    pub external: bool,
}

/// The structure's text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Definition {
    pub name: String,
    /// `struct` or `class`.
    pub tag: String,
    /// The tag has a name; else a typedef has it.
    pub named: bool,
    /// From the first brace to past the last.
    pub body: Option<Span>,
    pub fields: Vec<Field>,
    pub cxx: bool,
    pub template: bool,
    /// Within another class or a function.
    pub nested: bool,
    /// Without constructors, private members and virtual functions.
    pub aggregate: bool,
    /// Without constructors, of its own or of its fields.
    pub trivial: bool,
    /// Types, constants or enumerators are declared among the fields.
    pub declares_more: bool,
    /// Fields are public and private.
    pub sections: bool,
    pub packed: bool,
    pub union: bool,
}

impl Definition {
    /// What the type is called in the source.
    pub fn spelled(&self) -> String {
        match self.named && !self.cxx {
            true => format!("{} {}", self.tag, self.name),
            false => self.name.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Field {
    pub name: String,
    /// From the type to the end of the declarator; fields that are declared together begin at the same place.
    pub span: Option<Span>,
    /// Where the part ends that fields of one declaration share.
    pub shared_end: Option<usize>,
    pub bits: bool,
    /// An array without a length, or of one element at most.
    pub flexible: bool,
}
