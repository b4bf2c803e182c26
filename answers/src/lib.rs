//! Questions about a trace: the options that verbs take, the reports, lines and files that answer them, and how those are
//! printed. The command line and the Python package ask with the same options and get the same tables.

pub mod allocations;
pub mod branches;
pub mod calls;
pub mod check;
pub mod comparable;
pub mod counts;
pub mod diff;
pub mod divided;
pub mod dump;
pub mod edited;
pub mod export;
pub mod failure;
pub mod input;
pub mod layout;
pub mod map;
pub mod memory;
pub mod model;
pub mod objects;
pub mod output;
pub mod parquet;
pub mod patterns;
pub mod picture;
pub mod placement;
pub mod processors;
pub mod progress;
pub mod question;
pub mod reading;
pub mod report;
pub mod reuse;
pub mod samples;
pub mod sharing;
pub mod soundness;
pub mod sources;
pub mod verify;
pub mod whatif;
