//! From a table's operations to the decoder's steps.

use super::*;
use crate::merge::{Loaded, LoadedModule, MergedTable};
use crate::table::{AllocatedBlock, Encoding, Expression, Operation, Segment, MAX_REGISTERS};
use crate::Program;

impl Code {
    pub(crate) fn compile(loaded: &Loaded, program: &Program) -> Code {
        let code = Code {
            segment_of_id: vec![NO_SEGMENT; loaded.module_of_segment.len()],
            ..Code::default()
        };
        let mut compiler = Compiler {
            code,
            program,
            touched: vec![0; MAX_REGISTERS as usize + 1],
            stamp: 0,
            offset: 0,
            accesses: 0,
            run: Vec::new(),
        };
        for module in &loaded.modules {
            compiler.module(module, &loaded.tables[module.table]);
        }
        let mut code = compiler.code;
        let registers = loaded
            .tables
            .iter()
            .flat_map(|table| &table.register_counts)
            .max();
        code.register_count = registers.map_or(0, |count| *count as usize) + 1;
        code.sites.extend([SiteId(0); RUN_UNIT]);
        code.sizes.extend([0; RUN_UNIT]);
        code.near.extend(
            [Near {
                constant: 0,
                register: ZERO_REGISTER,
            }; RUN_UNIT],
        );
        code.linear.extend(
            [Linear {
                constant: 0,
                scales: [0; 2],
                registers: [ZERO_REGISTER; 2],
            }; RUN_UNIT],
        );
        code
    }
}

pub(super) struct Compiler<'a> {
    pub(super) code: Code,
    pub(super) program: &'a Program,
    /// For each register the stamp of the last segment that read or set it so far: a root that writes one which its
    /// own segment touched must stay where it is.
    touched: Vec<u32>,
    stamp: u32,
    /// Bytes of the record before the next root.
    offset: u32,
    /// Accesses of the segment so far, at most.
    accesses: usize,
    /// Neighbouring accesses that become one step.
    run: Vec<Linear>,
}

/// Where the numbers of a segment's operations lead.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    module: &'a LoadedModule,
    pub(super) table: &'a MergedTable,
    function: FunctionId,
}

/// The decoder's register for a register of the table.
pub(super) fn register(register: u32) -> u16 {
    register as u16 + 1 // the parser admits registers up to 65,534
}

