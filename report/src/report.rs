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

impl Report {
    /// The first table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}
