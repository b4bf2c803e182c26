//! From a change of a structure to edits of the source.

use std::collections::BTreeSet;

use trackway_analysis::whatif::{Change, Link};

use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::structure::Structure;
use crate::uses::Use;
use crate::{align, reorder, split};

/// Edits, and how the parts of a split object find each other.
pub struct Made {
    pub edits: Edits,
    pub link: Link,
}

/// `name`: of the structure. `line_bytes`: of a cache line, for fields that get lines of their own.
pub fn made(
    name: &str,
    change: &Change,
    uses: &BTreeSet<Use>,
    line_bytes: u64,
    is_public: impl Fn(&str) -> bool,
) -> Possibly<Made> {
    let structure = Structure::of(name, uses, is_public)?;
    let edits = match change {
        Change::Split(stays) => {
            let (edits, link) = split::edits(&structure, stays)?;
            return Ok(Made { edits, link });
        }
        Change::Reorder(first) => reorder::edits(&structure, first),
        Change::PadBy(bytes) => align::padded(&structure, *bytes),
        Change::PadMember(field) => align::field_alone(&structure, field, line_bytes),
        Change::Align(bytes) => align::aligned(&structure, *bytes),
        Change::Arrays => Err(vec![Refusal::new(
            "arrays of members are not made by a machine here",
        )]),
    };
    Ok(Made {
        edits: edits?,
        link: Link::Pointer,
    })
}
