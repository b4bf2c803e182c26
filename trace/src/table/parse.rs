//! Bytes to [`Table`].

use xxhash_rust::xxh3::xxh3_64;

use super::operation::{code, PACKED_BIT, SIGN_BIT};
use super::*;

type Result<T> = std::result::Result<T, TableError>;

const FLAG_ORACLE: u16 = 1;
const FLAG_CALLS: u16 = 2;

/// A table and where it ends.
pub(crate) struct Parsed {
    pub(crate) table: Table,
    /// XXH3-64 of the body.
    pub(crate) key: u64,
    /// Bytes of the table with its header.
    pub(crate) length: usize,
}

impl Table {
    /// Reads the table with which `bytes` start.
    pub fn parse(bytes: &[u8]) -> Result<Table> {
        Ok(Table::parse_front(bytes)?.table)
    }

    pub(crate) fn parse_front(bytes: &[u8]) -> Result<Parsed> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(8, "magic")? != TABLE_MAGIC {
            return Err(TableError {
                position: 0,
                what: "it does not start with TWTABLE".into(),
            });
        }
        let version = cursor.u16("version")?;
        if version == 0 || version > crate::FORMAT_VERSION {
            return cursor.error(format!(
                "version {version}, where this Trackway reads {}",
                crate::FORMAT_VERSION
            ));
        }
        let flags = cursor.u16("flags")?;
        if flags & !(FLAG_ORACLE | FLAG_CALLS) != 0 {
            return cursor.error(format!("unknown flags {flags:#x}"));
        }
        cursor.u32("reserved bytes")?;
        let key = cursor.u64("key")?;
        let length = cursor.u64("length of the body")?;
        let body = cursor.take(length, "body")?;
        if xxh3_64(body) != key {
            return cursor.error("the key is not the hash of the body");
        }
        let mut parser = Parser {
            cursor: Cursor::new(body),
            table: Table::default(),
            loop_depth: 0,
        };
        parser.table.oracle = flags & FLAG_ORACLE != 0;
        parser.table.calls = flags & FLAG_CALLS != 0;
        parser.body().map_err(|mut error| {
            error.position += TABLE_HEADER_LENGTH as u64;
            error
        })?;
        Ok(Parsed {
            table: parser.table,
            key,
            length: cursor.position(),
        })
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    table: Table,
    /// Loops around the operation that is being read.
    loop_depth: usize,
}

