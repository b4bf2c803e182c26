//! What records look like, and what they looked like last.
//!
//! Invariants on which the unchecked accesses of `split` and `join` rest:
//! - an offset of a form, wherever it stands, is a multiple of [`FORM_SIZE`] that leads to a form; 0 leads to the
//!   first,
//!   which stands for the start of a chunk and is no record's;
//! - the roots of a form lie in `roots`, and each one's offset + width is at most the form's length
//!   without the id;
//! - no form has the id 0;
//! - the functions of forms lie in `functions`, and their local ids in `locals`;
//! - `prefixes` is as long as `locals`, and leads to lists that exist;
//! - a record has at most [`MAX_RECORD_LENGTH`] bytes, so at most as many roots.

use crate::table::{Operation, Segment};

use super::MAX_RECORD_LENGTH;

pub(super) const FORM_SIZE: usize = size_of::<Form>();

/// Id and length of a segment's records under one form of its id, local or global, and which ids followed it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Form {
    /// Offsets of the forms that followed, the latest stated one first; 0: none.
    pub(super) successors: [u32; 2],
    /// The id as it stands in the stream.
    pub(super) word: u32,
    /// Which bits of the stream's next 4 bytes the id fills.
    pub(super) mask: u32,
    pub(super) first_root: u32,
    pub(super) function: u32,
    pub(super) root_count: u16,
    /// Bytes of the whole record.
    pub(crate) length: u16,
    pub(super) id_length: u8,
    /// It occurred in this chunk.
    pub(super) is_used: bool,
}

/// A root and its last values. Values fill the high bytes of their words, so that differences wrap as they should.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Root {
    pub(super) previous: u64,
    /// The last difference that came twice in turn.
    pub(super) step: u64,
    /// The last difference.
    pub(super) difference: u64,
    /// 64 - width in bits.
    pub(super) shift: u8,
    /// Bytes.
    pub(super) width: u8,
    /// Offset from the first byte after the id.
    pub(super) offset: u16,
}

/// The local ids of a function: entries of `locals`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LocalIds {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The segments of a trace's modules.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    pub(super) forms: Vec<Form>,
    /// The global id of each form's segment.
    pub(super) ids: Vec<u32>,
    pub(super) roots: Vec<Root>,
    /// Function 0 is none and has no local ids.
    pub(super) functions: Vec<LocalIds>,
    /// Offsets of forms by ids of one byte; 0: no such id.
    pub(super) locals: Vec<u32>,
    /// For each of these bytes a list in `seconds`.
    pub(super) prefixes: Vec<u32>,
    /// Offsets of forms by the second byte of an id; 0: no such id. The list of bytes that begin no id is the first one.
    pub(super) seconds: Vec<[u32; 1 << u8::BITS]>,
    /// Offsets of forms by global id; 0: no such id.
    pub(super) globals: Vec<u32>,
    /// Offsets of the used forms.
    pub(super) used: Vec<u32>,
    /// The most roots that one record has.
    pub(super) max_roots: usize,
}

impl Root {
    fn forget(&mut self) {
        self.previous = 0;
        self.step = 0;
        self.difference = 0;
    }

    /// Takes the difference to the previous value.
    #[inline(always)]
    pub(super) fn learn(&mut self, difference: u64) {
        // A branch would often be mispredicted here.
        let repeated = u64::from(difference == self.difference).wrapping_neg();
        self.step ^= (self.step ^ difference) & repeated;
        self.difference = difference;
    }
}

impl Form {
    const START: Form = Form {
        successors: [0; 2],
        // Nothing masked by 0 equals it.
        word: u32::MAX,
        mask: 0,
        first_root: 0,
        function: 0,
        root_count: 0,
        length: 0,
        id_length: 0,
        is_used: false,
    };
}

impl Shapes {
    pub(super) fn new() -> Self {
        Shapes {
            forms: vec![Form::START],
            ids: vec![0],
            roots: Vec::new(),
            functions: vec![LocalIds::default()],
            locals: Vec::new(),
            prefixes: Vec::new(),
            seconds: vec![[0; 1 << u8::BITS]],
            globals: Vec::new(),
            used: Vec::new(),
            max_roots: 0,
        }
    }

    /// Adds a module's segments; the first one has the id `first_id`. What doesn't fit is left out, and can't occur in
    /// split records.
    pub(super) fn add(&mut self, first_id: u32, segments: &[Segment]) {
        let first_function = self.functions.len();
        for (index, segment) in segments.iter().enumerate() {
            let id = first_id as usize + index;
            let function = first_function + segment.function as usize;
            let is_id = (1..1 << 24).contains(&id);
            if segment.record_length > MAX_RECORD_LENGTH || !is_id || u32::try_from(function).is_err() {
                continue;
            }
            let form = self.shape(segment, function as u32);
            let global = Form {
                word: (id as u32) << 8,
                mask: u32::MAX,
                length: form.length + 4,
                id_length: 4,
                ..form
            };
            if self.globals.len() <= id {
                self.globals.resize(id + 1, 0);
            }
            self.globals[id] = self.push_form(global, id as u32);
            self.add_local(function, segment, form, id as u32);
        }
    }

