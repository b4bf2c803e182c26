//! Decodes a [`Table`].

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::*;

type Result<T> = std::result::Result<T, TableError>;

/// Entries of a list for which there is room before the first one is read.
const MOST_EXPECTED_ENTRIES: usize = 1 << 12;

/// A table and where it ends.
pub(crate) struct Parsed {
    pub(crate) table: Table,
    /// XXH3-64 of the body as it is stored.
    pub(crate) key: u64,
    /// Bytes of the table with its header.
    pub(crate) length: usize,
}

/// How much of a table is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Functions and segments, of whose operations only the roots: how long records are and what they hold. What follows
    /// the segments isn't looked at. A recorder needs no more, and large tables take it a tenth of the time so.
    Records,
}

impl Table {
    /// Reads the table with which `bytes` start.
    pub fn parse(bytes: &[u8]) -> Result<Table> {
        Ok(Table::parse_front(bytes, Extent::Whole)?.table)
    }

    pub(crate) fn parse_front(bytes: &[u8], extent: Extent) -> Result<Parsed> {
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
        if flags & !flag::KNOWN != 0 {
            return cursor.error(format!("unknown flags {flags:#x}"));
        }
        let counters = cursor.u32("number of counters")?;
        let key = cursor.u64("key")?;
        let length = cursor.u64("length of the body")?;
        let body = cursor.take(length, "body")?;
        if xxh3_64(body) != key {
            return cursor.error("the key is not the hash of the body");
        }
        let body = match flags & flag::PACKED {
            0 => Cow::from(body),
            _ => packed::unpack(body).or_else(|what| cursor.error(what))?,
        };
        let mut parser = Parser::new(&body, version, extent);
        parser.table.oracle = flags & flag::ORACLE != 0;
        parser.table.calls = flags & flag::CALLS != 0;
        parser.table.order = flags & flag::ORDER != 0;
        let body = match extent {
            Extent::Whole => parser.body(flags),
            Extent::Records => parser.records(),
        };
        body.map_err(|mut error| {
            error.position += TABLE_HEADER_LENGTH as u64;
            error
        })?;
        if extent == Extent::Whole {
            check_counters(&cursor, counters, &parser.table)?;
        }
        Ok(Parsed {
            table: parser.table,
            key,
            length: cursor.position(),
        })
    }
}

fn check_counters(cursor: &Cursor, counters: u32, table: &Table) -> Result<()> {
    let counted = table.blocks.as_ref().map_or(0, |blocks| blocks.counter_count);
    match counters == counted {
        true => Ok(()),
        false => cursor.error(format!(
            "the header says {counters} counters, the table {counted}"
        )),
    }
}

/// How many entries of a list have been read, kept or not.
#[derive(Default)]
pub(super) struct Lengths {
    strings: usize,
    pub(super) symbols: usize,
    pub(super) locations: usize,
    pub(super) sites: usize,
    pub(super) allocation_sites: usize,
}

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) table: Table,
    pub(super) lengths: Lengths,
    /// The format's.
    version: u16,
    pub(super) extent: Extent,
    /// Those of the segment that is being read, if only they are kept.
    pub(super) roots: Vec<Operation>,
    /// The window of the function whose segment is being read.
    pub(super) window: u32,
    /// Loops around the operation that is being read.
    pub(super) loop_depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(bytes: &'a [u8], version: u16, extent: Extent) -> Self {
        Parser {
            cursor: Cursor::new(bytes),
            table: Table::default(),
            lengths: Lengths::default(),
            version,
            extent,
            roots: Vec::new(),
            window: 0,
            loop_depth: 0,
        }
    }

    fn text_bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.cursor.varint("length of a string")?;
        self.cursor.take(length, "string")
    }
}