impl Compiler<'_> {
    fn module(&mut self, module: &LoadedModule, table: &MergedTable) {
        for (function, segments) in table.segments_of_function.iter().enumerate() {
            let context = Context {
                module,
                table,
                function: table.function(function as u32),
            };
            let first = segments.start as usize;
            let segments = &table.segments[first..segments.end as usize];
            self.function(context, module.first_segment as usize + first, segments);
        }
    }

    fn function(&mut self, context: Context<'_>, first_id: usize, segments: &[Segment]) {
        let first_local = self.code.locals.len() as u32;
        let greatest = segments.iter().map(|segment| segment.local_id).max();
        let local_count = greatest.map_or(0, |greatest| u32::from(greatest) + 1);
        let none = LocalEntry {
            segment: NO_SEGMENT,
            record_length: 0,
        };
        self.code
            .locals
            .resize((first_local + local_count) as usize, none);
        for (index, segment) in segments.iter().enumerate() {
            let number = self.code.segments.len() as u32;
            let compiled = self.segment(context, segment);
            self.code.segments.push(SegmentCode {
                first_local,
                local_count,
                ..compiled
            });
            self.code.segment_of_id[first_id + index] = number;
            if segment.local_id != 0 {
                let entry = LocalEntry {
                    segment: number,
                    record_length: segment.record_length,
                };
                self.code.locals[first_local as usize + usize::from(segment.local_id)] = entry;
            }
        }
    }

    fn segment(&mut self, context: Context<'_>, segment: &Segment) -> SegmentCode {
        self.stamp += 1;
        self.offset = 0;
        self.accesses = 0;
        let first_step = self.code.steps.len() as u32;
        let mut early_roots = Vec::new();
        for operation in &segment.operations {
            match operation {
                Operation::Root { register, encoding } => self.root(*register, *encoding, &mut early_roots),
                _ => self.operation(context, operation),
            }
        }
        self.end_run();
        let (first_root, root_count) = self.push_roots(&early_roots);
        self.code.max_record_length = self.code.max_record_length.max(segment.record_length as usize);
        self.code.max_accesses = self.code.max_accesses.max(self.accesses);
        SegmentCode {
            record_length: segment.record_length,
            first_root,
            root_count,
            first_step,
            step_count: self.code.steps.len() as u32 - first_step,
            first_local: 0,
            local_count: 0,
            has_loops: segment
                .operations
                .iter()
                .any(|operation| operation.loop_count() > 0),
        }
    }

    fn root(&mut self, number: u32, encoding: Encoding, early: &mut Vec<Root>) {
        let register = register(number);
        let shift = 64 - encoding.width * 8;
        let root = Root {
            offset: self.offset,
            register,
            shift,
            signed: encoding.signed,
        };
        self.offset += u32::from(encoding.width);
        if self.touched[usize::from(register)] != self.stamp {
            early.push(root);
            return;
        }
        let (first, count) = self.push_roots(&[root]);
        self.step(Step::Roots { first, count });
    }

    /// Taking the last root twice changes nothing and makes their number even.
    fn push_roots(&mut self, roots: &[Root]) -> (u32, u32) {
        let first = self.code.roots.len();
        self.code.roots.extend_from_slice(roots);
        if let Some(last) = roots.last() {
            let count = roots.len().next_multiple_of(ROOT_UNIT);
            self.code.roots.resize(first + count, *last);
        }
        (first as u32, (self.code.roots.len() - first) as u32)
    }

    fn touch(&mut self, register: u16) {
        self.touched[usize::from(register)] = self.stamp;
    }

    fn step(&mut self, step: Step) {
        self.end_run();
        self.code.steps.push(step);
    }

    fn operation(&mut self, context: Context<'_>, operation: &Operation) {
        match operation {
            Operation::Root { .. } => {}
            Operation::Set {
                register: number,
                value,
            } => {
                let value = self.value(context, value);
                self.set(register(*number), value);
            }
            Operation::Access { site, address } => {
                let value = self.value(context, address);
                self.access(context.table.site(*site), value);
            }
            Operation::Block {
                site,
                address,
                length,
            } => {
                let address = self.wide(context, address);
                let length = self.wide(context, length);
                self.accesses += 1;
                self.step(Step::Block {
                    site: context.table.site(*site),
                    address,
                    length,
                });
            }
            Operation::Masked {
                site,
                address,
                mask,
                lanes,
                packed,
                stride,
            } => {
                let base = self.wide(context, address);
                let addresses = LaneAddresses::Strided {
                    base,
                    stride: *stride,
                    packed: *packed,
                };
                self.masked(context.table.site(*site), *mask, *lanes, addresses);
            }
            Operation::Gather {
                site,
                mask,
                lanes,
                first_register,
            } => {
                for lane in 0..u32::from(*lanes) {
                    self.touch(register(first_register + lane));
                }
                let addresses = LaneAddresses::Gathered {
                    first_register: register(*first_register),
                };
                self.masked(context.table.site(*site), *mask, *lanes, addresses);
            }
            Operation::Allocate { .. } | Operation::Free { .. } | Operation::Reallocate { .. } => {
                let event = self.allocation(context, operation);
                self.event(event);
            }
            Operation::Enter => self.event(EventCode::Enter(context.function)),
            Operation::Exit => self.event(EventCode::Exit(context.function)),
            Operation::Loop { count, body } => self.repetition(context, count, body),
        }
    }

    fn repetition(&mut self, context: Context<'_>, count: &Expression, body: &[Operation]) {
        let count = self.wide(context, count);
        if let Some(affine) = self.affine_loop(context, body) {
            let number = self.code.affine.len() as u32;
            self.accesses += affine.lanes.len();
            self.code.affine.push(AffineLoop { count, ..affine });
            self.step(Step::Affine { number });
            return;
        }
        self.step(Step::Loop { count, end: 0 });
        let head = self.code.steps.len() - 1;
        body.iter()
            .for_each(|operation| self.operation(context, operation));
        self.end_run();
        let end = self.code.steps.len() as u32;
        self.code.steps[head] = Step::Loop { count, end };
    }

    fn allocation(&mut self, context: Context<'_>, operation: &Operation) -> EventCode {
        let site = |site: &u32| context.table.allocation_site(*site);
        match operation {
            Operation::Allocate { site: number, block } => {
                let [address, element_size, count] = self.block(context, block);
                EventCode::Allocate {
                    site: site(number),
                    address,
                    element_size,
                    count,
                }
            }
            Operation::Reallocate {
                site: number,
                old,
                block,
            } => {
                let old = self.wide(context, old);
                let [new, element_size, count] = self.block(context, block);
                EventCode::Reallocate {
                    site: site(number),
                    old,
                    new,
                    element_size,
                    count,
                }
            }
            Operation::Free {
                site: number,
                address,
            } => EventCode::Free {
                site: site(number),
                address: self.wide(context, address),
            },
            _ => EventCode::Enter(context.function),
        }
    }

    fn block(&mut self, context: Context<'_>, block: &AllocatedBlock) -> [u32; 3] {
        [&block.address, &block.element_size, &block.count].map(|expression| self.wide(context, expression))
    }

    fn event(&mut self, event: EventCode) {
        let number = self.code.events.len() as u32;
        self.code.events.push(event);
        self.step(Step::Event { event: number });
    }

    fn masked(&mut self, site: SiteId, mask: u32, lanes: u8, addresses: LaneAddresses) {
        let mask = register(mask);
        self.touch(mask);
        self.accesses += usize::from(lanes);
        let access = self.code.masked.len() as u32;
        let size = self.program.site(site).size;
        self.code.masked.push(Masked {
            site,
            size,
            mask,
            lanes: u64::MAX >> (64 - lanes),
            addresses,
        });
        self.step(Step::Masked { access });
    }

    fn set(&mut self, register: u16, value: Value) {
        self.touch(register);
        match value.linear() {
            Some(linear) => {
                let value = self.code.linear.len() as u32;
                self.code.linear.push(linear);
                self.step(Step::SetLinear { register, value });
            }
            None => {
                let value = self.push_wide(value);
                self.step(Step::SetWide { register, value });
            }
        }
    }

    fn access(&mut self, site: SiteId, value: Value) {
        self.accesses += 1;
        match value.linear() {
            Some(linear) => self.run.push(linear),
            None => {
                let value = self.push_wide(value);
                let first_site = self.code.sites.len() as u32;
                self.step(Step::Wide { value, first_site });
            }
        }
        self.code.sites.push(site);
        self.code.sizes.push(self.program.site(site).size);
    }

    /// Makes a step of the accesses that have gathered.
    fn end_run(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let count = self.run.len() as u32;
        let first_site = self.code.sites.len() as u32 - count;
        let step = if self.run.iter().all(|linear| linear.near().is_some()) {
            let first = self.code.near.len() as u32;
            self.code.near.extend(self.run.iter().filter_map(Linear::near));
            Step::Near {
                first,
                count,
                first_site,
            }
        } else {
            let first = self.code.linear.len() as u32;
            self.code.linear.extend_from_slice(&self.run);
            Step::Linear {
                first,
                count,
                first_site,
            }
        };
        self.run.clear();
        self.code.steps.push(step);
    }

    pub(super) fn value(&mut self, context: Context<'_>, expression: &Expression) -> Value {
        let symbol = expression
            .symbol
            .map_or(0, |symbol| context.module.symbol_addresses[symbol as usize]);
        let mut value = Value {
            constant: symbol.wrapping_add(expression.constant as u64),
            terms: Vec::new(),
        };
        for term in &expression.terms {
            let register = register(term.register);
            self.touch(register);
            value.terms.push(WideTerm {
                scale: term.scale,
                register,
            });
        }
        value
    }

    fn wide(&mut self, context: Context<'_>, expression: &Expression) -> u32 {
        let value = self.value(context, expression);
        self.push_wide(value)
    }

    pub(super) fn push_wide(&mut self, value: Value) -> u32 {
        let code = &mut self.code;
        let wide = Wide {
            constant: value.constant,
            first_term: code.terms.len() as u32,
            term_count: value.terms.len() as u32,
        };
        code.terms.extend(value.terms);
        code.wide.push(wide);
        code.wide.len() as u32 - 1
    }
}

/// An expression whose symbol has become part of the constant.
pub(super) struct Value {
    pub(super) constant: u64,
    pub(super) terms: Vec<WideTerm>,
}

impl Value {
    fn linear(&self) -> Option<Linear> {
        let mut linear = Linear {
            constant: self.constant,
            scales: [0; 2],
            registers: [ZERO_REGISTER; 2],
        };
        if self.terms.len() > linear.scales.len() {
            return None;
        }
        for (index, term) in self.terms.iter().enumerate() {
            linear.scales[index] = i32::try_from(term.scale).ok()?;
            linear.registers[index] = term.register;
        }
        Some(linear)
    }
}

impl Linear {
    fn near(&self) -> Option<Near> {
        let [first, second] = self.scales;
        let near = second == 0 && (first == 1 || self.registers[0] == ZERO_REGISTER);
        near.then_some(Near {
            constant: self.constant,
            register: self.registers[0],
        })
    }
}
