//! A structure's definition, and the declarations of its fields as texts that can be moved.

use std::collections::BTreeSet;

use crate::refusal::{Possibly, Refusal};
use crate::uses::{Definition, Field, Span, Use, What};

/// All that is known of a structure.
pub struct Structure<'u> {
    pub uses: &'u BTreeSet<Use>,
    pub definition: &'u Definition,
    /// The use that is the definition.
    pub defined: &'u Use,
    /// The file with the definition.
    pub source: String,
    body: Span,
}

/// A declaration that can be moved: lines, with the comments that belong to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub field: String,
    /// Where the text stands; all fields of one declaration have the same.
    pub span: Span,
    pub text: String,
}

impl<'u> Structure<'u> {
    /// # Errors
    /// If the definition isn't there, or no text that could be edited.
    pub fn of(name: &str, uses: &'u BTreeSet<Use>, is_public: impl Fn(&str) -> bool) -> Possibly<Self> {
        let definitions = uses.iter().filter_map(|found| match &found.what {
            What::Definition(definition) => Some((found, definition)),
            _ => None,
        });
        let definitions: Vec<(&Use, &Definition)> = definitions.collect();
        let refuse = |why: String| Err(vec![Refusal::new(why)]);
        let (defined, definition) = match definitions[..] {
            [] => return refuse(format!("no source of the program defines {name}")),
            [only] => only,
            _ => return refuse(format!("there are several definitions of {name}")),
        };
        let refuse = |why: &str| Err(vec![Refusal::at(defined, why)]);
        if defined.system || is_public(&defined.file) {
            return refuse("it is defined in a public header, whose other users aren't seen");
        }
        let source = std::fs::read_to_string(&defined.file)
            .map_err(|error| vec![Refusal::at(defined, error.to_string())])?;
        let Some(body) = definition.body.filter(|_| !defined.r#macro) else {
            return refuse("a macro defines it");
        };
        if definition.template || definition.union {
            return refuse("it is a union, or an instance of a template");
        }
        if source[body.0..body.1]
            .lines()
            .any(|line| line.trim_start().starts_with('#'))
        {
            return refuse("lines for the preprocessor stand between its fields");
        }
        let text = &source[body.0..body.1];
        if text.contains("\\\n") || text.contains("\\\r\n") {
            return refuse("a line among its fields goes on on the next");
        }
        Ok(Structure {
            uses,
            definition,
            defined,
            source,
            body,
        })
    }

    pub fn file(&self) -> &str {
        &self.defined.file
    }

    /// After the semicolon that ends the definition.
    pub fn end(&self) -> Possibly<usize> {
        let rest = &self.source[self.defined.end..];
        let length = rest.find(';').unwrap_or(rest.len());
        let is_plain = !rest[..length].contains(['=', '{', ',']) && length < rest.len();
        match is_plain {
            true => Ok(self.defined.end + length + 1),
            false => Err(vec![Refusal::at(self.defined, "variables are declared with it")]),
        }
    }

    /// Where the line begins in which the declaration does, or the comments above it.
    pub fn first_line(&self) -> usize {
        let mut begin = self.defined.begin;
        loop {
            let before = self.source[..begin].trim_end();
            let word = BEFORE_STRUCT.iter().find(|word| ends_in_word(before, word));
            match word {
                Some(word) => begin = before.len() - word.len(),
                None => break,
            }
        }
        above_comments(&self.source, line_begin(&self.source, begin))
    }

    /// After the last brace.
    pub fn closed(&self) -> usize {
        self.body.1
    }

    /// After the first brace.
    pub fn opened(&self) -> usize {
        self.body.0 + 1
    }

