//! Joins columns to records, one record after the other.

#[cfg(target_arch = "x86_64")]
use super::is_x86_64_detected;
use super::packed::{unpack_lengths, unpack_steps};
use super::shapes::{Form, Root, Shapes, FORM_SIZE};
use super::{step, LENGTHS_PER_BYTE, STEPS_PER_BYTE};

/// The columns of split records as they are stored, without compression.
#[derive(Debug, Default)]
pub(super) struct StoredColumns {
    /// 2 bits for each record.
    pub(super) steps: Vec<u8>,
    pub(super) ids: Vec<u8>,
    /// 4 bits for each root.
    pub(super) lengths: Vec<u8>,
    pub(super) residuals: Vec<u8>,
}

/// Columns with a byte for each step and each length, and the next record's place in them. Each column is followed by
/// what makes most checks needless: a step 3, zeros for ids, and residuals and their lengths, enough for one record.
#[derive(Debug, Default)]
pub(super) struct OpenColumns {
    steps: Vec<u8>,
    ids: Vec<u8>,
    lengths: Vec<u8>,
    residuals: Vec<u8>,
    /// Ends of the columns, without what stands after them.
    ends: Place,
    next: Place,
    /// Offset of the latest record's form.
    previous: u32,
    /// Negative once a residual was longer than its root.
    room: isize,
}

/// A place in each column.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    step: usize,
    id: usize,
    length: usize,
    residual: usize,
}

/// Bytes that must follow the output: what is written as a whole word.
pub(super) const MARGIN: usize = 8;
/// A step that no record has.
const NO_STEP: u8 = 3;
/// Maximum number of bytes of a residual that are skipped, whatever its length says.
const MAX_SKIPPED: usize = 15;

impl OpenColumns {
    /// Takes the columns of a payload, whose vectors are exchanged for others.
    pub(super) fn open(&mut self, stored: &mut StoredColumns, shapes: &mut Shapes) {
        shapes.forget();
        unpack_steps(&stored.steps, &mut self.steps);
        unpack_lengths(&stored.lengths, &mut self.lengths);
        std::mem::swap(&mut self.ids, &mut stored.ids);
        std::mem::swap(&mut self.residuals, &mut stored.residuals);
        self.ends = Place {
            step: self.steps.len(),
            id: self.ids.len(),
            length: self.lengths.len(),
            residual: self.residuals.len(),
        };
        self.next = Place::default();
        self.previous = 0;
        self.room = 0;
        self.steps.push(NO_STEP);
        // A stated id may end 3 bytes past the end; then 4 bytes are read once more.
        self.ids.resize(self.ends.id + 8, 0);
        self.lengths.resize(self.ends.length + shapes.max_roots, 0);
        let room = MAX_SKIPPED * shapes.max_roots + size_of::<u64>();
        self.residuals.resize(self.ends.residual + room, 0);
    }

    /// Offset of the latest record's form.
    pub(super) fn previous(&self) -> u32 {
        self.previous
    }

    /// What is wrong with the record at which a cursor has stopped, which has at most `length` bytes.
    #[cold]
    pub(super) fn problem(&self, shapes: &Shapes, length: usize) -> &'static str {
        let form = &shapes.forms[self.previous as usize / FORM_SIZE];
        let next = &self.next;
        match self.steps[next.step] {
            _ if next.length > self.ends.length => "the lengths of residuals end early",
            _ if next.residual > self.ends.residual => "the residuals end early",
            _ if self.room < 0 => "a residual is longer than its root",
            _ if self.previous == 0 && next.step > 0 => "an id has no such successor",
            _ if usize::from(form.length) > length => "a record is longer than what is left",
            step::STATED => "a stated id belongs to no module of the trace",
            _ if next.step == self.ends.step => "the steps end early",
            _ => "there is no step 3",
        }
    }

    /// Whether the records so far took the columns up to their ends.
    pub(super) fn finish(&self) -> Step<()> {
        let Place {
            step,
            id,
            length,
            residual,
        } = self.next;
        let whole = step.next_multiple_of(STEPS_PER_BYTE) == self.ends.step
            && id == self.ends.id
            && length.next_multiple_of(LENGTHS_PER_BYTE) == self.ends.length
            && residual == self.ends.residual;
        match whole {
            true => Ok(()),
            false => Err("the columns do not fit the records"),
        }
    }
}

