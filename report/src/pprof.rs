//! pprof's profile.proto, for `pprof`, `go tool pprof` and others: a message in the wire format of protocol buffers.

use std::collections::HashMap;

use crate::{Column, Table, Unit, Value};

/// Fields of the messages, by their numbers in profile.proto.
mod field {
    pub const PROFILE_SAMPLE_TYPE: u32 = 1;
    pub const PROFILE_SAMPLE: u32 = 2;
    pub const PROFILE_LOCATION: u32 = 4;
    pub const PROFILE_FUNCTION: u32 = 5;
    pub const PROFILE_STRING: u32 = 6;
    pub const PROFILE_TIME_NANOS: u32 = 9;
    pub const PROFILE_DEFAULT_SAMPLE_TYPE: u32 = 14;
    pub const TYPE_NAME: u32 = 1;
    pub const TYPE_UNIT: u32 = 2;
    pub const SAMPLE_LOCATIONS: u32 = 1;
    pub const SAMPLE_VALUES: u32 = 2;
    pub const LOCATION_ID: u32 = 1;
    pub const LOCATION_LINE: u32 = 4;
    pub const LINE_FUNCTION: u32 = 1;
    pub const FUNCTION_ID: u32 = 1;
    pub const FUNCTION_NAME: u32 = 2;
    pub const FUNCTION_SYSTEM_NAME: u32 = 3;
}

/// The table's stacks with all of their counts, and `measure` as the one that is shown first. Functions that `inlined`, if
/// there is such a column, counts at the end of a stack are lines of the location of the function before them. None if the
/// table has no column `stack` or no such number. A reader expects the message to be compressed by gzip.
pub fn to_pprof(table: &Table, measure: &str, start_unix_ns: u64) -> Option<Vec<u8>> {
    let stacks = table.column("stack")?;
    let measures: Vec<Column> = table
        .columns()
        .filter(|column| matches!(column.unit(), Unit::Count | Unit::Bytes) && column.name() != "stack")
        .collect();
    measures.iter().find(|column| column.name() == measure)?;
    let mut profile = Profile::default();
    profile.strings.number("");
    for column in &measures {
        let unit = if column.unit() == Unit::Bytes {
            "bytes"
        } else {
            "count"
        };
        let mut sort = Message::default();
        sort.integer(field::TYPE_NAME, profile.strings.number(column.name()));
        sort.integer(field::TYPE_UNIT, profile.strings.number(unit));
        profile.message.nested(field::PROFILE_SAMPLE_TYPE, &sort);
    }
    for row in 0..table.row_count() {
        let Value::Text(stack) = stacks.value(row) else {
            continue;
        };
        let values = measures.iter().map(|column| column.integer(row).unwrap_or(0));
        profile.sample(stack, inlined(table, row), values.collect());
    }
    Some(profile.finish(measure, start_unix_ns))
}

fn inlined(table: &Table, row: usize) -> usize {
    table.integer("inlined", row).unwrap_or(0) as usize
}

#[derive(Default)]
struct Profile {
    message: Message,
    strings: Numbers,
    functions: Numbers,
    /// Functions of one machine instruction, `outer;inlined`.
    locations: Numbers,
}

/// Where the innermost location of a stack begins.
fn innermost(stack: &str, inlined: usize) -> usize {
    let separators = stack.rmatch_indices(';');
    separators
        .map(|(position, _)| position + 1)
        .nth(inlined)
        .unwrap_or(0)
}

impl Profile {
    fn sample(&mut self, stack: &str, inlined: usize, values: Vec<u64>) {
        // The innermost function comes first. Numbers of locations begin at 1.
        let (callers, location) = stack.split_at(innermost(stack, inlined));
        let callers = callers.split_terminator(';').rev();
        let locations = std::iter::once(location)
            .chain(callers)
            .map(|location| self.locations.number(location) + 1);
        let mut sample = Message::default();
        sample.packed(field::SAMPLE_LOCATIONS, &locations.collect::<Vec<_>>());
        sample.packed(field::SAMPLE_VALUES, &values);
        self.message.nested(field::PROFILE_SAMPLE, &sample);
    }

    fn finish(mut self, measure: &str, start_unix_ns: u64) -> Vec<u8> {
        for (index, functions) in std::mem::take(&mut self.locations.texts).iter().enumerate() {
            let mut location = Message::default();
            location.integer(field::LOCATION_ID, index as u64 + 1);
            for function in functions.rsplit(';') {
                let mut line = Message::default();
                line.integer(field::LINE_FUNCTION, self.functions.number(function) + 1);
                location.nested(field::LOCATION_LINE, &line);
            }
            self.message.nested(field::PROFILE_LOCATION, &location);
        }
        for (index, name) in std::mem::take(&mut self.functions.texts).iter().enumerate() {
            let name = self.strings.number(name);
            let mut function = Message::default();
            function.integer(field::FUNCTION_ID, index as u64 + 1);
            function.integer(field::FUNCTION_NAME, name);
            function.integer(field::FUNCTION_SYSTEM_NAME, name);
            self.message.nested(field::PROFILE_FUNCTION, &function);
        }
        let first = self.strings.number(measure);
        for text in &self.strings.texts {
            self.message.bytes(field::PROFILE_STRING, text.as_bytes());
        }
        self.message.integer(field::PROFILE_TIME_NANOS, start_unix_ns);
        self.message.integer(field::PROFILE_DEFAULT_SAMPLE_TYPE, first);
        self.message.0
    }
}

/// Texts by the order of their first use.
#[derive(Default)]
struct Numbers {
    texts: Vec<String>,
    number_of: HashMap<String, u64>,
}

impl Numbers {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.number_of.get(text) {
            return *number;
        }
        let number = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.number_of.insert(text.to_owned(), number);
        number
    }
}

/// A message's bytes.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Wire type 0.
    fn integer(&mut self, field: u32, value: u64) {
        varint(&mut self.0, u64::from(field) << 3);
        varint(&mut self.0, value);
    }

    /// Wire type 2.
    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        varint(&mut self.0, u64::from(field) << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn nested(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u32, values: &[u64]) {
        let mut bytes = Vec::new();
        values.iter().for_each(|value| varint(&mut bytes, *value));
        self.bytes(field, &bytes);
    }
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    #[test]
    fn messages_are_those_of_the_wire_format() {
        let mut message = Message::default();
        message.integer(1, 300);
        message.packed(2, &[1, 300]);
        message.bytes(6, b"ab");
        let expected = [0x08, 0xac, 0x02, 0x12, 3, 1, 0xac, 0x02, 0x32, 2, b'a', b'b'];
        assert_eq!(message.0, expected);
    }

    #[test]
    fn inlined_functions_are_lines_of_a_location() {
        let stack = "main;f;g;h";
        let locations = |inlined| {
            let (callers, location) = stack.split_at(innermost(stack, inlined));
            (callers, location)
        };
        assert_eq!(locations(0), ("main;f;g;", "h"));
        assert_eq!(locations(2), ("main;", "f;g;h"));
        assert_eq!(locations(3), ("", stack));
        assert_eq!(locations(9), ("", stack));
    }

    #[test]
    fn a_measure_must_be_a_count() {
        let table = TableBuilder::new("stacks", "Stacks", &[("main;f", 7u64)])
            .text("stack", |row| row.0)
            .count("accesses", |row| row.1)
            .build();
        assert!(to_pprof(&table, "accesses", 0).is_some());
        assert!(to_pprof(&table, "bytes", 0).is_none());
        assert!(to_pprof(&table, "stack", 0).is_none());
    }
}
