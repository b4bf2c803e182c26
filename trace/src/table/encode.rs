//! Encodes a [`Table`].

use xxhash_rust::xxh3::xxh3_64;

use super::operation::{OperationCode, PACKED_BIT, SIGN_BIT};
use super::*;

/// Appends `value` as unsigned LEB128.
pub fn encode_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends `value` as a zigzag-coded varint.
pub fn encode_svarint(value: i64, out: &mut Vec<u8>) {
    encode_varint((value << 1 ^ value >> 63) as u64, out);
}

impl Table {
    /// The table as a compiler embeds it: header and body.
    pub fn encode(&self) -> Vec<u8> {
        let body = self.body();
        let mut bytes = Vec::with_capacity(TABLE_HEADER_LENGTH + body.len());
        bytes.extend_from_slice(TABLE_MAGIC);
        bytes.extend_from_slice(&crate::FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.flags().to_le_bytes());
        let counters = self.blocks.as_ref().map_or(0, |blocks| blocks.counter_count);
        bytes.extend_from_slice(&counters.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&body).to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn flags(&self) -> u16 {
        let flags = [
            (self.oracle, flag::ORACLE),
            (self.calls, flag::CALLS),
            (self.order, flag::ORDER),
            (self.blocks.is_some(), flag::COUNTS),
            (self.machine_code.is_some(), flag::MACHINE_CODE),
            (self.flows.is_some(), flag::FLOW),
            (!self.source_checksums.is_empty(), flag::CHECKSUMS),
            (self.work.is_some(), flag::WORK),
            (self.has_waits(), flag::WAITS),
            (!self.regions.is_empty(), flag::REGIONS),
        ];
        let set = flags.into_iter().filter(|(is_set, _)| *is_set);
        set.fold(0, |all, (_, bit)| all | bit)
    }

    fn has_waits(&self) -> bool {
        self.work.iter().flatten().any(|work| work.waits > 0)
    }

    fn body(&self) -> Vec<u8> {
        let mut encoder = Encoder {
            out: Vec::new(),
            counter_count: 0,
        };
        encoder.list(&self.strings, Encoder::text);
        encoder.numbers(&[self.source_file, self.producer]);
        encoder.list(&self.symbols, Encoder::symbol);
        encoder.list(&self.locations, Encoder::location);
        encoder.list(&self.functions, Encoder::function);
        encoder.list(&self.sites, Encoder::site);
        encoder.list(&self.allocation_sites, Encoder::allocation_site);
        encoder.list(&self.segments, Encoder::segment);
        encoder.list(&self.types, Encoder::structure);
        if let Some(counted) = &self.blocks {
            encoder.numbers(&[counted.counter_count]);
            encoder.counter_count = counted.counter_count;
            encoder.list(&counted.derived, |encoder, sum| encoder.count(sum));
            encoder.list(&counted.blocks, Encoder::block);
            encoder.list(&counted.callees, Encoder::callee);
            encoder.list(&counted.steps, Encoder::step);
        }
        if let Some(code) = &self.machine_code {
            encoder.list(&code.instructions, Encoder::instruction);
            encoder.list(&code.blocks, |encoder, block| {
                encoder.varint(block.first.into());
                encoder.varint(u64::from(block.count) * 2 + u64::from(block.repeats));
            });
        }
        if let Some(flows) = &self.flows {
            encoder.list(flows, |encoder, flow| {
                encoder.out.push(u8::from(flow.called_by_name_only));
                encoder.list(&flow.pieces, Encoder::piece);
            });
        }
        encoder.checksums(&self.source_checksums);
        if let Some(work) = &self.work {
            encoder.list(work, Encoder::work);
            if self.has_waits() {
                encoder.list(work, |encoder, work| encoder.varint(work.waits.into()));
            }
        }
        if !self.regions.is_empty() {
            encoder.list(&self.regions, |encoder, name| encoder.varint((*name).into()));
        }
        encoder.out
    }
}

impl CodeNames {
    /// The payload of a chunk of names.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder {
            out: Vec::new(),
            counter_count: 0,
        };
        encoder.list(&self.strings, Encoder::text);
        encoder.list(&self.locations, Encoder::location);
        encoder.list(&self.types, Encoder::structure);
        encoder.list(&self.operands, Encoder::operand_name);
        encoder.list(&self.objects, Encoder::object_names);
        encoder.checksums(&self.source_checksums);
        encoder.out
    }
}

struct Encoder {
    out: Vec<u8>,
    counter_count: u32,
}

impl Encoder {
    fn varint(&mut self, value: u64) {
        encode_varint(value, &mut self.out);
    }

