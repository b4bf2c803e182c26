//! The tables that a trace has.

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use trackway_trace::named_enum;

use crate::{accesses, allocations, cells, functions, regions, samples, sites, threads, types};

named_enum! {
    /// A table of a trace.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    Relation {
        /// Every load and store.
        Accesses = "accesses",
        /// How often each site accessed memory, by thread. Each part of the table has rows of its own, which are to be
        /// added up. An engine asks for it instead of accesses when everything that it wants follows from site and thread.
        SiteCounts = "site_counts",
        /// The instructions that access memory.
        Sites = "sites",
        /// The functions of the program.
        Functions = "functions",
        /// The streams of the trace.
        Threads = "threads",
        /// What allocators did.
        Allocations = "allocations",
        /// The structures of the program.
        Types = "types",
        /// The members of structures.
        Fields = "fields",
        /// The regions of interest of a program that counts.
        Regions = "regions",
        /// Moments at which the program was sampled.
        Samples = "samples",
    }
}

impl Relation {
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

    /// The columns, and after them `level` and `cycles` of accesses. These need [`crate::TraceTables::serve_by`].
    pub fn schema_with_served(self) -> SchemaRef {
        match self {
            Relation::Accesses => accesses::schema_with_served(),
            _ => self.schema(),
        }
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
