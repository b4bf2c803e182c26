//! Names of C++ for people.

/// What compilers call a namespace without a name.
const UNNAMED: &str = "(anonymous namespace)::";

/// The text without namespaces that have no name, which say nothing; what stands between quotes is to be typed and stays.
pub fn readable(text: &str) -> String {
    if !text.contains(UNNAMED) {
        return text.to_owned();
    }
    let quoted = text.split('\'').enumerate();
    let parts = quoted.map(|(index, part)| match index % 2 {
        0 => part.replace(UNNAMED, ""),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_without_a_name_are_left_out_but_of_commands() {
        assert_eq!(
            readable("(anonymous namespace)::Grid::at((anonymous namespace)::Cell&)"),
            "Grid::at(Cell&)"
        );
        let command = "(anonymous namespace)::Cell: --split '(anonymous namespace)::Cell:next'";
        assert_eq!(
            readable(command),
            "Cell: --split '(anonymous namespace)::Cell:next'"
        );
        assert_eq!(readable("main"), "main");
    }
}
