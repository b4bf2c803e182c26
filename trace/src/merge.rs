//! Merges the modules of a trace under program-wide ids.

mod lists;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::counts::Callee;
use crate::flow;
use crate::machine;
use crate::module::ModulePayload;
use crate::table::{
    Count, Extent, Operation, Segment, Table, TableBlocks, TableChecksum, TableError, TableFunction,
    TableLocation, TableStep, TableType, SEEN_REGISTERS, STREAM_REGISTERS,
};
use crate::{
    AllocationSiteId, FunctionId, Location, LocationId, MemberLayout, Module, ModuleId, Program, SiteId,
    StringId, Symbol, TypeId, TypeLayout,
};

/// No module has a segment of this id.
pub(crate) const NO_SEGMENT: u32 = u32::MAX;

/// Registers of all functions together. Each decoder has memory for them, and touches what it needs.
const MOST_REGISTERS: u32 = 1 << 26;

/// What decoding needs of all loaded modules.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) tables: Vec<MergedTable>,
    pub(crate) modules: Vec<LoadedModule>,
    /// Index of the module of each segment id.
    pub(crate) module_of_segment: Vec<u32>,
    /// Registers of the streams and of all modules' functions.
    pub(crate) register_count: u32,
    /// The program's types. A type that several modules declare is merged once.
    pub(crate) known_types: HashMap<TypeLayout, TypeId>,
}

impl Loaded {
    /// The first id and the segments of the module that was loaded last.
    pub(crate) fn latest_segments(&self) -> Option<(u32, &[Segment])> {
        let module = self.modules.last()?;
        Some((module.first_segment, &self.tables[module.table].segments))
    }
}

/// The part of a table that decoding needs, and where its lists begin in the program's.
#[derive(Debug)]
pub(crate) struct MergedTable {
    pub(crate) functions: Range<u32>,
    pub(crate) sites: Range<u32>,
    pub(crate) allocation_sites: Range<u32>,
    pub(crate) is_machine_code: bool,
    /// First segment and number of segments of each function.
    pub(crate) segments_of_function: Vec<Range<u32>>,
    registers: Vec<DeclaredRegisters>,
    pub(crate) segments: Vec<Segment>,
    locations: Vec<LocationId>,
    loop_count: u64,
    /// The table's symbols; their addresses are each module's own.
    symbols: Vec<Symbol>,
    source_file: StringId,
    producer: StringId,
    oracle: bool,
    calls: bool,
    order: bool,
    blocks: Range<u32>,
    counter_count: Option<u32>,
    derived: Arc<[Count]>,
    callees: Arc<[Callee]>,
    steps: Arc<[TableStep]>,
    pub(crate) instructions: Range<u32>,
    pub(crate) machine_blocks: Range<u32>,
}

/// What a table says of a function's registers.
#[derive(Debug)]
struct DeclaredRegisters {
    count: u32,
    window: u32,
}

impl DeclaredRegisters {
    fn of(function: &TableFunction) -> Self {
        DeclaredRegisters {
            count: function.register_count,
            window: function.window,
        }
    }
}

impl MergedTable {
    pub(crate) fn site(&self, index: u32) -> SiteId {
        SiteId(self.sites.start + index)
    }

    pub(crate) fn function(&self, index: u32) -> FunctionId {
        FunctionId(self.functions.start + index)
    }

    pub(crate) fn location(&self, index: u32) -> LocationId {
        self.locations[index as usize]
    }

    pub(crate) fn allocation_site(&self, index: u32) -> AllocationSiteId {
        AllocationSiteId(self.allocation_sites.start + index)
    }
}

#[derive(Debug)]
pub(crate) struct LoadedModule {
    /// Index into [`Loaded::tables`].
    pub(crate) table: usize,
    pub(crate) first_segment: u32,
    pub(crate) symbol_addresses: Vec<u64>,
    /// What each function has.
    registers: Vec<FunctionRegisters>,
}