/// Writes the records to the first `length` bytes of `output`, which is longer by [`MARGIN`].
pub(super) fn join(
    shapes: &mut Shapes,
    columns: &mut OpenColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    assert!(length + MARGIN <= output.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_64_detected() {
        // SAFETY: the processor has the features.
        return unsafe { join_x86_64(shapes, columns, length, output) };
    }
    join_records(shapes, columns, length, output)
}

/// The same with instructions that shift by variable amounts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "lzcnt,bmi1,bmi2")]
fn join_x86_64(
    shapes: &mut Shapes,
    columns: &mut OpenColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    join_records(shapes, columns, length, output)
}

#[inline(always)]
fn join_records(
    shapes: &mut Shapes,
    columns: &mut OpenColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    let mut cursor = ColumnCursor::resume(shapes, columns);
    let mut position = 0;
    while position < length {
        let left = length - position;
        // SAFETY: the latest record was valid and is read. After `length`, MARGIN bytes can be written.
        let written = unsafe {
            cursor
                .next_form()
                .filter(|form| cursor.write(&**form, output[position..].as_mut_ptr(), left))
        };
        let Some(form) = written else { break };
        // SAFETY: forms live as long as the cursor.
        position += unsafe { usize::from((*form).length) };
    }
    cursor.suspend();
    let result = match position < length {
        true => Err(columns.problem(shapes, length - position)),
        false => columns.finish(),
    };
    result.map_err(|what| format!("{what}, at byte {position} of its records"))
}

/// What was done, or what is wrong with the columns.
pub(crate) type Step<T> = std::result::Result<T, &'static str>;

/// Walks over the records of open columns. Pointers instead of indices, since the loop needs every register.
///
/// Invariants: `previous` is one of `forms`. The pointers lie in their columns, at most at the ends, or, if
/// [`ColumnCursor::is_invalid`], at most one record after them.
pub(crate) struct ColumnCursor<'j> {
    shapes: &'j mut Shapes,
    columns: &'j mut OpenColumns,
    forms: *mut Form,
    roots: *mut Root,
    previous: *mut Form,
    steps: *const u8,
    ids: *const u8,
    lengths: *const u8,
    residuals: *const u8,
    last_length: *const u8,
    last_residual: *const u8,
    /// Negative once a residual was longer than its root.
    room: isize,
}

impl<'j> ColumnCursor<'j> {
    /// Goes on where the columns' records were left.
    #[inline(always)]
    pub(super) fn resume(shapes: &'j mut Shapes, columns: &'j mut OpenColumns) -> Self {
        let Place {
            step,
            id,
            length,
            residual,
        } = columns.next;
        let forms = shapes.forms.as_mut_ptr();
        ColumnCursor {
            forms,
            roots: shapes.roots.as_mut_ptr(),
            // SAFETY: offsets lead to forms, and places into columns.
            previous: unsafe { forms.byte_add(columns.previous as usize) },
            steps: columns.steps[step..].as_ptr(),
            ids: columns.ids[id..].as_ptr(),
            lengths: columns.lengths[length..].as_ptr(),
            residuals: columns.residuals[residual..].as_ptr(),
            last_length: columns.lengths[columns.ends.length..].as_ptr(),
            last_residual: columns.residuals[columns.ends.residual..].as_ptr(),
            room: columns.room,
            shapes,
            columns,
        }
    }

    /// Notes where the next record is. An invalid one must be the last.
    #[inline(always)]
    pub(crate) fn suspend(self) {
        // SAFETY: the pointers stand in what they began with.
        unsafe {
            self.columns.room = self.room;
            self.columns.previous = self.previous.byte_offset_from(self.forms) as u32;
            self.columns.next = Place {
                step: self.steps.offset_from(self.columns.steps.as_ptr()) as usize,
                id: self.ids.offset_from(self.columns.ids.as_ptr()) as usize,
                length: self.lengths.offset_from(self.columns.lengths.as_ptr()) as usize,
                residual: self.residuals.offset_from(self.columns.residuals.as_ptr()) as usize,
            };
        }
    }

    /// Whether the latest record can't be what was split.
    #[inline(always)]
    pub(crate) fn is_invalid(&self) -> bool {
        // One branch for all.
        let left = |last: *const u8, next: *const u8| last as isize - next as isize;
        self.room | left(self.last_length, self.lengths) | left(self.last_residual, self.residuals) < 0
    }

