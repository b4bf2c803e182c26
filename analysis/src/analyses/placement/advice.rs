//! The advice of a placement in machine-readable form: lines of JSON, the first of which is the header.

use serde::{Deserialize, Serialize};

use super::plan::{Placed, Placement};
use crate::analyses::objects::{Owner, ReturnPlace};

/// The first line of a file of advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceHeader {
    /// Version of the format: 1.
    pub trackway_advice: u32,
    /// The program that was measured.
    pub program: String,
    /// Names of the tiers, the first to be filled first.
    pub tiers: Vec<String>,
}

/// A further line: where the allocations of a call site are to lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdvisedSite {
    pub tier: String,
    pub function: String,
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub line: u64,
    /// Most bytes of the call site that were live at a time.
    pub bytes: u64,
    pub calls: Vec<AdvisedCall>,
}

/// Return addresses from the allocator's caller to the call site.
pub type AdvisedCall = Vec<AdvisedFrame>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvisedFrame {
    /// Path of the program or library.
    pub object: String,
    /// Offset of the return address from the first byte of the object's memory image.
    pub offset: u64,
    /// Build id of the object in hexadecimal; empty if unknown.
    #[serde(default)]
    pub build_id: String,
}

impl From<&ReturnPlace> for AdvisedFrame {
    fn from(place: &ReturnPlace) -> Self {
        AdvisedFrame {
            object: place.object.clone(),
            offset: place.offset,
            build_id: place.build_id.clone(),
        }
    }
}

impl Placement<'_> {
    pub fn advice_header(&self, program: &str) -> AdviceHeader {
        AdviceHeader {
            trackway_advice: 1,
            program: program.to_owned(),
            tiers: self.tiers.iter().map(|tier| tier.name.clone()).collect(),
        }
    }

    /// A line for each call site.
    pub fn advice(&self) -> Vec<AdvisedSite> {
        self.placed
            .iter()
            .filter_map(|placed| self.advised(placed))
            .collect()
    }

    fn advised(&self, placed: &Placed) -> Option<AdvisedSite> {
        let (owner, totals) = self.objects.owners.get_index(placed.candidate.owner)?;
        let Owner::CallSite(frame) = owner else {
            return None;
        };
        Some(AdvisedSite {
            tier: self.tiers[placed.tier].name.clone(),
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            bytes: placed.candidate.bytes,
            calls: totals
                .chains
                .iter()
                .map(|chain| chain.iter().map(AdvisedFrame::from).collect())
                .collect(),
        })
    }
}
