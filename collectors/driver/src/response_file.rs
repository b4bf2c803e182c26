//! `@file` arguments, expanded so that the wrapper sees what the compiler will see.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Response files may name each other; a cycle ends here.
const MAX_DEPTH: usize = 16;

/// `arguments` with every readable `@file` replaced by the words in it, as clang does.
/// An unreadable one stays as it is: the compiler itself reports it.
pub fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(arguments.len());
    for argument in arguments {
        expand_into(argument, 0, &mut expanded);
    }
    expanded
}

fn expand_into(argument: &OsStr, depth: usize, expanded: &mut Vec<OsString>) {
    let contents = match argument.as_bytes().strip_prefix(b"@") {
        Some(path) if depth < MAX_DEPTH => fs::read(OsStr::from_bytes(path)).ok(),
        _ => None,
    };
    match contents {
        Some(contents) => {
            for word in split_words(&contents) {
                expand_into(&word, depth + 1, expanded);
            }
        }
        None => expanded.push(argument.to_owned()),
    }
}

/// Splits by GNU rules: white space separates, single and double quotes group, a backslash takes the next byte
/// literally (except within single quotes).
fn split_words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quote != Some(b'\'') => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            b'\'' | b'"' if quote.is_none() => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn words(text: &str) -> Vec<String> {
        split_words(text.as_bytes())
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn words_follow_gnu_quoting() {
        assert_eq!(words(" -c\n a.c\t"), ["-c", "a.c"]);
        assert_eq!(words(r#"-DA="x y" 'b "c'"#), ["-DA=x y", "b \"c"]);
        assert_eq!(words(r#"a\ b "\"" '\'"#), ["a b", "\"", "\\"]);
        assert_eq!(words("''"), [""]);
        assert!(words("").is_empty());
    }

    #[test]
    fn files_expand_recursively_and_missing_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: String| -> PathBuf {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let inner = file("inner", "-c b.c".into());
        let outer = file("outer", format!("a.c @{} @/no/such/file", inner.display()));
        let expanded = expand(&[format!("@{}", outer.display()).into(), "-O2".into()]);
        assert_eq!(expanded, ["a.c", "-c", "b.c", "@/no/such/file", "-O2"]);
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        let argument = format!("@{}", path.display());
        fs::write(&path, format!("-c {argument}")).unwrap();
        let expanded = expand(&[argument.clone().into()]);
        assert_eq!(expanded.len(), MAX_DEPTH + 1);
        assert_eq!(expanded.last().unwrap(), argument.as_str());
    }
}
