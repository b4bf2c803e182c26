//! Columns to records.

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

/// Bytes that must follow the output: what is written as a whole word.
pub(super) const MARGIN: usize = 8;
/// Bytes of a residual that are skipped at most, whatever its length says.
const MAX_SKIPPED: usize = 15;

/// Writes the records of `columns` to the first `length` bytes of `output`, which is longer by [`MARGIN`].
pub(super) fn join(
    shapes: &mut Shapes,
    columns: &mut StoredColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    assert!(length + MARGIN <= output.len());
    shapes.forget();
    let residual_length = columns.residuals.len();
    // Whole words are read from these.
    let room = (MAX_SKIPPED + 1) * shapes.max_roots + MARGIN;
    columns.residuals.resize(residual_length + room, 0);
    columns.ids.resize(columns.ids.len() + 4, 0);
    let mut joiner = Joiner {
        shapes,
        columns,
        residual_length,
        output,
        length,
        previous: 0,
        record: 0,
        id: 0,
        root: 0,
        residual: 0,
        position: 0,
        is_overlong: false,
    };
    joiner
        .run()
        .and_then(|()| joiner.finish())
        .map_err(|what| format!("{what}, at byte {} of its records", joiner.position))
}

/// Walks over the records. Invariants: `position` is at most `length`, which is less than the output's by [`MARGIN`].
struct Joiner<'a> {
    shapes: &'a mut Shapes,
    columns: &'a StoredColumns,
    /// Bytes of the residuals without those behind them.
    residual_length: usize,
    output: &'a mut [u8],
    length: usize,
    /// Offset of the previous record's form.
    previous: u32,
    /// The next entries of the columns.
    record: usize,
    id: usize,
    root: usize,
    residual: usize,
    position: usize,
    /// A residual was longer than its root.
    is_overlong: bool,
}

type Step<T> = std::result::Result<T, &'static str>;

impl Joiner<'_> {
    fn run(&mut self) -> Step<()> {
        while self.position < self.length {
            let offset = self.next_form()?;
            let form = self.form(offset);
            let start = self.position + usize::from(form.id_length);
            let next = self.position + usize::from(form.length);
            if next > self.length {
                return Err("a record is longer than what is left");
            }
            self.write(self.position, form.word.into());
            if form.root_count > 0 {
                self.roots(&form, start)?;
            }
            self.previous = offset;
            self.position = next;
        }
        Ok(())
    }

    fn finish(&self) -> Step<()> {
        let whole = self.record.div_ceil(STEPS_PER_BYTE) == self.columns.steps.len()
            && self.id + 4 == self.columns.ids.len()
            && self.root.div_ceil(LENGTHS_PER_BYTE) == self.columns.lengths.len()
            && self.residual == self.residual_length;
        match whole {
            _ if self.is_overlong => Err("a residual is longer than its root"),
            true => Ok(()),
            false => Err("the columns do not fit the records"),
        }
    }

    #[inline(always)]
    fn next_form(&mut self) -> Step<u32> {
        let Some(steps) = self.columns.steps.get(self.record / STEPS_PER_BYTE) else {
            return Err("the steps end early");
        };
        let step = steps >> (self.record % STEPS_PER_BYTE * 2) & 3;
        self.record += 1;
        let previous = self.form(self.previous);
        let offset = match step {
            0 => previous.successors[0],
            1 => previous.successors[1],
            step::STATED => self.stated(previous.function)?,
            _ => return Err("there is no step 3"),
        };
        match offset {
            0 => Err("an id has no such successor"),
            offset => Ok(offset),
        }
    }

    #[inline(always)]
    fn stated(&mut self, function: u32) -> Step<u32> {
        let Some(id) = self.columns.ids.get(self.id..self.id + 4) else {
            return Err("the ids end early");
        };
        let offset = self.shapes.find(crate::bytes::u32_at(id, 0), function);
        if offset == 0 {
            return Err("a stated id belongs to no module of the trace");
        }
        self.shapes.follow(self.previous, offset);
        self.id += usize::from(self.form(offset).id_length);
        Ok(offset)
    }

    #[inline(always)]
    fn roots(&mut self, form: &Form, start: usize) -> Step<()> {
        let first = form.first_root as usize;
        let count = usize::from(form.root_count);
        if self.root + count > self.columns.lengths.len() * LENGTHS_PER_BYTE {
            return Err("the lengths of residuals end early");
        }
        if self.residual > self.residual_length {
            return Err("the residuals end early");
        }
        debug_assert!(first + count <= self.shapes.roots.len() && count <= self.shapes.max_roots);
        let mut residual = self.residual;
        for index in 0..count {
            // SAFETY: a form's roots lie in `roots`. The lengths were checked. The residuals go on for as many bytes
            // behind their end as `max_roots` roots take at most.
            let (root, length, word) = unsafe {
                let root = self.shapes.roots.get_unchecked_mut(first + index);
                let at = self.root + index;
                let pair = *self.columns.lengths.get_unchecked(at / LENGTHS_PER_BYTE);
                let from = self.columns.residuals.as_ptr().add(residual);
                let word = u64::from_le(from.cast::<u64>().read_unaligned());
                (root, pair >> (at % LENGTHS_PER_BYTE * 4) & 15, word)
            };
            residual += usize::from(length);
            self.is_overlong |= length > root.width;
            let value = value(root, word & LOW_BYTES[usize::from(length)]);
            let to = start + usize::from(root.offset);
            self.write(to, value);
        }
        self.root += count;
        self.residual = residual;
        Ok(())
    }

    /// Writes 8 bytes, of which later ones are overwritten. The position must not be behind `length`.
    #[inline(always)]
    fn write(&mut self, position: usize, word: u64) {
        debug_assert!(position <= self.length && position + 8 <= self.output.len());
        // SAFETY: the output is longer than `length` by MARGIN.
        unsafe {
            let to = self.output.as_mut_ptr().add(position).cast::<u64>();
            to.write_unaligned(word.to_le());
        }
    }

    #[inline(always)]
    fn form(&self, offset: u32) -> Form {
        debug_assert!((offset as usize) / FORM_SIZE < self.shapes.forms.len());
        // SAFETY: offsets lead to forms.
        unsafe { *self.shapes.forms.as_ptr().byte_add(offset as usize) }
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
