//! What sites have in common, and its names.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use trackway_trace::named_enum;

use trackway_trace::{Program, Site, SiteId, StringId, VariableKind};

use super::{Measure, SiteCounters};
use crate::model::{written_in, Names, UNKNOWN};

named_enum! {
    /// What a table has a row for.
    Grouping {
        /// Fields of types; accesses to no field go by their variable.
        Field = "field",
        Variable = "variable",
        Type = "type",
        Line = "line",
        Function = "function",
        File = "file",
        /// Load, store, atomic...
        Kind = "kind",
        Site = "site",
        /// Machine instruction, by its address.
        Instruction = "instruction",
        Thread = "thread",
    }
}

/// Sites that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group<K> {
    pub key: K,
    pub counters: SiteCounters,
    /// The site that contributes most to the measure.
    pub main_site: SiteId,
    /// Numbers of all its sites.
    pub sites: Vec<u32>,
}

/// Adds up the counters of sites with the same key; the largest group by `measure` comes first. Sites that were not
/// executed are left out.
pub(crate) fn group_by<K: Eq + Hash + Clone>(
    program: &Program,
    counters: &[SiteCounters],
    measure: Measure,
    key: impl Fn(SiteId, &Site) -> K,
) -> Vec<Group<K>> {
    let mut positions: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<Group<K>> = Vec::new();
    for (index, (site, counters_of_site)) in program.sites.iter().zip(counters).enumerate() {
        if counters_of_site.accesses == 0 {
            continue;
        }
        let id = SiteId(index as u32);
        let key = key(id, site);
        let position = *positions.entry(key.clone()).or_insert_with(|| {
            groups.push(Group {
                key,
                counters: SiteCounters::default(),
                main_site: id,
                sites: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[position];
        group.counters += counters_of_site;
        group.sites.push(id.0);
        let rank = |id: SiteId| measure.rank_of(&counters[id.index()]);
        if rank(id) > rank(group.main_site) {
            group.main_site = id;
        }
    }
    rank(&mut groups, measure);
    groups
}

/// Threads; those without an access are left out. Their main site is not known.
pub(crate) fn group_threads(threads: &BTreeMap<u32, SiteCounters>, measure: Measure) -> Vec<Group<u32>> {
    let executed = threads.iter().filter(|(_, counters)| counters.accesses > 0);
    let group = |(&key, &counters): (&u32, &SiteCounters)| Group {
        key,
        counters,
        main_site: SiteId::default(),
        sites: Vec::new(),
    };
    let mut groups: Vec<Group<u32>> = executed.map(group).collect();
    rank(&mut groups, measure);
    groups
}

/// Stable, and sites stand in the order of the program: equal groups keep that order.
fn rank<K>(groups: &mut [Group<K>], measure: Measure) {
    groups.sort_by_key(|group| std::cmp::Reverse(measure.rank_of(&group.counters)));
}

/// A field of a type or, for an access to no field, a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FieldKey {
    Field { object_type: StringId, field: StringId },
    Variable(VariableKey),
}

/// A variable; if it is one of a function, that function's variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct VariableKey {
    pub variable: StringId,
    pub kind: VariableKind,
    /// The function of a local variable; otherwise empty.
    pub function: StringId,
}

pub(crate) fn field_key(program: &Program, site: &Site) -> FieldKey {
    if program.string(site.field).is_empty() {
        return FieldKey::Variable(variable_key(program, site));
    }
    FieldKey::Field {
        object_type: site.object_type,
        field: site.field,
    }
}

pub(crate) fn variable_key(program: &Program, site: &Site) -> VariableKey {
    let local = matches!(
        site.variable_kind,
        VariableKind::Local | VariableKind::Parameter | VariableKind::Expression
    );
    let known = !program.string(site.variable).is_empty();
    VariableKey {
        variable: site.variable,
        kind: site.variable_kind,
        function: if local && known {
            written_in(program, site)
        } else {
            StringId::default()
        },
    }
}

pub(crate) fn type_key(program: &Program, site: &Site) -> StringId {
    match program.string(site.object_type) {
        "" => site.value_type,
        _ => site.object_type,
    }
}

/// The object and the offset of the instruction whose operand the site is; none if it is not one of machine code.
pub(crate) fn instruction_key(program: &Program, site: SiteId) -> Option<(StringId, u64)> {
    let instruction = program.instruction(program.instruction_of_site(site)?);
    Some((
        program.function(instruction.object).linkage_name,
        instruction.offset,
    ))
}

/// `libc.so.6+0x1234`, or the address where there is no file.
pub(crate) fn instruction_name(program: &Program, site: SiteId) -> String {
    match program.instruction_of_site(site) {
        Some(instruction) => program.place_of(instruction),
        None => UNKNOWN.into(),
    }
}

pub(crate) fn line_key(program: &Program, site: &Site) -> (StringId, u32) {
    let location = program.location(site.location);
    (location.file, location.line)
}

/// `arc.ident` for the field `ident` of `struct arc`; otherwise, the variable.
pub(crate) fn field_name(names: &Names, key: FieldKey) -> String {
    match key {
        FieldKey::Field { object_type, field } => names.field(object_type, field),
        FieldKey::Variable(key) => variable_name(names, key),
    }
}

/// `cost in simplex` for a local variable, `cost` for a global one.
fn variable_name(names: &Names, key: VariableKey) -> String {
    let variable = names.text(key.variable);
    if key.function == StringId::default() {
        return variable.to_owned();
    }
    format!("{variable} in {}", names.function(key.function))
}
