//! What is known of layouts, on its way to another process.

use serde::{Deserialize, Serialize};
use trackway_trace::Program;

use super::affinity::Pairs;
use super::{Layout, LayoutShard};
use crate::engine::partial::{Division, PartialError, Portable};
use crate::model::cache::Caches;
use crate::model::site_counts::packed::{self, PackedMisses};
use crate::model::site_counts::MissesShard;
use crate::WorkPart;

/// What a shard of [`Layout`] has counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedLayout {
    misses: PackedMisses,
    /// Pairs by structure; none where another shard looks at pairs.
    pairs: Option<Vec<Pairs>>,
}

impl Portable for Layout {
    type Packed = PackedLayout;

    /// Which fields are accessed together shows within a window: so ranges need to know no more than that before them.
    fn division(&self) -> Division {
        packed::division(&self.caches, self.window)
    }

    fn start_range(&self) -> LayoutShard {
        LayoutShard {
            misses: MissesShard::new(&Caches::none(), WorkPart::WHOLE),
            together: Some(self.watch.start()),
        }
    }

    fn end_lead_in(&self, shard: &mut LayoutShard) {
        shard.misses = MissesShard::new(&Caches::none(), WorkPart::WHOLE);
        if let Some(together) = &mut shard.together {
            together.forget_pairs();
        }
    }

    fn start_lines(&self, part: WorkPart) -> LayoutShard {
        LayoutShard {
            misses: MissesShard::of_lines(&self.caches, part),
            together: None,
        }
    }

    fn pack(&self, shard: LayoutShard) -> PackedLayout {
        PackedLayout {
            misses: PackedMisses::of(&shard.misses),
            pairs: shard.together.map(|together| together.pairs),
        }
    }

    fn unpack(&self, packed: PackedLayout, program: &Program) -> Result<LayoutShard, PartialError> {
        let seen = |pairs| {
            self.watch.seen(pairs).ok_or(PartialError::DoesNotFit {
                what: "it is of other structures",
            })
        };
        Ok(LayoutShard {
            misses: packed.misses.into_shard(program)?,
            together: packed.pairs.map(seen).transpose()?,
        })
    }
}