/// Which registers of all a function has.
#[derive(Debug)]
struct FunctionRegisters {
    /// The first one of its own.
    first: u32,
    window: u32,
}

impl LoadedModule {
    /// Where a register that a table names for a function is among those of all.
    #[inline(always)]
    pub(crate) fn register(&self, function: u32, register: u32) -> u32 {
        let FunctionRegisters { first, window } = &self.registers[function as usize];
        match register {
            ..SEEN_REGISTERS => (window + register) % STREAM_REGISTERS,
            _ => first + (register - SEEN_REGISTERS),
        }
    }
}

/// Takes the modules one by one.
pub(crate) struct Merger {
    pub(crate) program: Program,
    pub(crate) loaded: Loaded,
    /// Tables by their bytes, so that a table loaded twice is merged once.
    pub(crate) known: HashMap<Vec<u8>, usize>,
}

impl Merger {
    pub(crate) fn new() -> Self {
        let mut program = Program::default();
        program.locations.push(Location::default());
        Merger {
            program,
            loaded: Loaded::default(),
            known: HashMap::new(),
        }
    }

    /// Adds a module that a process of a trace loaded.
    pub(crate) fn load(&mut self, payload: ModulePayload<'_>, process: u32) -> Result<(), TableError> {
        self.check_ids(&payload)?;
        let table = match self.known.get(payload.table) {
            Some(table) => *table,
            None => {
                let table = self.merge(payload.parse_table()?);
                self.known.insert(payload.table.to_vec(), table);
                table
            }
        };
        self.check_known(&payload, table)?;
        let registers = self.place_registers(table)?;
        self.add_module(table, &payload, process, registers);
        Ok(())
    }

    /// Gives the functions of a module registers of their own.
    fn place_registers(&mut self, table: usize) -> Result<Vec<FunctionRegisters>, TableError> {
        let loaded = &mut self.loaded;
        let mut next = loaded.register_count.max(STREAM_REGISTERS);
        let declared = &loaded.tables[table].registers;
        let mut registers = Vec::with_capacity(declared.len());
        for DeclaredRegisters { count, window } in declared {
            registers.push(FunctionRegisters {
                first: next,
                window: *window,
            });
            next += count.saturating_sub(SEEN_REGISTERS);
            if next > MOST_REGISTERS {
                return Err(TableError {
                    position: 0,
                    what: format!("the trace's functions have more than {MOST_REGISTERS} registers"),
                });
            }
        }
        loaded.register_count = next;
        Ok(registers)
    }

    fn check_ids(&self, payload: &ModulePayload<'_>) -> Result<(), TableError> {
        let first = payload.first_segment as usize;
        let taken = self
            .loaded
            .module_of_segment
            .iter()
            .skip(first)
            .take(payload.segment_count as usize);
        if taken.into_iter().any(|module| *module != NO_SEGMENT) {
            return Err(TableError {
                position: 0,
                what: "its ids belong to an earlier module".into(),
            });
        }
        Ok(())
    }

    /// A known table was parsed with another module's payload.
    fn check_known(&self, payload: &ModulePayload<'_>, table: usize) -> Result<(), TableError> {
        let table = &self.loaded.tables[table];
        let agrees = table.segments.len() == payload.segment_count as usize
            && table.symbols.len() == payload.symbol_addresses.len();
        match agrees {
            true => Ok(()),
            false => Err(TableError {
                position: 0,
                what: "its counts are not its table's".into(),
            }),
        }
    }

    fn add_module(
        &mut self,
        table: usize,
        payload: &ModulePayload<'_>,
        process: u32,
        registers: Vec<FunctionRegisters>,
    ) {
        let module = self.push_module(table, payload.key, process, Some(payload));
        let first = payload.first_segment as usize;
        let end = first + payload.segment_count as usize;
        let module_of_segment = &mut self.loaded.module_of_segment;
        if module_of_segment.len() < end {
            module_of_segment.resize(end, NO_SEGMENT);
        }
        module_of_segment[first..end].fill(module.0);
        self.loaded.modules.push(LoadedModule {
            table,
            first_segment: payload.first_segment,
            symbol_addresses: payload.symbol_addresses.clone(),
            registers,
        });
    }

