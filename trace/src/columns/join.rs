//! Columns to records.

#[cfg(target_arch = "x86_64")]
use super::is_x86_64_detected;
use super::shapes::{Form, Root, Shapes};
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

/// Bytes that must follow the output: what is written as a whole word.
pub(super) const MARGIN: usize = 8;
/// Bytes of a residual that are skipped at most, whatever its length says.
const MAX_SKIPPED: usize = 15;
/// Lengths that are read at once.
const LENGTHS_AT_ONCE: usize = 15;

/// Writes the records of `columns` to the first `length` bytes of `output`, which is longer by [`MARGIN`].
pub(super) fn join(
    shapes: &mut Shapes,
    columns: &mut StoredColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    assert!(length + MARGIN <= output.len());
    shapes.forget();
    let ends = Ends::of(columns, shapes.max_roots);
    #[cfg(target_arch = "x86_64")]
    if is_x86_64_detected() {
        // SAFETY: the processor has the features.
        return unsafe { join_x86_64(shapes, columns, &ends, length, output) };
    }
    join_records(shapes, columns, &ends, length, output)
}

/// The same with instructions that shift by variable amounts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "lzcnt,bmi1,bmi2")]
fn join_x86_64(
    shapes: &mut Shapes,
    columns: &StoredColumns,
    ends: &Ends,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    join_records(shapes, columns, ends, length, output)
}

#[inline(always)]
fn join_records(
    shapes: &mut Shapes,
    columns: &StoredColumns,
    ends: &Ends,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    let forms = shapes.forms.as_mut_ptr();
    let start = output.as_mut_ptr();
    let mut walk = Walk {
        at: start,
        // SAFETY: the output is longer.
        end: unsafe { start.add(length) },
        forms,
        previous: forms,
        record: 0,
        root: 0,
        steps: columns.steps.as_ptr(),
        ids: columns.ids.as_ptr(),
        lengths: columns.lengths.as_ptr(),
        residuals: columns.residuals.as_ptr(),
        // SAFETY: `Ends::of` has found them in the columns.
        last_residual: unsafe { columns.residuals.as_ptr().add(ends.residuals) },
        last_root: ends.lengths * LENGTHS_PER_BYTE,
        is_overlong: false,
    };
    let result = walk.run(shapes).and_then(|()| walk.finish(columns, ends));
    // SAFETY: both lead into the output.
    let position = unsafe { walk.at.offset_from(start) };
    result.map_err(|what| format!("{what}, at byte {position} of its records"))
}

/// The lengths of the columns without what was put behind them, so that most reads need no check:
/// a step 3, ids 0, and residuals and their lengths enough for one record.
struct Ends {
    steps: usize,
    ids: usize,
    lengths: usize,
    residuals: usize,
}

impl Ends {
    fn of(columns: &mut StoredColumns, max_roots: usize) -> Self {
        let ends = Ends {
            steps: columns.steps.len(),
            ids: columns.ids.len(),
            lengths: columns.lengths.len(),
            residuals: columns.residuals.len(),
        };
        columns.steps.push(u8::MAX);
        // A stated id may end 3 bytes behind the end; then 4 bytes are read once more.
        columns.ids.resize(ends.ids + 8, 0);
        columns.lengths.resize(ends.lengths + size_of::<u64>(), 0);
        let room = MAX_SKIPPED * max_roots + size_of::<u64>();
        columns.residuals.resize(ends.residuals + room, 0);
        ends
    }
}

type Step<T> = std::result::Result<T, &'static str>;

/// Walks over the records. Pointers instead of indices, since the loop needs every register.
///
/// Invariants: `at` lies in the output, at most at `end`, behind which MARGIN bytes can be written. `previous` is one of
/// `forms`. `record` is at most the number of steps, and the pointers lie in their columns with what is put behind.
struct Walk {
    at: *mut u8,
    end: *mut u8,
    forms: *mut Form,
    previous: *mut Form,
    record: usize,
    /// The number of the next length.
    root: usize,
    steps: *const u8,
    ids: *const u8,
    lengths: *const u8,
    residuals: *const u8,
    last_residual: *const u8,
    last_root: usize,
    /// A residual was longer than its root.
    is_overlong: bool,
}

