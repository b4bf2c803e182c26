//! Compiles a trace's segments: each to fronts and, after them, the decoder's steps.

mod operations;

use super::front::FrontBuilder;
use super::value::Value;
use super::*;
use crate::merge::{Loaded, LoadedModule, MergedTable};
use crate::table::{Encoding, Expression, Operation, Segment, STREAM_REGISTERS};
use crate::Program;

impl Code {
    pub(crate) fn compile(loaded: &Loaded, program: &Program, clock: Clock) -> Code {
        let id_count = loaded.module_of_segment.len();
        let code = Code {
            entries: vec![[0; 2]; id_count],
            id_count: id_count as u32, // ids are below 2^24
            clock,
            segments: vec![SegmentCode {
                front: Front::EMPTY,
                record_length: 0,
                goes_on: false,
                has_loops: false,
                first_front: 0,
                front_count: 0,
                step_count: 0,
                first_step: 0,
            }],
            ..Code::default()
        };
        let mut compiler = Compiler {
            code,
            program,
            touched: vec![0; (FIRST_REGISTER + loaded.register_count.max(STREAM_REGISTERS)) as usize],
            stamp: 0,
            first_step: 0,
            offset: 0,
            accesses: 0,
            front: FrontBuilder::new(0),
            fronts: Vec::new(),
            in_steps: false,
            is_masked: false,
            record_length: 0,
            run: Vec::new(),
        };
        for module in &loaded.modules {
            compiler.module(module, &loaded.tables[module.table]);
        }
        let mut code = compiler.code;
        code.register_count = (FIRST_REGISTER + loaded.register_count.max(STREAM_REGISTERS)) as usize;
        code.sites.extend([SiteId(0); RUN_UNIT]);
        code.sizes.extend([0; RUN_UNIT]);
        code.near.extend(
            [Near {
                constant: 0,
                register: ZERO_REGISTER,
            }; RUN_UNIT],
        );
        code.linear.extend([Linear::ZERO; RUN_UNIT]);
        code
    }
}

pub(super) struct Compiler<'a> {
    pub(super) code: Code,
    pub(super) program: &'a Program,
    /// For each register the stamp of the last front that read or set it so far: a root that writes one which the
    /// present front touched must go to the next.
    touched: Vec<u32>,
    stamp: u32,
    /// The segment's first step.
    first_step: usize,
    /// Bytes of the record before the next root.
    offset: u32,
    /// Accesses of the segment so far, at most.
    accesses: usize,
    /// The front that is being filled, and those of the segment before it.
    front: FrontBuilder,
    fronts: Vec<Front>,
    /// An operation fitted no front. It and all that follow become steps.
    in_steps: bool,
    /// Lanes made the last accesses.
    is_masked: bool,
    /// Bytes of the segment's roots.
    record_length: u32,
    /// Neighbouring accesses that become one step.
    run: Vec<Linear>,
}

/// Entries by the second byte of an id.
const SECOND_BYTES: u32 = 1 << u8::BITS;

impl Code {
    /// Where the entry of a local id is.
    fn place_of_local(&self, locals: Locals, local_id: u16) -> usize {
        let [first, second] = local_id.to_le_bytes().map(u32::from);
        let place = (locals.first() + first) as usize;
        match second {
            0 => place,
            _ => (entry_locals(&self.entries[place]).first() + second) as usize,
        }
    }
}

/// Where the numbers of a segment's operations lead.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    module: &'a LoadedModule,
    pub(super) table: &'a MergedTable,
    /// In the table, and in the program.
    own_function: u32,
    function: FunctionId,
}

impl Context<'_> {
    /// The decoder's register for a register of the table.
    pub(super) fn register(&self, register: u32) -> u32 {
        FIRST_REGISTER + self.module.register(self.own_function, register)
    }
}

