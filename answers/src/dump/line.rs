//! What one line of a dump says.

use trackway_analysis::Names;
use trackway_trace::{AllocationSiteId, Event, LocationId, Program, SiteId, Value};

use super::value;

/// Something that a thread did.
#[derive(Clone, Copy)]
pub enum BatchItem<'e> {
    Access {
        site: SiteId,
        address: u64,
        length: u64,
        value: Option<Value<'e>>,
    },
    Event(&'e Event),
}

/// The columns; what a kind of event doesn't have is none or empty.
#[derive(Default)]
pub struct Line<'p> {
    pub stream: u32,
    /// Index of the access in its stream, or of the access that follows the event.
    pub index: u64,
    /// The access or event was about to happen when the thread was stopped; it may not have happened.
    pub uncertain: bool,
    pub kind: &'static str,
    pub address: Option<u64>,
    /// Bytes.
    pub size: Option<u64>,
    /// What was loaded or stored, if that was recorded.
    pub value: Option<String>,
    /// Where the memory was before a reallocation.
    pub old_address: Option<u64>,
    pub site: Option<u32>,
    pub variable: &'p str,
    /// Field with its type: `arc.ident`.
    pub field: String,
    /// The kind of object by which threads synchronise.
    pub by: &'static str,
    /// The region of interest in which the thread is from here on, within others; empty: in none.
    pub region: &'p str,
    /// Time of a synchronisation, in CLOCK_MONOTONIC nanoseconds.
    pub time_ns: Option<u64>,
    /// Type of the elements of an allocation.
    pub element_type: &'p str,
    pub function: String,
    pub file: &'p str,
    pub line: u32,
    pub column: u32,
    /// Where the instruction is; only in traces of machine code.
    pub instruction: Option<String>,
}

impl<'p> Line<'p> {
    pub fn new(
        program: &'p Program,
        names: &Names,
        stream: u32,
        index: u64,
        uncertain: bool,
        item: BatchItem,
    ) -> Line<'p> {
        let mut line = match item {
            BatchItem::Access {
                site,
                address,
                length,
                value,
            } => Line {
                value: value.as_ref().map(value::text),
                ..access(program, names, site, address, length)
            },
            BatchItem::Event(event) => other(program, names, event),
        };
        line.stream = stream;
        line.index = index;
        line.uncertain = uncertain;
        line
    }

    fn at(mut self, program: &'p Program, location: LocationId) -> Self {
        let location = program.location(location);
        self.file = program.string(location.file);
        self.line = location.line;
        self.column = location.column;
        self
    }
}

fn access<'p>(program: &'p Program, names: &Names, id: SiteId, address: u64, length: u64) -> Line<'p> {
    let site = program.site(id);
    let has_field = !program.string(site.field).is_empty();
    let line = Line {
        kind: site.kind.name(),
        address: Some(address),
        size: Some(length),
        site: Some(id.0),
        variable: program.string(site.variable),
        field: if has_field {
            names.field(site.object_type, site.field)
        } else {
            String::new()
        },
        function: names.function_of(site),
        instruction: program
            .instruction_of_site(id)
            .map(|instruction| program.place_of(instruction)),
        ..Line::default()
    };
    line.at(program, site.location)
}

fn other<'p>(program: &'p Program, names: &Names, event: &Event) -> Line<'p> {
    match *event {
        Event::Enter(function) | Event::Exit(function) => {
            let kind = if matches!(event, Event::Enter(_)) {
                "enter"
            } else {
                "exit"
            };
            let function = program.function(function);
            let line = Line {
                kind,
                function: names.function(function.linkage_name),
                ..Line::default()
            };
            line.at(program, function.location)
        }
        Event::Order {
            synchronisation,
            location,
            address,
            time_ns,
        } => {
            let line = Line {
                kind: synchronisation.side.name(),
                by: synchronisation.by.name(),
                address: (address != 0).then_some(address),
                time_ns: Some(time_ns),
                function: names.function(program.location(location).function),
                ..Line::default()
            };
            line.at(program, location)
        }
        Event::Region { depth: 0, .. } => Line {
            kind: "region",
            ..Line::default()
        },
        Event::Region { name, .. } => Line {
            kind: "region",
            region: program.region_name(name).unwrap_or("unknown"),
            ..Line::default()
        },
        Event::Allocate {
            site,
            address,
            element_size,
            count,
        } => {
            let size = Some(element_size.wrapping_mul(count));
            Line {
                kind: "allocate",
                address: Some(address),
                size,
                ..allocation(program, names, site)
            }
        }
        Event::Free { site, address } => Line {
            kind: "free",
            address: Some(address),
            ..allocation(program, names, site)
        },
        Event::Reallocate {
            site,
            old_address,
            new_address,
            element_size,
            count,
        } => Line {
            kind: "reallocate",
            address: Some(new_address),
            old_address: Some(old_address),
            size: Some(element_size.wrapping_mul(count)),
            ..allocation(program, names, site)
        },
    }
}

fn allocation<'p>(program: &'p Program, names: &Names, id: AllocationSiteId) -> Line<'p> {
    let site = program.allocation_site(id);
    let line = Line {
        variable: program.string(site.variable),
        element_type: program.string(site.element_type),
        function: names.function(program.function(site.function).linkage_name),
        ..Line::default()
    };
    line.at(program, site.location)
}
