//! Records to columns.

use super::shapes::{Form, Root, Shapes, FORM_SIZE};
use super::step;

/// What split records consist of, one entry behind the other. The vectors' memory is reused.
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

/// Bytes behind a record that must exist for it to be split: what is read as a whole word.
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

#[cfg(target_arch = "x86_64")]
fn is_x86_64_detected() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}

/// The same with instructions that count leading zeros and shift by variable amounts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "lzcnt,bmi1,bmi2")]
fn split_x86_64(shapes: &mut Shapes, payload: &[u8], short_records: bool, columns: &mut Columns) -> usize {
    split_records(shapes, payload, short_records, columns)
}

#[inline(always)]
fn split_records(shapes: &mut Shapes, payload: &[u8], short_records: bool, columns: &mut Columns) -> usize {
    match short_records {
        true => Splitter::new(shapes, payload, columns).run::<true>(),
        false => Splitter::new(shapes, payload, columns).run::<false>(),
    }
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

/// The next entry of a column.
struct End {
    start: *mut u8,
    next: *mut u8,
}

impl End {
    fn of(column: &mut Vec<u8>) -> Self {
        let start = column.as_mut_ptr();
        End { start, next: start }
    }

    fn length(&self) -> usize {
        self.next as usize - self.start as usize
    }
}

/// Walks over the records. Invariants: `position` is the start of a record. What stands behind the ends of the columns
/// has room for the columns of the rest of the payload and 8 bytes.
struct Splitter<'a> {
    shapes: &'a mut Shapes,
    payload: &'a [u8],
    columns: &'a mut Columns,
    steps: End,
    ids: End,
    lengths: End,
    residuals: End,
    /// Offset of the previous record's form.
    previous: u32,
    position: usize,
    /// No record may end behind it.
    limit: usize,
}

impl<'a> Splitter<'a> {
    #[inline(always)]
    fn new(shapes: &'a mut Shapes, payload: &'a [u8], columns: &'a mut Columns) -> Self {
        let room = payload.len() + MARGIN;
        let all = [&columns.steps, &columns.ids, &columns.lengths, &columns.residuals];
        assert!(all.iter().all(|column| column.capacity() >= room));
        Splitter {
            steps: End::of(&mut columns.steps),
            ids: End::of(&mut columns.ids),
            lengths: End::of(&mut columns.lengths),
            residuals: End::of(&mut columns.residuals),
            shapes,
            payload,
            columns,
            previous: 0,
            position: 0,
            limit: payload.len().saturating_sub(MARGIN),
        }
    }

    #[inline(always)]
    fn run<const RUNS: bool>(mut self) -> usize {
        while self.position < self.limit {
            // SAFETY: MARGIN bytes stand behind the limit.
            let word = unsafe { self.word_at(self.position) };
            let Some((offset, step)) = self.find(word) else {
                break;
            };
            let form = self.form(offset);
            let start = self.position + usize::from(form.id_length);
            let next = start + usize::from(form.record_length);
            if next > self.limit {
                break;
            }
            if step == step::STATED {
                self.state(offset, word, form.id_length);
            }
            self.push_step(step);
            self.previous = offset;
            self.position = next;
            if form.root_count > 0 {
                self.roots(&form, start);
            } else if RUNS {
                self.run_without_roots(form.function);
            }
        }
        self.finish()
    }

    /// The form of the id at the position and how to name it; none if there is no such id.
    #[inline(always)]
    fn find(&self, word: u32) -> Option<(u32, u8)> {
        let [first, second] = self.form(self.previous).successors;
        // That a successor is taken is foreseen by the processor too, which needn't wait for the id then.
        if self.form(first).is(word) {
            return Some((first, 0));
        }
        if self.form(second).is(word) {
            return Some((second, 1));
        }
        match self.shapes.find(word, self.form(self.previous).function) {
            0 => None,
            offset => Some((offset, step::STATED)),
        }
    }

