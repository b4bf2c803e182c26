//! The tables that a trace has.

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};

use crate::{accesses, allocations, cells, functions, regions, samples, sites, threads, types};

/// A table of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Every load and store.
    Accesses,
    /// How often each site accessed memory, by thread. Each part of the table has rows of its own, which are to be
    /// added up. An engine asks for it instead of accesses when everything that it wants follows from site and thread.
    SiteCounts,
    /// The instructions that access memory.
    Sites,
    /// The functions of the program.
    Functions,
    /// The streams of the trace.
    Threads,
    /// What allocators did.
    Allocations,
    /// The structures of the program.
    Types,
    /// The members of structures.
    Fields,
    /// The regions of interest of a program that counts.
    Regions,
    /// Moments at which the program was sampled.
    Samples,
}

impl Relation {
    pub const ALL: &[Relation] = &[
        Relation::Accesses,
        Relation::SiteCounts,
        Relation::Sites,
        Relation::Functions,
        Relation::Threads,
        Relation::Allocations,
        Relation::Types,
        Relation::Fields,
        Relation::Regions,
        Relation::Samples,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Relation::Accesses => "accesses",
            Relation::SiteCounts => "site_counts",
            Relation::Sites => "sites",
            Relation::Functions => "functions",
            Relation::Threads => "threads",
            Relation::Allocations => "allocations",
            Relation::Types => "types",
            Relation::Fields => "fields",
            Relation::Regions => "regions",
            Relation::Samples => "samples",
        }
    }

    /// Whether its rows come from the records of accesses, chunk by chunk.
    pub(crate) fn is_of_accesses(self) -> bool {
        matches!(self, Relation::Accesses | Relation::SiteCounts)
    }

    /// What a row of it is.
    pub fn meaning(self) -> &'static str {
        match self {
            Relation::Accesses => "a load or store that the program made",
            Relation::SiteCounts => "accesses of a site by a thread, in a part of the trace: to be added up",
            Relation::Sites => "an instruction that accesses memory, with its names",
            Relation::Functions => "a function of the program, and how much of it is recorded",
            Relation::Threads => "a stream of the trace: what one thread recorded",
            Relation::Allocations => "an allocation, a release, or a change of mappings",
            Relation::Types => "a structure of the program",
            Relation::Fields => "a member of a structure",
            Relation::Regions => "a region of interest of a program that counts",
            Relation::Samples => "a moment at which a thread was sampled",
        }
    }

    pub fn named(name: &str) -> Option<Relation> {
        Self::ALL.iter().copied().find(|relation| relation.name() == name)
    }

    /// The columns; each field's metadata has `meaning` and, where there is one, `unit`.
    pub fn schema(self) -> SchemaRef {
        match self {
            Relation::Accesses => accesses::schema(),
            Relation::SiteCounts => accesses::counts_schema(),
            Relation::Sites => cells::schema(&sites::columns()),
            Relation::Functions => cells::schema(&functions::columns()),
            Relation::Threads => cells::schema(&threads::columns()),
            Relation::Allocations => cells::schema(&allocations::columns()),
            Relation::Types => cells::schema(&types::columns()),
            Relation::Fields => cells::schema(&types::field_columns()),
            Relation::Regions => regions::schema(),
            Relation::Samples => cells::schema(&samples::columns()),
        }
    }
}
