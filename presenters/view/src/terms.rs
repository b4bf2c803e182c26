//! The terms of `docs/glossary.md`, as the page explains them.

use serde_json::{json, Value as Json};

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// Each term with its explanation as plain text: the page holds none of the other documents that links lead to.
pub fn terms() -> Vec<Json> {
    let entries = GLOSSARY.split("\n- **").skip(1);
    entries
        .filter_map(|entry| entry.split_once("**"))
        .map(|(term, rest)| {
            let text = without_links(&rest.split_whitespace().collect::<Vec<_>>().join(" "));
            json!({"term": term, "text": text.trim_start_matches([':', ' ']).trim()})
        })
        .collect()
}

/// Text without its links, which stand at the end of each explanation.
fn without_links(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        made += before;
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    (made + rest).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_of_the_glossary_has_an_explanation() {
        let terms = terms();
        assert_eq!(terms.len(), GLOSSARY.matches("\n- **").count());
        for term in &terms {
            let text = term["text"].as_str().unwrap();
            assert!(text.len() > 10 && !text.contains(['[', ']', '*']), "{term}");
        }
        let site = terms.iter().find(|term| term["term"] == "site").unwrap();
        assert_eq!(site["text"], "an instruction that accesses memory.");
    }
}
