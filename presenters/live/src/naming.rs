//! The names by which accesses are counted.

use trackway_analysis::site_counts::SiteNames;
use trackway_analysis::structures::Structures;
use trackway_trace::{named_enum, Program};

use crate::LiveError;

named_enum! {
    /// Which name of their site accesses are counted by.
    By {
        Variable = "variable",
        Field = "field",
        Type = "type",
        Line = "line",
        Function = "function",
        File = "file",
        /// Members of structures, as `trackway layout` weighs them: an access to several counts for each.
        Member = "member",
    }
}

impl By {
    pub(crate) fn names() -> String {
        By::ALL.map(By::name).join(", ")
    }

    /// Parses the name that users write.
    pub fn parse(name: &str) -> Result<By, LiveError> {
        let found = By::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| LiveError::UnknownName {
            name: name.to_owned(),
        })
    }
}

/// The names of all sites: each site has some of a list.
pub(crate) struct Naming {
    pub names: Vec<String>,
    /// For each site, indices into the names.
    pub of_site: Vec<Vec<u32>>,
}

impl Naming {
    pub fn of(program: &Program, by: By) -> Naming {
        match by {
            By::Member => Naming::members(program),
            _ => Naming::single(program, by),
        }
    }

    fn single(program: &Program, by: By) -> Naming {
        let mut naming = Names::default();
        let names = SiteNames::new(program);
        let of_site = program.sites.iter().map(|site| {
            let name = match by {
                By::Variable => names.variable(site),
                By::Field | By::Member => names.field(site),
                By::Type => names.type_name(site),
                By::Line => names.line(site),
                By::Function => names.function(site),
                By::File => names.file(site),
            };
            vec![naming.number(name)]
        });
        let of_site = of_site.collect();
        Naming {
            names: naming.list,
            of_site,
        }
    }

    fn members(program: &Program) -> Naming {
        let structures = Structures::of(program);
        let mut naming = Names::default();
        let of_site = structures.sites.iter().map(|field| {
            let Some(field) = field else { return Vec::new() };
            let structure = &structures.list[field.structure];
            if field.members.is_empty() {
                return vec![naming.number(format!("{}.(all of it)", structure.name))];
            }
            let members = field.members.iter();
            members
                .map(|&member| {
                    naming.number(format!("{}.{}", structure.name, structure.members[member].name))
                })
                .collect()
        });
        let of_site = of_site.collect();
        Naming {
            names: naming.list,
            of_site,
        }
    }
}

#[derive(Default)]
struct Names {
    list: Vec<String>,
    numbers: std::collections::HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: String) -> u32 {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(name.clone());
        self.numbers.insert(name, number);
        number
    }
}
