//! Functions as the tables name them, and those that were inlined at each site.

use std::collections::HashMap;

use trackway_trace::{Program, Site, StringId};

/// A function, whichever modules have it, as code of its own or inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    pub linkage_name: StringId,
    /// File of its declaration or, if that is unknown, of its text; otherwise the module or object.
    pub file: StringId,
}

#[derive(Debug, Clone, Copy)]
pub struct SiteTraits {
    /// The function whose code it is.
    pub function: u32,
    /// The function in whose text it stands.
    pub written_in: u32,
    /// The [chain](Functions::chain) of functions from `function` to `written_in`.
    pub chain: u32,
    pub reads: bool,
    pub writes: bool,
}

/// The chain of sites that stand in their function's own text.
pub const NOT_INLINED: u32 = 0;

/// Numbers of functions and of chains of inlined functions. A number never changes while the program grows.
#[derive(Debug, Clone)]
pub struct Functions {
    functions: Vec<Function>,
    numbers: HashMap<Function, u32>,
    /// Chains of inlined functions, outermost first, without the function whose code it is.
    chains: Vec<Vec<u32>>,
    chain_numbers: HashMap<Vec<u32>, u32>,
}

/// What is known of a program's functions and sites by their ids.
#[derive(Default)]
pub struct Numbered {
    pub functions: Vec<u32>,
    pub sites: Vec<SiteTraits>,
}

impl Functions {
    pub fn new() -> Functions {
        Functions {
            functions: Vec::new(),
            numbers: HashMap::new(),
            chains: vec![Vec::new()],
            chain_numbers: HashMap::from([(Vec::new(), NOT_INLINED)]),
        }
    }

    pub fn all(&self) -> &[Function] {
        &self.functions
    }

    pub fn get(&self, number: u32) -> Function {
        self.functions[number as usize]
    }

    pub fn chain(&self, chain: u32) -> &[u32] {
        &self.chains[chain as usize]
    }

    pub fn chain_count(&self) -> usize {
        self.chains.len()
    }

    pub fn number(&mut self, function: Function) -> u32 {
        let next = self.functions.len() as u32;
        let number = *self.numbers.entry(function).or_insert(next);
        if number == next {
            self.functions.push(function);
        }
        number
    }

    /// Numbers what the program has, module by module: a name means one function within a module.
    pub fn take(&mut self, program: &Program) -> Numbered {
        let mut functions = vec![None; program.functions.len()];
        let mut sites = vec![None; program.sites.len()];
        for module in &program.modules {
            let of_module = module.sites.start as usize..module.sites.end as usize;
            let files = Files::of(
                program,
                module.functions.clone(),
                &program.sites[of_module.clone()],
            );
            for index in of_module {
                let site = &program.sites[index];
                sites[index] = Some(self.traits(program, &files, site));
                functions[site.function.index()] = sites[index].map(|traits: SiteTraits| traits.function);
            }
            for index in module.functions.clone() {
                let function = &program.functions[index as usize];
                let file = files.of_function(function.linkage_name, function.source_file);
                let number = self.number(Function {
                    linkage_name: function.linkage_name,
                    file,
                });
                functions[index as usize].get_or_insert(number);
            }
        }
        self.number_the_rest(program, functions, sites)
    }

    /// Functions without a module, and sites, if any.
    fn number_the_rest(
        &mut self,
        program: &Program,
        functions: Vec<Option<u32>>,
        sites: Vec<Option<SiteTraits>>,
    ) -> Numbered {
        let files = Files(HashMap::new());
        let functions = functions.into_iter().zip(&program.functions);
        let functions = functions.map(|(number, function)| {
            number.unwrap_or_else(|| {
                self.number(Function {
                    linkage_name: function.linkage_name,
                    file: function.source_file,
                })
            })
        });
        let functions = functions.collect();
        let sites = sites.into_iter().zip(&program.sites);
        let sites = sites.map(|(traits, site)| traits.unwrap_or_else(|| self.traits(program, &files, site)));
        Numbered {
            functions,
            sites: sites.collect(),
        }
    }

    fn traits(&mut self, program: &Program, files: &Files, site: &Site) -> SiteTraits {
        let function = program.function(site.function);
        let mut number = |linkage_name| {
            self.number(Function {
                linkage_name,
                file: files.of_function(linkage_name, function.source_file),
            })
        };
        let own = number(function.linkage_name);
        let chain: Vec<u32> = inlined(program, site).into_iter().map(&mut number).collect();
        SiteTraits {
            function: own,
            written_in: chain.last().copied().unwrap_or(own),
            chain: self.number_chain(chain),
            reads: site.kind.reads(),
            writes: site.kind.writes(),
        }
    }

    fn number_chain(&mut self, chain: Vec<u32>) -> u32 {
        if let Some(number) = self.chain_numbers.get(&chain) {
            return *number;
        }
        let number = self.chains.len() as u32;
        self.chains.push(chain.clone());
        self.chain_numbers.insert(chain, number);
        number
    }
}

/// The linkage names of the functions that were inlined where the site stands, outermost first. The last one is the
/// function in whose text the site stands, as in [`crate::model::written_in`].
fn inlined(program: &Program, site: &Site) -> Vec<StringId> {
    let function = program.function(site.function);
    let is_own = |name: &StringId| [function.linkage_name, function.name].contains(name);
    let places = program.inline_stack(site.location);
    let mut names: Vec<StringId> = places.map(|place| program.location(place).function).collect();
    if names.first().is_none_or(|text| program.string(*text).is_empty()) {
        return Vec::new();
    }
    names.retain(|name| !program.string(*name).is_empty());
    names.pop_if(|outermost| is_own(outermost));
    names.reverse();
    names
}

/// The files of a module's functions, by linkage name.
struct Files(HashMap<StringId, StringId>);

impl Files {
    /// Declarations come before text.
    fn of(program: &Program, functions: std::ops::Range<u32>, sites: &[Site]) -> Files {
        let functions = &program.functions[functions.start as usize..functions.end as usize];
        let declared = functions
            .iter()
            .map(|function| (function.linkage_name, program.location(function.location).file));
        let stacks = sites.iter().flat_map(|site| program.inline_stack(site.location));
        let text = stacks.map(|place| {
            let place = program.location(place);
            (place.function, place.file)
        });
        let mut files = HashMap::new();
        let known = declared
            .chain(text)
            .filter(|(_, file)| !program.string(*file).is_empty());
        for (function, file) in known {
            files.entry(function).or_insert(file);
        }
        Files(files)
    }

    fn of_function(&self, linkage_name: StringId, otherwise: StringId) -> StringId {
        self.0.get(&linkage_name).copied().unwrap_or(otherwise)
    }
}
