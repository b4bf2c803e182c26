//! Cargo wants a target.
