//! What a site is called in the tables of each grouping.

use trackway_trace::{Program, Site};

use super::group::{field_key, field_name, line_key, type_key, variable_key, FieldKey};
use crate::model::Names;

/// The names by which reports group sites.
pub struct SiteNames<'p> {
    program: &'p Program,
    names: Names<'p>,
}

impl<'p> SiteNames<'p> {
    pub fn new(program: &'p Program) -> SiteNames<'p> {
        SiteNames {
            program,
            names: Names::new(program),
        }
    }

    /// `cost in simplex` for a local variable, `cost` for a global one.
    pub fn variable(&self, site: &Site) -> String {
        let key = FieldKey::Variable(variable_key(self.program, site));
        field_name(&self.names, key)
    }

    /// `arc.ident` for the field `ident` of `struct arc`; otherwise, the variable.
    pub fn field(&self, site: &Site) -> String {
        field_name(&self.names, field_key(self.program, site))
    }

    /// The structure of the field; otherwise, the type of the value.
    pub fn type_name(&self, site: &Site) -> String {
        self.names.text(type_key(self.program, site)).to_owned()
    }

    /// `simplex.c:17`.
    pub fn line(&self, site: &Site) -> String {
        let (file, line) = line_key(self.program, site);
        format!("{}:{line}", self.names.text(file))
    }

    /// The function in which the access is written.
    pub fn function(&self, site: &Site) -> String {
        self.names.function_of(site)
    }

    /// The file in which the access is written.
    pub fn file(&self, site: &Site) -> String {
        let (file, _) = line_key(self.program, site);
        self.names.text(file).to_owned()
    }
}
