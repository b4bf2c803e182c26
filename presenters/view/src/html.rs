//! The page's text.

use base64::prelude::{Engine, BASE64_STANDARD};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::assets;

/// The whole page with its data.
pub(crate) fn page(data: &Json) -> String {
    let (style, script) = (assets::style(), assets::script());
    let places = [
        ("{{policy}}", policy(&style, &script)),
        ("{{style}}", style),
        ("{{data}}", inert(&data.to_string())),
        ("{{script}}", script),
    ];
    fill(assets::FRAME, &places)
}

/// What the page may do, for its own meta element: run its own script and style, and load nothing.
pub fn content_security_policy() -> String {
    policy(&assets::style(), &assets::script())
}

/// The same for the header of a served page, which can also forbid that others frame it.
pub fn served_policy() -> String {
    format!("{}; frame-ancestors 'none'", content_security_policy())
}

fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(script),
        digest(style)
    )
}

fn digest(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// JSON in which nothing ends or begins an element, a comment or a section.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Puts texts into their places, each once, from the first to the last: what is put in is never searched.
fn fill(frame: &str, places: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = frame;
    for (place, filling) in places {
        if let Some((before, after)) = rest.split_once(place) {
            text += before;
            text += filling;
            rest = after;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOSTILE: &str = "</script><script>alert(1)</script><!--{{script}}\u{2028}&amp;\u{0}\u{1b}";

    fn data_of(page: &str) -> &str {
        let begin = "<script type=\"application/json\" id=\"data\">";
        let (_, rest) = page.split_once(begin).unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn hostile_text_stays_text() {
        let data = json!({ HOSTILE: HOSTILE });
        let page = page(&data);
        let text = data_of(&page);
        assert!(
            !text.contains(['<', '>', '&', '\u{2028}', '\u{0}', '\u{1b}']),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Json>(text).unwrap(), data);
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn every_place_is_filled() {
        let page = page(&json!({}));
        for place in ["{{policy}}", "{{style}}", "{{data}}", "{{script}}"] {
            assert!(assets::FRAME.contains(place) && !page.contains(place), "{place}");
        }
        assert_eq!(assets::FRAME.matches("{{").count(), 4);
    }

    #[test]
    fn the_policy_names_the_very_script_and_style() {
        let page = page(&json!({}));
        let policy = content_security_policy();
        assert!(page.contains(&format!("content=\"{policy}\"")));
        for (begin, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let (_, rest) = page.split_once(begin).unwrap();
            let text = rest.split_once(end).unwrap().0;
            assert!(policy.contains(&digest(text)), "{begin}");
        }
        assert!(policy.starts_with("default-src 'none'"));
        assert!(!policy.contains("unsafe"));
    }

    #[test]
    fn nothing_in_the_page_names_another_place() {
        let page = page(&json!({}));
        for word in [
            "src=",
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "innerHTML",
            "eval(",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        let schemes: Vec<&str> = page.split("://").skip(1).map(|rest| &rest[..19]).collect();
        assert_eq!(schemes, ["www.w3.org/2000/svg"]);
    }
}
