//! Gives the names of a chunk to the machine code of a program.

use std::collections::HashMap;

use crate::merge::{merge_checksums, merge_locations, merge_types, Loaded, MergedTable};
use crate::table::{CodeNames, InstructionNames};
use crate::{Coverage, Function, FunctionId, LocationId, Program, Site, StringId, VariableKind};

/// The names of a chunk under the program's numbering.
struct Merged<'n> {
    /// Names of instructions, by the path of the object and the offset.
    instructions: HashMap<(StringId, u64), &'n InstructionNames>,
    locations: Vec<LocationId>,
    operands: Vec<Operand>,
}

struct Operand {
    variable: StringId,
    variable_kind: VariableKind,
    object_type: StringId,
    field: StringId,
    value_type: StringId,
}

impl Operand {
    /// An unknown name doesn't replace one that another chunk gave.
    fn give_to(&self, site: &mut Site) {
        site.variable = self.variable;
        site.variable_kind = self.variable_kind;
        site.object_type = self.object_type;
        site.field = self.field;
        site.value_type = self.value_type;
    }
}

impl<'n> Merged<'n> {
    fn of(names: &'n CodeNames, program: &mut Program, loaded: &mut Loaded) -> Self {
        let strings: Vec<StringId> = names
            .strings
            .iter()
            .map(|text| program.strings.intern(text))
            .collect();
        let string = |index: u32| strings[index as usize];
        merge_checksums(program, &names.source_checksums, string);
        merge_types(program, &mut loaded.known_types, &names.types, string);
        let locations = merge_locations(program, &names.locations, string);
        let operands = names.operands.iter().map(|name| Operand {
            variable: string(name.variable),
            variable_kind: name.variable_kind,
            object_type: string(name.object_type),
            field: string(name.field),
            value_type: string(name.value_type),
        });
        let instructions = names.objects.iter().flat_map(|object| {
            let path = string(object.path);
            let entries = object.instructions.iter();
            entries.map(move |entry| ((path, entry.offset), entry))
        });
        Merged {
            instructions: instructions.collect(),
            locations,
            operands: operands.collect(),
        }
    }

    fn give_to(&self, entry: &InstructionNames, site: &mut Site) {
        if entry.location != 0 {
            site.location = self.locations[entry.location as usize];
        }
        let operand = match site.part & 1 {
            0 => entry.read,
            _ => entry.written,
        };
        if operand != 0 {
            self.operands[operand as usize].give_to(site);
        }
    }
}

/// Functions that names found in the code of objects, by the object's path and the function's linkage name.
#[derive(Default)]
struct Functions(HashMap<(StringId, StringId), FunctionId>);

impl Functions {
    /// The function whose code contains the place; code that was inlined into it is a part of it. None if it has no
    /// name.
    fn around(
        &mut self,
        program: &mut Program,
        object: StringId,
        location: LocationId,
    ) -> Option<FunctionId> {
        let outermost = program.inline_stack(location).last()?;
        let name = program.location(outermost).function;
        if program.string(name).is_empty() {
            return None;
        }
        let functions = &mut program.functions;
        Some(*self.0.entry((object, name)).or_insert_with(|| {
            functions.push(Function {
                linkage_name: name,
                name: StringId::default(),
                source_file: object,
                location: LocationId(0),
                has_plain_copy: false,
                coverage: Coverage::default(),
            });
            FunctionId(functions.len() as u32 - 1)
        }))
    }
}

/// Names the instructions and sites of all modules of machine code so far.
pub(crate) fn apply(names: &CodeNames, program: &mut Program, loaded: &mut Loaded) {
    let merged = Merged::of(names, program, loaded);
    let mut functions = Functions::default();
    for table in &loaded.tables {
        if !table.instructions.is_empty() {
            apply_to_accesses(table, &merged, program, &mut functions);
        }
        if table.is_machine_code {
            apply_to_allocations(table, &merged, program, &mut functions);
        }
    }
}

fn apply_to_accesses(table: &MergedTable, merged: &Merged, program: &mut Program, functions: &mut Functions) {
    let mut entries = Vec::with_capacity(table.instructions.len());
    for index in table.instructions.clone() {
        let instruction = &mut program.instructions[index as usize];
        let path = program.functions[instruction.object.index()].linkage_name;
        let entry = merged.instructions.get(&(path, instruction.offset)).copied();
        if let Some(entry) = entry.filter(|entry| entry.location != 0) {
            instruction.location = merged.locations[entry.location as usize];
        }
        entries.push(entry);
    }
    for index in table.sites.clone() {
        let site = &mut program.sites[index as usize];
        let Some(Some(entry)) = entries.get(site.ordinal as usize) else {
            continue;
        };
        merged.give_to(entry, site);
        let (object, location) = (site.function, site.location);
        let path = program.function(object).linkage_name;
        if let Some(function) = functions.around(program, path, location) {
            program.sites[index as usize].function = function;
        }
    }
}

/// The ordinal of a site is the offset of its call's last byte.
fn apply_to_allocations(
    table: &MergedTable,
    merged: &Merged,
    program: &mut Program,
    functions: &mut Functions,
) {
    for index in table.allocation_sites.clone() {
        let site = &program.allocation_sites[index as usize];
        let path = program.function(site.function).linkage_name;
        let Some(entry) = merged.instructions.get(&(path, u64::from(site.ordinal))) else {
            continue;
        };
        let location = merged.locations[entry.location as usize];
        if let Some(function) = functions.around(program, path, location) {
            let site = &mut program.allocation_sites[index as usize];
            (site.function, site.location) = (function, location);
        }
    }
}