    /// Takes the records from the position on that have local ids and no roots.
    #[inline(always)]
    fn run_without_roots(&mut self, function: u32) {
        let ids = self.shapes.functions[function as usize];
        while self.position < self.limit {
            let id = u32::from(self.payload[self.position]);
            if id >= ids.count {
                return;
            }
            let offset = self.shapes.locals[(ids.first + id) as usize];
            let form = self.form(offset);
            if offset == 0 || form.record_length != 0 {
                return;
            }
            let successors = self.form(self.previous).successors;
            let differences = successors.map(|successor| u64::from(successor ^ offset));
            // One branch, which is rarely taken, instead of two.
            if differences[0] * differences[1] == 0 {
                self.push_step(u8::from(differences[0] != 0));
            } else {
                self.state(offset, id, 1);
                self.push_step(step::STATED);
            }
            self.previous = offset;
            self.position += 1;
        }
    }

    #[inline(always)]
    fn roots(&mut self, form: &Form, start: usize) {
        let first = form.first_root as usize;
        let count = usize::from(form.root_count);
        debug_assert!(first + count <= self.shapes.roots.len());
        // SAFETY: a form's roots lie in `roots`.
        let roots = unsafe { self.shapes.roots.get_unchecked_mut(first..first + count) };
        for root in roots {
            let at = start + usize::from(root.offset);
            debug_assert!(at + 8 <= self.payload.len());
            // SAFETY: the root lies in the record, which ends before the limit. The columns have room by the
            // invariant: the record has a byte for each root, and a residual is no longer than its root.
            unsafe {
                let bits = self.payload.as_ptr().add(at).cast::<u64>().read_unaligned();
                let residual = residual(root, u64::from_le(bits));
                let length = (71 - residual.leading_zeros()) as u8 / 8;
                *self.lengths.next = length;
                self.lengths.next = self.lengths.next.add(1);
                let to = self.residuals.next.cast::<u64>();
                to.write_unaligned(residual.to_le());
                self.residuals.next = self.residuals.next.add(usize::from(length));
            }
        }
    }

    /// Writes the id.
    #[inline(always)]
    fn state(&mut self, offset: u32, word: u32, id_length: u8) {
        self.shapes.follow(self.previous, offset);
        // SAFETY: there is room by the invariant.
        unsafe {
            self.ids.next.cast::<u32>().write_unaligned(word.to_le());
            self.ids.next = self.ids.next.add(usize::from(id_length));
        }
    }

    #[inline(always)]
    fn push_step(&mut self, step: u8) {
        // SAFETY: there is room by the invariant.
        unsafe {
            *self.steps.next = step;
            self.steps.next = self.steps.next.add(1);
        }
    }

    #[inline(always)]
    fn form(&self, offset: u32) -> Form {
        debug_assert!((offset as usize) / FORM_SIZE < self.shapes.forms.len());
        // SAFETY: offsets lead to forms.
        unsafe { *self.shapes.forms.as_ptr().byte_add(offset as usize) }
    }

    /// # Safety
    /// 4 bytes must stand there.
    #[inline(always)]
    unsafe fn word_at(&self, position: usize) -> u32 {
        debug_assert!(position + 4 <= self.payload.len());
        // SAFETY: the caller's duty.
        u32::from_le(unsafe { self.payload.as_ptr().add(position).cast::<u32>().read_unaligned() })
    }

    #[inline(always)]
    fn finish(self) -> usize {
        let ends = [&self.steps, &self.ids, &self.lengths, &self.residuals].map(End::length);
        let columns = self.columns;
        let all = [
            &mut columns.steps,
            &mut columns.ids,
            &mut columns.lengths,
            &mut columns.residuals,
        ];
        for (column, length) in all.into_iter().zip(ends) {
            // SAFETY: so many bytes have been written, within the capacity.
            unsafe { column.set_len(length) };
        }
        self.position
    }
}

impl Form {
    #[inline(always)]
    fn is(&self, word: u32) -> bool {
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
