//! Words for a shell.

/// The word as a shell must be told it; as it is, if no shell can be.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("a/b.trackway"), "a/b.trackway");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted(""), "''");
        assert_eq!(
            shlex::split(&quoted("it's \"$HOME\"")).unwrap(),
            ["it's \"$HOME\""]
        );
    }
}
