//! Folded stacks, as flamegraph.pl, speedscope and others read them: `outer;inner;innermost COUNT` in each line.

use crate::{Table, Unit, Value};

/// The table's stacks with one of their numbers, without those for which it is 0. None if the table has no column
/// `stack` or no such number.
pub fn to_folded(table: &Table, measure: &str) -> Option<String> {
    let (stacks, numbers) = (table.column("stack")?, table.column(measure)?);
    if !matches!(numbers.unit(), Unit::Count | Unit::Bytes) {
        return None;
    }
    let mut text = String::new();
    for row in 0..table.row_count() {
        let Value::Text(stack) = stacks.value(row) else {
            continue;
        };
        match numbers.value(row) {
            Value::Integer(0) => {}
            Value::Integer(number) => text += &format!("{} {number}\n", one_line(stack)),
            _ => return None,
        }
    }
    Some(text)
}

/// Makes the stack a single line, since each line of the file is one stack.
fn one_line(stack: &str) -> String {
    stack.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    #[test]
    fn each_stack_is_a_line() {
        let rows = [
            ("main;std::sort(int, int)", 7u64),
            ("main;idle", 0),
            ("main;a\nb", 2),
        ];
        let table = TableBuilder::new("stacks", "Stacks", &rows)
            .text("stack", |row| row.0)
            .count("accesses", |row| row.1)
            .number("inlined", |_| 0)
            .build();
        let expected = "main;std::sort(int, int) 7\nmain;a b 2\n";
        assert_eq!(to_folded(&table, "accesses").as_deref(), Some(expected));
        assert_eq!(to_folded(&table, "bytes"), None);
        assert_eq!(to_folded(&table, "stack"), None);
        assert_eq!(to_folded(&table, "inlined"), None);
    }
}