    fn push_module(
        &mut self,
        table: usize,
        key: u64,
        process: u32,
        payload: Option<&ModulePayload<'_>>,
    ) -> ModuleId {
        let id = ModuleId(self.program.modules.len() as u32);
        let table = &self.loaded.tables[table];
        let first_symbol = self.program.symbols.len() as u32;
        for (index, symbol) in table.symbols.iter().enumerate() {
            let address = payload.map(|payload| payload.symbol_addresses[index]);
            self.program.symbols.push(Symbol {
                module: id,
                address,
                ..symbol.clone()
            });
        }
        self.program.modules.push(Module {
            source_file: table.source_file,
            producer: table.producer,
            key,
            first_segment: payload.map_or(0, |payload| payload.first_segment),
            segment_count: table.segments.len() as u32,
            loop_count: table.loop_count,
            address: payload.map(|payload| payload.address),
            oracle: table.oracle,
            calls: table.calls,
            order: table.order,
            functions: table.functions.clone(),
            sites: table.sites.clone(),
            symbols: first_symbol..self.program.symbols.len() as u32,
            blocks: table.blocks.clone(),
            instructions: table.instructions.clone(),
            machine_blocks: table.machine_blocks.clone(),
            counter_count: table.counter_count,
            derived: table.derived.clone(),
            callees: table.callees.clone(),
            steps: table.steps.clone(),
            counters: payload.and_then(|payload| payload.counters),
            process,
        });
        id
    }

    /// Appends a table's lists to the program's.
    fn merge(&mut self, table: Table) -> usize {
        let program = &mut self.program;
        let strings: Vec<StringId> = table
            .strings
            .iter()
            .map(|text| program.strings.intern(text))
            .collect();
        let string = |index: u32| strings[index as usize];
        let source_file = string(table.source_file);
        let locations = merge_locations(program, &table.locations, string);
        let location = |index: u32| locations[index as usize];
        let first_function = program.functions.len() as u32;
        let function = |index: u32| FunctionId(first_function + index);
        lists::merge_functions(program, &table, source_file, (string, location));
        let first_site = program.sites.len() as u32;
        lists::merge_sites(program, &table, function, (string, location));
        lists::merge_work(program, &table, first_site);
        let first_allocation_site = program.allocation_sites.len() as u32;
        lists::merge_allocation_sites(program, &table, function, (string, location));
        let symbols = table.symbols.iter().map(|symbol| Symbol {
            module: ModuleId(0),
            name: string(symbol.name),
            type_name: string(symbol.type_name),
            size: symbol.size,
            address: None,
            location: location(symbol.location),
        });
        let counter_count = table.blocks.as_ref().map(|blocks| blocks.counter_count);
        let first_block = program.blocks.len() as u32;
        let TableBlocks {
            blocks,
            derived,
            callees,
            steps,
            ..
        } = table.blocks.unwrap_or_default();
        let callees = callees.into_iter().map(|callee| Callee {
            name: string(callee.name),
            first_counter: callee.first_counter,
        });
        lists::merge_blocks(program, blocks, (function, first_site), (string, location));
        merge_checksums(program, &table.source_checksums, string);
        lists::merge_regions(program, &table.regions, string);
        merge_types(program, &mut self.loaded.known_types, &table.types, string);
        flow::merge(program, table.flows, table.functions.len(), location, string);
        let is_machine_code = table.machine_code.is_some();
        let code = machine::merge(program, table.machine_code.unwrap_or_default(), first_function);
        let segments_of = |first: u32, count: u32| first..first + count;
        let merged = MergedTable {
            functions: first_function..program.functions.len() as u32,
            sites: first_site..program.sites.len() as u32,
            allocation_sites: first_allocation_site..program.allocation_sites.len() as u32,
            is_machine_code,
            segments_of_function: table
                .functions
                .iter()
                .map(|f| segments_of(f.first_segment, f.segment_count))
                .collect(),
            registers: table.functions.iter().map(DeclaredRegisters::of).collect(),
            symbols: symbols.collect(),
            loop_count: loop_count(&table.segments),
            segments: table.segments,
            locations,
            source_file,
            producer: string(table.producer),
            oracle: table.oracle,
            calls: table.calls,
            order: table.order,
            blocks: first_block..program.blocks.len() as u32,
            counter_count,
            derived: derived.into(),
            callees: callees.collect(),
            steps: steps.into(),
            instructions: code.instructions,
            machine_blocks: code.blocks,
        };
        self.loaded.tables.push(merged);
        self.loaded.tables.len() - 1
    }
}

