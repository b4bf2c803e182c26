//! What the cells of a column are.

/// What the numbers or texts of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A name or another text for people.
    Text,
    /// A path of a file: its end says most.
    Path,
    /// A line of source code.
    Source,
    /// A number that counts things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A number that identifies: a line, a stream, a level.
    Number,
    /// A part of a whole, 0 to 1.
    Share,
    /// A quotient of other kinds.
    Rate,
    /// How much a number grew (positive) or shrank.
    Change,
    /// A factor, such as a number after a change over the same number before it.
    Ratio,
}

impl Unit {
    const ALL: [Unit; 10] = [
        Unit::Text,
        Unit::Path,
        Unit::Source,
        Unit::Count,
        Unit::Bytes,
        Unit::Number,
        Unit::Share,
        Unit::Rate,
        Unit::Change,
        Unit::Ratio,
    ];

    /// The unit's name in the field's metadata and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Path => "path",
            Unit::Source => "source",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Number => "number",
            Unit::Share => "share",
            Unit::Rate => "rate",
            Unit::Change => "change",
            Unit::Ratio => "ratio",
        }
    }

    /// Whether cells are texts.
    pub fn is_text(self) -> bool {
        matches!(self, Unit::Text | Unit::Path | Unit::Source)
    }

    pub(crate) fn from_name(name: &str) -> Option<Unit> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_survives_its_name() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_name(unit.name()), Some(unit));
        }
    }
}
