//! Static variables by address.

use std::collections::HashMap;

use trackway_trace::{LocationId, Program, StringId, Symbol, SymbolId};

#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    variable: SymbolId,
}

/// Where the static variables of all loaded modules lie. Modules of different processes are not told apart.
#[derive(Debug, Clone, Default)]
pub struct Statics {
    /// Spans by address; none overlaps another.
    spans: Vec<Span>,
}

impl Statics {
    /// Takes the variables whose size is known. A variable that was loaded several times is known by its first symbol.
    pub fn new(program: &Program) -> Statics {
        let mut first: HashMap<(StringId, LocationId), SymbolId> = HashMap::new();
        let mut spans = Vec::new();
        for (index, symbol) in program.symbols.iter().enumerate() {
            let id = SymbolId(index as u32);
            let variable = *first.entry((symbol.name, symbol.location)).or_insert(id);
            spans.extend(span(symbol, variable));
        }
        spans.sort_by_key(|span| span.start);
        spans.dedup_by_key(|span| span.start);
        for index in 1..spans.len() {
            spans[index - 1].end = spans[index - 1].end.min(spans[index].start);
        }
        Statics { spans }
    }

    /// The variable at the address, and its addresses. If there is none, the addresses around it that are in no
    /// variable. The second address is past the last one (0: the end of the address space).
    pub(crate) fn find(&self, address: u64) -> (Option<SymbolId>, u64, u64) {
        let behind = self.spans.partition_point(|span| span.start <= address);
        let to = self.spans.get(behind).map_or(0, |span| span.start);
        match behind.checked_sub(1).map(|index| self.spans[index]) {
            Some(span) if address < span.end => (Some(span.variable), span.start, span.end),
            Some(span) => (None, span.end, to),
            None => (None, 0, to),
        }
    }
}

fn span(symbol: &Symbol, variable: SymbolId) -> Option<Span> {
    let start = symbol.address?;
    let end = start.saturating_add(symbol.size);
    (symbol.size > 0).then_some(Span { start, end, variable })
}
