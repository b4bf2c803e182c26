//! Strings shared by all tables of a program.

use std::collections::HashMap;
use std::sync::Arc;

use crate::StringId;

/// Each string once; number 0 is the empty string.
#[derive(Debug)]
pub(crate) struct Interner {
    strings: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, StringId>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            strings: Vec::new(),
            ids: HashMap::new(),
        };
        interner.intern("");
        interner
    }
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = StringId(self.strings.len() as u32);
        let text: Arc<str> = text.into();
        self.strings.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    pub(crate) fn get(&self, id: StringId) -> &str {
        &self.strings[id.index()]
    }

    pub(crate) fn find(&self, text: &str) -> Option<StringId> {
        self.ids.get(text).copied()
    }
}
