use crate::Table;

/// What an analysis of a trace has found.
#[derive(Debug, Clone)]
pub struct Report {
    /// The finding in a sentence.
    pub answer: String,
    /// What makes the numbers incomplete or doubtful: gaps, damage, missing instrumentation.
    pub warnings: Vec<String>,
    pub tables: Vec<Table>,
}