impl Compiler<'_> {
    fn module(&mut self, module: &LoadedModule, table: &MergedTable) {
        for (function, segments) in table.segments_of_function.iter().enumerate() {
            let context = Context {
                module,
                table,
                own_function: function as u32,
                function: table.function(function as u32),
            };
            let first = segments.start as usize;
            let segments = &table.segments[first..segments.end as usize];
            self.function(context, module.first_segment as usize + first, segments);
        }
    }

    fn function(&mut self, context: Context<'_>, first_id: usize, segments: &[Segment]) {
        let locals = self.local_ids(segments);
        for (index, segment) in segments.iter().enumerate() {
            let number = self.code.segments.len() as u32;
            let compiled = self.segment(context, segment);
            self.code.segments.push(compiled);
            let class = compiled.front.class as u8;
            let entry = |id_length| entry(number, class, id_length + segment.record_length, locals);
            self.code.entries[first_id + index] = entry(4);
            if segment.local_id != 0 {
                let place = self.code.place_of_local(locals, segment.local_id);
                self.code.entries[place] = entry(segment.local_id_length() as u32);
            }
        }
    }

    /// Makes room for the entries of a function's local ids.
    fn local_ids(&mut self, segments: &[Segment]) -> Locals {
        let entries = &mut self.code.entries;
        let first = entries.len() as u32;
        let greatest = segments.iter().map(|segment| segment.local_id as u8).max();
        let end = first + greatest.map_or(0, |greatest| u32::from(greatest) + 1);
        entries.resize(end as usize, [0; 2]);
        for segment in segments.iter().filter(|segment| segment.local_id_length() == 2) {
            let prefix = (first + u32::from(segment.local_id as u8)) as usize;
            if entries[prefix] == [0; 2] {
                let seconds = entries.len() as u32;
                entries[prefix] = prefix_entry(Locals::new(seconds, seconds + SECOND_BYTES));
                entries.resize((seconds + SECOND_BYTES) as usize, [0; 2]);
            }
        }
        Locals::new(first, end)
    }

    fn segment(&mut self, context: Context<'_>, segment: &Segment) -> SegmentCode {
        self.stamp += 1;
        self.offset = 0;
        self.accesses = 0;
        let first_step = self.code.steps.len() as u32;
        self.first_step = first_step as usize;
        self.record_length = segment.record_length;
        self.front = FrontBuilder::new(segment.record_length);
        self.in_steps = false;
        for operation in &segment.operations {
            match operation {
                Operation::Root { register, encoding } => self.root(context.register(*register), *encoding),
                _ => self.operation(context, operation),
            }
        }
        self.end_run();
        self.code.max_record_length = self.code.max_record_length.max(segment.record_length as usize);
        self.code.max_accesses = self.code.max_accesses.max(self.accesses);
        self.next_front();
        let first_front = self.code.fronts.len() as u32;
        let mut fronts = self.fronts.drain(..);
        let front = fronts.next().unwrap_or(Front::EMPTY);
        self.code.fronts.extend(fronts);
        let front_count = self.code.fronts.len() as u32 - first_front;
        SegmentCode {
            front,
            record_length: segment.record_length,
            goes_on: front_count > 0 || self.code.steps.len() > self.first_step,
            first_front,
            front_count,
            first_step,
            step_count: self.code.steps.len() as u32 - first_step,
            has_loops: segment
                .operations
                .iter()
                .any(|operation| operation.loop_count() > 0),
        }
    }

    fn root(&mut self, register: u32, encoding: Encoding) {
        let offset = self.offset;
        self.offset += u32::from(encoding.width);
        let taken = self.fits_front(|compiler| {
            let untouched = compiler.touched[register as usize] != compiler.stamp;
            compiler.touch(register);
            untouched && compiler.front.root(register, encoding, offset)
        });
        if taken {
            return;
        }
        let root = Root {
            offset,
            register,
            shift: 64 - encoding.width * 8,
            signed: encoding.signed,
        };
        self.code.roots.push(root);
        self.roots_step();
    }

    /// Tries the present front, then a fresh one; false if the operation must be a step.
    fn fits_front(&mut self, mut take: impl FnMut(&mut Self) -> bool) -> bool {
        if self.in_steps {
            return false;
        }
        if take(self) {
            return true;
        }
        if self.front.is_used() && self.fronts.len() + 1 < MAX_FRONTS {
            self.next_front();
            if take(self) {
                return true;
            }
        }
        self.in_steps = true;
        false
    }

    fn next_front(&mut self) {
        let next = FrontBuilder::new(self.record_length);
        let front = std::mem::replace(&mut self.front, next);
        if front.is_used() {
            self.fronts.push(front.finish());
        }
        self.stamp += 1;
    }

    /// Successive roots are one step.
    fn roots_step(&mut self) {
        let last = self.code.roots.len() as u32 - 1;
        self.end_run();
        match self.code.steps[self.first_step..].last_mut() {
            Some(Step::Roots { first, count }) if *first + *count == last => *count += 1,
            _ => self.code.steps.push(Step::Roots {
                first: last,
                count: 1,
            }),
        }
    }

    pub(super) fn touch(&mut self, register: u32) {
        self.touched[register as usize] = self.stamp;
    }

    fn touch_all(&mut self, value: &Value) {
        value.terms.iter().for_each(|term| self.touch(term.register));
    }

    fn step(&mut self, step: Step) {
        self.in_steps = true;
        self.end_run();
        self.code.steps.push(step);
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
            let register = context.register(term.register);
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
        const NONE: WideTerm = WideTerm {
            scale: 0,
            register: ZERO_REGISTER,
        };
        let code = &mut self.code;
        let mut terms = value.terms.into_iter();
        code.wide.push(Wide {
            constant: value.constant,
            first_terms: [(); 2].map(|()| terms.next().unwrap_or(NONE)),
            first_further: code.terms.len() as u32,
            further_count: terms.len() as u32,
        });
        code.terms.extend(terms);
        code.wide.len() as u32 - 1
    }
}
