//! Definitions to write into the source.

use trackway_trace::StructureKind;

use super::{Member, Structure};

impl Structure {
    /// A C definition with these members, in this order, under another name.
    pub fn definition(&self, name: &str, members: &[usize], first_line: Option<&str>) -> Vec<String> {
        let name = bare(name);
        let keyword = match self.kind {
            StructureKind::Union => "union",
            _ => "struct",
        };
        let bases: Vec<&str> = members
            .iter()
            .map(|&index| &self.members[index])
            .filter(|member| member.is_fixed && !member.name.starts_with("_vptr"))
            .map(|member| member.name.as_str())
            .collect();
        let bases = match bases.is_empty() {
            true => String::new(),
            false => format!(" : {}", bases.join(", ")),
        };
        let mut lines = vec![format!("{keyword} {name}{bases} {{")];
        lines.extend(first_line.map(|line| format!("    {line}")));
        let own = members.iter().map(|&index| &self.members[index]);
        lines.extend(
            own.filter(|member| !member.is_fixed)
                .flat_map(Member::declarations),
        );
        lines.push("};".into());
        lines
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
    fn declarations(&self) -> Vec<String> {
        let line = |(name, type_name, bits): &(String, String, Option<u64>)| {
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