    /// The fields' declarations, in their order.
    pub fn declarations(&self) -> Possibly<Vec<Declaration>> {
        let fields = &self.definition.fields;
        let mut declarations = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            declarations.push(self.declaration(index, field)?);
        }
        Ok(declarations)
    }

    fn declaration(&self, index: usize, field: &Field) -> Possibly<Declaration> {
        let refuse = |why: &str| vec![Refusal::at(self.defined, format!("field {}: {why}", field.name))];
        let fields = &self.definition.fields;
        let span = field.span.ok_or_else(|| refuse("a macro declares it"))?;
        let same = |other: &&Field| other.span.is_some_and(|other| other.0 == span.0);
        let last = fields
            .iter()
            .filter(same)
            .filter_map(|field| field.span)
            .map(|span| span.1)
            .max();
        let last = last.unwrap_or(span.1);
        let semicolon = self.source[last..self.body.1]
            .find(';')
            .ok_or_else(|| refuse("its declaration doesn't end"))?;
        let whole = self.with_comments((span.0, last + semicolon + 1));
        let rest_of_line = self.source[last + semicolon + 1..].lines().next();
        if rest_of_line.is_some_and(opens_comment) {
            return Err(refuse("a comment after it goes over several lines"));
        }
        let together = fields.iter().filter(same).count() > 1;
        let text = match together {
            false => self.source[whole.0..whole.1].to_owned(),
            true => {
                let shared = field
                    .shared_end
                    .ok_or_else(|| refuse("a macro declares its type"))?;
                let before = index.checked_sub(1).map(|before| &fields[before]);
                let begin = match before.filter(same).and_then(|before| before.span) {
                    Some(before) => before.1 + self.source[before.1..].find(',').map_or(0, |comma| comma + 1),
                    None => shared,
                };
                let declarator = self.source[begin..span.1].trim();
                let attributes = self.source[last..last + semicolon].trim();
                if self.source[span.0..last].contains('{') {
                    return Err(refuse("a type is defined with several fields of it"));
                }
                if !attributes.is_empty() {
                    return Err(refuse("something follows the declarators"));
                }
                let comments = if begin == shared {
                    &self.source[whole.0..span.0]
                } else {
                    ""
                };
                format!("{comments}{} {declarator};", &self.source[span.0..shared])
            }
        };
        Ok(Declaration {
            field: field.name.clone(),
            span: whole,
            text,
        })
    }

    /// Adds a comment that follows on its line, and lines of comments above.
    fn with_comments(&self, (mut begin, mut end): Span) -> Span {
        let line_end = end + self.source[end..].find('\n').unwrap_or(0);
        let rest = self.source[end..line_end].trim();
        if rest.starts_with("//") || (rest.starts_with("/*") && rest.ends_with("*/")) {
            end = line_end;
        }
        begin = above_comments(&self.source, begin).max(self.opened());
        begin += self.source[begin..end].len() - self.source[begin..end].trim_start().len();
        (begin, end)
    }
}

/// What may stand before `struct`, also on lines before.
const BEFORE_STRUCT: [&str; 5] = ["typedef", "static", "extern", "const", "volatile"];

fn ends_in_word(text: &str, word: &str) -> bool {
    let before = text.strip_suffix(word);
    before.is_some_and(|before| !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
}

/// Where the comments begin that stand above a place, on lines of their own; the place itself if it isn't first on its line.
pub fn above_comments(text: &str, at: usize) -> usize {
    let mut first = line_begin(text, at);
    if !text[first..at].trim().is_empty() {
        return at;
    }
    while let Some(end) = first.checked_sub(1) {
        let line = line_begin(text, end);
        let above = text[line..end].trim();
        let begun = match above.ends_with("*/") {
            true => text[..end].rfind("/*"),
            false => above.starts_with("//").then_some(line),
        };
        // Nothing else stands on the line where the comment begins.
        let Some(begin) = begun.filter(|&begin| text[line_begin(text, begin)..begin].trim().is_empty())
        else {
            break;
        };
        let line = line_begin(text, begin);
        first = line;
    }
    first
}

/// Whether a comment begins on the line that doesn't end there.
fn opens_comment(line: &str) -> bool {
    let begin = line.rfind("/*");
    begin.is_some_and(|begin| !line[begin..].contains("*/") && !line[..begin].contains("//"))
}

pub fn line_begin(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}
