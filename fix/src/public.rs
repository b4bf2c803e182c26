//! Headers that the user calls public.

use std::path::Path;

use wildmatch::WildMatch;

/// Patterns of * and ?.
pub struct Patterns(Vec<WildMatch>);

impl Patterns {
    pub fn new(patterns: &[String]) -> Patterns {
        Patterns(patterns.iter().map(|pattern| WildMatch::new(pattern)).collect())
    }

    /// Whether one matches the path, or the file's name.
    pub fn matches(&self, path: &str) -> bool {
        let name = Path::new(path).file_name().and_then(|name| name.to_str());
        let is_like =
            |pattern: &WildMatch| pattern.matches(path) || name.is_some_and(|name| pattern.matches(name));
        self.0.iter().any(is_like)
    }
}
