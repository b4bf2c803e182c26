//! Reuse distances on their way to another process.

use serde::{Deserialize, Serialize};
use trackway_trace::Program;

use super::histogram::{Histogram, PackedHistogram};
use super::references::{PackedReferences, References};
use super::shard::{Extent, Found};
use super::{Reuse, ReuseShard};
use crate::engine::partial::{Division, PartialError, Portable};
use crate::{Analysis, WorkPart};

/// What a shard of [`Reuse`] has found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackedReuse {
    extent: Extent,
    sites: Vec<PackedReferences>,
    allocations: Option<Vec<PackedReferences>>,
    parts: Vec<PackedHistogram>,
}

impl Portable for Reuse {
    type Packed = PackedReuse;

    /// The stack of a thread needs all that the thread did.
    fn division(&self) -> Division {
        Division::default()
    }

    fn start_range(&self) -> ReuseShard {
        self.start_shard()
    }

    fn start_lines(&self, _: WorkPart) -> ReuseShard {
        self.start_shard()
    }

    fn pack(&self, shard: ReuseShard) -> PackedReuse {
        PackedReuse {
            extent: shard.extent(),
            sites: shard.sites().packed(),
            allocations: shard.allocations().map(References::packed),
            parts: shard.parts().iter().map(Histogram::packed).collect(),
        }
    }

    fn unpack(&self, packed: PackedReuse, program: &Program) -> Result<ReuseShard, PartialError> {
        let mut shard = self.start_shard();
        shard.take_program(program);
        let misfit = PartialError::DoesNotFit {
            what: "it has sites, allocation sites or distances that aren't known",
        };
        let references = |packed: &[_], len| References::unpack(packed, len);
        let owners = self.origins.count() + 1;
        let found = || {
            Some(Found {
                extent: packed.extent,
                sites: references(&packed.sites, program.sites.len())?,
                allocations: match &packed.allocations {
                    Some(packed) => Some(references(packed, owners)?),
                    None => None,
                },
                parts: packed
                    .parts
                    .iter()
                    .map(Histogram::unpack)
                    .collect::<Option<_>>()?,
            })
        };
        shard.add_found(found().ok_or(misfit)?);
        Ok(shard)
    }
}
