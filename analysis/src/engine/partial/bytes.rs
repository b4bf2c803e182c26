//! Partial results as bytes.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | `TWPR` |
//! | 2 | version, little-endian |
//! | 16 | identity of the trace |
//! | rest | analysis, summary, exactness of the order, shard: postcard, whose encoding is specified and little-endian |

use serde::{Deserialize, Serialize};
use trackway_trace::{Exactness, Trace, TraceError};

use super::{PartialError, Portable};
use crate::RunSummary;

const MAGIC: [u8; 4] = *b"TWPR";
const VERSION: u16 = 2;
const HEAD: usize = 22;

/// What some tasks found together.
pub struct Partial<S> {
    /// None as long as there is nothing.
    pub shard: Option<S>,
    pub summary: RunSummary,
    /// Exactness of the order between threads, where that matters.
    pub exactness: Option<Exactness>,
}

impl<S> Default for Partial<S> {
    fn default() -> Self {
        Partial {
            shard: None,
            summary: RunSummary::default(),
            exactness: None,
        }
    }
}

/// [`RunSummary`], with errors in words.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PackedSummary {
    accesses: u64,
    by_library: u64,
    events: u64,
    chunks: u64,
    uncertain_accesses: u64,
    damage: Vec<(Option<u64>, String)>,
}

#[derive(Serialize, Deserialize)]
struct Body<P> {
    analysis: String,
    summary: PackedSummary,
    exactness: Option<Exactness>,
    shard: Option<P>,
}

impl From<RunSummary> for PackedSummary {
    fn from(summary: RunSummary) -> PackedSummary {
        let in_words = |error: &TraceError| (error.offset(), error.to_string());
        PackedSummary {
            accesses: summary.accesses,
            by_library: summary.by_library,
            events: summary.events,
            chunks: summary.chunks,
            uncertain_accesses: summary.uncertain_accesses,
            damage: summary.damage.iter().map(in_words).collect(),
        }
    }
}

impl From<PackedSummary> for RunSummary {
    fn from(packed: PackedSummary) -> RunSummary {
        let error = |(offset, message)| TraceError::Elsewhere { offset, message };
        RunSummary {
            accesses: packed.accesses,
            by_library: packed.by_library,
            events: packed.events,
            chunks: packed.chunks,
            uncertain_accesses: packed.uncertain_accesses,
            damage: packed.damage.into_iter().map(error).collect(),
        }
    }
}

impl<S> Partial<S> {
    /// Adds what other tasks found.
    pub fn merge<A: Portable<Shard = S>>(&mut self, analysis: &A, from: Partial<S>) {
        self.summary.add(from.summary);
        self.exactness = self.exactness.take().or(from.exactness);
        match (&mut self.shard, from.shard) {
            (Some(into), Some(from)) => analysis.merge(into, from),
            (into @ None, from) => *into = from,
            (Some(_), None) => (),
        }
    }

    /// `about` says which analysis it is, with all that matters of its parameters.
    pub fn to_bytes<A: Portable<Shard = S>>(
        self,
        analysis: &A,
        about: &str,
        trace: &Trace,
    ) -> Result<Vec<u8>, PartialError> {
        let body = Body {
            analysis: about.to_owned(),
            summary: self.summary.into(),
            exactness: self.exactness,
            shard: self.shard.map(|shard| analysis.pack(shard)),
        };
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(trace.identity());
        postcard::to_extend(&body, bytes).map_err(|source| PartialError::Encoding { source })
    }

    /// Reads what [`Partial::to_bytes`] wrote for the same analysis of the same trace.
    pub fn from_bytes<A: Portable<Shard = S>>(
        bytes: &[u8],
        analysis: &A,
        about: &str,
        trace: &Trace,
    ) -> Result<Partial<S>, PartialError> {
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or(PartialError::NoPartial {
            what: "it is too short",
        })?;
        check_head(head, trace)?;
        let body: Body<A::Packed> =
            postcard::from_bytes(rest).map_err(|source| PartialError::Encoding { source })?;
        if body.analysis != about {
            return Err(PartialError::OtherAnalysis {
                found: body.analysis,
                expected: about.to_owned(),
            });
        }
        let shard = body.shard.map(|packed| analysis.unpack(packed, trace.program()));
        Ok(Partial {
            shard: shard.transpose()?,
            summary: body.summary.into(),
            exactness: body.exactness,
        })
    }
}

fn check_head(head: &[u8], trace: &Trace) -> Result<(), PartialError> {
    if head[..4] != MAGIC {
        return Err(PartialError::NoPartial {
            what: "it doesn't begin as one",
        });
    }
    let found = u16::from_le_bytes([head[4], head[5]]);
    if found != VERSION {
        return Err(PartialError::OtherVersion {
            found,
            expected: VERSION,
        });
    }
    match head[6..] == trace.identity() {
        true => Ok(()),
        false => Err(PartialError::OtherTrace),
    }
}