    fn numbers(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.varint(u64::from(*value)));
    }

    fn list<T>(&mut self, entries: &[T], encode: fn(&mut Self, &T)) {
        self.varint(entries.len() as u64);
        entries.iter().for_each(|entry| encode(self, entry));
    }

    /// Nothing where there are none.
    fn work(&mut self, work: &TableWork) {
        self.varint(work.instructions.into());
        self.varint(work.loads.len() as u64 * 2 + u64::from(work.from_elsewhere));
        self.numbers(&work.loads);
    }

    fn checksums(&mut self, checksums: &[TableChecksum]) {
        if checksums.is_empty() {
            return;
        }
        self.list(checksums, |encoder, entry| {
            encoder.numbers(&[entry.file]);
            encoder.out.push(entry.checksum.kind());
            encoder.out.extend_from_slice(entry.checksum.digest());
        });
    }

    fn text(&mut self, text: &String) {
        self.varint(text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    fn instruction(&mut self, instruction: &TableInstruction) {
        self.numbers(&[instruction.object]);
        self.varint(instruction.offset);
        self.out.push(instruction.length);
        self.out.push(instruction.kind as u8);
        self.varint(instruction.target);
    }

    fn piece(&mut self, piece: &TablePiece) {
        self.out.push(piece.end as u8 | (piece.loops as u8) << 4);
        self.numbers(&[piece.location, piece.callee, piece.instructions]);
        let optional = |index: Option<u32>| index.map_or(0, |index| index + 1);
        self.numbers(&[optional(piece.segment), optional(piece.continues)]);
        self.list(&piece.successors, |encoder, successor| {
            encoder.numbers(&[*successor])
        });
    }

    fn symbol(&mut self, symbol: &TableSymbol) {
        self.numbers(&[symbol.name, symbol.type_name]);
        self.varint(symbol.size);
        self.numbers(&[symbol.location]);
    }

    fn structure(&mut self, structure: &TableType) {
        self.numbers(&[structure.name]);
        self.out.push(structure.kind as u8);
        self.varint(structure.size);
        self.varint(structure.alignment);
        self.list(&structure.members, Encoder::member);
    }

    fn member(&mut self, member: &TableMember) {
        self.numbers(&[member.name, member.type_name]);
        self.out.push(member.kind as u8);
        self.varint(member.offset_bits);
        self.varint(member.size_bits);
        self.varint(member.alignment);
        self.numbers(&[member.nested.map_or(0, |nested| nested + 1)]);
    }

    fn operand_name(&mut self, name: &OperandName) {
        self.numbers(&[name.variable]);
        self.out.push(name.variable_kind as u8);
        self.numbers(&[name.object_type, name.field, name.value_type]);
    }

    fn object_names(&mut self, object: &ObjectNames) {
        self.numbers(&[object.path]);
        self.varint(object.instructions.len() as u64);
        let mut before = 0;
        for instruction in &object.instructions {
            self.varint(instruction.offset - before);
            self.numbers(&[instruction.location, instruction.read, instruction.written]);
            before = instruction.offset;
        }
    }

    fn location(&mut self, location: &TableLocation) {
        let parent = location.parent.map_or(0, |parent| parent + 1);
        self.numbers(&[
            location.function,
            location.file,
            location.line,
            location.column,
            parent,
        ]);
    }

    fn function(&mut self, function: &TableFunction) {
        self.numbers(&[function.linkage_name, function.name, function.location]);
        self.varint(u64::from(function.has_plain_copy));
        self.numbers(&[
            function.first_segment,
            function.segment_count,
            function.register_count,
            function.window,
        ]);
        let coverage = &function.coverage;
        for count in [
            coverage.accesses,
            coverage.recorded,
            coverage.filtered,
            coverage.not_recordable,
        ] {
            self.varint(count);
        }
    }

    fn site(&mut self, site: &TableSite) {
        self.numbers(&[site.function, site.ordinal]);
        self.out.extend_from_slice(&[site.part, site.kind as u8]);
        self.numbers(&[site.size, site.location, site.variable]);
        self.out.push(site.variable_kind as u8);
        self.numbers(&[site.object_type, site.field, site.value_type]);
    }

    fn allocation_site(&mut self, site: &TableAllocationSite) {
        self.numbers(&[site.function, site.ordinal]);
        self.out.push(site.operation as u8);
        self.numbers(&[site.location, site.allocator, site.element_type]);
        self.varint(site.element_size);
        self.numbers(&[site.variable]);
    }

    fn segment(&mut self, segment: &Segment) {
        self.numbers(&[
            segment.function,
            u32::from(segment.local_id),
            segment.record_length,
        ]);
        self.list(&segment.operations, Encoder::operation);
    }

    fn block(&mut self, block: &TableBlock) {
        self.numbers(&[block.function, block.location]);
        self.count(&block.executions);
        block.mix.to_array().iter().for_each(|count| self.varint(*count));
        self.list(&block.accesses, Encoder::counted_access);
        self.list(&block.calls, |encoder, name| encoder.numbers(&[*name]));
    }

    fn callee(&mut self, callee: &TableCallee) {
        self.numbers(&[callee.name, callee.first_counter]);
    }

    fn step(&mut self, step: &TableStep) {
        self.out.push(step.kind as u8);
        self.count(&step.times);
    }

    fn count(&mut self, count: &Count) {
        self.list(&count.terms, |encoder, term| {
            let code = match term.variable.checked_sub(encoder.counter_count) {
                None => u64::from(term.variable) * 2,
                Some(derived) => u64::from(derived) * 2 + 1,
            };
            encoder.varint(code);
            encode_svarint(term.factor, &mut encoder.out);
        });
    }

    fn counted_access(&mut self, access: &TableAccess) {
        self.numbers(&[access.site]);
        match &access.amount {
            Amount::PerExecution => self.out.push(0),
            Amount::Counted { accesses, bytes } => {
                self.out.push(1);
                self.count(accesses);
                self.count(bytes);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        self.varint((expression.terms.len() as u64) << 1 | u64::from(expression.symbol.is_some()));
        self.numbers(expression.symbol.as_slice());
        encode_svarint(expression.constant, &mut self.out);
        for term in &expression.terms {
            self.numbers(&[term.register]);
            encode_svarint(term.scale, &mut self.out);
        }
    }

    /// An operation that consists of its code, a number and expressions.
    fn plain(&mut self, code: OperationCode, number: u32, expressions: &[&Expression]) {
        self.out.push(code as u8);
        self.numbers(&[number]);
        expressions
            .iter()
            .for_each(|expression| self.expression(expression));
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Root { register, encoding } => {
                self.plain(OperationCode::Root, *register, &[]);
                self.out
                    .push(encoding.width | if encoding.signed { SIGN_BIT } else { 0 });
            }
            Operation::Set { register, value } => self.plain(OperationCode::Set, *register, &[value]),
            Operation::Access { site, address } => self.plain(OperationCode::Access, *site, &[address]),
            Operation::Block {
                site,
                address,
                length,
            } => self.plain(OperationCode::Block, *site, &[address, length]),
            Operation::Masked {
                site,
                address,
                mask,
                lanes,
                packed,
                stride,
            } => {
                self.plain(OperationCode::Masked, *site, &[address]);
                self.numbers(&[*mask]);
                self.out
                    .extend_from_slice(&[*lanes, if *packed { PACKED_BIT } else { 0 }]);
                self.varint(*stride);
            }
            Operation::Gather {
                site,
                mask,
                lanes,
                first_register,
            } => {
                self.plain(OperationCode::Gather, *site, &[]);
                self.numbers(&[*mask]);
                self.out.push(*lanes);
                self.numbers(&[*first_register]);
            }
            Operation::Allocate { site, block } => {
                self.plain(
                    OperationCode::Allocate,
                    *site,
                    &[&block.address, &block.element_size, &block.count],
                );
            }
            Operation::Free { site, address } => self.plain(OperationCode::Free, *site, &[address]),
            Operation::Reallocate { site, old, block } => {
                let expressions = [old, &block.address, &block.element_size, &block.count];
                self.plain(OperationCode::Reallocate, *site, &expressions);
            }
            Operation::Enter => self.out.push(OperationCode::Enter as u8),
            Operation::Exit => self.out.push(OperationCode::Exit as u8),
            Operation::Order {
                synchronisation,
                location,
                address,
                stamp,
            } => {
                self.out
                    .extend_from_slice(&[OperationCode::Order as u8, synchronisation.to_byte()]);
                self.numbers(&[*location]);
                self.expression(address);
                self.expression(stamp);
            }
            Operation::Region { depth, name } => {
                self.out.push(OperationCode::Region as u8);
                self.expression(depth);
                self.expression(name);
            }
            Operation::Value { shape, words } => {
                self.out
                    .extend_from_slice(&[OperationCode::Value as u8, shape.form as u8]);
                self.numbers(&[shape.bits, shape.lanes]);
                words.iter().for_each(|word| self.expression(word));
            }
            Operation::Loop { count, body } => {
                self.out.push(OperationCode::Loop as u8);
                self.expression(count);
                self.list(body, Encoder::operation);
            }
        }
    }
}
