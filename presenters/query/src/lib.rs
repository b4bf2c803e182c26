//! SQL over traces.
