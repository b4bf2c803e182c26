//! Owners of the memory that rows show.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{AllocationSiteId, SymbolId, Trace};

use crate::model::blocks::{AllocationNames, Origins};

/// What memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnerKind {
    /// All blocks that were allocated there.
    Allocation(AllocationSiteId),
    Static(SymbolId),
    /// The stack of that stream's thread.
    Stack(u32),
    /// Neither.
    Other,
}

/// Memory of a process that belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    pub process: u32,
    pub kind: OwnerKind,
}

/// All owners, numbered, and which of them are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    pub list: Vec<Owner>,
    shown: Vec<bool>,
    numbers: HashMap<Owner, u32>,
}

impl Owners {
    pub fn number(&mut self, owner: Owner, is_shown: impl FnOnce(Owner) -> bool) -> u32 {
        if let Some(&number) = self.numbers.get(&owner) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(owner);
        self.shown.push(is_shown(owner));
        self.numbers.insert(owner, number);
        number
    }

    pub fn is_shown(&self, number: u32) -> bool {
        self.shown[number as usize]
    }
}

/// Names of owners for people.
pub(super) struct OwnerNames<'t> {
    allocations: AllocationNames<'t>,
}

impl<'t> OwnerNames<'t> {
    pub fn new(trace: &'t Trace, origins: Arc<Origins>) -> Self {
        OwnerNames {
            allocations: AllocationNames::new(trace, origins),
        }
    }

    pub fn kind(&self, kind: OwnerKind) -> &'static str {
        match kind {
            OwnerKind::Allocation(_) => "allocation",
            OwnerKind::Static(_) => "static variable",
            OwnerKind::Stack(_) => "stack",
            OwnerKind::Other => "other",
        }
    }

    pub fn label(&self, kind: OwnerKind) -> String {
        match kind {
            OwnerKind::Allocation(site) => self.allocations.label(site),
            OwnerKind::Static(symbol) => {
                let symbol = self.allocations.program.symbol(symbol);
                self.allocations.text(symbol.name).to_owned()
            }
            OwnerKind::Stack(stream) => format!("stack of thread {stream}"),
            OwnerKind::Other => "other memory".to_owned(),
        }
    }

    /// Whether people may mean it by this word: a variable, a type, a function, `file:line`, or the whole label.
    pub fn answers_to(&self, kind: OwnerKind, word: &str) -> bool {
        let names = &self.allocations;
        let is_place = |place: Option<String>| {
            place.is_some_and(|place| place == word || place.ends_with(&format!("/{word}")))
        };
        let own = match kind {
            OwnerKind::Allocation(site) => {
                let allocation = names.site(site);
                names.variable(site) == word
                    || names.program.string(allocation.element_type) == word
                    || names.function(site) == word
                    || names.allocator(site) == word
                    || is_place(names.place(allocation.location))
                    || is_place(names.place(names.frame(site).location))
            }
            OwnerKind::Static(symbol) => is_place(names.place(names.program.symbol(symbol).location)),
            OwnerKind::Stack(_) => word == "stack",
            OwnerKind::Other => word == "other",
        };
        own || self.label(kind) == word
    }
}
