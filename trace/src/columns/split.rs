//! Splits records into columns.

#[cfg(target_arch = "x86_64")]
use super::is_x86_64_detected;
use super::shapes::{Form, Root, Shapes};
use super::step;

/// What split records consist of, one entry after the other. The vectors' memory is reused.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// One byte for each record.
    pub(super) steps: Vec<u8>,
    /// Stated ids, as they stand in the stream.
    pub(super) ids: Vec<u8>,
    /// Bytes of each root's residual, one byte for each root.
    pub(super) lengths: Vec<u8>,
    pub(super) residuals: Vec<u8>,
}

/// Bytes after a record that must exist for it to be split: what is read as a whole word.
const MARGIN: usize = 12;

/// Replaces the content of `columns` by the columns of as many records of `payload` as can be split. Returns their
/// bytes. `short_records`: most have no roots, so it pays to look for runs of these.
pub(super) fn split(
    shapes: &mut Shapes,
    payload: &[u8],
    short_records: bool,
    columns: &mut Columns,
) -> usize {
    shapes.forget();
    columns.make_room(payload.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_64_detected() {
        // SAFETY: the processor has the features.
        return unsafe { split_x86_64(shapes, payload, short_records, columns) };
    }
    split_records(shapes, payload, short_records, columns)
}

/// The same with instructions that count leading zeros and shift by variable amounts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "lzcnt,bmi1,bmi2")]
fn split_x86_64(shapes: &mut Shapes, payload: &[u8], short_records: bool, columns: &mut Columns) -> usize {
    split_records(shapes, payload, short_records, columns)
}

#[inline(always)]
fn split_records(shapes: &mut Shapes, payload: &[u8], short_records: bool, columns: &mut Columns) -> usize {
    let mut walk = Walk::new(shapes, payload, columns);
    match short_records {
        true => walk.run::<true>(shapes),
        false => walk.run::<false>(shapes),
    }
    walk.finish(payload, columns)
}

impl Columns {
    /// A record of n bytes makes one step, at most n bytes of ids and lengths each, and as many residual bytes.
    fn make_room(&mut self, payload_length: usize) {
        for column in [
            &mut self.steps,
            &mut self.ids,
            &mut self.lengths,
            &mut self.residuals,
        ] {
            column.clear();
            column.reserve(payload_length + MARGIN);
        }
    }
}

/// Walks over the records. Pointers instead of indices, since the loop needs every register.
///
/// Invariants: `at` is the start of a record or of what can't be split, in the payload and at most MARGIN bytes after
/// `limit`, which is MARGIN bytes before the payload's end. `previous` is one of `forms`. The four columns have room
/// for the columns of what is left of the payload, and 8 bytes.
struct Walk {
    at: *const u8,
    /// No record may end past it.
    limit: *const u8,
    forms: *mut Form,
    previous: *mut Form,
    steps: *mut u8,
    ids: *mut u8,
    lengths: *mut u8,
    residuals: *mut u8,
}

impl Walk {
    fn new(shapes: &mut Shapes, payload: &[u8], columns: &mut Columns) -> Self {
        let room = payload.len() + MARGIN;
        let all = [&columns.steps, &columns.ids, &columns.lengths, &columns.residuals];
        assert!(all.iter().all(|column| column.capacity() >= room));
        let forms = shapes.forms.as_mut_ptr();
        let limit = payload.len().saturating_sub(MARGIN);
        Walk {
            at: payload.as_ptr(),
            limit: payload[limit..].as_ptr(),
            forms,
            previous: forms,
            steps: columns.steps.as_mut_ptr(),
            ids: columns.ids.as_mut_ptr(),
            lengths: columns.lengths.as_mut_ptr(),
            residuals: columns.residuals.as_mut_ptr(),
        }
    }

    #[inline(always)]
    fn run<const RUNS: bool>(&mut self, shapes: &mut Shapes) {
        while self.at < self.limit {
            // SAFETY: by the invariants. 4 bytes can be read before the limit.
            unsafe {
                let word = u32::from_le(self.at.cast::<u32>().read_unaligned());
                let Some(form) = self.next_form(word, shapes) else {
                    return;
                };
                let start = self.at.add(usize::from((*form).id_length));
                let next = self.at.add(usize::from((*form).length));
                if next > self.limit {
                    return;
                }
                self.steps = self.steps.add(1);
                self.previous = form;
                self.at = next;
                let count = usize::from((*form).root_count);
                if count > 0 {
                    let first = shapes.roots.as_mut_ptr().add((*form).first_root as usize);
                    self.roots(first, first.add(count), start);
                } else if RUNS {
                    self.run_without_roots(shapes);
                }
            }
        }
    }

    /// The form of the next id, whose step is written but not yet counted; none if there is no such id, or if its
    /// record would have to be stated and is too long.
    ///
    /// # Safety
    /// The invariants must hold.
    #[inline(always)]
    unsafe fn next_form(&mut self, word: u32, shapes: &mut Shapes) -> Option<*mut Form> {
        // SAFETY: successors are offsets of forms.
        unsafe {
            // Branches, although they are mispredicted now and then: the processor needn't wait for the id.
            let [first, second] = (*self.previous).successors;
            let first = self.forms.byte_add(first as usize);
            if (*first).has(word) {
                *self.steps = 0;
                return Some(first);
            }
            let second = self.forms.byte_add(second as usize);
            if (*second).has(word) {
                *self.steps = 1;
                return Some(second);
            }
            let offset = shapes.find(word, (*self.previous).function);
            let form = self.forms.byte_add(offset as usize);
            if offset == 0 || self.at.add(usize::from((*form).length)) > self.limit {
                return None;
            }
            self.state(offset, shapes);
            Some(form)
        }
    }

    /// Takes the records from here on that have local ids and no roots.
    ///
    /// # Safety
    /// The invariants must hold.
    #[inline(always)]
    unsafe fn run_without_roots(&mut self, shapes: &mut Shapes) {
        // SAFETY: by the invariants of the shapes.
        unsafe {
            let ids = shapes.functions[(*self.previous).function as usize];
            while self.at < self.limit {
                let id = u32::from(*self.at);
                if id >= ids.count {
                    return;
                }
                let offset = *shapes.locals.get_unchecked((ids.first + id) as usize);
                let form = self.forms.byte_add(offset as usize);
                if (*form).length != 1 {
                    return;
                }
                let [first, second] = (*self.previous).successors;
                let (first, second) = (u64::from(first ^ offset), u64::from(second ^ offset));
                *self.steps = u8::from(first != 0);
                // One branch, which is rarely taken, instead of two.
                if first * second != 0 {
                    self.state(offset, shapes);
                }
                self.steps = self.steps.add(1);
                self.previous = form;
                self.at = self.at.add(1);
            }
        }
    }

    /// # Safety
    /// The invariants must hold, and the roots be those of the record whose bytes after the id begin at `start`.
    #[inline(always)]
    unsafe fn roots(&mut self, first: *mut Root, end: *mut Root, start: *const u8) {
        let mut root = first;
        // SAFETY: the roots lie in the record, which ends before the limit. The columns have room: the record has a
        // byte for each root, and a residual is no longer than its root.
        unsafe {
            while root != end {
                let at = start.add(usize::from((*root).offset)).cast::<u64>();
                let residual = residual(&mut *root, u64::from_le(at.read_unaligned()));
                let length = (71 - residual.leading_zeros()) / 8;
                *self.lengths = length as u8;
                self.lengths = self.lengths.add(1);
                self.residuals.cast::<u64>().write_unaligned(residual.to_le());
                self.residuals = self.residuals.add(length as usize);
                root = root.add(1);
            }
        }
    }

    /// States the form: writes the step, which is not yet counted, and the id.
    ///
    /// # Safety
    /// The invariants must hold, and the offset be that of the form of the id at `at`.
    #[inline(always)]
    unsafe fn state(&mut self, offset: u32, shapes: &mut Shapes) {
        // SAFETY: by the invariants.
        unsafe {
            let previous = self.previous.byte_offset_from(self.forms) as u32;
            shapes.follow(previous, offset);
            *self.steps = step::STATED;
            self.ids
                .cast::<u32>()
                .write_unaligned(self.at.cast::<u32>().read_unaligned());
            let form = self.forms.byte_add(offset as usize);
            self.ids = self.ids.add(usize::from((*form).id_length));
        }
    }

    /// Gives the columns their lengths and returns the bytes of the payload that were taken.
    fn finish(self, payload: &[u8], columns: &mut Columns) -> usize {
        // SAFETY: the pointers stand in what they began with, and all before them is written.
        unsafe {
            set_end(&mut columns.steps, self.steps);
            set_end(&mut columns.ids, self.ids);
            set_end(&mut columns.lengths, self.lengths);
            set_end(&mut columns.residuals, self.residuals);
            self.at.offset_from(payload.as_ptr()) as usize
        }
    }
}

/// # Safety
/// The column must have been written up to there.
unsafe fn set_end(column: &mut Vec<u8>, end: *const u8) {
    // SAFETY: the caller's duty.
    unsafe { column.set_len(end.offset_from(column.as_ptr()) as usize) }
}

impl Form {
    #[inline(always)]
    fn has(&self, word: u32) -> bool {
        word & self.mask == self.word
    }
}

/// The root's value, of which `bits` holds the lowest, less the expected one, zigzag-coded.
#[inline(always)]
fn residual(root: &mut Root, bits: u64) -> u64 {
    let value = bits << (root.shift & 63);
    let difference = value.wrapping_sub(root.previous);
    let unexpected = difference.wrapping_sub(root.step) as i64 >> (root.shift & 63);
    root.learn(difference);
    root.previous = value;
    (unexpected << 1 ^ unexpected >> 63) as u64
}