impl Walk {
    #[inline(always)]
    fn run(&mut self, shapes: &mut Shapes) -> Step<()> {
        while self.at < self.end {
            // SAFETY: by the invariants. A step that can't be is refused, the one behind the last among them.
            unsafe {
                let form = self.next_form(shapes)?;
                let length = usize::from((*form).length);
                if length > self.end.offset_from(self.at) as usize {
                    return Err("a record is longer than what is left");
                }
                self.at.cast::<u32>().write_unaligned((*form).word.to_le());
                let count = usize::from((*form).root_count);
                if count > 0 {
                    if self.root + count > self.last_root {
                        return Err("the lengths of residuals end early");
                    }
                    if self.residuals > self.last_residual {
                        return Err("the residuals end early");
                    }
                    let first = shapes.roots.as_mut_ptr().add((*form).first_root as usize);
                    let start = self.at.add(usize::from((*form).id_length));
                    self.roots(first, first.add(count), start);
                }
                self.previous = form;
                self.at = self.at.add(length);
            }
        }
        Ok(())
    }

    /// # Safety
    /// The invariants must hold.
    #[inline(always)]
    unsafe fn next_form(&mut self, shapes: &mut Shapes) -> Step<*mut Form> {
        // SAFETY: successors are offsets of forms.
        unsafe {
            let steps = *self.steps.add(self.record / STEPS_PER_BYTE);
            let step = steps >> (self.record % STEPS_PER_BYTE * 2) & 3;
            let offset = match step {
                0 | 1 => (*self.previous).successors[usize::from(step)],
                step::STATED => self.stated(shapes)?,
                _ if steps == u8::MAX => return Err("the steps end early"),
                _ => return Err("there is no step 3"),
            };
            if offset == 0 {
                return Err("an id has no such successor");
            }
            self.record += 1;
            Ok(self.forms.byte_add(offset as usize))
        }
    }

    /// # Safety
    /// The invariants must hold.
    #[inline(always)]
    unsafe fn stated(&mut self, shapes: &mut Shapes) -> Step<u32> {
        // SAFETY: by the invariants. An id behind the end is 0, which leads to no form.
        unsafe {
            let word = u32::from_le(self.ids.cast::<u32>().read_unaligned());
            let offset = shapes.find(word, (*self.previous).function);
            if offset == 0 {
                return Err("a stated id belongs to no module of the trace");
            }
            let previous = self.previous.byte_offset_from(self.forms) as u32;
            shapes.follow(previous, offset);
            let form = self.forms.byte_add(offset as usize);
            self.ids = self.ids.add(usize::from((*form).id_length));
            Ok(offset)
        }
    }

    /// # Safety
    /// The roots must be those of the record whose bytes after the id begin at `start`, and have as many lengths left.
    #[inline(always)]
    unsafe fn roots(&mut self, first: *mut Root, end: *mut Root, start: *mut u8) {
        let mut root = first;
        // SAFETY: 8 bytes can be read from each column behind what a record's roots take, and 8 be written behind them.
        unsafe {
            while root != end {
                let wide = self.lengths.add(self.root / LENGTHS_PER_BYTE);
                let mut lengths = u64::from_le(wide.cast::<u64>().read_unaligned());
                lengths >>= self.root % LENGTHS_PER_BYTE * 4;
                let count = (end.offset_from(root) as usize).min(LENGTHS_AT_ONCE);
                self.root += count;
                let stop = root.add(count);
                while root != stop {
                    let length = lengths as u8 & 15;
                    lengths >>= 4;
                    let word = u64::from_le(self.residuals.cast::<u64>().read_unaligned());
                    self.residuals = self.residuals.add(usize::from(length));
                    self.is_overlong |= length > (*root).width;
                    let to = start.add(usize::from((*root).offset)).cast::<u64>();
                    let value = value(&mut *root, word & LOW_BYTES[usize::from(length)]);
                    to.write_unaligned(value.to_le());
                    root = root.add(1);
                }
            }
        }
    }

    fn finish(&self, columns: &StoredColumns, ends: &Ends) -> Step<()> {
        // SAFETY: the pointers stand in what they began with.
        let whole = unsafe {
            self.record.div_ceil(STEPS_PER_BYTE) == ends.steps
                && self.ids.offset_from(columns.ids.as_ptr()) as usize == ends.ids
                && self.root.div_ceil(LENGTHS_PER_BYTE) == ends.lengths
                && self.residuals.offset_from(columns.residuals.as_ptr()) as usize == ends.residuals
        };
        match whole {
            _ if self.is_overlong => Err("a residual is longer than its root"),
            true => Ok(()),
            false => Err("the columns do not fit the records"),
        }
    }
}

/// By the number of bytes; of an invalid number none.
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
