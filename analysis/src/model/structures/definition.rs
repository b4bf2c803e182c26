//! Definitions to write into the source.

use trackway_trace::StructureKind;

use super::{Language, Member, Structure};

impl Structure {
    /// A definition with these members, in this order, under another name.
    pub fn definition(&self, name: &str, members: &[usize], first_line: Option<&str>) -> Vec<String> {
        let mut lines = vec![self.head(bare(name), members)];
        lines.extend(first_line.map(|line| format!("    {line}")));
        let own = members.iter().map(|&index| &self.members[index]);
        lines.extend(
            own.filter(|member| !member.is_fixed)
                .flat_map(|member| member.declarations(self.language)),
        );
        lines.push(self.language.end().into());
        lines
    }

    /// The same where the order counts: rustc chooses one of its own unless it is told not to.
    pub fn definition_in_order(&self, members: &[usize]) -> Vec<String> {
        let mut lines = self.definition(&self.name, members, None);
        if self.language == Language::Rust {
            lines.insert(0, "#[repr(C)] // or rustc chooses the order".into());
        }
        lines
    }

    /// The definition as it is, aligned.
    pub fn definition_aligned(&self, bytes: u64) -> Vec<String> {
        let mut lines = self.definition(&self.name, &self.own_order(), None);
        match self.language {
            Language::C => {
                lines.pop();
                lines.push(format!("}} __attribute__((aligned({bytes})));"));
            }
            Language::Rust => lines.insert(0, format!("#[repr(align({bytes}))]")),
        }
        lines
    }

    /// The definition as it is, with a member that is to begin a line.
    pub fn definition_padded(&self, member: &str, bytes: u64) -> Vec<String> {
        let mut lines = self.definition(&self.name, &self.own_order(), None);
        lines.pop();
        lines.push(match self.language {
            Language::C => {
                format!("}}; // {member}, and what follows it, with __attribute__((aligned({bytes})))")
            }
            Language::Rust => format!(
                "}} // {member} in a type with #[repr(align({bytes}))], such as CachePadded of crossbeam-utils"
            ),
        });
        lines
    }

    /// A structure that has an array for each member.
    pub fn definition_of_arrays(&self) -> Vec<String> {
        let (name, language) = (bare(&self.name), self.language);
        let fields = self.members.iter().flat_map(|member| &member.declared);
        let lines = fields.map(|(field, type_name, _)| match language {
            Language::C => format!("    {};", declaration(type_name, &format!("(*{field})"))),
            Language::Rust => format!("    {field}: Vec<{type_name}>,"),
        });
        let head = match language {
            Language::C => format!(
                "struct {name}_arrays {{ // each as long as the array of {}",
                self.name
            ),
            Language::Rust => format!("struct {name}Vecs {{ // in place of Vec<{name}>"),
        };
        let end = language.end().to_owned();
        std::iter::once(head).chain(lines).chain([end]).collect()
    }

    /// The name of what a split takes out.
    pub fn name_of_rest(&self) -> String {
        match self.language {
            Language::C => format!("{}_rest", bare(&self.name)),
            Language::Rust => format!("{}Rest", bare(&self.name)),
        }
    }

    /// The member that leads there.
    pub fn link_to_rest(&self) -> String {
        match self.language {
            Language::C => format!("struct {} *rest;", self.name_of_rest()),
            Language::Rust => format!("rest: Box<{}>,", self.name_of_rest()),
        }
    }

    fn head(&self, name: &str, members: &[usize]) -> String {
        let keyword = match self.kind {
            StructureKind::Union => "union",
            _ => "struct",
        };
        let fixed = members.iter().map(|&index| &self.members[index]);
        let bases: Vec<&str> = fixed
            .filter(|member| member.is_fixed && !member.name.starts_with("_vptr"))
            .map(|member| member.name.as_str())
            .collect();
        match bases.is_empty() {
            true => format!("{keyword} {name} {{"),
            false => format!("{keyword} {name} : {} {{", bases.join(", ")),
        }
    }
}

impl Language {
    fn end(self) -> &'static str {
        match self {
            Language::C => "};",
            Language::Rust => "}",
        }
    }
}

/// The name without namespaces.
pub fn bare(name: &str) -> &str {
    let scope = name.split('<').next().unwrap_or(name);
    let start = scope.rfind("::").map_or(0, |position| position + 2);
    &name[start..]
}

impl Member {
    /// Its lines in a definition.
    fn declarations(&self, language: Language) -> Vec<String> {
        let line = |(name, type_name, bits): &(String, String, Option<u64>)| {
            if language == Language::Rust {
                return format!("    {name}: {type_name},");
            }
            let name = if name.starts_with('@') { "" } else { name };
            let bits = bits.map(|bits| format!(" : {bits}")).unwrap_or_default();
            format!("    {}{bits};", declaration(type_name, name))
        };
        self.declared.iter().map(line).collect()
    }
}

/// `int [3]` and `x` make `int x[3]`, `node *` and `pred` make `node *pred`.
pub fn declaration(type_name: &str, name: &str) -> String {
    let (type_name, dimensions) = match type_name.find('[') {
        Some(position) => type_name.split_at(position),
        None => (type_name, ""),
    };
    if let Some(stars) = type_name.strip_prefix("function ") {
        return format!("void ({stars}{name}{dimensions})(/* as before */)");
    }
    let type_name = if type_name.is_empty() {
        "/* unnamed */"
    } else {
        type_name
    };
    let space = if type_name.ends_with(['*', '&']) { "" } else { " " };
    format!("{type_name}{space}{name}{dimensions}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_rust_read_as_in_rust() {
        let mut structure = crate::model::structures::test_structure(&[8, 4]);
        structure.name = "prog::Arc".into();
        structure.language = Language::Rust;
        for member in &mut structure.members {
            member.declared = vec![(member.name.clone(), "i64".into(), None)];
        }
        let names: Vec<String> = structure
            .members
            .iter()
            .map(|member| member.name.clone())
            .collect();
        let fields = [
            format!("    {}: i64,", names[0]),
            format!("    {}: i64,", names[1]),
        ];
        let [first, second] = fields.each_ref().map(String::as_str);
        assert_eq!(
            structure.definition_in_order(&[1, 0]),
            [
                "#[repr(C)] // or rustc chooses the order",
                "struct Arc {",
                second,
                first,
                "}"
            ]
        );
        assert_eq!(
            structure.definition_aligned(64),
            ["#[repr(align(64))]", "struct Arc {", first, second, "}"]
        );
        let link = structure.link_to_rest();
        assert_eq!(
            structure.definition("Arc", &[0], Some(&link)),
            ["struct Arc {", "    rest: Box<ArcRest>,", first, "}"]
        );
        assert_eq!(
            structure.definition_of_arrays()[0],
            "struct ArcVecs { // in place of Vec<Arc>"
        );
        assert_eq!(
            structure.definition_of_arrays()[1],
            format!("    {}: Vec<i64>,", names[0])
        );
    }

    #[test]
    fn declarations_read_as_in_c() {
        assert_eq!(declaration("int[3][4]", "x"), "int x[3][4]");
        assert_eq!(declaration("node *", "pred"), "node *pred");
        assert_eq!(declaration("unsigned int", "flags"), "unsigned int flags");
        assert_eq!(
            declaration("function *[2]", "hooks"),
            "void (*hooks[2])(/* as before */)"
        );
    }
}
