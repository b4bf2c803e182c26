//! Counts of misses on their way to another process.

use trackway_trace::Program;

use super::Misses;
use crate::engine::partial::{Division, PartialError, Portable};
use crate::model::cache::Caches;
use crate::model::site_counts::{packed, MissesShard, PackedMisses};
use crate::WorkPart;

impl Portable for Misses {
    type Packed = PackedMisses;

    fn division(&self) -> Division {
        packed::division(self.caches(), 0)
    }

    fn start_range(&self) -> MissesShard {
        MissesShard::new(&Caches::none(), WorkPart::WHOLE)
    }

    fn start_lines(&self, part: WorkPart) -> MissesShard {
        MissesShard::of_lines(self.caches(), part)
    }

    fn pack(&self, shard: MissesShard) -> PackedMisses {
        PackedMisses::of(&shard)
    }

    fn unpack(&self, packed: PackedMisses, program: &Program) -> Result<MissesShard, PartialError> {
        packed.into_shard(program)
    }
}