impl Parser<'_> {
    fn body(&mut self) -> Result<()> {
        self.table.strings = self.list(1, "strings", Self::text)?;
        if self.table.strings.first().is_none_or(|first| !first.is_empty()) {
            return self.cursor.error("string 0 is not empty");
        }
        self.table.source_file = self.string()?;
        self.table.producer = self.string()?;
        // A symbol's location stands in a later list.
        self.table.symbols = self.list(4, "symbols", Self::symbol)?;
        self.locations()?;
        self.table.functions = self.list(11, "functions", Self::function)?;
        self.table.sites = self.list(11, "sites", Self::site)?;
        self.table.allocation_sites = self.list(8, "allocation sites", Self::allocation_site)?;
        self.table.segments = self.list(4, "segments", Self::segment)?;
        if self.cursor.remaining() != 0 {
            return self.cursor.error(format!(
                "{} bytes after the last segment",
                self.cursor.remaining()
            ));
        }
        self.check_symbols()?;
        self.check_functions()
    }

    fn list<T>(
        &mut self,
        entry_length: usize,
        what: &str,
        entry: fn(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.cursor.count(entry_length, what)?;
        (0..count).map(|_| entry(self)).collect()
    }

    fn text(&mut self) -> Result<String> {
        let length = self.cursor.varint("length of a string")?;
        let bytes = self.cursor.take(length, "string")?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => self.cursor.error("a string is not UTF-8"),
        }
    }

    fn string(&mut self) -> Result<u32> {
        self.cursor.below(self.table.strings.len(), "string")
    }

    fn location(&mut self) -> Result<u32> {
        self.cursor.below(self.table.locations.len(), "location")
    }

    fn symbol(&mut self) -> Result<TableSymbol> {
        Ok(TableSymbol {
            name: self.string()?,
            type_name: self.string()?,
            size: self.cursor.varint("size")?,
            location: self.cursor.number("location")?,
        })
    }

    fn locations(&mut self) -> Result<()> {
        let count = self.cursor.count(5, "locations")?;
        for index in 0..count {
            let location = TableLocation {
                function: self.string()?,
                file: self.string()?,
                line: self.cursor.number("line")?,
                column: self.cursor.number("column")?,
                parent: self
                    .cursor
                    .below(index + 1, "parent of a location")?
                    .checked_sub(1),
            };
            self.table.locations.push(location);
        }
        match self.table.locations.first() {
            Some(first) if *first == TableLocation::default() => Ok(()),
            _ => self.cursor.error("location 0 is not the unknown location"),
        }
    }

    fn function(&mut self) -> Result<TableFunction> {
        Ok(TableFunction {
            linkage_name: self.string()?,
            name: self.string()?,
            location: self.location()?,
            has_plain_copy: self.cursor.varint("flags")? & 1 != 0,
            first_segment: self.cursor.number("first segment")?,
            segment_count: self.cursor.number("number of segments")?,
            register_count: self
                .cursor
                .below(MAX_REGISTERS as usize + 1, "number of registers")?,
            coverage: Coverage {
                accesses: self.cursor.varint("accesses")?,
                recorded: self.cursor.varint("recorded accesses")?,
                filtered: self.cursor.varint("filtered accesses")?,
                not_recordable: self.cursor.varint("accesses that cannot be recorded")?,
            },
        })
    }

    fn function_index(&mut self) -> Result<u32> {
        self.cursor.below(self.table.functions.len(), "function")
    }

    fn kind<T>(&mut self, what: &str, from_byte: fn(u8) -> Option<T>) -> Result<T> {
        let byte = self.cursor.u8(what)?;
        match from_byte(byte) {
            Some(kind) => Ok(kind),
            None => self.cursor.error(format!("unknown {what} {byte}")),
        }
    }

    fn site(&mut self) -> Result<TableSite> {
        Ok(TableSite {
            function: self.function_index()?,
            ordinal: self.cursor.number("ordinal")?,
            part: self.cursor.u8("part")?,
            kind: self.kind("kind of access", AccessKind::from_byte)?,
            size: self.cursor.number("size")?,
            location: self.location()?,
            variable: self.string()?,
            variable_kind: self.kind("kind of variable", VariableKind::from_byte)?,
            object_type: self.string()?,
            field: self.string()?,
            value_type: self.string()?,
        })
    }

    fn allocation_site(&mut self) -> Result<TableAllocationSite> {
        Ok(TableAllocationSite {
            function: self.function_index()?,
            ordinal: self.cursor.number("ordinal")?,
            operation: self.kind("allocation operation", AllocationOperation::from_byte)?,
            location: self.location()?,
            allocator: self.string()?,
            element_type: self.string()?,
            element_size: self.cursor.varint("element size")?,
            variable: self.string()?,
        })
    }

    fn segment(&mut self) -> Result<Segment> {
        let function = self.function_index()?;
        let local_id = self.cursor.below(256, "local id")? as u8;
        let record_length = self.cursor.number("record length")?;
        let registers = self.table.functions[function as usize].register_count;
        let operations = self.operations(registers)?;
        self.check_record_length(record_length, &operations)?;
        Ok(Segment {
            function,
            local_id,
            record_length,
            operations,
        })
    }

    fn check_record_length(&self, record_length: u32, operations: &[Operation]) -> Result<()> {
        let width = |operation: &Operation| match operation {
            Operation::Root { encoding, .. } => u64::from(encoding.width),
            _ => 0,
        };
        let roots: u64 = operations.iter().map(width).sum();
        if roots != u64::from(record_length) {
            return self.cursor.error(format!(
                "a record length of {record_length}, but roots of {roots} bytes"
            ));
        }
        let events: u64 = operations.iter().map(Operation::max_events).sum();
        if events > MAX_EVENTS {
            return self.cursor.error(format!(
                "a segment of {events} accesses, where {MAX_EVENTS} is the limit"
            ));
        }
        Ok(())
    }

    fn register(&mut self, registers: u32) -> Result<u32> {
        self.cursor.below(registers as usize, "register")
    }

    fn expression(&mut self, registers: u32) -> Result<Expression> {
        let head = self.cursor.varint("expression")?;
        let symbol = match head & 1 {
            0 => None,
            _ => Some(self.cursor.below(self.table.symbols.len(), "symbol")?),
        };
        let constant = self.cursor.svarint("constant")?;
        let terms = head >> 1;
        if terms > (self.cursor.remaining() / 2) as u64 {
            return self.cursor.error(format!(
                "an expression of {terms} terms, more than the table has room for"
            ));
        }
        let term = |_| {
            Ok(Term {
                register: self.register(registers)?,
                scale: self.cursor.svarint("scale")?,
            })
        };
        Ok(Expression {
            symbol,
            constant,
            terms: (0..terms).map(term).collect::<Result<_>>()?,
        })
    }

    fn site_index(&mut self) -> Result<u32> {
        self.cursor.below(self.table.sites.len(), "site")
    }

    fn allocation_site_index(&mut self) -> Result<u32> {
        self.cursor
            .below(self.table.allocation_sites.len(), "allocation site")
    }

    fn operations(&mut self, registers: u32) -> Result<Vec<Operation>> {
        let count = self.cursor.count(1, "operations")?;
        (0..count).map(|_| self.operation(registers)).collect()
    }

    fn operation(&mut self, registers: u32) -> Result<Operation> {
        Ok(match self.cursor.u8("operation")? {
            code::ROOT => Operation::Root {
                register: self.register(registers)?,
                encoding: self.encoding()?,
            },
            code::SET => Operation::Set {
                register: self.register(registers)?,
                value: self.expression(registers)?,
            },
            code::ACCESS => Operation::Access {
                site: self.site_index()?,
                address: self.expression(registers)?,
            },
            code::BLOCK => Operation::Block {
                site: self.site_index()?,
                address: self.expression(registers)?,
                length: self.expression(registers)?,
            },
            code::MASKED => self.masked(registers)?,
            code::GATHER => self.gather(registers)?,
            code::ALLOCATE => Operation::Allocate {
                site: self.allocation_site_index()?,
                block: self.block(registers)?,
            },
            code::FREE => Operation::Free {
                site: self.allocation_site_index()?,
                address: self.expression(registers)?,
            },
            code::REALLOCATE => Operation::Reallocate {
                site: self.allocation_site_index()?,
                old: self.expression(registers)?,
                block: self.block(registers)?,
            },
            code::ENTER => Operation::Enter,
            code::EXIT => Operation::Exit,
            code::LOOP => self.repetition(registers)?,
            byte => return self.cursor.error(format!("unknown operation {byte}")),
        })
    }

    fn repetition(&mut self, registers: u32) -> Result<Operation> {
        if self.loop_depth == MAX_LOOP_DEPTH {
            return self
                .cursor
                .error(format!("more than {MAX_LOOP_DEPTH} loops within each other"));
        }
        let count = self.expression(registers)?;
        self.loop_depth += 1;
        let body = self.operations(registers)?;
        self.loop_depth -= 1;
        if !body.iter().all(Operation::may_repeat) {
            return self.cursor.error("a loop around a root or an event");
        }
        Ok(Operation::Loop { count, body })
    }

    fn block(&mut self, registers: u32) -> Result<Box<AllocatedBlock>> {
        Ok(Box::new(AllocatedBlock {
            address: self.expression(registers)?,
            element_size: self.expression(registers)?,
            count: self.expression(registers)?,
        }))
    }

    fn encoding(&mut self) -> Result<Encoding> {
        let byte = self.cursor.u8("encoding of a root")?;
        let width = byte & !SIGN_BIT;
        if !matches!(width, 1 | 2 | 4 | 8) {
            return self.cursor.error(format!("unknown encoding {byte} of a root"));
        }
        Ok(Encoding {
            width,
            signed: byte & SIGN_BIT != 0,
        })
    }

    fn lanes(&mut self) -> Result<u8> {
        let lanes = self.cursor.u8("number of lanes")?;
        if lanes == 0 || lanes > MAX_LANES {
            return self
                .cursor
                .error(format!("{lanes} lanes, where 1 to {MAX_LANES} are possible"));
        }
        Ok(lanes)
    }

    fn masked(&mut self, registers: u32) -> Result<Operation> {
        let site = self.site_index()?;
        let address = self.expression(registers)?;
        let mask = self.register(registers)?;
        let lanes = self.lanes()?;
        let flags = self.cursor.u8("flags of a masked access")?;
        if flags & !PACKED_BIT != 0 {
            return self
                .cursor
                .error(format!("unknown flags {flags} of a masked access"));
        }
        let stride = self.cursor.varint("lane stride")?;
        Ok(Operation::Masked {
            site,
            address,
            mask,
            lanes,
            packed: flags & PACKED_BIT != 0,
            stride,
        })
    }

    fn gather(&mut self, registers: u32) -> Result<Operation> {
        let site = self.site_index()?;
        let mask = self.register(registers)?;
        let lanes = self.lanes()?;
        let first_register = self.register(registers)?;
        if first_register + u32::from(lanes) > registers {
            return self.cursor.error(format!(
                "lanes up to register {first_register} + {lanes} of {registers}"
            ));
        }
        Ok(Operation::Gather {
            site,
            mask,
            lanes,
            first_register,
        })
    }

    fn check_symbols(&self) -> Result<()> {
        let locations = self.table.locations.len();
        match self
            .table
            .symbols
            .iter()
            .find(|symbol| symbol.location as usize >= locations)
        {
            Some(symbol) => self
                .cursor
                .error(format!("a symbol at location {} of {locations}", symbol.location)),
            None => Ok(()),
        }
    }

    /// Segments and functions name each other.
    fn check_functions(&self) -> Result<()> {
        let mut claimed = 0;
        for (index, function) in self.table.functions.iter().enumerate() {
            claimed += u64::from(function.segment_count);
            self.check_segments_of(index as u32, function)?;
        }
        if claimed != self.table.segments.len() as u64 {
            return self.cursor.error(format!(
                "{} segments, but functions of {claimed}",
                self.table.segments.len()
            ));
        }
        Ok(())
    }

    fn check_segments_of(&self, index: u32, function: &TableFunction) -> Result<()> {
        let first = function.first_segment as usize;
        let Some(segments) = self
            .table
            .segments
            .get(first..first + function.segment_count as usize)
        else {
            return self
                .cursor
                .error(format!("the segments of function {index} lie outside the table"));
        };
        let mut seen = [false; 256];
        for segment in segments {
            let local_id = segment.local_id as usize;
            if segment.function != index || (local_id != 0 && seen[local_id]) {
                return self.cursor.error(format!(
                    "function {index} has a segment of another, or a local id twice"
                ));
            }
            seen[local_id] = true;
        }
        Ok(())
    }
}