    /// A form without its id.
    fn shape(&mut self, segment: &Segment, function: u32) -> Form {
        let first_root = self.roots.len();
        let mut offset = 0;
        for operation in &segment.operations {
            if let Operation::Root { encoding, .. } = operation {
                self.roots.push(Root {
                    previous: 0,
                    step: 0,
                    difference: 0,
                    shift: 64 - 8 * encoding.width,
                    width: encoding.width,
                    offset,
                });
                offset += u16::from(encoding.width);
            }
        }
        let root_count = self.roots.len() - first_root;
        self.max_roots = self.max_roots.max(root_count);
        Form {
            first_root: first_root as u32,
            function,
            root_count: root_count as u16,
            length: offset,
            ..Form::START
        }
    }

    /// A function's segments stand together, so that its local ids do.
    fn add_local(&mut self, function: usize, segment: &Segment, form: Form, id: u32) {
        if self.functions.len() <= function {
            self.functions.resize(function + 1, LocalIds::default());
        }
        if segment.local_id == 0 {
            return;
        }
        let [first_byte, second_byte] = segment.local_id.to_le_bytes();
        let id_length = segment.local_id_length() as u8;
        let local = Form {
            word: segment.local_id.into(),
            mask: u32::MAX >> (32 - 8 * id_length),
            length: form.length + u16::from(id_length),
            id_length,
            ..form
        };
        let offset = self.push_form(local, id);
        let place = self.place_of_local(function, first_byte);
        if second_byte == 0 {
            self.locals[place] = offset;
            return;
        }
        if self.prefixes[place] == 0 {
            self.prefixes[place] = self.seconds.len() as u32;
            self.seconds.push([0; 1 << u8::BITS]);
        }
        self.seconds[self.prefixes[place] as usize][usize::from(second_byte)] = offset;
    }

    /// Where a function's id, or ids that begin so, are in `locals`.
    fn place_of_local(&mut self, function: usize, first_byte: u8) -> usize {
        let ids = &mut self.functions[function];
        if ids.count == 0 {
            ids.first = self.locals.len() as u32;
        }
        let needed = u32::from(first_byte) + 1;
        if ids.count < needed {
            ids.count = needed;
            let end = (ids.first + needed) as usize;
            self.locals.resize(end.max(self.locals.len()), 0);
            self.prefixes.resize(self.locals.len(), 0);
        }
        (ids.first + u32::from(first_byte)) as usize
    }

    fn push_form(&mut self, form: Form, id: u32) -> u32 {
        let offset = self.forms.len() * FORM_SIZE;
        self.forms.push(form);
        self.ids.push(id);
        offset as u32
    }

    /// Forgets all records.
    pub(super) fn forget(&mut self) {
        self.forms[0].successors = [0; 2];
        for offset in self.used.drain(..) {
            let form = &mut self.forms[offset as usize / FORM_SIZE];
            form.successors = [0; 2];
            form.is_used = false;
            let first = form.first_root as usize;
            for root in &mut self.roots[first..first + usize::from(form.root_count)] {
                root.forget();
            }
        }
    }

    /// The form of an id that is stated after the form at `previous`, given the next 4 bytes of the stream; 0 if there
    /// is none. Not inlined: the loop around it needs every register.
    #[inline(never)]
    pub(super) fn state(&mut self, word: u32, previous: u32) -> u32 {
        let offset = self.find(word, self.forms[previous as usize / FORM_SIZE].function);
        if offset != 0 {
            self.follow(previous, offset);
        }
        offset
    }

    /// The form of a stated id, given the next 4 bytes of the stream and the current function; 0 if there is none.
    #[inline(always)]
    pub(super) fn find(&self, word: u32, function: u32) -> u32 {
        let local_id = word & 0xff;
        if local_id == 0 {
            return self.globals.get((word >> 8) as usize).copied().unwrap_or(0);
        }
        let ids = self.functions[function as usize];
        if local_id >= ids.count {
            return 0;
        }
        let place = (ids.first + local_id) as usize;
        match self.locals[place] {
            0 => self.seconds[self.prefixes[place] as usize][(word >> 8 & 0xff) as usize],
            offset => offset,
        }
    }

    /// Notes that `offset` was stated after the form at `previous`.
    #[inline(always)]
    pub(super) fn follow(&mut self, previous: u32, offset: u32) {
        let form = &mut self.forms[previous as usize / FORM_SIZE];
        form.successors = [offset, form.successors[0]];
        let form = &mut self.forms[offset as usize / FORM_SIZE];
        if !form.is_used {
            form.is_used = true;
            self.used.push(offset);
        }
    }
}