pub(crate) fn merge_checksums(
    program: &mut Program,
    checksums: &[TableChecksum],
    string: impl Fn(u32) -> StringId,
) {
    for entry in checksums {
        program.source_checksums.add(string(entry.file), entry.checksum);
    }
}

/// Loops that are recorded as such.
fn loop_count(segments: &[Segment]) -> u64 {
    let operations = segments.iter().flat_map(|segment| &segment.operations);
    operations.map(Operation::loop_count).sum()
}

/// Appends those types of a table that are new: most structures are declared in several modules.
pub(crate) fn merge_types(
    program: &mut Program,
    known: &mut HashMap<TypeLayout, TypeId>,
    types: &[TableType],
    string: impl Fn(u32) -> StringId,
) {
    let mut ids: Vec<TypeId> = Vec::with_capacity(types.len());
    for entry in types {
        let members = entry.members.iter().map(|member| MemberLayout {
            name: string(member.name),
            type_name: string(member.type_name),
            kind: member.kind,
            offset_bits: member.offset_bits,
            size_bits: member.size_bits,
            alignment: member.alignment,
            nested: member.nested.map(|nested| ids[nested as usize]),
        });
        let layout = TypeLayout {
            name: string(entry.name),
            kind: entry.kind,
            size: entry.size,
            alignment: entry.alignment,
            members: members.collect(),
        };
        let id = *known.entry(layout).or_insert_with_key(|layout| {
            program.types.push(layout.clone());
            TypeId(program.types.len() as u32 - 1)
        });
        ids.push(id);
    }
}

/// Appends a table's locations, all but the unknown one, and returns where each went.
pub(crate) fn merge_locations(
    program: &mut Program,
    locations: &[TableLocation],
    string: impl Fn(u32) -> StringId,
) -> Vec<LocationId> {
    let mut ids: Vec<LocationId> = Vec::with_capacity(locations.len());
    for location in locations {
        if *location == TableLocation::default() {
            ids.push(LocationId(0));
            continue;
        }
        let id = LocationId(program.locations.len() as u32);
        program.locations.push(Location {
            function: string(location.function),
            file: string(location.file),
            line: location.line,
            column: location.column,
            inlined_at: location
                .parent
                .map(|parent| ids[parent as usize])
                .filter(|parent| parent.0 != 0),
        });
        ids.push(id);
    }
    ids
}

impl Program {
    /// The program whose section `trackway_table` holds `section`, in which a linker concatenated tables with zero bytes
    /// between them: what it records if it runs, without run-time addresses.
    ///
    /// # Errors
    /// If a table is none of this version, or damaged.
    pub fn from_tables(section: &[u8]) -> Result<Program, TableError> {
        let mut merger = Merger::new();
        let mut position = 0;
        while let Some(zeros) = section[position..].iter().position(|byte| *byte != 0) {
            position += zeros;
            let parsed = Table::parse_front(&section[position..], Extent::Whole).map_err(|mut error| {
                error.position += position as u64;
                error
            })?;
            let table = merger.merge(parsed.table);
            merger.push_module(table, parsed.key, 0, None);
            position += parsed.length;
        }
        Ok(merger.program)
    }
}
