//! Feeds traces that come to a collector to Apache Kafka. `docs/streaming.md` is normative for the messages.
//!
//! [`Target`] says where to, [`Producer`] is the collector's feed, `messages` makes chunks messages.

mod messages;
mod producer;
mod sign_in;
mod target;
mod topics;

pub use producer::{Producer, StartError};
pub use sign_in::{Mechanism, SignIn, PASSWORD_VARIABLE};
pub use target::Target;