impl Parser<'_> {
    pub(super) fn strings(&mut self) -> Result<()> {
        self.table.strings = self.list(1, "strings", Self::text)?;
        self.lengths.strings = self.table.strings.len();
        match self.table.strings.first() {
            Some(first) if first.is_empty() => Ok(()),
            _ => self.cursor.error("string 0 is not empty"),
        }
    }

    fn body(&mut self, flags: u16) -> Result<()> {
        self.strings()?;
        self.table.source_file = self.string()?;
        self.table.producer = self.string()?;
        // A symbol's location stands in a later list.
        self.table.symbols = self.list(4, "symbols", Self::symbol)?;
        self.lengths.symbols = self.table.symbols.len();
        self.locations()?;
        self.table.functions = self.list(11, "functions", Self::function)?;
        self.table.sites = self.list(11, "sites", Self::site)?;
        self.lengths.sites = self.table.sites.len();
        self.table.allocation_sites = self.list(8, "allocation sites", Self::allocation_site)?;
        self.lengths.allocation_sites = self.table.allocation_sites.len();
        self.table.segments = self.list(4, "segments", Self::segment)?;
        self.structures()?;
        if flags & flag::COUNTS != 0 {
            self.table.blocks = Some(self.blocks()?);
        }
        if flags & flag::MACHINE_CODE != 0 {
            self.table.machine_code = Some(self.machine_code()?);
        }
        if flags & flag::FLOW != 0 {
            self.table.flows = Some(self.flows()?);
        }
        if flags & flag::CHECKSUMS != 0 {
            self.table.source_checksums = self.checksums()?;
        }
        if flags & flag::WORK != 0 {
            self.table.work = Some(self.work_of_sites()?);
        }
        if flags & flag::WAITS != 0 {
            self.waits_of_sites()?;
        }
        if flags & flag::REGIONS != 0 {
            self.table.regions = self.list(1, "regions", Self::string)?;
        }
        if self.cursor.remaining() != 0 {
            return self
                .cursor
                .error(format!("{} bytes after the last list", self.cursor.remaining()));
        }
        self.check_symbols()?;
        self.check_functions()
    }

    /// The part of the body that tells what records look like.
    fn records(&mut self) -> Result<()> {
        self.lengths.strings = self.pass(1, "strings", Self::text_bytes)?;
        self.string()?;
        self.string()?;
        self.lengths.symbols = self.pass(4, "symbols", Self::symbol)?;
        self.lengths.locations = self.cursor.count(5, "locations")?;
        for index in 0..self.lengths.locations {
            self.location_entry(index)?;
        }
        self.table.functions = self.list(11, "functions", Self::function)?;
        self.lengths.sites = self.pass(11, "sites", Self::site)?;
        self.lengths.allocation_sites = self.pass(8, "allocation sites", Self::allocation_site)?;
        self.table.segments = self.list(4, "segments", Self::segment_roots)?;
        self.check_functions()
    }

    /// Reads a list of which nothing is kept but its length.
    fn pass<T>(
        &mut self,
        entry_length: usize,
        what: &str,
        entry: fn(&mut Self) -> Result<T>,
    ) -> Result<usize> {
        let count = self.cursor.count(entry_length, what)?;
        for _ in 0..count {
            entry(self)?;
        }
        Ok(count)
    }

    pub(super) fn list<T>(
        &mut self,
        entry_length: usize,
        what: &str,
        entry: fn(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.cursor.count(entry_length, what)?;
        // A hostile count takes little memory before an entry is missing.
        let mut entries = Vec::with_capacity(count.min(MOST_EXPECTED_ENTRIES));
        for _ in 0..count {
            entries.push(entry(self)?);
        }
        Ok(entries)
    }

    fn text(&mut self) -> Result<String> {
        let bytes = self.text_bytes()?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => self.cursor.error("a string is not UTF-8"),
        }
    }

    pub(super) fn string(&mut self) -> Result<u32> {
        self.cursor.below(self.lengths.strings, "string")
    }

    pub(super) fn location(&mut self) -> Result<u32> {
        self.cursor.below(self.lengths.locations, "location")
    }

    fn symbol(&mut self) -> Result<TableSymbol> {
        Ok(TableSymbol {
            name: self.string()?,
            type_name: self.string()?,
            size: self.cursor.varint("size")?,
            location: self.cursor.number("location")?,
        })
    }

    pub(super) fn locations(&mut self) -> Result<()> {
        let count = self.cursor.count(5, "locations")?;
        for index in 0..count {
            let location = self.location_entry(index)?;
            self.table.locations.push(location);
        }
        self.lengths.locations = count;
        match self.table.locations.first() {
            Some(first) if *first == TableLocation::default() => Ok(()),
            _ => self.cursor.error("location 0 is not the unknown location"),
        }
    }

    fn location_entry(&mut self, index: usize) -> Result<TableLocation> {
        Ok(TableLocation {
            function: self.string()?,
            file: self.string()?,
            line: self.cursor.number("line")?,
            column: self.cursor.number("column")?,
            parent: self
                .cursor
                .below(index + 1, "parent of a location")?
                .checked_sub(1),
        })
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
            window: match self.version {
                1 => 0,
                _ => self.cursor.below(STREAM_REGISTERS as usize, "window")?,
            },
            coverage: Coverage {
                accesses: self.cursor.varint("accesses")?,
                recorded: self.cursor.varint("recorded accesses")?,
                filtered: self.cursor.varint("filtered accesses")?,
                not_recordable: self.cursor.varint("accesses that cannot be recorded")?,
            },
        })
    }

    fn work_of_sites(&mut self) -> Result<Vec<TableWork>> {
        let work = self.list(2, "work of sites", Self::work)?;
        match work.len() == self.table.sites.len() {
            true => Ok(work),
            false => self.cursor.error(format!(
                "the work of {} sites, but {} sites",
                work.len(),
                self.table.sites.len()
            )),
        }
    }

    fn waits_of_sites(&mut self) -> Result<()> {
        let waits = self.list(1, "waits of sites", |parser| parser.cursor.number("waits"))?;
        let work = self.table.work.as_deref_mut().unwrap_or_default();
        if waits.len() != work.len() {
            let what = format!("waits of {} sites, but the work of {}", waits.len(), work.len());
            return self.cursor.error(what);
        }
        work.iter_mut()
            .zip(waits)
            .for_each(|(work, waits)| work.waits = waits);
        Ok(())
    }

    fn work(&mut self) -> Result<TableWork> {
        let instructions = self.cursor.number("instructions")?;
        let what = self.cursor.varint("number of loads")?;
        let mut loads = Vec::new();
        for _ in 0..what >> 1 {
            loads.push(self.cursor.below(self.table.sites.len(), "site")?);
        }
        Ok(TableWork {
            instructions,
            waits: 0,
            loads,
            from_elsewhere: what & 1 != 0,
        })
    }

    pub(super) fn checksums(&mut self) -> Result<Vec<TableChecksum>> {
        self.list(18, "checksums of source files", Self::checksum)
    }

    fn checksum(&mut self) -> Result<TableChecksum> {
        Ok(TableChecksum {
            file: self.string()?,
            checksum: match self.cursor.u8("kind of checksum")? {
                1 => SourceChecksum::Md5(self.digest()?),
                2 => SourceChecksum::Sha256(self.digest()?),
                kind => return self.cursor.error(format!("unknown kind of checksum {kind}")),
            },
        })
    }

    fn digest<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH]> {
        let mut digest = [0; LENGTH];
        digest.copy_from_slice(self.cursor.take(LENGTH as u64, "checksum")?);
        Ok(digest)
    }

    pub(super) fn function_index(&mut self) -> Result<u32> {
        self.cursor.below(self.table.functions.len(), "function")
    }

    pub(super) fn kind<T>(&mut self, what: &str, from_byte: fn(u8) -> Option<T>) -> Result<T> {
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
        self.segment_of(Self::operations)
    }

    fn segment_roots(&mut self) -> Result<Segment> {
        self.segment_of(Self::roots)
    }

    fn segment_of(&mut self, operations: fn(&mut Self, u32) -> Result<Vec<Operation>>) -> Result<Segment> {
        let function = self.function_index()?;
        let local_id = self.cursor.below(1 << 16, "local id")? as u16;
        let record_length = self.cursor.number("record length")?;
        let registers = self.table.functions[function as usize].register_count;
        self.window = self.table.functions[function as usize].window;
        let operations = operations(self, registers)?;
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
        if segments.iter().any(|segment| segment.function != index) {
            return self
                .cursor
                .error(format!("function {index} has a segment of another"));
        }
        if !local_ids::are_distinct(segments) {
            return self
                .cursor
                .error(format!("local ids of function {index} begin alike"));
        }
        Ok(())
    }
}