    /// A form's number.
    #[inline(always)]
    pub(crate) fn number(&self, form: *const Form) -> usize {
        // SAFETY: both lie in `forms`.
        unsafe { form.byte_offset_from(self.forms) as usize / FORM_SIZE }
    }

    /// The next record's form, whose roots are next to be read. None if there is none; then
    /// [`OpenColumns::problem`] knows why.
    ///
    /// # Safety
    /// The latest record must be valid, and all its roots read.
    #[inline(always)]
    pub(crate) unsafe fn next_form(&mut self) -> Option<*const Form> {
        // SAFETY: successors are offsets of forms. After the last step stands one that can't be.
        unsafe {
            let step = *self.steps;
            let offset = match step {
                0 | 1 => (*self.previous).successors[usize::from(step)],
                _ => self.stated(step)?,
            };
            self.steps = self.steps.add(1);
            let form = self.forms.byte_add(offset as usize);
            self.previous = form;
            Some(form)
        }
    }

    /// # Safety
    /// The invariants must hold.
    #[inline(always)]
    unsafe fn stated(&mut self, step: u8) -> Option<u32> {
        // SAFETY: by the invariants. An id after the end is 0, which leads to no form.
        unsafe {
            let word = u32::from_le(self.ids.cast::<u32>().read_unaligned());
            let previous = self.previous.byte_offset_from(self.forms) as u32;
            let offset = match step {
                step::STATED => self.shapes.state(word, previous),
                _ => 0,
            };
            let form = self.forms.byte_add(offset as usize);
            self.ids = self.ids.add(usize::from((*form).id_length));
            (offset > 0).then_some(offset)
        }
    }

    /// The roots of a form.
    #[inline(always)]
    pub(crate) fn roots_of(&self, form: &Form) -> *mut Root {
        // SAFETY: they lie in `roots`.
        unsafe { self.roots.add(form.first_root as usize) }
    }

    /// The value of the record's next root, in the lowest bytes.
    ///
    /// # Safety
    /// It must be that root.
    #[inline(always)]
    pub(crate) unsafe fn root(&mut self, root: *mut Root) -> u64 {
        // SAFETY: after what a record's roots take, 8 bytes can be read. Lengths are at most 15.
        unsafe {
            let length = usize::from(*self.lengths);
            self.lengths = self.lengths.add(1);
            let word = u64::from_le(self.residuals.cast::<u64>().read_unaligned());
            self.residuals = self.residuals.add(length);
            self.room |= (*root).width as isize - length as isize;
            value(&mut *root, word & LOW_BYTES.get_unchecked(length))
        }
    }

    /// Writes the record whose form came last, if it is valid and has at most `length` bytes, and nothing else.
    ///
    /// # Safety
    /// No root must have been read; MARGIN bytes more than `length` must be readable and writable.
    #[inline(always)]
    pub(crate) unsafe fn write(&mut self, form: &Form, at: *mut u8, length: usize) -> bool {
        if form.length == 0 || usize::from(form.length) > length {
            return false;
        }
        // SAFETY: the record's bytes and MARGIN more can be written.
        unsafe {
            let behind = at.add(usize::from(form.length)).cast::<[u8; MARGIN]>();
            let kept = behind.read();
            at.cast::<u32>().write_unaligned(form.word.to_le());
            let start = at.add(usize::from(form.id_length));
            let first = self.roots_of(form);
            let end = first.add(usize::from(form.root_count));
            let mut root = first;
            while root != end {
                let value = self.root(root);
                let to = start.add(usize::from((*root).offset)).cast::<u64>();
                to.write_unaligned(value.to_le());
                root = root.add(1);
            }
            behind.write(kept);
        }
        !self.is_invalid()
    }
}

/// Masks of the low bytes, by their number; an invalid number has an empty mask.
const LOW_BYTES: [u64; 16] = {
    let mut masks = [0; 16];
    let mut bytes = 1;
    while bytes <= 8 {
        masks[bytes] = u64::MAX >> (64 - 8 * bytes);
        bytes += 1;
    }
    masks
};

/// The root's value from its zigzag-coded residual.
#[inline(always)]
fn value(root: &mut Root, residual: u64) -> u64 {
    let unexpected = residual >> 1 ^ (residual & 1).wrapping_neg();
    let difference = (unexpected << (root.shift & 63)).wrapping_add(root.step);
    let value = root.previous.wrapping_add(difference);
    root.learn(difference);
    root.previous = value;
    value >> (root.shift & 63)
}
