//! Traces over a socket: [`Sender`] is a sink of the recorder, [`collect`] the other end. `docs/streaming.md` is
//! normative for what goes over the wire.

mod address;
mod connection;
mod protocol;
mod receiving;
mod sender;
mod window;

pub use address::Address;
pub use receiving::{
    collect, ArrivedChunk, CollectError, CollectEvent, CollectOptions, CollectOutput, CollectSummary, Feed,
    FeedError, TraceFeed,
};
pub use sender::Sender;
